"""Smooth convex minimization over rows on the simplex."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn._math.simplex._projection import projector
from partlearn.candidates import warn_at_max_iter


def minimize_on_simplex(
    gradient: Callable[[NDArray], NDArray],
    F0: ArrayLike,
    S: ArrayLike | None,
    lipschitz: float,
    *,
    tol: float = 1e-7,
    max_iter: int = 2000,
) -> tuple[NDArray, int]:
    """Minimize a smooth convex function of rows that lie on the simplex.

    Accelerated projected gradient with restart [1]_ [2]_ from ``F0``: steps of
    ``1 / lipschitz``, each followed by :func:`project_simplex`.

    Parameters
    ----------
    gradient : callable
        Gradient of the function at an array of the shape of `F0`.
    F0 : array-like of shape (n_rows, n_classes)
        Start.
    S : array-like of bool of shape (n_rows, n_classes) or None
        Candidates; entries outside stay zero.
    lipschitz : float
        Lipschitz constant of the gradient, or an upper bound of it, such as
        ``1.02 * power_iteration(hessian, F0.shape)``.
    tol : float, default=1e-7
        Stop when no entry moves by more than this in a step.
    max_iter : int, default=2000
        Maximum number of iterations; reaching it gives a `ConvergenceWarning`.

    Returns
    -------
    F : ndarray of shape (n_rows, n_classes)
        Minimizer.
    n_iter : int
        Steps taken.

    References
    ----------
    .. [1] A. Beck, M. Teboulle. A fast iterative shrinkage-thresholding algorithm for
       linear inverse problems. SIAM Journal on Imaging Sciences, 2009.
       https://doi.org/10.1137/080716542
    .. [2] B. O'Donoghue, E. Candès. Adaptive restart for accelerated gradient schemes.
       Foundations of Computational Mathematics, 2015. https://doi.org/10.1007/s10208-013-9150-3

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.simplex import minimize_on_simplex
    >>> target = np.array([[0.9, 0.5, 0.0]])
    >>> F, n_iter = minimize_on_simplex(
    ...     lambda F: F - target, [[1.0, 0.0, 0.0]], None, lipschitz=1.0
    ... )
    >>> F.round(6)
    array([[0.7, 0.3, 0. ]])
    """
    if not lipschitz >= 0:
        raise ValueError(f"`lipschitz` must not be negative; got {lipschitz}.")
    if lipschitz == 0:  # the gradient is constant: any step length will do
        lipschitz = 1.0
    F0 = np.asarray(F0)
    if F0.dtype != np.float32:
        F0 = F0.astype(np.float64)
    project = projector(F0.shape, S)
    F = project(F0)
    Y, momentum = F, 1.0
    for n_iter in range(1, max_iter + 1):
        new = project(Y - gradient(Y) / float(lipschitz))
        step = new - F
        small = np.max(np.abs(step), initial=0.0) < tol
        if small and momentum == 1.0:
            return new, n_iter
        # Momentum that points uphill is forgotten (gradient scheme of [2]); so is all
        # of it before stopping, since only a plain step proves a stationary point.
        if small or np.vdot(Y - new, step) > 0:
            Y, momentum = new, 1.0
        else:
            following = (1 + sqrt(1 + 4 * momentum**2)) / 2
            Y = new + (momentum - 1) / following * step
            momentum = following
        F = new
    warn_at_max_iter(max_iter, f"Steps on the simplex are still above tol={tol}")
    return F, max_iter


def power_iteration(
    matvec: Callable[[NDArray], NDArray], shape: tuple[int, ...], n_iter: int = 60
) -> float:
    """Estimate the largest eigenvalue of a symmetric positive semi-definite operator.

    Parameters
    ----------
    matvec : callable
        The operator, from arrays of the given shape to arrays of that shape.
    shape : tuple of int
        Shape of its arguments.
    n_iter : int, default=60
        Number of products.

    Returns
    -------
    eigenvalue : float
        Estimate from below; multiply it by 1.02 to use it as a Lipschitz constant.

    Notes
    -----
    The start is fixed, so that the result is deterministic.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.simplex import power_iteration
    >>> A = np.diag([3.0, 1.0])
    >>> round(power_iteration(lambda v: A @ v, (2, 4)), 6)
    3.0
    """
    v = np.random.default_rng(0).standard_normal(shape)
    value = 0.0
    for _ in range(n_iter):
        norm = float(np.linalg.norm(v))
        if norm == 0:
            break
        v = v / norm
        product = matvec(v)
        value = float(np.vdot(v, product))
        v = product
    return value
