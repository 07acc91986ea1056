"""Redundancy between sparse features, from their common rows.

The mutual information of two features that are never both outside of their zero bins
depends only on the number of rows outside of each.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._extras import compiled_loops
from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices, Mask
from partlearn.feature_selection._columns import (
    N_BINS,
    SparseColumns,
    complete,
    counts_log_counts,
    information,
)


class SparseTables:
    """Mutual information of sparse columns, without making them dense.

    Parameters and attributes are those of :class:`DenseTables`. Two features that are
    never both away from the bins of their zeros have a mutual information that depends
    on nothing but how often each is away; what others have besides costs the entries of
    the rows in which the feature is away.
    """

    def __init__(self, columns: SparseColumns) -> None:
        m, d = self._m, self._d = columns.shape
        rows, column, codes, self._rest, self.counts = columns.away()
        # Entries store their bin plus one: a stored zero would be taken for no entry.
        entries = (codes + 1, (rows, column))
        self._by_column = sp.csc_array(entries, shape=(m, d))
        self._by_row = sp.csr_array(entries, shape=(m, d))
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
        joint = complete(
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
        """Return the mutual information of features without common rows.

        By how often they are away; nothing where they cannot but meet.
        """
        m, table = self._m, self._log_table
        total = table[np.maximum(m - away - self._aways, 0)] - table[m - self._aways]
        return np.maximum((total - table[m - away]) / m + np.log(m), 0.0)

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
        kernels = (
            compiled_loops(__name__) if n * self._d > SIZES.path_compiled else None
        )
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
                until = min(p + SIZES.shortlist_steps, last)
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
        """Return entries, cached common rows of features, and work space."""
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
            room = SIZES.path_bytes // 12
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
    """Return features of the largest bounds, ascending, and the next bound."""
    if len(bound) <= SIZES.shortlist:
        return np.arange(len(bound)), -np.inf
    order = np.argpartition(-bound, SIZES.shortlist)
    return np.sort(order[: SIZES.shortlist]), float(bound[order[SIZES.shortlist]])
