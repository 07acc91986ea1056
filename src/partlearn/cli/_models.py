"""Parameters, input and fitting of the methods of the command line."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from partlearn.cli._console import say
from partlearn.cli._data_options import DataOptions, read_matrix
from partlearn.io import format_of

__all__ = [
    "fitting",
    "labels_of",
    "notes",
    "parse_amount",
    "parse_class_weight",
    "parse_params",
    "raise_on_missing_values",
    "read_input",
]


def parse_amount(text: str | None, option: str) -> int | float | str | None:
    """Read "12", "0.99", "15%" or "auto"."""
    if text is None or text == "auto":
        return text
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise ValueError(
            f"{option} must be a number, a share like 15%, or auto; got {text!r}"
        ) from None


def parse_params(pairs: Sequence[str]) -> dict[str, Any]:
    """Read ``name=value``; values are JSON where they look like it, else text."""
    params: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise ValueError(f"--param must look like name=value; got {pair!r}")
        try:
            params[name.strip()] = json.loads(text)
        except json.JSONDecodeError:
            params[name.strip()] = text
    return params


def parse_class_weight(words: Sequence[str]) -> Any:
    """Read ``balanced``, or ``label=weight`` once for each label."""
    if not words:
        return None
    if list(words) == ["balanced"]:
        return "balanced"
    weights = {}
    for word in words:
        label, _, text = word.rpartition("=")
        try:
            weights[label] = float(text)
        except ValueError:
            label = ""
        if not label:
            raise ValueError(
                "--class-weight must be balanced, or a label and a number such as "
                f"fraud=5; got {word!r}"
            )
    return weights


def read_input(path: Path, options: DataOptions) -> Any:
    """Read a data set and make sure that it has candidate sets."""
    bunch = read_matrix(path, options)
    if bunch.candidates is None:
        # One label per row is a set of one.
        if bunch.truth is None or bunch.truth.ndim != 1:
            advice = "name their column with --labels"
            if format_of(path, None) in ("arff", "libsvm"):
                advice = (
                    "if its labels are candidates, use what `partlearn data convert "
                    f"{path.name} {path.stem}.npz --task pll` writes"
                )
            raise ValueError(f"{path.name} has no candidate sets; {advice}")
        bunch.candidates = bunch.truth[:, None] == np.arange(len(bunch.target_names))
    if bunch.feature_names is None:
        bunch.feature_names = [f"x{j}" for j in range(bunch.data.shape[1])]
    bunch.path = path
    return bunch


@contextmanager
def notes() -> Iterator[None]:
    """Print warnings as notes on standard error, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(w.message) for w in caught):
        say(f"Note: {text}")


@contextmanager
def fitting(bunch: Any) -> Iterator[None]:
    """Print warnings as notes, and say which values are to blame for an error."""
    with notes():
        try:
            yield
        except ValueError:
            raise_on_missing_values(bunch.data, bunch.feature_names, bunch.path)
            raise


def labels_of(bunch: Any) -> Any:
    """Labels by name for `fit`: sets, or the weights or votes of the file."""
    from partlearn.candidates import Evidence

    _raise_on_bad_labels(bunch)
    evidence = bunch.get("evidence")
    return (
        Evidence(bunch.candidates, bunch.target_names) if evidence is None else evidence
    )


def _raise_on_bad_labels(bunch: Any) -> None:
    """Say where sets break learning: estimators know neither rows nor names."""
    from partlearn.io import DataFormatError

    empty = np.flatnonzero(~bunch.candidates.any(axis=1))
    if empty.size:
        raise DataFormatError(
            f"{empty.size} of {len(bunch.candidates)} rows have no candidate label, "
            f"the first is row {empty[0]}",
            path=bunch.path,
            advice="Leave them out, or give them every label that is possible.",
        )
    if len(bunch.target_names) == 1:
        raise DataFormatError(
            f"there is no other label than {bunch.target_names[0]!r}",
            path=bunch.path,
            advice="Add rows of another label: nothing can be learnt from one.",
        )


def raise_on_missing_values(
    X: Any, names: Sequence[str], path: Path, start: int = 0
) -> None:
    """Say where values are missing, if any are; `start` is the first row of `X`."""
    from partlearn.io import DataFormatError

    if X.dtype.kind != "f":
        return
    if sparse.issparse(X):
        X = X.tocoo()
        rows, columns = (place[~np.isfinite(X.data)] for place in X.coords)
    else:
        rows, columns = np.nonzero(~np.isfinite(X))
    if rows.size:
        raise DataFormatError(
            f"missing or infinite values, the first in row {start + rows[0]} of column "
            f"{names[columns[0]]!r}",
            path=path,
            advice="Fill them in, or leave these rows or columns out.",
        )
