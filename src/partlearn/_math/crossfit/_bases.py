"""Bases of cross-fitted regressions: decompositions of the rows in one geometry.

The matrix of a regression is in memory, or made of rows in blocks.
"""

# SPDX-License-Identifier: BSD-3-Clause

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from partlearn._array_api import (
    array_device,
    as_double,
    by_row,
    is_numpy,
    namespace,
    where_true,
)
from partlearn._math.blocks import Rows, gather, total
from partlearn._math.linalg import (
    FULL_SIZE,
    BlockStandardized,
    Standardized,
    ThinBasis,
    column_moments,
    leading_rank,
    standardize,
)
from partlearn._typing import Array, Indices

_EVEN = 1e-3  # least to largest singular value, from which Gram matrices may be turned

Features = Callable[[Any], Array]


class Design:
    """``A``, with one row per sample: what regressions on it need are sums over rows.

    Parameters
    ----------
    rows : ndarray of shape (m, r + 1), or Rows
        The matrix itself; or rows in blocks, of which `features` and `T` make it.
    features : callable, default=None
        Gives p + 1 columns for the rows of a block, a constant one first. Workers must
        be able to unpickle it.
    T : ndarray of shape (p + 1, r + 1), default=None
        ``A = features(rows) @ T``; its first row is the constant one's.
    grams : ndarray of shape (n, r + 1, r + 1), default=None
        Gram matrices of the folds that `grams` will be asked for, where they are
        known, which saves a pass.

    Attributes
    ----------
    shape : tuple of int
        Shape of ``A``.
    in_memory : bool
        Whether `rows` is the matrix.
    """

    def __init__(
        self,
        rows: Array | Rows,
        features: Features | None = None,
        T: Array | None = None,
        grams: Array | None = None,
    ) -> None:
        self.rows, self._features, self._T = rows, features, T
        self._grams = grams
        width = rows.shape[1] if T is None else T.shape[1]
        self.shape = (rows.shape[0], width)
        self.in_memory = not isinstance(rows, Rows)

    def grams(self, fold: Indices, n: int) -> Array:
        """``A_b' A_b`` of each of n folds, (n, r + 1, r + 1).

        `fold` has the number of a fold for each row.
        """
        if self._grams is not None:
            return self._grams
        return total(
            self.rows, fold_grams, fold, n=n, features=self._features, T=self._T
        )

    def products(self, fold: Indices, n: int, Y: Array) -> Array:
        """``A_b' Y_b`` of each fold, (n, r + 1, q)."""
        products: Array = total(
            self.rows, fold_products, fold, Y, n=n, features=self._features
        )
        return products if self._T is None else self._T.T @ products

    def scores(self, fold: Indices, W: Array) -> Array:
        """Rows of ``A`` times the coefficients of their fold, (m, q); W is (n, r+1, q).

        With a single fold all rows have the same coefficients.
        """
        W = W if self._T is None else self._T @ W
        return gather(self.rows, fold_scores, fold, W=W, features=self._features)

    def leverages(self, f: Array) -> Array:
        """``sum_k A_ik^2 f_kl`` for each row, (m, l); f is (r + 1, l)."""
        return gather(self.rows, row_leverages, f=f, features=self._features, T=self._T)

    def __matmul__(self, W: Array) -> Array:
        """Product with an (r + 1, q) matrix."""
        if isinstance(self.rows, Rows):
            return self.scores(np.zeros(self.shape[0], dtype=np.intp), W[None])
        return self.rows @ W


def fold_numbers(folds: Sequence[Indices], m: int) -> Indices:
    """Give the number of its fold for each of m rows."""
    numbers = np.empty(m, dtype=np.intp)
    for b, rows in enumerate(folds):
        numbers[rows] = b
    return numbers


def _matrix(block: Any, features: Features | None) -> Array:
    return block if features is None else features(block)


def _fold_parts(fold: Indices, *arrays: Any) -> Iterator[tuple[int, list[Any]]]:
    """Folds that have rows in a block, and these rows; all rows are not copied."""
    for b in np.unique(fold).tolist():
        rows = fold == b
        yield b, [A if rows.all() else where_true(A, rows) for A in arrays]


def _zeros(shape: tuple[int, ...], A: Array) -> Array:
    return namespace(A).zeros(shape, dtype=A.dtype, device=array_device(A))


def fold_grams(
    block: Any, fold: Indices, n: int, features: Features | None, T: Array | None
) -> Array:
    """Gram matrix of the rows of each fold in a block."""
    A = _matrix(block, features)
    A = A if T is None else A @ T
    grams = _zeros((n, A.shape[1], A.shape[1]), A)
    for b, (part,) in _fold_parts(fold, A):
        grams[b, :, :] = part.T @ part
    return grams


def fold_products(
    block: Any, fold: Indices, Y: Array, n: int, features: Features | None
) -> Array:
    """Product of the rows of each fold in a block with their targets."""
    A = _matrix(block, features)
    products = _zeros((n, A.shape[1], Y.shape[1]), A)
    for b, (part, target) in _fold_parts(fold, A, Y):
        products[b, :, :] = (target.T @ part).T  # twice as fast as A' Y
    return products


def fold_scores(
    block: Any, fold: Indices, W: Array, features: Features | None
) -> Array:
    """Rows of a block times the coefficients of their fold."""
    parts = [
        (W[b, :, :].T @ part.T).T  # faster than A W
        for b, (part,) in _fold_parts(fold, _matrix(block, features))
    ]
    return by_row(parts, [np.flatnonzero(fold == b) for b in np.unique(fold)])


def row_leverages(
    block: Any, f: Array, features: Features | None, T: Array | None
) -> Array:
    """Squares of the rows of a block times the columns of `f`."""
    A = _matrix(block, features)
    A = A if T is None else A @ T
    return namespace(A).square(A) @ f


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
    >>> from partlearn._math.crossfit import linear_basis
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
