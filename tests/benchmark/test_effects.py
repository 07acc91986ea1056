"""Effect sizes: closed cases and coverage of the intervals."""

import numpy as np
import pytest
from scipy import stats

from partlearn.benchmark import cohen_d_paired, rank_biserial


def test_cohen_d_is_mean_over_deviation(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    a, b = rng.normal(1, 1, 12), rng.normal(0, 1, 12)
    effect = cohen_d_paired(a, b)
    d = (a - b).mean() / (a - b).std(ddof=1)
    assert effect.value == pytest.approx(d)
    # The limits are the noncentralities at which t is just that extreme.
    t = d * np.sqrt(12)
    low, high = effect.low * np.sqrt(12), effect.high * np.sqrt(12)
    assert stats.nct.sf(t, 11, low) == pytest.approx(0.025, abs=1e-6)
    assert stats.nct.cdf(t, 11, high) == pytest.approx(0.025, abs=1e-6)
    assert effect.low < d < effect.high


def test_cohen_d_interval_covers_the_truth():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        x = rng.normal(0.7, 1, 10)
        effect = cohen_d_paired(x, np.zeros(10))
        hits += effect.low <= 0.7 <= effect.high
    assert 0.90 <= hits / 200 <= 0.99


def test_cohen_d_without_spread():
    assert cohen_d_paired([1, 2], [1, 2]).value == 0.0
    assert cohen_d_paired([2, 3], [1, 2]).value == float("inf")
    assert cohen_d_paired([0, 1], [1, 2]).high == float("-inf")


@pytest.mark.parametrize("sign", [1, -1])
def test_cohen_d_of_differences_that_are_nearly_equal(sign):
    """The interval goes on where SciPy's distribution is not a number."""
    steps = np.array([0.0, 1.0, -1.0, 0.0])
    for size in (2.5e-4, 1e-4, 1e-8):  # t of 980, 2449 and 2e7
        effect = cohen_d_paired(sign * (0.1 + size * steps), np.zeros(4))
        ratios = np.sort([effect.low / effect.value, effect.high / effect.value])
        chi = stats.chi2.ppf([0.025, 0.975], 3)
        np.testing.assert_allclose(ratios, np.sqrt(chi / 3), rtol=1e-4)
        assert effect.low < effect.value < effect.high


def test_rank_biserial_by_hand():
    # Differences 2, 3, 4, -1 have ranks 2, 3, 4, 1: (9 - 1) / 10.
    assert rank_biserial([3, 4, 5, 1], [1, 1, 1, 2]).value == pytest.approx(0.8)
    assert rank_biserial([1, 2], [1, 2]).value == 0.0
    always = rank_biserial([2, 3, 5], [1, 1, 1])
    assert (always.value, always.low, always.high) == (1.0, 1.0, 1.0)


def test_rank_biserial_agrees_with_the_signed_rank_sum(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    a, b = rng.normal(0.3, 1, 15), rng.normal(0, 1, 15)
    total = 15 * 16 / 2
    plus = stats.wilcoxon(a, b, alternative="greater").statistic
    effect = rank_biserial(a, b, random_state=global_random_seed)
    assert effect.value == pytest.approx((plus - (total - plus)) / total)
    assert effect.low <= effect.value <= effect.high
