"""Votes of equally near rows on arrays of other libraries.

As in NumPy, rows at one distance share the places that they take. Here the places are
found among single rows, by columns of neighbours, without a graph.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any

from partlearn._array_api import array_device, namespace, replaced, take
from partlearn.graphs._tied_weights import find_ties, tied_weights

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
        self._ties = find_ties(distances, near)
        # Whether the last places may be shared with rows that were not looked at.
        self._open = self._ties[0][:, -1] < self._k
        more = min(max(_MOST, size), most)
        if size < more and bool(namespace(distances).any(self._open)):
            rows = namespace(distances).nonzero(self._open)[0]
            distances, neighbors = find(rows, more)
            self._again = (rows, neighbors, find_ties(distances, near))

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
        V = array_votes(votes, self.neighbors, tied_weights(w, *self._ties))
        if self._again is not None:
            rows, neighbors, ties = self._again
            some = array_votes(votes, neighbors, tied_weights(take(w, rows), *ties))
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
