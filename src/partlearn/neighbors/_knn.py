"""Exact k nearest neighbours, by row blocks."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

from partlearn.neighbors._injected import injected_neighbors

__all__ = ["query_neighbors", "self_neighbors"]

_BLOCK = 1 << 22  # numbers held at once in a block of distances


def self_neighbors(
    Z: Any,
    n_neighbors: int,
    *,
    search: Any = None,
    warm_start: ArrayLike | None = None,
    return_distance: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Nearest neighbours of every row of `Z` among the other rows.

    Parameters
    ----------
    Z : array-like or sparse matrix of shape (n_samples, n_features)
        Points, float32 or float64; CSR is never densified.
    n_neighbors : int
        Neighbours per point, at most ``n_samples - 1`` (clamped).
    search : transformer, default=None
        A scikit-learn style neighbour transformer, such as
        :class:`~sklearn.neighbors.KNeighborsTransformer` or
        ``pynndescent.PyNNDescentTransformer``. None is an exact search.
    warm_start : array-like of shape (n_samples, k), default=None
        Neighbours found earlier (``k >= n_neighbors``); they make an exact search
        faster and never change its answer.
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

    Examples
    --------
    >>> from partlearn.neighbors import self_neighbors
    >>> self_neighbors([[0.0], [1.0], [3.0], [3.0]], 2)
    array([[1, 2],
           [0, 2],
           [3, 1],
           [2, 1]])
    """
    Z = check_array(Z, accept_sparse="csr", dtype=[np.float64, np.float32])
    k = min(_check_count(n_neighbors), Z.shape[0] - 1)
    if search is not None:
        distances, indices = injected_neighbors(search, Z, None, k)
    else:
        distances, indices = _exact(Z, Z, k, exclude_self=True)
    return (distances, indices) if return_distance else indices


def query_neighbors(
    Z: Any,
    Q: Any,
    n_neighbors: int,
    *,
    search: Any = None,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Nearest rows of `Z` for every row of `Q`.

    Parameters
    ----------
    Z : array-like or sparse matrix of shape (n_samples, n_features)
        Reference points.
    Q : array-like or sparse matrix of shape (n_queries, n_features)
        Query points.
    n_neighbors : int
        Neighbours per query, at most ``n_samples`` (clamped).
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
    >>> from partlearn.neighbors import query_neighbors
    >>> query_neighbors([[0.0], [2.0], [2.0]], [[1.5]], 2)
    (array([[0.5, 0.5]]), array([[1, 2]]))
    """
    Z = check_array(Z, accept_sparse="csr", dtype=[np.float64, np.float32])
    Q = check_array(Q, accept_sparse="csr", dtype=[np.float64, np.float32])
    if Z.shape[1] != Q.shape[1]:
        raise ValueError(
            f"`Q` must have {Z.shape[1]} features like `Z`; got {Q.shape[1]}."
        )
    k = min(_check_count(n_neighbors), Z.shape[0])
    if search is not None:
        return injected_neighbors(search, Z, Q, k)
    return _exact(Z, Q, k, exclude_self=False)


def _check_count(n_neighbors: int) -> int:
    if n_neighbors < 1:
        raise ValueError(f"`n_neighbors` must be at least 1; got {n_neighbors}.")
    return int(n_neighbors)


def _exact(
    Z: Any, Q: Any, k: int, *, exclude_self: bool
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    m = Z.shape[0]
    size = max(1, _BLOCK // max(1, m))
    distances = np.empty((Q.shape[0], k))
    indices = np.empty((Q.shape[0], k), dtype=np.int64)
    for start in range(0, Q.shape[0], size):
        stop = min(start + size, Q.shape[0])
        D = np.zeros((stop - start, m))
        for A, B in _feature_chunks(Q[start:stop], Z):
            D += cdist(A, B, "sqeuclidean")
        if exclude_self:
            D[np.arange(stop - start), np.arange(start, stop)] = np.inf
        order = np.argsort(D, axis=1, kind="stable")[:, :k]
        indices[start:stop] = order
        distances[start:stop] = np.sqrt(np.take_along_axis(D, order, axis=1))
    return distances, indices


def _feature_chunks(Q: Any, Z: Any) -> Iterator[tuple[NDArray, NDArray]]:
    """Dense float64 pieces of both matrices over the same features."""
    width = max(1, _BLOCK // max(1, Z.shape[0]))
    for start in range(0, Z.shape[1], width):
        A, B = Q[:, start : start + width], Z[:, start : start + width]
        A = A.toarray() if issparse(A) else A
        B = B.toarray() if issparse(B) else B
        yield A.astype(np.float64), B.astype(np.float64)
