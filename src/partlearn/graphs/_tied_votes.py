"""Votes of the nearest rows, where many may be equally near.

With few or coarse features, more rows than are asked for lie at the same distance. A
search has to return some of them, by their place in the data or by the last digit of a
distance; the votes should hang on neither.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn.graphs._neighbor_graph import vote, vote_weights
from partlearn.linalg import column_moments
from partlearn.neighbors import self_neighbors

__all__ = ["TiedVotes"]

_SAME = 1e-9  # distances that differ by less, in units of the data, are equal
_MOST = 128  # distinct points that are looked at for ties


class TiedVotes:
    """Votes by rank among the nearest rows; equally near rows share their places.

    Rows at one distance get the mean weight of the ranks that they take, those beyond
    the last rank included: what they would get on average if ties were drawn by lot.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (m, p)
        Rows.
    n_neighbors : int
        Number of ranks, at most ``m - 1`` (clamped); the nearest weighs most.
    warm_start : ndarray of int, default=None
        Attribute `neighbors` of votes in similar rows; makes the search faster.
    n_jobs : int, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    neighbors : ndarray of int
        The neighbours as the search returned them.
    tied : bool
        Whether any row has neighbours that are equally near.

    Notes
    -----
    Without ties this is :func:`vote`. With them, equal rows are one point of several
    votes, and up to 128 distinct points are looked at for ties around each point: more
    are taken in the order of their content. Memory is O(m k) in any case.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.graphs import TiedVotes
    >>> Z = np.array([[0.0], [1.0], [1.0], [3.0]])
    >>> TiedVotes(Z, 1)(np.eye(4))[0]  # rows 1 and 2 are equally near
    array([0. , 0.5, 0.5, 0. ])
    """

    def __init__(
        self,
        Z: Any,
        n_neighbors: int,
        *,
        warm_start: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._k = min(n_neighbors, Z.shape[0] - 1)
        if warm_start is not None and warm_start.shape[1] <= n_neighbors:
            warm_start = None
        distances, self.neighbors = self_neighbors(
            Z,
            n_neighbors + 1,
            return_distance=True,
            warm_start=warm_start,
            n_jobs=n_jobs,
        )
        _, std = column_moments(Z)
        near = _SAME * float(np.linalg.norm(std))
        self.tied = bool(_same(distances, near).any())
        if self.tied:
            self._group, points = _distinct(Z, std)
            size = np.bincount(self._group)
            self._same_point, self._graph = _tied_weights(
                points, size, self._k, near, n_jobs
            )

    def __call__(self, F: NDArray[Any]) -> NDArray[Any]:
        """Sum the confidences of each row's neighbours.

        Parameters
        ----------
        F : ndarray of shape (m, q)
            Confidences, or anything else that is to be voted with.

        Returns
        -------
        V : ndarray of shape (m, q)
            The votes.
        """
        if not self.tied:
            return vote(F, self.neighbors[:, : self._k])
        n_points = len(self._same_point)
        member = sp.csr_array(
            (np.ones(len(F)), (self._group, np.arange(len(F)))),
            shape=(n_points, len(F)),
        )
        G = member @ F.astype(np.float64)
        V = (self._graph @ G + self._same_point[:, None] * G)[self._group]
        V -= self._same_point[self._group, None] * F  # nobody votes for oneself
        return V.astype(F.dtype, copy=False)


def _same(distances: NDArray[np.float64], near: float) -> NDArray[np.bool_]:
    """Whether each distance but the last equals the next one, row by row."""
    return np.diff(distances, axis=1) <= near


def _distinct(
    Z: Any, std: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64] | sp.csr_array]:
    """Distinct point of each row, and the points in the order of their content.

    Entries are rounded to a ten-thousand-millionth of a column's spread, so that rows
    which differ by rounding only are one point.
    """
    unit = np.where(std > 0, _SAME / 10 * std, 1.0)
    if not sp.issparse(Z):
        points, group = np.unique(np.round(Z / unit), axis=0, return_inverse=True)
        return group.ravel(), points * unit
    # A product with random numbers tells rows apart; equal rows give equal products.
    Z = sp.csr_array(Z @ sp.diags_array(1 / unit))
    Z.data = np.round(Z.data)
    Z.eliminate_zeros()
    Z.sort_indices()
    key = Z @ np.random.RandomState(0).uniform(1, 2, Z.shape[1])
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return group, sp.csr_array(Z[first] @ sp.diags_array(unit))


def _tied_weights(
    points: Any, size: NDArray[np.intp], k: int, near: float, n_jobs: int | None
) -> tuple[NDArray[np.float64], sp.csr_array]:
    """Weight of each other row at a point itself, and of each row at other points.

    Parameters
    ----------
    points : ndarray or CSR matrix of shape (n, p)
        Distinct points.
    size : ndarray of int, shape (n,)
        Rows at each of them.
    k : int
        Number of ranks.
    near : float
        Distances that differ by less are equal.
    n_jobs : int or None
        Threads.

    Returns
    -------
    own : ndarray of shape (n,)
        For the rows at the same point, less the row itself.
    W : CSR array of shape (n, n)
        For the rows at other points.
    """
    n = len(size)
    # Sum of the weights of the first ranks, however many.
    ranks = np.concatenate([[0.0], np.cumsum(vote_weights(k))])
    taken = np.minimum(size - 1, k)
    own = np.divide(ranks[taken], size - 1, out=np.zeros(n), where=size > 1)
    if n == 1:
        return own, sp.csr_array((1, 1))
    wanted = k + 1
    while True:
        wanted = min(wanted, n - 1)
        distances, indices = self_neighbors(
            points, wanted, return_distance=True, n_jobs=n_jobs
        )
        before = np.cumsum(size[indices], axis=1) + size[:, None] - 1
        before -= size[indices]  # rows nearer than each point, in the order found
        same = np.column_stack([np.zeros(n, dtype=bool), _same(distances, near)])
        # The last point found may share a rank with points that were not found.
        first = np.maximum.accumulate(np.where(same, 0, np.arange(wanted)), axis=1)
        open_ = np.take_along_axis(before, first, axis=1)[:, -1] < k
        if wanted >= min(n - 1, _MOST) or not open_.any():
            break
        wanted *= 2
    start = np.take_along_axis(before, first, axis=1)  # where its tie begins
    tie = first + np.arange(n)[:, None] * wanted
    members = np.bincount(tie.ravel(), size[indices].ravel(), n * wanted)[tie]
    a = np.minimum(start, k)
    b = np.minimum(start + members, k).astype(np.intp)
    weights = (ranks[b] - ranks[a]) / members
    keep = weights > 0
    rows = np.broadcast_to(np.arange(n)[:, None], keep.shape)[keep]
    return own, sp.csr_array((weights[keep], (rows, indices[keep])), shape=(n, n))
