"""Thin singular value decomposition of standardised data, dense or sparse."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from partlearn.linalg._eigen import MAX_FACTOR
from partlearn.linalg._standardized import Standardized, thin_product

__all__ = ["ThinBasis", "ThinSVD", "thin_svd"]


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
    basis = ThinBasis(X, tol=tol)
    eye = np.eye(basis.rank, dtype=X.dtype)
    U = basis.left(eye) if basis.U is None else basis.U
    V = basis.right(eye) if basis.V is None else basis.V
    return ThinSVD(U, basis.s, V)


class ThinBasis:
    """Products with the factors of ``X = U diag(s) V'``, of numerical rank r.

    Of sparse data only the factor of the smaller side is kept, the other one is a
    product with the data: what is dense has the square of the smaller side as size.

    Parameters
    ----------
    X : Standardized
        The data, m x d.
    tol : float, default=1e-10
        As in :func:`thin_svd`.

    Attributes
    ----------
    s : ndarray of shape (r,)
        Singular values, descending.
    rank : int
        Their number, r.
    U, V : ndarray of shape (m, r) and (d, r), or None
        The factors, where they are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.linalg import ThinBasis, standardize
    >>> X, _, _ = standardize(np.random.default_rng(0).normal(size=(6, 3)))
    >>> basis = ThinBasis(X)
    >>> C = np.ones((3, 2))
    >>> bool(np.allclose(basis.left(basis.s[:, None] * C), X @ basis.right(C)))
    True
    """

    def __init__(self, X: Standardized, *, tol: float = 1e-10) -> None:
        m, d = X.shape
        if min(m, d) > MAX_FACTOR:
            raise ValueError(
                f"The data have {m} rows and {d} columns, and this method decomposes "
                f"the smaller side, which may be {MAX_FACTOR} at most. Reduce the "
                "columns first, for example by sklearn.decomposition.TruncatedSVD."
            )
        self.X = X
        self.U: NDArray[Any] | None = None
        self.V: NDArray[Any] | None = None
        tol = max(tol, 10 * float(np.finfo(X.dtype).eps))
        if X.dense is not None:
            self.U, self.s, self.V = _cut(*_dense_svd(X.dense), tol)
        else:
            tol = max(tol, 1e-7)
            squares, vectors = scipy.linalg.eigh(
                X.scatter() if d <= m else X.gram(), check_finite=False
            )
            s, vectors = _roots(squares, vectors, tol)
            vectors = np.ascontiguousarray(vectors, dtype=X.dtype)
            self.s = s.astype(X.dtype)
            if d <= m:
                self.V = vectors
            else:
                self.U = vectors
        self.rank = self.s.shape[0]

    def left(self, A: NDArray[Any]) -> NDArray[Any]:
        """``U A`` for A of shape (r, p)."""
        if self.U is not None:
            return thin_product(self.U, A)
        assert self.V is not None  # one of the two is always kept
        return self.X @ (self.V @ (A / self.s[:, None]))

    def left_transposed(self, C: NDArray[Any]) -> NDArray[Any]:
        """``U' C`` for C of shape (m, p)."""
        if self.U is not None:
            return thin_product(self.U.T, C)
        assert self.V is not None
        return (self.V.T @ self.X.transposed_matmul(C)) / self.s[:, None]

    def right(self, A: NDArray[Any]) -> NDArray[Any]:
        """``V A`` for A of shape (r, p)."""
        if self.V is not None:
            return thin_product(self.V, A)
        assert self.U is not None
        return self.X.transposed_matmul(self.U @ (A / self.s[:, None]))


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
