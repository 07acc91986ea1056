"""Votes of the nearest training rows, many of which may be equally near."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from partlearn._array_api import is_numpy, like, namespace
from partlearn._typing import Array, Indices
from partlearn.graphs import (
    ArrayVotes,
    array_votes,
    find_ties,
    tied_weights,
    vote_weights,
)
from partlearn.neighbors import query_neighbors, self_neighbors, some_neighbors

_BLOCK = 1 << 22  # votes gathered at a time
_MOST = 1024  # neighbours that are looked at for ties

Neighbors = tuple[Array, NDArray[np.int64]]


class Find(Protocol):
    """Distances and indices of the k nearest training rows of some queries."""

    def __call__(self, rows: Any, k: int) -> Neighbors:
        """Search for those of the queries `rows`, or of all if it is None."""


def nearest_votes(
    find: Find, votes: NDArray[Any], k: int, kind: str, near: float, most: int
) -> NDArray[Any]:
    """Weighted votes of the k nearest; rows that are equally near share their places.

    Each gets the mean weight of the ranks that they take together, also of those
    beyond the k-th: what it would get on average if k were drawn by lot.

    Parameters
    ----------
    find : callable
        The search.
    votes : ndarray of shape (m, q)
        What each training row votes with.
    k : int
        Number of neighbours.
    kind : {"distance", "rank", "uniform"}
        Their weights.
    near : float
        Distances that differ by less are equal.
    most : int
        Rows there are to be found.

    Returns
    -------
    scores : ndarray of shape (n, q)
        The sums.
    """
    if not is_numpy(votes):
        voted = ArrayVotes(find, k, most, near)
        return voted(votes, lambda distances: neighbor_weights(distances, kind))
    distances, neighbors = find(None, k + 1)
    k = min(k, distances.shape[1])
    w = neighbor_weights(distances[:, :k], kind)
    scores = weighted_votes(votes, neighbors[:, :k], w)
    same = np.diff(distances, axis=1) <= near
    # Weights that hang on the distance alone are equal for those who are in anyway.
    tied = np.flatnonzero((same if kind == "rank" else same[:, k - 1 :]).any(axis=1))
    step = max(1, _BLOCK // (_MOST * votes.shape[1]))
    for start in range(0, len(tied), step):
        rows = tied[start : start + step]
        distances, neighbors, first, members = _all_tied(find, rows, k, near)
        shares = tied_weights(w[rows], first, members)
        scores[rows] = weighted_votes(votes, neighbors, shares)
    return scores


def _all_tied(find: Find, rows: Indices, k: int, near: float) -> Any:
    """Neighbours up to the last that shares the k-th rank, and their ties."""
    wanted, last = 2 * (k + 1), 0
    while True:
        distances, neighbors = find(rows, wanted)
        first, members = find_ties(distances, near)
        searched = distances.shape[1]
        if searched == last or searched >= _MOST or not (first[:, -1] < k).any():
            return distances, neighbors, first, members
        wanted, last = 2 * wanted, searched


def others(X: Any, n_jobs: int | None) -> Find:
    """Search for the neighbours of training rows among the other ones."""

    def find(rows: Any, k: int) -> Neighbors:
        if not is_numpy(X):
            return some_neighbors(X, rows, k)
        if rows is None:
            nearest: Neighbors = self_neighbors(
                X, k, return_distance=True, n_jobs=n_jobs
            )
            return nearest
        distances, neighbors = query_neighbors(X, X[rows], k + 1, n_jobs=n_jobs)
        itself = neighbors == rows[:, None]
        itself[~itself.any(axis=1), -1] = True  # behind as many rows that equal it
        shape = (len(rows), -1)
        return distances[~itself].reshape(shape), neighbors[~itself].reshape(shape)

    return find


def neighbor_weights(distances: NDArray[Any], kind: str) -> Array:
    """Weights of neighbours at these distances, nearest first, shape (n, k).

    Source: PLKNN, weights of the votes.
    """
    xp = namespace(distances)
    n, k = distances.shape
    if kind != "distance":
        flat = vote_weights(k, "rank" if kind == "rank" else "uniform")
        return xp.broadcast_to(like(flat, distances), (n, k))
    if k == 1:
        return xp.ones_like(distances)
    total = xp.sum(distances, axis=1, keepdims=True)
    # All neighbours duplicates of the query: they count alike.
    return 1 - distances / xp.where(total > 0, total, xp.inf)


def weighted_votes(votes: NDArray[Any], neighbors: Indices, w: Array) -> NDArray[Any]:
    """Sum the neighbours' votes: ``score_i = sum_a w_ia votes[neighbor_ia]``.

    Source: PLKNN, votes.
    """
    if not is_numpy(votes):
        return array_votes(votes, neighbors, w)
    scores = np.empty((neighbors.shape[0], votes.shape[1]), dtype=votes.dtype)
    w = w.astype(votes.dtype)
    step = max(1, _BLOCK // (neighbors.shape[1] * votes.shape[1]))
    for start in range(0, len(scores), step):
        block = slice(start, start + step)
        scores[block] = np.einsum("ia,iaj->ij", w[block], votes[neighbors[block]])
    return scores
