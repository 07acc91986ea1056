"""Comparisons of two methods: paired tests, effect sizes, probabilities."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from scipy import optimize, stats

Outcome = Literal["win", "tie", "loss"]
# From here on the deviation alone decides on the interval of an effect, to four digits;
# SciPy's distribution is slow there, and not a number further on.
_LARGE_T = 1000.0


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


def _differences(a: Any, b: Any) -> np.ndarray:
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
        statistic, p_value = float(np.copysign(np.inf, mean)), 0.0
    else:
        statistic = mean / float(np.sqrt(variance * variance_factor))
        p_value = float(2 * stats.t.sf(abs(statistic), n - 1))
    higher: Outcome = "win" if mean > 0 else "loss"
    outcome = higher if p_value < alpha else "tie"
    return Comparison(outcome, mean, statistic, p_value)


def paired_t(a: Any, b: Any, *, alpha: float = 0.05) -> Comparison:
    """Two-sided paired t-test over folds, as in the win/tie/loss counts of papers.

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
    difference = _differences(a, b)
    return _decide(difference, 1.0 / difference.size, alpha)


def corrected_resampled_t(
    a: Any, b: Any, *, test_fraction: float, alpha: float = 0.05
) -> Comparison:
    """Paired t-test with a variance corrected for overlapping training sets.

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
    difference = _differences(a, b)
    return _decide(difference, _overlap_factor(difference.size, test_fraction), alpha)


def _overlap_factor(n: int, test_fraction: float) -> float:
    """Factor of the variance of one difference (Nadeau and Bengio)."""
    if not 0 < test_fraction < 1:
        raise ValueError(f"`test_fraction` must be in (0, 1); got {test_fraction}.")
    return 1.0 / n + test_fraction / (1.0 - test_fraction)


def corrected_interval(
    a: Any, b: Any, *, test_fraction: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Confidence interval of the mean difference under the corrected test.

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
        Bounds; they exclude zero if :func:`corrected_resampled_t` finds a difference.

    Examples
    --------
    >>> from partlearn.benchmark import corrected_interval
    >>> a, b = [0.8, 0.9, 0.85, 0.8], [0.7, 0.85, 0.84, 0.71]
    >>> low, high = corrected_interval(a, b, test_fraction=0.25)
    >>> round(low, 3), round(high, 3)
    (-0.037, 0.162)
    """
    difference = _differences(a, b)
    n = difference.size
    factor = _overlap_factor(n, test_fraction)
    error = float(np.sqrt(difference.var(ddof=1) * factor))
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * error
    mean = float(difference.mean())
    return mean - half, mean + half


def win_tie_loss(outcomes: Iterable[Comparison]) -> WinTieLoss:
    """Count wins, ties and losses.

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
    difference = _differences(a, b)
    n = difference.size
    mean, sd = float(difference.mean()), float(difference.std(ddof=1))
    if sd <= 1e-12 * max(abs(mean), 1e-12):
        if abs(mean) <= 1e-15:
            return EffectSize(0.0, 0.0, 0.0)
        value = float(np.copysign(np.inf, mean))
        return EffectSize(value, value, value)
    t = float(mean / sd * np.sqrt(n))
    tail = (1 - confidence) / 2
    if abs(t) > _LARGE_T:
        spread = np.sqrt(stats.chi2.ppf([tail, 1 - tail], n - 1) / (n - 1))
        low, high = sorted((mean / sd * spread).tolist())
        return EffectSize(mean / sd, low, high)

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
    difference = np.round(_differences(a, b), 12)
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


@dataclass(frozen=True)
class Posterior:
    """Probabilities of three statements about scores ``a`` and ``b``.

    Attributes
    ----------
    better : float
        That ``a`` is higher by more than the region of practical equivalence.
    equivalent : float
        That they differ by no more than it.
    worse : float
        That ``a`` is lower by more than it.
    """

    better: float
    equivalent: float
    worse: float


def bayesian_signed_rank(
    a: Any,
    b: Any,
    *,
    rope: float = 0.01,
    prior_strength: float = 0.5,
    n_draws: int = 20_000,
    random_state: int = 0,
) -> Posterior:
    """Bayesian signed-rank test with a region of practical equivalence.

    Parameters
    ----------
    a, b : array-like of shape (n_datasets,)
        Scores of two methods, one pair per data set; higher is better.
    rope : float, default=0.01
        Differences up to this size count as none.
    prior_strength : float, default=0.5
        Weight of the prior's single pseudo-observation, a difference of zero.
    n_draws : int, default=20000
        Draws from the posterior.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    Posterior
        Probabilities that sum to 1.

    Notes
    -----
    The differences with the pseudo-observation get weights from a Dirichlet
    distribution. A draw is a vote for the region (above, inside or below) that holds
    the largest weighted share of the pairwise means ``(z_i + z_j) / 2``; equal shares
    split the vote.

    References
    ----------
    A. Benavoli, G. Corani, J. Demsar and M. Zaffalon, "Time for a change: a tutorial
    for comparing multiple classifiers through Bayesian analysis", JMLR 18, 2017.

    Examples
    --------
    >>> from partlearn.benchmark import bayesian_signed_rank
    >>> a = [0.90, 0.85, 0.80, 0.95, 0.70, 0.88]
    >>> b = [0.80, 0.80, 0.70, 0.90, 0.60, 0.80]
    >>> bayesian_signed_rank(a, b).better > 0.95
    True
    """
    if rope < 0 or prior_strength <= 0:
        raise ValueError(
            "`rope` must not be negative and `prior_strength` must be positive; got "
            f"{rope} and {prior_strength}."
        )
    z = np.append(0.0, _differences(a, b))
    # A mean on the edge of the region is inside, whatever rounding made of it.
    means = np.round((z[:, None] + z) / 2, 12)
    weights = _weights(z.size - 1, prior_strength, n_draws, random_state)
    above, below = (
        np.einsum("si,ij,sj->s", weights, region.astype(float), weights, optimize=True)
        for region in (means > rope, means < -rope)
    )
    shares = np.stack([above, 1.0 - above - below, below])
    # Rounding of the sums must not decide between equal shares.
    votes = shares >= shares.max(axis=0) - 1e-12
    better, equivalent, worse = (votes / votes.sum(axis=0)).mean(axis=1)
    return Posterior(float(better), float(equivalent), float(worse))


@lru_cache(maxsize=8)
def _weights(n: int, strength: float, n_draws: int, seed: int) -> np.ndarray:
    """Dirichlet weights, shared by all comparisons of a table."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.append(strength, np.ones(n)), size=n_draws)
