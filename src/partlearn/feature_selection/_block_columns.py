"""Columns of rows in blocks: what the selectors ask of them are sums over the rows."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._typing import Array, Indices, Mask
from partlearn.blocks import Rows
from partlearn.feature_selection._columns import (
    N_BINS,
    Points,
    bin_codes,
    columns,
    inverse,
)
from partlearn.linalg import column_moments

Moments = tuple[Array, Array]


class BlockColumns:
    """Columns of rows in blocks; attributes as those of `DenseColumns`.

    Parameters
    ----------
    X : Rows of shape (m, d)
        The data.
    """

    sparse = False

    def __init__(self, X: Rows) -> None:
        self.X = X
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        self.mean, self.std = column_moments(X)
        self.inverse = inverse(self.std)
        self.n_points = self.shape[0] * self.shape[1]

    def class_sums(self, members: Mask) -> tuple[Array, Array]:
        """Sums of all columns and of their squares over the members of classes, (d, q).

        `members` (m, q) is true where a row belongs to a class.
        """
        sums, squares = self.X.total(
            block_class_sums, members, moments=(self.mean, self.std)
        )
        return sums, squares

    def entropy_sums(
        self, parameters: tuple[Array, Array, Array], kernel: Any
    ) -> Array:
        """Sums of the posterior entropies over the rows, (d,)."""
        sums: Array = self.X.total(
            block_entropy_sums,
            moments=(self.mean, self.std),
            parameters=parameters,
            kernel=kernel,
        )
        return sums

    def joint_bins(self) -> NDArray[np.int64]:
        """Rows that two columns have in two bins, (d, 5, d, 5)."""
        joint: NDArray[np.int64] = self.X.total(
            block_joint_bins, moments=(self.mean, self.std)
        )
        d = self.shape[1]
        return joint.reshape(d, N_BINS, d, N_BINS)

    def scaled(self, chosen: Indices, standardize: bool) -> Any:
        """Return the chosen columns for a search of neighbours, (m, len(chosen))."""
        return self.X.map(
            block_scaled,
            moments=(self.mean, self.std),
            chosen=chosen,
            standardize=standardize,
        )


def block_class_sums(X: Any, members: Mask, moments: Moments) -> Array:
    """Class sums of the rows of a block, (2, d, q)."""
    at = columns(X, moments)
    of_class = members.T.astype(np.float64)
    parts = [at.points_and_sums(which, of_class)[1:] for which in at.blocks()]
    return np.stack([np.concatenate(both) for both in zip(*parts, strict=True)])


def block_entropy_sums(
    X: Any, moments: Moments, parameters: tuple[Array, Array, Array], kernel: Any
) -> Array:
    """Sums of the entropies over the rows of a block, (d,)."""
    at = columns(X, moments)
    nobody = np.zeros((1, X.shape[0]))
    sums = []
    for which in at.blocks():
        points: Points = at.points_and_sums(which, nobody)[0]
        sums.append(kernel(points, *(p[which] for p in parameters)))
    return np.concatenate(sums)


def block_joint_bins(X: Any, moments: Moments) -> NDArray[np.int64]:
    """Joint counts of the bins of all columns over the rows of a block, (5 d, 5 d)."""
    X = X.toarray() if sp.issparse(X) else X
    n, d = X.shape
    hit = np.zeros((n, d, N_BINS), dtype=np.float32)  # exact up to 2**24 rows
    codes = bin_codes(X, *moments)
    np.put_along_axis(hit, codes[:, :, None].astype(np.intp), 1.0, axis=2)
    hit = hit.reshape(n, d * N_BINS)
    return (hit.T @ hit).astype(np.int64)


def block_scaled(X: Any, moments: Moments, chosen: Indices, standardize: bool) -> Any:
    """Return chosen columns of the rows of a block."""
    return columns(X, moments).scaled(chosen, standardize)
