"""Neighbour graphs whose weights rebuild each row from its neighbours."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn.simplex import reconstruction_weights

__all__ = ["reconstruction_graph"]

_BLOCK = 1 << 22  # numbers held at once in a block of differences


def reconstruction_graph(points: NDArray[Any], neighbors: NDArray[np.int64]) -> Any:
    """Sparse W with ``W @ points`` as near to `points` as convex weights allow.

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
    return sp.csr_array(
        (weights.ravel(), neighbors.ravel(), np.arange(0, m * k + 1, k)), shape=(m, m)
    )
