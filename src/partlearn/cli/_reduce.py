"""``partlearn reduce`` and ``partlearn select``."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partlearn._registry import build
from partlearn._sizes import SIZES
from partlearn.cli import _input
from partlearn.cli._console import row_progress, say
from partlearn.cli._options import DataOptions, Input, Output, Param, with_options

if TYPE_CHECKING:
    from partlearn.io import TableWriter
    from partlearn.persistence import Model
    from partlearn.tables import Dataset

Save = Annotated[
    Path | None, typer.Option(help="Save the fitted model, under any name.")
]
Load = Annotated[
    Path | None, typer.Option(help="Apply a saved model; nothing is fitted.")
]
# Learned columns of some rows, and the columns that stay beside them.
Blocks = Iterable[tuple[dict[str, Any], dict[str, Any]]]


@with_options(without=["votes", "bag"])
def reduce(
    data: Input,
    *,
    output: Output,
    options: DataOptions,
    method: str = "crisp",
    n_components: str | None = None,
    param: Param = None,
    save: Save = None,
    load: Load = None,
) -> None:
    """Project the features onto a few directions learned from candidate sets.

    Other columns stay in the table. Text, categories, dates and missing values are
    encoded as in `partlearn train`. With --task tags, the tags of a row are weighted
    equally, with a sum of one.

    Parameters
    ----------
    method
        Reducer, such as cenda.
    n_components
        Number of directions (12), share of the dependence (0.99), or auto.
    """
    params = _params(param, "n_components", "--n-components", n_components)
    _run("reducer", data, output, method, params, options, save, load)


@with_options(without=["votes", "bag"])
def select(
    data: Input,
    *,
    output: Output,
    options: DataOptions,
    method: str = "crisp-selector",
    n_features: str | None = None,
    param: Param = None,
    save: Save = None,
    load: Load = None,
) -> None:
    """Select the features that distinguish the labels.

    Text, categories, dates and missing values are encoded as in `partlearn train`; a
    column is kept unchanged if one of its encoded features is selected. With --task
    tags, the default selector is TRACE.

    Parameters
    ----------
    method
        Selector, such as saute.
    n_features
        Number of features (12), share (15%), or auto: chosen on held-out rows, the
        default.
    """
    params = _params(param, "n_features_to_select", "--n-features", n_features)
    _run("selector", data, output, method, params, options, save, load)


def _params(
    pairs: list[str] | None, name: str, option: str, amount: str | None
) -> dict[str, Any]:
    size = _input.parse_amount(amount, option)
    return _input.parse_params(pairs or []) | ({} if size is None else {name: size})


def _run(
    role: Any,
    data: Path,
    output: Output,
    method: str,
    params: dict[str, Any],
    options: DataOptions,
    save: Path | None,
    load: Path | None,
) -> None:
    from partlearn.persistence import save_model

    default = {"reducer": "crisp", "selector": "crisp-selector"}[role]
    if load is not None and (save is not None or params or method != default):
        raise ValueError("--load applies a model as it was saved; leave out the rest")
    output.check(data, load, save=save)
    tags = role == "selector" and options.several
    if tags and method == default:
        method = "trace"
    with output.open() as writer:
        if load is None:
            kind: Any = "multilabel selector" if tags else role
            estimator = build(method, params, kind, seed=0)
            if role == "selector" and not tags and "n_features_to_select" not in params:
                estimator = _automatic(estimator)
            model, blocks = _fit(estimator, data, options)
        else:
            model = _loaded(load, role)
            blocks = _read_blocks(model, data, writer)
        for learned, kept in blocks:
            if double := [name for name in learned if name in kept]:
                raise ValueError(
                    f"{data.name} has a column {double[0]!r}, and so has the result; "
                    "rename it"
                )
            writer.write({**learned, **kept})
        if save is not None:
            save_model(model, save)
    names = _names_out(model)
    n_in = n_columns = len(model.feature_names or ())
    told = f"{n_in} features to {len(names)}"
    if _is_encoded(model):
        n_in = len(model.estimator[0].get_feature_names_out())
        told = f"{n_in} features of {n_columns} columns to {len(names)}"
        if role == "selector":
            n_chosen = int(_last(model).get_support().sum())
            told = (
                f"{n_chosen} of {n_in} features, in {len(names)} of {n_columns} columns"
            )
    method = type(_last(model)).__name__
    outcome = {
        "method": method,
        "rows": writer.n_rows,
        "features_in": n_in,
        "features_out": len(names),
        "features": names,
        "saved": str(save) if save else None,
    }
    output.report(outcome, f"{method}: {writer.n_rows} rows, {told}: {output.out}")


def _loaded(path: Path, role: str) -> "Model":
    from partlearn.persistence import load_model

    model = load_model(path)
    if model.feature_names is None:
        raise ValueError(
            f"{path.name} was saved without the names of columns; `partlearn predict` "
            "applies models of `partlearn train`"
        )
    name = type(_last(model)).__name__
    if not hasattr(_last(model), "transform"):
        raise ValueError(
            f"{path.name} holds a {name}, which neither reduces nor selects; "
            "`partlearn predict` applies models of `partlearn train`"
        )
    selects = hasattr(_last(model), "get_support")
    if selects != (role == "selector"):
        command = "select" if selects else "reduce"
        raise ValueError(
            f"{path.name} holds a {name}: apply it with `partlearn {command}`"
        )
    with _input.applying(path):
        _names_out(model)
    return model


def _last(model: "Model") -> Any:
    """Return the reducer or selector of a model, which may follow an encoder."""
    return model.estimator[-1] if _is_encoded(model) else model.estimator


def _is_encoded(model: "Model") -> bool:
    from sklearn.pipeline import Pipeline

    from partlearn.tables import TableEncoder

    steps = model.estimator.steps if isinstance(model.estimator, Pipeline) else []
    return len(steps) == 2 and isinstance(steps[0][1], TableEncoder)


def _names_out(model: "Model") -> list[str]:
    """Return the names of the columns that a model makes or keeps."""
    import numpy as np

    features: Any = model.feature_names
    given = np.asarray(features, dtype=object)
    if _is_encoded(model):
        encoder, estimator = model.estimator
        given = encoder.get_feature_names_out()
        if hasattr(estimator, "get_support"):
            chosen = set(encoder.get_source_columns()[estimator.get_support()])
            return [name for name in features if name in chosen]
    names = [str(n) for n in _last(model).get_feature_names_out(given)]
    double = [name for name in set(names) if names.count(name) > 1]
    if double:
        raise ValueError(
            f"several features are called {double[0]!r}, and a table needs distinct "
            "names; rename one of them"
        )
    return names


def _fit(estimator: Any, data: Path, options: DataOptions) -> tuple["Model", Blocks]:
    """Fit a method on a matrix, or on the rows of a table with labels; give all rows.

    A table is encoded unless it is a matrix of numbers. A column that counts or names
    the rows is no feature, in whatever table it stands.
    """
    from sklearn.pipeline import make_pipeline

    from partlearn.io import is_table, join_blocks, raw_columns, table_blocks
    from partlearn.persistence import Model
    from partlearn.tables import take_rows

    blocks: list[Any] = []
    if is_table(data):
        blocks = list(table_blocks(data, whole=True, encoding=options.encoding))
    source = _input.read_data(data, options, join_blocks(blocks) if blocks else None)
    with _input.notes():
        labels = source.evidence
        if options.several:
            labels = _shares(estimator, labels)
    encoder, used = None, source.names if source.bunch is not None else []
    if source.bunch is not None:
        _input.refuse_missing_values(source)
        X = source.X if source.X.dtype.kind == "f" else source.X.astype(float)
    else:
        _input.echo_labels(labels.read_as)
        columns = take_rows(source.X, labels.rows)
        hidden = [*source.hidden, *source.label_names]
        encoder, used, X = _features(columns, hidden, options.roles)
    with _input.notes():
        estimator.fit(X, labels if labels.weighted else labels.candidates)
    if len(labels) < source.n_rows:
        say(f"Note: {source.n_rows - len(labels)} rows have no label to learn from.")
    if encoder is not None:
        estimator = make_pipeline(encoder, estimator)
    model = Model(estimator, used, [str(c) for c in labels.classes.tolist()])
    if source.bunch is not None:
        return model, _matrix_blocks(model, source, X, options.sep or "|")
    raw = (raw_columns(block, source.X) for block in blocks)
    return model, _table_blocks(model, data, raw, labels.rows)


def _features(
    columns: dict[str, Any], hidden: list[str], roles: dict[str, Any]
) -> tuple[Any, list[str], Any]:
    """Return the fitted encoder (None if all are numbers), columns and matrix."""
    from partlearn.io import DataFormatError
    from partlearn.tables import TableEncoder, find_kinds, number_matrix

    given = {n: c for n, c in columns.items() if n not in hidden}
    kinds = find_kinds(given, {}).values()
    plain = {(k.kind in ("number", "constant"), k.grouping, k.unit) for k in kinds}
    if plain == {(True, "", "")} and not any(roles.values()):
        with suppress(DataFormatError):  # a cell is missing, or no number
            return None, list(given), number_matrix(given, list(given))
    encoder = TableEncoder(**roles, ignore=hidden)
    X = encoder.fit_transform(columns)
    return encoder, [name for name, kind in encoder.kinds_.items() if kind.used], X


def _shares(estimator: Any, tags: Any) -> Any:
    """Return tags for a selector, or shares of the rows with tags for a reducer."""
    from partlearn.candidates import from_weights

    if hasattr(estimator, "get_support"):
        return tags
    evidence = from_weights(tags.weights, classes=tags.classes, empty="drop")
    evidence.rows, evidence.read_as = tags.rows[evidence.rows], tags.read_as
    return evidence


def _placed(estimator: Any) -> Any | None:
    """Return the cross-fitted training rows, as `fit_transform` does.

    None if a reducer projects training rows and new rows alike.
    """
    return estimator.cross_fitted_ if getattr(estimator, "cross_fits", False) else None


def _read_blocks(model: "Model", data: Path, writer: "TableWriter") -> Blocks:
    """Yield rows of a table that is read block by block."""
    from partlearn.io import raw_columns, table_blocks
    from partlearn.persistence import row_width

    with row_progress(data.name, writer) as show:
        width = row_width(model.estimator)
        rows = _input.block_rows(SIZES.block_rows, len(_names_out(model)), width)
        with closing(table_blocks(data, block_rows=rows, progress=show)) as blocks:
            yield from _table_blocks(model, data, map(raw_columns, blocks))


def _table_blocks(
    model: "Model", data: Path, blocks: Iterable[dict[str, Any]], labeled: Any = None
) -> Blocks:
    """Yield rows of a table; the model may have been fitted on the `labeled` ones."""
    import numpy as np

    from partlearn.io import columns_of
    from partlearn.tables import number_matrix

    features: Any = model.feature_names
    names = _names_out(model)
    selects = hasattr(_last(model), "get_support")
    placed = None if labeled is None else _placed(_last(model))
    start = 0
    for raw in blocks:
        columns = columns_of(raw)
        stop = start + len(next(iter(columns.values())))
        with _input.applying(data):
            if _is_encoded(model):
                model.estimator[0].check_columns(columns)
                X: Any = columns
            else:
                X = number_matrix(columns, features, start)
            if selects:
                learned = {name: raw[name] for name in names}
            else:
                Z = np.array(model.estimator.transform(X))
                learned = dict(zip(names, Z.T, strict=True))
        if placed is not None:
            here = (labeled >= start) & (labeled < stop)
            for name, positions in zip(learned, placed[here].T, strict=True):
                learned[name][labeled[here] - start] = positions
        yield learned, {n: column for n, column in raw.items() if n not in features}
        start = stop


def _automatic(selector: Any) -> Any:
    """Let a selector choose the number of features, if it can."""
    from sklearn.base import clone

    chosen = clone(selector).set_params(n_features_to_select="auto")
    try:
        chosen._validate_params()
    except ValueError:
        default = selector.n_features_to_select
        share = f"{default:.0%}" if isinstance(default, float) else str(default)
        say(
            f"Note: {type(selector).__name__} keeps {share} of the features; say how "
            "many with --n-features."
        )
        return selector
    return chosen


def _matrix_blocks(model: "Model", data: "Dataset", X: Any, sep: str) -> Blocks:
    """Yield rows of a matrix that a model was fitted on, with their labels."""
    import numpy as np

    names, placed = _names_out(model), _placed(model.estimator)
    truth, classes = data.true_labels(), data.evidence.classes
    for start in range(0, data.n_rows, SIZES.block_rows):
        rows = slice(start, start + SIZES.block_rows)
        sets = data.evidence.candidates[rows]
        labels = {"candidates": [sep.join(map(str, classes[row])) for row in sets]}
        if truth is not None:
            labels["truth"] = truth[rows].tolist()
        Z = model.estimator.transform(X[rows]) if placed is None else placed[rows]
        Z = Z.toarray() if hasattr(Z, "toarray") else np.asarray(Z)
        yield dict(zip(names, Z.T, strict=True)), labels
