"""Neighbours that are equally near: which, what they weigh, how they vote."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any

from partlearn._array_api import namespace, replaced, take
from partlearn._typing import Array
from partlearn.graphs._neighbor_graph import weighted_votes
from partlearn.linalg import column_moments

_SAME = 1e-9  # distances that differ by less, in units of the data, are equal
_MORE = 8  # neighbours looked at for ties, beyond those that vote
_MOST = 128  # neighbours that are looked at for ties at all
_ROUNDINGS = 16  # the same in units of rounding, for rows in single precision


def tie_tolerance(Z: Any) -> tuple[float, Array]:
    """Largest difference of two distances that counts as none.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (m, p)
        Rows.

    Returns
    -------
    near : float
        A thousand-millionth of the spread of the rows, or some roundings of it.
    unit : ndarray of shape (p,)
        A tenth of the same for each column.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.graphs import tie_tolerance
    >>> near, unit = tie_tolerance(np.array([[-3.0], [0.0], [3.0]]))
    >>> round(near * 1e9, 6), round(float(unit[0]) * 1e10, 6)
    (3.0, 3.0)
    """
    _, std = column_moments(Z)
    xp = namespace(std)
    same = max(_SAME, _ROUNDINGS * float(xp.finfo(Z.dtype).eps))
    return same * float(xp.sqrt(std @ std)), same / 10 * std


def find_ties(distances: Any, near: float) -> tuple[Any, Any]:
    """Which neighbours are equally near.

    Parameters
    ----------
    distances : array of shape (n, p)
        Distances, smallest first.
    near : float
        Neighbours that differ by less from the next one are equally near.

    Returns
    -------
    first, end : array of int, shape (n, p)
        First neighbour of the tie that each belongs to, and the one behind its last.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.graphs import find_ties
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
    """Mean weight of the ranks that a tie takes, also those beyond the last.

    What each row would get on average if ties were drawn by lot.

    Parameters
    ----------
    ranks : array of shape (n, k); in NumPy also (1, k)
        Weights of the first k ranks.
    start, end : array of int, shape (n, p)
        Rank at which the tie of each neighbour begins, counted from zero, and the one
        behind its last.

    Returns
    -------
    weights : array of shape (n, p)
        The mean weights.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.graphs import tied_weights
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


class ArrayVotes:
    """Votes of the nearest rows on arrays of other libraries, ties shared.

    As in NumPy, rows at one distance share the places that they take. Here the places
    are found among single rows, by columns of neighbours, without a graph.

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
        V = weighted_votes(votes, self.neighbors, tied_weights(w, *self._ties))
        if self._again is not None:
            rows, neighbors, ties = self._again
            some = weighted_votes(votes, neighbors, tied_weights(take(w, rows), *ties))
            V = replaced(V, some, self._open)
        return V
