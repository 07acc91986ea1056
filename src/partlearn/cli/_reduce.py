"""``partlearn reduce`` and ``partlearn select``."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partlearn.cli._data_options import (
    Category,
    DataOptions,
    Date,
    Id,
    Ignore,
    Json,
    Labels,
    Number,
    SafeCsv,
    Sep,
    Text,
    Truth,
    check_output,
    column_roles,
    report_to,
)

if TYPE_CHECKING:
    from partlearn.io import TableWriter
    from partlearn.persistence import Model

__all__ = ["reduce", "select"]

Input = Annotated[
    Path,
    typer.Argument(
        help="CSV, TSV, Parquet, Arrow, JSON lines, ARFF, .mat or .npz; - is standard "
        "input."
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        help="Table to write: .csv, .tsv, .parquet or .jsonl; - is standard output."
    ),
]
Save = Annotated[
    Path | None, typer.Option(help="Save the fitted model, under any name.")
]
Load = Annotated[
    Path | None, typer.Option(help="Apply a saved model; nothing is fitted.")
]
Param = Annotated[
    list[str] | None,
    typer.Option(help="Parameter of the method, name=value; repeat for more."),
]


def reduce(
    data: Input,
    out: Out,
    method: Annotated[str, typer.Option(help="Reducer, such as cenda.")] = "crisp",
    labels: Labels = None,
    sep: Sep = None,
    truth: Truth = None,
    id: Id = None,
    number: Number = None,
    category: Category = None,
    date: Date = None,
    text: Text = None,
    ignore: Ignore = None,
    n_components: Annotated[
        str | None, typer.Option(help="Columns to keep: 12, 0.99 or auto.")
    ] = None,
    param: Param = None,
    save: Save = None,
    load: Load = None,
    safe_csv: SafeCsv = False,
    as_json: Json = False,
) -> None:
    """Project the features onto a few directions learnt from candidate sets.

    Columns that are not features stay in the table. Text, categories, dates and missing
    values are encoded as `partlearn train` does.
    """
    params = _params(param, "n_components", n_components)
    roles = column_roles(id, number, category, date, text)
    options = DataOptions(labels, truth, sep, ignore, roles)
    _run("reducer", data, out, method, params, options, save, load, safe_csv, as_json)


def select(
    data: Input,
    out: Out,
    method: Annotated[
        str, typer.Option(help="Selector, such as saute.")
    ] = "crisp-selector",
    labels: Labels = None,
    sep: Sep = None,
    truth: Truth = None,
    id: Id = None,
    number: Number = None,
    category: Category = None,
    date: Date = None,
    text: Text = None,
    ignore: Ignore = None,
    n_features: Annotated[
        str | None,
        typer.Option(
            help="Features to keep: 12, 15% or auto, which tries sizes on held-out "
            "rows and is meant where nothing is said."
        ),
    ] = None,
    param: Param = None,
    save: Save = None,
    load: Load = None,
    safe_csv: SafeCsv = False,
    as_json: Json = False,
) -> None:
    """Keep the features that tell the labels apart.

    Text, categories, dates and missing values are encoded as `partlearn train` does; a
    column is kept as it is if one of the features made of it is chosen.
    """
    params = _params(param, "n_features_to_select", n_features)
    roles = column_roles(id, number, category, date, text)
    options = DataOptions(labels, truth, sep, ignore, roles)
    _run("selector", data, out, method, params, options, save, load, safe_csv, as_json)


def _params(
    pairs: list[str] | None, amount_name: str, amount: str | None
) -> dict[str, Any]:
    from partlearn.cli._models import parse_amount, parse_params

    params = parse_params(pairs or [])
    option = {"n_components": "--n-components"}.get(amount_name, "--n-features")
    size = parse_amount(amount, option)
    return params if size is None else params | {amount_name: size}


def _run(
    role: Any,
    data: Path,
    out: Path,
    method: str,
    params: dict[str, Any],
    options: DataOptions,
    save: Path | None,
    load: Path | None,
    safe_csv: bool,
    as_json: bool,
) -> None:
    from partlearn.cli._console import print_json
    from partlearn.io import TableWriter
    from partlearn.persistence import save_model

    default = {"reducer": "crisp", "selector": "crisp-selector"}[role]
    if load is not None and (save is not None or params or method != default):
        raise ValueError("--load applies a model as it was saved; leave out the rest")
    check_output(data, out, as_json)
    with TableWriter(out, safe_csv=safe_csv) as writer:
        if load is not None:
            model = _loaded(load, role)
            names = _apply(model, data, writer)
        else:
            model, names = _fit(role, data, method, params, options, writer)
        if save is not None:
            save_model(model, save)
    n_in = n_columns = len(model.feature_names or ())
    told = f"{n_in} features to {len(names)}"
    if _is_encoded(model):
        n_in = model.estimator[0].n_features_out_
        told = f"{n_in} features of {n_columns} columns to {len(names)}"
        if role == "selector":
            n_chosen = int(_last(model).get_support().sum())
            told = (
                f"{n_chosen} of {n_in} features, in {len(names)} of {n_columns} columns"
            )
    method = type(_last(model)).__name__
    if as_json:
        print_json(
            {
                "method": method,
                "rows": writer.n_rows,
                "features_in": n_in,
                "features_out": len(names),
                "features": names,
                "out": str(out),
                "saved": str(save) if save else None,
            }
        )
        return
    print(f"{method}: {writer.n_rows} rows, {told}: {out}", file=report_to(out))


def _loaded(path: Path, role: str) -> "Model":
    from partlearn.persistence import load_model

    model = load_model(path)
    if model.feature_names is None:
        raise ValueError(
            f"{path.name} was saved without the names of columns; `partlearn predict` "
            "applies models of `partlearn train`"
        )
    selects = hasattr(_last(model), "get_support")
    if selects != (role == "selector"):
        command = "select" if selects else "reduce"
        raise ValueError(
            f"{path.name} holds a {type(_last(model)).__name__}: apply it with "
            f"`partlearn {command}`"
        )
    return model


def _last(model: "Model") -> Any:
    """The reducer or selector of a model, which may have an encoder in front."""
    return model.estimator[-1] if _is_encoded(model) else model.estimator


def _is_encoded(model: "Model") -> bool:
    from sklearn.pipeline import Pipeline

    return isinstance(model.estimator, Pipeline)


def _fit(
    role: Any,
    data: Path,
    method: str,
    params: dict[str, Any],
    options: DataOptions,
    writer: "TableWriter",
) -> tuple["Model", list[str]]:
    """Fit a method on a matrix of numbers, or on a table that is encoded."""
    from partlearn._registry import build
    from partlearn.cli._models import fitting, labels_of
    from partlearn.cli._tables import is_table_file
    from partlearn.io import is_table
    from partlearn.persistence import Model

    estimator = build(method, params, role, seed=0)
    if role == "selector" and "n_features_to_select" not in params:
        estimator = _automatic(estimator)
    bunch = _numbers(data, options)
    if bunch is None:
        return _fit_table(estimator, data, options, writer)
    X = bunch.data if bunch.data.dtype.kind == "f" else bunch.data.astype(float)
    labels = labels_of(bunch)
    with fitting(bunch):
        estimator.fit(X, labels)
    model = Model(estimator, bunch.feature_names, bunch.target_names)
    if is_table_file(data) and is_table(data):
        return model, _apply(model, data, writer, fitted=True)
    return model, _write(model, data, bunch, options.sep or "|", writer)


def _numbers(data: Path, options: DataOptions) -> Any | None:
    """Data whose features are numbers without a gap; None if a table has others."""
    import numpy as np
    from scipy.sparse import issparse

    from partlearn.cli._models import read_input
    from partlearn.cli._tables import is_table_file
    from partlearn.io import DataError, is_table

    if not is_table_file(data):
        options.refuse_table_options(data)
        return read_input(data, options)
    if str(data) == "-" or any(options.roles.values()) or not is_table(data):
        return None
    try:
        bunch = read_input(data, options)
    except DataError:  # what is wrong, if anything, is said where it is read anew
        return None
    values = bunch.data.data if issparse(bunch.data) else bunch.data
    fine = bool(np.isfinite(values).all()) and bool(bunch.candidates.any(axis=1).all())
    return bunch if fine else None


def _fit_table(
    estimator: Any, data: Path, options: DataOptions, writer: "TableWriter"
) -> tuple["Model", list[str]]:
    """Encode a table, fit a method on the rows that have labels, and write all rows."""
    from sklearn.pipeline import make_pipeline

    from partlearn.cli._console import say
    from partlearn.cli._models import notes
    from partlearn.cli._tables import read_table_input
    from partlearn.io import BLOCK_ROWS
    from partlearn.persistence import Model
    from partlearn.tables import TableEncoder, read_labels, take_rows

    table = read_table_input(data, options)
    evidence, names = read_labels(table.columns, table.y, options.sep)
    encoder = TableEncoder(**options.roles, ignore=[*table.hidden, *names])
    pipeline = make_pipeline(encoder, estimator)
    with notes():
        pipeline.fit(
            take_rows(table.columns, evidence.rows),
            evidence if evidence.weighted else evidence.candidates,
        )
    if len(evidence) < table.n_rows:
        say(f"Note: {table.n_rows - len(evidence)} rows have no label to learn from.")
    used = [name for name, kind in encoder.kinds_.items() if kind.used]
    model = Model(pipeline, used, [str(c) for c in evidence.classes.tolist()])
    # As `fit_transform` has them: placed by models that did not see them.
    placed = None
    if getattr(estimator, "cross_fits", False):
        placed = estimator.cross_fitted_
    for start in range(0, table.n_rows, BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        block = take_rows(table.columns, rows)
        learnt = _of_block(model, block)
        if placed is not None:
            here = (evidence.rows >= start) & (evidence.rows < start + BLOCK_ROWS)
            for j, name in enumerate(learnt):
                learnt[name][evidence.rows[here] - start] = placed[here, j]
        writer.write(_beside(learnt, _unused(model, block), data))
    return model, list(learnt)


def _of_block(model: "Model", block: dict[str, Any]) -> dict[str, Any]:
    """What is learnt of rows of a table: directions, or the columns chosen."""
    import numpy as np

    encoder, estimator = model.estimator
    if hasattr(estimator, "get_support"):
        chosen = set(encoder.get_source_columns()[estimator.get_support()])
        return {
            name: block[name] for name in model.feature_names or () if name in chosen
        }
    Z = np.asarray(model.estimator.transform(block))
    names = estimator.get_feature_names_out(encoder.get_feature_names_out())
    return {str(name): Z[:, j] for j, name in enumerate(names)}


def _unused(model: "Model", block: dict[str, Any]) -> dict[str, Any]:
    used = set(model.feature_names or ())
    return {name: column for name, column in block.items() if name not in used}


def _automatic(selector: Any) -> Any:
    """Let a selector choose how many features, if it knows how to."""
    from sklearn.base import clone

    from partlearn.cli._console import say

    chosen = clone(selector).set_params(n_features_to_select="auto")
    try:
        chosen._validate_params()
    except ValueError:
        default = selector.n_features_to_select
        share = f"{default:.0%} of" if isinstance(default, float) else str(default)
        say(
            f"Note: {type(selector).__name__} keeps {share} the features; say how many "
            "with --n-features."
        )
        return selector
    return chosen


def _names_out(model: Any) -> list[str]:
    import numpy as np

    given = np.asarray(model.feature_names, dtype=object)
    names = [str(n) for n in model.estimator.get_feature_names_out(given)]
    double = [name for name in set(names) if names.count(name) > 1]
    if double:
        raise ValueError(
            f"several features are called {double[0]!r}, and a table needs distinct "
            "names; rename one of them"
        )
    return names


def _write(model: Any, data: Path, bunch: Any, sep: str, writer: Any) -> list[str]:
    """Transform and write in blocks: the result never stands in memory as a whole."""
    from partlearn.io import BLOCK_ROWS

    names = _names_out(model)
    targets = model.target_names
    for start in range(0, bunch.data.shape[0], BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        labels = {
            "candidates": [
                sep.join(targets[j] for j in row.nonzero()[0])
                for row in bunch.candidates[rows]
            ]
        }
        if bunch.truth is not None and bunch.truth.ndim == 1:
            labels["truth"] = [targets[j] for j in bunch.truth[rows]]
        learnt = _columns(model.estimator, bunch.data[rows], names, start)
        writer.write(_beside(learnt, labels, data))
    return names


def _beside(learnt: dict[str, Any], kept: dict[str, Any], data: Path) -> dict[str, Any]:
    """Put columns side by side, none in place of another."""
    for name in learnt:
        if name in kept:
            raise ValueError(
                f"{data.name} has a column {name!r}, and so has the result; rename it"
            )
    return {**learnt, **kept}


def _columns(
    estimator: Any, X: Any, names: list[str], start: int | None = None
) -> dict[str, Any]:
    """Reduced rows by column; `start` is the place of the first among fitted rows."""
    import numpy as np

    if start is not None and getattr(estimator, "cross_fits", False):
        # As `fit_transform` has them: placed by models that did not see them.
        Z = estimator.cross_fitted_[start : start + X.shape[0]]
        return {name: Z[:, j] for j, name in enumerate(names)}
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    Z = estimator.transform(X)
    Z = Z.toarray() if hasattr(Z, "toarray") else np.asarray(Z)
    return {name: Z[:, j] for j, name in enumerate(names)}


def _apply(model: Any, data: Path, writer: Any, *, fitted: bool = False) -> list[str]:
    """Read, transform and write in blocks; columns that are no features stay.

    `fitted` says that the rows are those that the model was fitted on.
    """
    from partlearn.cli._console import progress
    from partlearn.cli._models import raise_on_missing_values
    from partlearn.io import read_blocks, table_blocks
    from partlearn.tables import columns_of

    if _is_encoded(model):
        names: list[str] = []
        with progress(data.name) as update:

            def show(share: float) -> None:
                update(int(100 * share), 100, f"{writer.n_rows:,} rows")

            for block in table_blocks(data, progress=show):
                columns = columns_of(block)
                model.estimator[0].check_columns(columns)
                learnt = _of_block(model, columns)
                names = list(learnt)
                writer.write(_beside(learnt, _unused(model, columns), data))
        return names
    names = _names_out(model)
    for X, kept in read_blocks(data, model.feature_names):
        try:
            start = writer.n_rows if fitted else None
            learnt = _columns(model.estimator, X, names, start)
        except ValueError:
            raise_on_missing_values(X, model.feature_names, data, start=writer.n_rows)
            raise
        writer.write(_beside(learnt, kept, data))
    return names
