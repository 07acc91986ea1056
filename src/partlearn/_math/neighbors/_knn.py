"""Exact k nearest neighbors, and the recall of another search."""

# SPDX-License-Identifier: BSD-3-Clause

from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state

from partlearn._array_api import float_dtypes, is_numpy
from partlearn._math.neighbors._array import array_neighbors
from partlearn._math.neighbors._distances import pair_distances
from partlearn._math.neighbors._exact import exact_neighbors
from partlearn._typing import Array, Indices, Mask


def self_neighbors(
    Z: Any,
    n_neighbors: int,
    *,
    search: Any = None,
    warm_start: ArrayLike | None = None,
    return_distance: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Nearest neighbors of every row of `Z` among the other rows.

    Parameters
    ----------
    Z : array-like or sparse matrix of shape (n_samples, n_features)
        Points, float32 or float64; CSR is never densified.
    n_neighbors : int
        Neighbors per point, at most ``n_samples - 1`` (clamped).
    search : transformer, default=None
        A scikit-learn style neighbor transformer, such as
        :class:`~sklearn.neighbors.KNeighborsTransformer` or
        ``pynndescent.PyNNDescentTransformer``. None is an exact search.
    warm_start : array-like of shape (n_samples, k), default=None
        Neighbors of an earlier search (``k >= n_neighbors``). They make an exact search
        faster and do not change its result.
    return_distance : bool, default=False
        Whether to return the distances too.
    n_jobs : int, default=None
        Threads; the answer is the same for any number.

    Returns
    -------
    distances : ndarray of shape (n_samples, n_neighbors), float64
        Only if `return_distance`.
    indices : ndarray of shape (n_samples, n_neighbors), int64
        Nearest first; equal distances are ordered by index.

    See Also
    --------
    query_neighbors : Neighbors of new points.
    neighbors_recall : Recall of an approximate search.

    Notes
    -----
    Distances are Euclidean. A point is never its own neighbor, but an exact duplicate
    of it is, at distance zero. The exact search makes a shortlist by a blocked matrix
    product of the centered data, with a bound on its rounding error, and ranks it by
    distances computed from differences in float64. The result is the same for dense and
    sparse input, with and without warm start or threads. It takes O(n_samples**2 *
    n_features) time and O(n_samples * n_features) memory besides blocks of fixed size.
    In up to six dimensions a k-d tree makes the shortlist of dense points in
    O(n_samples * log(n_samples)), unless most of them have many others at the same
    distance.

    Examples
    --------
    >>> from partlearn._math.neighbors import self_neighbors
    >>> self_neighbors([[0.0], [1.0], [3.0], [3.0]], 2)
    array([[1, 2],
           [0, 2],
           [3, 1],
           [2, 1]])
    """
    Z = _check_points(Z, search)
    k = min(check_count("n_neighbors", n_neighbors), Z.shape[0] - 1)
    if not is_numpy(Z):
        distances, indices = array_neighbors(Z, Z, k, exclude_self=True)
    elif search is not None:
        distances, indices = _injected_neighbors(search, Z, None, k)
    else:
        distances, indices = exact_neighbors(
            *same_kind(Z, Z),
            k,
            exclude_self=True,
            warm_start=None
            if warm_start is None
            else _check_neighbors("warm_start", warm_start, Z.shape[0], k),
            n_jobs=n_jobs,
        )
    return (distances, indices) if return_distance else indices


def query_neighbors(
    Z: Any, Q: Any, n_neighbors: int, *, search: Any = None, n_jobs: int | None = None
) -> tuple[Array, Indices]:
    """Nearest rows of `Z` for every row of `Q`.

    Parameters
    ----------
    Z : array-like or sparse matrix of shape (n_samples, n_features)
        Reference points.
    Q : array-like or sparse matrix of shape (n_queries, n_features)
        Query points.
    n_neighbors : int
        Neighbors per query, at most ``n_samples`` (clamped).
    search : transformer, default=None
        As in :func:`self_neighbors`; None is an exact search.
    n_jobs : int, default=None
        Threads; the answer is the same for any number.

    Returns
    -------
    distances : ndarray of shape (n_queries, n_neighbors), float64
        Euclidean distances, ascending.
    indices : ndarray of shape (n_queries, n_neighbors), int64
        Rows of `Z`; equal distances are ordered by index.

    Examples
    --------
    >>> from partlearn._math.neighbors import query_neighbors
    >>> query_neighbors([[0.0], [2.0], [2.0]], [[1.5]], 2)
    (array([[0.5, 0.5]]), array([[1, 2]]))
    """
    Z, Q = _check_points(Z, search), _check_points(Q, search)
    if Z.shape[1] != Q.shape[1]:
        raise ValueError(
            f"`Q` must have {Z.shape[1]} features like `Z`; got {Q.shape[1]}."
        )
    k = min(check_count("n_neighbors", n_neighbors), Z.shape[0])
    if not is_numpy(Z, Q):
        return array_neighbors(Z, Q, k, exclude_self=False)
    if search is not None:
        return _injected_neighbors(search, Z, Q, k)
    return exact_neighbors(*same_kind(Z, Q), k, exclude_self=False, n_jobs=n_jobs)


def some_neighbors(
    Z: Any, rows: Any, k: int, n_jobs: int | None = None
) -> tuple[Any, Any]:
    """Nearest other rows of some rows.

    Parameters
    ----------
    Z : array or CSR matrix of shape (m, p)
        Points.
    rows : array of int or None
        Query rows; all by default.
    k : int
        Neighbors of each, at most ``m - 1``.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    distances, indices : array of shape (n, k)
        As from :func:`self_neighbors`.
    """
    if not is_numpy(Z):
        return array_neighbors(Z, Z, k, exclude_self=True, rows=rows)
    if rows is None:
        return self_neighbors(Z, k, return_distance=True, n_jobs=n_jobs)
    distances, near = query_neighbors(Z, Z[rows], k + 1, n_jobs=n_jobs)
    other, shape = other_rows(near, rows), (len(rows), -1)
    return distances[other].reshape(shape), near[other].reshape(shape)


def other_rows(near: Indices, rows: Indices) -> Mask:
    """Return a mask of the neighbors without the row itself.

    If the row is not among them, because equal rows come first, the last is left out.
    """
    own = near == rows[:, None]
    own[~own.any(axis=1), -1] = True
    return ~own


def neighbors_recall(
    Z: Any,
    indices: ArrayLike,
    *,
    n_samples: int = 1000,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float:
    """Compute the share of given neighbors that an exact search confirms.

    Parameters
    ----------
    Z : array-like or sparse matrix of shape (n_samples, n_features)
        Points.
    indices : array-like of shape (n_samples, k)
        Neighbors of each point, as :func:`self_neighbors` returns them.
    n_samples : int, default=1000
        Points to check, drawn without replacement; all if there are fewer.
    random_state : int, RandomState instance or None, default=0
        Determines the points drawn.
    n_jobs : int, default=None
        Threads of the exact search.

    Returns
    -------
    recall : float
        Mean share of neighbors that are as near as the true k-th one; the choice among
        equally near points does not matter.

    Examples
    --------
    >>> from partlearn._math.neighbors import neighbors_recall
    >>> neighbors_recall([[0.0], [1.0], [3.0]], [[1], [0], [0]])
    0.666...
    """
    Z = check_array(Z, accept_sparse="csr", dtype=[np.float64, np.float32])
    m = Z.shape[0]
    indices = _check_neighbors("indices", indices, m)
    k = indices.shape[1]
    rows = np.arange(m)
    if check_count("n_samples", n_samples) < m:
        # The last ones: a search may have placed its cells by the first ones of the
        # same permutation, and finds more of the neighbors of those.
        rows = check_random_state(random_state).permutation(m)[-n_samples:]
    kth = some_neighbors(Z, rows, k, n_jobs)[0][:, -1:]
    Z, _ = same_kind(Z, Z)
    given = pair_distances(Z, np.repeat(rows, k), Z, indices[rows].ravel())
    return float((np.sqrt(given).reshape(rows.size, k) <= kth).mean())


def _injected_neighbors(
    search: Any, Z: Any, Q: Any, n_neighbors: int
) -> tuple[Array, Indices]:
    """Call a neighbor transformer; ``Q=None`` searches the training points.

    The transformer is cloned, and its metric is used.
    """
    search = clone(search, safe=False)
    if getattr(search, "mode", "distance") == "connectivity":
        raise ValueError(
            "`search` must return distances; build it with "
            "mode='distance' instead of 'connectivity'."
        )
    graph = search.fit_transform(Z) if Q is None else search.fit(Z).transform(Q)
    n_rows = Z.shape[0] if Q is None else Q.shape[0]
    if not issparse(graph) or graph.shape != (n_rows, Z.shape[0]):
        kind = type(graph).__name__ if not issparse(graph) else graph.shape
        raise ValueError(
            f"`search` must return a sparse graph of shape ({n_rows}, {Z.shape[0]}) "
            f"whose entries are distances; got {kind}."
        )
    # Explicit zeros are neighbors at distance zero (duplicates), not gaps.
    graph = csr_array(graph)
    rows = np.repeat(np.arange(n_rows), np.diff(graph.indptr))
    columns = graph.indices.astype(np.int64)
    distances = graph.data.astype(np.float64)
    if Q is None:
        others = rows != columns
        rows, columns, distances = rows[others], columns[others], distances[others]
    counts = np.bincount(rows, minlength=n_rows)
    short = np.flatnonzero(counts < n_neighbors)
    if short.size:
        besides = " besides the point itself" if Q is None else ""
        raise ValueError(
            f"`search` found {counts[short[0]]} neighbors for row {short[0]} "
            f"({short.size} of {n_rows} rows have too few), but {n_neighbors} are "
            f"needed{besides}; build it with a larger n_neighbors (at least "
            f"{n_neighbors + 1})."
        )
    order = np.lexsort((columns, distances, rows))
    starts = np.cumsum(counts) - counts
    first = order[starts[:, None] + np.arange(n_neighbors)]
    return distances[first], columns[first]


def _check_points(X: Any, search: Any) -> Any:
    """Check points; they stay in their library and on their device."""
    X = check_array(X, accept_sparse="csr", dtype=list(float_dtypes(X)))
    if search is not None and not is_numpy(X):
        raise ValueError(
            "`search` works on NumPy arrays; leave it out to search on the device of "
            "the rows, or pass the rows as a NumPy array."
        )
    return X


def check_count(name: str, value: int) -> int:
    """Raise if a value is not a positive integer."""
    count = index(value)
    if count < 1:
        raise ValueError(f"`{name}` must be at least 1; got {value}.")
    return count


def _check_neighbors(
    name: str, neighbors: ArrayLike, m: int, k: int | None = None
) -> Indices:
    """Raise if the neighbors of a row are not k different other rows."""
    known = np.asarray(neighbors)
    least = 1 if k is None else k
    if known.ndim != 2 or known.shape[0] != m or known.shape[1] < least:
        raise ValueError(
            f"`{name}` must have {m} rows and at least {least} columns; got shape "
            f"{known.shape}."
        )
    if not np.issubdtype(known.dtype, np.integer):
        raise TypeError(f"`{name}` must hold row indices; got {known.dtype}.")
    known = known[:, :k].astype(np.int64)
    ordered = np.sort(np.column_stack([known, np.arange(m)]), axis=1)
    wrong = (ordered[:, :-1] == ordered[:, 1:]).any(axis=1)
    wrong |= (ordered[:, 0] < 0) | (ordered[:, -1] >= m)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"Row {row} of `{name}` must hold {known.shape[1]} different indices below "
            f"{m}, without {row} itself; got {known[row].tolist()}."
        )
    return known


def same_kind(Z: Any, Q: Any) -> tuple[Any, Any]:
    """Convert both to CSR in float64 with sorted indices if either is sparse."""
    if not issparse(Z) and not issparse(Q):
        return Z, Q
    reference = _canonical(Z)
    return reference, reference if Q is Z else _canonical(Q)


def _canonical(X: Any) -> csr_array:
    X = csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    return X
