"""Linear support vector machines with squared hinge loss, solved in the primal.

Newton's method on the active rows, those inside the margin. Between two changes of the
active rows the objective is a quadratic, so a few steps end at the exact minimizer.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from partlearn._math.linalg._eigen import conjugate_gradients
from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices
from partlearn.candidates import warn_caller

_ARMIJO = 1e-4
_ROUNDING = 1e-15  # of the objective: a smaller gain is none


def squared_hinge(X: Any, y: Array, C: float = 1.0) -> tuple[Array, float]:
    """Minimize ``|w|² / 2 + C sum_i max(0, 1 - y_i (x_i' w + b))²``.

    The intercept is not penalized, so that a shift of the features changes nothing.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Rows.
    y : ndarray of shape (n,)
        Signs, 1 and -1; both must occur.
    C : float, default=1.0
        Weight of the loss.

    Returns
    -------
    w : ndarray of shape (d,)
        Normal.
    b : float
        Intercept.

    Notes
    -----
    A step costs O(n d²), or O(n³) with fewer rows than features, or O(nnz) per
    conjugate gradient where neither number is small.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import squared_hinge
    >>> w, b = squared_hinge(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0]), C=1.0)
    >>> w.round(6), round(b, 6)
    (array([0.8]), -0.8)
    """
    n, d = X.shape
    space = _Wide(X) if n < d and n <= SIZES.hinge_direct else _Tall(X)
    w, b = _newton(space, y, C)
    return space.normal(w), b


def _newton(space: _Tall, y: Array, C: float) -> tuple[Array, float]:
    """Return the weights in the form of `space`, and the intercept."""
    w, b, f = np.zeros(space.size), 0.0, np.zeros(len(y))
    slack, value = np.ones(len(y)), float(C * len(y))
    for _ in range(SIZES.hinge_newton):
        active = slack > 0
        rows = np.flatnonzero(active)
        goal, goal_b = np.zeros(space.size), b  # where the penalty alone is left
        try:
            if rows.size:
                goal, goal_b = space.ridge(rows, y[rows], 1 / (2 * C), w)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "A support vector machine cannot be solved in float64; very large "
                "feature values cause this. Standardize the features."
            ) from error
        way, way_b = goal - w, goal_b - b
        gain = space.scores(goal) + goal_b - f
        # Derivative towards the goal; the minimizer is reached where rounding hides it.
        decrease = space.inner(w, way) - 2 * C * float((slack * y) @ gain)
        if decrease >= -_ROUNDING * value:
            return w, b
        step, before = 1.0, value
        while True:
            moved = w + step * way
            slack = np.maximum(1 - y * (f + step * gain), 0)
            value = space.inner(moved, moved) / 2 + C * float(slack @ slack)
            if value <= before + _ARMIJO * step * decrease or step < 1e-10:
                break
            step /= 2
        w, b, f = moved, b + step * way_b, f + step * gain
        # Rows on the margin may flip for ever by round-off.
        same = step == 1 and ((slack > 0) == active).all()
        if same or before - value <= _ROUNDING * before:
            return w, b
    warn_caller(
        f"A support vector machine stopped after {SIZES.hinge_newton} Newton steps.",
        ConvergenceWarning,
    )
    return w, b


class _Tall:
    """Machine represented by its weights of the features.

    `ridge` returns the minimizer if the given rows are the active ones, `scores` the
    outputs for all rows without the intercept, `inner` inner products of the penalty.
    """

    def __init__(self, X: Any) -> None:
        self.X, self.size = X, X.shape[1]

    def scores(self, w: Array) -> Array:
        return np.asarray(self.X @ w)

    def inner(self, v: Array, w: Array) -> float:
        return float(v @ w)

    def normal(self, w: Array) -> Array:
        """Return the coefficients of the features."""
        return w

    def ridge(
        self, rows: Indices, y: Array, penalty: float, start: Array
    ) -> tuple[Array, float]:
        """Return weights and intercept of the ridge regression of `y` in these rows."""
        A = self.X[rows]
        mean, target = np.asarray(A.mean(axis=0)).ravel(), y - y.mean()
        if len(mean) > SIZES.hinge_direct:  # by products, from the last solution

            def apply(V: Array) -> Array:
                Z = A @ V - mean @ V
                return A.T @ Z - np.outer(mean, Z.sum(axis=0)) + penalty * V

            rhs = (A.T @ target)[:, None]
            w = conjugate_gradients(apply, rhs, start=start[:, None])[:, 0]
        else:
            if sp.issparse(A):
                K = (A.T @ A).toarray() - A.shape[0] * np.outer(mean, mean)
            else:
                A = A - mean
                K = A.T @ A
            K.flat[:: len(K) + 1] += penalty
            w = scipy.linalg.solve(K, A.T @ target, assume_a="pos", check_finite=False)
        return w, float(y.mean() - mean @ w)


class _Wide(_Tall):
    """Machine represented by its weights of the rows, for fewer rows than features."""

    def __init__(self, X: Any) -> None:
        K = X @ X.T
        super().__init__(K.toarray() if sp.issparse(K) else K)
        self.rows = X

    def inner(self, v: Array, w: Array) -> float:
        return float(v @ (self.X @ w))

    def normal(self, w: Array) -> Array:
        return np.asarray(self.rows.T @ w)

    def ridge(
        self, rows: Indices, y: Array, penalty: float, start: Array
    ) -> tuple[Array, float]:
        K = self.X[np.ix_(rows, rows)]
        mean = K.mean(axis=0)
        centered = K - mean - mean[:, None] + mean.mean()
        centered.flat[:: len(K) + 1] += penalty
        a = scipy.linalg.solve(
            centered, y - y.mean(), assume_a="pos", check_finite=False
        )
        a -= a.mean()  # zero but for rounding: the center has no weight of its own
        w = np.zeros(len(self.X))
        w[rows] = a
        return w, float(y.mean() - mean @ a)
