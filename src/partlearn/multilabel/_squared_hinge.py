"""Linear support vector machine with squared hinge loss, solved in the primal.

Newton's method on the active rows. Between two changes of the active set the objective
is a quadratic, so a few steps end at the exact minimiser. The intercept is not
penalised, so that a shift of the features changes nothing.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn.linalg import conjugate_gradients

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
    A step costs O(n d min(n, d)), or O(nnz) per conjugate gradient where neither
    number is small.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel._squared_hinge import squared_hinge
    >>> w, b = squared_hinge(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0]), C=1.0)
    >>> w.round(6), round(b, 6)
    (array([0.8]), -0.8)
    """
    w: Array = np.zeros(X.shape[1])
    b, f = 0.0, np.zeros(len(y))
    slack = np.ones(len(y))
    value = float(C * len(y))
    for _ in range(_MAX_NEWTON):
        active = np.flatnonzero(slack > 0)
        goal_w, goal_b = _least_squares(X[active], y[active], C, w, b)
        goal_f = np.asarray(X @ goal_w).ravel() + goal_b
        step, decrease = 1.0, _slope(w, goal_w, y, f, goal_f, slack, C)
        # Where the slope is lost in rounding, the minimiser has been reached.
        if decrease >= -1e-15 * value:
            break
        while True:
            new_w = w + step * (goal_w - w)
            new_f = f + step * (goal_f - f)
            new_slack = np.maximum(1 - y * new_f, 0)
            new_value = float(new_w @ new_w / 2 + C * (new_slack @ new_slack))
            if new_value <= value + _ARMIJO * step * decrease or step < 1e-10:
                break
            step /= 2
        same = step == 1 and np.array_equal(active, np.flatnonzero(new_slack > 0))
        w, b, f = new_w, b + step * (goal_b - b), new_f
        slack, value = new_slack, new_value
        if same:
            break
    return w, float(b)


def _slope(
    w: Array, goal: Array, y: Array, f: Array, goal_f: Array, slack: Array, C: float
) -> float:
    """Derivative of the objective towards the goal."""
    return float(w @ (goal - w) - 2 * C * (slack * y) @ (goal_f - f))


def _least_squares(
    A: Any, y: Array, C: float, w: Array, b: float
) -> tuple[Array, float]:
    """Minimiser of the quadratic that the active rows make, with a free intercept."""
    n, d = A.shape
    if n == 0:
        return np.zeros(d), b
    mean = np.asarray(A.mean(axis=0)).ravel()
    target = y - y.mean()
    ridge = 1 / (2 * C)
    if min(n, d) > _DIRECT or (sp.issparse(A) and d > n):
        solution = _by_gradients(A, mean, target, ridge, w)
    elif sp.issparse(A):
        K = (A.T @ A).toarray() - n * np.outer(mean, mean)
        K.flat[:: d + 1] += ridge
        solution = scipy.linalg.solve(K, A.T @ target, assume_a="pos")
    else:
        Z = A - mean
        K = Z.T @ Z if d <= n else Z @ Z.T
        K.flat[:: len(K) + 1] += ridge
        rhs = Z.T @ target if d <= n else target
        solution = scipy.linalg.solve(K, rhs, assume_a="pos")
        if d > n:
            solution = Z.T @ solution
    return solution, float(y.mean() - mean @ solution)


def _by_gradients(A: Any, mean: Array, target: Array, ridge: float, w: Array) -> Array:
    """The same system by products with the rows, from the last solution."""

    def apply(V: Array) -> Array:
        Z = A @ V - mean @ V
        return A.T @ Z - np.outer(mean, Z.sum(axis=0)) + ridge * V

    rhs = (A.T @ target - mean * target.sum())[:, None]
    return conjugate_gradients(apply, rhs, start=w[:, None])[:, 0]
