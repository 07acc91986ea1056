"""Weighted sums over the nearest rows, with shared ranks of equally near rows.

With few or coarse features, more than k rows lie at the same distance. The results do
not depend on their order or on the last digit of a distance.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._array_api import is_numpy, like, namespace, replaced, take
from partlearn._math.graphs._neighbor_graph import (
    Vote,
    neighbor_weights,
    vote,
    vote_weights,
    weighted_votes,
)
from partlearn._math.linalg import column_moments
from partlearn._math.neighbors import (
    many_neighbors,
    query_neighbors,
    reference_neighbors,
    self_neighbors,
    some_neighbors,
)
from partlearn._sizes import SIZES, spans
from partlearn._typing import Array, Indices

_SAME = 1e-9  # distances that differ by less, in units of the data, are equal
_MORE = 8  # neighbors looked at for ties, beyond those that vote
_BLOCK = 1 << 22  # votes gathered at a time
_ROUNDINGS = 16  # the same in units of rounding, for rows in single precision

# Distances and indices of the k nearest rows of some queries, or of all.
Find = Callable[[Indices | None, int], tuple[Any, Any]]


def tie_tolerance(Z: Any) -> tuple[float, Array]:
    """Return the largest difference of two tied distances.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (m, p)
        Rows.

    Returns
    -------
    near : float
        1e-9 of the spread of the rows, or a few rounding errors if these are larger.
    unit : ndarray of shape (p,)
        A tenth of this for each column.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.graphs import tie_tolerance
    >>> near, unit = tie_tolerance(np.array([[-3.0], [0.0], [3.0]]))
    >>> round(near * 1e9, 6), round(float(unit[0]) * 1e10, 6)
    (3.0, 3.0)
    """
    _, std = column_moments(Z)
    xp = namespace(std)
    same = max(_SAME, _ROUNDINGS * float(xp.finfo(Z.dtype).eps))
    return same * float(xp.sqrt(std @ std)), same / 10 * std


def find_ties(distances: Any, near: float) -> tuple[Any, Any]:
    """Find the first and the last rank of the tie of each neighbor.

    Parameters
    ----------
    distances : array of shape (n, p)
        Distances, smallest first.
    near : float
        Neighbors are tied with the next one if their distances differ by less.

    Returns
    -------
    first, end : array of int, shape (n, p)
        First rank of the tie of each neighbor, and the rank after its last one.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.graphs import find_ties
    >>> find_ties(np.array([[0.0, 2.0, 2.0]]), 1e-9)
    (array([[0, 1, 1]]), array([[1, 3, 3]]))
    """
    xp, p = namespace(distances), distances.shape[1]
    same = distances[:, 1:] - distances[:, :-1] <= near
    place = xp.zeros_like(distances[:, 0], dtype=xp.int64)
    first, end = [place], [place + p]
    for j in range(1, p):
        first.append(xp.where(same[:, j - 1], first[-1], place + j))
    for j in range(p - 1, 0, -1):
        end.append(xp.where(same[:, j - 1], end[-1], place + j))
    return xp.stack(first, axis=1), xp.stack(end[::-1], axis=1)


def tied_weights(ranks: Any, start: Any, end: Any) -> Any:
    """Average weight of tied ranks, zeros beyond the last rank included.

    Equal to the expected weight if ties were broken at random.

    Parameters
    ----------
    ranks : array of shape (n, k); in NumPy also (1, k)
        Weights of the first k ranks.
    start, end : array of int, shape (n, p)
        First rank of the tie of each neighbor, from zero, and the rank after its last
        one.

    Returns
    -------
    weights : array of shape (n, p)
        The mean weights.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.graphs import tied_weights
    >>> start, end = np.array([[0, 1, 1]]), np.array([[1, 3, 3]])
    >>> tied_weights(np.array([[2.0, 1.0]]), start, end)
    array([[2. , 0.5, 0.5]])
    """
    xp, k = namespace(ranks), ranks.shape[1]
    # Sum of the weights of the first ranks, however many.
    sums = xp.cumulative_sum(ranks, axis=1)
    until = xp.concat([xp.zeros_like(ranks[:, :1]), sums], axis=1)
    before, after = (
        xp.take_along_axis(until, xp.where(at < k, at, k), axis=1)
        for at in (start, end)
    )
    return (after - before) / xp.astype(end - start, ranks.dtype)


class ArrayNeighbors:
    """Weighted sums over the nearest rows for arrays of other libraries.

    As in NumPy, rows at one distance share their ranks. The ranks are found for single
    rows, by columns of neighbors, without a graph.

    Parameters
    ----------
    find : callable
        Gives distances and indices of some nearest rows, (n, size), of the queries at
        given places or, for None, of all of them.
    k : int
        Number of places.
    most : int
        Rows there are to be found.
    near : float
        Distances that differ by less are equal.

    Attributes
    ----------
    neighbors : array of int, shape (n, k + 8)
        The neighbors found, nearest first; fewer where there are no more.
    """

    def __init__(
        self,
        find: Callable[[Any, int], tuple[Any, Any]],
        k: int,
        most: int,
        near: float,
    ) -> None:
        self._k, self._again = min(k, most), None
        size = min(k + _MORE, most)
        distances, self.neighbors = find(None, size)
        self._nearest = distances[:, : self._k]
        self._ties = find_ties(distances, near)
        # Whether the last places may be shared with rows that were not looked at.
        self._open = self._ties[0][:, -1] < self._k
        more = min(max(SIZES.tied, size), most)
        if size < more and bool(namespace(distances).any(self._open)):
            rows = namespace(distances).nonzero(self._open)[0]
            distances, neighbors = find(rows, more)
            self._again = (rows, neighbors, find_ties(distances, near))

    def __call__(self, votes: Any, weights: Callable[[Any], Any]) -> Any:
        """Sum the weighted values of each query's neighbors.

        Parameters
        ----------
        votes : array of shape (m, q)
            What each row votes with.
        weights : callable
            Returns the weights of the first ranks, (n, k), from their distances.

        Returns
        -------
        V : array of shape (n, q)
            The votes.
        """
        w = weights(self._nearest)
        V = weighted_votes(votes, self.neighbors, tied_weights(w, *self._ties))
        if self._again is not None:
            rows, neighbors, ties = self._again
            some = weighted_votes(votes, neighbors, tied_weights(take(w, rows), *ties))
            V = replaced(V, some, self._open)
        return V


def shared_votes(
    find: Find, votes: NDArray[Any], k: int, near: float, kind: str
) -> NDArray[Any]:
    """Sum weighted values of the nearest rows; equally near ones share ranks.

    Parameters
    ----------
    find : callable
        Gives distances and indices of some nearest rows, (n, size), of the queries at
        given places or, for None, of all of them.
    votes : ndarray of shape (m, q)
        What each row votes with.
    k : int
        Number of places.
    near : float
        Distances that differ by less are equal.
    kind : {"distance", "rank", "uniform"}
        Weights of the ranks, as in :func:`neighbor_weights`.

    Returns
    -------
    V : ndarray of shape (n, q)
        The sums. Of more than 1024 rows at one distance, the first ones share the
        ranks.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.graphs import shared_votes
    >>> from partlearn._math.neighbors import query_neighbors
    >>> Z, Q = np.array([[0.0], [2.0], [2.0]]), np.array([[1.9]])
    >>> find = lambda rows, k: query_neighbors(Z, Q if rows is None else Q[rows], k)
    >>> shared_votes(find, np.eye(3), 1, 1e-9, "uniform")
    array([[0. , 0.5, 0.5]])
    """
    distances, neighbors = find(None, k + 1)
    k = min(k, distances.shape[1])
    w = neighbor_weights(distances[:, :k], kind)
    scores = weighted_votes(votes, neighbors[:, :k], w)
    same = np.diff(distances, axis=1) <= near
    if kind != "rank":  # weights by distance are equal for those who are in anyway
        same = same[:, k - 1 :]
    tied = np.flatnonzero(same.any(axis=1))
    step = _BLOCK // (SIZES.tied_in_blocks * votes.shape[1])
    for some in spans(len(tied), step):
        rows = tied[some]
        neighbors, *ties = _all_tied(find, rows, k, near)
        shares = tied_weights(w[rows], *ties)
        scores[rows] = weighted_votes(votes, neighbors, shares)
    return scores


def _all_tied(find: Find, rows: Indices, k: int, near: float) -> Any:
    """Return the neighbors up to the last one tied with the k-th, and their ties."""
    wanted, last = 2 * (k + 1), 0
    while True:
        distances, neighbors = find(rows, wanted)
        first, end = find_ties(distances, near)
        searched = distances.shape[1]
        enough = searched == last or searched >= SIZES.tied_in_blocks
        if enough or not (first[:, -1] < k).any():
            return neighbors, first, end
        wanted, last = 2 * wanted, searched


def ordered_neighbors(Z: Any, k: int, near: float, n_jobs: int | None) -> Indices:
    """Find the nearest other rows, equally near ones in the order of the data.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (m, p)
        Rows.
    k : int
        Neighbors of each.
    near : float
        Distances that differ by less are equal.
    n_jobs : int or None
        Threads.

    Returns
    -------
    neighbors : ndarray of int, shape (m, k)
        Nearest first.
    """
    wanted, most = k + _MORE, Z.shape[0] - 1
    while True:
        wanted = min(wanted, most)
        distances, neighbors = self_neighbors(
            Z, wanted, return_distance=True, n_jobs=n_jobs
        )
        first, _ = find_ties(distances, near)
        if wanted == most or not (first[:, -1] < k).any():
            break
        wanted *= 2  # the last rank may be shared with rows that were not found
    rank = np.lexsort((neighbors, first), axis=1)[:, :k]
    return np.take_along_axis(neighbors, rank, axis=1)


class TiedNeighbors:
    """Weighted sums over the nearest rows; equally near rows share their ranks.

    Rows at one distance get the mean weight of the ranks they occupy, also beyond the
    last rank. This is the expected weight if ties are broken at random.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (m, p)
        Rows.
    n_neighbors : int
        Number of ranks, at most ``m - 1`` (clamped); the nearest weighs most.
    search : neighbor transformer, default=None
        As in ``self_neighbors``; with one, ties stay as
        it breaks them.
    reference : ndarray of int or "cells", default=None
        Rows among which neighbors are searched; all by default. "cells" uses
        :func:`partlearn._math.neighbors.many_neighbors`. With either, the first of
        equally near rows are taken.
    warm_start : ndarray of int, default=None
        Attribute `neighbors` of a result on similar rows; makes the search faster.
    tied : bool, default=False
        Whether a result on similar rows had ties, which skips a search.
    share : bool, default=True
        Whether equally near rows share their ranks instead of being ranked in order.
    n_jobs : int, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    n_neighbors : int
        Number of ranks.
    neighbors : ndarray of int or None
        The neighbors as the search returned them; None if `tied` was True.
    tied : bool
        Whether any row has equally near neighbors.

    Notes
    -----
    Without ties this is :func:`vote`. With ties, equal rows are one point with the sum
    of their values, and up to 128 distinct points around each point are compared;
    further ones are taken in the order of their content. Memory is O(m k) in any case.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.graphs import TiedNeighbors
    >>> Z = np.array([[0.0], [1.0], [1.0], [3.0]])
    >>> TiedNeighbors(Z, 1)(np.eye(4))[0]  # rows 1 and 2 are equally near
    array([0. , 0.5, 0.5, 0. ])
    """

    def __init__(
        self,
        Z: Any,
        n_neighbors: int,
        *,
        search: Any = None,
        reference: Indices | Literal["cells"] | None = None,
        warm_start: Indices | None = None,
        tied: bool = False,
        share: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = min(n_neighbors, Z.shape[0] - 1)
        self.tied = False
        self.neighbors: Indices | None = None
        self._array: ArrayNeighbors | None = None
        if search is not None:
            self.neighbors = self_neighbors(Z, n_neighbors, search=search)
            return
        if not share and reference is None and is_numpy(Z):
            near, _ = tie_tolerance(Z)
            self.neighbors = ordered_neighbors(Z, self.n_neighbors, near, n_jobs)
            return
        if not is_numpy(Z) and reference is None:
            near, _ = tie_tolerance(Z)
            find = partial(some_neighbors, Z)
            self._array = ArrayNeighbors(find, self.n_neighbors, Z.shape[0] - 1, near)
            self.neighbors = self._array.neighbors
            return
        if isinstance(reference, str):
            self.neighbors = many_neighbors(Z, n_neighbors, n_jobs)
            return
        if reference is not None:
            self.neighbors = reference_neighbors(
                Z, reference, n_neighbors, n_jobs=n_jobs
            )
            self.n_neighbors = self.neighbors.shape[1]
            return
        near, unit = tie_tolerance(Z)
        self.tied = tied
        if not tied:
            if warm_start is not None and warm_start.shape[1] <= n_neighbors:
                warm_start = None
            distances, self.neighbors = self_neighbors(
                Z,
                n_neighbors + 1,
                return_distance=True,
                warm_start=warm_start,
                n_jobs=n_jobs,
            )
            self.tied = bool((np.diff(distances, axis=1) <= near).any())
        if self.tied:
            self._group, points = _distinct(Z, unit)
            size = np.bincount(self._group)
            self._places = _Places(points, size, self.n_neighbors, near, n_jobs)

    def __call__(self, F: NDArray[Any], kind: Vote = "rank") -> NDArray[Any]:
        """Sum the confidences of each row's neighbors.

        Parameters
        ----------
        F : ndarray of shape (m, q)
            Confidences, or anything else that is to be voted with.
        kind : {"rank", "uniform"}, default="rank"
            As in :func:`vote`.

        Returns
        -------
        V : ndarray of shape (m, q)
            The votes.
        """
        if self._array is not None:
            weights = like(vote_weights(self.n_neighbors, kind)[None, :], F)
            return self._array(F, lambda distances: distances * 0 + weights)
        if not self.tied:
            assert self.neighbors is not None
            return vote(F, self.neighbors[:, : self.n_neighbors], kind)
        own, graph = self._places.weights(kind)
        n_points = len(own)
        member = sp.csr_array(
            (np.ones(len(F)), (self._group, np.arange(len(F)))),
            shape=(n_points, len(F)),
        )
        G = member @ F.astype(np.float64)
        V = (graph @ G + own[:, None] * G)[self._group]
        V -= own[self._group, None] * F  # nobody votes for oneself
        return V.astype(np.result_type(F.dtype, np.float32), copy=False)


def query_votes(
    known: Array,
    Z: Array,
    F: Array,
    k: int,
    *,
    search: Any = None,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Sum over the nearest known rows of new rows; equally near ones share ranks.

    Parameters
    ----------
    known : ndarray of shape (m, p)
        Known rows.
    Z : ndarray of shape (n, p)
        New rows.
    F : ndarray of shape (m, q)
        Confidences of the known rows.
    k : int
        Number of ranks; the nearest weighs most.
    search, n_jobs
        As in ``query_neighbors``; with a search, ties stay as it breaks them.

    Returns
    -------
    V : ndarray of shape (n, q)
        The votes.

    Examples
    --------
    >>> from partlearn._math.graphs import query_votes
    >>> query_votes(np.array([[0.0], [2.0], [5.0]]), np.array([[1.0]]), np.eye(3), 1)
    array([[0.5, 0.5, 0. ]])
    """
    options = {"search": search, "n_jobs": n_jobs}
    distances, neighbors = query_neighbors(known, Z, k + 1, **options)
    k = min(k, distances.shape[1])
    V = vote(F, neighbors[:, :k], "rank")
    if search is not None or not is_numpy(known):
        return V
    near, unit = tie_tolerance(known)
    tied = np.flatnonzero((np.diff(distances, axis=1) <= near).any(axis=1))
    if not len(tied):
        return V
    group, points = _distinct(known, unit)
    size, wanted = np.bincount(group), k + 1
    totals = np.zeros((len(size), F.shape[1]))
    np.add.at(totals, group, F)
    while True:
        wanted = min(2 * wanted, len(size))
        distances, near_points = query_neighbors(points, Z[tied], wanted, **options)
        counts = np.cumsum(size[near_points], axis=1)
        before = np.hstack([np.zeros((len(tied), 1), dtype=np.intp), counts])
        start, end = (
            np.take_along_axis(before, place, axis=1)
            for place in find_ties(distances, near)
        )
        if wanted >= min(len(size), SIZES.tied) or not (start[:, -1] < k).any():
            break
    weights = tied_weights(vote_weights(k, "rank")[None, :], start, end)
    V[tied] = weighted_votes(totals, near_points, weights)
    return V


def _distinct(Z: Any, unit: Array) -> tuple[Indices, Array | sp.csr_array]:
    """Return the distinct point of each row, and the points, ordered by content.

    Entries are rounded to `unit`, a small part of a column's spread, so that rows that
    differ by rounding are one point.
    """
    unit = np.where(unit > 0, unit, 1.0)
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


class _Places:
    """Ranks of the rows at each point, among the neighbors of each point.

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

    Attributes
    ----------
    indices : ndarray of int, shape (n, p)
        Other points, nearest first: as many as may share a rank, or 128.
    start, end : ndarray of int, shape (n, p)
        First rank of the tie of each point, and the rank after its last one.
    """

    def __init__(
        self, points: Any, size: Indices, k: int, near: float, n_jobs: int | None
    ) -> None:
        self.k, self.size = k, size
        self.indices = self.start = self.end = np.empty((1, 0), dtype=np.int64)
        others = len(size) - 1
        wanted = 2 * (k + 1)  # one search for these is faster than two, as ties need
        while others:
            wanted = min(wanted, others)
            distances, self.indices = self_neighbors(
                points, wanted, return_distance=True, n_jobs=n_jobs
            )
            # Rows nearer than each point, in the order found, and all of them.
            sizes = np.hstack([size[:, None] - 1, size[self.indices]])
            before = np.cumsum(sizes, axis=1)
            self.start, self.end = (
                np.take_along_axis(before, place, axis=1)
                for place in find_ties(distances, near)
            )
            if wanted >= min(others, SIZES.tied) or not (self.start[:, -1] < k).any():
                break
            # The last point found may share a rank with points that were not found.
            wanted *= 2

    def weights(self, kind: Vote) -> tuple[Array, sp.csr_array]:
        """Return the weight of the other rows at a point itself, and at other points.

        Of shapes (n,) and (n, n).
        """
        n = len(self.size)
        ranks = vote_weights(self.k, kind)[None, :]
        others = self.size - 1
        first = np.zeros((n, 1), dtype=np.intp)
        own = tied_weights(ranks, first, np.maximum(others, 1)[:, None])[:, 0]
        own[others == 0] = 0.0
        weights = tied_weights(ranks, self.start, self.end)
        keep = weights > 0
        rows = np.broadcast_to(np.arange(n)[:, None], keep.shape)[keep]
        graph = (weights[keep], (rows, self.indices[keep]))
        return own, sp.csr_array(graph, shape=(n, n))
