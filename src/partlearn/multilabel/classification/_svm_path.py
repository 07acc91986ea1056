"""Linear support vector machines of many labels and several C, all labels at once.

Newton's method with conjugate gradients. One decomposition of the rows serves all
labels and all values of C: in its basis the Hessian of all rows is diagonal, and so is
the preconditioner. Every product is one of matrices with a column per label.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from partlearn._typing import Array, Mask
from partlearn.multilabel._row_basis import RowBasis, row_basis
from partlearn.multilabel._scaled_rows import scaled_rows

_TOL = 1e-7  # of the gradient, beside the one at zero
_MAX_NEWTON, _MAX_CG = 50, 200
_FORCING = 0.1  # largest relative residual at which conjugate gradients stop
_ARMIJO, _LEAST_STEP = 1e-4, 1e-8


def squared_hinge_path(
    X: Any, Y: Mask, values: Sequence[float]
) -> Iterator[tuple[Array, Array]]:
    """Machines of all labels for one C after another, each started from the last.

    The intercept is penalized as a coefficient, as in liblinear.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Rows; the smaller of n and d should be some thousands at most.
    Y : ndarray of bool, shape (n, l)
        Labels; every column has both values.
    values : sequence of float
        Values of C.

    Yields
    ------
    W : ndarray of shape (d, l)
        Coefficients.
    b : ndarray of shape (l,)
        Intercepts.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel.classification._svm_path import (
    ...     squared_hinge_path,
    ... )
    >>> X, Y = np.array([[-1.0], [1.0]]), np.array([[False], [True]])
    >>> for W, b in squared_hinge_path(X, Y, [1, 2]):
    ...     print(W.round(3), b.round(3) + 0.0)
    [[0.8]] [0.]
    [[0.889]] [0.]
    """
    rows = row_basis(scaled_rows(X, scale=False)[0], min(X.shape) + 1)
    y = np.where(Y, 1.0, -1.0)
    V = np.zeros((rows.shape[1], Y.shape[1]))
    for C in values:
        V = _newton(rows, y, float(C), V)
        W = rows.weights(V)
        yield W[:-1], W[-1]


def _newton(rows: RowBasis, y: Array, C: float, start: Array) -> Array:
    """Minimize ``|v|² / 2 + C sum max(0, 1 - y Z v)²`` for every column of `y`."""
    Z = rows.X
    V, F = start.copy(), Z @ start
    unit = np.linalg.norm(2 * C * (Z.T @ y), axis=0)
    left = np.arange(y.shape[1])
    for _ in range(_MAX_NEWTON):
        slack = np.maximum(1 - y[:, left] * F[:, left], 0)
        gradient = V[:, left] - 2 * C * (Z.T @ (y[:, left] * slack))
        size = np.linalg.norm(gradient, axis=0) / unit[left]
        moving = size > _TOL
        left, slack, gradient = left[moving], slack[:, moving], gradient[:, moving]
        if not left.size:
            break
        active = (slack > 0).astype(np.float64)
        forcing = np.clip(size[moving], _TOL / 10, _FORCING)
        D = _solve(rows, active, C, -gradient, forcing)
        ZD, v = Z @ D, V[:, left]
        slope = np.einsum("ij,ij->j", gradient, D)
        value = np.einsum("ij,ij->j", v, v) / 2 + C * np.sum(slack**2, axis=0)
        inner, square = np.einsum("ij,ij->j", v, D), np.einsum("ij,ij->j", D, D)
        step = np.ones(len(left))
        while True:
            moved = np.maximum(1 - y[:, left] * (F[:, left] + step * ZD), 0)
            reached = np.einsum("ij,ij->j", v, v) / 2 + step * inner
            reached += step**2 * square / 2 + C * np.sum(moved**2, axis=0)
            high = (reached > value + _ARMIJO * step * slope) & (step > _LEAST_STEP)
            if not high.any():
                break
            step[high] /= 2
        V[:, left] += step * D
        F[:, left] += step * ZD
        left = left[step > _LEAST_STEP]  # rounding hides what is left to gain
    return V


def _solve(
    rows: RowBasis, active: Array, C: float, right: Array, forcing: Array
) -> Array:
    """``(I + 2 C Z' diag(active) Z)^-1 right`` up to a relative residual."""
    share = active.mean(axis=0)
    inverse = 1 / (1 + 2 * C * share * rows.g[:, None])
    D, R = np.zeros_like(right), right.copy()
    S = inverse * R
    P, rho = S.copy(), np.einsum("ij,ij->j", R, S)
    goal = forcing * np.linalg.norm(right, axis=0)
    for _ in range(_MAX_CG):
        HP = P + 2 * C * (rows.X.T @ (active * (rows.X @ P)))
        curve = np.einsum("ij,ij->j", P, HP)
        a = np.divide(rho, curve, out=np.zeros_like(rho), where=curve > 0)
        D += a * P
        R -= a * HP
        if (np.linalg.norm(R, axis=0) <= goal).all():
            break
        S = inverse * R
        new = np.einsum("ij,ij->j", R, S)
        P = S + np.divide(new, rho, out=np.zeros_like(rho), where=rho > 0) * P
        rho = new
    return D
