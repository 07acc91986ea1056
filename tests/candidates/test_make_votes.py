"""Made annotators: what was planted is found again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from partlearn.candidates import aggregate_votes, make_votes
from partlearn.classification import CRISPClassifier

TRUTH = np.random.RandomState(1).choice(list("abcd"), size=1500)


def counts(votes, q, who):
    """Votes of one annotator by true class, counted one by one."""
    table = votes.table
    C = np.zeros((q, q))
    codes = np.searchsorted(np.unique(TRUTH), TRUTH)
    for row, annotator, label in zip(
        table.row, table.annotator, table.label, strict=True
    ):
        if annotator == who:
            C[codes[row], label] += 1
    return C


def test_planted_accuracies_are_found_again(global_random_seed):
    accuracy = [0.9, 0.75, 0.6, 0.45, 0.3]
    votes = make_votes(TRUTH, 5, accuracy=accuracy, random_state=global_random_seed)
    found = aggregate_votes(votes)
    assert_allclose(found.annotators.accuracy, accuracy, atol=0.06)
    assert np.mean(found.label == TRUTH) > 0.88  # .897 at least over 100 seeds


def test_confusion_is_drawn_and_found(global_random_seed):
    P = np.full((4, 4), 0.05) + 0.8 * np.eye(4)
    P[2] = [0.1, 0.1, 0.2, 0.6]  # takes c for d
    three = np.stack([P, P, 0.1 + 0.6 * np.eye(4)])
    votes = make_votes(TRUTH, 3, confusion=three, random_state=global_random_seed)
    C = counts(votes, 4, 0)
    # Three standard deviations of a share of some 375 votes.
    assert_allclose(C / C.sum(axis=1, keepdims=True), P, atol=0.08)
    one = make_votes(TRUTH, 3, confusion=P, random_state=global_random_seed)
    C = counts(one, 4, 2)
    assert_allclose(C / C.sum(axis=1, keepdims=True), P, atol=0.08)


def test_coverage(global_random_seed):
    share = [0.8, 0.1, 0.0]
    votes = make_votes(TRUTH, 3, coverage=share, random_state=global_random_seed)
    n = np.bincount(votes.table.annotator, minlength=3) / len(TRUTH)
    alone = 0.2 * 0.9  # rows that nobody would see
    assert_allclose(n, [0.8 + alone * 8 / 9, 0.1 + alone / 9, 0], atol=0.04)
    assert np.unique(votes.table.row).size == len(TRUTH)
    full = make_votes(TRUTH, 3, random_state=global_random_seed)
    assert len(full.table.row) == 3 * len(TRUTH)


def test_perfect_and_repeatable():
    votes = make_votes(["x", "y", "x"], 2, accuracy=1.0, random_state=0)
    assert_array_equal(aggregate_votes(votes).label, ["x", "y", "x"])
    again = make_votes(TRUTH, random_state=3).table
    assert_array_equal(again.label, make_votes(TRUTH, random_state=3).table.label)
    assert np.any(again.label != make_votes(TRUTH, random_state=4).table.label)


@settings(max_examples=20)
@given(st.integers(1, 4), st.floats(0, 1), st.floats(0.01, 1), st.integers(0, 99))
def test_every_row_has_a_vote(n, accuracy, coverage, seed):
    votes = make_votes(
        TRUTH[:30], n, accuracy=accuracy, coverage=coverage, random_state=seed
    )
    assert_array_equal(np.unique(votes.table.row), np.arange(30))
    assert votes.table.label.max() < 4
    assert len(votes) == 30


def test_a_method_takes_them():
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=90)
    X = np.eye(3)[y] * 4 + rng.normal(size=(90, 3))
    votes = make_votes(y, 3, accuracy=0.6, random_state=0)
    model = CRISPClassifier().fit(X, votes)
    alone = np.mean(aggregate_votes(votes).label == y)
    assert np.mean(model.label_confidence_.argmax(axis=1) == y) > alone


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_annotators": 0}, "`n_annotators` must be at least 1; got 0"),
        ({"accuracy": [0.5]}, "`accuracy` must be one number or 2, one per annotator"),
        ({"accuracy": [0.5, 1.5]}, "between 0 and 1; annotator 1 has 1.5"),
        ({"accuracy": np.nan}, "between 0 and 1; annotator 0 has nan"),
        ({"coverage": -1}, "`coverage` must lie between 0 and 1"),
        ({"coverage": 0}, "above 0 for at least one annotator"),
        ({"confusion": np.eye(3)}, r"must have shape \(2, 2\) or \(2, 2, 2\)"),
        ({"confusion": [[1, 1], [0, 1]]}, "annotator 0 for class 0 are"),
    ],
)
def test_bad_input(changes, message):
    with pytest.raises(ValueError, match=message):
        make_votes(["a", "b"], **({"n_annotators": 2} | changes))


def test_bad_truth():
    with pytest.raises(ValueError, match="one label per row"):
        make_votes([{"a", "b"}, {"a"}])
    with pytest.raises(ValueError, match="At least two classes"):
        make_votes(["a", "a"])
