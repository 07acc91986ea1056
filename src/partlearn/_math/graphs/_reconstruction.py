"""Neighbor graphs with weights that reconstruct each row from its neighbors."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._math.graphs._neighbor_graph import neighbor_graph
from partlearn._math.simplex import nnls_from_gram, reconstruction_weights
from partlearn._sizes import SIZES, spans
from partlearn._typing import Array, Indices


def reconstruction_graph(points: NDArray[Any], neighbors: Indices) -> Any:
    """Find sparse convex weights W that minimize ``W @ points - points``.

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
        Row i minimizes ``||points_i - sum_a w_a points_a||`` over its neighbors, with
        non-negative weights that sum to one.
    """
    m, k = neighbors.shape
    weights = np.empty((m, k))
    for block in spans(m, SIZES.reconstruction_block // (k * points.shape[1])):
        differences = points[block, None, :] - points[neighbors[block]]
        weights[block] = reconstruction_weights(differences)
    return neighbor_graph(neighbors, weights)


def rebuilding_graph(X: Any, neighbors: Indices) -> sp.csr_array:
    """Find sparse non-negative weights W that minimize ``W @ X - X``, then scale rows.

    Source: IPAL, weights of the neighbors.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (m, d)
        What is to be rebuilt.
    neighbors : ndarray of int, shape (m, k)
        Rows that may be used for each row; there may be none.

    Returns
    -------
    W : CSR array of shape (m, m)
        Row i minimizes ``||x_i - sum_a w_a x_a||`` over ``w >= 0`` and is scaled to a
        sum of one. It is zero if zero is the minimizer.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.graphs import rebuilding_graph
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
    """Return ``I - W``, which maps rows to their residuals."""
    return sp.csr_array(sp.eye_array(W.shape[0], format="csr") - W)


def neighbor_grams(Q: Any, Z: Any, neighbors: Indices) -> tuple[Array, Array]:
    """Return inner products of the neighbors with each other and with their query.

    Parameters
    ----------
    Q : ndarray or CSR matrix of shape (n, d)
        Queries.
    Z : ndarray or CSR matrix of shape (m, d)
        Points.
    neighbors : ndarray of int, shape (n, k)
        Rows of `Z`.

    Returns
    -------
    G : ndarray of shape (n, k, k)
        ``G[i, a, b] = z_a . z_b`` for the neighbors a, b of query i.
    b : ndarray of shape (n, k)
        ``b[i, a] = q_i . z_a``.
    """
    if sp.issparse(Q) != sp.issparse(Z):
        Q, Z = sp.csr_array(Q), sp.csr_array(Z)
    n, k = neighbors.shape
    G, b = np.empty((n, k, k)), np.empty((n, k))
    for block, queries, points in _gather(Q, Z, neighbors):
        G[block] = _products(points, points)
        b[block] = _products([queries], points)[:, 0]
    return G, b


def difference_grams(Z: Any, neighbors: Indices) -> Array:
    """Return inner products of the differences between each row and its neighbors.

    Source: PLAGGD, graph of the features.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (m, d)
        Points.
    neighbors : ndarray of int, shape (m, k)
        Rows of `Z`.

    Returns
    -------
    G : ndarray of shape (m, k, k)
        ``G[i, a, b] = (z_i - z_a) . (z_i - z_b)``.
    """
    m, k = neighbors.shape
    G = np.empty((m, k, k))
    for block, rows, points in _gather(Z, Z, neighbors):
        differences = [rows - point for point in points]
        G[block] = _products(differences, differences)
    return G


def _gather(
    Q: Any, Z: Any, neighbors: Indices
) -> Iterator[tuple[slice, Any, list[Any]]]:
    """Yield blocks of queries with their first, second, ... neighbors, in float64."""
    n, k = neighbors.shape
    width = Z.shape[1]
    if sp.issparse(Z):
        width = int(Z.nnz // max(1, Z.shape[0])) + 1
    for block in spans(n, SIZES.reconstruction_block // max(1, k * width)):
        points = [Z[column].astype(np.float64) for column in neighbors[block].T]
        yield block, Q[block].astype(np.float64), points


def _products(left: list[Any], right: list[Any]) -> Array:
    """Return row-wise inner products of every left matrix with every right one."""
    if left and not sp.issparse(left[0]):
        A = np.stack(left, axis=1)
        B = A if left is right else np.stack(right, axis=1)
        return A @ B.transpose(0, 2, 1)
    n = left[0].shape[0] if left else 0
    G = np.empty((n, len(left), len(right)))
    for a, A in enumerate(left):
        for b, B in enumerate(right):
            if left is right and b < a:
                G[:, a, b] = G[:, b, a]
            else:
                G[:, a, b] = np.asarray(A.multiply(B).sum(axis=1)).ravel()
    return G
