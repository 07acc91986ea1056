"""Sparse graph of neighbors, its edge weights, and weighted sums over neighbors."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._array_api import (
    array_device,
    is_numpy,
    is_numpy_namespace,
    like,
    namespace,
    take,
)
from partlearn._math.neighbors import self_neighbors
from partlearn._typing import Array, Indices
from partlearn.candidates import warn_caller

Vote = Literal["rank", "uniform"]

_EMPTY_WEIGHT = 1e-12  # an edge below this does nothing


def neighbor_graph(
    neighbors: NDArray[np.integer[Any]],
    weights: NDArray[Any],
    n_points: int | None = None,
) -> sp.csr_array:
    """Return a sparse matrix with the weights of the neighbors of row i in row i.

    Parameters
    ----------
    neighbors : ndarray of int, shape (n_queries, k)
        Points, distinct in each row.
    weights : ndarray of shape (n_queries, k)
        Their weights.
    n_points : int, default=None
        Number of points; by default the number of queries.

    Returns
    -------
    W : CSR array of shape (n_queries, n_points)
        The graph.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.graphs import neighbor_graph
    >>> neighbor_graph(np.array([[1], [0]]), np.array([[0.5], [2.0]])).toarray()
    array([[0. , 0.5],
           [2. , 0. ]])
    """
    n, k = neighbors.shape
    return sp.csr_array(
        (weights.ravel(), neighbors.ravel(), k * np.arange(n + 1)),
        shape=(n, n if n_points is None else n_points),
    )


def heat_graph(
    X: Any,
    n_neighbors: int = 5,
    *,
    t: float | str = 1.0,
    self_loops: bool = False,
) -> sp.csr_array:
    """Build the graph of nearest neighbors with weights ``exp(-dist² / (2 t²))``.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Points.
    n_neighbors : int, default=5
        Neighbors per point, without the point itself; at most ``n - 1``.
    t : float or "median", default=1.0
        Width of the kernel; "median" is the median distance of neighbors, or 1 if it is
        zero.
    self_loops : bool, default=False
        Whether every point has an edge to itself, of weight one. This does not change
        the Laplacian, but shortens the steps of programs that use loops.

    Returns
    -------
    S : CSR array of shape (n, n)
        Symmetric weights: an edge of either point is an edge of both.
    """
    n = X.shape[0]
    k = min(n_neighbors, n - 1)
    if k < 1:
        S = sp.csr_array((n, n), dtype=np.float64)
    else:
        distances, indices = self_neighbors(X, k, return_distance=True)
        width = t
        if isinstance(t, str):
            middle = float(np.median(distances))
            width = middle if middle > 0 else 1.0
        weights = np.exp(-((distances / float(width)) ** 2) / 2)
        if np.mean(weights < _EMPTY_WEIGHT) > 0.9:
            warn_caller(
                f"Nearly all weights of the graph are zero: neighbors lie "
                f'further apart than t={t!r}. Scale the features or use t="median".'
            )
        S = neighbor_graph(indices, weights)
        S = sp.csr_array(S.maximum(S.T))
    if self_loops:
        S = sp.csr_array(S + sp.eye_array(n))
    return S


def degrees(S: sp.csr_array) -> Array:
    """Return the row sums of a graph."""
    return np.asarray(S.sum(axis=1)).ravel()


def laplacian(S: sp.csr_array) -> sp.csr_array:
    """``diag(degrees) - S``."""
    return sp.csr_array(sp.diags_array(degrees(S)) - S)


def vote_weights(k: int, kind: Vote = "rank") -> Array:
    """Return the weights of the k nearest neighbors, nearest first.

    Source: SAUTE, Eq. (12).

    Parameters
    ----------
    k : int
        Number of neighbors.
    kind : {"rank", "uniform"}, default="rank"
        "rank" counts down from `k` to one, "uniform" gives equal weights.

    Returns
    -------
    weights : ndarray of shape (k,)
        The weights.

    Examples
    --------
    >>> from partlearn._math.graphs import vote_weights
    >>> vote_weights(3)
    array([3., 2., 1.])
    """
    return np.arange(k, 0, -1.0) if kind == "rank" else np.ones(k)


def vote(
    F: NDArray[Any], neighbors: Indices, kind: Vote = "rank"
) -> NDArray[np.floating[Any]]:
    """Sum the confidences of each row's neighbors.

    Source: CENDA, Eq. (13).
    Source: SAUTE, Eq. (13).

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Confidences, or other values to sum.
    neighbors : ndarray of int, shape (n_queries, k)
        Rows of `F`, nearest first.
    kind : {"rank", "uniform"}, default="rank"
        "rank" weights the a-th nearest neighbor by ``k - a + 1``.

    Returns
    -------
    V : ndarray of shape (n_queries, n_classes)
        ``V[i] = sum_a weight_a * F[neighbors[i, a]]``.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.graphs import vote
    >>> F = np.eye(3)
    >>> vote(F, np.array([[1, 2]]))
    array([[0., 2., 1.]])
    """
    if is_numpy(F):  # marks and small integers cannot hold the sums
        F = F.astype(np.result_type(F.dtype, np.float32), copy=False)
    weights = vote_weights(neighbors.shape[1], kind)
    return weighted_votes(F, neighbors, like(weights[None, :], F))


def neighbor_weights(distances: NDArray[Any], kind: str) -> Array:
    """Return the weights of neighbors at given distances, nearest first.

    Source: PLKNN, weights of the votes.

    Parameters
    ----------
    distances : ndarray of shape (n, k)
        Distances.
    kind : {"distance", "rank", "uniform"}
        "distance" is one minus the share of the summed distances; the others are
        described at :func:`vote_weights`.

    Returns
    -------
    weights : ndarray of shape (n, k)
        The weights; equal for a single neighbor and if all distances are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.graphs import neighbor_weights
    >>> neighbor_weights(np.array([[1.0, 3.0], [0.0, 0.0]]), "distance")
    array([[0.75, 0.25],
           [1.  , 1.  ]])
    """
    xp = namespace(distances)
    n, k = distances.shape
    if kind != "distance":
        flat = vote_weights(k, "rank" if kind == "rank" else "uniform")
        return xp.broadcast_to(like(flat, distances), (n, k))
    if k == 1:
        return xp.ones_like(distances)
    total = xp.sum(distances, axis=1, keepdims=True)
    return 1 - distances / xp.where(total > 0, total, xp.inf)


def weighted_votes(votes: Any, neighbors: Any, w: Any) -> Any:
    """``V[i] = sum_a w[i, a] * votes[neighbors[i, a]]``.

    Source: PLKNN, votes.

    Parameters
    ----------
    votes : array of shape (m, q)
        Values to sum.
    neighbors : array of int, shape (n, k)
        Rows of `votes`.
    w : array of shape (n, k) or one that broadcasts to it
        Their weights.

    Returns
    -------
    V : array of shape (n, q)
        The sums, in the precision of `votes`.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.graphs import weighted_votes
    >>> weighted_votes(np.eye(3), np.array([[1, 2]]), np.array([[0.5, 2.0]]))
    array([[0. , 0.5, 2. ]])
    """
    xp = namespace(votes, neighbors)
    n, k = neighbors.shape
    w = xp.broadcast_to(xp.astype(w, votes.dtype), (n, k))
    if is_numpy_namespace(xp):
        return neighbor_graph(neighbors, w, len(votes)) @ votes
    V = xp.zeros((n, votes.shape[1]), dtype=votes.dtype, device=array_device(votes))
    for a in range(k):  # one column at a time
        V += w[:, a, None] * take(votes, neighbors[:, a])
    return V
