"""Distances of rows from the training rows of a model."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from partlearn._typing import Array, Mask

_SHRINK = 0.1  # share of the mean variance added to every direction
_QUANTILE = 0.999  # of the training rows lie below the threshold before slack
_SLACK = 1.5


@dataclass(frozen=True)
class Familiarity:
    """Center and spread of the training rows, and a threshold for unusual distances."""

    mean: Array
    whitening: Array
    threshold: float

    def is_far(self, Z: Array) -> Mask:
        """Return a mask of rows that lie farther out than nearly all training rows."""
        return distances(Z, self.mean, self.whitening) > self.threshold


def distances(Z: Array, mean: Array, whitening: Array) -> Array:
    """Return Mahalanobis distances from the mean."""
    return np.asarray(np.linalg.norm((Z - mean) @ whitening, axis=1))


def learn_familiarity(Z: Array) -> Familiarity:
    """Measure the spread of training rows, with memory for one d x d matrix."""
    mean = Z.mean(axis=0)
    C = Z - mean
    freedom, d = max(1, len(Z) - 1), len(mean)
    level = max(float(np.square(C).sum()) / freedom / d, np.finfo(float).tiny)
    if len(Z) < d:  # the other directions have no spread: any basis of them will do
        vectors, triangle = qr(C.T)
        turned, singular, _ = np.linalg.svd(triangle[: len(Z)])
        vectors[:, : len(Z)] = vectors[:, : len(Z)] @ turned
        values = np.zeros(d)
        values[: len(Z)] = np.square(singular) / freedom
    else:
        values, vectors = np.linalg.eigh(C.T @ C / freedom)
    whitening = vectors / np.sqrt(np.maximum(values, 0) + _SHRINK * level)
    reach = np.quantile(distances(Z, mean, whitening), _QUANTILE)
    return Familiarity(mean, whitening, float(_SLACK * reach))
