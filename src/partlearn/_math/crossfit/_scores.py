"""Blocks A to C of CRISP: ridge scores of confidences, in-sample and held out.

Confidences are regressed on the data. The held-out score of a row comes from the
regression without the row. Given the left singular vectors, it has a closed form for
every ridge, without a refit.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Sequence
from math import sqrt

import numpy as np

from partlearn._array_api import array_device, at_least, namespace, squared_sum, take
from partlearn._math.crossfit._bases import Basis, Design
from partlearn._typing import Array, Indices

RIDGE_GRID = (1e-3, 3e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
PRESS_ROWS = 4000  # rows whose held-out errors choose a ridge
_AT_ONCE = 1 << 24  # numbers in the scores of several ridges
_LEAST = 1e-12  # of one less the leverage, which is positive but for round-off


def targets(F: Array) -> Array:
    """Block A: ``sqrt(m) F diag(n_j^-1/2)`` with ``n_j`` the mass of a label, centered.

    Source: CRISP, block A.

    After this scaling, labels of any frequency have about the same variance. A label
    without mass has a zero column.
    """
    xp = namespace(F)
    mass = xp.sum(F, axis=0)
    heard = mass >= 1e-9
    scale = sqrt(F.shape[0]) / xp.sqrt(xp.where(heard, mass, 1.0))
    Y = F * xp.where(heard, scale, 0.0)
    Y -= xp.mean(Y, axis=0)
    return Y


class LeaveOneOut:
    """Ridge regression of many targets on one basis, with and without each row.

    Parameters
    ----------
    basis : Basis
        Decomposition of the centered data.
    chosen_by : ndarray of int, default=None
        Rows whose held-out errors determine the ridge; all by default.

    Notes
    -----
    ``A = [1/sqrt(m), U]`` carries the unpenalized intercept as a first column, and
    ``f = [1, s^2/(s^2 + lambda)]`` shrinks. The ridge predictions are ``E = A diag(f)
    A' Y``, and the leverage of row i is ``h_i = sum_k A_ik^2 f_k``. The error of the
    regression without row i is exactly ``(Y_i - E_i) / (1 - h_i)``.
    """

    def __init__(self, basis: Basis, chosen_by: Indices | None = None) -> None:
        self.basis, self.chosen_by = basis, chosen_by
        # One less the leverages, by ridge: of all rows, and of those that choose.
        self._left: dict[float, Array] = {}
        self._chosen: tuple[Design, dict[float, Array]] | None = None

    def shrinkage(self, ridge: float) -> Array:
        """``[1, s^2/(s^2 + lambda)]`` with lambda = ridge x mean squared value."""
        squares = self.basis.s**2
        f = squares / (squares + ridge * self.basis.mean_square)
        xp = namespace(f)
        return xp.concat([xp.ones(1, dtype=f.dtype, device=array_device(f)), f])

    def project(self, Y: Array) -> Array:
        """Return ``A'Y``, the input of the methods below."""
        return self.basis.design.project(Y)

    def in_sample(self, C: Array, ridge: float) -> Array:
        """Block B: the scores ``E = A diag(f) C`` of the training rows, (m, q).

        Source: CRISP, block B.
        """
        return self.basis.design @ (self.shrinkage(ridge)[:, None] * C)

    def errors(self, Y: Array, C: Array, ridge: float) -> Array:
        """Errors of the regressions without each row, ``(Y - E) / (1 - h)``, (m, q)."""
        if ridge not in self._left:
            # One pass for all ridges: the next iteration may choose another one.
            self._left = self._less_leverages(self.basis.design, {ridge, *RIDGE_GRID})
        return (Y - self.in_sample(C, ridge)) / self._left[ridge]

    def _less_leverages(
        self, design: Design, grid: Iterable[float]
    ) -> dict[float, Array]:
        """One less the leverages of the rows of a design, (n, 1), for each ridge."""
        ridges = sorted(grid)
        f = [self.shrinkage(ridge) for ridge in ridges]
        left = design.leverages(namespace(*f).stack(f, axis=1))
        left = at_least(1 - left, _LEAST)
        return {ridge: left[:, i, None] for i, ridge in enumerate(ridges)}

    def held_out(self, Y: Array, C: Array, ridge: float) -> Array:
        """Block C: scores of each row by the regression without it, (m, q).

        Source: CRISP, block C.

        Scores are centered by the mean of the fitted rows, ``(x - mean) B``, so that
        they do not depend on the row's own target. Predictions are ``Y - errors(Y, C,
        ridge)``.
        """
        # Targets sum to zero, so that the mean of the others is -Y_i / (m - 1).
        m = Y.shape[0]
        return Y * (m / (m - 1)) - self.errors(Y, C, ridge)

    def press(self, Y: Array, C: Array, grid: Sequence[float] = RIDGE_GRID) -> Array:
        """Sum of squared held-out errors for each ridge of the grid."""
        if self._chosen is None or not set(grid) <= set(self._chosen[1]):
            design = self.basis.design
            if self.chosen_by is not None:
                design = Design(design.take(self.chosen_by))
            self._chosen = design, self._less_leverages(design, grid)
        (design, left), q = self._chosen, Y.shape[1]
        Y = Y if self.chosen_by is None else take(Y, self.chosen_by)
        xp, errors = namespace(Y), []
        step = max(_AT_ONCE // (Y.shape[0] * q), 1)  # ridges in one product
        for start in range(0, len(grid), step):
            some = grid[start : start + step]
            W = [self.shrinkage(ridge)[:, None] * C for ridge in some]
            E = design @ xp.concat(W, axis=1)
            for g, ridge in enumerate(some):
                error = Y - E[:, g * q : (g + 1) * q]
                error /= left[ridge]
                errors.append(float(squared_sum(error)))
        return np.asarray(errors)

    def choose_ridge(self, Y: Array, C: Array) -> float:
        """Return the ridge of the grid with the smallest held-out error."""
        return RIDGE_GRID[int(np.argmin(self.press(Y, C)))]
