"""Blocks E and F: experts on each row's label, and their pools.

No expert uses the label of the row itself. Their weights maximize the likelihood of the
evidence ``L``: the candidate matrix, or any matrix of non-negative weights,
proportional to the likelihood of the observed annotation under each label.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from partlearn._array_api import (
    array_device,
    at_least,
    like,
    namespace,
    row_dots,
    softmax,
    take,
    to_numpy,
)
from partlearn._math.crossfit._embedding import MASS_FLOOR, class_means
from partlearn._math.graphs import TiedNeighbors, vote
from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices, Mask

_LEAST = 1e-3  # what a regression's estimate of a confidence is clipped at
_EM_ROUNDS = 15
_LARGEST = 5.0  # bound of a log-linear weight
_PENALTY = 1e-3  # of the squared distance to equal weights
_STEPS = 50


def unit_rows(Z: Array) -> Array:
    """Scale rows to length one; zero rows stay zero."""
    xp = namespace(Z)
    norm = xp.linalg.vector_norm(Z, axis=1, keepdims=True)
    return Z / xp.where(norm > 0, norm, 1.0)


def smooth(P: Array) -> Array:
    """Mix with one percent of uniform probabilities, so that no label is excluded."""
    return 0.99 * P + 0.01 / P.shape[1]


def neighbor_expert(F: Array, neighbors: Indices | TiedNeighbors) -> Array:
    """Experts 1, 2 and 4: confidences of the neighbors, the nearest with most weight.

    Source: CRISP, block E.
    """
    if isinstance(neighbors, TiedNeighbors):
        V = neighbors(F)
    else:
        V = vote(F, neighbors, "rank")
    return vote_expert(V)


def vote_expert(V: Array) -> Array:
    """Expert of the neighbors of some rows, from sums over their neighbors."""
    total = namespace(V).sum(V, axis=1, keepdims=True)
    return smooth(V / total)


def label_share(F: Array) -> Array:
    """Return the share of each label in the confidences, (q,), always positive."""
    mass = namespace(F).sum(F, axis=0)
    return at_least(mass, MASS_FLOOR) / F.shape[0]


def gaussian_expert(Z: Array, F: Array) -> Array:
    """Expert 3: posterior of round classes of variance one.

    Source: CRISP, block E.

    The mean of each label is computed without the row:
    ``z - mean_without = (z - mean) n / (n - own)``.
    """
    xp = namespace(Z, F)
    mass = xp.sum(F, axis=0)
    D = _squared_distances(Z, class_means(Z, F))
    D *= xp.square(mass / at_least(mass - F, 0.5))
    return _posterior(D, label_share(F))


def gaussian_confidence(Z: Array, means: Array, share: Array) -> Array:
    """Return the posterior of expert 3 for new rows.

    No row has to be taken out of the class `means` (q, p), those of the held-out
    embedding of the training rows; `share` (q,) are the shares of the labels.
    """
    return _posterior(_squared_distances(Z, means), share)


def _squared_distances(Z: Array, means: Array) -> Array:
    xp = namespace(Z, means)
    D = (
        xp.sum(xp.square(Z), axis=1)[:, None]
        - 2 * Z @ means.T
        + xp.sum(xp.square(means), axis=1)
    )
    return at_least(D, 0.0, overwrite=True)


def _posterior(D: Array, share: Array) -> Array:
    return smooth(softmax(namespace(D).log(share) - D / 2))


def regression_confidence(scores: Array, share: Array) -> Array:
    """Return the estimates of confidences by the regression itself.

    Source: CRISPClassifier, expert of the regression.

    They are ``scores sqrt(share) + share``, clipped below, normalized and smoothed, for
    held-out `scores` (n, q) of training rows or scores of new rows, and the share of
    each label.
    """
    xp = namespace(scores, share)
    P = at_least(scores * xp.sqrt(share) + share, _LEAST)
    return smooth(P / xp.sum(P, axis=1, keepdims=True))


def mixture_weights(experts: Sequence[Array], L: Mask | Array) -> tuple[Array, float]:
    """Return the weights of the mixture that best expects the evidence, by EM.

    Source: CRISP, block F.

    They sum to one. The mean log-likelihood of the evidence `L` (m, q) under the
    mixture is returned, too.
    """
    xp = namespace(*experts)
    hits = xp.stack([row_dots(P, L) for P in experts])
    n = hits.shape[0]
    weights = xp.full(n, 1 / n, dtype=hits.dtype, device=array_device(hits))
    for _ in range(_EM_ROUNDS):
        share = weights[:, None] * hits
        weights = xp.mean(share / xp.sum(share, axis=0), axis=1)
    return weights, float(xp.mean(xp.log(weights @ hits)))


def linear_pool(experts: Sequence[Array], weights: Array) -> Array:
    """Mixture ``sum_e a_e p_e``, shape (m, q)."""
    numbers = to_numpy(weights).tolist()
    return sum(a * P for a, P in zip(numbers, experts, strict=True))


def log_linear_pool(experts: Sequence[Array], weights: Array) -> Array:
    """``p`` proportional to ``exp(sum_e w_e log p_e)``, shape (m, q)."""
    xp = namespace(*experts)
    numbers = to_numpy(weights).tolist()
    logits = sum(w * xp.log(P) for w, P in zip(numbers, experts, strict=True))
    return softmax(logits)


def log_linear_objective(weights: Array, logs: Array, L: Array) -> tuple[float, Array]:
    """Penalized mean log-likelihood of the evidence under the log-linear pool.

    Parameters
    ----------
    weights : ndarray of shape (n_experts,)
        Weights ``w``.
    logs : ndarray of shape (n_experts, m * q)
        Logarithms of the experts' probabilities.
    L : ndarray of shape (m, q)
        Evidence.

    Returns
    -------
    value : float
        ``mean_i log(sum_j L_ij p_ij(w)) - 1e-3 |w - 1/E|^2``.
    gradient : ndarray of shape (n_experts,)
        Its gradient: for each expert, the mean over the rows of its expected log
        probability given the evidence, less the expectation without it.
    """
    xp, m = namespace(logs, L), L.shape[0]
    P = softmax(xp.reshape(like(weights, logs) @ logs, L.shape))
    hits = L * P
    likelihood = xp.sum(hits, axis=1)
    hits /= likelihood[:, None]
    hits -= P
    apart = weights - 1 / len(weights)
    value = float(xp.mean(xp.log(likelihood))) - _PENALTY * (apart @ apart)
    gradient = to_numpy(logs @ xp.reshape(hits, (-1,))) / m - 2 * _PENALTY * apart
    return float(value), gradient


def log_linear_weights(
    experts: Sequence[Array], L: Array, start: Array | None = None
) -> Array:
    """Estimate the weights of the log-linear pool by the likelihood of the evidence.

    Source: CRISPClassifier, log-linear weights of the experts.

    Parameters
    ----------
    experts : sequence of ndarray of shape (m, q)
        Positive probabilities of each expert.
    L : ndarray of shape (m, q)
        Evidence.
    start : ndarray of shape (n_experts,), default=None
        Start; equal weights by default.

    Returns
    -------
    weights : ndarray of shape (n_experts,)
        Between 0 and 5; they need not sum to one. For more than 25,000 rows, a sample
        of 25,000 is used.
    """
    E = len(experts)
    xp = namespace(*experts)
    if L.shape[0] > SIZES.pool_rows:
        some = np.sort(
            np.random.RandomState(0).permutation(L.shape[0])[: SIZES.pool_rows]
        )
        experts, L = [take(P, some) for P in experts], take(L, some)
    logs = xp.log(xp.stack([xp.reshape(P, (-1,)) for P in experts]))

    def loss(weights: Array) -> tuple[float, Array]:
        value, gradient = log_linear_objective(weights, logs, L)
        return -value, -gradient

    solution = minimize(
        loss,
        np.full(E, 1 / E) if start is None else start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, _LARGEST)] * E,
        options={"maxiter": _STEPS},
    )
    return solution.x


def pooled_confidence(
    experts: Sequence[Array], linear: Array, log_linear: Array
) -> Array:
    """Return the geometric mean of both pools, normalized.

    Source: CRISPClassifier, pool of the experts.
    """
    M = linear_pool(experts, linear) * log_linear_pool(experts, log_linear)
    xp = namespace(M)
    M = xp.sqrt(M)
    M /= xp.sum(M, axis=1, keepdims=True)
    return M
