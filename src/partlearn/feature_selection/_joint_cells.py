"""Cells that rows with equal bins share, and what one more feature adds to them."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array, Indices
from partlearn.feature_selection._columns import N_BINS, DenseColumns, SparseColumns


def cell_entropy(keys: NDArray[np.int64]) -> float:
    """Entropy of the cells that `keys` name, in nats."""
    n = np.bincount(keys)
    return float(np.log(len(keys)) - _information(n[n > 0]).sum() / len(keys))


def _information(n: NDArray[np.int64]) -> Array:
    """``n ln n``, zero for nobody."""
    return np.asarray(n * np.log(np.maximum(n, 1)), dtype=np.float64)


class DenseCells:
    """Cells of the rows of dense data under the features taken so far.

    Parameters
    ----------
    data : DenseColumns
        The data.

    Attributes
    ----------
    own : ndarray of shape (d,)
        Entropy of each feature alone.
    """

    def __init__(self, data: DenseColumns) -> None:
        self._data = data
        self._cells = np.zeros(data.shape[0], dtype=np.int64)
        self._entropy = 0.0
        self.own = np.array([cell_entropy(self._keys(f)) for f in range(data.shape[1])])

    def _keys(self, f: int) -> NDArray[np.int64]:
        return self._cells * N_BINS + self._data.codes(np.array([f]))[0]

    def gain(self, f: int) -> float:
        """Entropy that a feature adds, never negative."""
        return max(cell_entropy(self._keys(f)) - self._entropy, 0.0)

    def split(self, f: int, gain: float, /) -> None:
        """Take a feature, which adds that much."""
        self._cells = np.unique(self._keys(f), return_inverse=True)[1]
        self._entropy += gain


class _Parts(NamedTuple):
    """What leaves its cell: rows, the part of each, and numbers of cells and parts."""

    rows: Indices
    part: Indices
    sizes: NDArray[np.int64]
    left: NDArray[np.int64]
    leaving: NDArray[np.int64]


class SparseCells:
    """As `DenseCells`, for sparse data: only rows outside the bin of zero are moved."""

    def __init__(self, data: SparseColumns) -> None:
        m, d = data.shape
        X, codes, zero = data.X, data.entry_codes(), data.zero_codes()
        column = np.repeat(np.arange(d), np.diff(X.indptr))
        moved = codes != zero[column]
        self._rows, self._codes = X.indices[moved], codes[moved].astype(np.int64)
        self._starts = np.append(0, np.cumsum(np.bincount(column[moved], minlength=d)))
        self._m = m
        self._cells = np.zeros(m, dtype=np.int64)
        self._sizes = np.zeros(m + 1, dtype=np.int64)
        self._sizes[0], self._n_cells = m, 1
        table = np.bincount(
            column[moved] * N_BINS + self._codes, minlength=d * N_BINS
        ).reshape(d, N_BINS)
        table[np.arange(d), zero] += m - table.sum(axis=1)
        self.own: Array = np.log(m) - _information(table).sum(axis=1) / m

    def _parts(self, f: int) -> _Parts:
        entries = slice(self._starts[f], self._starts[f + 1])
        rows = self._rows[entries]
        cells = self._cells[rows]
        keys, part, sizes = np.unique(
            cells * N_BINS + self._codes[entries],
            return_inverse=True,
            return_counts=True,
        )
        left, owner = np.unique(keys // N_BINS, return_inverse=True)
        leaving = np.bincount(owner, weights=sizes).astype(np.int64)
        return _Parts(rows, part, sizes, left, leaving)

    def gain(self, f: int) -> float:
        """Entropy that a feature adds, never negative."""
        parts = self._parts(f)
        before = self._sizes[parts.left]
        change = _information(before).sum() - _information(parts.sizes).sum()
        change -= _information(before - parts.leaving).sum()
        return max(float(change) / self._m, 0.0)

    def split(self, f: int, _gain: float, /) -> None:
        """Take a feature."""
        parts = self._parts(f)
        self._sizes[parts.left] -= parts.leaving
        end = self._n_cells + len(parts.sizes)
        if end > len(self._sizes):
            more = np.zeros(max(len(self._sizes), len(parts.sizes)), dtype=np.int64)
            self._sizes = np.append(self._sizes, more)
        self._sizes[self._n_cells : end] = parts.sizes
        self._cells[parts.rows] = self._n_cells + parts.part
        self._n_cells = end
