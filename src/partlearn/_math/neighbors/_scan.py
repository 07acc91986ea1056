"""Candidates for the k nearest, collected from a tile of products."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array, Indices

# Queries (as rows of the tile), reference points (as its columns), values of h.
Candidates = tuple[Indices, Indices, Array]


def scan(
    H: NDArray,
    k: int,
    bound: Array,
    minima: NDArray | None,
    limit: Callable[[], Array],
) -> Candidates:
    """Return entries of a tile that may belong to a neighbor, by row, then column.

    `bound` (a value that k entries of the row do not exceed) and `minima` (of the
    column groups, over the tiles so far) are tightened in place; without minima the
    bound is taken as it is. The k-th smallest of the minima is at least the k-th
    smallest value and, with many more groups than neighbors, hardly ever much larger.
    Of n groups, column ``j`` belongs to group ``j % n``; columns after the last whole
    round of groups are left out of the minima, which can only loosen the bound.
    `limit` returns the largest value that a neighbor can have.
    """
    if minima is not None:
        np.minimum(minima, group_minima(H, minima.shape[1]), out=minima)
        kth = np.partition(minima, k - 1, axis=1)[:, k - 1]
        np.minimum(bound, kth, out=bound)
    return near_enough(H, round_up(limit(), H.dtype))


def near_enough(H: NDArray, limit: NDArray) -> Candidates:
    """Return entries that do not exceed the limit of their row, by row, then column."""
    flat = np.flatnonzero(limit[:, None] >= H)
    rows, columns = np.divmod(flat, H.shape[1])
    return rows, columns, H.ravel()[flat].astype(np.float64)


def group_minima(H: NDArray, groups: int) -> NDArray:
    """Return the smallest value of each column group; see :func:`scan`."""
    whole = H.shape[1] - H.shape[1] % groups
    stacked = H[:, :whole].reshape(H.shape[0], -1, groups)
    return stacked.min(axis=1, initial=np.inf)


def kth_smallest(H: NDArray, k: int, groups: int) -> NDArray:
    """Return a close upper bound of the k-th smallest value of each row."""
    least = group_minima(H, groups) if H.shape[1] >= 2 * groups else H
    return np.partition(least, k - 1, axis=1)[:, k - 1]


def round_up(values: Array, dtype: np.dtype) -> NDArray:
    """Round up to a narrower type."""
    narrow = values.astype(dtype)
    return np.where(narrow < values, np.nextafter(narrow, dtype.type(np.inf)), narrow)


def by_row(rows: Indices, values: Array) -> Indices:
    """Return the positions of values by row, ascending in each row."""
    # Complex numbers are ordered by both parts, in a third of the time of a lexsort.
    key = np.empty(rows.size, dtype=np.complex128)
    key.real, key.imag = rows, values
    return np.argsort(key)


def keep_nearest(
    best: Array, nearest: Indices, rows: Indices, columns: Indices, squared: Array
) -> None:
    """Merge candidates into the k nearest so far, by (distance, index), in place."""
    n, k = best.shape
    counts = np.bincount(rows, minlength=n)
    if counts.min() < k or np.isfinite(best[:, 0]).any():
        rows = np.concatenate([np.repeat(np.arange(n), k), rows])
        columns = np.concatenate([nearest.ravel(), columns])
        squared = np.concatenate([best.ravel(), squared])
        counts += k
    order = by_row(rows, squared)
    ordered = squared[order]
    tied = ordered[1:] == ordered[:-1]
    if tied.any() and (np.diff(rows[order])[tied] == 0).any():
        order = np.lexsort((columns, squared, rows))
    first = order[(np.cumsum(counts) - counts)[:, None] + np.arange(k)]
    best[:] = squared[first]
    nearest[:] = columns[first]
