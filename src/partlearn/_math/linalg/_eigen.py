"""Thin generalized eigenproblems: one factorization, then q x q work.

The reducers of this library repeatedly compute the leading solutions of

    X' C C' X p = lambda (mu X'X + nu I) p

with the same ``X`` (m x d) and a new ``C`` (m x q) of few columns. The right-hand side
is factored once, on the smaller side of ``X``; each solve is then an eigenproblem of
size q. With ``w = (mu XX' + nu I)^-1 C`` the push-through identity gives
``(mu X'X + nu I)^-1 X' C = X' w``, so that with more columns than rows nothing of size
d is needed before the directions themselves.
"""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._array_api import (
    as_double,
    cholesky,
    cholesky_solve,
    descending,
    diagonal_added,
    eigh,
    namespace,
    solve_triangular,
)
from partlearn._math.linalg._standardized import Standardized, thin_product
from partlearn._sizes import SIZES
from partlearn._typing import Array
from partlearn.candidates import warn_at_max_iter

_TIED = 1e-6  # relative difference of magnitudes that are taken for equal


def fix_signs(P: NDArray[Any]) -> NDArray[Any]:
    """Flip columns so that the entry of largest magnitude is positive.

    Parameters
    ----------
    P : ndarray of shape (d, p)
        Directions, one per column.

    Returns
    -------
    P : ndarray of shape (d, p)
        The same directions with reproducible signs.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import fix_signs
    >>> fix_signs(np.array([[1.0, 0.5], [-2.0, 1.0]]))
    array([[-1. ,  0.5],
           [ 2. ,  1. ]])
    """
    xp = namespace(P)
    size = xp.abs(P)
    # The first of entries that are as large up to rounding, however it went.
    largest = size >= (1 - _TIED) * xp.max(size, axis=0)
    place = xp.argmax(xp.astype(largest, P.dtype), axis=0)[None, :]
    top = xp.take_along_axis(P, place, axis=0)
    return P * xp.where(top < 0, -xp.ones_like(top), xp.ones_like(top))


@dataclass(frozen=True)
class Eigen:
    """Eigenvalues, largest first, and the factors of the directions.

    ``vectors`` are those of the q x q problem, divided by the root of their value;
    ``solved`` is ``B^-1 X' C`` (d x q), within k directions its coordinates (k x q),
    with whitened data ``L^-1 X' C`` for ``B = L L'``, or on the dual route ``w``
    (m x q).
    """

    values: Array
    vectors: Array
    solved: Array
    C: NDArray[Any]


class ThinEigenSolver:
    """Solver of ``X' C C' X p = lambda (mu X'X + nu I) p`` for many ``C``.

    Parameters
    ----------
    X : Standardized
        The data, m x d.
    mu, nu : float
        Weights of the right-hand side; `nu` must be positive.
    route : {"primal", "dual", "iterative"} or None, default=None
        Factor a d x d matrix, an m x m matrix, or use conjugate gradients. By default
        the cheapest route that fits in memory.
    within : ndarray of shape (d, k), default=None
        Orthonormal columns: the problem is solved for directions in their span, by a
        matrix of size k, and no route is taken.
    whiten : bool, default=False
        Keep a copy of dense data in which the right-hand side is the identity, on the
        primal route. An embedding then takes two products, which is faster for many
        solves.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import ThinEigenSolver, standardize
    >>> rng = np.random.default_rng(0)
    >>> X, _, _ = standardize(rng.normal(size=(20, 3)))
    >>> solver = ThinEigenSolver(X, 0.5, 0.5)
    >>> C = rng.normal(size=(20, 2))
    >>> eigen = solver.solve(C)
    >>> P = solver.directions(eigen, 2)
    >>> bool(np.allclose(solver.embedding(eigen, 2), X @ P))
    True
    """

    def __init__(
        self,
        X: Standardized,
        mu: float,
        nu: float,
        *,
        route: str | None = None,
        within: Array | None = None,
        whiten: bool = False,
    ) -> None:
        self.X, self.mu, self.nu = X, mu, nu
        self._within = None if within is None else as_double(within)
        m, d = X.shape
        if within is not None:
            route = "within"
        elif route is None:
            small = min(m, d) <= SIZES.largest_factor
            route = ("primal" if d <= m else "dual") if small else "iterative"
        self.route = route
        self._warm: Array | None = None
        self._white: NDArray[Any] | None = None
        if route == "primal":
            self._factor = _ridge_cholesky(X.scatter(), mu, nu)
            if whiten and X.dense is not None:
                self._white = self._kept(self._triangular(X.dense.T).T)
        elif route == "dual":
            self._factor = _ridge_cholesky(X.gram(), mu, nu)
        elif within is not None:
            Y = as_double(X @ self._kept(within))
            self._factor = _ridge_cholesky(Y.T @ Y, mu, nu)

    def solve(self, C: NDArray[Any]) -> Eigen:
        """Solve for one ``C`` of shape (m, q); eigenvalues are clipped at zero.

        Source: CENDA, Eq. (6).
        """
        if self._white is not None:
            solved = as_double(thin_product(self._white.T, C))
            G = solved.T @ solved
        elif self.route in ("primal", "within"):
            A = as_double(self.X.transposed_matmul(C))
            if self._within is not None:
                A = self._within.T @ A
            solved = cholesky_solve(self._factor, A)
            G = A.T @ solved
        else:
            C64 = as_double(C)
            if self.route == "dual":
                solved = cholesky_solve(self._factor, C64)
            else:
                solved = self._warm = conjugate_gradients(
                    self._apply_dual, C64, start=self._warm
                )
            G = (C64.T @ (C64 - self.nu * solved)) / self.mu
        values, vectors = descending(*eigh((G + G.T) / 2))
        xp = namespace(values)
        values = xp.clip(values, 0.0, None)
        # Directions without any signal are never used; do not divide by zero for them.
        roots = xp.sqrt(xp.where(values > 0, values, 1.0))
        return Eigen(values, vectors / roots, solved, C)

    def _triangular(self, A: NDArray[Any], *, transposed: bool = False) -> Array:
        """Solve with the Cholesky factor of the right-hand side, or its transpose."""
        return solve_triangular(self._factor[0], as_double(A), transposed=transposed)

    def _kept(self, A: NDArray[Any]) -> NDArray[Any]:
        """Return `A` in the precision of the data."""
        return namespace(A).astype(A, self.X.dtype, copy=False)

    def _apply_dual(self, W: Array) -> Array:
        inner = self.X.transposed_matmul(self._kept(W))
        return self.mu * (self.X @ inner) + self.nu * W

    def directions(self, eigen: Eigen, r: int) -> NDArray[Any]:
        """Return `r` directions, (d, r), with ``p' (mu X'X + nu I) p = 1``."""
        P = eigen.solved @ eigen.vectors[:, :r]
        if self._white is not None:
            P = self._triangular(P, transposed=True)
        elif self._within is not None:
            P = self._within @ P
        elif self.route != "primal":
            P = self.X.transposed_matmul(self._kept(P))
        return self._kept(P)

    def embedding(self, eigen: Eigen, r: int) -> NDArray[Any]:
        """Return the data along the first `r` directions, (m, r)."""
        if self._white is not None:
            A = eigen.solved @ eigen.vectors[:, :r]
            return thin_product(self._white, self._kept(A))
        if self.route in ("primal", "within"):
            return self.X @ self.directions(eigen, r)
        Z = (eigen.C - self.nu * eigen.solved) @ eigen.vectors[:, :r] / self.mu
        return self._kept(Z)


def _ridge_cholesky(K: Array, mu: float, nu: float) -> tuple[Array, bool]:
    """Compute the Cholesky factor of ``mu K + nu I``, in place."""
    K *= mu
    # LAPACK works on columns: the transpose of a symmetric C-ordered matrix is itself,
    # and saves a copy of the largest array there is.
    return cholesky(diagonal_added(K, nu).T)


def conjugate_gradients(
    apply: Any,
    B: Array,
    *,
    start: Array | None = None,
    diagonal: Array | float = 1.0,
    tol: float = 1e-10,
    max_iter: int = 2000,
) -> Array:
    """Solve ``apply(W) = B`` for all columns of `B` at once.

    Parameters
    ----------
    apply : callable
        Product of the symmetric positive definite matrix with an (m, q) array.
    B : ndarray of shape (m, q)
        Right-hand sides.
    start : ndarray of shape (m, q), default=None
        Warm start, such as the solution of a similar problem.
    diagonal : ndarray of shape (m, q) or float, default=1.0
        Diagonal of the matrix, one for all columns or one for each, as preconditioner.
    tol : float, default=1e-10
        Stop when every residual is below `tol` times its right-hand side.
    max_iter : int, default=2000
        Maximum number of iterations; reaching it gives a `ConvergenceWarning`.

    Returns
    -------
    W : ndarray of shape (m, q)
        The solutions.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import conjugate_gradients
    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> conjugate_gradients(lambda W: A @ W, np.array([[3.0], [4.0]])).round(9)
    array([[1.],
           [1.]])
    """
    W = np.zeros_like(B) if start is None else start.copy()
    R = B - apply(W)
    D = R / diagonal
    rho = np.einsum("ij,ij->j", R, D)
    limit = tol**2 * np.einsum("ij,ij->j", B, B / diagonal)
    for _ in range(max_iter):
        active = rho > limit
        if not active.any():
            return W
        Q = apply(D)
        curvature = np.einsum("ij,ij->j", D, Q)
        # A column that is done stays where it is.
        step = np.divide(rho, curvature, out=np.zeros_like(rho), where=active)
        W += step * D
        R -= step * Q
        S = R / diagonal
        new = np.einsum("ij,ij->j", R, S)
        D = S + np.divide(new, rho, out=np.zeros_like(rho), where=active) * D
        rho = np.where(active, new, rho)
    if (rho > limit).any():
        warn_at_max_iter(
            max_iter,
            f"Conjugate gradients are still above tol={tol}",
            "scale the features or raise the penalty",
        )
    return W
