"""One decomposition of standardised data, dense or sparse: its left vectors."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from partlearn.linalg import Standardized, column_moments, standardize

__all__ = [
    "FULL_SIZE",
    "TRUNCATED_RANK",
    "Basis",
    "decompose",
    "principal",
    "randomized_left",
]

FULL_SIZE = 4000  # rows or columns up to which all singular directions are kept
TRUNCATED_RANK = 500  # leading singular directions kept above that
_RESOLVED = 1e-7  # singular values that a Gram matrix in float64 can tell from zero
_OVERSAMPLING, _POWER_STEPS = 20, 6

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Basis:
    """``X = U diag(s) V'`` without ``V``, which has as many rows as `X` has columns.

    Attributes
    ----------
    X : Standardized
        The centred data, m x d, float64.
    U : ndarray of shape (m, r)
        Left singular vectors.
    s : ndarray of shape (r,)
        Singular values, largest first.
    total : float
        Sum of all squared singular values, those that were cut off included.
    mean_square : float
        Their mean.
    """

    X: Standardized
    U: Array
    s: Array
    total: float
    mean_square: float

    def directions(self, M: Array) -> Array:
        """Return ``V M``, shape (d, p), as ``X' U diag(1/s) M``."""
        return self.X.transposed_matmul(self.U @ (M / self.s[:, None]))


def principal(
    X: Any, *, scale: bool, rank: int | None, rng: np.random.RandomState
) -> tuple[Basis, Array, Array]:
    """Centre (and scale) the columns in float64, then decompose.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (m, d)
        The data.
    scale : bool
        Whether to bring the columns to variance one.
    rank, rng
        As in :func:`decompose`.

    Returns
    -------
    basis : Basis
        The decomposition, of rank one or more.
    mean, scale : ndarray of shape (d,)
        What to subtract from new data and what to divide it by.
    """
    X = X.astype(np.float64, copy=False)
    matrix, mean, spread = standardize(X, center=True, scale=scale)
    total = float((X.shape[0] - 1) * np.square(column_moments(X)[1] / spread).sum())
    if total <= 0:
        raise ValueError("Every feature is constant: no direction tells rows apart.")
    return decompose(matrix, total, rank, rng), mean, spread


def decompose(
    X: Standardized, total: float, rank: int | None, rng: np.random.RandomState
) -> Basis:
    """Decompose centred data on its smaller side.

    Parameters
    ----------
    X : Standardized
        The data, m x d, float64.
    total : float
        Sum of all squared entries of `X`.
    rank : int or None
        How many leading singular directions to keep. None keeps all, unless both m
        and d exceed `FULL_SIZE`: then `TRUNCATED_RANK`.
    rng : RandomState
        Draws the start of the randomised iteration; unused where all are kept.

    Returns
    -------
    basis : Basis
        Without the directions in which the data do not vary. `r` may be zero.
    """
    m, d = X.shape
    small = min(m, d)
    if rank is None:
        rank = small if small <= FULL_SIZE else TRUNCATED_RANK
    if small <= FULL_SIZE or rank >= small:
        squares, U, V = _by_gram(X)
        r = _resolved(squares)
        mean_square = total / max(r, 1)
        kept = min(r, rank)
        s = np.sqrt(squares[:kept])
        U = X @ V[:, :kept] / s if U is None else U[:, :kept]
        return Basis(X, np.ascontiguousarray(U), s, total, mean_square)
    U, s = randomized_left(X, rank, rng)
    return Basis(X, U, s, total, total / min(m - 1, d))


def _by_gram(X: Standardized) -> tuple[Array, Array | None, Array]:
    """Eigenvalues of the smaller Gram matrix, largest first, with ``U`` or ``V``."""
    m, d = X.shape
    if d <= m:
        squares, V = scipy.linalg.eigh(
            X.scatter(), overwrite_a=True, check_finite=False
        )
        return np.clip(squares[::-1], 0.0, None), None, V[:, ::-1]
    squares, U = scipy.linalg.eigh(X.gram(), overwrite_a=True, check_finite=False)
    return np.clip(squares[::-1], 0.0, None), U[:, ::-1], U


def _resolved(squares: Array) -> int:
    return int(np.count_nonzero(squares > _RESOLVED**2 * max(squares[0], 1e-300)))


def randomized_left(
    X: Standardized, rank: int, rng: np.random.RandomState
) -> tuple[Array, Array]:
    """Leading left singular vectors and values by randomised subspace iteration.

    The data are only ever multiplied with thin matrices, so that sparse data stay
    sparse and nothing of size m x d, m x m or d x d is formed.

    References
    ----------
    N. Halko, P.-G. Martinsson and J. A. Tropp. Finding Structure with Randomness.
    SIAM Review 53(2), 2011, 217-288. https://doi.org/10.1137/090771806
    """
    m, d = X.shape
    width = min(rank + _OVERSAMPLING, m, d)
    Q = X @ rng.standard_normal((d, width))
    for _ in range(_POWER_STEPS):
        Q = _orthonormal(Q)
        Q = X @ _orthonormal(X.transposed_matmul(Q))
    Q = _orthonormal(Q)
    B = X.transposed_matmul(Q)  # (d, width): X is about Q B'
    values, vectors = scipy.linalg.eigh(B.T @ B, check_finite=False)
    order = np.argsort(values)[::-1][:rank]
    s = np.sqrt(np.clip(values[order], 0.0, None))
    return np.ascontiguousarray(Q @ vectors[:, order]), s


def _orthonormal(A: Array) -> Array:
    Q: Array = scipy.linalg.qr(
        A, mode="economic", overwrite_a=True, check_finite=False
    )[0]
    return Q
