"""Thin singular value decomposition of standardized data, dense or sparse."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from partlearn._array_api import (
    array_device,
    as_double,
    contiguous,
    descending,
    eigh,
    like,
    namespace,
    orthonormal,
)
from partlearn._math.linalg._eigen import fix_signs
from partlearn._math.linalg._standardized import (
    BlockStandardized,
    Standardized,
    thin_product,
)
from partlearn._progress import stage
from partlearn._sizes import SIZES
from partlearn._typing import Array

Solver = Literal["svd", "gram", "randomized"]

_GRAM_RESOLVES = 1e-7  # singular values that a Gram matrix in float64 tells from zero
_OVERSAMPLING, _POWER_STEPS = 20, 4


def leading_rank(shape: tuple[int, int]) -> int | None:
    """Return the number of leading singular directions to keep for data of a shape.

    Parameters
    ----------
    shape : tuple of two int
        Rows and columns.

    Returns
    -------
    rank : int or None
        500 if both numbers exceed 4000, otherwise None, which means all.

    Examples
    --------
    >>> from partlearn._math.linalg import leading_rank
    >>> leading_rank((4000, 50_000)), leading_rank((20_000, 50_000))
    (None, 500)
    """
    return None if min(shape) <= SIZES.full_svd else SIZES.truncated_rank


def leading_directions(X: Standardized, rank: int | None = None) -> Array | None:
    """Return leading right singular vectors of data too large to use all of them.

    Parameters
    ----------
    X : Standardized
        The data, m x d.
    rank : int, default=None
        Number of directions; None is :func:`leading_rank`.

    Returns
    -------
    V : ndarray of shape (d, r) or None
        Orthonormal columns, found by products with thin matrices; r is `rank`, or fewer
        if the data vary in fewer directions. None if all directions are used.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import leading_directions, standardize
    >>> X, _, _ = standardize(np.random.default_rng(0).normal(size=(9, 6)))
    >>> leading_directions(X, 2).shape
    (6, 2)
    >>> leading_directions(X) is None
    True
    """
    rank = rank or leading_rank(X.shape)
    if rank is None or rank >= min(X.shape):
        return None
    basis = ThinBasis(X, solver="randomized", rank=rank, rng=np.random.RandomState(0))
    xp = namespace(basis.s)
    device = array_device(basis.s)
    return basis.right(xp.eye(basis.rank, dtype=basis.s.dtype, device=device))


class ThinSVD(NamedTuple):
    """``X = U diag(s) V'`` restricted to the numerical rank r.

    ``U`` is (m, r), ``s`` descending of length r, ``V`` is (d, r).
    """

    U: NDArray[Any]
    s: NDArray[Any]
    V: NDArray[Any]


def thin_svd(X: Standardized, *, tol: float = 1e-10) -> ThinSVD:
    """Decompose standardized data; drop singular values below `tol` times the first.

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
    >>> from partlearn._math.linalg import standardize, thin_svd
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

    Parameters
    ----------
    X : Standardized
        The data, m x d.
    tol : float, default=1e-10
        As in :func:`thin_svd`.
    solver : {"svd", "gram", "randomized"}, default="svd"
        "svd" decomposes dense data directly and keeps both factors. Sparse data are
        decomposed by the smaller Gram matrix, and only the factor of the smaller side
        is kept. "gram" always uses the smaller Gram matrix, which is several times as
        fast. It keeps ``U``, except for rows in blocks, and ``V`` if there are more
        rows than columns. "randomized" finds the `rank` leading directions by products
        with thin matrices only.
    rank : int, default=None
        Number of leading directions to keep; None keeps all.
    rng : RandomState, default=None
        Draws the start of the randomized iteration.

    Attributes
    ----------
    s : ndarray of shape (r,)
        Singular values, descending.
    rank : int
        Their number, r.
    n_directions : int
        Number of directions in which the data vary, also beyond `rank`; an upper bound
        for the randomized iteration.
    U, V : ndarray of shape (m, r) and (d, r), or None
        The factors, if they are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import ThinBasis, standardize
    >>> X, _, _ = standardize(np.random.default_rng(0).normal(size=(6, 3)))
    >>> basis = ThinBasis(X)
    >>> C = np.ones((3, 2))
    >>> bool(np.allclose(basis.left(basis.s[:, None] * C), X @ basis.right(C)))
    True
    """

    def __init__(
        self,
        X: Standardized,
        *,
        tol: float = 1e-10,
        solver: Solver = "svd",
        rank: int | None = None,
        rng: np.random.RandomState | None = None,
    ) -> None:
        m, d = X.shape
        self.X = X
        self.U: NDArray[Any] | None = None
        self.V: NDArray[Any] | None = None
        if solver != "randomized" and min(m, d) > SIZES.largest_factor:
            raise ValueError(
                f"The data have {m} rows and {d} columns, and this method decomposes "
                f"the smaller side, which may be {SIZES.largest_factor} at most. "
                "Reduce the "
                "columns first, for example by sklearn.decomposition.TruncatedSVD."
            )
        with stage("singular vectors"):
            if solver == "randomized":
                assert rank is not None
                assert rng is not None
                U, s = randomized_left(X, rank, rng)
                self.U, self.s = (contiguous(part, X.dtype) for part in (U, s))
                self.n_directions = min(m - 1, d)
            else:
                self._decompose(X, tol, solver, rank)
        self.rank = self.s.shape[0]

    def _decompose(
        self, X: Standardized, tol: float, solver: Solver, rank: int | None
    ) -> None:
        m, d = X.shape
        xp = namespace(X.mean)
        tol = max(tol, _smallest(X))
        if X.dense is not None and solver == "svd":
            U, s, V = _dense_svd(X.dense)
            self.n_directions = _resolved(s, tol)
            kept = min(rank or self.n_directions, self.n_directions)
            self.U, self.s, self.V = U[:, :kept], s[:kept], V[:, :kept]
            return
        small = X.scatter() if d <= m else X.gram()
        squares, vectors = descending(*eigh(small, overwrite_a=True))
        s = xp.sqrt(xp.clip(squares, 0.0, None))
        self.n_directions = _resolved(s, max(tol, _GRAM_RESOLVES))
        kept = min(rank or self.n_directions, self.n_directions)
        s, vectors = s[:kept], fix_signs(vectors[:, :kept])
        self.s = xp.astype(s, X.dtype)
        if d > m:
            self.U = contiguous(vectors, X.dtype)
        else:
            self.V = contiguous(vectors, X.dtype)
            if solver == "gram" and not isinstance(X, BlockStandardized):
                self.U = contiguous(X @ (self.V / self.s), X.dtype)

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


def _smallest(X: Standardized) -> float:
    """Return the relative size below which singular values are rounding errors."""
    return 10 * float(namespace(X.mean).finfo(X.dtype).eps)


def _resolved(s: NDArray[Any], tol: float) -> int:
    """Return the number of singular values that are not zero up to rounding."""
    positive = bool(s[0] > 0)
    return int(namespace(s).count_nonzero(s > tol * s[0])) if positive else 0


def _dense_svd(A: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Decompose a dense matrix; a tall or wide one is reduced by QR first."""
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


def randomized_left(
    X: Standardized, rank: int, rng: np.random.RandomState
) -> tuple[Array, Array]:
    """Compute leading left singular vectors by randomized subspace iteration.

    The data are only ever multiplied with thin matrices, so that sparse data stay
    sparse and nothing of size m x d, m x m or d x d is formed.

    Parameters
    ----------
    X : Standardized
        The data, m x d.
    rank : int
        Number of directions.
    rng : RandomState
        Draws the start.

    Returns
    -------
    U : ndarray of shape (m, r)
        Left singular vectors; r is `rank`, or fewer if the data vary in fewer
        directions.
    s : ndarray of shape (r,)
        Singular values, descending.

    References
    ----------
    N. Halko, P.-G. Martinsson and J. A. Tropp. Finding Structure with Randomness.
    SIAM Review 53(2), 2011, 217-288. https://doi.org/10.1137/090771806
    """
    m, d = X.shape
    width = min(rank + _OVERSAMPLING, m, d)
    # Sparse products wait for memory: all steps but the last do in single precision.
    in_memory = X.dense is None and not isinstance(X, BlockStandardized)
    rough = X.astype(np.float32) if in_memory else X
    start = like(rng.standard_normal((d, width)), X.mean)
    xp = namespace(start)
    Q, even = _orthonormal(rough @ xp.astype(start, rough.dtype, copy=False))
    for Y in [rough] * (_POWER_STEPS - 1) + [X]:
        B = Y.transposed_matmul(xp.astype(Q, Y.dtype, copy=False))
        Q, _ = _orthonormal(Y @ (B if even else _orthonormal(B)[0]))
    Q, _ = _orthonormal(as_double(Q))  # once more, to the last digit
    # (d, width): X is about Q B'
    B = as_double(X.transposed_matmul(xp.astype(Q, X.dtype, copy=False)))
    values, vectors = descending(*eigh(B.T @ B))
    s = xp.sqrt(xp.clip(values, 0.0, None))
    kept = min(rank, _resolved(s, max(_GRAM_RESOLVES, _smallest(X))))
    return contiguous(Q @ vectors[:, :kept]), s[:kept]


def _orthonormal(A: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Return an orthonormal basis of a tall `A`, and whether `A` is well conditioned.

    The basis comes from the eigenvectors of ``A'A``, several times as fast as by
    Householder reflections, which are used if the eigenvalues differ too much. `A` is
    well conditioned if twice that difference would be allowed.
    """
    values, vectors = eigh(A.T @ A)
    xp = namespace(values)
    safe = float(xp.finfo(A.dtype).eps) ** 0.5
    least, largest = float(values[0]), float(values[-1])
    if least <= safe * largest:
        return orthonormal(A), False
    return A @ (vectors / xp.sqrt(values)), least > safe**0.5 * largest
