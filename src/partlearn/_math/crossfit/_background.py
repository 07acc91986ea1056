"""The background of CRISP: leading principal components beside the discriminants."""

# SPDX-License-Identifier: BSD-3-Clause

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._array_api import namespace, row_dots, take, to_numpy
from partlearn._math.crossfit._experts import neighbor_expert
from partlearn._math.crossfit._iterations import NeighborSearch
from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices

BACKGROUND_GRID = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
_NEIGHBORS = 10


def background_size(s: Array, total: float, n_classes: int) -> int:
    """Count principal components for 95 % of the variance, at most classes less one."""
    share = np.cumsum(to_numpy(s) ** 2) / total
    enough = int(np.searchsorted(share, 0.95 - 1e-12)) + 1
    return min(enough, max(2, n_classes - 1), s.shape[0])


def mean_norm(Z: Array) -> float:
    """Return the root mean square length of the rows, by which a part is scaled.

    One if all rows are zero; for two rows rounding decides whether they are.
    """
    xp = namespace(Z)
    return sqrt(float(xp.mean(xp.sum(xp.square(Z), axis=1)))) or 1.0


def mixed(Z: Array, G: Array, w: float) -> Array:
    """Join both parts; squared distances are ``(1-w) D_Z + w D_G``."""
    if w == 0:
        return Z / mean_norm(Z)
    if w == 1:
        return G / mean_norm(G)
    left, right = sqrt(1 - w) / mean_norm(Z), sqrt(w) / mean_norm(G)
    return namespace(Z, G).concat([left * Z, right * G], axis=1)


def background_weight(
    Z: Array,
    G: Array,
    F: Array,
    S: NDArray[Any],
    search: NeighborSearch,
    order: Indices,
) -> float:
    """Return the smallest weight of the background that is good enough.

    It expects the candidates `S` (m, q) within one paired standard error of the best of
    the grid. `Z` (m, p) is the cross-fitted embedding, `G` (m, a) are the leading
    principal components, and the first 10,000 rows of the random `order` decide.
    """
    rows = None
    if Z.shape[0] > SIZES.background_rows:
        rows = np.sort(order[: SIZES.background_rows])
        S = take(S, rows)
    xp, fit = namespace(F), []
    for w in BACKGROUND_GRID:
        near = search(mixed(Z, G, w), _NEIGHBORS, "background", rows)
        fit.append(xp.log(row_dots(neighbor_expert(F, near), S)))
    best = fit[int(np.argmax([float(xp.mean(L)) for L in fit]))]

    def good(L: Array) -> bool:
        loss = best - L
        return float(xp.mean(loss)) <= float(xp.std(loss)) / sqrt(L.shape[0])

    # The best loses nothing to itself, so there is always one.
    return next(w for w, L in zip(BACKGROUND_GRID, fit, strict=True) if good(L))
