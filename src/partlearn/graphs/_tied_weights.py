"""Weights of neighbours, some of which are equally near."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._array_api import namespace
from partlearn._typing import Array, Indices
from partlearn.linalg import column_moments

_SAME = 1e-9  # distances that differ by less, in units of the data, are equal
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


def find_ties(
    distances: Array, near: float, size: NDArray[Any] | None = None
) -> tuple[Indices, NDArray[Any]]:
    """Which neighbours are equally near.

    Parameters
    ----------
    distances : ndarray of shape (n, p)
        Distances, smallest first.
    near : float
        Neighbours that differ by less from the next one are equally near.
    size : ndarray of shape (n, p), default=None
        Rows that each neighbour stands for; one by default.

    Returns
    -------
    first : ndarray of int, shape (n, p)
        First neighbour of the tie that each belongs to.
    members : ndarray of shape (n, p)
        Number of rows in it, as far as they are among the neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.graphs import find_ties
    >>> first, members = find_ties(np.array([[0.0, 2.0, 2.0]]), 1e-9)
    >>> first, members
    (array([[0, 1, 1]]), array([[1., 2., 2.]]))
    """
    n, p = distances.shape
    same = np.diff(distances, axis=1, prepend=-np.inf) <= near
    first = np.maximum.accumulate(np.where(same, 0, np.arange(p)), axis=1)
    tie = first + np.arange(n)[:, None] * p
    counts = None if size is None else size.ravel()
    members = np.bincount(tie.ravel(), counts, n * p)[tie].astype(np.float64)
    return first, members


def tied_weights(ranks: Array, start: Indices, members: NDArray[Any]) -> Array:
    """Mean weight of the ranks that a tie takes, also those beyond the last.

    What each row would get on average if ties were drawn by lot.

    Parameters
    ----------
    ranks : ndarray of shape (n, k) or (1, k)
        Weights of the first k ranks.
    start : ndarray of int, shape (n, p)
        Rank at which the tie of each neighbour begins, counted from zero.
    members : ndarray of shape (n, p)
        Rows in the tie.

    Returns
    -------
    weights : ndarray of shape (n, p)
        The mean weights.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.graphs import tied_weights
    >>> start, members = np.array([[0, 1, 1]]), np.array([[1, 2, 2]])
    >>> tied_weights(np.array([[2.0, 1.0]]), start, members)
    array([[2. , 0.5, 0.5]])
    """
    k = ranks.shape[1]
    until = np.hstack([np.zeros((len(ranks), 1)), np.cumsum(ranks, axis=1)])
    rows = np.zeros((1, 1), dtype=np.intp)
    if len(ranks) > 1:
        rows = np.arange(len(ranks))[:, None]
    a = np.minimum(start, k)
    b = np.minimum(start + members, k).astype(np.intp)
    return np.asarray((until[rows, b] - until[rows, a]) / members)
