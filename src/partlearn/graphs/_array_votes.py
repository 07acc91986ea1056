"""Votes of equally near rows on arrays of other libraries.

As in NumPy, rows at one distance share the places that they take. Here the places are
found among single rows, by columns of neighbours, without a graph.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any

from partlearn._array_api import array_device, namespace, replaced, take

_MORE = 8  # neighbours looked at for ties, beyond those that vote
_MOST = 128  # neighbours that are looked at for ties at all


class ArrayVotes:
    """Places of the nearest rows of each query, ties shared.

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
        The neighbours found, nearest first; fewer where there are no more.
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
        self._ties = _ties(distances, near)
        # Whether the last places may be shared with rows that were not looked at.
        self._open = self._ties[0][:, -1] < self._k
        more = min(max(_MOST, size), most)
        if size < more and bool(namespace(distances).any(self._open)):
            rows = namespace(distances).nonzero(self._open)[0]
            distances, neighbors = find(rows, more)
            self._again = (rows, neighbors, _ties(distances, near))

    def __call__(self, votes: Any, weights: Callable[[Any], Any]) -> Any:
        """Sum the weighted votes of each query's neighbours.

        Parameters
        ----------
        votes : array of shape (m, q)
            What each row votes with.
        weights : callable
            Weights of the first places, (n, k), from their distances.

        Returns
        -------
        V : array of shape (n, q)
            The votes.
        """
        w = weights(self._nearest)
        V = array_votes(votes, self.neighbors, _shared(w, *self._ties))
        if self._again is not None:
            rows, neighbors, ties = self._again
            some = array_votes(votes, neighbors, _shared(take(w, rows), *ties))
            V = replaced(V, some, self._open)
        return V


def array_votes(votes: Any, neighbors: Any, w: Any) -> Any:
    """``V[i] = sum_a w[i, a] * votes[neighbors[i, a]]``, one column at a time.

    Parameters
    ----------
    votes : array of shape (m, q)
        What is voted with.
    neighbors : array of int, shape (n, k)
        Rows of `votes`.
    w : array of shape (n, k) or (1, k)
        Their weights.

    Returns
    -------
    V : array of shape (n, q)
        The sums, in the precision of `votes`.
    """
    xp = namespace(votes, neighbors)
    n, k = neighbors.shape
    w = xp.astype(w, votes.dtype)
    V = xp.zeros((n, votes.shape[1]), dtype=votes.dtype, device=array_device(votes))
    for a in range(k):
        V += w[:, a, None] * take(votes, neighbors[:, a])
    return V


def _ties(distances: Any, near: float) -> tuple[Any, Any]:
    """First place of the tie that each neighbour is in, and the one behind its last."""
    xp = namespace(distances)
    size = distances.shape[1]
    same = distances[:, 1:] - distances[:, :-1] <= near
    place = xp.zeros_like(distances[:, 0], dtype=xp.int64)
    start, end = [place], [place + size]
    for j in range(1, size):
        start.append(xp.where(same[:, j - 1], start[-1], place + j))
    for j in range(size - 1, 0, -1):
        end.append(xp.where(same[:, j - 1], end[-1], place + j))
    return xp.stack(start, axis=1), xp.stack(end[::-1], axis=1)


def _shared(w: Any, start: Any, end: Any) -> Any:
    """Mean weight of the places that a tie takes, also those beyond the last."""
    xp, k = namespace(w), w.shape[1]
    # Sum of the weights of the first places, however many.
    until = xp.concat([xp.zeros_like(w[:, :1]), xp.cumulative_sum(w, axis=1)], axis=1)
    a, b = (
        xp.take_along_axis(until, xp.where(at < k, at, k), axis=1)
        for at in (start, end)
    )
    return (b - a) / xp.astype(end - start, w.dtype)
