"""Neighbour graphs with heat weights, for Laplacian penalties."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
import scipy.sparse as sp

from partlearn._typing import Array
from partlearn.candidates import warn_caller
from partlearn.graphs._neighbor_graph import neighbor_graph
from partlearn.neighbors import self_neighbors

_EMPTY_WEIGHT = 1e-12  # an edge below this does nothing


def heat_graph(
    X: Any,
    n_neighbors: int = 5,
    *,
    t: float | str = 1.0,
    self_loops: bool = False,
) -> sp.csr_array:
    """Graph of nearest neighbours with weights ``exp(-dist² / (2 t²))``.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Points.
    n_neighbors : int, default=5
        Neighbours per point, itself excluded; at most ``n - 1``.
    t : float or "median", default=1.0
        Width of the kernel; "median" is the median distance of neighbours, 1 where
        that is zero.
    self_loops : bool, default=False
        Whether every point is joined to itself with weight one. That changes no
        Laplacian, but programs that have loops take shorter steps.

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
                f"Nearly all weights of the graph are zero: neighbours lie "
                f'further apart than t={t!r}. Scale the features or use t="median".'
            )
        S = neighbor_graph(indices, weights)
        S = sp.csr_array(S.maximum(S.T))
    if self_loops:
        S = sp.csr_array(S + sp.eye_array(n))
    return S


def degrees(S: sp.csr_array) -> Array:
    """Row sums of a graph."""
    return np.asarray(S.sum(axis=1)).ravel()


def laplacian(S: sp.csr_array) -> sp.csr_array:
    """``diag(degrees) - S``."""
    return sp.csr_array(sp.diags_array(degrees(S)) - S)
