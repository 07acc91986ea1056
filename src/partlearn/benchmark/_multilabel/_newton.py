"""Squared-hinge machines of all labels at once, by Newton steps on their active rows.

A machine is exact as soon as a step leaves its active rows (those inside the margin) as
they were: between changes of these rows the objective is quadratic. With few features
the Hessians of all labels are one matrix product, of active rows and products of
features, and hundreds of labels cost little more than one.
"""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numpy.typing import NDArray

__all__ = ["squared_hinge"]

Array = NDArray[np.float64]
MAX_STEPS = 60
_BLOCK = 2**21


def squared_hinge(X: Array, Y: NDArray[np.bool_], C: float) -> Array:
    """Minimise ``|w|^2 / 2 + C sum max(0, 1 - y f)^2`` for every label.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows; an intercept is a column of ones.
    Y : ndarray of bool, shape (n_samples, n_labels)
        Labels.
    C : float
        Weight of the losses.

    Returns
    -------
    ndarray of shape (n_features, n_labels)
        Coefficients.
    """
    W = np.zeros((X.shape[1], Y.shape[1]))
    y = np.where(Y, 1.0, -1.0)
    F = X @ W
    left = np.arange(Y.shape[1])
    products = _products(X)
    value = _objective(W, F, y, C)
    for _ in range(MAX_STEPS):
        active = y[:, left] * F[:, left] < 1
        goal = _step(X, products, y[:, left], active, C)
        reached = X @ goal
        new = _objective(goal, reached, y[:, left], C)
        # Full steps nearly always descend; the rest are halved until they do.
        t = np.ones(len(left))
        W_t, F_t = goal, reached
        for _ in range(30):
            worse = new > value[left] + 1e-12 * np.abs(value[left])
            if not worse.any():
                break
            t[worse] /= 2
            W_t = W[:, left] + t * (goal - W[:, left])
            F_t = F[:, left] + t * (reached - F[:, left])
            new = _objective(W_t, F_t, y[:, left], C)
        W[:, left], F[:, left] = W_t, F_t
        gain = value[left] - new
        value[left] = new
        same = ((y[:, left] * F_t < 1) == active).all(axis=0) & (t == 1)
        # Rows on the margin may flip for ever by round-off.
        left = left[~(same | (gain <= 1e-12 * np.abs(new)))]
        if not left.size:
            break
    return W


def _objective(W: Array, F: Array, y: Array, C: float) -> Array:
    loss = np.maximum(1 - y * F, 0)
    value: Array = 0.5 * np.einsum("jl,jl->l", W, W)
    value += C * np.einsum("il,il->l", loss, loss)
    return value


def _products(X: Array) -> list[Array]:
    """Products of every two features, by blocks of rows."""
    i, j = np.triu_indices(X.shape[1])
    rows = max(1, _BLOCK // len(i))
    return [
        X[start : start + rows, i] * X[start : start + rows, j]
        for start in range(0, len(X), rows)
    ]


def _step(
    X: Array, products: list[Array], y: Array, active: NDArray[np.bool_], C: float
) -> Array:
    """Minimisers if the active rows stay the active ones."""
    d = X.shape[1]
    A = active.astype(np.float64)
    upper = np.zeros((A.shape[1], products[0].shape[1]))
    start = 0
    for block in products:
        upper += A[start : start + len(block)].T @ block
        start += len(block)
    i, j = np.triu_indices(d)
    H = np.empty((A.shape[1], d, d))
    H[:, i, j] = H[:, j, i] = 2 * C * upper
    H[:, np.arange(d), np.arange(d)] += 1
    b = 2 * C * (X.T @ (A * y)).T
    solved = np.linalg.solve(H, b[:, :, None])[:, :, 0]
    return np.ascontiguousarray(solved.T, dtype=np.float64)
