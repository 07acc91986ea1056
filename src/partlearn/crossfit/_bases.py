"""Bases of cross-fitted regressions: decompositions of the rows in one geometry."""

# SPDX-License-Identifier: BSD-3-Clause

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from partlearn._array_api import array_device, as_double, is_numpy, namespace
from partlearn._typing import Array, Indices
from partlearn.blocks import Rows
from partlearn.crossfit._design import Design, fold_numbers
from partlearn.linalg import (
    FULL_SIZE,
    BlockStandardized,
    Standardized,
    ThinBasis,
    column_moments,
    leading_rank,
    standardize,
)

_EVEN = 1e-3  # least to largest singular value, from which Gram matrices may be turned


@dataclass(frozen=True)
class Basis:
    """Rows as ``U diag(s)`` in the coordinates of some geometry.

    Attributes
    ----------
    design : Design of shape (m, r + 1)
        Orthonormal columns: a constant one, for the intercept, and ``U``, whose
        columns sum to zero.
    s : ndarray of shape (r,)
        Singular values, largest first.
    total : float
        Sum of all squared singular values, those that were cut off included.
    mean_square : float
        Their mean.
    """

    design: Design
    s: Array
    total: float
    mean_square: float

    @property
    def A(self) -> Array:
        """The matrix of the design, where it is in memory."""
        assert not isinstance(self.design.rows, Rows)
        return self.design.rows

    @property
    def U(self) -> Array:
        """Left singular vectors, (m, r)."""
        return self.A[:, 1:]

    @property
    def rows(self) -> Array:
        """The training rows, ``U diag(s)``."""
        return self.U * self.s

    def embedded(self, M: Array) -> Array:
        """``U diag(s) M`` for M of shape (r, p): the training rows along directions."""
        xp = namespace(M)
        zero = xp.zeros_like(M[:1, :])
        return self.design @ xp.concat([zero, self.s[:, None] * M], axis=0)


@dataclass(frozen=True)
class LinearBasis(Basis):
    """Basis of the centred data themselves, ``X = U diag(s) V'`` without ``V``.

    Attributes
    ----------
    directions : callable
        Gives ``V M``, shape (d, p), for M of shape (r, p).
    """

    directions: Callable[[Array], Array]


def linear_basis(
    X: Any,
    *,
    scale: bool,
    rank: int | None,
    rng: np.random.RandomState,
    folds: Sequence[Indices] | None = None,
) -> tuple[LinearBasis, Array, Array]:
    """Centre (and scale) the columns in float64, then decompose.

    Parameters
    ----------
    X : ndarray, CSR matrix or Rows, of shape (m, d)
        The data; not all columns constant.
    scale : bool
        Whether to bring the columns to variance one.
    rank, rng
        As in ``decompose``.
    folds : sequence of ndarray of int, default=None
        Rows of the folds of the regressions to come: of blocks of rows, their Gram
        matrices are then found on the way.

    Returns
    -------
    basis : LinearBasis
        The decomposition, of rank one or more.
    mean, scale : ndarray of shape (d,)
        What to subtract from new data and what to divide it by.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.crossfit import linear_basis
    >>> rng = np.random.RandomState(0)
    >>> X = rng.standard_normal((20, 3))
    >>> basis, mean, _ = linear_basis(X, scale=False, rank=None, rng=rng)
    >>> bool(np.allclose(basis.rows @ basis.directions(np.eye(3)).T, X - mean))
    True
    """
    X = X.astype(np.float64, copy=False) if is_numpy(X) else as_double(X)
    matrix, mean, spread = standardize(X, center=True, scale=scale)
    xp, std = namespace(mean), column_moments(X)[1]
    total = float((X.shape[0] - 1) * xp.sum(xp.square(std / spread)))
    if total <= 0:
        raise ValueError("Every feature is constant: no direction tells rows apart.")
    return decompose(matrix, total, rank, rng, folds), mean, spread


def decompose(
    X: Standardized,
    total: float,
    rank: int | None,
    rng: np.random.RandomState,
    folds: Sequence[Indices] | None = None,
) -> LinearBasis:
    """Decompose centred data on its smaller side.

    Parameters
    ----------
    X : Standardized
        The data, m x d, float64.
    total : float
        Sum of all squared entries of `X`.
    rank : int or None
        How many leading singular directions to keep. None keeps all, unless both m
        and d exceed 4000: then 500.
    rng : RandomState
        Draws the start of the randomised iteration; unused where all are kept.
    folds
        As in :func:`linear_basis`.

    Returns
    -------
    basis : LinearBasis
        Without the directions in which the data do not vary. `r` may be zero.
    """
    small, leading = min(X.shape), leading_rank(X.shape)
    if isinstance(X, BlockStandardized) and leading is not None:
        raise ValueError(
            f"Blocks of rows may have {FULL_SIZE} columns at most; there are "
            f"{X.shape[1]}. Reduce or select columns first."
        )
    if rank is None:
        rank = leading or small
    whole = leading is None or rank >= small
    grams = None
    if isinstance(X, BlockStandardized) and folds is not None:
        features = Design(X.blocks, standardized_features)
        grams = features.grams(fold_numbers(folds, X.shape[0]), len(folds))
        X.known_scatter = grams[:, 1:, 1:].sum(axis=0)
    thin = ThinBasis(X, solver="gram" if whole else "randomized", rank=rank, rng=rng)
    m = X.shape[0]
    if isinstance(X, BlockStandardized):
        assert thin.V is not None
        T = scipy.linalg.block_diag(m**-0.5, thin.V / thin.s)
        # Of columns that are nearly equal too few digits would be left on the way.
        even = grams is not None and thin.s[-1] >= _EVEN * thin.s[0]
        grams = T.T @ grams @ T if even else None
        design = Design(X.blocks, standardized_features, T, grams)
    else:
        assert thin.U is not None  # both solvers keep the left factor
        xp = namespace(thin.U)
        options = {"dtype": thin.U.dtype, "device": array_device(thin.U)}
        constant = xp.full((m, 1), m**-0.5, **options)
        A = xp.concat([constant, thin.U], axis=1)
        thin.U = A[:, 1:]  # one copy of them is enough
        design = Design(A)
    # Where the right factor is known the data themselves need not be kept for it.
    right = thin.right if thin.V is None else partial(operator.matmul, thin.V)
    mean_square = total / max(thin.n_directions, 1)
    return LinearBasis(design, thin.s, total, mean_square, right)


def standardized_features(block: Standardized) -> Array:
    """Columns of a linear design for a block: a constant one and its own."""
    m, d = block.shape
    Z = block @ np.eye(d) if block.dense is None else block.dense
    return np.hstack([np.ones((m, 1)), Z])
