"""Bases of kernels, exact and by landmarks, and what they make of new rows."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from partlearn._array_api import (
    array_device,
    at_least,
    contiguous,
    descending,
    eigh,
    namespace,
    where_true,
)
from partlearn._progress import stage
from partlearn._typing import Array, Indices
from partlearn.blocks import Rows
from partlearn.crossfit._bases import Basis
from partlearn.crossfit._design import Design, fold_numbers
from partlearn.crossfit._kernels import (
    Kernel,
    kernel_block,
    kernel_matrix,
    kernel_product,
    kernel_rows,
)

_RESOLVED = 1e-10  # squared singular values, of the largest, that count
_RESOLVED_LANDMARKS = 1e-9  # eigenvalues of the landmarks' kernel that count
_EVEN = 1e-4  # least to largest of them, from which the kernel's own Gram will do
_TINY = float(np.finfo(float).tiny)


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
        What centring subtracts.
    """

    kernel: Kernel
    width: float
    points: Array
    coef: Array
    offset: Array

    def __call__(self, X: Array) -> Array:
        """Values for standardised rows, (n, p)."""
        product = kernel_product(self.kernel, X, self.points, self.width, self.coef)
        product -= self.offset
        return product


@dataclass(frozen=True)
class ExactKernelBasis(Basis):
    """Eigenvectors of a centred kernel matrix, ``K_c = U diag(s^2) U'``.

    A new row has the coordinates ``k_c(x)' U / s``, with the kernel centred by the
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
        return KernelMap(self.kernel, self.width, self.points, coef, self.means @ coef)


@dataclass(frozen=True)
class NystroemBasis(Basis):
    """Decomposition of the features that landmarks give: ``K(X, L) root - mean``.

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
    """Decompose the centred kernel matrix of some rows.

    Source: KernelCRISP, basis of an exact kernel.

    Parameters
    ----------
    kernel, width
        As in :func:`kernel_block`.
    X : ndarray of shape (m, d)
        Standardised rows.

    Returns
    -------
    basis : ExactKernelBasis
        Without the directions whose squared singular value is 1e-10 of the largest or
        less. Memory is four arrays of m x m numbers at the most, one in the end.
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
    r = max(int(xp.count_nonzero(squares > _RESOLVED * squares[0])), 1)
    A = _augmented(X, r)
    A[:, 1:] = vectors[:, :r]
    s = xp.sqrt(at_least(squares[:r], _TINY))
    return ExactKernelBasis(Design(A), s, total, total / r, kernel, width, X, means)


def nystroem_basis(
    kernel: Kernel,
    X: Array | Rows,
    width: float,
    landmarks: Array,
    folds: Sequence[Indices] | None = None,
    *,
    keep: bool = False,
) -> NystroemBasis:
    """Decompose the features that some rows, as landmarks, give to all.

    Source: KernelCRISP, basis of landmarks.

    Parameters
    ----------
    kernel, width
        As in :func:`kernel_block`.
    X : ndarray or Rows of shape (m, d)
        Standardised rows.
    landmarks : ndarray of shape (n_landmarks, d)
        Rows among them.
    folds : sequence of ndarray of int, default=None
        Rows of the folds of the regressions to come: of blocks of rows, their Gram
        matrices are then found on the way.
    keep : bool, default=False
        Whether to keep the features of rows in blocks, all of them; by default those
        of a block are computed when they are needed.

    Returns
    -------
    basis : NystroemBasis
        Memory is two arrays of m x n_landmarks numbers at the most, one in the end; of
        rows in blocks, the features of a block, or with `keep` one array.
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
    grams: Any = None
    features: Any = partial(kernel_features, kernel, landmarks, width, near)
    if isinstance(X, Rows):
        if keep:
            X = X.apply(features, n_features=len(landmarks) + 1).kept()
            features = None
        fold = np.zeros(m, dtype=np.intp) if folds is None else fold_numbers(folds, m)
        n_folds = 1 if folds is None else len(folds)
        T = scipy.linalg.block_diag(1.0, root)
        grams = Design(X, features, None if even else T).grams(fold, n_folds)
        G = grams.sum(axis=0)
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
        T = T @ white
        turn = T if even else white
        grams = None if folds is None else turn.T @ grams @ turn
        design = Design(X, features, T, grams)
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
    """Room for ``[1/sqrt(m), U]``, where the m rows are."""
    m, xp = X.shape[0], namespace(X)
    A: Array = xp.empty((m, r + 1), dtype=xp.float64, device=array_device(X))
    A[:, 0] = m**-0.5
    return A
