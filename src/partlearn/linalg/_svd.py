"""Thin singular value decomposition of standardised data, dense or sparse."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from partlearn.linalg._standardized import Standardized

__all__ = ["ThinSVD", "thin_svd"]


class ThinSVD(NamedTuple):
    """``X = U diag(s) V'`` restricted to the numerical rank r.

    ``U`` is (m, r), ``s`` descending of length r, ``V`` is (d, r).
    """

    U: NDArray[Any]
    s: NDArray[Any]
    V: NDArray[Any]


def thin_svd(X: Standardized, *, tol: float = 1e-10) -> ThinSVD:
    """Decompose standardised data once; singular values below `tol` times the first go.

    Parameters
    ----------
    X : Standardized
        The data, m x d.
    tol : float, default=1e-10
        Relative size below which a singular value counts as zero. A sparse matrix is
        decomposed through its smaller Gram matrix, which resolves no more than about
        1e-7, and float32 data resolve no more than about 1e-6.

    Returns
    -------
    svd : ThinSVD
        ``U``, ``s`` and ``V``, in the precision of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.linalg import standardize, thin_svd
    >>> X, _, _ = standardize(np.random.default_rng(0).normal(size=(6, 3)))
    >>> U, s, V = thin_svd(X)
    >>> bool(np.allclose(U * s @ V.T, X.dense))
    True
    """
    tol = max(tol, 10 * float(np.finfo(X.dtype).eps))
    if X.dense is not None:
        return _cut(*_dense_svd(X.dense), tol)
    m, d = X.shape
    tol = max(tol, 1e-7)
    if d <= m:
        squares, V = scipy.linalg.eigh(X.scatter(), check_finite=False)
        s, V = _roots(squares, V, tol)
        V = V.astype(X.dtype, copy=False)
        return ThinSVD((X @ V) / s.astype(X.dtype), s.astype(X.dtype), V)
    squares, U = scipy.linalg.eigh(X.gram(), check_finite=False)
    s, U = _roots(squares, U, tol)
    U = U.astype(X.dtype, copy=False)
    V = X.transposed_matmul(U) / s.astype(X.dtype)
    return ThinSVD(U, s.astype(X.dtype), V)


def _roots(
    squares: NDArray[np.float64], vectors: NDArray[np.float64], tol: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Singular values from the eigenvalues of a Gram matrix, largest first."""
    s = np.sqrt(np.clip(squares[::-1], 0.0, None))
    kept = int(np.count_nonzero(s > tol * s[0])) if s[0] > 0 else 0
    return s[:kept], vectors[:, ::-1][:, :kept]


def _dense_svd(A: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """SVD of a dense matrix; a tall or wide one is reduced to its triangle first."""
    m, d = A.shape
    if m > 2 * d:
        Q, R = scipy.linalg.qr(A, mode="economic", check_finite=False)
        U, s, Vt = scipy.linalg.svd(R, full_matrices=False, check_finite=False)
        return Q @ U, s, Vt.T
    if d > 2 * m:
        V, s, U = _dense_svd(np.ascontiguousarray(A.T))
        return U, s, V
    U, s, Vt = scipy.linalg.svd(A, full_matrices=False, check_finite=False)
    return U, s, Vt.T


def _cut(U: NDArray[Any], s: NDArray[Any], V: NDArray[Any], tol: float) -> ThinSVD:
    kept = int(np.count_nonzero(s > tol * s[0])) if s[0] > 0 else 0
    return ThinSVD(U[:, :kept], s[:kept], V[:, :kept])
