"""Blocks A to C of CRISP: ridge scores of confidences, in-sample and cross-fitted.

Confidences are regressed on the data. What a row is told about itself comes from the
regression without the row's own fold, which needs no refit: with the left singular
vectors once at hand, every held-out prediction has a closed form.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from partlearn._array_api import (
    array_device,
    by_row,
    cholesky,
    cholesky_solve,
    diagonal_added,
    like,
    namespace,
    squared_sum,
    take,
)
from partlearn._math.crossfit._bases import Basis, fold_numbers
from partlearn._typing import Array, Indices

RIDGE_GRID = (1e-3, 3e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_JITTER = 1e-12  # on diagonals that are positive but for round-off
KEPT_FACTORS = 1 << 27  # numbers in the factors that are kept: 1 GB
_LARGE = 1 << 18  # numbers above which half the work is worth another copy


def targets(F: Array) -> Array:
    """Block A: ``sqrt(m) F diag(n_j^-1/2)`` with ``n_j`` the mass of a label, centred.

    Source: CRISP, block A.

    Scaled so, labels of any frequency have about the same variance. A label without
    mass has a zero column.
    """
    xp = namespace(F)
    mass = xp.sum(F, axis=0)
    heard = mass >= 1e-9
    scale = sqrt(F.shape[0]) / xp.sqrt(xp.where(heard, mass, 1.0))
    Y = F * xp.where(heard, scale, 0.0)
    Y -= xp.mean(Y, axis=0)
    return Y


class Projection(NamedTuple):
    """Targets on a basis: ``A'Y``, (r + 1, q), and its parts ``A_b'Y_b`` by fold.

    The parts, (n_folds, r + 1, q), are there where regressions are solved by them.
    """

    total: Array
    parts: Array | None


class CrossFit:
    """Ridge regression of many targets on one basis, with and without each fold.

    Parameters
    ----------
    basis : Basis
        Decomposition of the centred data.
    folds : sequence of ndarray of int
        Rows of each fold.

    Notes
    -----
    ``A = [1/sqrt(m), U]`` carries the unpenalised intercept as a first column, and
    ``f = [1, s^2/(s^2 + lambda)]`` shrinks. The ridge predictions are then
    ``A diag(f) A' Y``; without fold b they are, with ``A_b`` the rows of the fold,

    * dual, ``Y_b - (I - A_b diag(f) A_b')^-1 (Y_b - E_b)``, a system of the size of
      the fold, or
    * primal, ``A_b (diag(1/f) - A_b'A_b)^-1 (A'Y - A_b'Y_b)``, the normal equations
      from which the fold was taken out, of size r + 1 (computed symmetrically scaled).

    Both are exact. The primal one is used when r + 1 is below the size of a fold; its
    ``A_b'A_b`` do not depend on the ridge and the error needs no pass over the rows.
    """

    def __init__(self, basis: Basis, folds: Sequence[Indices]) -> None:
        self.basis, self.folds = basis, folds
        m, width = basis.design.shape
        self.primal = width < m / len(folds)
        if self.primal:
            self._fold = fold_numbers(folds, m)
            self._grams = basis.design.grams(self._fold, len(folds))
        elif not basis.design.in_memory:
            raise ValueError(
                f"Blocks of rows need folds of more than {width} rows, one more than "
                f"the basis has columns; {m} rows in {len(folds)} folds are too few. "
                "Load the data into memory."
            )
        self._factors: dict[float, list[tuple[Array, bool]]] = {}
        size = width if self.primal else max(len(rows) for rows in folds)
        self._most = max(KEPT_FACTORS // (len(folds) * size**2), 1)

    def shrinkage(self, ridge: float) -> Array:
        """``[1, s^2/(s^2 + lambda)]`` with lambda = ridge x mean squared value."""
        squares = self.basis.s**2
        f = squares / (squares + ridge * self.basis.mean_square)
        xp = namespace(f)
        return xp.concat([xp.ones(1, dtype=f.dtype, device=array_device(f)), f])

    def project(self, Y: Array) -> Projection:
        """``A'Y``, which every function below starts from."""
        if not self.primal:
            return Projection(self.basis.A.T @ Y, None)
        parts = self.basis.design.products(self._fold, len(self.folds), Y)
        return Projection(namespace(parts).sum(parts, axis=0), parts)

    def in_sample(self, C: Projection, ridge: float) -> Array:
        """Block B: the scores ``E = A diag(f) C`` of the training rows, (m, q).

        Source: CRISP, block B.
        """
        return self.basis.design @ (self.shrinkage(ridge)[:, None] * C.total)

    def held_out(self, Y: Array, C: Projection, ridge: float) -> Array:
        """Block C: scores of each row by the regression without its fold, (m, q).

        Source: CRISP, block C.

        Measured from the mean of the rows that were fitted: ``(x - mean_b) B_b``.
        """
        xp, m = namespace(Y), Y.shape[0]
        f, factors = self.shrinkage(ridge), self._factorize(ridge)
        if C.parts is not None:
            W = xp.stack(
                [self._coefficients(b, C, f, factors) for b in range(len(self.folds))]
            )
            scores = self.basis.design.scores(self._fold, W)
            # The mean target of the other rows: targets sum to zero over all rows, and
            # the first column of A is constant.
            share = [sqrt(m) / (m - len(rows)) for rows in self.folds]
            means = C.parts[:, 0, :] * like(np.asarray(share), Y)[:, None]
            scores += take(means, self._fold)
            return scores
        A, parts = self.basis.A, []
        large = A.shape[0] * A.shape[1] >= _LARGE * len(self.folds)
        E = self.in_sample(C, ridge) if large else None  # no copies of parts of A
        for b, rows in enumerate(self.folds):
            Yb = take(Y, rows)
            Eb = take(A, rows) @ (f[:, None] * C.total) if E is None else take(E, rows)
            predicted = Yb - cholesky_solve(factors[b], Yb - Eb)
            parts.append(predicted + xp.sum(Yb, axis=0) / (m - len(rows)))
        return by_row(parts, self.folds)

    def press(
        self, Y: Array, C: Projection, grid: Sequence[float] = RIDGE_GRID
    ) -> Array:
        """Sum of squared held-out errors for each ridge of the grid."""
        if C.parts is None:
            return self._press_dual(Y, C.total, grid)
        # |Y_b - A_b w|^2 expanded: for all ridges no pass over the rows.
        errors = []
        for ridge in grid:
            f, factors = self.shrinkage(ridge), self._factorize(ridge)
            error = squared_sum(Y)
            for b in range(len(self.folds)):
                W = self._coefficients(b, C, f, factors)
                D = C.parts[b, :, :]
                error = error + squared_sum(W, self._grams[b, :, :] @ W - 2 * D)
            errors.append(float(error))
        return np.asarray(errors)

    def _press_dual(self, Y: Array, C: Array, grid: Sequence[float]) -> Array:
        self._factorize(*grid)
        shrunk = [self.shrinkage(ridge)[:, None] * C for ridge in grid]
        A = self.basis.A
        xp, q = namespace(Y), Y.shape[1]
        scores = A @ xp.concat(shrunk, axis=1)  # one pass over A
        errors = []
        for g, ridge in enumerate(grid):
            residuals = Y - scores[:, g * q : (g + 1) * q]
            factors, error = self._factorize(ridge), 0.0
            for b, rows in enumerate(self.folds):
                left = cholesky_solve(factors[b], take(residuals, rows))
                error = error + xp.sum(xp.square(left))
            errors.append(float(error))
        return np.asarray(errors)

    def _coefficients(
        self, b: int, C: Projection, f: Array, factors: list[tuple[Array, bool]]
    ) -> Array:
        """Coefficients on ``A``'s columns without fold b, from A'Y - A_b'Y_b."""
        assert C.parts is not None
        root = namespace(f).sqrt(f)[:, None]
        return root * cholesky_solve(factors[b], root * (C.total - C.parts[b, :, :]))

    def _factorize(self, *ridges: float) -> list[tuple[Array, bool]]:
        """Cholesky factors for a ridge, one per fold; or for the first of many.

        Those of the ridges asked for last are kept, as many as there is room for.
        """
        ridges = ridges[: self._most]
        fresh = [ridge for ridge in ridges if ridge not in self._factors]
        kept = [ridge for ridge in self._factors if ridge not in ridges]
        for ridge in kept[: max(len(kept) + len(ridges) - self._most, 0)]:
            del self._factors[ridge]
        for ridge in ridges:  # the last in the order is the last asked for
            self._factors[ridge] = self._factors.pop(ridge, [])
        shrinkage = {ridge: self.shrinkage(ridge) for ridge in fresh}
        for b, rows in enumerate(self.folds if fresh else ()):
            A = None if self.primal else take(self.basis.A, rows)
            for ridge, f in shrinkage.items():
                if A is None:
                    root = namespace(f).sqrt(f)
                    K = -root[:, None] * self._grams[b, :, :]
                    K *= root
                else:
                    K = -_weighted_gram(A, f)
                self._factors[ridge].append(cholesky(diagonal_added(K, 1 + _JITTER)))
        return self._factors[ridges[-1]]


def _weighted_gram(A: Array, f: Array) -> Array:
    """``A diag(f) A'``; of a large one, BLAS computes half and mirrors it."""
    if A.shape[0] * A.shape[1] < _LARGE:
        return (A * f) @ A.T
    A = A * namespace(f).sqrt(f)
    return A @ A.T
