"""The matrix of a regression, of rows in memory or in blocks."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from partlearn._array_api import array_device, by_row, namespace, where_true
from partlearn._typing import Array, Indices
from partlearn.blocks import Rows, gather, total

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
