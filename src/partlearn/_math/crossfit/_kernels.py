"""Gaussian and Laplacian kernels by blocks, and bases of them.

A basis is exact or by landmarks, and maps new rows.
"""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist, pdist

from partlearn._array_api import (
    array_device,
    at_least,
    contiguous,
    descending,
    eigh,
    is_numpy_namespace,
    like,
    namespace,
    on_host,
    to_numpy,
    where_true,
)
from partlearn._extras import compiled_twin
from partlearn._math.blocks import Rows
from partlearn._math.crossfit._bases import Basis, Design
from partlearn._progress import stage
from partlearn._sizes import SIZES
from partlearn._typing import Array

Kernel = Literal["rbf", "laplacian"]

_MANY_TERMS = 10**7  # of distances, from which importing compiled loops pays
_DEVICE_ENTRIES = 1 << 27  # and on a device
_RESOLVED = 1e-10  # squared singular values, of the largest, that count
_RESOLVED_LANDMARKS = 1e-9  # eigenvalues of the landmarks' kernel that count
_EVEN = 1e-4  # least to largest of them, from which the kernel's own Gram will do
_TINY, _EPS = float(np.finfo(float).tiny), float(np.finfo(float).eps)


def kernel_block(kernel: Kernel, X: Array, Z: Array, width: float) -> Array:
    """Kernel between the rows of `X` and those of `Z`.

    Parameters
    ----------
    kernel : {"rbf", "laplacian"}
        ``exp(-|x - z|^2 / (2 width^2))`` or ``exp(-|x - z|_1 / width)``.
    X, Z : ndarray of shape (n, d) and (m, d), float64
        Standardized rows: squared distances are differences of squares, which a common
        offset would drown.
    width : float
        Bandwidth.

    Returns
    -------
    K : ndarray of shape (n, m)
        The kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.crossfit._kernels import kernel_block
    >>> kernel_block("laplacian", np.zeros((1, 2)), np.ones((1, 2)), 2.0).round(3)
    array([[0.368]])
    """
    xp = namespace(X, Z)
    numpy = is_numpy_namespace(xp)
    if kernel == "rbf":
        D = X @ Z.T
        D *= -2
        D += xp.sum(xp.square(X), axis=1)[:, None]
        D += xp.sum(xp.square(Z), axis=1)
        D = at_least(D, 0.0, overwrite=True)
        D *= -0.5 / width**2
    else:
        distances = city_block if numpy else array_city_block
        if numpy and X.size * Z.shape[0] >= _MANY_TERMS:
            distances = compiled_twin(city_block)  # with the same bits
        D = distances(X, Z)
        D *= -1 / width
    return np.exp(D, out=D) if numpy else xp.exp(D)


def kernel_matrix(kernel: Kernel, X: Array, width: float) -> Array:
    """Return the kernel among the rows of `X` (m, d), each pair computed once.

    It is symmetric to the last bit, with ones on the diagonal.
    """
    m, xp = X.shape[0], namespace(X)
    if not is_numpy_namespace(xp):
        K = kernel_block(kernel, X, X, width)
        eye = xp.eye(m, dtype=K.dtype, device=array_device(K))
        return (K + K.T) / 2 * (1 - eye) + eye
    K = np.empty((m, m))
    for start in range(0, m, SIZES.kernel_rows):
        stop = min(start + SIZES.kernel_rows, m)
        block = kernel_block(kernel, X[start:stop], X[start:], width)
        K[start:stop, start:] = block
        K[start:, start:stop] = block.T
        corner = K[start:stop, start:stop]
        upper = np.triu(corner, 1)
        corner[:] = upper + upper.T
    K.flat[:: m + 1] = 1.0
    return K


def kernel_product(kernel: Kernel, X: Array, Z: Array, width: float, M: Array) -> Array:
    """Return ``K(X, Z) @ M`` without the kernel as a whole."""
    n, xp = X.shape[0], namespace(X, M)
    out = xp.empty((n, M.shape[1]), dtype=M.dtype, device=array_device(M))
    step = kernel_rows(Z)
    for start in range(0, n, step):
        rows = X[start : min(start + step, n), :]
        out[start : start + rows.shape[0], :] = kernel_block(kernel, rows, Z, width) @ M
    return out


def kernel_rows(Z: Array) -> int:
    """Return the number of rows whose kernel with `Z` is held at once."""
    return max(
        1, (SIZES.kernel_entries if on_host(Z) else _DEVICE_ENTRIES) // Z.shape[0]
    )


def median_distance(kernel: Kernel, X: Array) -> float:
    """Return the median distance between two rows, in the metric of the kernel.

    Where most rows are equal, it is the mean of the distances that are not zero, and 1
    if there is none.
    """
    D = pdist(to_numpy(X), "euclidean" if kernel == "rbf" else "cityblock")
    h = float(np.median(D)) if D.size else 0.0
    if h > 0:
        return h
    apart = D[D > 0]
    return float(apart.mean()) if apart.size else 1.0


def array_city_block(X: Array, Z: Array) -> Array:
    """Compute city-block distances of an array of another library than NumPy."""
    xp = namespace(X, Z)
    if hasattr(xp, "cdist"):  # PyTorch; not in the standard
        return xp.cdist(X, Z, p=1.0)
    D = xp.zeros((X.shape[0], Z.shape[0]), dtype=X.dtype, device=array_device(X))
    for f in range(X.shape[1]):
        D += xp.abs(X[:, f, None] - Z[None, :, f])
    return D


def city_block(X: Array, Z: Array) -> Array:
    """Compute city-block distances by SciPy."""
    return cdist(X, Z, "cityblock")


@dataclass(frozen=True)
class KernelMap:
    """Linear functions of the features of a kernel: ``K(x, points) @ coef - offset``.

    Attributes
    ----------
    kernel : {"rbf", "laplacian"}
        The kernel.
    width : float
        Its bandwidth.
    points : ndarray of shape (n_points, d)
        Training rows or landmarks.
    coef : ndarray of shape (n_points, p)
        Coefficients.
    offset : ndarray of shape (p,)
        Offset of the centered kernel.
    weights : ndarray of shape (d,) or None
        Weights of the columns of new rows; those of the points are multiplied already.
    """

    kernel: Kernel
    width: float
    points: Array
    coef: Array
    offset: Array
    weights: Array | None = None

    def __call__(self, X: Array) -> Array:
        """Values for standardized rows, (n, p)."""
        if self.weights is not None:
            X = X * like(self.weights, X)
        product = kernel_product(self.kernel, X, self.points, self.width, self.coef)
        product -= self.offset
        return product


@dataclass(frozen=True)
class ExactKernelBasis(Basis):
    """Eigenvectors of a centered kernel matrix, ``K_c = U diag(s^2) U'``.

    A new row has the coordinates ``k_c(x)' U / s``, with the kernel centered by the
    means of the training rows. As the columns of ``U`` sum to zero, only the column
    means of the kernel matter.
    """

    kernel: Kernel
    width: float
    points: Array
    means: Array

    def map(self, M: Array) -> KernelMap:
        """Map new rows like ``U diag(s) M`` maps the training rows; M is (r, p)."""
        coef = self.U @ (M / self.s[:, None])
        # Zero but for rounding, which directions of tiny singular values multiply.
        coef -= namespace(coef).mean(coef, axis=0)
        return KernelMap(self.kernel, self.width, self.points, coef, self.means @ coef)


@dataclass(frozen=True)
class NystroemBasis(Basis):
    """Decomposition of the landmark features ``K(X, L) root - mean``.

    ``root`` (n_landmarks, r) and ``mean`` (r,) are in the coordinates of the basis.
    """

    kernel: Kernel
    width: float
    points: Array
    root: Array
    mean: Array

    def map(self, M: Array) -> KernelMap:
        """Map new rows like ``U diag(s) M`` maps the training rows; M is (r, p)."""
        return KernelMap(
            self.kernel, self.width, self.points, self.root @ M, self.mean @ M
        )


def exact_kernel_basis(kernel: Kernel, X: Array, width: float) -> ExactKernelBasis:
    """Decompose the centered kernel matrix of some rows.

    Source: KernelCRISP, basis of an exact kernel.

    Parameters
    ----------
    kernel, width
        As in :func:`kernel_block`.
    X : ndarray of shape (m, d)
        Standardized rows.

    Returns
    -------
    basis : ExactKernelBasis
        Directions with a squared singular value of at most 1e-10 of the largest are
        dropped; all of them if all rows are equal. Memory is at most four arrays of m x
        m numbers, one in the end.
    """
    xp = namespace(X)
    K = kernel_matrix(kernel, X, width)
    means = xp.mean(K, axis=0)
    total_mean = xp.mean(means)
    K -= means
    K -= (means - total_mean)[:, None]
    total = float(xp.linalg.trace(K))
    # Symmetric: the transpose is the column order in which LAPACK works in place. Of
    # its drivers, divide and conquer is the fastest for all eigenvectors.
    with stage("eigenvectors of a kernel"):
        squares, vectors = descending(*eigh(K.T, driver="evd", overwrite_a=True))
    del K
    # Of rows that are all equal nothing but rounding is left.
    varies = float(squares[0]) > X.shape[0] * _EPS
    r = int(xp.count_nonzero(squares > _RESOLVED * squares[0])) if varies else 0
    A = _augmented(X, r)
    A[:, 1:] = vectors[:, :r]
    s = xp.sqrt(at_least(squares[:r], _TINY))
    mean_square = total / max(r, 1)
    return ExactKernelBasis(Design(A), s, total, mean_square, kernel, width, X, means)


def nystroem_basis(
    kernel: Kernel,
    X: Array | Rows,
    width: float,
    landmarks: Array,
    *,
    keep: bool = False,
) -> NystroemBasis:
    """Decompose the landmark features of all rows.

    Source: KernelCRISP, basis of landmarks.

    Parameters
    ----------
    kernel, width
        As in :func:`kernel_block`.
    X : ndarray or Rows of shape (m, d)
        Standardized rows.
    landmarks : ndarray of shape (n_landmarks, d)
        Rows among them.
    keep : bool, default=False
        Whether to keep the features of all rows in blocks. By default the features of a
        block are computed when they are used.

    Returns
    -------
    basis : NystroemBasis
        Memory is at most two arrays of m x n_landmarks numbers, one in the end. For
        rows in blocks it is the features of a block, or one array with `keep`.
    """
    m, xp = X.shape[0], namespace(landmarks)
    K = kernel_matrix(kernel, landmarks, width)
    # Measured from the mean of the landmarks, which is near that of all rows.
    near = xp.mean(K, axis=0)
    values, vectors = eigh(K.T, driver="evd", overwrite_a=True)
    kept = values > _RESOLVED_LANDMARKS * values[-1]
    even = values[0] > _EVEN * values[-1]
    root = where_true(vectors, kept, axis=1) / xp.sqrt(where_true(values, kept))
    Phi: Any = None
    features: Any = partial(kernel_features, kernel, landmarks, width, near)
    if isinstance(X, Rows):
        if keep:
            X = X.apply(features, n_features=len(landmarks) + 1).kept()
            features = None
        T = scipy.linalg.block_diag(1.0, root)
        G = Design(X, features, None if even else T).gram()
        G = T.T @ G @ T if even else G
        mean = G[0, 1:] / m
        G = G[1:, 1:] - m * np.outer(mean, mean)
    else:
        Phi = KernelMap(kernel, width, landmarks, root, near @ root)(X)
        mean = xp.mean(Phi, axis=0)
        Phi -= mean
        G = Phi.T @ Phi
    trace = float(xp.linalg.trace(G))
    squares, V = descending(*eigh(G.T, driver="evd", overwrite_a=True))
    r = max(int(xp.count_nonzero(squares > _RESOLVED * squares[0])), 1)
    V = contiguous(V[:, :r])
    s = xp.sqrt(at_least(squares[:r], _TINY))
    if isinstance(X, Rows):
        white = scipy.linalg.block_diag(m**-0.5, V / s)
        white[0, 1:] = -mean @ V / s
        design = Design(X, features, T @ white)
    else:
        A = _augmented(Phi, r)
        step = kernel_rows(landmarks)
        for start in range(0, m, step):
            stop = min(start + step, m)
            A[start:stop, 1:] = Phi[start:stop, :] @ V / s
        design = Design(A)
    mean = (near @ root + mean) @ V
    return NystroemBasis(
        design, s, trace, trace / r, kernel, width, landmarks, root @ V, mean
    )


def kernel_features(
    kernel: Kernel, points: Array, width: float, near: Array, X: Array
) -> Array:
    """Columns of a design for the rows of a block: a constant one and the kernel."""
    A = np.empty((len(X), len(points) + 1))
    A[:, 0] = 1.0
    step = kernel_rows(points)
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        K = kernel_block(kernel, X[rows], points, width)
        np.subtract(K, near, out=A[rows, 1:])
    return A


def _augmented(X: Array, r: int) -> Array:
    """Allocate ``[1/sqrt(m), U]`` on the device of the m rows."""
    m, xp = X.shape[0], namespace(X)
    A: Array = xp.empty((m, r + 1), dtype=xp.float64, device=array_device(X))
    A[:, 0] = m**-0.5
    return A
