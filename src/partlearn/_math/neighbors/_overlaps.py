"""Shortlists of sparse rows, if few pairs of rows have a column in common.

The squared distance of rows without a common column is ``|x|^2 + |y|^2``, so that only
the shortest of these can be near. All others are found by a sparse product, which has
an entry for each pair of rows with a common column.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from partlearn._math.neighbors._scan import Candidates
from partlearn._sizes import SIZES

_RARELY = 0.1  # share of pairs up to which a list of them is faster than a matrix


def overlap_rarely(Z: csr_array, Q: csr_array) -> bool:
    """Whether few pairs of rows can have a column in common."""
    stored, asked = (np.bincount(X.indices, minlength=X.shape[1]) for X in (Z, Q))
    pairs = float(stored.astype(np.float64) @ asked)  # each counted by its columns
    return pairs < _RARELY * Z.shape[0] * Q.shape[0]


class Overlaps:
    """Candidates for the k nearest rows of sparse data.

    Parameters
    ----------
    Z : CSR matrix of shape (m, d)
        Reference points, float64.
    squared : ndarray of shape (m,)
        Their squared norms.
    k : int
        Number of neighbors.

    Attributes
    ----------
    beyond : float
        Squared norm from which rows without a common column are skipped.
    """

    def __init__(self, Z: csr_array, squared: NDArray[np.float64], k: int) -> None:
        self._transposed = Z.T.tocsr()
        self._squared, self._k = squared, k
        lightest = np.argsort(squared, kind="stable")
        # Of rows without entries, which are all one point, the first are enough.
        empty = int(np.count_nonzero(squared == 0))
        lightest = np.delete(lightest, np.arange(min(k + 1, empty), empty))
        n = 2 * k + SIZES.light_rows
        self._light = lightest[:n]
        self._place = np.full(len(squared), -1)
        self._place[self._light] = np.arange(len(self._light))
        self.beyond = float(squared[lightest[n]]) if n < len(lightest) else np.inf

    def candidates(
        self,
        left: csr_array,
        own: NDArray[np.intp] | None,
        bound: NDArray[np.float64],
        limit: Callable[[], NDArray[np.float64]],
    ) -> Candidates:
        """Return pairs of queries and rows that may be near, with their ``h``.

        Parameters
        ----------
        left : CSR matrix of shape (n, d)
            Queries.
        own : ndarray of int, shape (n,), or None
            The row that each query is itself, which is left out.
        bound : ndarray of shape (n,)
            Set to a value of ``h`` that k rows do not exceed.
        limit : callable
            Largest value of ``h`` that a neighbor can have by `bound`.

        Returns
        -------
        rows, columns, values : ndarray
            All rows within the limit that share a column with the query or are
            lighter than `beyond`.
        """
        G = left @ self._transposed
        rows = np.repeat(np.arange(left.shape[0]), np.diff(G.indptr))
        columns = G.indices.astype(np.int64)
        light = np.tile(self._squared[self._light], (left.shape[0], 1))
        place = self._place[columns]
        met = place >= 0
        light[rows[met], place[met]] = np.inf  # these have a product
        values = self._squared[columns] - 2 * G.data
        if own is not None:
            there = self._place[own] >= 0
            light[there, self._place[own[there]]] = np.inf
            values[columns == own[rows]] = np.inf
        first = light[:, : 2 * self._k + 16]  # the lightest, of which k will do
        if first.shape[1] >= self._k:
            bound[:] = np.partition(first, self._k - 1, axis=1)[:, self._k - 1]
        most = np.minimum(limit(), np.finfo(np.float64).max)  # nothing infinite
        kept = values <= most[rows]
        some, places = np.nonzero(light <= most[:, None])
        return (
            np.concatenate([rows[kept], some]),
            np.concatenate([columns[kept], self._light[places]]),
            np.concatenate([values[kept], light[some, places]]),
        )
