"""Paired tests against SciPy and against hand-computed cases."""

import numpy as np
import pytest
from scipy import stats

from partlearn.benchmark import (
    corrected_interval,
    corrected_resampled_t,
    paired_t,
    win_tie_loss,
)


def test_paired_t_agrees_with_scipy(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    a = rng.normal(0.8, 0.05, 10)
    b = a - rng.normal(0.02, 0.03, 10)
    ours, theirs = paired_t(a, b), stats.ttest_rel(a, b)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_outcomes_follow_the_sign():
    high, low = [0.9, 0.91, 0.92, 0.9], [0.5, 0.52, 0.51, 0.5]
    assert paired_t(high, low).outcome == "win"
    assert paired_t(low, high).outcome == "loss"
    assert paired_t([0.5, 0.6], [0.6, 0.5]).outcome == "tie"


def test_equal_differences_are_decided_by_sign():
    # 0.1 + 0.2 and the like leave rounding noise in the variance.
    b = np.array([0.1, 0.2, 0.3, 0.7])
    assert paired_t(b + 0.1, b).outcome == "win"
    assert paired_t(b + 0.1, b).p_value == 0.0
    assert paired_t(b - 0.1, b).outcome == "loss"
    tie = paired_t(b, b)
    assert (tie.outcome, tie.p_value) == ("tie", 1.0)


def test_corrected_t_by_hand():
    # d = .1, .05, .01, .09: mean .0625, variance .00169167; Nadeau and Bengio's
    # factor is 1/4 + (1/4)/(3/4) = 7/12.
    a, b = [0.8, 0.9, 0.85, 0.8], [0.7, 0.85, 0.84, 0.71]
    result = corrected_resampled_t(a, b, test_fraction=0.25)
    expected = 0.0625 / np.sqrt(0.0050749999999999 / 3 * 7 / 12)
    assert result.statistic == pytest.approx(expected, rel=1e-9)
    assert result.p_value > paired_t(a, b).p_value


def test_counts():
    win = paired_t([1, 2, 3], [0, 1, 2])
    loss = paired_t([0, 1, 2], [1, 2, 3])
    tie = paired_t([1, 2], [2, 1])
    counts = win_tie_loss([win, win, loss, tie])
    assert (counts.win, counts.tie, counts.loss) == (2, 1, 1)
    assert str(counts) == "2/1/1"


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 2], [1, 2, 3], "same folds on both sides; got 2 and 3"),
        ([1], [2], "at least 2 folds; got 1"),
        ([1, np.nan], [1, 2], "must be finite"),
    ],
)
def test_bad_scores(a, b, message):
    with pytest.raises(ValueError, match=message):
        paired_t(a, b)


def test_bad_fraction():
    with pytest.raises(ValueError, match=r"`test_fraction` must be in \(0, 1\)"):
        corrected_resampled_t([1, 2], [2, 3], test_fraction=1.0)


def test_corrected_interval_belongs_to_the_corrected_test(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for _ in range(20):
        a, b = rng.normal(0.05, 0.1, size=(2, 10))
        low, high = corrected_interval(a, b, test_fraction=0.1)
        test = corrected_resampled_t(a, b, test_fraction=0.1)
        assert (low + high) / 2 == pytest.approx(test.difference)
        assert (low <= 0 <= high) == (test.outcome == "tie")
    # Where p is exactly alpha the interval ends at zero.
    edge = corrected_interval(a, b, test_fraction=0.1, confidence=1 - test.p_value)
    assert min(map(abs, edge)) == pytest.approx(0, abs=1e-9)
