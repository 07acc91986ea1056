"""Matrices assembled block by block, kept sparse while that pays."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn.io._errors import DataFormatError

__all__ = [
    "BLOCK_BYTES",
    "MatrixBuilder",
    "as_dtype",
    "as_rows",
    "as_stored",
    "compressed",
]

BLOCK_BYTES = 2**20
_SPARSE_BELOW = 0.1  # share of non-zero cells under which a matrix is kept sparse
_WORTH = 2**16  # cells from which it is worth the trouble
_WIDE = 100  # features from which X is left sparse

_DTYPES = {
    np.dtype(t).str
    for t in ("?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d")
}

Sparse = bool | Literal["auto"]


class MatrixBuilder:
    """Collect a matrix line by line (rows or columns) without a dense copy.

    Lines are stored sparse until a tenth of all cells is non-zero; then, and for
    small matrices, they are stored dense. So the peak is proportional to the content.
    """

    def __init__(self, lines: int, length: int, dtype: np.dtype[Any]) -> None:
        self.lines, self.length, self.dtype = lines, length, dtype
        self.filled = 0
        self.nnz = 0
        self.dense: NDArray[Any] | None = None
        self.pieces: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
        if lines * length < _WORTH:
            self.dense = np.empty((lines, length), dtype=dtype)

    def add(self, block: NDArray[Any]) -> None:
        """Append lines, one per row of `block`."""
        stop = self.filled + len(block)
        if self.dense is None:
            line, index = np.nonzero(block)
            self.nnz += len(index)
            if self.nnz < _SPARSE_BELOW * self.lines * self.length:
                counts = np.bincount(line, minlength=len(block))
                self.pieces.append((counts, index.astype(np.int32), block[line, index]))
                self.filled = stop
                return
            self._turn_dense()
        assert self.dense is not None
        self.dense[self.filled : stop] = block
        self.filled = stop

    def _turn_dense(self) -> None:
        dense = np.zeros((self.lines, self.length), dtype=self.dtype)
        start = 0
        for counts, index, values in self.pieces:
            lines = np.repeat(np.arange(start, start + len(counts)), counts)
            dense[lines, index] = values
            start += len(counts)
        self.pieces = []
        self.dense = dense

    def rows(self) -> Any:
        """Return the matrix whose rows are the lines: ndarray or CSR."""
        if self.dense is not None:
            return self.dense
        counts, index, values = (
            np.concatenate(parts) for parts in zip(*self.pieces, strict=True)
        )
        pointer = np.zeros(self.lines + 1, dtype=np.int64)
        np.cumsum(counts, out=pointer[1:])
        kind = np.int32 if pointer[-1] < 2**31 else np.int64
        return sp.csr_array(
            (values, index.astype(kind, copy=False), pointer.astype(kind)),
            shape=(self.lines, self.length),
        )

    def columns(self) -> Any:
        """Return the matrix whose columns are the lines: ndarray or CSC."""
        return self.rows().T


def compressed(
    kind: Any,
    values: NDArray[Any],
    index: NDArray[Any],
    pointer: NDArray[Any],
    shape: tuple[int, int],
    where: str,
) -> Any:
    """Sparse array of class `kind` from its three vectors, every index checked."""
    lines, length = shape if kind is sp.csr_array else shape[::-1]
    if max(shape) >= 2**31:
        raise DataFormatError(f"{where} declares impossible dimensions {shape}")
    if index.dtype.kind not in "iu" or pointer.dtype.kind not in "iu":
        raise DataFormatError(f"{where} has indices that are not integers")
    pointer = pointer.astype(np.int64)
    if len(pointer) != lines + 1 or pointer[0] != 0 or (np.diff(pointer) < 0).any():
        raise DataFormatError(
            f"{where} has pointers that do not describe its {shape[0]:,} rows and "
            f"{shape[1]:,} columns"
        )
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


def as_rows(X: Any, sparse: Sparse) -> Any:
    """Return final form of the data matrix: a C-ordered array or CSR.

    With ``sparse="auto"`` a matrix which arrived sparse stays so when it has at least
    a hundred columns, and no dense matrix is made sparse here.
    """
    if sp.issparse(X):
        if sparse is False or (sparse == "auto" and X.shape[1] < _WIDE):
            return np.ascontiguousarray(X.toarray())
        X = sp.csr_array(X)
        X.sort_indices()
        return X
    return sp.csr_array(X) if sparse is True else np.ascontiguousarray(X)


def as_stored(X: NDArray[Any]) -> Any:
    """Return a dense array as CSR if it has few non-zeros."""
    if X.size >= _WORTH and np.count_nonzero(X) < _SPARSE_BELOW * X.size:
        return sp.csr_array(X)
    return X


def as_dtype(X: Any, name: Any) -> Any:
    """Back to the type that a file of our own notes down, if it is one of numbers."""
    if not isinstance(name, str) or name not in _DTYPES:
        return X
    if sp.issparse(X) and np.dtype(name) == np.float16:  # which scipy does not have
        return X
    return X.astype(name, copy=False)
