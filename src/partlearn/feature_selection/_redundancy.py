"""Redundancy between features: mutual information of their five bins, in nats.

Dense data are packed, one bit per row and bin, so that the joint counts of two features
are the numbers of bits that they share. Sparse data are counted along the rows in which
one of the two features is not in its commonest place, its zero. No label enters, so
that what has been computed once serves all iterations.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._array_api import namespace, to_numpy
from partlearn._typing import Array, Indices, Mask
from partlearn.feature_selection._array_columns import (
    ArrayColumns,
    array_codes,
)
from partlearn.feature_selection._array_columns import (
    joint_counts as array_joint_counts,
)
from partlearn.feature_selection._block_columns import BlockColumns
from partlearn.feature_selection._columns import N_BINS, DenseColumns, SparseColumns

__all__ = [
    "DenseTables",
    "Redundancy",
    "SparseTables",
    "compiled",
    "information",
    "joint_counts",
    "tables",
]

AnyColumns = DenseColumns | SparseColumns | BlockColumns

PACKED = (0, 1, 3, 4)  # the middle bin holds what is in no other
_CHUNK = 1 << 17  # words looked at together in the NumPy path: they stay in cache
_NEAR = 1 << 21  # bytes of packed bins that a core has at hand
_CACHE = 1 << 28  # bytes of mutual information that are remembered
_HORIZON, _SHORTLIST = 64, 1024  # selections that a shortlist is for, and its length
_WORTH_A_PATH = 1e7  # steps times features from which a compiled path is asked for
_WORTH_COMPILING = 3e4  # words of a packed matrix from which compiled loops are asked


def counts_log_counts(n: NDArray[Any]) -> Array:
    """``n ln n``, zero where `n` is zero."""
    n = np.asarray(n, dtype=np.float64)
    return n * np.log(np.where(n > 0, n, 1.0))


def information(joint: NDArray[Any], m: float) -> Array:
    """Mutual information of tables of counts.

    Source: SAUTE, mutual information in Eq. (6).

    Parameters
    ----------
    joint : ndarray of shape (..., 5, 5)
        Counts of pairs of bins.
    m : float
        What the counts of a table sum to.

    Returns
    -------
    information : ndarray of shape (...)
        ``H(f) + H(g) - H(f, g)`` in nats, never negative.
    """
    total = counts_log_counts(joint).sum(axis=(-2, -1))
    for axis in (-2, -1):
        total = total - counts_log_counts(joint.sum(axis=axis)).sum(axis=-1)
    value: Array = np.maximum(total / m + np.log(m), 0.0)
    return value


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
    step = max(1, _CHUNK // (n_planes * words))
    for start in range(0, d, step):
        part = planes[start : start + step]
        for i, a in enumerate(PACKED):
            if counts[f, a]:
                common = np.bitwise_count(part & planes[f, i])
                shared = common.sum(axis=-1, dtype=np.int64)
                joint[start : start + step, a, PACKED] = shared
    return _complete(joint, counts[f], counts, 2)


def _complete(
    joint: NDArray[np.int64],
    of_f: NDArray[np.int64],
    counts: NDArray[np.int64],
    f_rest: int,
    rest: Indices | int = 2,
) -> NDArray[np.int64]:
    """Fill in the row and the column of the bins that were not counted, in place."""
    every = np.arange(len(joint))
    joint[every, :, rest] = 0
    joint[every, :, rest] = of_f - joint.sum(axis=2)
    joint[:, f_rest, :] = 0
    joint[:, f_rest, :] = counts - joint.sum(axis=1)
    return joint


@cache
def compiled() -> Any:
    """Return the module with the compiled loops, or None without numba."""
    try:
        from partlearn.feature_selection import _redundancy_numba
    except ImportError:
        return None
    return _redundancy_numba


@cache
def compiled_path() -> Any:
    """Return the module with the compiled path over sparse columns, or None."""
    try:
        from partlearn.feature_selection import _sparse_path_numba
    except ImportError:
        return None
    return _sparse_path_numba


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
            use_compiled = self._planes.size > _WORTH_COMPILING
        self._kernels = compiled() if use_compiled else None
        for block in columns.blocks():
            self._pack(columns, block)
        self.counts = np.zeros((d, N_BINS), dtype=np.int64)
        for i, a in enumerate(PACKED):
            bits = np.bitwise_count(self._planes[:, i])
            self.counts[:, a] = bits.sum(axis=1, dtype=np.int64)
        self.counts[:, 2] = m - self.counts.sum(axis=1)
        # In the cache of a core all features are met as fast as a few.
        self.lazy = self._kernels is not None and self._planes.nbytes > _NEAR
        if self._kernels is not None:
            self._log_table = counts_log_counts(np.arange(m + 1))

    def _pack(self, columns: DenseColumns, block: slice) -> None:
        planes = self._planes[block]
        if self._kernels is not None:
            self._kernels.pack(columns.X, block.start, columns.cuts(block), planes)
            return
        low, below, above, high = (_packed(bits) for bits in columns.steps(block))
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

    def enter(
        self,
        selected: Indices,
        features: Indices,
        table: Array,
        entered: Indices,
        redundancy: Array,
    ) -> None:
        """Bring the redundancy of some features up to date; see `Ledger`."""
        assert self._kernels is not None
        self._kernels.enter(
            self._planes,
            self.counts,
            self._log_table,
            selected,
            features,
            table,
            entered,
            redundancy,
        )


def _packed(bits: Mask) -> NDArray[np.uint64]:
    """Pack the last axis into words, the last of which is filled up with zeros."""
    rows, m = bits.shape
    words = np.zeros((rows, -(-m // 64)), dtype=np.uint64)
    packed = np.packbits(bits, axis=1)
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    return words


class SparseTables:
    """Mutual information of sparse columns, without making them dense.

    Parameters and attributes are those of :class:`DenseTables`. Two features that are
    never both away from the bins of their zeros have a mutual information that depends
    on nothing but how often each is away; what others have besides costs the entries of
    the rows in which the feature is away.
    """

    def __init__(self, columns: SparseColumns) -> None:
        m, d = self._m, self._d = columns.shape
        codes, self._rest = columns.entry_codes(), columns.zero_codes().astype(np.intp)
        X = columns.X
        column = np.repeat(np.arange(d), np.diff(X.indptr))
        away = codes != self._rest[column]
        # Entries store their bin plus one: a stored zero would be taken for no entry.
        entries = (codes[away] + 1, (X.indices[away], column[away]))
        self._by_column = sp.csc_array(entries, shape=(m, d))
        self._by_row = sp.csr_array(entries, shape=(m, d))
        self.counts = np.zeros((d, N_BINS), dtype=np.int64)
        np.add.at(self.counts, (column[away], codes[away]), 1)
        self.counts[np.arange(d), self._rest] = m - self.counts.sum(axis=1)
        away_often = m - self.counts[np.arange(d), self._rest]
        self._aways, self._level = np.unique(away_often, return_inverse=True)
        self._log_table = counts_log_counts(np.arange(m + 1))
        self._kept: tuple[NDArray[Any], ...] | None = None

    def row(self, f: int) -> Array:
        """Mutual information of feature `f` with all features, (d,)."""
        start, stop = self._by_column.indptr[f : f + 2]
        part = self._by_row[self._by_column.indices[start:stop]]
        of_f = np.repeat(
            self._by_column.data[start:stop].astype(np.intp) - 1, np.diff(part.indptr)
        )
        met, place = np.unique(part.indices, return_inverse=True)
        keys = (place * N_BINS + of_f) * N_BINS + part.data - 1
        joint: NDArray[Any] = np.bincount(keys, minlength=met.size * N_BINS**2)
        joint = _complete(
            joint.reshape(-1, N_BINS, N_BINS),
            self.counts[f],
            self.counts[met],
            int(self._rest[f]),
            self._rest[met],
        )
        values = self._apart(self._aways[self._level[f]])[self._level]
        values[met] = information(joint, self._m)
        return values

    def _apart(self, away: int) -> Array:
        """Mutual information of features that never meet one that is `away` so often.

        By how often they are away; nothing where they cannot but meet.
        """
        m, table = self._m, self._log_table
        total = table[np.maximum(m - away - self._aways, 0)] - table[m - self._aways]
        value: Array = np.maximum((total - table[m - away]) / m + np.log(m), 0.0)
        return value

    def greedy(
        self, relevance: Array, stages: list[tuple[Mask, int]], tie: float
    ) -> tuple[Indices, Array, Array] | None:
        """Select features by relevance less mean redundancy, compiled.

        Parameters
        ----------
        relevance : ndarray of shape (d,)
            Relevance of the features.
        stages : list of tuple of ndarray of bool, shape (d,), and int
            Features that may be selected, and up to which number of selections.
        tie : float
            Scores closer than this, relative to one, are equal.

        Returns
        -------
        order, path, redundancy : ndarray of shape (n,), (n,) and (d,), or None
            The selected features, their mean redundancy when they were selected, and
            the mean redundancy of all in the end. None without numba, or where
            compiling is not worth it.
        """
        n = stages[-1][1]
        kernels = compiled_path() if n * self._d > _WORTH_A_PATH else None
        if kernels is None:
            return None
        order, path = np.empty(n, dtype=np.intp), np.empty(n)
        state = base, own = np.zeros(len(self._aways)), np.zeros(self._d)
        data, every, p = self._compiled_data(), np.arange(self._d), 0
        for allowed, last in stages:
            open_ = allowed.copy()
            open_[order[:p]] = False
            options = (open_, relevance, state, tie, data)
            while p < last:
                until = min(p + _HORIZON, last)
                # Sums never fall, so that no score rises above this up to `until`.
                bound = relevance - (base[self._level] + own) / until
                features, outside = _shortlist(np.where(open_, bound, -np.inf))
                after = kernels.select(
                    order, path, p, until, features, outside, *options
                )
                if after == p:  # too many are equally good
                    after = kernels.select(
                        order, path, p, p + 1, every, -np.inf, *options
                    )
                p = after
        return order, path, (base[self._level] + own) / n

    def _compiled_data(self) -> tuple[tuple[Any, ...], ...]:
        """Entries, what is remembered of the features' meetings, and work space."""
        columns, rows, d = self._by_column, self._by_row, self._d
        entries = (
            (columns.indptr, columns.indices, columns.data - 1),
            (rows.indptr, rows.indices, rows.data - 1),
            self.counts,
            self._rest,
            self._level,
            self._aways,
            self._log_table,
        )
        if self._kept is None:
            room = _CACHE // 12
            self._kept = (
                np.full(d, -1),
                np.full(d, -1),
                np.empty(room, dtype=np.int32),
                np.empty(room),
                np.zeros(1, dtype=np.intp),
            )
        # A feature meets no more others than its rows have entries.
        lengths = np.append(0, np.cumsum(np.diff(rows.indptr)[columns.indices]))
        most = min(int(np.diff(lengths[columns.indptr]).max(initial=0)), d)
        joint = np.empty((most, N_BINS, N_BINS), dtype=np.int32)
        met, extra = np.empty(most, dtype=np.int32), np.empty(most)
        return entries, self._kept, (np.full(d, -1), joint, met, extra)


def _shortlist(bound: Array) -> tuple[Indices, float]:
    """Features of the largest bounds, ascending, and the largest other bound."""
    if len(bound) <= _SHORTLIST:
        return np.arange(len(bound)), -np.inf
    order = np.argpartition(-bound, _SHORTLIST)
    return np.sort(order[:_SHORTLIST]), float(bound[order[_SHORTLIST]])


class BlockTables:
    """Mutual information of rows in blocks, from the joint counts of all columns.

    Parameters and attributes are those of :class:`DenseTables`; 25 d^2 counts are kept.
    """

    def __init__(self, columns: BlockColumns) -> None:
        self._m, d = columns.shape
        self._joint = columns.joint_bins()
        every = np.arange(d)
        self.counts = self._joint[every, :, every].sum(axis=2)

    def row(self, f: int) -> Array:
        """Mutual information of feature `f` with all features, (d,)."""
        return information(self._joint[f].transpose(1, 0, 2), self._m)


class ArrayTables:
    """Mutual information of columns of an array of another library: m d bytes there."""

    def __init__(self, columns: ArrayColumns) -> None:
        self._codes, self._entries = array_codes(columns), columns.entries
        xp, self._m = namespace(self._codes), columns.shape[0]
        each = [
            to_numpy(xp.sum(xp.astype(self._codes == a, xp.int64), axis=0))
            for a in range(N_BINS)
        ]
        self.counts = np.stack(each, axis=1)

    def row(self, f: int) -> Array:
        """Mutual information of feature `f` with all features, (d,)."""
        joint = array_joint_counts(self._codes, f, self._entries)
        return information(joint, self._m)


def tables(columns: Any) -> Any:
    """Choose the way of counting for the data at hand."""
    if isinstance(columns, ArrayColumns):
        return ArrayTables(columns)
    if isinstance(columns, BlockColumns):
        return BlockTables(columns)
    if isinstance(columns, SparseColumns):
        return SparseTables(columns)
    return DenseTables(columns)


class Redundancy:
    """Mutual information with features as they get selected, remembered.

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
        self._tables = tables(columns)
        m, d = columns.shape
        self.entropy = np.log(m) - counts_log_counts(self._tables.counts).sum(1) / m
        self._rows: dict[int, Array] = {}
        self._room = max(1, _CACHE // (8 * d))

    def row(self, f: int) -> Array:
        """Mutual information of feature `f` with all features, (d,)."""
        values = self._rows.get(f)
        if values is None:
            values = self._tables.row(f)
            self._remember(f, values)
        return values

    def _remember(self, f: int, row: Array) -> None:
        if len(self._rows) < self._room:
            self._rows.setdefault(f, row)

    def greedy(
        self, relevance: Array, stages: list[tuple[Mask, int]], tie: float
    ) -> tuple[Indices, Array, Array] | None:
        """Whole path by relevance less redundancy, see :meth:`SparseTables.greedy`."""
        if not isinstance(self._tables, SparseTables):
            return None
        return self._tables.greedy(relevance, stages, tie)

    def ledger(self, n: int) -> Ledger | None:
        """Book in which redundancies with `n` features are entered when needed."""
        if not isinstance(self._tables, DenseTables):
            return None
        if not self._tables.lazy or n > self._room:
            return None
        return Ledger(self._tables, self._rows, self._remember, n)

    def conditional_row(self, f: int, F: Array) -> Array:
        """Mutual information of `f` with all features given the label, (d,).

        Rows count towards a class with their confidence `F` (m, q) in it.
        """
        m, q = F.shape
        at = self._columns
        if isinstance(at, BlockColumns):
            raise ValueError(
                "This criterion asks for the redundancy given the label, which blocks "
                'of rows do not have. Set criterion="difference" or "quotient", or '
                "load the rows into memory."
            )
        of_f = at.codes(np.array([f]))[0]
        parts = []
        for codes in _code_blocks(at, q):
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
    """Redundancy with the selected features, brought up to date where it matters.

    Mutual information is never negative, so that what has been entered for a feature is
    a bound on its redundancy.

    Parameters
    ----------
    tables : DenseTables
        Where entries come from.
    known : dict of int to ndarray
        Rows that need not be computed again.
    remember : callable
        Takes a feature and its row when the book is closed.
    n : int
        How many features will be selected.

    Attributes
    ----------
    redundancy : ndarray of shape (d,)
        Sum of the entries of each feature.
    """

    def __init__(
        self,
        tables: DenseTables,
        known: dict[int, Array],
        remember: Callable[[int, Array], None],
        n: int,
    ) -> None:
        d = len(tables.counts)
        self._tables, self._known, self._remember = tables, known, remember
        self._table = np.empty((n, d))
        self._selected = np.empty(n, dtype=np.intp)
        self._n = 0
        self._entered = np.zeros(d, dtype=np.intp)
        self.redundancy = np.zeros(d)

    def select(self, f: int) -> None:
        """Open a line for a newly selected feature."""
        p = self._n
        self._selected[p], self._n = f, p + 1
        row = self._known.get(f)
        if row is None:
            self._table[p] = np.nan
            return
        self._table[p] = row
        ready = self._entered == p
        self.redundancy += np.where(ready, row, 0.0)
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
            self._remember(f, row)


def _code_blocks(columns: DenseColumns | SparseColumns, q: int) -> Any:
    """Bins of all columns, few at a time: a table has 25 q numbers per column."""
    m, d = columns.shape
    width = max(1, _CHUNK * 8 // max(m, N_BINS**2 * q))
    return (columns.codes(np.arange(a, min(a + width, d))) for a in range(0, d, width))
