"""Build the Bunch that every reader returns, with matrices that stay sparse."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import Bunch, gen_batches

from partlearn._arguments import argument
from partlearn._typing import Indices, Mask
from partlearn.candidates import is_missing
from partlearn.io._errors import AmbiguousDataError, DataFormatError
from partlearn.io._options import Budget, ReadOptions, Sparse, Task


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


BLOCK_BYTES = 2**20
_SPARSE_BELOW = 0.1  # share of non-zero cells under which a matrix is kept sparse
_WORTH = 2**16  # cells from which it is worth the trouble
_WIDE = 100  # features from which X is left sparse

_DTYPES = {np.dtype(code).str for code in "?bBhHiIqQefd"}


def read_matrix(
    load: Callable[[slice], NDArray[Any]],
    lines: int,
    length: int,
    dtype: np.dtype[Any],
    multiple: int = 1,
) -> Any:
    """Build a matrix, ndarray or CSR, from blocks of its rows or columns.

    It is kept sparse until a tenth of all cells is non-zero; then, or if it is small,
    dense. So the peak is proportional to the content. Blocks have a number of lines
    that is a multiple of `multiple`.
    """
    size = lines * length
    # SciPy has no sparse float16.
    small = size < _WORTH or dtype == np.float16
    dense = np.empty((lines, length), dtype=dtype) if small else None
    step = max(1, BLOCK_BYTES // max(1, length * dtype.itemsize))
    blocks: list[Any] = []
    nnz = 0
    for part in gen_batches(lines, -(-step // multiple) * multiple):
        block = load(part)
        if dense is not None:
            dense[part] = block
            continue
        blocks.append(sp.csr_array(block, dtype=dtype))
        nnz += blocks[-1].nnz
        if not worth_sparse(nnz, size):
            dense = np.empty((lines, length), dtype=dtype)
            sp.vstack(blocks).toarray(out=dense[: part.stop])
            blocks = []
    return sp.vstack(blocks, format="csr") if dense is None else dense


def compressed(
    kind: Any,
    values: NDArray[Any],
    index: NDArray[Any],
    pointer: NDArray[Any],
    shape: tuple[int, int],
    where: str,
) -> Any:
    """Build a sparse array of class `kind` from its vectors; check every index."""
    lines, length = shape if kind is sp.csr_array else shape[::-1]
    if max(shape) >= 2**31:
        raise DataFormatError(f"{where} declares impossible dimensions {shape}")
    if index.dtype.kind not in "iu" or pointer.dtype.kind not in "iu":
        raise DataFormatError(f"{where} has indices that are not integers")
    pointer = pointer.astype(np.int64)
    if len(pointer) != lines + 1 or pointer[0] != 0 or (np.diff(pointer) < 0).any():
        raise DataFormatError(f"{where} has pointers that do not fit its shape {shape}")
    nnz = int(pointer[-1])
    if nnz > min(len(index), len(values)):
        raise DataFormatError(f"{where} has vectors that disagree in length")
    index, values = index[:nnz], values[:nnz]
    if nnz and not (int(index.min()) >= 0 and int(index.max()) < length):
        raise DataFormatError(f"{where} has indices outside 0..{length - 1}")
    size = np.int32 if nnz < 2**31 else np.int64
    parts = (values, index.astype(size), pointer.astype(size))
    matrix = kind(parts, shape=shape)
    matrix.sum_duplicates()
    return matrix


def as_rows(X: Any, sparse: Sparse, budget: Budget) -> Any:
    """Return the data matrix as a C-ordered array or CSR.

    With ``sparse="auto"`` a matrix which arrived sparse stays so when it has at least
    a hundred columns, and no dense matrix is made sparse here.
    """
    if sp.issparse(X):
        if sparse is False or (sparse == "auto" and X.shape[1] < _WIDE):
            budget.matrix(X.shape[0], X.shape[1], X.dtype.itemsize, "the data matrix")
            return np.ascontiguousarray(X.toarray())
        X = sp.csr_array(X)
        X.sort_indices()
        return X
    return sp.csr_array(X) if sparse is True else np.ascontiguousarray(X)


def worth_sparse(nnz: int, size: int) -> bool:
    """Whether to keep a matrix of this size sparse."""
    return size >= _WORTH and nnz < _SPARSE_BELOW * size


def as_dtype(X: Any, name: Any) -> Any:
    """Convert `X` to the dtype stored in the file, if it is numeric."""
    if not isinstance(name, str) or name not in _DTYPES:
        return X
    if sp.issparse(X) and np.dtype(name) == np.float16:  # which scipy does not have
        return X
    return X.astype(name, copy=False)
