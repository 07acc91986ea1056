"""Block E: experts on each row's label, none of which is told the row's own label."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from partlearn.crossfit._embedding import MASS_FLOOR, class_means
from partlearn.graphs import vote

__all__ = ["gaussian_expert", "rank_vote", "smooth", "unit_rows"]

Array = NDArray[np.float64]


def unit_rows(Z: Array) -> Array:
    """Scale rows to length one; zero rows stay zero."""
    norm = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(norm > 0, norm, 1.0)


def smooth(P: Array) -> Array:
    """Keep a hundredth of the belief for all labels alike, so that none is excluded."""
    return 0.99 * P + 0.01 / P.shape[1]


def rank_vote(F: Array, neighbors: NDArray[np.int64]) -> Array:
    """Experts 1, 2 and 4: confidences of the neighbours, the nearest weighing most.

    Source: CRISP, block E.
    """
    V = vote(F, neighbors, "rank")
    total = V.sum(axis=1, keepdims=True)
    return smooth(V / total)


def gaussian_expert(Z: Array, F: Array) -> Array:
    """Expert 3: posterior of round classes of variance one.

    Source: CRISP, block E.

    A row is taken out of the mean of each label before it is compared with it:
    ``z - mean_without = (z - mean) n / (n - own)``.
    """
    mass = F.sum(axis=0)
    means = class_means(Z, F)
    D = (
        np.square(Z).sum(axis=1)[:, None]
        - 2 * Z @ means.T
        + np.square(means).sum(axis=1)
    )
    np.maximum(D, 0.0, out=D)
    D *= np.square(mass / np.maximum(mass - F, 0.5))
    prior = np.log(np.maximum(mass, MASS_FLOOR) / len(Z))
    posterior: Array = softmax(prior - D / 2, axis=1)
    return smooth(posterior)
