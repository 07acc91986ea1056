"""Rows in the basis of their scatter matrix."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np

from partlearn._typing import Array

_RANK = 1e-13  # eigenvalues below this share of the largest are rounding


class RowBasis:
    """Rows in the basis of their scatter matrix, where it is diagonal.

    Parameters
    ----------
    X : ndarray, Standardized or ScaledRows, shape (n, r)
        Rows, turned or as they are.
    g : ndarray of shape (r,)
        Squared lengths of the columns, which are orthogonal; zeros where rows were not
        turned.
    back : ndarray of shape (d, r) or None
        Turns weights back; None where rows were not turned.

    Attributes
    ----------
    shape : tuple of int
        Shape of the rows.
    """

    def __init__(self, X: Any, g: Array, back: Array | None) -> None:
        self.X, self.g, self._back = X, g, back
        self.shape = X.shape

    def __matmul__(self, V: Array) -> Array:
        """Scores of weights in this basis."""
        return np.asarray(self.X @ V)

    def transposed_matmul(self, A: Array) -> Array:
        """Product of the transposed rows with an (n, l) matrix."""
        if self._back is None:
            return np.asarray(self.X.transposed_matmul(A))
        return np.asarray(self.X.T @ A)

    def weights(self, V: Array) -> Array:
        """Weights of the features."""
        return V if self._back is None else self._back @ V


def row_basis(X: Any, largest: int) -> RowBasis:
    """Decompose rows through their smaller side, unless both sides are large.

    Parameters
    ----------
    X : Standardized or ScaledRows, shape (n, d)
        Rows.
    largest : int
        Size of the smaller side up to which rows are decomposed.

    Returns
    -------
    basis : RowBasis
        The rows, with r columns for the rank r.
    """
    n, d = X.shape
    if min(n, d) > largest:
        return RowBasis(X, np.zeros(d), None)
    g, Q = np.linalg.eigh(X.scatter() if d <= n else X.gram())
    keep = g > max(_RANK * g[-1], 0.0)
    g, Q = g[keep], np.ascontiguousarray(Q[:, keep])
    if d <= n:
        return RowBasis(X @ Q, g, Q)
    root = np.sqrt(g)
    return RowBasis(Q * root, g, X.transposed_matmul(Q) / root)
