"""Redundancy between features: mutual information of their five bins, in nats.

Dense data are packed, one bit per row and bin, so that the joint counts of two features
are numbers of common bits. Sparse data are counted along the rows in which one of the
two features is outside of its zero bin. Labels are not used, so that results are cached
for all iterations.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._extras import compiled_loops
from partlearn._sizes import SIZES, spans
from partlearn._typing import Array, Indices, Mask
from partlearn.feature_selection._columns import (
    N_BINS,
    DenseColumns,
    SparseColumns,
    complete,
    counts_log_counts,
    cuts,
    information,
)
from partlearn.feature_selection._distant_columns import (
    ArrayColumns,
    ArrayTables,
    BlockColumns,
    BlockTables,
)
from partlearn.feature_selection._sparse_tables import SparseTables

AnyColumns = DenseColumns | SparseColumns | BlockColumns | ArrayColumns

PACKED = (0, 1, 3, 4)  # the middle bin holds what is in no other


def joint_counts(
    planes: NDArray[np.uint64], counts: NDArray[np.int64], f: int
) -> NDArray[np.int64]:
    """Joint counts of one feature with all features: the NumPy path.

    Parameters
    ----------
    planes : ndarray of uint64, shape (d, 4, w)
        Bits of the rows that are in each packed bin.
    counts : ndarray of shape (d, 5)
        Number of rows in each bin.
    f : int
        The feature.

    Returns
    -------
    joint : ndarray of shape (d, 5, 5)
        ``joint[g, a, b]`` rows have `f` in bin a and `g` in bin b.
    """
    d, n_planes, words = planes.shape
    joint = np.zeros((d, N_BINS, N_BINS), dtype=np.int64)
    for features in spans(d, SIZES.redundancy_block // (n_planes * words)):
        part = planes[features]
        for i, a in enumerate(PACKED):
            if counts[f, a]:
                common = np.bitwise_count(part & planes[f, i])
                shared = common.sum(axis=-1, dtype=np.int64)
                joint[features, a, PACKED] = shared
    return complete(joint, counts[f], counts, 2)


class DenseTables:
    """Mutual information of dense columns from packed bins: m d / 2 bytes.

    Parameters
    ----------
    columns : DenseColumns
        The data.
    use_compiled : bool, default=None
        Whether to use the compiled loop. By default where numba is installed and the
        work is worth it.

    Attributes
    ----------
    counts : ndarray of shape (d, 5)
        Number of rows in each bin.
    """

    def __init__(self, columns: DenseColumns, use_compiled: bool | None = None) -> None:
        m, d = columns.shape
        self._m = m
        self._planes = np.empty((d, len(PACKED), -(-m // 64)), dtype=np.uint64)
        if use_compiled is None:
            use_compiled = self._planes.size > SIZES.redundancy_compiled
        self._kernels = compiled_loops(__name__) if use_compiled else None
        for block in columns.blocks():
            self._pack(columns, block)
        self.counts = np.zeros((d, N_BINS), dtype=np.int64)
        for i, a in enumerate(PACKED):
            bits = np.bitwise_count(self._planes[:, i])
            self.counts[:, a] = bits.sum(axis=1, dtype=np.int64)
        self.counts[:, 2] = m - self.counts.sum(axis=1)
        # In the cache of a core all features are met as fast as a few.
        self.lazy = (
            self._kernels is not None and self._planes.nbytes > SIZES.redundancy_near
        )
        if self._kernels is not None:
            self._log_table = counts_log_counts(np.arange(m + 1))

    def _pack(self, columns: DenseColumns, block: slice) -> None:
        planes = self._planes[block]
        limits = cuts(columns.mean[block], columns.std[block])
        if self._kernels is not None:
            self._kernels.pack(columns.X, block.start, limits, planes)
            return
        x = np.ascontiguousarray(columns.X[:, block].T)
        low, below, above, high = (_packed(x > cut[:, None]) for cut in limits)
        # Steps of a value over the thresholds become bins.
        planes[:, 0] = ~low & _packed(np.ones((1, self._m), dtype=bool))
        planes[:, 1] = low & ~below
        planes[:, 2] = above & ~high
        planes[:, 3] = high

    def row(self, f: int) -> Array:
        """Mutual information of feature `f` with all features, (d,)."""
        if self._kernels is None:
            return information(joint_counts(self._planes, self.counts, f), self._m)
        d = len(self.counts)
        table, row = np.full((1, d), np.nan), np.zeros(d)
        every = np.arange(d)
        self.enter(np.array([f]), every, table, np.zeros(d, dtype=np.intp), row)
        return row

    def enter(self, *book: NDArray[Any]) -> None:
        """Bring the redundancy of some features up to date; see `Ledger`."""
        assert self._kernels is not None
        self._kernels.enter(self._planes, self.counts, self._log_table, *book)


def _packed(bits: Mask) -> NDArray[np.uint64]:
    """Pack the last axis into words, padded with zeros."""
    rows, m = bits.shape
    words = np.zeros((rows, -(-m // 64)), dtype=np.uint64)
    packed = np.packbits(bits, axis=1)
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    return words


TABLES: dict[type, Any] = {  # the way of counting for the data at hand
    ArrayColumns: ArrayTables,
    BlockColumns: BlockTables,
    DenseColumns: DenseTables,
    SparseColumns: SparseTables,
}


class Redundancy:
    """Cached mutual information with the selected features.

    Parameters
    ----------
    columns : DenseColumns, SparseColumns or BlockColumns
        The data.

    Attributes
    ----------
    entropy : ndarray of shape (d,)
        Entropy of the bins of each feature.
    """

    def __init__(self, columns: AnyColumns) -> None:
        self._columns = columns
        self._tables = TABLES[type(columns)](columns)
        m, d = columns.shape
        self.entropy = np.log(m) - counts_log_counts(self._tables.counts).sum(1) / m
        self.known: dict[int, Array] = {}
        self._room = max(1, SIZES.redundancy_bytes // (8 * d))
        self._lines = np.empty((0, d))  # of one ledger after the other

    def row(self, f: int) -> Array:
        """Mutual information of feature `f` with all features, (d,)."""
        values = self.known.get(f)
        if values is None:
            values = self._tables.row(f)
            self.remember(f, values)
        return values

    def remember(self, f: int, row: Array) -> None:
        """Cache a row, if there is room."""
        if f not in self.known and len(self.known) < self._room:
            self.known[f] = row.copy()

    def greedy(
        self, relevance: Array, stages: list[tuple[Mask, int]], tie: float
    ) -> tuple[Indices, Array, Array] | None:
        """Return the whole path; see :meth:`SparseTables.greedy`."""
        if not isinstance(self._tables, SparseTables):
            return None
        return self._tables.greedy(relevance, stages, tie)

    def ledger(self, n: int) -> Ledger | None:
        """Return a ledger of redundancies with `n` features, computed on use."""
        tables = self._tables
        if isinstance(tables, DenseTables) and tables.lazy and n <= self._room:
            if len(self._lines) < n:
                self._lines = np.empty((n, self._lines.shape[1]))
            return Ledger(tables, self, self._lines[:n])
        return None

    def conditional_row(self, f: int, F: Array) -> Array:
        """Mutual information of `f` with all features given the label, (d,).

        Rows count towards a class with their confidence `F` (m, q) in it.
        """
        m, q = F.shape
        at = self._columns
        if isinstance(at, BlockColumns):
            raise ValueError(
                "This criterion needs the redundancy given the label, which blocks "
                'of rows do not have. Set criterion="difference" or "quotient", or '
                "load the rows into memory."
            )
        of_f = at.codes(np.array([f]))[0]
        parts = []
        # Few columns at a time: a table has 25 q numbers per column.
        width = SIZES.redundancy_block * 8 // max(m, N_BINS**2 * q)
        every = np.arange(at.shape[1])
        for some in spans(len(every), width):
            codes = at.codes(every[some])
            joint = np.zeros((q, codes.shape[0], N_BINS, N_BINS))
            for a in np.unique(of_f):
                rows = of_f == a
                weight = np.ascontiguousarray(F[rows].T)
                for b in range(N_BINS):
                    hit = (codes[:, rows] == b).astype(np.float64)
                    joint[:, :, a, b] = weight @ hit.T
            prior = joint[:, 0].sum(axis=(1, 2))  # weight of each class
            seen = prior > 0
            each = information(joint[seen] / prior[seen, None, None, None], 1.0)
            parts.append(prior[seen] @ each / m)
        return np.concatenate(parts)


class Ledger:
    """Redundancy with the selected features, updated on use.

    Mutual information is never negative, so that the entries so far are a lower bound
    of the redundancy of a feature.

    Parameters
    ----------
    tables : DenseTables
        Source of the entries.
    rows : Redundancy
        Cache of computed rows.
    table : ndarray of shape (n, d)
        Entries, one line for each feature to be selected.

    Attributes
    ----------
    redundancy : ndarray of shape (d,)
        Sum of the entries of each feature.
    """

    def __init__(self, tables: DenseTables, rows: Redundancy, table: Array) -> None:
        n, d = table.shape
        self._tables, self._rows, self._table = tables, rows, table
        self._selected = np.empty(n, dtype=np.intp)
        self._n = 0
        self._entered = np.zeros(d, dtype=np.intp)
        self.redundancy = np.zeros(d)

    def select(self, f: int) -> None:
        """Open a line for a newly selected feature."""
        p = self._n
        self._selected[p], self._n = f, p + 1
        row = self._rows.known.get(f)
        if row is None:
            self._table[p] = np.nan
            return
        self._table[p] = row
        ready = self._entered == p
        np.add(self.redundancy, row, out=self.redundancy, where=ready)
        self._entered += ready

    def stale(self) -> Mask:
        """Features that lack entries."""
        return self._entered < self._n

    def enter(self, features: Indices) -> None:
        """Bring some features up to date."""
        self._tables.enter(
            self._selected[: self._n],
            features,
            self._table[: self._n],
            self._entered,
            self.redundancy,
        )

    def close(self) -> None:
        """Bring all features up to date and remember the lines."""
        self.enter(np.flatnonzero(self.stale()))
        for f, row in zip(
            self._selected[: self._n].tolist(), self._table, strict=False
        ):
            self._rows.remember(f, row)
