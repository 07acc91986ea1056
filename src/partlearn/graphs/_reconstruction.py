"""Neighbour graphs whose weights rebuild each row from its neighbours."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn.graphs._local_grams import neighbor_grams
from partlearn.graphs._neighbor_graph import neighbor_graph
from partlearn.simplex import nnls_from_gram, reconstruction_weights

_BLOCK = 1 << 22  # numbers held at once in a block of differences


def reconstruction_graph(points: NDArray[Any], neighbors: NDArray[np.int64]) -> Any:
    """Sparse W with ``W @ points`` as near to `points` as convex weights allow.

    Source: WPLDR, Eq. (8).
    Source: PLDA, adaptive graph.
    Source: PLAGGD, graph of the features.

    Parameters
    ----------
    points : ndarray of shape (m, p)
        What is to be rebuilt.
    neighbors : ndarray of shape (m, k)
        Rows that may be used for each row.

    Returns
    -------
    W : csr_array of shape (m, m)
        Row i minimises ``||points_i - sum_a w_a points_a||`` over its neighbours,
        with weights that are not negative and sum to one.
    """
    m, k = neighbors.shape
    weights = np.empty((m, k))
    step = max(1, _BLOCK // (k * points.shape[1]))
    for start in range(0, m, step):
        block = slice(start, start + step)
        differences = points[block, None, :] - points[neighbors[block]]
        weights[block] = reconstruction_weights(differences)
    return neighbor_graph(neighbors, weights)


def rebuilding_graph(X: Any, neighbors: NDArray[np.int64]) -> sp.csr_array:
    """Sparse W with ``W @ X`` as near to `X` as weights without a sign allow.

    Source: IPAL, weights of the neighbours.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (m, d)
        What is to be rebuilt.
    neighbors : ndarray of int, shape (m, k)
        Rows that may be used for each row; there may be none.

    Returns
    -------
    W : CSR array of shape (m, m)
        Row i minimises ``||x_i - sum_a w_a x_a||`` over ``w >= 0`` and is scaled to
        sum to one. A row that no combination comes nearer to than zero is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.graphs import rebuilding_graph
    >>> X = np.array([[1.0, 1.0], [2.0, 0.0], [0.0, 2.0]])
    >>> rebuilding_graph(X, np.array([[1, 2], [0, 2], [0, 1]])).toarray()[0].round(9)
    array([0. , 0.5, 0.5])
    """
    if not neighbors.size:
        return sp.csr_array((X.shape[0], X.shape[0]))
    w = nnls_from_gram(*neighbor_grams(X, X, neighbors))
    total = w.sum(axis=1, keepdims=True)
    return neighbor_graph(neighbors, w / np.where(total > 0, total, 1))


def residual_operator(W: sp.csr_array) -> sp.csr_array:
    """``I - W``: what the graph cannot rebuild."""
    return sp.csr_array(sp.eye_array(W.shape[0], format="csr") - W)
