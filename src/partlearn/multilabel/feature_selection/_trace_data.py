"""What TRACE asks of standardised data: decomposed, or by products with them.

A decomposition serves all penalties of a path. Where both sides of the data are large
it takes far longer than the path, most of whose steps touch few columns: there the data
are multiplied instead, and stay sparse if they are.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from partlearn._typing import Array, Indices
from partlearn.linalg import Standardized, leading_rank, standardize, thin_svd
from partlearn.simplex import power_iteration

Product = Callable[[Array], Array]


class DecomposedData(NamedTuple):
    """Data ``Z = U diag(s) V'`` of shape (n, d)."""

    U: Array
    s: Array
    V: Array

    def gram(self, columns: Indices) -> tuple[Product, float]:
        """Product with ``Z' Z`` of some columns, and its largest eigenvalue."""
        A = self.V[columns]
        G = (A * self.s**2) @ A.T
        return G.__matmul__, float(np.linalg.eigvalsh(G)[-1])

    def correlations(self, columns: Indices, W: Array) -> Array:
        """``Z' Z[:, columns] W``, (d, l)."""
        inner = (self.s**2)[:, None] * (self.V[columns].T @ W)
        product: Array = self.V @ inner
        return product

    def transposed_matmul(self, T: Array) -> Array:
        """``Z' T``, (d, l)."""
        product: Array = self.V @ (self.s[:, None] * (self.U.T @ T))
        return product

    def subspace(self, columns: Indices) -> tuple[Array, Array]:
        """Left singular vectors and values of some columns."""
        return subspace(self.U, self.s, self.V[columns])


class MultipliedData(NamedTuple):
    """The same of data ``Z`` that are not decomposed."""

    Z: Standardized

    def gram(self, columns: Indices) -> tuple[Product, float]:
        """Product with ``Z' Z`` of some columns, and a bound on its eigenvalues."""
        part = self.Z.columns(columns)

        def product(W: Array) -> Array:
            return part.transposed_matmul(part @ W)

        return product, 1.02 * power_iteration(product, (len(columns), 1))

    def correlations(self, columns: Indices, W: Array) -> Array:
        """``Z' Z[:, columns] W``, (d, l)."""
        return self.Z.transposed_matmul(self.Z.columns(columns) @ W)

    def transposed_matmul(self, T: Array) -> Array:
        """``Z' T``, (d, l)."""
        return self.Z.transposed_matmul(T)

    def subspace(self, columns: Indices) -> tuple[Array, Array]:
        """Left singular vectors and values of some columns, few enough to be dense."""
        part = self.Z.columns(columns) @ np.eye(len(columns))
        U, s, _ = np.linalg.svd(part, full_matrices=False)
        some = s > 1e-10 * s.max(initial=0.0)
        return U[:, some], s[some]


def trace_data(X: Any, exclude: Indices) -> DecomposedData | MultipliedData:
    """Standardise data; excluded columns become constant.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        The data.
    exclude : ndarray of int
        Columns to leave out.

    Returns
    -------
    data : DecomposedData or MultipliedData
        The latter where both n and d exceed 4000.
    """
    matrix, mean, scale = standardize(X)
    if leading_rank(X.shape) is None:
        U, s, V = thin_svd(matrix)
        V = V.copy()
        V[exclude] = 0
        return DecomposedData(U, s, V)
    if len(exclude):
        scale[exclude] = 0
        matrix = Standardized(X, mean, scale)
    return MultipliedData(matrix)


def subspace(U: Array, s: Array, V: Array) -> tuple[Array, Array]:
    """Left singular vectors and values of some columns ``U diag(s) V'`` of the data.

    Parameters
    ----------
    U, s : ndarray of shape (n, r) and (r,)
        Left singular vectors and singular values of all columns.
    V : ndarray of shape (k, r)
        Right singular vectors, rows of the columns wanted.

    Returns
    -------
    U, s : ndarray of shape (n, r') and (r',)
        Those of the columns wanted.
    """
    left, sizes, _ = np.linalg.svd(s[:, None] * V.T, full_matrices=False)
    some = sizes > 1e-10 * s.max(initial=0.0)
    return U @ left[:, some], sizes[some]
