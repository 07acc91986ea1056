"""The loops of `_scan` compiled by numba."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numba import njit
from numpy.typing import NDArray

from partlearn.neighbors._products import threshold
from partlearn.neighbors._scan import Candidates

__all__ = ["keep_nearest", "scan"]

_STRIP = 128  # entries compared at once before looking for which one it was
_FEW = 32  # neighbours up to which insertion beats partitioning

_threshold = njit(nogil=True)(threshold)


def scan(
    H: NDArray,
    k: int,
    bound: NDArray[np.float64],
    minima: NDArray | None,
    norms: NDArray[np.float64],
    error: float,
    tiny: float,
) -> Candidates:
    """Entries of a tile that may belong to a neighbour, by row, then column."""
    if minima is None:
        minima = np.empty((H.shape[0], 0), dtype=H.dtype)
    candidates: Candidates = _scan(H, k, bound, minima, norms, error, tiny)
    return candidates


@njit(cache=True, nogil=True)
def _scan(H, k, bound, minima, norms, error, tiny):  # type: ignore[no-untyped-def]
    n, width = H.shape
    infinity = np.full(1, np.inf, dtype=H.dtype)
    limit = np.empty(1, dtype=H.dtype)
    smallest = np.empty(k, dtype=H.dtype)
    rows = np.empty(2 * n * k, dtype=np.int64)
    columns = np.empty(2 * n * k, dtype=np.int64)
    values = np.empty(2 * n * k)
    size = 0
    for i in range(n):
        if minima.shape[1] > 0:
            _lower(minima[i], H[i])
            bound[i] = min(bound[i], _kth(minima[i], smallest))
        exact = _threshold(bound[i], norms[i], error, tiny)
        limit[0] = exact
        if limit[0] < exact:
            limit[0] = np.nextafter(limit[0], infinity[0])
        for start in range(0, width, _STRIP):
            strip = H[i, start : start + _STRIP]
            n_new = _count(strip, limit[0])
            if n_new == 0:
                continue
            if size + n_new > rows.size:
                rows, columns = _grown(rows), _grown(columns)
                values = _grown(values)
            for j in range(strip.size):
                if strip[j] <= limit[0]:
                    rows[size] = i
                    columns[size] = start + j
                    values[size] = strip[j]
                    size += 1
    return rows[:size], columns[:size], values[:size]


@njit(cache=True, nogil=True)
def _lower(minima, row):  # type: ignore[no-untyped-def]
    # Slices, not indices into the row: only then are these loops vectorised.
    groups = minima.size
    for part in range(row.size // groups):
        values = row[part * groups : (part + 1) * groups]
        for g in range(groups):
            minima[g] = min(minima[g], values[g])


@njit(cache=True, nogil=True)
def _kth(values, smallest):  # type: ignore[no-untyped-def]
    k = smallest.size
    if k > _FEW:
        return np.partition(values, k - 1)[k - 1]
    smallest[:] = np.inf
    for value in values:
        if value < smallest[k - 1]:
            a = k - 1
            while a > 0 and smallest[a - 1] > value:
                smallest[a] = smallest[a - 1]
                a -= 1
            smallest[a] = value
    return smallest[k - 1]


@njit(cache=True, nogil=True)
def _count(strip, limit):  # type: ignore[no-untyped-def]
    count = np.int32(0)
    for j in range(strip.size):
        count += np.int32(strip[j] <= limit)
    return count


@njit(cache=True, nogil=True)
def _grown(array):  # type: ignore[no-untyped-def]
    larger = np.empty(2 * array.size + _STRIP, dtype=array.dtype)
    larger[: array.size] = array
    return larger


@njit(cache=True, nogil=True)
def keep_nearest(best, nearest, rows, columns, squared):  # type: ignore[no-untyped-def]
    """Merge candidates into the k nearest so far, by (distance, index), in place."""
    k = best.shape[1]
    for p in range(rows.size):
        i, column, value = rows[p], columns[p], squared[p]
        a = k
        while a > 0 and (
            value < best[i, a - 1]
            or (value == best[i, a - 1] and column < nearest[i, a - 1])
        ):
            if a < k:
                best[i, a] = best[i, a - 1]
                nearest[i, a] = nearest[i, a - 1]
            a -= 1
        if a < k:
            best[i, a] = value
            nearest[i, a] = column
