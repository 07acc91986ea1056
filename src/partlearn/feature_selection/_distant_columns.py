"""Columns of rows in blocks, or in an array of another library.

Arrays that grow with the rows (entropies, joint counts, selected columns) are computed
on the device of the rows. Arrays with one number per feature are moved to the host,
where the greedy path is computed.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._array_api import as_double, like, namespace, on_host, take, to_numpy
from partlearn._math.blocks import Rows
from partlearn._math.linalg import column_moments, inverse_scale
from partlearn._sizes import spans
from partlearn._typing import Array, Indices, Mask
from partlearn.feature_selection._columns import (
    N_BINS,
    Moments,
    Parameters,
    bin_codes,
    columns,
    cuts,
    information,
)
from partlearn.feature_selection._relevance import block_entropies

_HOST_ENTRIES = 1 << 19  # numbers in the largest temporary in the memory of the host
_DEVICE_ENTRIES = 1 << 27  # and on a device


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
        """Return the chosen columns for a search of neighbors, (m, len(chosen))."""
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
    """Return joint counts of the bins of all columns in a block, (5 d, 5 d)."""
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


class ArrayColumns:
    """Columns of an array; attributes as `DenseColumns`, the moments on the host."""

    sparse = False

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape: tuple[int, int] = X.shape
        self._mean, std = column_moments(X)
        self.mean, self.std = to_numpy(self._mean), to_numpy(std)
        self._inverse = like(inverse_scale(self.std), X)
        self.entries = _HOST_ENTRIES if on_host(X) else _DEVICE_ENTRIES

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """Standardized columns, (m, b), in double precision, with their places."""
        m, d = self.shape
        for which in spans(d, self.entries // (4 * m)):
            part = as_double(self.X[:, which])
            yield which, (part - self._mean[which]) * self._inverse[which]

    def class_sums(self, members: Mask) -> tuple[Array, ...]:
        """Sums of all columns and of their squares, as of `BlockColumns`."""
        D = like(members.astype(np.float64), self.X)
        parts = [[to_numpy((D.T @ p).T) for p in (x, x**2)] for _, x in self._blocks()]
        return tuple(np.concatenate(both) for both in zip(*parts, strict=True))

    def entropy_sums(self, parameters: Parameters) -> Array:
        """Sums over the rows of the entropy of the classes given each column, (d,).

        Source: SAUTE, Eq. (10).
        """
        sums, m = [], self.shape[0]
        for which, x in self._blocks():
            mean, inverse, offset = (like(p[which], x) for p in parameters)
            xp, (b, q) = namespace(x), mean.shape
            total = xp.zeros_like(x[0, :])
            for rows in spans(m, self.entries // 4 // (b * q)):
                part = x[rows, :, None]
                a = offset - ((part - mean) * inverse) ** 2
                a = a - xp.max(a, axis=2, keepdims=True)
                e = xp.exp(a)
                Z = xp.sum(e, axis=2)
                total = total + xp.sum(xp.log(Z) - xp.sum(e * a, axis=2) / Z, axis=0)
            sums.append(to_numpy(total))
        return np.concatenate(sums)

    def codes(self, which: Indices) -> NDArray[np.uint8]:
        """Bins of some columns, (b, m), on the host."""
        x = to_numpy(take(self.X, which, axis=1)).T
        return bin_codes(x, self.mean[which, None], self.std[which, None])

    def scaled(self, chosen: Indices, standardize: bool) -> Any:
        """Return the chosen columns for a search of neighbors."""
        Z = take(self.X, chosen, axis=1)
        if not standardize:
            return Z
        mean, unit = take(self._mean, chosen), take(self._inverse, chosen)
        return (as_double(Z) - mean) * unit


class ArrayTables:
    """Mutual information of columns of an array of another library, with m d bytes."""

    def __init__(self, columns: ArrayColumns) -> None:
        xp, self._entries = namespace(columns.X), columns.entries
        X = as_double(columns.X)
        codes = xp.zeros_like(columns.X, dtype=xp.uint8)
        for cut in cuts(columns.mean, columns.std):
            codes = codes + xp.astype(like(cut, X) < X, xp.uint8)
        each = [xp.sum(xp.astype(codes == a, xp.int64), axis=0) for a in range(N_BINS)]
        self._codes, self.counts = codes, to_numpy(xp.stack(each, axis=1))

    def row(self, f: int) -> Array:
        """Mutual information of feature `f` with all features, (d,)."""
        codes = self._codes
        xp, (m, d) = namespace(codes), codes.shape
        # joint[g, a, b] rows have f in bin a and g in bin b.
        joint = np.zeros((d, N_BINS, N_BINS), dtype=np.int64)
        own = xp.stack(
            [xp.astype(codes[:, f] == a, xp.float64) for a in range(N_BINS)], axis=1
        )
        for which in spans(d, self._entries // m):
            for b in range(N_BINS):
                hit = xp.astype(codes[:, which] == b, xp.float64)
                joint[which, :, b] = np.rint(to_numpy(hit.T @ own))
        return information(joint, m)
