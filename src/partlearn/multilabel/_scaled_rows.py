"""Columns scaled to [-1, 1], a constant column, and the spectrum of both."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import min_max_axis

from partlearn._math.linalg import Standardized
from partlearn._typing import Array

_RANK = 1e-14  # squared singular values below this share of the largest are rounding


class ScaledRows:
    """Rows ``(X - shift) / factor``, by default with a constant column, as an operator.

    Sparse rows stay sparse.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
        Rows.
    shift, factor : ndarray of shape (d,)
        Subtracted from the columns, and divides them.
    bias : bool, default=True
        Whether a column of ones follows the others.

    Attributes
    ----------
    shape : tuple of int
        Shape of the matrix, the constant column included.
    """

    def __init__(self, X: Any, shift: Array, factor: Array, bias: bool = True) -> None:
        self._rows = Standardized(X, shift, factor, rest=np.zeros_like(shift))
        self.bias = bias
        self.shape = (X.shape[0], X.shape[1] + bias)

    def __matmul__(self, W: Array) -> Array:
        """Product with a matrix of as many rows as there are columns."""
        if not self.bias:
            return self._rows @ W
        product = self._rows @ W[:-1]
        return product + W[-1]

    def transposed_matmul(self, A: Array) -> Array:
        """Product of the transpose with an (n, p) matrix."""
        product = self._rows.transposed_matmul(A)
        return np.vstack([product, A.sum(axis=0)]) if self.bias else product

    def scatter(self) -> Array:
        """``X' X``, the constant column included."""
        inner = self._rows.scatter()
        if not self.bias:
            return inner
        n = self.shape[0]
        sums = self._rows.transposed_matmul(np.ones((n, 1)))
        return np.block([[inner, sums], [sums.T, np.full((1, 1), float(n))]])

    def dense(self) -> Array:
        """Return the matrix itself."""
        rows = self._rows.dense
        if rows is None:
            rows = self._rows @ np.eye(self._rows.shape[1])
        return np.column_stack([rows, np.ones(len(rows))]) if self.bias else rows

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are kept sparse."""
        return self._rows.dense is None

    def gram(self) -> Array:
        """``X X'``, the constant column included."""
        return self._rows.gram() + float(self.bias)


def scaled_rows(
    X: Any, *, scale: bool = True, bias: bool = True
) -> tuple[ScaledRows, Array, Array]:
    """Bring every column to [-1, 1]; a constant column keeps its values.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
        Rows in float64.
    scale : bool, default=True
        Whether to scale at all.
    bias : bool, default=True
        Whether to append a column of ones.

    Returns
    -------
    rows : ScaledRows
        The scaled rows.
    shift, factor : ndarray of shape (d,)
        Subtracted from new rows, and divides them.
    """
    low, high = min_max_axis(X, axis=0) if sp.issparse(X) else (X.min(0), X.max(0))
    spread = high / 2 - low / 2
    varies = (spread > 0) & scale
    shift = np.where(varies, low / 2 + high / 2, 0.0)
    factor = np.where(varies, spread, 1.0)
    with np.errstate(over="ignore"):
        peak = np.where(varies, 1.0, np.maximum(np.abs(low), np.abs(high)))
        if not np.isfinite(X.shape[0] * (peak**2).sum()):
            raise ValueError(
                "Squared lengths of these rows overflow float64; rescale the features."
            )
    return ScaledRows(X, shift, factor, bias), shift, factor


class Spectrum(NamedTuple):
    """``X'X = Q diag(g) Q'``, restricted to the range of ``X'``.

    ``Q`` is (p, r) with orthonormal columns, ``g`` holds r positive numbers.
    """

    Q: Array
    g: Array

    def ridge(self, B: Array, penalty: float) -> Array:
        """``B (X'X + penalty I)^-1`` for B of shape (l, p)."""
        BQ = B @ self.Q
        inside = (BQ / (self.g + penalty)) @ self.Q.T
        if self.Q.shape[0] == self.Q.shape[1]:
            return inside
        return inside + (B - BQ @ self.Q.T) / penalty


def spectrum(X: ScaledRows) -> Spectrum:
    """Decompose ``X'X`` once, through the smaller side of X.

    Parameters
    ----------
    X : ScaledRows
        Rows, n x p.

    Returns
    -------
    spectrum : Spectrum
        All p eigenvectors where p is at most n; otherwise those of positive eigenvalue.
    """
    n, p = X.shape
    if p <= n:
        g, Q = np.linalg.eigh(X.scatter())
        return Spectrum(Q, np.maximum(g, 0.0))
    if not X.is_sparse:
        _, s, V = np.linalg.svd(X.dense(), full_matrices=False)
        keep = s > np.sqrt(_RANK) * s[0]
        return Spectrum(np.ascontiguousarray(V[keep].T), s[keep] ** 2)
    g, P = np.linalg.eigh(X.gram())
    keep = g > _RANK * g[-1]
    g = g[keep]
    return Spectrum(X.transposed_matmul(P[:, keep]) / np.sqrt(g), g)
