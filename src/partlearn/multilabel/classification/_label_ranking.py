"""Ranking of labels weighted by confidences: what PML-LC and PML-FP share.

Per row, a candidate ``j`` should score at least one above a label ``m`` that is none,
weighted by its confidence. The sum over all pairs of labels is computed without listing
pairs: in the order of scores, what a label owes to all labels on its wrong side is a
quadratic in its own score whose coefficients are running sums.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from partlearn._typing import Array, Mask
from partlearn.linalg import Standardized
from partlearn.simplex import project_simplex

_BLOCK = 1 << 18  # scores sorted at a time, to stay in cache
_FEW = 8  # candidates a row up to which direct sums are faster
_WIDTH = 0.01  # over which the plain hinge is rounded off


class PairWeights(NamedTuple):
    """How much each label should be above, and how much below, the others, (n, l)."""

    up: Array
    down: Array


def pair_weights(P: Array, C: Mask, pairs: str = "candidates") -> PairWeights:
    """Weights of the pairs of labels.

    Parameters
    ----------
    P : ndarray of shape (n, l)
        Confidences.
    C : ndarray of bool, shape (n, l)
        Candidates.
    pairs : {"candidates", "all"}, default="candidates"
        Each candidate against each non-candidate, with weight ``P_j / |not S|``; or
        all pairs, with weight ``P_j (1 - P_m) / (l - 1)``.

    Returns
    -------
    weights : PairWeights
        Factors of the weights.
    """
    if pairs == "all":
        return PairWeights(P, (1 - P) / max(1, C.shape[1] - 1))
    N = ~C
    return PairWeights(P, N / np.maximum(N.sum(axis=1, keepdims=True), 1))


def pair_loss(z: Array, loss: str) -> Array:
    """Loss of ``z = 1 - f_j + f_m``; the plain hinge is round up to 0.01."""
    squared = np.maximum(z, 0) ** 2
    if loss == "squared_hinge":
        return squared
    # z²/2w up to w and z - w/2 beyond is the difference of two squared hinges.
    return (squared - np.maximum(z - _WIDTH, 0) ** 2) / (2 * _WIDTH)


def ranking_costs(
    F: Array, weights: PairWeights, C: Mask | None, loss: str = "squared_hinge"
) -> tuple[Array, Array]:
    """Sum a pairwise loss over all pairs of labels of each row.

    Source: PMLLC, ranking loss.
    Source: PMLFP, ranking loss.

    Parameters
    ----------
    F : ndarray of shape (n, l)
        Scores.
    weights : PairWeights
        Weights, from `pair_weights`.
    C : ndarray of bool, shape (n, l), or None
        Candidates, where only they are to be above and only others below; None where
        any label may be either.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        ``max(0, 1 - f_j + f_m)``, squared or, rounded off at its kink, not.

    Returns
    -------
    costs : ndarray of shape (n, l)
        ``sum_m down_m loss(f_j, f_m)``, what it costs that label j is not above; zero
        outside `C`.
    gradient : ndarray of shape (n, l)
        Derivative of ``sum_j up_j costs_j`` by the scores.
    """
    squared: Callable[..., tuple[Array, Array]] = _in_order
    if C is None:
        squared = _every_pair
    elif np.count_nonzero(C) < _FEW * len(C):
        squared = _candidate_by_candidate
    if loss == "squared_hinge":
        return squared(F, weights, C, 1.0)
    # The difference that `pair_loss` speaks of, for all pairs.
    near, far = squared(F, weights, C, 1.0), squared(F, weights, C, 1.0 - _WIDTH)
    costs, gradient = ((a - b) / (2 * _WIDTH) for a, b in zip(near, far, strict=True))
    return costs, gradient


def _candidate_by_candidate(
    F: Array, weights: PairWeights, C: Mask, margin: float
) -> tuple[Array, Array]:
    """Direct sums, O(l) for every candidate: for small candidate sets."""
    costs, gradient = np.zeros(F.shape), np.zeros(F.shape)
    for rows in _row_blocks(F):
        f, c, g = F[rows], costs[rows], gradient[rows]
        up, down = weights.up[rows], weights.down[rows]
        for j, column in enumerate(C[rows].T):
            r = np.flatnonzero(column)
            slack = np.maximum(f[r] + (margin - f[r, j])[:, None], 0)
            pull = slack * down[r]
            c[r, j] = np.einsum("ij,ij->i", slack, pull)
            pull *= 2 * up[r, j][:, None]
            g[r] += pull
            g[r, j] -= pull.sum(axis=1)
    return costs, gradient


def _in_order(
    F: Array, weights: PairWeights, C: Mask, margin: float
) -> tuple[Array, Array]:
    """Running sums in the order of scores, O(l log l) a row."""
    costs, gradient = np.empty(F.shape), np.empty(F.shape)
    for rows in _row_blocks(F):
        f, up, down = F[rows], weights.up[rows], weights.down[rows]
        c, gradient[rows] = _sums(f, f - margin * C[rows], up, down, margin)
        costs[rows] = c * C[rows]
    return costs, gradient


def _every_pair(
    F: Array, weights: PairWeights, C: None, margin: float
) -> tuple[Array, Array]:
    """The same where a label stands twice in the order: to be above, and below."""
    costs, gradient = np.empty(F.shape), np.empty(F.shape)
    l = F.shape[1]  # noqa: E741
    for rows in _row_blocks(F):
        f, up, down = F[rows], weights.up[rows], weights.down[rows]
        zero = np.zeros_like(f)
        c, g = _sums(
            np.hstack([f, f]),
            np.hstack([f - margin, f]),
            np.hstack([up, zero]),
            np.hstack([zero, down]),
            margin,
        )
        costs[rows] = c[:, :l] - margin**2 * down  # no pair of a label with itself
        gradient[rows] = g[:, :l] + g[:, l:]
    return costs, gradient


def _row_blocks(F: Array) -> Iterator[slice]:
    step = max(1, _BLOCK // max(1, F.shape[1]))
    for start in range(0, len(F), step):
        yield slice(start, start + step)


def _sums(
    f: Array, key: Array, up: Array, down: Array, margin: float
) -> tuple[Array, Array]:
    """Costs and gradient by running sums; in the order of `key`, pairs that cost."""
    order = np.argsort(-key, axis=1)
    # Differences are what counts; small numbers cancel less.
    f = f - f.mean(axis=1, keepdims=True)
    f, up, down = (np.take_along_axis(A, order, axis=1) for A in (f, up, down))
    # Labels to be below that come earlier: sums of down (margin - f_j + f_m)^0, 1, 2.
    a, weighted = margin - f, down * f
    s0, s1 = np.cumsum(down, axis=1), np.cumsum(weighted, axis=1)
    s2 = np.cumsum(weighted * f, axis=1)
    slope = a * s0 + s1
    costs = a * (slope + s1) + s2
    # Labels to be above that come later: sums of up (margin + f_m - f_j)^0, 1.
    t0, t1 = (np.cumsum(A[:, ::-1], axis=1)[:, ::-1] for A in (up, up * f))
    gradient = 2 * (down * ((margin + f) * t0 - t1) - up * slope)
    back = np.empty_like(order)
    np.put_along_axis(back, order, np.arange(order.shape[1])[None, :], axis=1)
    return (
        np.take_along_axis(costs, back, axis=1),
        np.take_along_axis(gradient, back, axis=1),
    )


def fit_scorer(
    X: Standardized,
    C: Mask | None,
    weights: PairWeights,
    W: Array,
    b: Array,
    c1: float,
    *,
    loss: str = "squared_hinge",
    max_iter: int = 100,
    tol: float = 1e-6,
) -> tuple[Array, Array]:
    """Minimise ``|W|² / 2 + c1 / n sum up_ij costs_ij`` over weights and intercepts.

    Parameters
    ----------
    X : Standardized, shape (n, d)
        Features.
    C : ndarray of bool, shape (n, l), or None
        As in `ranking_costs`.
    weights : PairWeights
        Weights of the pairs.
    W, b : ndarray of shape (d, l) and (l,)
        Where to start.
    c1 : float
        Weight of the loss.
    loss : str, default="squared_hinge"
        As in `ranking_costs`.
    max_iter : int, default=100
        Maximum number of iterations of L-BFGS.
    tol : float, default=1e-6
        Stop when the relative change of the objective is below `tol`.

    Returns
    -------
    W, b : ndarray of shape (d, l) and (l,)
        The minimiser.
    """
    n, d = X.shape
    l = len(b)  # noqa: E741

    def objective(theta: Array) -> tuple[float, Array]:
        W, b = theta[: d * l].reshape(d, l), theta[d * l :]
        costs, gradient = ranking_costs(X @ W + b, weights, C, loss)
        value = np.vdot(W, W) / 2 + c1 / n * np.vdot(weights.up, costs)
        gradient *= c1 / n
        slope = W + X.transposed_matmul(gradient)
        return float(value), np.concatenate([slope.ravel(), gradient.sum(axis=0)])

    optimum = minimize(
        objective,
        np.concatenate([W.ravel(), b]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": 3 * max_iter, "ftol": tol},
    )
    theta = optimum.x
    return theta[: d * l].reshape(d, l), theta[d * l :]


def project_confidences(V: Array, C: Mask) -> Array:
    """Nearest confidences: in [0, 1], zero outside the candidates, rows at least one.

    Parameters
    ----------
    V : ndarray of shape (n, l)
        Points to project.
    C : ndarray of bool, shape (n, l)
        Candidates; no row is empty.

    Returns
    -------
    P : ndarray of shape (n, l)
        The projection.
    """
    P = np.clip(V, 0, 1) * C
    # Where the cut row is short of one, the sum is one, which keeps entries below one.
    short = np.flatnonzero(P.sum(axis=1) < 1)
    if short.size:
        P[short] = project_simplex(V[short], C[short])
    return P
