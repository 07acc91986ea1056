"""Neighbors among a sample of the rows, for large data."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from partlearn._array_api import is_numpy, like, namespace, take
from partlearn._math.neighbors._cells import cell_neighbors
from partlearn._math.neighbors._knn import other_rows, query_neighbors, self_neighbors
from partlearn._sizes import SIZES
from partlearn._typing import Indices

REFERENCE_ROWS = 4000  # rows among which it searches above
DEVICE_ROWS = 100_000  # rows among which all rows are searched on a device at the end


def reference_rows(
    n_rows: int,
    n_reference: int | Literal["auto"] | None,
    random_state: Any = 0,
    *,
    auto: int = REFERENCE_ROWS,
) -> Indices | None:
    """Draw the rows among which neighbors are searched; None for all.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_reference : int, "auto" or None
        Number of reference rows. "auto" is all for up to 25,000 rows and `auto` above;
        None is all.
    random_state : int, RandomState instance or None, default=0
        Draws them; unused if all rows are searched.
    auto : int, default=4000
        Value of "auto" above 25,000 rows.

    Returns
    -------
    reference : ndarray of int or None
        Ascending indices.

    Examples
    --------
    >>> from partlearn._math.neighbors import reference_rows
    >>> reference_rows(25_000, "auto")
    >>> reference_rows(30_000, "auto").shape
    (4000,)
    """
    if isinstance(n_reference, str):
        n_reference = auto if n_rows > SIZES.exact_rows else None
    if n_reference is None or n_reference >= n_rows:
        return None
    order = check_random_state(random_state).permutation(n_rows)
    return np.sort(order[:n_reference])


def reference_neighbors(
    Z: Any,
    reference: Indices | None,
    n_neighbors: int,
    *,
    rows: Indices | None = None,
    search: Any = None,
    n_jobs: int | None = None,
) -> Indices:
    """Find the nearest other rows of all or some rows, among reference rows.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (n_samples, n_features)
        Points.
    reference : ndarray of int or None
        Rows among which neighbors are searched, ascending; None for all.
    n_neighbors : int
        Neighbors per point, fewer than there are reference rows (clamped).
    rows : ndarray of int, default=None
        Query rows; all by default.
    search, n_jobs
        As in :func:`query_neighbors`.

    Returns
    -------
    indices : ndarray of shape (n_rows, n_neighbors), int64
        Rows of `Z`, nearest first; a row is not its own neighbor.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.neighbors import reference_neighbors
    >>> Z = np.array([[0.0], [1.0], [3.0], [3.5]])
    >>> reference_neighbors(Z, np.array([0, 2, 3]), 1).ravel()
    array([2, 0, 3, 2])
    """
    points = Z if reference is None else take(Z, reference)
    queries = Z if rows is None else take(Z, rows)
    k = min(n_neighbors, points.shape[0] - 1)
    _, near = query_neighbors(points, queries, k + 1, search=search, n_jobs=n_jobs)
    if reference is not None:
        xp = namespace(near)
        places = xp.reshape(near, (-1,))
        near = xp.reshape(take(like(reference, near), places), near.shape)
    return without_own(near, np.arange(Z.shape[0]) if rows is None else rows)


def many_neighbors(Z: Any, n_neighbors: int, n_jobs: int | None = None) -> Any:
    """Find the nearest other rows in large data, approximately.

    Parameters
    ----------
    Z : array of shape (n_samples, n_features)
        Points.
    n_neighbors : int
        Neighbors per point.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    indices : array of shape (n_samples, n_neighbors), int64
        Found in cells, see :func:`cell_neighbors`. For arrays of other libraries than
        NumPy the search is exact, among at most 100,000 rows drawn at random.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.neighbors import many_neighbors
    >>> many_neighbors(np.array([[0.0], [1.0], [3.0]]), 1).ravel()
    array([1, 0, 1])
    """
    if is_numpy(Z):
        return cell_neighbors(Z, n_neighbors, n_jobs=n_jobs)[1]
    reference = reference_rows(Z.shape[0], DEVICE_ROWS)
    if reference is None:
        return self_neighbors(Z, n_neighbors)
    return reference_neighbors(Z, reference, n_neighbors)


def without_own(near: Indices, rows: Indices) -> Indices:
    """Drop each row from its neighbors, or the last one if it is not among them."""
    if not is_numpy(near):
        xp = namespace(near)
        own = xp.astype(near == like(rows, near)[:, None], xp.int64)
        last = xp.argsort(own, axis=1, stable=True)
        return xp.take_along_axis(near, last[:, : near.shape[1] - 1], axis=1)
    return near[other_rows(near, rows)].reshape(len(rows), -1)
