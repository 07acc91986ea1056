"""Standardized columns averaged with their normal scores."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtri

from partlearn._array_api import as_double, is_numpy, like, namespace, to_numpy
from partlearn._math.blocks import Rows, take
from partlearn._math.linalg._standardized import column_moments, inverse_scale
from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices

ROUNDING = 1e-9  # deviations of a column between cells that count as equal


@dataclass(frozen=True)
class NormalScores:
    """Map each column to the mean of its standardized values and its normal scores.

    Attributes
    ----------
    mean, inverse : ndarray of shape (d,)
        Mean of each column, and one over its standard deviation.
    knots : ndarray of shape (d, k)
        Standardized values, in ascending order; the last one is repeated where a
        column has fewer.
    scores : ndarray of shape (d, k)
        Their normal scores. Values between two knots are interpolated, and values
        beyond the knots have the score of the nearest one.
    """

    mean: Array
    inverse: Array
    knots: Array
    scores: Array

    def __call__(self, X: Any) -> Array:
        """Map dense or sparse rows."""
        X = X.toarray() if issparse(X) else X
        Z = (as_double(X) - self.mean) * self.inverse
        for j in range(Z.shape[1]):
            z = Z[:, j]
            Z[:, j] = (z + interpolated(z, self.knots[j, :], self.scores[j, :])) / 2
        return Z

    def of_rows(self, X: Any) -> Array | Rows:
        """Map rows in memory, or those of blocks when they are read."""
        return X.apply(self, n_features=X.shape[1]) if isinstance(X, Rows) else self(X)

    @classmethod
    def of(cls, X: Any, order: Indices) -> "NormalScores":
        """Estimate the map of the columns of `X`.

        Parameters
        ----------
        X : ndarray, CSR matrix or Rows, of shape (m, d)
            The data.
        order : ndarray of int, shape (m,)
            Rows in random order. The ranks are those among the first 2,000.

        Returns
        -------
        map : NormalScores
            The map.
        """
        mean, std = column_moments(X)
        inverse = inverse_scale(std)
        sample = take(X, np.sort(order[: SIZES.ranked_rows]))
        sample = sample.toarray() if issparse(sample) else sample
        Z = to_numpy((as_double(sample) - mean) * inverse)
        columns = [normal_scores(z) for z in Z.T]
        longest = max(len(knots) for knots, _ in columns)
        knots, scores = (
            np.stack([np.pad(c[i], (0, longest - len(c[i])), "edge") for c in columns])
            for i in range(2)
        )
        return cls(mean, inverse, like(knots, mean), like(scores, mean))


def normal_scores(x: Array) -> tuple[Array, Array]:
    """Compute the normal scores of the values of a column.

    Source: CRISPClassifier, normal scores of the columns.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Values. Those that differ by rounding count as equal.

    Returns
    -------
    knots : ndarray of shape (k,)
        The distinct values, in ascending order.
    scores : ndarray of shape (k,)
        Quantiles of the normal distribution at ``(rank - 1/2) / n``, with the mean
        rank for equal values. The n scores are standardized.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import normal_scores
    >>> normal_scores(np.array([7.0, 1.0, 1000.0]))
    (array([   1.,    7., 1000.]), array([-1.22474487,  0.        ,  1.22474487]))
    """
    order, starts = equal_cells(x)
    counts = np.diff(starts, append=len(x))
    knots = np.add.reduceat(x[order], starts) / counts
    z = ndtri((starts + counts / 2) / len(x))
    z -= counts @ z / len(x)
    spread = float(np.sqrt(counts @ z**2 / len(x)))
    return knots, z / spread if spread > 0 else np.zeros_like(z)


def equal_cells(x: Array) -> tuple[Indices, Indices]:
    """Return rows in the order of a column, and the starts of runs of equal cells.

    Cells that differ by rounding count as equal.
    """
    order = np.argsort(x, kind="stable")
    scaled = x / (np.abs(x).max() or 1.0)  # of which squares do not overflow
    gaps = np.diff(scaled[order]) > ROUNDING * scaled.std()
    return order, np.concatenate([[0], np.flatnonzero(gaps) + 1])


def interpolated(x: Array, knots: Array, values: Array) -> Array:
    """Interpolate linearly between knots, with constant values beyond them."""
    if is_numpy(x):
        return np.interp(x, knots, values)
    xp, k = namespace(x, knots), knots.shape[0]
    if k == 1:
        return xp.zeros_like(x) + values
    x = xp.clip(x, float(knots[0]), float(knots[k - 1]))
    right = xp.searchsorted(knots, x, side="right")
    right = xp.where(right < k, right, k - 1)
    low, high = xp.take(knots, right - 1), xp.take(knots, right)
    below, above = xp.take(values, right - 1), xp.take(values, right)
    # Repeated last knots have a gap of zero and one value.
    share = (x - low) / xp.where(high > low, high - low, 1.0)
    return below + share * (above - below)
