"""Scores, thresholds, machines and the protocol of multi-label comparisons."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import (
    coverage_error,
    label_ranking_average_precision_score,
    label_ranking_loss,
)

from partlearn._sizes import SIZES
from partlearn.benchmark import published_figures
from partlearn.benchmark._protocol import (
    RANKINGS,
    draw_candidates,
    f1_scores,
    n_selected,
    order_of,
    ordered,
    ranking_scores,
    split_rows,
    tuned_thresholds,
    unit_scaled,
)
from partlearn.metrics import (
    average_precision,
    coverage,
    macro_f1,
    micro_f1,
    ranking_loss,
)


def test_ranking_scores_by_hand():
    Y = np.array([[1, 0, 1], [0, 0, 0]], dtype=bool)
    S = np.array([[0.9, 0.5, 0.1], [0.3, 0.2, 0.1]])
    # Ranks 1 and 3 are true: (1/1 + 2/3) / 2; one of two pairs is wrong; (3 - 1) / 3.
    found = ranking_scores(Y, S)
    assert found["average_precision"] == pytest.approx(5 / 6)
    assert found["ranking_loss"] == pytest.approx(1 / 2)
    assert found["coverage"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("ties", [False, True])
def test_ranking_scores_equal_the_public_ones_and_scikit_learn(ties):
    rng = np.random.default_rng(0)
    Y = rng.random((60, 7)) < 0.3
    Y[0], Y[1] = True, False
    S = rng.random(Y.shape)
    if ties:
        S = np.round(S, 1) + 0.05
    found = ranking_scores(Y, S)
    some, mixed = Y.any(axis=1), Y.any(axis=1) & ~Y.all(axis=1)
    reference = label_ranking_average_precision_score(Y[mixed], S[mixed])
    assert found["average_precision"] == pytest.approx(reference)
    reference = label_ranking_loss(Y[mixed], S[mixed])
    assert found["ranking_loss"] == pytest.approx(reference)
    reference = (coverage_error(Y[some], S[some]) - 1) / Y.shape[1]
    assert found["coverage"] == pytest.approx(reference)
    assert found["average_precision"] == pytest.approx(average_precision(Y, S))
    assert found["ranking_loss"] == pytest.approx(ranking_loss(Y, S))
    assert found["coverage"] == pytest.approx(coverage(Y, S))


def test_ranking_scores_refuse_what_cannot_be_ranked():
    Y = np.array([[True, False]])
    with pytest.raises(ValueError, match="all 0 or 1"):
        ranking_scores(Y, np.array([[1.0, 0.0]]))
    with pytest.raises(ValueError, match="NaN"):
        ranking_scores(Y, np.array([[np.nan, 0.0]]))
    with pytest.raises(ValueError, match="No row"):
        ranking_scores(np.array([[True, True]]), np.array([[0.5, 0.2]]))


def test_f1_by_hand_and_as_the_public_ones():
    Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=bool)
    P = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0]], dtype=bool)
    found = f1_scores(Y, P)
    # Labels: 2*1/(2+2), 2*2/(2+2), nothing true nor predicted counts 0.
    assert found["macro_f1"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert found["micro_f1"] == pytest.approx(2 * 3 / 8)
    assert found["macro_f1"] == macro_f1(Y, P, zero_division=0)
    assert found["micro_f1"] == micro_f1(Y, P)
    nothing = np.zeros((2, 2), dtype=bool)
    assert f1_scores(nothing, nothing)["micro_f1"] == 0


def test_thresholds_by_hand():
    S = np.array([[0.9, 0.5, 0.1], [0.8, 0.5, 0.2], [0.7, 0.5, 0.3], [0.1, 0.4, 0.4]])
    Y = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    # Label 0: predicting 1, 2, 3, 4 rows gives F1 2/3, 1/2, 4/5, 2/3.
    # Label 1: the three tied rows go together, 2/4, before all four, 2/5.
    found = tuned_thresholds(Y, S)
    assert found.tolist() == [0.7, 0.5, np.inf]


def test_scaling_sees_training_rows_only():
    X = np.array([[0.0, 5.0, 1.0], [2.0, 5.0, 3.0], [4.0, 6.0, 0.0]])
    train = np.array([0, 1])
    expected = [[0, 0, 0], [1, 0, 1], [2, 0, 0]]
    np.testing.assert_allclose(unit_scaled(X, train), expected)
    np.testing.assert_allclose(unit_scaled(sparse.csr_array(X), train), expected)


def test_what_would_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(SIZES, "dense_bytes", 10)
    with pytest.raises(ValueError, match="max_rows"):
        unit_scaled(np.ones((3, 3)), np.array([0]))


def test_folds_cover_all_rows_and_change_with_the_seed():
    parts = split_rows(20, 4, 0, 5)
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(20))
    assert all(set(train).isdisjoint(test) for train, test in parts)
    other = split_rows(20, 4, 0, 6)[0]
    assert not np.array_equal(parts[0][1], other[1])


@pytest.mark.parametrize("noise", ["add", "average", "rate", "similarity"])
def test_noise_keeps_true_labels_and_its_seed(noise):
    Y = np.random.default_rng(0).random((30, 8)) < 0.3
    C = draw_candidates(Y, noise, 2, 1, 0)
    assert (C >= Y).all()
    assert C.sum() > Y.sum()
    np.testing.assert_array_equal(C, draw_candidates(Y, noise, 2, 1, 0))


def test_number_of_features():
    assert [n_selected(p, 103) for p in (1, 2, 20, 100)] == [1, 2, 21, 103]
    assert n_selected(1, 16) == 1


def test_equal_scores_are_shuffled():
    order = ordered(np.array([1.0, 3.0, 1.0, 1.0, 1.0]), 0)
    assert order[0] == 1
    assert sorted(order) == [0, 1, 2, 3, 4]
    seen = {tuple(ordered(np.zeros(5), seed)) for seed in range(5)}
    assert len(seen) > 1


def test_controls_by_hand():
    X = np.array([[0.0, 1.0, 3.0], [1.0, 1.0, 3.0], [0.0, 1.0, 3.1], [1.0, 1.0, 3.0]])
    C = np.array([[0], [1], [0], [1]], dtype=bool)
    assert ordered(RANKINGS["column norm"](X, C), 0).tolist() == [2, 1, 0]
    assert ordered(RANKINGS["ridge on candidates"](X, C), 0)[0] == 0
    assert RANKINGS["random order"](X, C).tolist() == [0, 0, 0]


class Ranked:
    """A method that has been fitted."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


def test_order_of_a_method():
    assert order_of(Ranked(ranking_=[2, 3, 1]), 0).tolist() == [2, 0, 1]
    with pytest.raises(TypeError, match=r"\[\[classifiers\]\]"):
        order_of(Ranked(), 0)
    with pytest.raises(ValueError, match="no ranking"):
        order_of(Ranked(ranking_=[1, 2], scores_=np.zeros(2)), 0)


def test_published_figures():
    figures = published_figures("PML-FSLA", "4, 5")
    assert len(figures) == 160
    yeast = figures["Yeast", None, "PML-FSLA", "", "average_precision"]
    assert yeast[:2] == (0.690, 0.0)
    ablation = published_figures("PML-FSLA", "7")
    assert np.isnan(ablation["Yeast", None, "PML-FSLA-q", "", "micro_f1"][1])
    assert published_figures("PML-FSLA", "99") == {}
