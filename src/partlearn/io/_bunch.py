"""Build the Bunch that every reader returns."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import Bunch

from partlearn._arguments import argument
from partlearn._typing import Indices, Mask
from partlearn.candidates import is_missing
from partlearn.io._errors import AmbiguousDataError, DataFormatError
from partlearn.io._matrix import as_rows
from partlearn.io._options import Budget, ReadOptions, Task


def binary_matrix(A: Any, budget: Budget, where: str) -> Mask:
    """Return a label matrix of {0, 1} or {-1, +1}, dense or sparse, as booleans."""
    budget.matrix(A.shape[0], A.shape[1], 1, where)
    entries = A.data if sp.issparse(A) else A
    if entries.dtype != bool:
        allowed = (entries == 0) | (entries == 1) | (entries == -1)
        minus = bool((entries == -1).any())
        zero = bool((entries == 0).any()) or entries.size < A.shape[0] * A.shape[1]
        if not allowed.all() or (minus and zero):
            odd = entries[~allowed][:3].tolist() or [-1, 0, 1]
            raise DataFormatError(
                "label values must be 0 and 1, or -1 and +1; found "
                f"{', '.join(map(str, odd))}",
                where=where,
            )
    dense = A.toarray() if sp.issparse(A) else A
    return np.asarray(dense if dense.dtype == bool else dense > 0)


def one_hot(codes: NDArray[Any], q: int, budget: Budget) -> Mask:
    """Return class codes as a boolean matrix with one label per row."""
    budget.matrix(len(codes), q, 1, "the label matrix")
    matrix = np.zeros((len(codes), q), dtype=bool)
    matrix[np.arange(len(codes)), codes] = True
    return matrix


def named_bags(names: Any) -> NDArray[Any]:
    """Return the names of bags as text, empty for rows without a bag."""
    texts = ["" if is_missing(name) else str(name) for name in names]
    return np.asarray(texts, dtype=np.str_)


def sort_names(names: list[str]) -> list[str]:
    """Sort names by value if all are numbers, else alphabetically."""
    try:
        values = {name: float(name) for name in names}
    except ValueError:
        return sorted(names)
    if not all(map(math.isfinite, values.values())):  # labels such as nan or inf
        return sorted(names)
    return sorted(names, key=lambda name: (values[name], name))


def as_whole(values: NDArray[Any]) -> NDArray[Any]:
    """Convert numbers to integers if all of them are whole."""
    if values.dtype.kind == "b":
        return values.astype(np.uint8)
    if values.dtype.kind != "f" or not (np.abs(values) < 2**53).all():
        return values
    return values.astype(np.int64) if (values == np.round(values)).all() else values


def class_codes(values: NDArray[Any], where: str) -> tuple[Indices, list[str]]:
    """Return class codes and class names of a vector of class numbers."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise DataFormatError("class labels are missing (not a number)", where=where)
    classes, codes = np.unique(as_whole(values), return_inverse=True)
    return codes.reshape(-1), [str(c) for c in classes.tolist()]


def make_bunch(
    X: Any,
    candidates: Mask | None,
    truth: NDArray[Any] | None,
    options: ReadOptions,
    budget: Budget,
    *,
    target_names: list[str],
    feature_names: list[str] | None,
    descr: str,
    key_argument: str,
    **extra: Any,
) -> Bunch:
    """Check that the parts fit together, infer the task and build the Bunch.

    `truth` is a vector of codes or a boolean matrix.
    """
    X = as_rows(X, options.sparse, budget)
    m, q = X.shape[0], len(target_names)
    for what, part in (("candidates", candidates), ("truth", truth)):
        if part is not None and len(part) != m:
            raise DataFormatError(f"there are {m} rows of data, {len(part)} of {what}")
        if part is not None and part.ndim == 2 and part.shape[1] != q:
            raise DataFormatError(
                f"there are {q} classes, the {what} have {part.shape[1]}"
            )
    task = _settle(options.task, candidates, truth, key_argument)
    if task in ("multiclass", "multilabel"):
        candidates = None
    if truth is not None and task in ("pll", "multiclass"):
        truth = (truth if truth.ndim == 1 else truth.argmax(axis=1)).astype(np.int64)
    elif truth is not None and truth.ndim == 1:
        truth = one_hot(truth, q, budget)
    if feature_names is not None and len(feature_names) != X.shape[1]:
        feature_names = None
    sizes = ""
    if candidates is not None:
        sizes = f", {candidates.sum() / max(1, m):.2f} candidates per row"
    return Bunch(
        data=X,
        candidates=candidates,
        truth=truth,
        feature_names=feature_names,
        target_names=target_names,
        task=task,
        DESCR=f"{m} samples, {X.shape[1]} features, {q} classes{sizes} ({task}).\n"
        + descr,
        **extra,
    )


def _settle(
    task: Task | None,
    candidates: Mask | None,
    truth: NDArray[Any] | None,
    key_argument: str,
) -> Task:
    missing = ""
    if candidates is None and truth is None:
        missing = "no labels were recognized"
    elif task in ("pll", "pml") and candidates is None:
        missing = (
            f"{argument('task', task)} needs candidate sets, and none were recognized"
        )
    elif task in ("multiclass", "multilabel") and truth is None:
        missing = (
            f"{argument('task', task)} needs true labels, and none were recognized"
        )
    if missing:
        raise AmbiguousDataError(missing, advice=f"Name them with {key_argument}.")
    single = truth is None or truth.ndim == 1 or bool((truth.sum(axis=1) == 1).all())
    if task is None:
        if candidates is not None:
            return "pll" if single else "pml"
        return "multiclass" if single else "multilabel"
    if task in ("pll", "multiclass") and not single:
        assert truth is not None
        rows = np.flatnonzero(truth.sum(axis=1) != 1)
        raise DataFormatError(
            f"{argument('task', task)} needs one true label per row; {len(rows)} "
            f"rows have none or several, the first is row {rows[0]}",
            advice=f"Pass {argument('task', 'pml')} or "
            f"{argument('task', 'multilabel')}, "
            "or take the rows with one label by single_label().",
        )
    return task
