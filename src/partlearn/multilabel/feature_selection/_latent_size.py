"""How many latent directions the data suggest: clusters that OPTICS finds."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import OPTICS

__all__ = ["optics_clusters"]

_MIN_SAMPLES = 5


def optics_clusters(
    X: Any,
    rng: np.random.RandomState,
    *,
    max_samples: int | None = 2000,
) -> int:
    """Number of clusters that OPTICS finds, noise not counted.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Features.
    rng : RandomState
        Draws the points where there are more than `max_samples`.
    max_samples : int or None, default=2000
        Most points; the cost grows with their square.

    Returns
    -------
    k : int
        Number of clusters, 0 where all points are noise.
    """
    n = X.shape[0]
    if n < _MIN_SAMPLES:
        return 0
    if max_samples is not None and n > max_samples:
        X = X[np.sort(rng.choice(n, max_samples, replace=False))]
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        # Duplicates divide by a distance of zero, which is fine here: fewer clusters.
        warnings.simplefilter("ignore", RuntimeWarning)
        model = OPTICS(
            min_samples=_MIN_SAMPLES,
            xi=0.05,
            min_cluster_size=0.01,
            metric="euclidean" if hasattr(X, "tocsr") else "minkowski",
        ).fit(X)
    return len(np.setdiff1d(model.labels_, [-1]))
