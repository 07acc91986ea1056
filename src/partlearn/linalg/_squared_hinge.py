"""Linear support vector machine with squared hinge loss, solved in the primal.

Newton's method on the active rows. Between two changes of the active set the objective
is a quadratic, so a few steps end at the exact minimiser. The intercept is not
penalised, so that a shift of the features changes nothing.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from partlearn.linalg._eigen import conjugate_gradients

__all__ = ["squared_hinge"]

Array = NDArray[np.float64]
_DIRECT = 1500  # largest system to be factored; beyond it conjugate gradients
_MAX_NEWTON = 100
_ARMIJO = 1e-4


def squared_hinge(X: Any, y: Array, C: float = 1.0) -> tuple[Array, float]:
    """Minimise ``|w|² / 2 + C sum_i max(0, 1 - y_i (x_i . w + b))²``.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Rows.
    y : ndarray of shape (n,)
        Signs, 1 or -1, both of which occur.
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
    >>> from partlearn.linalg import squared_hinge
    >>> w, b = squared_hinge(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0]), C=1.0)
    >>> w.round(6), round(b, 6)
    (array([0.8]), -0.8)
    """
    n, d = X.shape
    space: _Space = _Iterative(X)
    if min(n, d) <= _DIRECT:
        space = _Tall(X) if d <= n else _Wide(X)
    w, b, f = space.zero(), 0.0, np.zeros(n)
    slack, value = np.ones(n), float(C * n)
    for _ in range(_MAX_NEWTON):
        active = np.flatnonzero(slack > 0)
        goal_w, goal_b = w * 0, b  # no active row: the penalty alone is left
        if active.size:
            goal_w, goal_b = space.ridge(active, y[active], 1 / (2 * C), w)
        goal_f = space.scores(goal_w) + goal_b
        # Derivative towards the goal; the minimiser is reached where rounding hides it.
        decrease = space.inner(w, goal_w - w) - 2 * C * (slack * y) @ (goal_f - f)
        if decrease >= -1e-15 * value:
            break
        step = 1.0
        while True:
            new_w, new_f = w + step * (goal_w - w), f + step * (goal_f - f)
            new_slack = np.maximum(1 - y * new_f, 0)
            new_value = space.inner(new_w, new_w) / 2 + C * float(new_slack @ new_slack)
            if new_value <= value + _ARMIJO * step * decrease or step < 1e-10:
                break
            step /= 2
        same = step == 1 and np.array_equal(active, np.flatnonzero(new_slack > 0))
        w, b, f = new_w, b + step * (goal_b - b), new_f
        slack, value = new_slack, new_value
        if same:
            break
    else:
        warnings.warn(
            f"A support vector machine stopped after {_MAX_NEWTON} Newton steps.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return space.normal(w), float(b)


class _Space(Protocol):
    """How a normal is stored, and ridge regression of some rows in that form."""

    def zero(self) -> Array:
        """The zero vector."""

    def ridge(
        self, rows: NDArray[np.intp], y: Array, penalty: float, start: Array
    ) -> tuple[Array, float]:
        """Normal and free intercept that fit `y` in these rows."""

    def scores(self, w: Array) -> Array:
        """Inner products with all rows."""

    def inner(self, v: Array, w: Array) -> float:
        """Inner product of two normals."""

    def normal(self, w: Array) -> Array:
        """The normal itself."""


class _Tall:
    """By its entries: as many numbers as features."""

    def __init__(self, X: Any) -> None:
        self.X = X

    def zero(self) -> Array:
        return np.zeros(self.X.shape[1])

    def scores(self, w: Array) -> Array:
        return np.asarray(self.X @ w)

    def inner(self, v: Array, w: Array) -> float:
        return float(v @ w)

    def normal(self, w: Array) -> Array:
        return w

    def ridge(
        self, rows: NDArray[np.intp], y: Array, penalty: float, start: Array
    ) -> tuple[Array, float]:
        A = self.X[rows]
        mean = np.asarray(A.mean(axis=0)).ravel()
        w = self._solve(A, mean, y - y.mean(), penalty, start)
        return w, float(y.mean() - mean @ w)

    def _solve(
        self, A: Any, mean: Array, target: Array, penalty: float, start: Array
    ) -> Array:
        if sp.issparse(A):
            K = (A.T @ A).toarray() - A.shape[0] * np.outer(mean, mean)
        else:
            A = A - mean
            K = A.T @ A
        K.flat[:: len(K) + 1] += penalty
        return np.asarray(scipy.linalg.solve(K, A.T @ target, assume_a="pos"))


class _Iterative(_Tall):
    """The same, solved by products with the rows, from the last solution."""

    def _solve(
        self, A: Any, mean: Array, target: Array, penalty: float, start: Array
    ) -> Array:
        def apply(V: Array) -> Array:
            Z = A @ V - mean @ V
            return A.T @ Z - np.outer(mean, Z.sum(axis=0)) + penalty * V

        rhs = (A.T @ target)[:, None]
        return conjugate_gradients(apply, rhs, start=start[:, None])[:, 0]


class _Wide:
    """By its weights on the rows, of which there are fewer than features."""

    def __init__(self, X: Any) -> None:
        self.X = X
        K = X @ X.T
        self.K = K.toarray() if sp.issparse(K) else K

    def zero(self) -> Array:
        return np.zeros(len(self.K))

    def scores(self, w: Array) -> Array:
        return self.K @ w

    def inner(self, v: Array, w: Array) -> float:
        return float(v @ (self.K @ w))

    def normal(self, w: Array) -> Array:
        return np.asarray(self.X.T @ w)

    def ridge(
        self, rows: NDArray[np.intp], y: Array, penalty: float, start: Array
    ) -> tuple[Array, float]:
        K = self.K[np.ix_(rows, rows)]
        mean = K.mean(axis=0)
        centred = K - mean - mean[:, None] + mean.mean()
        centred.flat[:: len(K) + 1] += penalty
        a = scipy.linalg.solve(centred, y - y.mean(), assume_a="pos")
        a -= a.mean()  # zero but for rounding: the centre has no weight of its own
        w = self.zero()
        w[rows] = a
        return w, float(y.mean() - mean @ a)
