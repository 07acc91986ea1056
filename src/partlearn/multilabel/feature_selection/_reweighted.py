"""Ridge regression with a penalty per feature, on the smaller side of the data."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from partlearn._typing import Array


def row_penalties(W: Array, smooth: float) -> Array:
    """``1 / (2 sqrt(|w_i|² + smooth))``: weights that turn ridge into row sparsity."""
    penalties: Array = 0.5 / np.sqrt(np.einsum("ij,ij->i", W, W) + smooth)
    return penalties


class ReweightedRidge:
    """Solves ``(X' H X + diag(r)) W = X' H V`` for many r and V.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
        The data; sparse ones stay sparse.
    center : bool, default=False
        Whether H takes the column means out, or is the identity.
    """

    def __init__(self, X: Any, *, center: bool = False) -> None:
        self.X, self.center = X, center
        self.primal = X.shape[1] <= X.shape[0]
        if self.primal:
            XtX = X.T @ X
            self._XtX: Array = XtX.toarray() if sp.issparse(XtX) else XtX
            if center:
                mean = np.asarray(X.mean(axis=0)).ravel()
                self._XtX = self._XtX - X.shape[0] * np.outer(mean, mean)

    def solve(self, r: Array, V: Array) -> Array:
        """Coefficients of shape (d, p) for targets V of shape (n, p)."""
        if self.center:
            V = V - V.mean(axis=0)
        if self.primal:
            A = self._XtX.copy()
            A[np.diag_indices_from(A)] += r
            right = np.asarray(self.X.T @ V)
            W: Array = cho_solve(cho_factor(A, overwrite_a=True), right)
            return W
        if sp.issparse(self.X):
            scaled = self.X @ sp.diags_array(1 / r)
            A = (scaled @ self.X.T).toarray()
        else:
            scaled = self.X / r
            A = scaled @ self.X.T
        if self.center:
            A = A - A.mean(axis=0)
            A -= A.mean(axis=1, keepdims=True)
        A[np.diag_indices_from(A)] += 1
        U = cho_solve(cho_factor(A, overwrite_a=True), V)
        return np.asarray(scaled.T @ (U - U.mean(axis=0) if self.center else U))
