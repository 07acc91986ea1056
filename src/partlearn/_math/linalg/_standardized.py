"""Implicitly standardized matrix.

``(X - mean) / scale`` of a sparse ``X`` is dense, so products with it are computed from
products with ``X`` and rank-one corrections. A dense ``X`` is standardized once.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.sparsefuncs import (
    inplace_column_scale,
    mean_variance_axis,
    min_max_axis,
)

from partlearn._array_api import as_double, is_numpy, is_numpy_namespace, namespace
from partlearn._math.blocks import Rows, total
from partlearn._sizes import SIZES, spans
from partlearn._typing import Array, Indices, Mask

_FAR = 300  # powers of two from which numbers are scaled before they are squared
_FULL = 0.9  # share of entries from which a sparse column is as good as dense
_HUGE = 1e4  # means, in deviations, from which the rounding of a mean matters
_WIDE = 32  # columns of a factor from which a transpose is written row by row


def column_moments(X: Any) -> tuple[Array, Array]:
    """Return mean and standard deviation (ddof 1) of each column, in float64.

    Parameters
    ----------
    X : ndarray, CSR or CSC matrix, or Rows, of shape (m, d)
        The data.

    Returns
    -------
    mean, std : ndarray of shape (d,)
        The standard deviation of a constant column is exactly zero, and so is one too
        small to divide by in the precision of `X`.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import column_moments
    >>> column_moments(np.array([[1.0, 0.1], [3.0, 0.1]]))
    (array([2. , 0.1]), array([1.41421356, 0.        ]))
    """
    if not is_numpy(X):
        return _array_moments(X)
    moments = total(X, _block_moments, combine=_merged)
    # Round-off of the mean must not pass for spread.
    smallest = np.finfo(np.result_type(X.dtype, np.float32)).tiny
    flat = (moments.low == moments.high) | (moments.std < smallest)
    return moments.mean, np.where(flat, 0.0, moments.std)


class _Moments(NamedTuple):
    """Mean, deviation (ddof 1), minimum and maximum of each column of some rows."""

    n: int
    mean: Array
    std: Array
    low: NDArray[Any]
    high: NDArray[Any]


def _block_moments(X: Any) -> _Moments:
    m = X.shape[0]
    low, high = (
        min_max_axis(X, axis=0) if sp.issparse(X) else (X.min(axis=0), X.max(axis=0))
    )
    X, power = _moderate(X, np.maximum(np.abs(low), np.abs(high)))
    if sp.issparse(X):
        mean, var = mean_variance_axis(X.astype(np.float64, copy=False), axis=0)
    else:
        mean = X.mean(axis=0, dtype=np.float64)
        var = X.var(axis=0, dtype=np.float64, mean=mean[None, :])
    with np.errstate(over="ignore"):  # of values of both signs near the largest number
        std = np.ldexp(np.sqrt(var * (m / max(m - 1, 1))), power)
    return _Moments(m, np.ldexp(mean, power), std, low, high)


def _merged(a: _Moments, b: _Moments) -> _Moments:
    """Merge moments of two parts; deviations are added as lengths."""
    n = a.n + b.n
    left, right, between = np.sqrt(
        np.array([a.n - 1, b.n - 1, a.n * (b.n / n)]) / (n - 1)
    )
    apart = b.mean - a.mean
    return _Moments(
        n,
        a.mean + (b.n / n) * apart,
        np.hypot(np.hypot(left * a.std, right * b.std), between * apart),
        np.minimum(a.low, b.low),
        np.maximum(a.high, b.high),
    )


def _array_moments(X: Any) -> tuple[Any, Any]:
    """Compute `column_moments` for an array of another library."""
    xp, m = namespace(X), X.shape[0]
    smallest = float(xp.finfo(X.dtype).smallest_normal)
    constant = xp.min(X, axis=0) == xp.max(X, axis=0)
    X = xp.astype(X, xp.float64, copy=False)
    mean = xp.mean(X, axis=0)
    std = xp.sqrt(xp.sum((X - mean) ** 2, axis=0) / max(m - 1, 1))
    return mean, xp.where(constant | (std < smallest), xp.zeros_like(std), std)


def _moderate(X: Any, peak: NDArray[Any]) -> tuple[Any, NDArray[np.intc]]:
    """Divide columns whose squares would overflow or vanish by a power of two.

    `peak` is the largest magnitude in each column. Powers of two keep all digits.
    """
    _, power = np.frexp(peak.astype(np.float64))
    power[np.abs(power) < _FAR] = 0
    if not power.any():
        return X, power
    power = np.maximum(power, -1000)  # its inverse must be finite
    X = X.astype(np.float64)
    if sp.issparse(X):
        inplace_column_scale(X, np.ldexp(1.0, -power))
    else:
        X *= np.ldexp(1.0, -power)
    return X, power


def thin_product(X: NDArray[Any], A: NDArray[Any]) -> NDArray[Any]:
    """Return ``X @ A`` for a thin `A`, C-ordered.

    BLAS takes about half the time when the thin factor comes first, whatever the
    memory order of either.
    """
    return np.ascontiguousarray((A.T @ X.T).T) if is_numpy(X, A) else X @ A


class Standardized:
    """``(X - mean) / scale`` as an operator; constant columns are zero.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (m, d)
        The data.
    mean : ndarray of shape (d,)
        Subtracted from the columns.
    scale : ndarray of shape (d,)
        Scale of the columns; zero marks a constant column, which becomes zero.
    rest : ndarray of shape (d,), default=None
        Mean of the result, which rounding makes non-zero if `mean` is huge; it is
        subtracted too. By default the mean of the given rows.

    Attributes
    ----------
    shape : tuple of int
        Shape of the matrix.
    dtype : dtype
        float32 or float64, that of `X`.
    mean : ndarray of shape (d,)
        Mean that is subtracted.
    dense : ndarray or None
        The standardized matrix itself if `X` is dense.
    """

    def __init__(
        self, X: Any, mean: Array, scale: Array, rest: Array | None = None
    ) -> None:
        self.shape: tuple[int, int] = X.shape
        self.dtype = X.dtype
        xp = namespace(mean, scale)
        inverse = inverse_scale(scale)
        self._inverse = xp.astype(inverse, X.dtype)
        self.mean = xp.astype(mean, X.dtype)
        self.dense: NDArray[Any] | None = None
        self._XT: Any = None
        if sp.issparse(X):
            self._X, rest = _centered_where_full(X, mean)
            self._shift = rest.astype(X.dtype)
        else:
            self.dense = _written_down(X, mean, inverse, rest=rest)

    def astype(self, dtype: Any) -> Standardized:
        """Return the matrix in another precision, without a copy if possible."""
        if self.dtype == dtype:
            return self
        other = copy.copy(self)
        other.dtype, other._XT = np.dtype(dtype), None
        for name in ("_inverse", "mean", "dense", "_X", "_shift"):
            if getattr(self, name, None) is not None:
                setattr(other, name, getattr(self, name).astype(dtype))
        return other

    def columns(self, which: Indices) -> Standardized:
        """Return the matrix with some of its columns."""
        other = copy.copy(self)
        other.shape, other._XT = (self.shape[0], len(which)), None
        other._inverse, other.mean = self._inverse[which], self.mean[which]
        if self.dense is not None:
            other.dense = self.dense[:, which]
        else:
            other._X, other._shift = self._X[:, which], self._shift[which]
        return other

    def __matmul__(self, P: NDArray[Any]) -> NDArray[Any]:
        """Product with a (d, p) matrix."""
        if self.dense is not None:
            return thin_product(self.dense, P)
        P = self._inverse[:, None] * P
        product = safe_sparse_dot(self._X, P)
        product -= self._shift @ P
        return product

    def transposed_matmul(self, A: NDArray[Any]) -> NDArray[Any]:
        """Product of the transpose with an (m, p) matrix."""
        if self.dense is not None:
            return thin_product(self.dense.T, A)
        transposed = self._X.T if self._XT is None else self._XT
        if self._XT is None and A.shape[1] >= _WIDE:
            transposed = self._XT = sp.csr_array(transposed)
        product = safe_sparse_dot(transposed, A)
        sums = A.sum(axis=0)
        for block in _row_blocks(product.shape):
            product[block] -= self._shift[block, None] * sums
            product[block] *= self._inverse[block, None]
        return product

    def scatter(self) -> Array:
        """``X' X`` of shape (d, d), in float64."""
        if self.dense is not None:
            return as_double(self.dense.T @ self.dense)
        scaled, shift = self._scaled()
        sums = np.asarray(scaled.sum(axis=0), dtype=np.float64).ravel()
        left = np.column_stack([shift, sums - self.shape[0] * shift])
        right = np.stack([sums, shift])
        return _dense_product(sp.csr_array(scaled.T), scaled, left, right)

    def gram(self) -> Array:
        """``X X'`` of shape (m, m), in float64; for few rows and many columns."""
        if self.dense is not None:
            return as_double(self.dense @ self.dense.T)
        scaled, shift = self._scaled()
        cross = np.asarray(scaled @ shift, dtype=np.float64)
        ones = np.ones_like(cross)
        left = np.column_stack([cross, ones])
        right = np.stack([ones, cross - shift @ shift])
        return _dense_product(scaled, sp.csr_array(scaled.T), left, right)

    def _scaled(self) -> tuple[sp.csr_array, Array]:
        """Return sparse data divided by the scale, and the remaining offset."""
        scaled = sp.csr_array(self._X @ sp.diags_array(self._inverse))
        return scaled, (self._shift * self._inverse).astype(np.float64)

    def squared_norm(self) -> float:
        """Sum of all squared entries."""
        if self.dense is not None:
            flat = namespace(self.dense).reshape(self.dense, (-1,))
            return float(flat @ flat)
        scaled, shift = self._scaled()
        sums = np.asarray(scaled.sum(axis=0), dtype=np.float64).ravel()
        squares = float(np.square(scaled.data, dtype=np.float64).sum())
        return squares - float(shift @ (2 * sums - self.shape[0] * shift))


class BlockStandardized(Standardized):
    """``(X - mean) / scale`` of rows in blocks, with products summed over the blocks.

    Parameters
    ----------
    X : Rows of shape (m, d)
        The data.
    mean, scale
        As in :class:`Standardized`.

    Attributes
    ----------
    blocks : Rows
        The same, each block a :class:`Standardized` of its rows.
    """

    def __init__(self, X: Rows, mean: Array, scale: Array) -> None:
        self.dtype, self.dense = X.dtype, None
        self.shape = (X.shape[0], X.shape[1])
        self.mean = mean.astype(X.dtype)
        rest = np.zeros_like(mean)
        if _far(mean, inverse_scale(scale)).any():
            rest = _blocks(X, mean, scale, rest).total(_column_sums) / self.shape[0]
        self.blocks = _blocks(X, mean, scale, rest)

    def __matmul__(self, P: NDArray[Any]) -> NDArray[Any]:
        """Product with a (d, p) matrix."""
        return self.blocks.map(Standardized.__matmul__, P=P)

    def transposed_matmul(self, A: NDArray[Any]) -> NDArray[Any]:
        """Product of the transpose with an (m, p) matrix."""
        return self.blocks.total(Standardized.transposed_matmul, A)

    def scatter(self) -> Array:
        """``X' X`` of shape (d, d), in float64."""
        scatter: Array = self.blocks.total(Standardized.scatter)
        return scatter.copy()

    def gram(self) -> Array:
        """Raise, since ``X X'`` is not a sum over rows."""
        m, d = self.shape
        raise ValueError(
            f"Blocks of rows need more rows than columns; there are {m} rows and {d} "
            "columns. Load the data into memory."
        )

    def squared_norm(self) -> float:
        """Sum of all squared entries."""
        return float(self.blocks.total(Standardized.squared_norm))


def _blocks(X: Rows, mean: Array, scale: Array, rest: Array) -> Rows:
    """Blocks of rows, standardized by the mean and scale of all rows."""
    standardized = partial(Standardized, mean=mean, scale=scale, rest=rest)
    return X.apply(standardized, n_features=X.shape[1])


def _column_sums(X: Standardized) -> Array:
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    return X.transposed_matmul(ones)[:, 0].astype(np.float64)


def inverse_scale(scale: Array) -> Array:
    """Return one over each scale, zero for a column that is constant up to rounding."""
    xp = namespace(scale)
    apart = (
        scale >= xp.finfo(scale.dtype).smallest_normal
    )  # the inverse of less overflows
    return xp.where(apart, 1.0 / xp.where(apart, scale, 1.0), 0.0)


def _far(mean: Array, inverse: Array) -> Mask:
    """Return a mask of the columns whose mean is so large that its rounding matters."""
    return namespace(mean).abs(mean) * inverse > _HUGE


def _written_down(
    X: NDArray[Any],
    mean: Array,
    inverse: Array,
    rows: Any = None,
    rest: Array | None = None,
) -> NDArray[Any]:
    """Compute ``(X - mean) * inverse`` in the precision of `X`; `rows` sum to zero.

    The rounding error of a mean in float32 grows with the size of the data, and so does
    one in float64 for a mean far above the deviation. The remainder in every row would
    look like a direction of the data.
    """
    xp = namespace(X)
    if not is_numpy_namespace(xp):
        Z = xp.astype((X - mean) * inverse, X.dtype, copy=False)
        left = xp.mean(Z, axis=0)
        return Z - xp.where(_far(mean, inverse), left, xp.zeros_like(left))
    Z = np.empty(X.shape, dtype=X.dtype)
    for block in _row_blocks(X.shape):
        Z[block] = (X[block] - mean) * inverse
    far = _far(mean, inverse)
    if far.any():
        counted = slice(None) if rows is None else rows
        left = Z[counted][:, far].mean(axis=0) if rest is None else rest[far]
        Z[:, far] -= left.astype(Z.dtype, copy=False)
    return Z


def _centered_where_full(X: Any, mean: Array) -> tuple[Any, Array]:
    """Subtract the mean of columns that are stored nearly in full.

    Only such a column can have a mean far above its deviation, for which corrections of
    rank one lose all digits. Returns the matrix and the means still to be subtracted.
    """
    m, d = X.shape
    stored = np.bincount(X.indices, minlength=d)
    full = np.flatnonzero((stored > _FULL * m) & (mean != 0))
    if not full.size:
        return X, mean
    values, columns = np.tile(-mean[full], m), np.tile(full, m)
    ends = np.arange(0, m * full.size + 1, full.size)
    minus = sp.csr_array((values, columns, ends), shape=X.shape)
    rest = mean.copy()
    rest[full] = 0.0
    return sp.csr_array(X + minus).astype(X.dtype, copy=False), rest


def _row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield slices of few rows that stay in cache."""
    return spans(shape[0], SIZES.standardized_block // max(1, shape[1]))


def _dense_product(A: Any, B: Any, left: Array, right: Array) -> Array:
    """Compute ``A B - left right`` for sparse A and B as a dense matrix, by blocks."""
    A, B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False)
    rows, columns = A.shape[0], B.shape[1]
    product = np.empty((rows, columns))
    for block in _row_blocks(product.shape):
        (A[block] @ B).toarray(out=product[block])
        product[block] -= left[block] @ right
    return product


def standardize(
    X: Any, *, center: bool = True, scale: bool = True
) -> tuple[Standardized, Array, Array]:
    """Standardize the columns of a dense or sparse matrix (ddof 1).

    Parameters
    ----------
    X : ndarray, CSR matrix or Rows, of shape (m, d)
        The data, float32 or float64.
    center, scale : bool, default=True
        Whether to subtract the mean, and to divide by the standard deviation.

    Returns
    -------
    matrix : Standardized
        The standardized matrix.
    mean, scale : ndarray of shape (d,)
        Mean and scale for new data; no entry of `scale` is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import standardize
    >>> matrix, mean, scale = standardize(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> mean, scale
    (array([2., 5.]), array([1.41421356, 1.        ]))
    >>> matrix @ np.eye(2)
    array([[-0.70710678,  0.        ],
           [ 0.70710678,  0.        ]])
    """
    mean, std = column_moments(X)
    xp = namespace(mean)
    constant = (std == 0) & (center | (mean == 0))
    if not center:
        mean = xp.zeros_like(mean)
    if not scale:
        std = xp.ones_like(std)
    std = xp.where(constant, 0.0, xp.where(std == 0, 1.0, std))
    matrix = (BlockStandardized if isinstance(X, Rows) else Standardized)(X, mean, std)
    return matrix, mean, xp.where(constant, 1.0, std)


def z_scores(X: Any, rows: Any = None, *, max_dense_bytes: int = 0) -> Any:
    """Return the standardized columns of a matrix (ddof 1).

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (m, d)
        The data.
    rows : ndarray of int, default=None
        Rows that determine mean and deviation; None means all.
    max_dense_bytes : int, default=0
        Sparse input becomes dense up to this size in float64. Larger input is only
        scaled, since centering would fill it.

    Returns
    -------
    Z : ndarray or CSR matrix of shape (m, d)
        Columns that are constant in `rows` are zero there, and not scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import z_scores
    >>> z_scores(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-0.70710678,  0.        ],
           [ 0.70710678,  0.        ]])
    """
    if sp.issparse(X) and X.shape[0] * X.shape[1] * 8 <= max_dense_bytes:
        X = X.toarray()
    if X.dtype.kind != "f":
        X = X.astype(np.float64)
    part = X if rows is None else X[rows]
    mean, std = column_moments(part)
    inverse = 1.0 / np.where(std > 0, std, 1.0)
    if sp.issparse(X):
        scaled = sp.csr_array(X, copy=True)
        inplace_column_scale(scaled, inverse.astype(X.dtype))
        return scaled
    # The round-off of a mean must not pass for a value.
    return _written_down(X, np.where(std > 0, mean, part[0]), inverse, rows)
