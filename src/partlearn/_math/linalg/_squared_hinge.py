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
from partlearn._typing import Array, Indices, Mask
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
    >>> from partlearn._math.linalg import squared_hinge
    >>> w, b = squared_hinge(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0]), C=1.0)
    >>> w.round(6), round(b, 6)
    (array([0.8]), -0.8)
    """
    n, d = X.shape
    space = _Wide(X) if n < d and n <= SIZES.hinge_direct else _Tall(X)
    W = _newton(space, y[:, None], C)
    return space.normal(W[:-1, 0]), float(W[-1, 0])


def squared_hinge_labels(X: Array, Y: Mask, C: float = 1.0) -> tuple[Array, Array]:
    """One machine per label, all at once, where there are few features.

    The intercept is penalized as a coefficient, as in liblinear.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    Y : ndarray of bool, shape (n, l)
        Labels.
    C : float, default=1.0
        Weight of the loss.

    Returns
    -------
    W : ndarray of shape (d, l)
        Coefficients.
    b : ndarray of shape (l,)
        Intercepts.

    Notes
    -----
    The Hessians of all labels are one product, of active rows and products of two
    features, so that hundreds of labels cost little more than one: O(n d² l) in one
    matrix product, and memory O(n d² + l d²).

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import squared_hinge_labels
    >>> X, Y = np.array([[-1.0], [1.0]]), np.array([[False, True], [True, True]])
    >>> W, b = squared_hinge_labels(X, Y)
    >>> W.round(3), b.round(3)
    (array([[0.8, 0. ]]), array([0. , 0.8]))
    """
    space = _AllLabels(np.column_stack([X, np.ones(len(X))]))
    W = _newton(space, np.where(Y, 1.0, -1.0), C)
    return W[:-1], W[-1]


def _newton(space: _AllLabels | _Tall, y: Array, C: float) -> Array:
    """Machines of the columns of `y`, as `space` stores them, (size, l).

    A space says how: a machine is a column, an intercept its last entry. `ridge` gives
    the minimizers if the active rows stay the active ones, `scores` the outputs for all
    rows, `inner` the inner products of what is penalized, column by column.
    """
    n, l = y.shape  # noqa: E741
    W, F = np.zeros((space.size, l)), np.zeros((n, l))
    slack, value = np.ones((n, l)), np.full(l, float(C * n))
    left = np.arange(l)
    for _ in range(SIZES.hinge_newton):
        w, f, s, sign = (A[:, left] for A in (W, F, slack, y))
        v = value[left]
        active = s > 0
        try:
            goal = space.ridge(active, sign, C, w)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "A support vector machine cannot be solved in float64; very large "
                "feature values cause this. Standardize the features."
            ) from error
        reached = space.scores(goal)
        # Derivative towards the goal; the minimizer is reached where rounding hides it.
        pull = np.einsum("ij,ij->j", s * sign, reached - f)
        decrease = space.inner(w, goal - w) - 2 * C * pull
        moving = decrease < -_ROUNDING * v
        step = np.ones(len(left))
        new_w, new_f = goal, reached
        while True:
            new_s = np.maximum(1 - sign * new_f, 0)
            new_v = space.inner(new_w, new_w) / 2
            new_v += C * np.einsum("ij,ij->j", new_s, new_s)
            high = moving & (new_v > v + _ARMIJO * step * decrease) & (step >= 1e-10)
            if not high.any():
                break
            step[high] /= 2
            new_w = np.where(step == 1, goal, w + step * (goal - w))
            new_f = np.where(step == 1, reached, f + step * (reached - f))
        to = left[moving]
        W[:, to], F[:, to] = new_w[:, moving], new_f[:, moving]
        slack[:, to], value[to] = new_s[:, moving], new_v[moving]
        # Rows on the margin may flip for ever by round-off.
        done = (step == 1) & ((new_s > 0) == active).all(axis=0) | (
            v - new_v <= _ROUNDING * v
        )
        left = left[moving & ~done]
        if not left.size:
            return W
    warn_caller(
        f"A support vector machine stopped after {SIZES.hinge_newton} Newton steps.",
        ConvergenceWarning,
    )
    return W


class _AllLabels:
    """By their entries, all penalized; Hessians from products of every two features."""

    def __init__(self, X: Array) -> None:
        self.X, self.size = X, X.shape[1]
        self.pairs = i, j = np.triu_indices(self.size)
        rows = max(1, SIZES.hinge_block // len(i))
        blocks = [X[start : start + rows] for start in range(0, len(X), rows)]
        self.products = [block[:, i] * block[:, j] for block in blocks]

    def scores(self, W: Array) -> Array:
        return self.X @ W

    def inner(self, V: Array, W: Array) -> Array:
        return np.einsum("jl,jl->l", V, W)

    def ridge(self, active: Mask, y: Array, C: float, start: Array) -> Array:
        A, (i, j) = active.astype(np.float64), self.pairs
        upper = np.zeros((A.shape[1], len(i)))
        row = 0
        for block in self.products:
            upper += A[row : row + len(block)].T @ block
            row += len(block)
        H = np.empty((A.shape[1], self.size, self.size))
        H[:, i, j] = H[:, j, i] = 2 * C * upper
        H[:, np.arange(self.size), np.arange(self.size)] += 1
        right = 2 * C * (self.X.T @ (A * y)).T
        solved = np.linalg.solve(H, right[:, :, None])[:, :, 0]
        return np.ascontiguousarray(solved.T, dtype=np.float64)


class _Tall:
    """One machine by its entries: as many numbers as features."""

    def __init__(self, X: Any) -> None:
        self.X, self.size = X, X.shape[1] + 1

    def scores(self, W: Array) -> Array:
        return np.asarray(self.X @ W[:-1]) + W[-1]

    def inner(self, V: Array, W: Array) -> Array:
        return np.atleast_1d(V[:-1, 0] @ W[:-1, 0])

    def normal(self, w: Array) -> Array:
        """Coefficients of the features."""
        return w

    def ridge(self, active: Mask, y: Array, C: float, start: Array) -> Array:
        rows = np.flatnonzero(active[:, 0])
        if not rows.size:  # the penalty alone is left
            return np.append(np.zeros(self.size - 1), start[-1])[:, None]
        w, b = self._fit(rows, y[rows, 0], 1 / (2 * C), start[:-1, 0])
        return np.append(w, b)[:, None]

    def _fit(
        self, rows: Indices, y: Array, penalty: float, start: Array
    ) -> tuple[Array, float]:
        """Stored normal and free intercept that fit `y` in these rows."""
        A = self.X[rows]
        mean, target = np.asarray(A.mean(axis=0)).ravel(), y - y.mean()
        if (
            len(mean) > SIZES.hinge_direct
        ):  # by products with the rows, from the last solution

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
    """One machine by its weights on the rows, fewer than features."""

    def __init__(self, X: Any) -> None:
        K = X @ X.T
        self.K = K.toarray() if sp.issparse(K) else K
        self.rows, self.X, self.size = X, self.K, len(self.K) + 1

    def inner(self, V: Array, W: Array) -> Array:
        return np.atleast_1d(V[:-1, 0] @ (self.K @ W[:-1, 0]))

    def normal(self, w: Array) -> Array:
        return np.asarray(self.rows.T @ w)

    def _fit(
        self, rows: Indices, y: Array, penalty: float, start: Array
    ) -> tuple[Array, float]:
        K = self.K[np.ix_(rows, rows)]
        mean = K.mean(axis=0)
        centered = K - mean - mean[:, None] + mean.mean()
        centered.flat[:: len(K) + 1] += penalty
        a = scipy.linalg.solve(
            centered, y - y.mean(), assume_a="pos", check_finite=False
        )
        a -= a.mean()  # zero but for rounding: the center has no weight of its own
        w = np.zeros(len(self.K))
        w[rows] = a
        return w, float(y.mean() - mean @ a)
