"""Synthetic candidate sets have the distribution they promise."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from partlearn._sizes import SIZES
from partlearn.candidates import (
    cooccurring_candidates,
    flip_candidates,
    instance_candidates,
    make_candidates,
)

Y = np.repeat(np.arange(6), 500)
ROWS = np.arange(len(Y))


@pytest.mark.parametrize("r", [0, 1, 3, 5])
def test_exact_number_of_false_labels(r, global_random_seed):
    S = make_candidates(Y, r, random_state=global_random_seed)
    assert (S.sum(axis=1) == r + 1).all()
    assert S[ROWS, Y].all()
    # Each wrong label is drawn with probability r / 5; five standard errors around it.
    share = S[Y == 0][:, 1:].mean(axis=0)
    np.testing.assert_allclose(share, r / 5, atol=5 * 0.5 / np.sqrt(500))


def test_blocks_of_rows_do_not_matter_for_size(monkeypatch):
    monkeypatch.setattr(SIZES, "key_block", 60)
    S = make_candidates(Y, 2, random_state=0)
    assert (S.sum(axis=1) == 3).all()
    assert S[ROWS, Y].all()


def test_same_seed_same_sets():
    for make in (make_candidates, flip_candidates, cooccurring_candidates):
        one, two = make(Y, random_state=3), make(Y, random_state=3)
        np.testing.assert_array_equal(one, two)
        assert (one != make(Y, random_state=4)).any()


def test_text_labels_are_sorted_into_columns():
    S = make_candidates(["z", "a", "m"], 0)
    np.testing.assert_array_equal(S, [[0, 0, 1], [1, 0, 0], [0, 1, 0]])


def test_flip_rate(global_random_seed):
    S = flip_candidates(Y, 0.3, random_state=global_random_seed)
    assert S[ROWS, Y].all()
    wrong = (S.sum() - len(Y)) / (5 * len(Y))
    assert abs(wrong - 0.3) < 5 * np.sqrt(0.21 / (5 * len(Y)))


def test_flip_can_force_ambiguity(global_random_seed):
    S = flip_candidates(Y, 0.01, at_least_one=True, random_state=global_random_seed)
    assert (S.sum(axis=1) >= 2).all()
    assert S[ROWS, Y].all()


def test_partner_rate(global_random_seed):
    partners = np.array([1, 0, 3, 2, 5, 4])
    S = cooccurring_candidates(
        Y, 0.7, partners=partners, random_state=global_random_seed
    )
    assert (S.sum(axis=1) == 2).all()
    assert S[ROWS, Y].all()
    rate = S[ROWS, partners[Y]].mean()
    assert abs(rate - 0.7) < 5 * np.sqrt(0.21 / len(Y))
    others = S[Y == 0][:, 2:].mean(axis=0)
    np.testing.assert_allclose(others, 0.3 / 4, atol=0.06)


def test_share_of_ambiguous_rows(global_random_seed):
    S = cooccurring_candidates(Y, 1.0, share=0.4, random_state=global_random_seed)
    assert abs((S.sum(axis=1) == 2).mean() - 0.4) < 0.05
    # One partner per class, never the class itself: a cycle through all classes.
    mates = [
        int(np.flatnonzero(S[c == Y].any(axis=0) & (np.arange(6) != c))[0])
        for c in range(6)
    ]
    assert sorted(mates) == list(range(6))


def test_two_classes_have_only_each_other():
    S = cooccurring_candidates([0, 1, 0], 0.0, random_state=0)
    assert S.all()


def test_confused_labels_become_candidates():
    X, y = load_iris(return_X_y=True)
    S = instance_candidates(X, y, random_state=0)
    assert S[np.arange(150), y].all()
    sparse = instance_candidates(csr_array(X), y, random_state=0)
    assert np.mean(sparse == S) > 0.9
    # Setosa is never taken for virginica before versicolor.
    assert S[y == 0, 1].all()
    # versicolor and virginica confuse each other more than either does setosa.
    assert S[y == 2, 1].mean() > S[y == 2, 0].mean()
    hard = instance_candidates(
        X, y, estimator=KNeighborsClassifier(5), rate=0.5, random_state=0
    )
    assert hard.sum() < S.sum()  # most rows are certain for a neighbour vote


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: make_candidates([0, 1, 2], 3), "between 0 and 2"),
        (lambda: make_candidates([0, 0], 1), "At least two classes"),
        (lambda: make_candidates([{0, 1}, {1}]), "one label per row"),
        (lambda: flip_candidates([0, 1], 1.5), "`p` must lie between 0 and 1"),
        (lambda: cooccurring_candidates([0, 1], -1), "`eps` must lie"),
        (lambda: cooccurring_candidates([0, 1], 0.5, share=2), "`share` must lie"),
        (lambda: cooccurring_candidates([0, 1, 2], partners=[0, 2, 1]), "`partners`"),
        (lambda: cooccurring_candidates([0, 1, 2], partners=[1, 2]), "`partners`"),
        (lambda: instance_candidates(np.eye(3), [0, 1, 1]), "smallest class has 1"),
        (lambda: instance_candidates(np.eye(4), [0, 1, 1, 0], rate=2), "`rate` must"),
    ],
)
def test_impossible_requests_are_explained(call, match):
    with pytest.raises(ValueError, match=match):
        call()
