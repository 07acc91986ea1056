"""Blocks D to F of CRISP: rotation, experts on each row's label, their mixture."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.special import softmax

from partlearn.candidates import vote

__all__ = [
    "class_means",
    "gaussian_expert",
    "mixture_weights",
    "rank_vote",
    "rotation",
    "smooth",
    "unit_rows",
    "within_scatter",
]

_EPS = 1e-2  # ridge of the within-class scatter, as a share of its mean eigenvalue
_FLOOR = 1e-9  # mass of a label that no row believes in
_EM_ROUNDS = 15

Array = NDArray[np.float64]


def class_means(Z: Array, F: Array) -> Array:
    """Mean of the rows of `Z` weighted by their confidence in each label, (q, p)."""
    return (F.T @ Z) / np.maximum(F.sum(axis=0), _FLOOR)[:, None]


def within_scatter(Z: Array, F: Array) -> Array:
    """Scatter of the rows of `Z` around the means of their labels, (p, p)."""
    e = Z - Z.mean(axis=0)
    means = class_means(e, F)
    return (e.T @ e - (means.T * F.sum(axis=0)) @ means) / len(Z)


def rotation(Y: Array, F: Array, held_out: Array, second: Array) -> tuple[Array, Array]:
    """Block D: directions of the score space in which held-out scores carry signal.

    Parameters
    ----------
    Y : ndarray of shape (m, q)
        Targets.
    F : ndarray of shape (m, q)
        Confidences.
    held_out : ndarray of shape (m, q)
        Cross-fitted scores.
    second : ndarray of shape (q, q)
        Second moments ``E'E / m`` of the in-sample scores.

    Returns
    -------
    R : ndarray of shape (q, p)
        Directions, most signal first; the within-class variance along each is one.
    values : ndarray of shape (p,)
        Signal along each direction.

    Notes
    -----
    The signal is the *signed* product of targets and held-out scores. Where a
    direction has none, a held-out score is a small negative multiple of the row's own
    target: its product is negative and the direction is dropped. The square of the
    held-out scores cannot tell, and discriminant analysis of it would choose exactly
    these directions, since the within-class scatter is tiny there.
    """
    m, q = Y.shape
    C = Y.T @ held_out
    C = (C + C.T) / (2 * m)
    size, basis = scipy.linalg.eigh((second + second.T) / 2, check_finite=False)
    if size[-1] <= 0:
        raise ValueError("No direction of the data depends on the labels.")
    Q = basis[:, size > 1e-8 * size[-1]]
    W = Q.T @ within_scatter(held_out, F) @ Q
    W = (W + W.T) / 2
    W.flat[:: W.shape[0] + 1] += max(_EPS * np.trace(W) / len(W), np.finfo(float).tiny)
    values, vectors = scipy.linalg.eigh(Q.T @ C @ Q, W, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = int(np.count_nonzero(values > 1e-6 * values[0])) if values[0] > 0 else 1
    kept = min(kept, q - 1)
    return Q @ vectors[:, :kept], values[:kept]


def unit_rows(Z: Array) -> Array:
    """Scale rows to length one; zero rows stay zero."""
    norm = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(norm > 0, norm, 1.0)


def smooth(P: Array) -> Array:
    """Keep a hundredth of the belief for all labels alike, so that none is excluded."""
    return 0.99 * P + 0.01 / P.shape[1]


def rank_vote(F: Array, neighbors: NDArray[np.int64]) -> Array:
    """Experts 1, 2 and 4: confidences of the neighbours, the nearest weighing most."""
    V = vote(F, neighbors, "rank")
    total = V.sum(axis=1, keepdims=True)
    return smooth(V / total)


def gaussian_expert(Z: Array, F: Array) -> Array:
    """Expert 3: posterior of round classes of variance one.

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
    prior = np.log(np.maximum(mass, _FLOOR) / len(Z))
    posterior: Array = softmax(prior - D / 2, axis=1)
    return smooth(posterior)


def mixture_weights(
    experts: Sequence[Array], S: NDArray[np.bool_]
) -> tuple[Array, float]:
    """Block F: weights under which the experts best expect the candidate sets.

    Parameters
    ----------
    experts : sequence of ndarray of shape (m, q)
        Beliefs of each expert.
    S : ndarray of bool, shape (m, q)
        Candidates.

    Returns
    -------
    weights : ndarray of shape (n_experts,)
        Weights that sum to one, after a fixed number of EM rounds.
    likelihood : float
        Mean log-likelihood of the candidate sets under the mixture.
    """
    hits = np.stack([np.einsum("ij,ij->i", P, S) for P in experts])
    weights = np.full(len(hits), 1 / len(hits))
    for _ in range(_EM_ROUNDS):
        share = weights[:, None] * hits
        weights = (share / share.sum(axis=0)).mean(axis=1)
    return weights, float(np.log(weights @ hits).mean())
