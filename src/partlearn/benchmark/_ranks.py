"""Tests over several data sets: Friedman, Wilcoxon with Holm, Nemenyi."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

_DECIMALS = 12  # of scores; what lies behind them is rounding


@dataclass(frozen=True)
class FriedmanResult:
    """Result of :func:`friedman`.

    Attributes
    ----------
    statistic : float
        Friedman's chi-square, corrected for ties.
    p_value : float
        Its p value.
    iman_davenport : float
        The less conservative F statistic.
    iman_davenport_p_value : float
        Its p value.
    ranks : ndarray of shape (n_methods,)
        Average ranks, 1 is best.
    """

    statistic: float
    p_value: float
    iman_davenport: float
    iman_davenport_p_value: float
    ranks: np.ndarray


def _table(scores: Any, n_methods: int, n_datasets: int = 2) -> np.ndarray:
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 2 or scores.shape[0] < n_datasets or scores.shape[1] < n_methods:
        raise ValueError(
            f"`scores` must have at least {n_datasets} row{'s' * (n_datasets > 1)} "
            f"(data sets) and {n_methods} columns (methods); got shape {scores.shape}."
        )
    if not np.isfinite(scores).all():
        raise ValueError("`scores` must be finite; drop rows with failed methods.")
    return scores


def average_ranks(scores: Any) -> np.ndarray:
    """Average rank of each method over the data sets, 1 is best.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        Higher is better; ties share their mean rank. One data set is enough.

    Returns
    -------
    ndarray of shape (n_methods,)
        Average ranks.

    Examples
    --------
    >>> from partlearn.benchmark import average_ranks
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.9, 0.6]])
    array([1.5 , 1.75, 2.75])
    """
    return _ranks(_table(scores, 2, 1)).mean(axis=0)


def _ranks(scores: np.ndarray) -> np.ndarray:
    """Ranks in each row; means that differ by rounding alone are tied."""
    return stats.rankdata(-np.round(scores, _DECIMALS), axis=1)


def friedman(scores: Any) -> FriedmanResult:
    """Friedman's test that all methods perform alike, with Iman and Davenport's F.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        At least three methods; higher is better.

    Returns
    -------
    FriedmanResult
        Statistics, p values and average ranks.

    References
    ----------
    J. Demsar, "Statistical comparisons of classifiers over multiple data sets",
    JMLR 7, 2006.

    Examples
    --------
    >>> from partlearn.benchmark import friedman
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]]
    >>> round(friedman(scores).p_value, 3)
    0.039
    """
    scores = _table(scores, 3)
    n, k = scores.shape
    ranks = _ranks(scores)
    mean = ranks.mean(axis=0)
    if np.ptp(ranks) == 0:
        return FriedmanResult(0.0, 1.0, 0.0, 1.0, mean)
    chi2, p_value = map(float, stats.friedmanchisquare(*ranks.T))
    remaining = n * (k - 1) - chi2
    if remaining <= 1e-12 * chi2:
        return FriedmanResult(chi2, p_value, float("inf"), 0.0, mean)
    f = float((n - 1) * chi2 / remaining)
    f_p = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    return FriedmanResult(chi2, p_value, f, f_p, mean)


def holm(p_values: Any) -> np.ndarray:
    """Holm's step-down correction.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        Uncorrected p values.

    Returns
    -------
    ndarray of shape (n_tests,)
        Corrected p values in the same order, at most 1.

    Examples
    --------
    >>> from partlearn.benchmark import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    factors = np.arange(p.size, 0, -1)
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return corrected


def wilcoxon_holm(scores: Any, *, control: int | None = None) -> np.ndarray:
    """Wilcoxon signed-rank tests of pairs of methods, with Holm's correction.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        Higher or lower is better: the test is two-sided.
    control : int or None, default=None
        Column that the others are compared with. None compares all pairs, which
        takes a larger correction.

    Returns
    -------
    ndarray of shape (n_methods, n_methods), or (n_methods,) with a control
        Corrected p values; symmetric, with 1 on the diagonal or for the control.

    Examples
    --------
    >>> from partlearn.benchmark import wilcoxon_holm
    >>> scores = [[0.9, 0.5], [0.8, 0.7], [0.9, 0.3], [0.7, 0.5], [0.8, 0.5]]
    >>> float(wilcoxon_holm(scores)[0, 1])
    0.0625
    """
    scores = _table(scores, 2)
    k = scores.shape[1]
    pairs = list(combinations(range(k), 2))
    if control is not None:
        if not 0 <= control < k:
            raise ValueError(
                f"`control` must be a column, 0 to {k - 1}; got {control}."
            )
        pairs = [(control, i) for i in range(k) if i != control]
    raw = [_signed_rank_p(scores[:, i] - scores[:, j]) for i, j in pairs]
    result = np.ones((k, k))
    for (i, j), p in zip(pairs, holm(raw), strict=True):
        result[i, j] = result[j, i] = p
    return result if control is None else result[control]


def _signed_rank_p(difference: np.ndarray) -> float:
    # Rounding turns equal scores into tiny differences with a rank of their own.
    difference = np.round(difference, _DECIMALS)
    nonzero = difference[difference != 0]
    if nonzero.size == 0:
        return 1.0
    tied = np.unique(np.abs(nonzero)).size < nonzero.size
    # The exact distribution assumes no ties and no zeros; otherwise approximate.
    exact = nonzero.size == difference.size and not tied and nonzero.size <= 50
    method = "exact" if exact else "approx"
    if nonzero.size < 2 and not exact:
        return 1.0
    return float(stats.wilcoxon(nonzero, method=method).pvalue)


def nemenyi_critical_difference(
    n_methods: int, n_datasets: int, *, alpha: float = 0.05
) -> float:
    """Critical difference of average ranks by Nemenyi's test.

    Parameters
    ----------
    n_methods, n_datasets : int
        Size of the comparison.
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    float
        Critical difference.

    Examples
    --------
    >>> from partlearn.benchmark import nemenyi_critical_difference
    >>> round(nemenyi_critical_difference(5, 30), 3)
    1.114
    """
    if n_methods < 2 or n_datasets < 1:
        raise ValueError(
            "The critical difference needs at least 2 methods and 1 data set; "
            f"got {n_methods} and {n_datasets}."
        )
    q = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def nemenyi_cliques(ranks: Any, critical_difference: float) -> list[list[int]]:
    """Find maximal groups of methods that do not differ significantly.

    Parameters
    ----------
    ranks : array-like of shape (n_methods,)
        Average ranks.
    critical_difference : float
        From :func:`nemenyi_critical_difference`.

    Returns
    -------
    list of list of int
        Members of each group as indices into ``ranks``, the best rank first; groups
        of one are left out.

    Examples
    --------
    >>> from partlearn.benchmark import nemenyi_cliques
    >>> nemenyi_cliques([1.2, 3.0, 1.8], 1.0)
    [[0, 2]]
    """
    ranks = np.asarray(ranks, dtype=float)
    order = np.argsort(ranks, kind="stable")
    groups: list[list[int]] = []
    last_end = -1
    for start in range(order.size):
        inside = ranks[order] <= ranks[order[start]] + critical_difference
        end = int(np.flatnonzero(inside)[-1])
        if end > start and end > last_end:
            groups.append(order[start : end + 1].tolist())
            last_end = end
    return groups
