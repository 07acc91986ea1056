"""Bases of cross-fitted regressions: decompositions of the rows in one geometry.

The matrix of a regression is in memory, or made of rows in blocks.
"""

# SPDX-License-Identifier: BSD-3-Clause

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from partlearn._array_api import (
    array_device,
    as_double,
    is_numpy,
    like,
    namespace,
)
from partlearn._math.blocks import Rows, gather, take, total
from partlearn._math.linalg import (
    BlockStandardized,
    Standardized,
    ThinBasis,
    column_moments,
    leading_rank,
    standardize,
)
from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices

_ROWS = 4096  # rows that are squared at a time

Features = Callable[[Any], Array]


class Design:
    """Design matrix ``A`` with one row per sample, in memory or in blocks.

    Parameters
    ----------
    rows : ndarray of shape (m, r + 1), or Rows
        The matrix itself; or rows in blocks, which `features` and `T` convert to it.
    features : callable, default=None
        Returns p + 1 columns for the rows of a block, the first one constant. Workers
        must be able to unpickle it.
    T : ndarray of shape (p + 1, r + 1), default=None
        ``A = features(rows) @ T``; its first row belongs to the constant column.

    Attributes
    ----------
    shape : tuple of int
        Shape of ``A``.
    """

    def __init__(
        self,
        rows: Array | Rows,
        features: Features | None = None,
        T: Array | None = None,
    ) -> None:
        self.rows, self._features, self._T = rows, features, T
        width = rows.shape[1] if T is None else T.shape[1]
        self.shape = (rows.shape[0], width)

    def gram(self) -> Array:
        """``A' A``, (r + 1, r + 1)."""
        return total(self.rows, block_gram, features=self._features, T=self._T)

    def project(self, Y: Array) -> Array:
        """``A' Y``, (r + 1, q)."""
        product: Array = total(self.rows, block_product, Y, features=self._features)
        return product if self._T is None else self._T.T @ product

    def __matmul__(self, W: Array) -> Array:
        """Product with an (r + 1, q) matrix."""
        W = W if self._T is None else self._T @ W
        return gather(self.rows, block_scores, W=W, features=self._features)

    def leverages(self, f: Array) -> Array:
        """``diag(A diag(f) A')`` for each column of `f` (r + 1, n), (m, n)."""
        return gather(
            self.rows, block_leverages, f=f, features=self._features, T=self._T
        )

    def take(self, places: Indices) -> Array:
        """Rows of ``A`` in memory."""
        rows = self.rows
        if isinstance(rows, Rows) and self._features is not None:
            width = self.shape[1] if self._T is None else self._T.shape[0]
            rows = rows.apply(self._features, n_features=width)
        A: Array = take(rows, places)
        return A if self._T is None else A @ self._T


def _matrix(block: Any, features: Features | None) -> Array:
    return block if features is None else features(block)


def block_gram(block: Any, features: Features | None, T: Array | None) -> Array:
    """Gram matrix of the rows of a block."""
    A = _matrix(block, features)
    A = A if T is None else A @ T
    return A.T @ A


def block_product(block: Any, Y: Array, features: Features | None) -> Array:
    """Product of the rows of a block with their targets."""
    return (Y.T @ _matrix(block, features)).T  # twice as fast as A' Y


def block_scores(block: Any, W: Array, features: Features | None) -> Array:
    """Rows of a block times coefficients."""
    return (W.T @ _matrix(block, features).T).T  # faster than A W


def block_leverages(
    block: Any, f: Array, features: Features | None, T: Array | None
) -> Array:
    """Weighted squares of the rows of a block, some rows at a time."""
    A = _matrix(block, features)
    xp, parts = namespace(A), []
    for start in range(0, A.shape[0], _ROWS):
        part = A[start : min(start + _ROWS, A.shape[0]), :]
        part = part if T is None else part @ T
        parts.append(xp.square(part) @ f)
    return xp.concat(parts, axis=0)


@dataclass(frozen=True)
class Basis:
    """Decomposition ``U diag(s)`` of the rows in a geometry.

    Attributes
    ----------
    design : Design of shape (m, r + 1)
        Orthonormal columns: a constant one, for the intercept, and ``U``, whose
        columns sum to zero.
    s : ndarray of shape (r,)
        Singular values, largest first.
    total : float
        Sum of all squared singular values, also of those that were cut off.
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
    def rows(self) -> Any:
        """The training rows, ``U diag(s)``; of rows in blocks, as they are there."""
        if isinstance(self.design.rows, Rows):
            d = self.design.rows.shape[1]
            return self.design.rows.apply(standardized_rows, n_features=d)
        return self.U * self.s

    def embedded(self, M: Array) -> Array:
        """``U diag(s) M`` for M of shape (r, p): the training rows along directions."""
        xp = namespace(M)
        zero = xp.zeros_like(M[:1, :])
        return self.design @ xp.concat([zero, self.s[:, None] * M], axis=0)


@dataclass(frozen=True)
class LinearBasis(Basis):
    """Basis of the centered data themselves, ``X = U diag(s) V'`` without ``V``.

    Attributes
    ----------
    directions : callable
        Returns ``V M``, shape (d, p), for M of shape (r, p).
    """

    directions: Callable[[Array], Array]


def linear_basis(
    X: Any,
    *,
    scale: bool,
    rank: int | None,
    rng: np.random.RandomState,
    weights: Array | None = None,
) -> tuple[LinearBasis, Array, Array]:
    """Center (and scale) the columns in float64, then decompose.

    Parameters
    ----------
    X : ndarray, CSR matrix or Rows, of shape (m, d)
        The data; not all columns constant.
    scale : bool
        Whether to bring the columns to variance one.
    rank, rng
        As in ``decompose``.
    weights : ndarray of shape (d,), default=None
        Positive weights of the columns; equal by default.

    Returns
    -------
    basis : LinearBasis
        The decomposition, of rank one or more. Its directions are in units of the
        columns without weights.
    mean, scale : ndarray of shape (d,)
        Mean and scale for new data.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.crossfit import linear_basis
    >>> rng = np.random.RandomState(0)
    >>> X = rng.standard_normal((20, 3))
    >>> basis, mean, _ = linear_basis(X, scale=False, rank=None, rng=rng)
    >>> bool(np.allclose(basis.rows @ basis.directions(np.eye(3)).T, X - mean))
    True
    """
    X = X.astype(np.float64, copy=False) if is_numpy(X) else as_double(X)
    matrix, mean, spread = standardize(X, center=True, scale=scale)
    xp, std, unit = namespace(mean), column_moments(X)[1], spread
    if weights is not None:
        weights = like(weights, spread)
        unit = spread / weights
        matrix = type(matrix)(X, mean, unit)
    total = float((X.shape[0] - 1) * xp.sum(xp.square(std / unit)))
    if total <= 0:
        raise ValueError("All features are constant: rows cannot be distinguished.")
    basis = decompose(matrix, total, rank, rng)
    if weights is not None:
        basis = replace(basis, directions=partial(_weighted, weights, basis.directions))
    return basis, mean, spread


def _weighted(weights: Array, directions: Callable[[Array], Array], M: Array) -> Array:
    return weights[:, None] * directions(M)


def decompose(
    X: Standardized,
    total: float,
    rank: int | None,
    rng: np.random.RandomState,
) -> LinearBasis:
    """Decompose centered data on its smaller side.

    Parameters
    ----------
    X : Standardized
        The data, m x d, float64.
    total : float
        Sum of all squared entries of `X`.
    rank : int or None
        Number of leading singular directions to keep. None keeps all, or 500 if both m
        and d exceed 4000.
    rng : RandomState
        Draws the start of the randomized iteration; unused if all are kept.

    Returns
    -------
    basis : LinearBasis
        Without the directions in which the data do not vary. `r` may be zero.
    """
    small, leading = min(X.shape), leading_rank(X.shape)
    if isinstance(X, BlockStandardized) and leading is not None:
        raise ValueError(
            f"Blocks of rows may have {SIZES.full_svd} columns at most; there are "
            f"{X.shape[1]}. Reduce or select columns first."
        )
    if rank is None:
        rank = leading or small
    whole = leading is None or rank >= small
    thin = ThinBasis(X, solver="gram" if whole else "randomized", rank=rank, rng=rng)
    m = X.shape[0]
    if isinstance(X, BlockStandardized):
        assert thin.V is not None
        T = scipy.linalg.block_diag(m**-0.5, thin.V / thin.s)
        design = Design(X.blocks, standardized_features, T)
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
    return np.hstack([np.ones((block.shape[0], 1)), standardized_rows(block)])


def standardized_rows(block: Standardized) -> Array:
    """Rows of a block, dense."""
    return block @ np.eye(block.shape[1]) if block.dense is None else block.dense
