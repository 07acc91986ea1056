"""The background of CRISP: leading principal components beside the discriminants."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn.decomposition._crisp_experts import rank_vote
from partlearn.neighbors import query_neighbors

__all__ = [
    "BACKGROUND_GRID",
    "BACKGROUND_ROWS",
    "background_size",
    "choose_background",
    "mean_norm",
    "neighbors_of",
]

BACKGROUND_GRID = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
BACKGROUND_ROWS = 10_000  # rows that are asked, of more than that a random part

Array = NDArray[np.float64]


def background_size(s: Array, total: float, n_classes: int) -> int:
    """Principal components for 95 % of the variance, no more than classes less one."""
    share = np.cumsum(s**2) / total
    enough = int(np.searchsorted(share, 0.95 - 1e-12)) + 1
    return min(enough, max(2, n_classes - 1), len(s))


def mean_norm(Z: Array) -> float:
    """Root of the mean squared length of the rows, by which a part is scaled."""
    return float(np.sqrt(np.square(Z).sum(axis=1).mean()))


def mixed(Z: Array, G: Array, w: float) -> Array:
    """Both parts side by side: squared distances are ``(1-w) D_Z + w D_G``."""
    if w == 0:
        return Z / mean_norm(Z)
    if w == 1:
        return G / mean_norm(G)
    left, right = np.sqrt(1 - w) / mean_norm(Z), np.sqrt(w) / mean_norm(G)
    return np.hstack([left * Z, right * G])


def neighbors_of(
    Z: Array, rows: NDArray[np.intp], k: int, search: Any, n_jobs: int | None
) -> NDArray[np.int64]:
    """Nearest other rows of some rows of `Z`, the row itself excluded by its index."""
    _, found = query_neighbors(Z, Z[rows], k + 1, search=search, n_jobs=n_jobs)
    own = found == rows[:, None]
    own[~own.any(axis=1), -1] = True  # hidden behind duplicates: drop the farthest
    return found[~own].reshape(len(rows), -1)


def choose_background(
    Z: Array,
    G: Array,
    F: Array,
    S: NDArray[np.bool_],
    neighbors: Callable[[Array], NDArray[np.int64]],
    rows: NDArray[np.intp] | None = None,
) -> float:
    """Smallest weight of the background whose votes expect the candidates well enough.

    Parameters
    ----------
    Z : ndarray of shape (m, p)
        Cross-fitted embedding.
    G : ndarray of shape (m, a)
        Leading principal components.
    F, S : ndarray of shape (m, q)
        Confidences and candidates.
    neighbors : callable
        Gives the nearest other rows of each row of an array, or of those in `rows`.
    rows : ndarray of int, default=None
        Rows whose candidates decide; all by default.

    Returns
    -------
    w : float
        Within one paired standard error of the best of the grid.
    """
    S = S if rows is None else S[rows]
    fit = []
    for w in BACKGROUND_GRID:
        P = rank_vote(F, neighbors(mixed(Z, G, w)))
        fit.append(np.log(np.einsum("ij,ij->i", P, S)))
    best = fit[int(np.argmax([L.mean() for L in fit]))]

    def good(L: Array) -> bool:
        loss = best - L
        return bool(loss.mean() <= loss.std() / np.sqrt(len(L)))

    # The best loses nothing to itself, so there is always one.
    return next(w for w, L in zip(BACKGROUND_GRID, fit, strict=True) if good(L))
