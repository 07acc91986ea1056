"""Borders between relevant and irrelevant scores, and labels known beforehand."""

import numpy as np
import pytest

from partlearn.multilabel.classification._linear import (
    best_threshold,
    known_last,
    top_threshold,
)


def test_border_by_hand():
    scores = np.array([[3.0, 1.0], [2.0, 0.0]])
    target = np.array([[True, False], [True, False]])
    assert best_threshold(scores, target) == 1.5
    assert best_threshold(scores, np.ones((2, 2), dtype=bool)) == -1
    assert best_threshold(scores, np.zeros((2, 2), dtype=bool)) == 4
    # Equal scores stay together: with both, F1 is 2/3; with all four, 1/2.
    scores = np.array([[3.0, 3.0], [1.0, 0.0]])
    target = np.array([[True, False], [False, False]])
    assert best_threshold(scores, target) == 2


def test_best_threshold_is_best(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    scores = rng.normal(size=(20, 3)).round(1)
    target = scores + rng.normal(size=(20, 3)) > 0.5

    def f1(t):
        chosen = scores > t
        return 2 * (chosen & target).sum() / (chosen.sum() + target.sum())

    found = f1(best_threshold(scores, target))
    assert found == pytest.approx(max(f1(t) for t in np.linspace(-4, 4, 801)))


def test_top_threshold():
    scores = np.array([[3.0, 1.0, 2.0]])
    assert top_threshold(scores, 1) == 2.5
    assert top_threshold(scores, 2) == 1.5
    assert top_threshold(scores, 3) == 0


def test_known_labels_stand_apart():
    D = np.array([[0.5, -2.0, 1.0], [-3.0, -1.0, -2.0]])
    found = known_last(D, np.array([0, 0, 1], bool), np.array([1, 0, 0], bool))
    assert (found[:, 0] > 0).all()
    assert (found[:, 2] < 0).all()
    assert (found.argmax(axis=1) == 0).all()
    assert (found.argmin(axis=1) == 2).all()
    np.testing.assert_array_equal(found[:, 1], D[:, 1])
