"""Tests on paired fold scores: is one method better than another on these folds."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

__all__ = [
    "Comparison",
    "WinTieLoss",
    "corrected_interval",
    "corrected_resampled_t",
    "paired_differences",
    "paired_t",
    "win_tie_loss",
]

Outcome = Literal["win", "tie", "loss"]


@dataclass(frozen=True)
class Comparison:
    """Result of one paired test of scores ``a`` against scores ``b``.

    Attributes
    ----------
    outcome : {"win", "tie", "loss"}
        "win" when ``a`` is significantly higher.
    difference : float
        Mean of ``a - b``.
    statistic : float
        The t statistic; infinite when all differences are equal and not zero.
    p_value : float
        Two-sided p value.
    """

    outcome: Outcome
    difference: float
    statistic: float
    p_value: float


@dataclass(frozen=True)
class WinTieLoss:
    """Counts of wins, ties and losses.

    Attributes
    ----------
    win, tie, loss : int
        Number of comparisons with that outcome.
    """

    win: int
    tie: int
    loss: int

    def __str__(self) -> str:
        return f"{self.win}/{self.tie}/{self.loss}"


def paired_differences(a: Any, b: Any) -> np.ndarray:
    a = np.asarray(a, dtype=float).ravel()
    b = np.asarray(b, dtype=float).ravel()
    if a.shape != b.shape:
        raise ValueError(
            "Paired scores need the same folds on both sides; "
            f"got {a.size} and {b.size} scores."
        )
    if a.size < 2:
        raise ValueError(f"A paired test needs at least 2 folds; got {a.size}.")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("Scores must be finite; drop failed folds on both sides.")
    return a - b


def _decide(difference: np.ndarray, variance_factor: float, alpha: float) -> Comparison:
    n = difference.size
    mean = float(difference.mean())
    variance = float(difference.var(ddof=1))
    # Equal differences leave only rounding noise in the variance: the sign decides.
    noise = (1e-12 * max(float(np.abs(difference).max()), 1e-12)) ** 2
    if variance <= noise:
        if abs(mean) <= 1e-15:
            return Comparison("tie", 0.0, 0.0, 1.0)
        outcome: Outcome = "win" if mean > 0 else "loss"
        return Comparison(outcome, mean, float(np.copysign(np.inf, mean)), 0.0)
    statistic = mean / float(np.sqrt(variance * variance_factor))
    p_value = float(2 * stats.t.sf(abs(statistic), n - 1))
    if p_value >= alpha:
        outcome = "tie"
    else:
        outcome = "win" if mean > 0 else "loss"
    return Comparison(outcome, mean, statistic, p_value)


def paired_t(a: Any, b: Any, *, alpha: float = 0.05) -> Comparison:
    """Two-sided paired t-test over folds, the rule of the papers' win/tie/loss.

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        Scores of two methods on the same folds.
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    Comparison
        A win needs ``p < alpha`` and a higher mean. Differences that are all
        zero are a tie; differences that are all equal are decided by sign.

    Notes
    -----
    Folds of one cross-validation share training rows, so this test calls too many
    differences significant; :func:`corrected_resampled_t` corrects for it.

    Examples
    --------
    >>> from partlearn.benchmark import paired_t
    >>> paired_t([0.8, 0.9, 0.85], [0.7, 0.8, 0.74]).outcome
    'win'
    """
    difference = paired_differences(a, b)
    return _decide(difference, 1.0 / difference.size, alpha)


def corrected_resampled_t(
    a: Any, b: Any, *, test_fraction: float, alpha: float = 0.05
) -> Comparison:
    """Paired t-test whose variance allows for overlapping training sets.

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        Scores of two methods on the same folds.
    test_fraction : float
        Share of the rows in one test fold, ``1 / n_folds`` for k-fold.
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    Comparison
        As :func:`paired_t`.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine
    Learning 52, 2003. https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from partlearn.benchmark import corrected_resampled_t
    >>> a, b = [0.8, 0.9, 0.85, 0.8], [0.7, 0.85, 0.84, 0.71]
    >>> corrected_resampled_t(a, b, test_fraction=0.25).outcome
    'tie'
    """
    difference = paired_differences(a, b)
    return _decide(difference, _overlap_factor(difference.size, test_fraction), alpha)


def _overlap_factor(n: int, test_fraction: float) -> float:
    """What the variance of one difference is multiplied with: Nadeau and Bengio."""
    if not 0 < test_fraction < 1:
        raise ValueError(f"`test_fraction` must be in (0, 1); got {test_fraction}.")
    return 1.0 / n + test_fraction / (1.0 - test_fraction)


def corrected_interval(
    a: Any, b: Any, *, test_fraction: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Confidence interval of the mean difference that belongs to the corrected test.

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        Scores of two methods on the same folds.
    test_fraction : float
        Share of the rows in one test fold, ``1 / n_folds`` for k-fold.
    confidence : float, default=0.95
        Coverage.

    Returns
    -------
    low, high : float
        Zero is outside where :func:`corrected_resampled_t` finds a difference.

    Examples
    --------
    >>> from partlearn.benchmark import corrected_interval
    >>> a, b = [0.8, 0.9, 0.85, 0.8], [0.7, 0.85, 0.84, 0.71]
    >>> low, high = corrected_interval(a, b, test_fraction=0.25)
    >>> round(low, 3), round(high, 3)
    (-0.037, 0.162)
    """
    difference = paired_differences(a, b)
    n = difference.size
    factor = _overlap_factor(n, test_fraction)
    error = float(np.sqrt(difference.var(ddof=1) * factor))
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * error
    mean = float(difference.mean())
    return mean - half, mean + half


def win_tie_loss(outcomes: Iterable[Comparison]) -> WinTieLoss:
    """Count the outcomes of several comparisons.

    Parameters
    ----------
    outcomes : iterable of Comparison
        Results of :func:`paired_t` or :func:`corrected_resampled_t`.

    Returns
    -------
    WinTieLoss
        The three counts.

    Examples
    --------
    >>> from partlearn.benchmark import paired_t, win_tie_loss
    >>> str(win_tie_loss([paired_t([1, 2, 3], [0, 1, 2]), paired_t([1, 2], [2, 1])]))
    '1/1/0'
    """
    results = [comparison.outcome for comparison in outcomes]
    return WinTieLoss(results.count("win"), results.count("tie"), results.count("loss"))
