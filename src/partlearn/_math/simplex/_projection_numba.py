"""Row-wise projection onto the simplex, compiled by numba."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numba import njit

_FEW = 24  # candidates up to which insertion beats the general sort


@njit(cache=True, nogil=True)
def project_rows(Q, S):  # type: ignore[no-untyped-def]
    """Project each row on its candidates; an empty `S` allows every class."""
    n, q = Q.shape
    masked = S.size > 0
    out = np.zeros((n, q), dtype=Q.dtype)
    values = np.empty(q, dtype=Q.dtype)
    # Constants of the type of Q keep the arithmetic in its precision.
    one = np.ones(1, dtype=Q.dtype)[0]
    lowest = np.full(1, -np.inf, dtype=Q.dtype)[0]
    for i in range(n):
        top = lowest
        for j in range(q):
            if (not masked or S[i, j]) and Q[i, j] > top:
                top = Q[i, j]
        # Entries at least one below the largest are never positive in the end.
        count = 0
        for j in range(q):
            if (not masked or S[i, j]) and Q[i, j] - top > -one:
                values[count] = Q[i, j] - top
                count += 1
        _sort_descending(values[:count])
        # The last threshold that lies below its own entry.
        total = values[0]
        theta = total - one
        number = one
        for r in range(1, count):
            total += values[r]
            number += one
            candidate = (total - one) / number
            if not values[r] > candidate:
                break
            theta = candidate
        for j in range(q):
            if not masked or S[i, j]:
                out[i, j] = max((Q[i, j] - top) - theta, one - one)
    return out


@njit(cache=True, nogil=True)
def _sort_descending(values):  # type: ignore[no-untyped-def]
    if values.size > _FEW:
        values[:] = np.sort(values)[::-1]
        return
    for r in range(1, values.size):
        value = values[r]
        a = r
        while a > 0 and values[a - 1] < value:
            values[a] = values[a - 1]
            a -= 1
        values[a] = value
