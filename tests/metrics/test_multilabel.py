"""Multi-label scores: public programs, hand-made cases, ties and empty rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    coverage_error,
    label_ranking_average_precision_score,
    label_ranking_loss,
)

from partlearn.metrics import (
    average_precision,
    coverage,
    hamming_loss,
    macro_f1,
    micro_f1,
    one_error,
    ranking_loss,
)

RANKED = [ranking_loss, average_precision, coverage, one_error]


@pytest.mark.shared
def test_public_program_without_ties(shared_dir):
    oracle = np.load(shared_dir / "oracle" / "pml_metrics_zhang.npz")
    S, Y = oracle["S_rand"], oracle["Y_rand"]
    expected = dict(zip(oracle["names"], oracle["values_rand"], strict=True))
    found = {
        "average_precision": average_precision(Y, S),
        "coverage_minus1_unnormalised": coverage(Y, S) * Y.shape[1],
        "ranking_loss": ranking_loss(Y, S),
        "one_error": one_error(Y, S),
        "micro_f1": micro_f1(Y, S > 0.5),
        "macro_f1": macro_f1(Y, S > 0.5),
        "hamming_loss": hamming_loss(Y, S > 0.5),
    }
    assert found.keys() == expected.keys()
    for name, value in found.items():
        assert value == pytest.approx(expected[name], abs=1e-12), name


@pytest.mark.shared
def test_public_program_with_ties(shared_dir):
    """Where the rules agree: ties are errors of the ranking loss, F1 knows no ties."""
    oracle = np.load(shared_dir / "oracle" / "pml_metrics_zhang.npz")
    S, Y = oracle["S_ties"], oracle["Y_ties"]
    expected = dict(zip(oracle["names"], oracle["values_ties"], strict=True))
    assert ranking_loss(Y, S) == pytest.approx(expected["ranking_loss"], abs=1e-12)
    assert micro_f1(Y, S > 0.5) == pytest.approx(expected["micro_f1"], abs=1e-12)
    one = macro_f1(Y, S > 0.5, zero_division=1)
    assert one == pytest.approx(expected["macro_f1"], abs=1e-12)
    # Ours gives tied labels the worst rank, so it can only be harder to please.
    assert average_precision(Y, S) <= expected["average_precision"]


def test_by_hand():
    Y = [[1, 0, 1, 0]]
    S = [[0.9, 0.8, 0.7, 0.1]]
    assert ranking_loss(Y, S) == 1 / 4
    assert average_precision(Y, S) == pytest.approx((1 + 2 / 3) / 2)
    assert coverage(Y, S) == 2 / 4
    assert one_error(Y, S) == 0


def test_tied_labels_get_the_worst_rank():
    Y = [[1, 0, 0, 0]]
    S = [[0.5, 0.5, 0.5, 0.1]]
    assert ranking_loss(Y, S) == pytest.approx(2 / 3)
    assert average_precision(Y, S) == pytest.approx(1 / 3)
    assert coverage(Y, S) == 2 / 4
    assert one_error(Y, S) == 1


@pytest.mark.parametrize("score", RANKED)
def test_rows_without_labels_are_left_out(score, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    Y, S = rng.uniform(size=(30, 5)) < 0.4, rng.normal(size=(30, 5))
    Y = Y[Y.any(axis=1) & ~Y.all(axis=1)]
    S = S[: len(Y)]
    Y2, S2 = np.vstack([Y, np.zeros((4, 5))]), np.vstack([S, np.ones((4, 5)) * 0.3])
    assert score(Y2, S2) == score(Y, S)


@pytest.mark.parametrize("score", [ranking_loss, average_precision, one_error])
def test_full_rows_are_left_out(score):
    Y = [[1, 0, 0], [1, 1, 1]]
    S = [[0.2, 0.5, 0.3], [0.1, 0.2, 0.3]]
    assert score(Y, S) == score(Y[:1], S[:1])


def test_full_rows_count_in_coverage():
    assert coverage([[1, 1, 1]], [[0.1, 0.2, 0.3]]) == pytest.approx(2 / 3)


def test_equals_scikit_learn_where_no_row_is_left_out(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    Y = np.zeros((25, 6), dtype=int)
    Y[np.arange(25), rng.integers(6, size=25)] = 1
    S = rng.integers(4, size=(25, 6)) / 3 + 0.1
    expected = label_ranking_average_precision_score(Y, S)
    assert average_precision(Y, S) == pytest.approx(expected, rel=1e-12)
    assert ranking_loss(Y, S) == pytest.approx(label_ranking_loss(Y, S), rel=1e-12)
    assert coverage(Y, S) == pytest.approx((coverage_error(Y, S) - 1) / 6)


@pytest.mark.parametrize("score", RANKED)
def test_hard_predictions_are_refused(score):
    with pytest.raises(ValueError, match="all 0 or 1"):
        score([[1, 0], [0, 1]], [[1, 0], [1, 1]])


@pytest.mark.parametrize("score", RANKED)
def test_nothing_to_rank(score):
    with pytest.raises(ValueError, match="nothing can be ranked"):
        score([[0, 0], [0, 0]], [[0.1, 0.2], [0.3, 0.4]])


@pytest.mark.parametrize("score", RANKED)
def test_bad_scores(score):
    with pytest.raises(ValueError, match=r"shape \(2, 2\); got \(1, 2\)"):
        score([[1, 0], [0, 1]], [[0.1, 0.2]])
    with pytest.raises(ValueError, match="NaN or infinity"):
        score([[1, 0], [0, 1]], [[0.1, np.nan], [0.3, 0.4]])


def test_a_label_never_seen_counts_zero_and_says_so():
    Y = [[1, 0, 0], [1, 1, 0]]
    with pytest.warns(UndefinedMetricWarning):
        assert macro_f1(Y, Y) == pytest.approx(2 / 3)
    assert macro_f1(Y, Y, zero_division=1) == 1
    assert micro_f1(Y, Y) == 1
    with pytest.warns(UndefinedMetricWarning):
        assert micro_f1([[0, 0]], [[0, 0]]) == 0


def test_predictions_of_another_shape():
    with pytest.raises(ValueError, match="3 columns but there are 2 classes"):
        hamming_loss([[1, 0]], [[1, 0, 0]])
    with pytest.raises(ValueError, match="differ in shape"):
        hamming_loss([[1, 0]], [[1, 0], [0, 1]])


def test_predicted_labels_are_matched_by_name():
    truth = pd.DataFrame({"a": [1, 0, 1], "b": [0, 1, 1]})
    assert hamming_loss(truth, truth[["b", "a"]]) == 0
    assert hamming_loss(truth, truth.to_numpy()) == 0
    sets = [{"a"}, {"b"}, {"a", "b"}]
    assert hamming_loss(sets, [{"a"}, {"a"}, {"a"}]) == 0.5
    with pytest.raises(ValueError, match=r"Label 'c' .* is not one of the 2 known"):
        micro_f1(sets, [{"a"}, {"c"}, {"a", "c"}])


def test_sets_without_some_label_say_what_to_do():
    scores = [[0.9, 0.5, 0.1], [0.2, 0.7, 0.3]]
    with pytest.raises(ValueError, match="true labels as a binary matrix"):
        ranking_loss([{"a"}, {"a", "b"}], scores)
    assert ranking_loss([[1, 0, 0], [1, 1, 0]], scores) == 0.25
