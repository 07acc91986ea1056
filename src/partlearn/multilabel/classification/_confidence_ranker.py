"""Alternation between a label ranker and the confidences it is weighted by."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Protocol, Self

import numpy as np
from sklearn.utils import check_random_state

from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, StrOptions, fit_context
from partlearn._typing import Array, Mask
from partlearn.base import PARAMETERS, drop_empty
from partlearn.candidates import padded_candidates, warn_at_max_iter
from partlearn.linalg import Standardized, column_moments, standardize
from partlearn.multilabel.classification._label_ranking import (
    fit_scorer,
    pair_loss,
    pair_weights,
    project_confidences,
    ranking_costs,
)
from partlearn.multilabel.classification._linear import BaseLinearScorer, best_threshold

_STEPS, _STILL = 500, 1e-7  # of the projected gradient


class Structure(Protocol):
    """What ties the confidences to each other or to the features."""

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
        As in :func:`~partlearn.multilabel.classification._label_ranking.ranking_costs`.
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
    """Projected gradient steps, none of which raises the objective.

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
    """Label ranker whose pairs are weighted by confidences that it learns too.

    A subclass has the parameters constrained here and writes `_structure`, the term
    that ties the confidences together.
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

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the linear model and the confidences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            A binary matrix of shape (n_samples, n_classes), a sequence of label sets or
            1-D labels. Rows without candidates are left out, with a warning.

        Returns
        -------
        self : estimator
            The fitted classifier.
        """
        X, C = self._validate_fit(X, y)
        rng = check_random_state(self.random_state)
        kept, X, A = drop_empty(X, C)
        # An intercept that costs nothing makes centring a matter of rounding error.
        Z, mean, scale = standardize(X, scale=self.standardize)
        W, b, P = self._alternate(Z, A, self._structure(X, Z, A, scale, rng))
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
            scores = (Z @ W + b)[:, some]
            self.threshold_ = best_threshold(scores, P[:, some] > 0.5)
        self._set_weights(W, b, mean, scale, column_moments(X)[1], rng)
        return self

    def _alternate(
        self, X: Standardized, C: Mask, structure: Structure
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
