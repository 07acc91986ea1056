"""Rank statistics against SciPy, scikit-posthocs and published tables."""

import numpy as np
import pytest
from scipy import stats

from partlearn.benchmark import (
    average_ranks,
    friedman,
    holm,
    nemenyi_cliques,
    nemenyi_critical_difference,
    wilcoxon_holm,
)


@pytest.fixture
def scores(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    return rng.normal(size=(14, 4)) + np.array([0.0, 0.3, 0.6, 1.2])


@pytest.fixture
def posthocs():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at its import, about packages it uses
        return pytest.importorskip("scikit_posthocs")


def test_friedman_agrees_with_scipy(scores):
    ours, theirs = friedman(scores), stats.friedmanchisquare(*scores.T)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-10)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_friedman_with_ties_agrees_with_scipy(scores):
    tied = np.round(scores, 0)
    ours, theirs = friedman(tied), stats.friedmanchisquare(*tied.T)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-10)


def test_iman_davenport_by_its_formula(scores):
    n, k = scores.shape
    result = friedman(scores)
    f = (n - 1) * result.statistic / (n * (k - 1) - result.statistic)
    assert result.iman_davenport == pytest.approx(f)
    p = stats.f.sf(f, k - 1, (k - 1) * (n - 1))
    assert result.iman_davenport_p_value == pytest.approx(p)


def test_friedman_extremes():
    same = np.ones((4, 3))
    assert friedman(same).p_value == 1.0
    ordered = np.tile([3.0, 2.0, 1.0], (5, 1))
    result = friedman(ordered)
    assert result.statistic == pytest.approx(10.0)
    assert result.iman_davenport == float("inf")
    np.testing.assert_array_equal(result.ranks, [1, 2, 3])


def test_average_ranks_share_ties():
    np.testing.assert_allclose(
        average_ranks([[0.9, 0.8, 0.8], [0.7, 0.9, 0.6]]), [1.5, 1.75, 2.75]
    )
    np.testing.assert_allclose(average_ranks([[0.9, 0.8, 0.8]]), [1, 2.5, 2.5])
    # Means of the same fold accuracies in another order.
    assert average_ranks([[0.1 + 0.2, 0.3, 0.2]]).tolist() == [1.5, 1.5, 3]
    equal = friedman([[0.1 + 0.2, 0.3, 0.3], [0.3, 0.1 + 0.2, 0.3]])
    assert (equal.statistic, equal.p_value) == (0, 1)


def test_holm_by_hand():
    np.testing.assert_allclose(
        holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]
    )
    np.testing.assert_allclose(holm([0.9, 0.8]), [1.0, 1.0])


def test_wilcoxon_holm_agrees_with_posthocs(scores, posthocs):
    ours = wilcoxon_holm(scores)
    theirs = posthocs.posthoc_wilcoxon(list(scores.T), p_adjust="holm").to_numpy()
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(ours[off], theirs[off], rtol=1e-9)


def test_a_control_takes_the_smaller_correction(scores):
    others = [i for i in range(4) if i != 1]
    raw = [stats.wilcoxon(scores[:, 1], scores[:, i]).pvalue for i in others]
    found = wilcoxon_holm(scores, control=1)
    with pytest.raises(ValueError, match="`control` must be a column, 0 to"):
        wilcoxon_holm(scores, control=-1)
    np.testing.assert_allclose(found[others], holm(raw))
    assert found[1] == 1


def test_wilcoxon_without_differences_is_one():
    base = np.linspace(0, 1, 6)
    table = np.column_stack([base, base, base + 1e-15])
    np.testing.assert_array_equal(wilcoxon_holm(table), np.ones((3, 3)))


def test_wilcoxon_with_one_difference_is_one():
    base = np.zeros(5)
    other = base.copy()
    other[0] = 1
    assert wilcoxon_holm(np.column_stack([base, other]))[0, 1] == 1.0


@pytest.mark.parametrize(
    ("k", "q05"),
    # Critical values of the two-tailed Nemenyi test, Demsar (2006), Table 5.
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)],
)
def test_critical_difference_matches_the_published_table(k, q05):
    n = 25
    expected = q05 * np.sqrt(k * (k + 1) / (6 * n))
    assert nemenyi_critical_difference(k, n) == pytest.approx(expected, abs=5e-4)


def test_nemenyi_agrees_with_posthocs(scores, posthocs):
    """Two methods differ by ours exactly when posthocs' p value is under 0.05."""
    p = posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    ranks = average_ranks(scores)
    critical = nemenyi_critical_difference(4, len(scores))
    differ = np.abs(ranks[:, None] - ranks) > critical
    np.testing.assert_array_equal(differ, p < 0.05)


def test_cliques_are_maximal():
    ranks = [1.0, 1.5, 2.2, 4.0]
    assert nemenyi_cliques(ranks, 1.0) == [[0, 1], [1, 2]]
    assert nemenyi_cliques(ranks, 5.0) == [[0, 1, 2, 3]]
    assert nemenyi_cliques(ranks, 0.1) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: friedman([[1, 2], [2, 1]]), "at least 2 rows .* and 3 columns"),
        (lambda: average_ranks([1, 2]), r"at least 1 row \(data sets\)"),
        (lambda: friedman([[1, 2, np.nan], [2, 1, 3]]), "must be finite"),
        (lambda: nemenyi_critical_difference(1, 5), "at least 2 methods"),
    ],
)
def test_bad_tables(call, message):
    with pytest.raises(ValueError, match=message):
        call()
