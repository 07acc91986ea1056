"""Columns of rows in blocks: sums over the rows that selectors ask for."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._typing import Array, Indices, Mask
from partlearn.blocks import Rows
from partlearn.feature_selection._columns import (
    N_BINS,
    Moments,
    Parameters,
    bin_codes,
    columns,
    information,
)
from partlearn.feature_selection._relevance import block_entropies
from partlearn.linalg import column_moments


class BlockColumns:
    """Columns of rows in blocks.

    Parameters
    ----------
    X : Rows of shape (m, d)
        The data.
    """

    sparse = False

    def __init__(self, X: Rows) -> None:
        self.X = X
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        self.moments = column_moments(X)

    def class_sums(self, members: Mask) -> tuple[Array, ...]:
        """Sums of all columns and of their squares over the members of classes, (d, q).

        `members` (m, q) is true where a row belongs to a class.
        """
        return tuple(self.X.total(block_class_sums, members, moments=self.moments))

    def entropy_sums(self, parameters: Parameters) -> Array:
        """Sums of the posterior entropies over the rows, (d,)."""
        sums: Array = self.X.total(
            block_entropy_sums, moments=self.moments, parameters=parameters
        )
        return sums

    def scaled(self, chosen: Indices, standardize: bool) -> Any:
        """Return the chosen columns for a search of neighbours, (m, len(chosen))."""
        return self.X.map(
            block_scaled, moments=self.moments, chosen=chosen, standardize=standardize
        )


def block_class_sums(X: Any, members: Mask, moments: Moments) -> Array:
    """Class sums of the rows of a block, (2, d, q)."""
    at = columns(X, moments)
    of_class = members.T.astype(np.float64)
    parts = [at.points_and_sums(which, of_class)[1:] for which in at.blocks()]
    return np.stack([np.concatenate(both) for both in zip(*parts, strict=True)])


def block_entropy_sums(X: Any, moments: Moments, parameters: Parameters) -> Array:
    """Sums of the entropies over the rows of a block, (d,)."""
    at = columns(X, moments)
    nobody = np.zeros((1, X.shape[0]))
    sums = []
    for which in at.blocks():
        points = at.points_and_sums(which, nobody)[0]
        mean, inverse, offset = (p[which] for p in parameters)
        sums.append(block_entropies(points, (mean, inverse, offset)))
    return np.concatenate(sums)


def block_scaled(X: Any, moments: Moments, chosen: Indices, standardize: bool) -> Any:
    """Return chosen columns of the rows of a block."""
    return columns(X, moments).scaled(chosen, standardize)


def block_joint_bins(X: Any, moments: Moments) -> NDArray[np.int64]:
    """Joint counts of the bins of all columns over the rows of a block, (5 d, 5 d)."""
    X = X.toarray() if sp.issparse(X) else X
    n, d = X.shape
    hit = np.zeros((n, d, N_BINS), dtype=np.float32)  # exact up to 2**24 rows
    codes = bin_codes(X, *moments)
    np.put_along_axis(hit, codes[:, :, None].astype(np.intp), 1.0, axis=2)
    hit = hit.reshape(n, d * N_BINS)
    return (hit.T @ hit).astype(np.int64)


class BlockTables:
    """Mutual information of rows in blocks, from the joint counts of all columns.

    Attributes are those of `DenseTables`; 25 d^2 counts are kept.
    """

    def __init__(self, columns: BlockColumns) -> None:
        self._m, d = columns.shape
        joint = columns.X.total(block_joint_bins, moments=columns.moments)
        self._joint = np.reshape(joint, (d, N_BINS, d, N_BINS))
        every = np.arange(d)
        self.counts = self._joint[every, :, every].sum(axis=2)

    def row(self, f: int) -> Array:
        """Mutual information of feature `f` with all features, (d,)."""
        return information(self._joint[f].transpose(1, 0, 2), self._m)
