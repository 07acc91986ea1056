"""Alternation between a label ranker and its confidences.

In each row, a candidate ``j`` should score at least one above every other label ``m``,
weighted by its confidence. The sum over all pairs of labels is computed in the order of
scores: the cost of a label is a quadratic in its own score, and its coefficients are
running sums.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from partlearn._math.linalg import standardize
from partlearn._math.simplex import project_simplex
from partlearn._progress import iterations
from partlearn._sizes import SIZES, spans
from partlearn._sklearn_compat import Interval, StrOptions
from partlearn._typing import Array, Mask
from partlearn.base import PARAMETERS, drop_empty
from partlearn.candidates import padded_candidates, warn_at_max_iter
from partlearn.multilabel._row_basis import RowBasis, row_basis
from partlearn.multilabel.classification._linear import BaseLinearScorer, best_threshold

_WIDTH = 0.01  # over which the plain hinge is rounded off
_LEAST_PULL = 1e-12  # curvature of the intercepts where no pair costs
_STEPS, _STILL = 500, 1e-7  # of the projected gradient
BlockSums = Callable[..., tuple[Array, Array]]


class Structure(Protocol):
    """Term of the objective for confidences, with labels or features."""

    def refresh(self, P: Array) -> None:
        """Adapt to new confidences, without raising `value`."""

    def value(self, P: Array) -> float:
        """Sum over the rows, weight included."""

    def gradient(self, P: Array) -> Array:
        """Derivative of `value`."""

    def lipschitz(self) -> float:
        """Largest curvature of `value`."""


class PairCosts:
    """Loss of the pairs of labels as a function of the confidences, scores fixed.

    With all pairs, it is ``sum_j P_j (c_j - sum_m P_m H_jm)`` in each row, where ``H``
    holds the losses among the row's candidates and ``c`` the sums of all losses.

    Parameters
    ----------
    F : ndarray of shape (n, l)
        Scores.
    C : ndarray of bool, shape (n, l)
        Candidates.
    pairs, loss : str
        As in `ranking_costs`.
    """

    def __init__(self, F: Array, C: Mask, pairs: str, loss: str) -> None:
        self.linear = pairs == "candidates"
        weights = pair_weights(np.zeros(F.shape), C, pairs)
        costs, _ = ranking_costs(F, weights, C if self.linear else None, loss)
        self.costs = costs * C
        if not self.linear:
            self._index, inside = padded_candidates(C)
            f = np.take_along_axis(F, self._index, axis=1)
            H = pair_loss(1 - f[:, :, None] + f[:, None, :], loss)
            H *= inside[:, :, None] & inside[:, None, :]
            H[:, range(f.shape[1]), range(f.shape[1])] = 0
            self._Q = (H + H.transpose(0, 2, 1)) / max(1, C.shape[1] - 1)

    def _curve(self, P: Array) -> Array:
        p = np.take_along_axis(P, self._index, axis=1)
        out = np.zeros_like(P)
        product = np.einsum("ijm,im->ij", self._Q, p)
        np.put_along_axis(out, self._index, product, axis=1)
        return out

    def value(self, P: Array) -> float:
        """Sum over rows of the weighted losses of pairs."""
        value = float(np.vdot(P, self.costs))
        return value if self.linear else value - float(np.vdot(P, self._curve(P))) / 2

    def gradient(self, P: Array) -> Array:
        """Derivative by the confidences."""
        return self.costs if self.linear else self.costs - self._curve(P)

    def lipschitz(self) -> float:
        """Bound on the curvature."""
        return 0.0 if self.linear else float(self._Q.sum(axis=2).max())


def descend(
    P: Array, C: Mask, gradient: Callable[[Array], Array], lipschitz: float
) -> Array:
    """Take projected gradient steps that never raise the objective.

    Parameters
    ----------
    P : ndarray of shape (n, l)
        Confidences to start from.
    C : ndarray of bool, shape (n, l)
        Candidates; no row is empty.
    gradient : callable
        Derivative of the objective.
    lipschitz : float
        Largest curvature, positive.

    Returns
    -------
    P : ndarray of shape (n, l)
        Confidences that move no more, or after 500 steps.
    """
    for _ in range(_STEPS):
        new = project_confidences(P - gradient(P) / lipschitz, C)
        still = float(np.max(np.abs(new - P))) < _STILL
        P = new
        if still:
            break
    return P


class BaseConfidenceRanker(BaseLinearScorer):
    """Base class of label rankers with learned confidences.

    A subclass has the parameters constrained here and implements `_structure`, the term
    of the confidences.
    """

    _parameter_constraints = PARAMETERS | {
        "C1": [Interval(Real, 0, None, closed="neither")],
        "C2": [Interval(Real, 0, None, closed="neither")],
        "C3": [Interval(Real, 0, None, closed="left")],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "pairs": [StrOptions({"candidates", "all"})],
        "threshold": [Real, StrOptions({"f1", "count"})],
        "inner_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def _fit(self, X: Any, C: Mask) -> None:
        rng = check_random_state(self.random_state)
        kept, X, A = drop_empty(X, C)
        # An intercept that costs nothing makes centering a matter of rounding error.
        Z, mean, scale = standardize(X, scale=self.standardize)
        basis = row_basis(Z, SIZES.ranker_direct)
        V, b, P = self._alternate(basis, A, self._structure(X, Z, A, scale, rng))
        W = basis.weights(V)
        self.labels_ = np.zeros(C.shape)
        self.labels_[kept] = P
        self.never_, self.always_ = ~A.any(axis=0), A.all(axis=0)
        self.n_labels_ = max(1, round(float(P.sum(axis=1).mean())))
        self.threshold_ = self.threshold
        if self.threshold == "count":
            self.threshold_ = None
        elif self.threshold == "f1":
            known = self.never_ | self.always_
            some = ~known if not known.all() else known
            scores = (basis @ V + b)[:, some]
            self.threshold_ = best_threshold(scores, P[:, some] > 0.5)
        self._set_weights(X, W, b, mean, scale, rng)

    def _alternate(
        self, X: RowBasis, C: Mask, structure: Structure
    ) -> tuple[Array, Array, Array]:
        n, l = C.shape  # noqa: E741
        c1, c2 = self.C1, self.C2
        disjoint = C if self.pairs == "candidates" else None
        W, b, P = np.zeros((X.shape[1], l)), np.zeros(l), C.astype(np.float64)
        objective: list[float] = []

        def record() -> None:
            rest = c2 * float(np.sum((1 - P[C]) ** 2)) + structure.value(P)
            value = np.vdot(W, W) / 2 + (c1 * costs.value(P) + rest) / n
            objective.append(float(value))

        def slope(P: Array) -> Array:
            return c1 * costs.gradient(P) - 2 * c2 * (1 - P) + structure.gradient(P)

        for n_iter in iterations(type(self).__name__, self.max_iter, start=1):
            weights = pair_weights(P, C, self.pairs)
            W, b = fit_scorer(
                X,
                disjoint,
                weights,
                W,
                b,
                c1,
                loss=self.loss,
                max_iter=self.inner_iter,
                tol=self.tol / 100,
            )
            costs = PairCosts(X @ W + b, C, self.pairs, self.loss)
            record()
            structure.refresh(P)
            record()
            curvature = 2 * c2 + c1 * costs.lipschitz() + structure.lipschitz()
            P = descend(P, C, slope, curvature)
            record()
            before, now = objective[-4:][0], objective[-1]
            if n_iter > 1 and abs(before - now) <= self.tol * abs(before):
                break
        else:
            warn_at_max_iter(self.max_iter, "The objective still changes")
        self.objective_ = np.array(objective)
        self.n_iter_ = n_iter
        return W, b, P


class PairWeights(NamedTuple):
    """Weights of each label above and below the others, (n, l)."""

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
    sums: BlockSums = _in_order
    if C is None:
        sums = _every_pair
    elif np.count_nonzero(C) < SIZES.ranker_few * len(C):
        sums = _candidate_by_candidate
    if loss == "squared_hinge":
        return _by_blocks(sums, F, weights, C, 1.0)
    # The difference that `pair_loss` speaks of, for all pairs.
    near, far = (
        _by_blocks(sums, F, weights, C, margin) for margin in (1.0, 1.0 - _WIDTH)
    )
    costs, gradient = ((a - b) / (2 * _WIDTH) for a, b in zip(near, far, strict=True))
    return costs, gradient


def _by_blocks(
    sums: BlockSums, F: Array, weights: PairWeights, C: Mask | None, margin: float
) -> tuple[Array, Array]:
    """Costs and gradient of all rows."""
    costs, gradient = np.empty(F.shape), np.empty(F.shape)
    for rows in spans(len(F), SIZES.ranker_block // max(1, F.shape[1])):
        some = F[rows], weights.up[rows], weights.down[rows]
        inside = None if C is None else C[rows]
        costs[rows], gradient[rows] = sums(*some, inside, margin)
    return costs, gradient


def _candidate_by_candidate(
    f: Array, up: Array, down: Array, C: Mask, margin: float
) -> tuple[Array, Array]:
    """Direct sums, O(l) for every candidate: for small candidate sets."""
    costs, gradient = np.zeros(f.shape), np.zeros(f.shape)
    for j, column in enumerate(C.T):
        r = np.flatnonzero(column)
        slack = np.maximum(f[r] + (margin - f[r, j])[:, None], 0)
        pull = slack * down[r]
        costs[r, j] = np.einsum("ij,ij->i", slack, pull)
        pull *= 2 * up[r, j][:, None]
        gradient[r] += pull
        gradient[r, j] -= pull.sum(axis=1)
    return costs, gradient


def _in_order(
    f: Array, up: Array, down: Array, C: Mask, margin: float
) -> tuple[Array, Array]:
    """Running sums in the order of scores, O(l log l) a row."""
    costs, gradient = _sums(f, f - margin * C, up, down, margin)
    return costs * C, gradient


def _every_pair(
    f: Array, up: Array, down: Array, C: None, margin: float
) -> tuple[Array, Array]:
    """The same for labels that occur twice in the order, above and below."""
    l, zero = f.shape[1], np.zeros_like(f)  # noqa: E741
    twice, keys = np.hstack([f, f]), np.hstack([f - margin, f])
    up, down_twice = np.hstack([up, zero]), np.hstack([zero, down])
    c, g = _sums(twice, keys, up, down_twice, margin)
    # No pair of a label with itself.
    return c[:, :l] - margin**2 * down, g[:, :l] + g[:, l:]


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
    X: RowBasis,
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
    """Minimize ``|W|² / 2 + c1 / n sum up_ij costs_ij`` over weights and intercepts.

    Parameters
    ----------
    X : RowBasis, shape (n, r)
        Rows.
    C : ndarray of bool, shape (n, l), or None
        As in `ranking_costs`.
    weights : PairWeights
        Weights of the pairs.
    W, b : ndarray of shape (r, l) and (l,)
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
    W, b : ndarray of shape (r, l) and (l,)
        The minimizer.

    Notes
    -----
    Variables are divided by the root of their curvature where half of all pairs cost:
    L-BFGS then needs a fraction of the iterations.
    """
    n, r = X.shape
    l = len(b)  # noqa: E741
    up, down = weights
    # One for all labels: intercepts are known up to a shift of all, which stays zero.
    pull = c1 / n * float((up + down * up.sum(axis=1, keepdims=True)).mean())
    unit = 1 / np.sqrt(1 + X.g[:, None] * pull)
    unit_b = 1 / np.sqrt(max(n * pull, _LEAST_PULL))

    def objective(theta: Array) -> tuple[float, Array]:
        V, c = theta[: r * l].reshape(r, l) * unit, theta[r * l :] * unit_b
        costs, gradient = ranking_costs(X @ V + c, weights, C, loss)
        value = np.vdot(V, V) / 2 + c1 / n * np.vdot(weights.up, costs)
        gradient *= c1 / n
        slope = (V + X.transposed_matmul(gradient)) * unit
        rest = gradient.sum(axis=0) * unit_b
        return float(value), np.concatenate([slope.ravel(), rest])

    optimum = minimize(
        objective,
        np.concatenate([(W / unit).ravel(), b / unit_b]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": 3 * max_iter, "ftol": tol},
    )
    theta = optimum.x
    return theta[: r * l].reshape(r, l) * unit, theta[r * l :] * unit_b


def project_confidences(V: Array, C: Mask) -> Array:
    """Project to [0, 1], zero outside the candidates, with row sums of at least one.

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
