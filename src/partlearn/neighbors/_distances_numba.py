"""Squared distances of chosen pairs of dense rows, compiled by numba."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numba import njit

from partlearn.neighbors._distances import LANES

__all__ = ["pair_distances"]


@njit(cache=True, nogil=True)
def pair_distances(Q, rows, Z, columns):  # type: ignore[no-untyped-def]
    """Squared distances, added in the order that `_distances` prescribes."""
    d = Z.shape[1]
    whole = d - d % LANES
    out = np.empty(rows.size)
    lanes = np.empty(LANES)
    for p in range(rows.size):
        x, y = Q[rows[p]], Z[columns[p]]
        lanes[:] = 0.0
        for start in range(0, whole, LANES):
            for lane in range(LANES):
                step = np.float64(x[start + lane]) - np.float64(y[start + lane])
                lanes[lane] += step * step
        for j in range(whole, d):
            step = np.float64(x[j]) - np.float64(y[j])
            lanes[j - whole] += step * step
        out[p] = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + (
            (lanes[1] + lanes[5]) + (lanes[3] + lanes[7])
        )
    return out
