"""The active-set method of `_nnls`, one problem after another, compiled by numba."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numba import njit

from partlearn._math.simplex._nnls import DEPENDENT, EPS
from partlearn._sizes import SIZES

_MAX_ENTRIES = SIZES.nnls_entries  # a constant of the compiled loop


@njit(cache=True, nogil=True)
def solve_all(G, b):  # type: ignore[no-untyped-def]
    """Minimize ``w' G w - 2 b' w`` over ``w >= 0`` for each problem."""
    m, k = b.shape
    weights = np.zeros((m, k))
    passive = np.empty(k, dtype=np.int64)  # columns, in the order of their factor
    L = np.empty((k, k))  # Cholesky factor of the passive matrix, by rows
    change = np.empty(k)
    blocked = np.empty(k, dtype=np.bool_)
    lengths = np.empty(k)
    for i in range(m):
        A, c, w = G[i], b[i], weights[i]
        for j in range(k):
            blocked[j] = A[j, j] <= 0
            lengths[j] = np.sqrt(max(A[j, j], 0.0))
        size = 0
        for _ in range(_MAX_ENTRIES * (k + 1)):
            entering = _entering(A, c, w, passive, size, blocked, lengths)
            if entering < 0:
                break
            size = _enter(A, c, w, passive, size, blocked, entering, L, change)
    return weights


@njit(cache=True, nogil=True)
def _slope(A, c, w, passive, size, j):  # type: ignore[no-untyped-def]
    slope = c[j]
    for a in range(size):
        slope -= A[j, passive[a]] * w[passive[a]]
    return slope


@njit(cache=True, nogil=True)
def _entering(A, c, w, passive, size, blocked, lengths):  # type: ignore[no-untyped-def]
    k = w.size
    total = 0.0
    for a in range(size):
        blocked[passive[a]] = True
        total += lengths[passive[a]] * w[passive[a]]
    best, gain = -1, 0.0
    for j in range(k):
        if blocked[j]:
            continue
        slope = _slope(A, c, w, passive, size, j)
        noise = 4 * k * EPS * (abs(c[j]) + lengths[j] * total)
        if slope > noise and slope / lengths[j] > gain:
            best, gain = j, slope / lengths[j]
    for a in range(size):
        blocked[passive[a]] = False
    return best


@njit(cache=True, nogil=True)
def _enter(A, c, w, passive, size, blocked, j, L, change):  # type: ignore[no-untyped-def]
    while True:
        # Slope first: the entering column already has a weight after a first stop.
        slope = _slope(A, c, w, passive, size, j) - A[j, j] * w[j]
        curvature = A[j, j]
        for a in range(size):
            value = A[passive[a], j]
            for e in range(a):
                value -= L[a, e] * change[e]
            change[a] = value / L[a, a]
            curvature -= change[a] * change[a]
            L[size, a] = change[a]
        for a in range(size - 1, -1, -1):
            value = change[a]
            for e in range(a + 1, size):
                value -= L[e, a] * change[e]
            change[a] = value / L[a, a]
        full = np.inf
        if curvature > DEPENDENT * A[j, j]:
            full = max(slope / curvature, 0.0)
        limit, leaving = np.inf, -1
        for a in range(size):
            if change[a] > 0 and w[passive[a]] / change[a] < limit:
                limit, leaving = w[passive[a]] / change[a], a
        step = min(full, limit)
        if step == np.inf:
            # A flat direction without an end is rounding error: leave it out.
            blocked[j] = True
            return size
        for a in range(size):
            w[passive[a]] = max(w[passive[a]] - step * change[a], 0.0)
        w[j] += step
        if full <= limit:
            L[size, size] = np.sqrt(curvature)
            passive[size] = j
            return size + 1
        w[passive[leaving]] = 0.0
        size = _leave(A, passive, size, leaving, L)


@njit(cache=True, nogil=True)
def _leave(A, passive, size, leaving, L):  # type: ignore[no-untyped-def]
    size -= 1
    for a in range(leaving, size):
        passive[a] = passive[a + 1]
    for a in range(leaving, size):
        for e in range(a + 1):
            value = A[passive[a], passive[e]]
            for f in range(e):
                value -= L[a, f] * L[e, f]
            if e < a:
                L[a, e] = value / L[e, e]
            else:
                L[a, a] = np.sqrt(value)
    return size
