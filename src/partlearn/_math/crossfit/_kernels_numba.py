"""City-block distances compiled by numba."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numba import njit

from partlearn._typing import Array

_STRIP = 512  # reference rows at a time: their sums stay in the nearest cache


def city_block(X: Array, Z: Array) -> Array:
    """Distances between the rows of `X` and of `Z`, features added in their order."""
    if X.ndim != 2 or Z.ndim != 2 or X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"Rows of shapes {X.shape} and {Z.shape} do not have the same features."
        )
    out = np.zeros((X.shape[0], Z.shape[0]))
    _add(np.ascontiguousarray(X), np.ascontiguousarray(Z.T), out)
    return out


@njit(cache=True, nogil=True)
def _add(X, Zt, out):  # type: ignore[no-untyped-def]
    # The innermost loop runs over reference rows, so that it is vectorized without
    # changing the order in which the features of a pair are added.
    n, d = X.shape
    m = Zt.shape[1]
    for start in range(0, m, _STRIP):
        stop = min(start + _STRIP, m)
        for i in range(n):
            sums = out[i, start:stop]
            for f in range(d):
                x = X[i, f]
                column = Zt[f, start:stop]
                for j in range(sums.size):
                    sums[j] += abs(x - column[j])
