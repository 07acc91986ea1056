"""Standardized columns of dense or sparse data, in blocks.

The selectors use single columns: points of a block of columns, sums over the members of
a class, bins. The data are neither copied nor made dense. All implicit zeros of a
sparse column are one point with a count.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._math.linalg import column_moments, inverse_scale
from partlearn._sizes import SIZES, spans
from partlearn._typing import Array, Indices

Moments = tuple[Array, Array]
N_BINS = 5
_STEPS = (-2.0, -1.0, 1.0, 2.0)  # bins end at these multiples of the spread


class Points(NamedTuple):
    """Standardized values of some columns.

    ``values[indptr[j]:indptr[j + 1]]`` are those of the j-th column, each counted once;
    where ``zeros`` is given, the column has ``zeros[j]`` more points at ``zero[j]``.
    """

    values: Array
    indptr: Indices
    zero: Array | None = None
    zeros: Indices | None = None


PointsAndSums = tuple[Points, Array, Array]
Parameters = tuple[Array, Array, Array]  # mean, inverse, offset of a posterior entropy


def columns(X: Any, moments: Moments | None = None) -> DenseColumns | SparseColumns:
    """Wrap validated data; `moments` may come from more rows."""
    return (SparseColumns if sp.issparse(X) else DenseColumns)(X, moments)


def bin_codes(x: NDArray[Any], mean: Array, std: Array) -> NDArray[np.uint8]:
    """Return the bins of SAUTE: the number of mean ± s and mean ± 2s below each value.

    Parameters
    ----------
    x : ndarray
        Values.
    mean, std : ndarray that broadcasts with `x`
        Mean and standard deviation of the feature. A constant feature (``std == 0``)
        is all in bin 0.

    Returns
    -------
    codes : ndarray of uint8, shape of `x`
        0 to 4.
    """
    codes = np.zeros(np.broadcast_shapes(x.shape, mean.shape), dtype=np.uint8)
    for cut in cuts(mean, std):
        codes += x > cut
    return codes


def cuts(mean: Array, std: Array) -> Array:
    """Return the thresholds of the bins, (4, ...); infinite for a constant feature."""
    with np.errstate(over="ignore"):  # beyond the largest number there are no values
        return np.array([np.where(std > 0, mean + k * std, np.inf) for k in _STEPS])


class DenseColumns:
    """Columns of an ndarray.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        The data, float32 or float64.
    moments : tuple of two ndarray of shape (d,), default=None
        Mean and deviation to standardize by; by default those of the data.

    Attributes
    ----------
    mean, std : ndarray of shape (d,)
        Moments (ddof 1) in float64; a constant column has ``std == 0``.
    """

    sparse = False

    def __init__(self, X: NDArray[Any], moments: Moments | None = None) -> None:
        self.X = X
        self.shape: tuple[int, int] = X.shape
        if moments is None:
            moments = np.empty(self.shape[1]), np.empty(self.shape[1])
            for block in self.blocks():
                moments[0][block], moments[1][block] = column_moments(X[:, block])
        self.mean, self.std = moments
        self.inverse = inverse_scale(self.std)
        self.n_points: int = X.size

    def blocks(self) -> Iterator[slice]:
        """Slices that cover all columns, each of bounded size."""
        return spans(self.shape[1], max(8, SIZES.column_block // self.shape[0]))

    def points_and_sums(self, which: Any, members: Any) -> PointsAndSums:
        """Points, and their sums over the members of each class.

        Parameters
        ----------
        which : slice or ndarray of int
            The columns.
        members : ndarray or CSR matrix of shape (q, m)
            One where a row belongs to a class.

        Returns
        -------
        points : Points
            All values.
        sums, squares : ndarray of shape (b, q)
            Sums of the values and of their squares.
        """
        Z = np.array(self.X[:, which], dtype=np.float64, order="C")
        Z -= self.mean[which]
        Z *= self.inverse[which]
        points = Points(Z.T.flatten(), np.arange(Z.shape[1] + 1) * Z.shape[0])
        sums = np.ascontiguousarray((members @ Z).T)
        np.multiply(Z, Z, out=Z)
        return points, sums, np.ascontiguousarray((members @ Z).T)

    def codes(self, which: Any) -> NDArray[np.uint8]:
        """Bins of some columns, (b, m)."""
        x = self.X[:, which].T
        return bin_codes(x, self.mean[which, None], self.std[which, None])

    def scaled(self, chosen: Indices, standardize: bool, X: Any = None) -> NDArray[Any]:
        """Return the chosen columns for a search of neighbors, (m, len(chosen)).

        The rows are those of `X`, by default those of the data themselves.
        """
        Z = np.ascontiguousarray((self.X if X is None else X)[:, chosen])
        if standardize:
            Z = (Z - self.mean[chosen]) * self.inverse[chosen]
        return Z


class SparseColumns:
    """Columns of a sparse matrix; parameters and attributes as `DenseColumns`."""

    sparse = True

    def __init__(self, X: Any, moments: Moments | None = None) -> None:
        self.X = sp.csc_array(X)
        self.X.sum_duplicates()
        self.shape: tuple[int, int] = X.shape
        self.mean, self.std = column_moments(self.X) if moments is None else moments
        self.inverse = inverse_scale(self.std)
        self.n_points: int = self.X.nnz
        self.zero = -self.mean * self.inverse  # where a zero goes when standardized

    def blocks(self) -> Iterator[slice]:
        """Slices that cover all columns, each with a bounded number of entries."""
        per_column = max(1, self.X.nnz // max(1, self.shape[1]))
        return spans(self.shape[1], max(64, SIZES.column_block // (4 * per_column)))

    def points_and_sums(self, which: Any, members: Any) -> PointsAndSums:
        """Points, and their sums over the members of each class."""
        part, zero = self.X[:, which], self.zero[which]
        column = np.repeat(np.arange(part.shape[1]), np.diff(part.indptr))
        z = part.data * self.inverse[which][column] + zero[column]
        zeros = self.shape[0] - np.diff(part.indptr)
        members = sp.csr_array(members)
        count = np.asarray(members.sum(axis=1)).ravel()

        def total(extra: Array) -> Array:
            entries = sp.csc_array((extra, part.indices, part.indptr), part.shape)
            return np.asarray((members @ entries).toarray()).T

        sums = total(z - zero[column]) + np.outer(zero, count)
        squares = total(z**2 - zero[column] ** 2) + np.outer(zero**2, count)
        points = Points(z, part.indptr.astype(np.intp), zero, zeros)
        return points, np.ascontiguousarray(sums), np.ascontiguousarray(squares)

    def codes(self, which: Any) -> NDArray[np.uint8]:
        """Bins of some columns, dense (b, m): ask for few at a time."""
        x = self.X[:, which].toarray().T
        return bin_codes(x, self.mean[which, None], self.std[which, None])

    def away(self) -> tuple[NDArray[Any], ...]:
        """Entries outside the bin of zero.

        Their rows, columns and bins, column by column; the bin of zero in each column;
        and the number of rows in each bin of each column, (d, 5).
        """
        m, d = self.shape
        column = np.repeat(np.arange(d), np.diff(self.X.indptr))
        codes = bin_codes(self.X.data, self.mean[column], self.std[column])
        rest = bin_codes(np.zeros(d), self.mean, self.std).astype(np.intp)
        away = codes != rest[column]
        codes, column = codes[away], column[away]
        counts = np.bincount(column * N_BINS + codes, minlength=d * N_BINS)
        counts = counts.reshape(d, N_BINS)
        counts[np.arange(d), rest] = m - counts.sum(axis=1)
        return self.X.indices[away], column, codes, rest, counts

    def scaled(self, chosen: Indices, standardize: bool, X: Any = None) -> Any:
        """Return the chosen columns for a search of neighbors, CSR.

        Distances do not change when a column is shifted, so the columns are scaled
        but not centered and stay sparse.
        """
        part = (self.X if X is None else sp.csc_array(X))[:, chosen]
        if standardize:
            part = part @ sp.diags_array(self.inverse[chosen].astype(self.X.dtype))
        return sp.csr_array(part)


def counts_log_counts(n: NDArray[Any]) -> Array:
    """``n ln n``, zero where `n` is zero."""
    n = np.asarray(n, dtype=np.float64)
    return n * np.log(np.where(n > 0, n, 1.0))


def information(joint: NDArray[Any], m: float) -> Array:
    """Mutual information of tables of counts.

    Source: SAUTE, mutual information in Eq. (6).

    Parameters
    ----------
    joint : ndarray of shape (..., 5, 5)
        Counts of pairs of bins.
    m : float
        What the counts of a table sum to.

    Returns
    -------
    information : ndarray of shape (...)
        ``H(f) + H(g) - H(f, g)`` in nats, never negative.
    """
    total = counts_log_counts(joint).sum(axis=(-2, -1))
    for axis in (-2, -1):
        total = total - counts_log_counts(joint.sum(axis=axis)).sum(axis=-1)
    return np.asarray(np.maximum(total / m + np.log(m), 0.0))


def complete(
    joint: NDArray[np.int64],
    of_f: NDArray[np.int64],
    counts: NDArray[np.int64],
    f_rest: int,
    rest: Indices | int = 2,
) -> NDArray[np.int64]:
    """Fill in the row and the column of the bins that were not counted, in place."""
    every = np.arange(len(joint))
    joint[every, :, rest] = 0
    joint[every, :, rest] = of_f - joint.sum(axis=2)
    joint[:, f_rest, :] = 0
    joint[:, f_rest, :] = counts - joint.sum(axis=1)
    return joint
