"""Ridge regression on a basis with every row held out in turn, in closed form."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence

import numpy as np

from partlearn._array_api import array_device, at_least, namespace, row_dots
from partlearn._math.crossfit._bases import Basis
from partlearn._math.crossfit._scores import RIDGE_GRID
from partlearn._typing import Array

_LEAST = 1e-10  # of 1 - h: a row that alone decides its fit has no held-out score


class LeaveOneOut:
    """Ridge regressions of many targets on one basis, each row held out in turn.

    With ``A = [1/sqrt(m), U]`` and ``f = [1, s^2/(s^2 + lambda)]`` the ridge
    predictions are ``A diag(f) A' Y``, the leverages ``h = diag(A diag(f) A')``, and
    the prediction of a row without the row ``y - (y - fit) / (1 - h)``, exactly. The
    constant column gives the ``1/m`` in ``h``: without it the smallest ridge has the
    smallest error for a kernel.

    Parameters
    ----------
    basis : Basis
        Decomposition of the centred data.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.crossfit import LeaveOneOut, linear_basis
    >>> rng = np.random.RandomState(0)
    >>> X, Y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    >>> basis, _, _ = linear_basis(X, scale=False, rank=None, rng=rng)
    >>> model = LeaveOneOut(basis)
    >>> held_out = model.held_out(Y, model.project(Y), ridge=0.0)
    >>> others = np.column_stack([np.ones(19), X[1:]])
    >>> coef = np.linalg.lstsq(others, Y[1:], rcond=None)[0]
    >>> bool(np.allclose(np.append(1, X[0]) @ coef, held_out[0]))
    True
    """

    def __init__(self, basis: Basis) -> None:
        self.basis = basis
        self._all = np.zeros(basis.design.shape[0], dtype=np.intp)  # one fold

    def shrinkage(self, ridge: float) -> Array:
        """``[1, s^2/(s^2 + lambda)]`` with lambda = ridge x mean squared value."""
        squares = self.basis.s**2
        f = squares / (squares + ridge * self.basis.mean_square)
        xp = namespace(f)
        return xp.concat([xp.ones(1, dtype=f.dtype, device=array_device(f)), f])

    def project(self, Y: Array) -> Array:
        """``A'Y``, (r + 1, q), which every function below starts from."""
        return self.basis.design.products(self._all, 1, Y)[0, :, :]

    def held_out(self, Y: Array, C: Array, ridge: float) -> Array:
        """Scores of each row by the regression without it, (m, q)."""
        fit = self.basis.design @ (self.shrinkage(ridge)[:, None] * C)
        return Y - (Y - fit) / self._left([ridge])

    def press(self, Y: Array, C: Array, grid: Sequence[float] = RIDGE_GRID) -> Array:
        """Sum of squared held-out errors for each ridge of the grid."""
        left = self._left(grid)
        errors = []
        for g, ridge in enumerate(grid):
            residual = Y - self.basis.design @ (self.shrinkage(ridge)[:, None] * C)
            error = row_dots(residual, residual) / left[:, g] ** 2
            errors.append(float(namespace(error).sum(error)))
        return np.asarray(errors)

    def _left(self, grid: Sequence[float]) -> Array:
        """``1 - h`` of every row for each ridge, (m, n_ridges)."""
        f = namespace(self.basis.s).stack([self.shrinkage(r) for r in grid], axis=1)
        return at_least(1 - self.basis.design.leverages(f), _LEAST)
