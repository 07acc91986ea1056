"""Exact search in few dimensions, with a shortlist from a tree."""

# SPDX-License-Identifier: BSD-3-Clause

from functools import partial

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from partlearn._math.neighbors._distances import pair_distances
from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices

MOST_DIMENSIONS = 6  # beyond them a blocked product is as fast or faster
_ROUNDING = 1e-9  # far above what the distances of a tree are off by, relatively

Found = tuple[Array, Indices]


def tree_neighbors(
    Z: NDArray, Q: NDArray, k: int, *, exclude_self: bool, n_jobs: int | None = None
) -> Found | None:
    """Return squared distances and indices of the `k` nearest rows.

    None if so many points lie at equal distances that a tree does not help.
    """
    n, m = Q.shape[0], Z.shape[0]
    workers = effective_n_jobs(n_jobs)
    tree = cKDTree(Z, balanced_tree=False)  # medians would be slow with duplicates
    # One more than needed tells how far all others are at least.
    wanted = min(k + int(exclude_self) + 1, m)
    # Queries that lie side by side find the same part of the tree in the cache.
    order = (tree if Q is Z else cKDTree(Q, balanced_tree=False)).indices
    reach, near = np.empty((n, wanted)), np.empty((n, wanted), dtype=np.int64)
    answers = tree.query(Q[order], wanted, workers=workers)
    reach[order], near[order] = (part.reshape(n, wanted) for part in answers)
    squared = pair_distances(Q, np.repeat(np.arange(n), wanted), Z, near.ravel())
    squared = squared.reshape(n, wanted)
    if exclude_self:
        squared[near == np.arange(n)[:, None]] = np.inf
    order = np.lexsort((near, squared))[:, :k]
    squared = np.take_along_axis(squared, order, axis=1)
    near = np.take_along_axis(near, order, axis=1)
    # Where others may be as near as the last, all that are have to be ranked.
    border = np.square(reach[:, -1])
    unsure = np.flatnonzero(squared[:, -1] >= border * (1 - _ROUNDING))
    if wanted == m or not unsure.size:
        return squared, near
    radius = np.sqrt(squared[unsure, -1]) * (1 + _ROUNDING)
    within = partial(tree.query_ball_point, Q[unsure], radius, workers=workers)
    if within(return_length=True).sum() > SIZES.tree_ties * n:
        return None
    for row, ball in zip(unsure, within(), strict=True):
        columns = np.sort(ball)
        if exclude_self:
            columns = columns[columns != row]
        tied = pair_distances(Q, np.full(columns.size, row), Z, columns)
        order = np.argsort(tied, kind="stable")[:k]
        squared[row], near[row] = tied[order], columns[order]
    return squared, near
