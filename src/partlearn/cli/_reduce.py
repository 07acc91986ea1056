"""``partlearn reduce`` and ``partlearn select``."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import Annotated, Any

import typer

from partlearn.cli._data_options import (
    Ignore,
    Json,
    Labels,
    SafeCsv,
    Sep,
    Truth,
    refuse_overwriting_input,
)

__all__ = ["reduce", "select"]

Input = Annotated[
    Path, typer.Argument(help="CSV, TSV, Parquet, ARFF, .mat or .npz file.")
]
Out = Annotated[Path, typer.Option(help="Table to write: .csv, .tsv or .parquet.")]
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
    """Project the features onto a few directions learnt from candidate sets."""
    from partlearn.cli._models import parse_amount, parse_params

    params = parse_params(param or [])
    amount = parse_amount(n_components, "--n-components")
    if amount is not None:
        params["n_components"] = amount
    options = {"labels": labels, "sep": sep, "truth": truth, "ignore": ignore}
    _run(
        "projection", data, out, method, params, options, save, load, safe_csv, as_json
    )


def select(
    data: Input,
    out: Out,
    method: Annotated[
        str, typer.Option(help="Selector, such as saute.")
    ] = "crisp-selector",
    labels: Labels = None,
    sep: Sep = None,
    truth: Truth = None,
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
    """Keep the features that tell the labels apart."""
    from partlearn.cli._models import parse_amount, parse_params

    params = parse_params(param or [])
    amount = parse_amount(n_features, "--n-features")
    if amount is not None:
        params["n_features_to_select"] = amount
    options = {"labels": labels, "sep": sep, "truth": truth, "ignore": ignore}
    _run("selector", data, out, method, params, options, save, load, safe_csv, as_json)


def _run(
    kind: str,
    data: Path,
    out: Path,
    method: str,
    params: dict[str, Any],
    options: dict[str, Any],
    save: Path | None,
    load: Path | None,
    safe_csv: bool,
    as_json: bool,
) -> None:
    from partlearn.cli._console import print_json
    from partlearn.io import TableWriter, is_table
    from partlearn.persistence import Model, load_model, save_model

    default = {"projection": "crisp", "selector": "crisp-selector"}[kind]
    if load is not None and (save is not None or params or method != default):
        raise ValueError("--load applies a model as it was saved; leave out the rest")
    refuse_overwriting_input(data, out)
    with TableWriter(out, safe_csv=safe_csv) as writer:
        if load is not None:
            model = load_model(load)
            if model.feature_names is None:
                raise ValueError(f"{load.name} was saved without the names of columns")
            selects = hasattr(model.estimator, "get_support")
            if selects != (kind == "selector"):
                command = "select" if selects else "reduce"
                raise ValueError(
                    f"{load.name} holds a {type(model.estimator).__name__}: apply it "
                    f"with `partlearn {command}`"
                )
            names = _apply(model, data, writer)
        else:
            bunch, estimator = _fit(kind, data, method, params, options)
            model = Model(estimator, bunch.feature_names, bunch.target_names)
            if is_table(data):
                names = _apply(model, data, writer, fitted=True)
            else:
                names = _write(model, data, bunch, options["sep"] or "|", writer)
            if save is not None:
                save_model(model, save)
    outcome = {
        "method": type(model.estimator).__name__,
        "rows": writer.n_rows,
        "features_in": len(model.feature_names or ()),
        "features_out": len(names),
        "features": names,
        "out": str(out),
        "saved": str(save) if save else None,
    }
    if as_json:
        print_json(outcome)
        return
    print(
        f"{outcome['method']}: {outcome['rows']} rows, {outcome['features_in']} "
        f"features to {outcome['features_out']}: {out}"
    )


def _fit(
    kind: str, data: Path, method: str, params: dict[str, Any], options: dict[str, Any]
) -> tuple[Any, Any]:
    from partlearn._registry import Role, build
    from partlearn.cli._models import fitting, labels_of, read_input

    role: Role = "selector" if kind == "selector" else "reducer"
    estimator = build(method, params, role, seed=0)
    if role == "selector" and "n_features_to_select" not in params:
        estimator = _automatic(estimator)
    bunch = read_input(data, **options)
    X = bunch.data if bunch.data.dtype.kind == "f" else bunch.data.astype(float)
    labels = labels_of(bunch)
    with fitting(bunch):
        return bunch, estimator.fit(X, labels)


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
            f"several features are called {double[0]!r}; a table needs distinct names"
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
    from partlearn.cli._models import raise_on_missing_values
    from partlearn.io import read_blocks

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
