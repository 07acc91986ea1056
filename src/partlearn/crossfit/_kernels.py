"""Gaussian and Laplacian kernels, by blocks."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Literal

import numpy as np
from scipy.spatial.distance import cdist, pdist

from partlearn._array_api import (
    array_device,
    at_least,
    is_numpy_namespace,
    namespace,
    on_host,
    to_numpy,
)
from partlearn._extras import compiled_twin
from partlearn._typing import Array

Kernel = Literal["rbf", "laplacian"]

_ROWS = 256  # rows of a block: differences stay in the cache
_ENTRIES = 1 << 19  # kernel entries at a time where a product is needed: in the cache
_DEVICE_ENTRIES = 1 << 27  # and on a device


def kernel_block(kernel: Kernel, X: Array, Z: Array, width: float) -> Array:
    """Kernel between the rows of `X` and those of `Z`.

    Parameters
    ----------
    kernel : {"rbf", "laplacian"}
        ``exp(-|x - z|^2 / (2 width^2))`` or ``exp(-|x - z|_1 / width)``.
    X, Z : ndarray of shape (n, d) and (m, d), float64
        Standardised rows: squared distances are differences of squares, which a common
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
    >>> from partlearn.crossfit._kernels import kernel_block
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
        D = (compiled_twin(city_block) if numpy else array_city_block)(X, Z)
        D *= -1 / width
    return np.exp(D, out=D) if numpy else xp.exp(D)


def kernel_matrix(kernel: Kernel, X: Array, width: float) -> Array:
    """Kernel among the rows of `X`, each pair computed once.

    Parameters
    ----------
    kernel, width
        As in :func:`kernel_block`.
    X : ndarray of shape (m, d)
        Rows.

    Returns
    -------
    K : ndarray of shape (m, m)
        Symmetric to the last bit, ones on the diagonal.
    """
    m, xp = X.shape[0], namespace(X)
    if not is_numpy_namespace(xp):
        K = kernel_block(kernel, X, X, width)
        eye = xp.eye(m, dtype=K.dtype, device=array_device(K))
        return (K + K.T) / 2 * (1 - eye) + eye
    K = np.empty((m, m))
    for start in range(0, m, _ROWS):
        stop = min(start + _ROWS, m)
        block = kernel_block(kernel, X[start:stop], X[start:], width)
        K[start:stop, start:] = block
        K[start:, start:stop] = block.T
        corner = K[start:stop, start:stop]
        upper = np.triu(corner, 1)
        corner[:] = upper + upper.T
    K.flat[:: m + 1] = 1.0
    return K


def kernel_product(kernel: Kernel, X: Array, Z: Array, width: float, M: Array) -> Array:
    """``K(X, Z) @ M`` without the kernel as a whole.

    Parameters
    ----------
    kernel, X, Z, width
        As in :func:`kernel_block`.
    M : ndarray of shape (m, p)
        Coefficients.

    Returns
    -------
    product : ndarray of shape (n, p)
        The product.
    """
    n, xp = X.shape[0], namespace(X, M)
    out = xp.empty((n, M.shape[1]), dtype=M.dtype, device=array_device(M))
    step = kernel_rows(Z)
    for start in range(0, n, step):
        rows = X[start : min(start + step, n), :]
        out[start : start + rows.shape[0], :] = kernel_block(kernel, rows, Z, width) @ M
    return out


def kernel_rows(Z: Array) -> int:
    """Rows whose kernel with the rows of `Z` is held at once."""
    return max(1, (_ENTRIES if on_host(Z) else _DEVICE_ENTRIES) // Z.shape[0])


def median_distance(kernel: Kernel, X: Array) -> float:
    """Median distance between two rows, in the metric of the kernel.

    Parameters
    ----------
    kernel : {"rbf", "laplacian"}
        Euclidean or city-block distances.
    X : ndarray of shape (n, d)
        A few rows.

    Returns
    -------
    h : float
        The median; where most rows are equal, the mean of the distances that are not
        zero, and 1 if there is none.
    """
    D = pdist(to_numpy(X), "euclidean" if kernel == "rbf" else "cityblock")
    h = float(np.median(D)) if D.size else 0.0
    if h > 0:
        return h
    apart = D[D > 0]
    return float(apart.mean()) if apart.size else 1.0


def array_city_block(X: Array, Z: Array) -> Array:
    """City-block distances on an array of another library than NumPy."""
    xp = namespace(X, Z)
    if hasattr(xp, "cdist"):  # PyTorch; not in the standard
        return xp.cdist(X, Z, p=1.0)
    D = xp.zeros((X.shape[0], Z.shape[0]), dtype=X.dtype, device=array_device(X))
    for f in range(X.shape[1]):
        D += xp.abs(X[:, f, None] - Z[None, :, f])
    return D


def city_block(X: Array, Z: Array) -> Array:
    """City-block distances by SciPy, without a difference of all pairs of rows."""
    return cdist(X, Z, "cityblock")
