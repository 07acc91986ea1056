"""Convex weights that rebuild a point from its neighbours."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numpy.typing import ArrayLike

from partlearn._typing import Array
from partlearn.simplex._nnls import nnls_from_gram


def reconstruction_weights(E: ArrayLike) -> Array:
    """Convex weights that make each weighted sum of differences shortest.

    Row ``i`` minimises ``||sum_a s_a E[i, a]||^2`` over ``s >= 0, sum(s) = 1``.

    Parameters
    ----------
    E : array-like of shape (n_points, k, n_features)
        Difference vectors, such as a point minus each of its `k` neighbours.

    Returns
    -------
    weights : ndarray of shape (n_points, k), float64
        Minimisers; rows sum to one. Where the minimiser is not unique (more
        neighbours than dimensions, duplicates), one of them.

    Examples
    --------
    >>> from partlearn.simplex import reconstruction_weights
    >>> reconstruction_weights([[[1.0], [-3.0]]])
    array([[0.75, 0.25]])
    """
    E = np.asarray(E, dtype=np.float64)
    if E.ndim != 3:
        raise ValueError(f"`E` must have three dimensions; got {E.ndim}.")
    return reconstruction_weights_from_gram(E @ E.transpose(0, 2, 1))


def reconstruction_weights_from_gram(G: ArrayLike) -> Array:
    """Minimise ``s' G s`` over the probability simplex, one problem per row.

    Source: WPLDR, Eq. (9).

    Parameters
    ----------
    G : array-like of shape (n_points, k, k)
        Gram matrices of the difference vectors.

    Returns
    -------
    weights : ndarray of shape (n_points, k), float64
        Minimisers; rows sum to one.

    Notes
    -----
    ``min ||E's||^2`` on the simplex is the non-negative least squares problem
    ``min ||E'w||^2 + g^2 (sum(w) - 1)^2`` followed by ``s = w / sum(w)``, for any
    ``g > 0``: for a fixed direction of value ``v`` the best scale leaves
    ``g^2 v / (g^2 + v)``, which grows with ``v``. We take for ``g`` the shortest
    difference, so that far neighbours do not drown the near ones in rounding error.
    Where a difference is zero the objective is zero, and the weight is shared by the
    zero differences.

    Examples
    --------
    >>> from partlearn.simplex import reconstruction_weights_from_gram
    >>> reconstruction_weights_from_gram([[[1.0, 0.0], [0.0, 3.0]]])
    array([[0.75, 0.25]])
    """
    G = np.asarray(G, dtype=np.float64)
    if G.ndim != 3 or G.shape[1] != G.shape[2]:
        raise ValueError(f"`G` must have shape (n_points, k, k); got {G.shape}.")
    squared = np.einsum("ijj->ij", G)
    zero = squared <= 0
    exact = zero.any(axis=1)
    smallest = np.where(exact, 1, squared.min(axis=1))
    scaled = G / smallest[:, None, None] + 1
    w = nnls_from_gram(scaled, np.ones(squared.shape))
    w[exact] = zero[exact]
    return w / w.sum(axis=1, keepdims=True)
