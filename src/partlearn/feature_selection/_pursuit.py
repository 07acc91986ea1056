"""Simultaneous orthogonal matching pursuit of many targets by few features."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import NamedTuple

import numpy as np

from partlearn._typing import Array, Indices
from partlearn.linalg import Standardized

_DAMPING = 0.01  # added to the mean square of a column: little is left, little is won
_EXPLAINED = 1e-9  # mean square below which a column repeats the selected ones


class Pursuit(NamedTuple):
    """Columns in the order in which they were picked, and the gain of every column.

    The gain of a picked column is that at its turn, of another one that at the end.
    """

    order: Indices
    gains: Array


def matching_pursuit(
    X: Standardized,
    squares: Array,
    Y: Array,
    n_features: int,
    *,
    first: Indices | None = None,
    exclude: Indices | None = None,
) -> Pursuit:
    """Pick the columns that explain all targets best together, one after the other.

    Source: CRISPSelector, matching pursuit.

    Parameters
    ----------
    X : Standardized
        Centred data, m x d, float64.
    squares : ndarray of shape (d,)
        Sum of squares of each column.
    Y : ndarray of shape (m, q)
        Centred targets.
    n_features : int
        Number of columns to pick.
    first : ndarray of int, default=None
        Columns to pick before any other, in this order.
    exclude : ndarray of int, default=None
        Columns never to pick.

    Returns
    -------
    pursuit : Pursuit
        The order and the gains. Where no column is left that adds anything, those that
        were most relevant alone follow, constant ones last.

    Notes
    -----
    The gain of a column is ``||x'Y||^2 / (||x||^2 + 0.01 m)``, where x is what the
    picked columns leave of it. Since that is orthogonal to them, it does not matter
    that the damped residual of the targets still contains a part along them, and
    neither the data nor the targets are ever deflated: ``x'Y`` and ``||x||^2`` of all
    columns are updated by one product of the data with the new direction. Sparse data
    stay sparse; a pick costs a pass over the data and O(d q + m n_features).
    """
    m, d = X.shape
    inner = X.transposed_matmul(Y)
    left = squares.astype(np.float64, copy=True)
    alone = np.square(inner).sum(axis=1) / (left + _DAMPING * m)
    gains = np.zeros(d)
    free = np.ones(d, dtype=bool)
    if exclude is not None:
        free[exclude] = False
    forced = [] if first is None else list(first)
    directions = np.empty((m, min(n_features, m)))
    n_directions = 0
    order: list[int] = []
    while len(order) < n_features:
        current = np.square(inner).sum(axis=1) / (left + _DAMPING * m)
        useful = free & (left > _EXPLAINED * m)
        if forced:
            f = forced.pop(0)
        elif useful.any():
            f = int(np.argmax(np.where(useful, current, -np.inf)))
        else:
            break
        order.append(f)
        gains[f] = current[f] if useful[f] else 0.0
        free[f] = False
        v = _column(X, f)
        known = directions[:, :n_directions]
        for _ in range(2):  # twice is enough for orthogonality to round-off
            v = v - known @ (known.T @ v)
        length = np.linalg.norm(v)
        if length**2 <= _EXPLAINED * m:
            continue  # a column that had to be picked, and adds nothing
        v /= length
        directions[:, n_directions] = v
        n_directions += 1
        shares = X.transposed_matmul(v[:, None])[:, 0]
        inner -= np.outer(shares, v @ Y)
        left = np.maximum(left - shares**2, 0.0)
    rest = np.flatnonzero(free)
    useful = free & (left > _EXPLAINED * m)
    current = np.square(inner).sum(axis=1) / (left + _DAMPING * m)
    gains[useful] = current[useful]
    # Nothing adds anything any more: by relevance alone, then by index.
    rest = rest[np.lexsort((rest, -alone[rest], squares[rest] == 0))]
    order += rest[: n_features - len(order)].tolist()
    return Pursuit(np.asarray(order, dtype=np.intp), gains)


def _column(X: Standardized, f: int) -> Array:
    if X.dense is not None:
        return np.array(X.dense[:, f], dtype=np.float64)
    unit = np.zeros((X.shape[1], 1))
    unit[f] = 1.0
    column: Array = (X @ unit)[:, 0]
    return column
