"""Input space of kernels and neighbors: dense, standardized rows."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from partlearn._array_api import as_double, is_numpy, like, namespace, to_numpy
from partlearn._math.blocks import Rows
from partlearn._math.crossfit._bases import LinearBasis, decompose
from partlearn._math.linalg import (
    BlockStandardized,
    Standardized,
    column_moments,
    inverse_scale,
)
from partlearn._sizes import SIZES
from partlearn._typing import Array

FAR = 1e150  # deviations from the mean whose squares are still numbers


@dataclass(frozen=True)
class LinearMap:
    """``(x - mean) @ coef`` for rows in the units of the data.

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Mean of the training rows.
    coef : ndarray of shape (d, p)
        Coefficients, divided by the scale of each column.
    """

    mean: Array
    coef: Array

    def __call__(self, X: Any) -> Array:
        """Values for dense or sparse rows, (n, p)."""
        if sp.issparse(X):  # centering stays implicit
            return np.asarray(X @ self.coef) - self.mean @ self.coef
        return (X - self.mean) @ self.coef


@dataclass(frozen=True)
class InputSpace:
    """Standardization of the training rows; wide sparse rows are projected too.

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Mean of the training rows.
    inverse : ndarray of shape (d,)
        Factors of the columns; zero for a constant column.
    projection : LinearMap or None
        Leading singular directions, for sparse data with more than 2,000 columns.
    """

    mean: Array
    inverse: Array
    projection: LinearMap | None

    def __call__(self, X: Any) -> Array:
        """Map rows to the input space, dense and float64."""
        if self.projection is not None:
            return self.projection(X)
        X = X.toarray() if sp.issparse(X) else X
        return (X - self.mean) * self.inverse

    def within_range(self, X: Any) -> Array:
        """Map rows to the input space; raise if squared distances overflow."""
        rows = self(X)
        xp = namespace(rows)
        if not float(xp.max(xp.abs(rows))) < FAR:
            raise ValueError(
                "Squared distances between these rows and those of `fit` overflow "
                "float64; rescale the features."
            )
        return rows

    def linear_map(self, directions: Array) -> LinearMap:
        """Return the linear map of `directions` (d, p) of the standardized data."""
        return LinearMap(self.mean, self.inverse[:, None] * directions)


def input_space(
    X: Any,
    rng: np.random.RandomState,
    *,
    linear: bool,
    weights: Array | None = None,
) -> tuple[InputSpace, Array | Rows, LinearBasis | None]:
    """Standardize rows, and decompose them if necessary.

    Parameters
    ----------
    X : ndarray, CSR matrix or Rows, of shape (m, d)
        The data.
    rng : RandomState
        Starts the truncated decomposition of data with many rows and columns.
    linear : bool
        Whether to return the decomposition.
    weights : ndarray of shape (d,), default=None
        Positive weights of the standardized columns; equal by default.

    Returns
    -------
    space : InputSpace
        Transformation of new rows.
    rows : ndarray or Rows of shape (m, p), float64
        The transformed training rows.
    basis : LinearBasis or None
        The decomposition.
    """
    X = X.astype(np.float64, copy=False) if is_numpy(X) else as_double(X)
    mean, std = column_moments(X)
    if weights is not None:
        std = std / like(weights, std)
    inverse = inverse_scale(std)
    varying = int(namespace(std).count_nonzero(inverse))
    if not varying:
        raise ValueError("All features are constant: rows cannot be distinguished.")
    wide = sp.issparse(X) and X.shape[1] > SIZES.wide_columns
    if sp.issparse(X) and not wide:
        X = X.toarray()
    blocks = isinstance(X, Rows)
    matrix = (BlockStandardized if blocks else Standardized)(X, mean, std)
    basis = None
    if linear or wide:
        total = float((X.shape[0] - 1) * varying)
        if weights is not None:
            varies = to_numpy(inverse) > 0
            total = float((X.shape[0] - 1) * np.square(weights[varies]).sum())
        basis = decompose(matrix, total, None, rng)
    space = InputSpace(mean, inverse, None)
    if blocks:
        return space, X.apply(space, n_features=X.shape[1]), basis
    if not wide:
        assert matrix.dense is not None
        return space, matrix.dense, basis
    assert basis is not None
    k = min(SIZES.wide_directions, len(basis.s))
    projection = space.linear_map(basis.directions(np.eye(len(basis.s), k)))
    rows = basis.U[:, :k] * basis.s[:k]
    return InputSpace(mean, inverse, projection), rows, basis if linear else None
