"""Columns of an array of another library than NumPy, on its device.

What grows with the rows (entropies, joint counts, the columns that vote) is computed
where the rows are; what has one number per feature comes to the host, where the greedy
path is found.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._array_api import (
    as_double,
    like,
    namespace,
    on_host,
    take,
    to_numpy,
    where_true,
)
from partlearn._typing import Array, Indices
from partlearn.feature_selection._columns import N_BINS, bin_codes, cuts, inverse
from partlearn.linalg import column_moments

_HOST_ENTRIES = 1 << 19  # numbers in the largest temporary in the memory of the host
_DEVICE_ENTRIES = 1 << 27  # and on a device


class ArrayColumns:
    """Columns of an array; attributes as `DenseColumns`, the moments on the host."""

    sparse = False

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape: tuple[int, int] = X.shape
        self._mean, std = column_moments(X)
        self.mean, self.std = to_numpy(self._mean), to_numpy(std)
        self.inverse = inverse(self.std)
        self._inverse = like(self.inverse, X)
        self.entries = _HOST_ENTRIES if on_host(X) else _DEVICE_ENTRIES

    def block(self, start: int, stop: int) -> Any:
        """Standardised columns, (m, b), in double precision."""
        part = as_double(self.X[:, start:stop])
        return (part - self._mean[start:stop]) * self._inverse[start:stop]

    def codes(self, which: Indices) -> NDArray[np.uint8]:
        """Bins of some columns, (b, m), on the host."""
        x = to_numpy(take(self.X, which, axis=1)).T
        return bin_codes(x, self.mean[which, None], self.std[which, None])

    def scaled(self, chosen: Indices, standardize: bool) -> Any:
        """Return the chosen columns for a search of neighbours."""
        Z = take(self.X, chosen, axis=1)
        if not standardize:
            return Z
        mean, unit = take(self._mean, chosen), take(self._inverse, chosen)
        return (as_double(Z) - mean) * unit


def members(F: Any, S: Any) -> tuple[Any, Array]:
    """Rows that still favour each class, (m, q), and the shares of the classes.

    As in NumPy, see `membership`; classes that nobody favours are left out.
    """
    xp = namespace(F)
    least = 1 / xp.sum(S, axis=1, keepdims=True) - 1e-12
    D = xp.astype((S > 0) & (least <= F), F.dtype)
    prior = to_numpy(xp.mean(F, axis=0))
    active = (to_numpy(xp.sum(D, axis=0)) > 0) & (prior > 0)
    return where_true(D, active, axis=1), prior[active]


def entropy_means(x: Any, mean: Any, inverse: Any, offset: Any, entries: int) -> Array:
    """Mean over the rows of the entropy of the classes given each column, (b,).

    Source: SAUTE, Eq. (10).

    Parameters
    ----------
    x : array of shape (m, b)
        Standardised columns.
    mean, inverse, offset : array of shape (b, q)
        As in `posterior_entropy`.
    entries : int
        Numbers that may be held at once.

    Returns
    -------
    means : ndarray of shape (b,)
        On the host.
    """
    xp, (m, b) = namespace(x), x.shape
    step = max(1, entries // (b * mean.shape[1]))
    total = xp.zeros_like(x[0, :])
    for start in range(0, m, step):
        part = x[start : min(start + step, m), :, None]
        a = offset - ((part - mean) * inverse) ** 2
        a = a - xp.max(a, axis=2, keepdims=True)
        e = xp.exp(a)
        Z = xp.sum(e, axis=2)
        total = total + xp.sum(xp.log(Z) - xp.sum(e * a, axis=2) / Z, axis=0)
    return np.asarray(to_numpy(total)) / m


def array_codes(columns: ArrayColumns) -> Any:
    """Bins of all columns, (m, d), one byte each."""
    xp = namespace(columns.X)
    X = as_double(columns.X)
    codes = xp.zeros_like(columns.X, dtype=xp.uint8)
    for cut in cuts(columns.mean, columns.std):
        codes = codes + xp.astype(like(cut, X) < X, xp.uint8)
    return codes


def array_joint_counts(codes: Any, f: int, entries: int) -> NDArray[np.int64]:
    """Joint counts of one feature with all features, (d, 5, 5), on the host.

    Parameters
    ----------
    codes : array of uint8, shape (m, d)
        Bins.
    f : int
        The feature.
    entries : int
        Numbers that may be held at once.

    Returns
    -------
    joint : ndarray of int
        ``joint[g, a, b]`` rows have `f` in bin a and `g` in bin b.
    """
    xp, (m, d) = namespace(codes), codes.shape
    joint = np.zeros((d, N_BINS, N_BINS), dtype=np.int64)
    width = max(1, entries // m)
    own = xp.stack(
        [xp.astype(codes[:, f] == a, xp.float64) for a in range(N_BINS)], axis=1
    )
    for start in range(0, d, width):
        stop = min(start + width, d)
        for b in range(N_BINS):
            hit = xp.astype(codes[:, start:stop] == b, xp.float64)
            joint[start:stop, :, b] = np.rint(to_numpy(hit.T @ own))
    return joint
