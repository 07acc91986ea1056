"""Effect sizes with confidence intervals: how large a difference is."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, stats

from partlearn.benchmark._stats._paired import paired_differences

__all__ = ["EffectSize", "cohen_d_paired", "rank_biserial"]


@dataclass(frozen=True)
class EffectSize:
    """An effect size and its confidence interval.

    Attributes
    ----------
    value : float
        The estimate.
    low, high : float
        Limits of the confidence interval.
    """

    value: float
    low: float
    high: float


def cohen_d_paired(a: Any, b: Any, *, confidence: float = 0.95) -> EffectSize:
    """Cohen's d of paired scores (d_z) with the exact noncentral-t interval.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Paired scores.
    confidence : float, default=0.95
        Coverage of the interval.

    Returns
    -------
    EffectSize
        Mean difference in units of its standard deviation; infinite when the
        differences are equal and not zero.

    Examples
    --------
    >>> from partlearn.benchmark import cohen_d_paired
    >>> effect = cohen_d_paired([0.8, 0.9, 0.85, 0.8], [0.7, 0.85, 0.84, 0.71])
    >>> round(effect.value, 2)
    1.52
    """
    difference = paired_differences(a, b)
    n = difference.size
    mean, sd = float(difference.mean()), float(difference.std(ddof=1))
    if sd <= 1e-12 * max(abs(mean), 1e-12):
        if abs(mean) <= 1e-15:
            return EffectSize(0.0, 0.0, 0.0)
        value = float(np.copysign(np.inf, mean))
        return EffectSize(value, value, value)
    t = float(mean / sd * np.sqrt(n))
    tail = (1 - confidence) / 2

    def excess(noncentrality: float, probability: float) -> float:
        return float(stats.nct.cdf(t, n - 1, noncentrality)) - probability

    def limit(probability: float) -> float:
        # SciPy's distribution is nan far from t, so walk outwards from t.
        low = high = t
        while excess(low, probability) < 0:
            low -= 1.0
        while excess(high, probability) > 0:
            high += 1.0
        root = optimize.brentq(excess, low, high, args=(probability,))
        return float(root / np.sqrt(n))

    return EffectSize(mean / sd, limit(1 - tail), limit(tail))


def rank_biserial(
    a: Any,
    b: Any,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int = 0,
) -> EffectSize:
    """Matched-pairs rank-biserial correlation with a bootstrap interval.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Paired scores, usually one pair per data set.
    confidence : float, default=0.95
        Coverage of the interval.
    n_resamples : int, default=2000
        Number of bootstrap samples.
    random_state : int, default=0
        Seed of the resampling.

    Returns
    -------
    EffectSize
        1 when ``a`` is always higher, -1 when always lower, 0 for no difference.

    References
    ----------
    D. S. Kerby, "The simple difference formula", Comprehensive Psychology 3, 2014.
    https://doi.org/10.2466/11.IT.3.1

    Examples
    --------
    >>> from partlearn.benchmark import rank_biserial
    >>> rank_biserial([3, 4, 5, 1], [1, 1, 1, 2]).value
    0.8
    """
    difference = np.round(paired_differences(a, b), 12)
    rng = np.random.default_rng(random_state)
    rows = rng.integers(0, difference.size, size=(n_resamples, difference.size))
    draws = np.array([_rank_biserial(difference[row]) for row in rows])
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return EffectSize(_rank_biserial(difference), float(low), float(high))


def _rank_biserial(difference: np.ndarray) -> float:
    nonzero = difference[difference != 0]
    if nonzero.size == 0:
        return 0.0
    ranks = stats.rankdata(np.abs(nonzero))
    return float((ranks * np.sign(nonzero)).sum() / ranks.sum())
