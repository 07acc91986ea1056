"""Relevance of columns: importances by a first fit, and a power for each geometry."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from partlearn._math.crossfit._geometries import GEOMETRIES, GeometryName
from partlearn._math.crossfit._scores import targets
from partlearn._math.linalg import equal_cells
from partlearn._typing import Array, Indices

# Powers of "auto". The pool weighs the geometries by what they expect of held-out
# candidates, so that columns count as much as helps, and nothing has to be chosen.
POWERS: dict[GeometryName, float] = {"linear": 0.0, "rbf": 0.5, "laplacian": 1.0}
_BINS = 8  # of a column, with about equally many rows
_LEAST = 0.02  # weight of a column beside that of the most important one


class Relevance(NamedTuple):
    """Importance of each column (they sum to one), and its power in each geometry."""

    importances: Array
    powers: Mapping[GeometryName, float]

    @property
    def weights(self) -> Array | None:
        """Return the weights of the columns common to all geometries, (d,).

        None if they are equal.
        """
        power = self.powers["linear"]
        return relevance_weights(self.importances, power) if power else None

    @property
    def kernel_weights(self) -> dict[GeometryName, Array]:
        """Return further weights of the columns in single geometries."""
        shared = relevance_weights(self.importances, self.powers["linear"])
        return {
            name: relevance_weights(self.importances, power) / shared
            for name, power in self.powers.items()
            if power != self.powers["linear"]
        }


def same_power(power: float) -> dict[GeometryName, float]:
    """Use the same power of the importances in all geometries."""
    return dict.fromkeys(GEOMETRIES, float(power))


def relevance_weights(importances: Array, power: float) -> Array:
    """Weights of columns from their importances.

    Source: CRISPClassifier, relevance of columns.

    Parameters
    ----------
    importances : ndarray of shape (d,)
        Importance of each column.
    power : float
        Power of the importance; 0 gives equal weights.

    Returns
    -------
    weights : ndarray of shape (d,)
        ``clip((v / max v)^power, .02, 1)``.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.crossfit import relevance_weights
    >>> relevance_weights(np.array([0.8, 0.2, 0.0]), 0.5)
    array([1.  , 0.5 , 0.02])
    """
    if power == 0:
        return np.ones_like(importances)
    return np.clip((importances / importances.max()) ** power, _LEAST, 1.0)


def explained_shares(X: Array, F: Array) -> Array:
    """Compute the share of the variance of the confidences explained by each column.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    F : ndarray of shape (n, q)
        Their confidences.

    Returns
    -------
    shares : ndarray of shape (d,)
        Variance of the targets (block A) between at most eight bins of a column with
        about equally many rows, less the share that random bins explain; at least zero.
        Shares are divided by their sum, and equal if no column explains anything.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.crossfit._relevance import explained_shares
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [5.0, 1.0], [5.0, 2.0]])
    >>> explained_shares(X, np.eye(2)[[0, 0, 1, 1]])
    array([1., 0.])
    """
    n, Y = len(X), targets(F)
    total = float(np.square(Y).sum())
    v = np.zeros(X.shape[1])
    for j in range(X.shape[1]):
        order, starts = _equal_bins(X[:, j])
        if 1 < len(starts) < n and total > 0:
            counts = np.diff(starts, append=n)[:, None]
            sums = np.add.reduceat(Y[order], starts, axis=0)
            between = float((np.square(sums) / counts).sum()) / total
            chance = (len(starts) - 1) / (n - len(starts))
            v[j] = max(between - chance * (1 - between), 0.0)
    return v / v.sum() if v.sum() > 0 else np.full(len(v), 1 / len(v))


def _equal_bins(x: Array) -> tuple[Indices, Indices]:
    """Return rows in the order of a column, and the starts of at most eight bins.

    Equal cells share a bin, given by their mean rank.
    """
    order, first = equal_cells(x)
    last = np.append(first[1:], len(x)) - 1
    bins = (first + last + 1) * _BINS // (2 * len(x))
    return order, first[np.diff(bins, prepend=-1) > 0]


def whole_bags(bags: Indices, n: int) -> Indices:
    """Return rows of whole bags, in the order of their first rows.

    Parameters
    ----------
    bags : ndarray of int, shape (m,)
        Number of the bag of each row.
    n : int
        Largest number of rows. Larger bags than half of it are left out.

    Returns
    -------
    rows : ndarray of int
        Rows, bag by bag.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.crossfit._relevance import whole_bags
    >>> whole_bags(np.array([5, 7, 5, 6, 7]), 4)
    array([0, 2, 1, 4])
    """
    _, first, inverse, sizes = np.unique(
        bags, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first[inverse], kind="stable")
    order = order[sizes[inverse[order]] <= n // 2]
    ends = np.append(np.flatnonzero(np.diff(bags[order])) + 1, len(order))
    return order[: ends[ends <= n].max(initial=0)]
