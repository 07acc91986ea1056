"""Matrices built block by block, kept sparse if few entries are non-zero."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from partlearn.io._errors import DataFormatError
from partlearn.io._options import Budget, Sparse

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
