"""Pruned candidate sets: formulas by hand, nothing emptied, honest counts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from partlearn.candidates import make_candidates
from partlearn.classification import CC, PLKNN, CandidatePruner
from partlearn.classification._pruner import (
    conformal_pruning,
    neighbor_pruning,
)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    return X, make_candidates(y, 4, random_state=0), y


def test_pruning_by_hand():
    S = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0]], dtype=bool)
    neighbors = np.array([[1, 2], [0, 2], [0, 1]])
    # Neighbours lack the labels of the rows 0, 1, 2 times; 0, 0, 1; and 0, 1, 1 times.
    # A third of two spare candidates is none, one half is one: the third label goes.
    assert_array_equal(neighbor_pruning(S, neighbors, 0.3), S)
    pruned = neighbor_pruning(S, neighbors, 0.5)
    assert_array_equal(pruned, [[1, 1, 0], [1, 0, 0], [1, 1, 0]])
    assert_array_equal(
        neighbor_pruning(S, neighbors, 1.0), [[1, 0, 0], [1, 0, 0], [1, 0, 0]]
    )


def test_literal_pruning(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    S = rng.random((40, 6)) < 0.6
    S[np.arange(40), rng.integers(0, 6, 40)] = True
    neighbors = np.array([rng.permutation(40)[:7] for _ in range(40)])
    pruned = neighbor_pruning(S, neighbors, 0.6)
    for i in range(40):
        against = [sum(not S[v, j] for v in neighbors[i]) for j in range(6)]
        own = np.flatnonzero(S[i])
        assert len(own) - pruned[i].sum() <= int(0.6 * (len(own) - 1) + 1e-9)
        gone = [against[j] for j in own if not pruned[i, j]]
        stay = [against[j] for j in own if pruned[i, j]]
        assert not gone or min(gone) >= max(stay)
        assert not (pruned[i] & ~S[i]).any()


def test_equal_candidates_stay():
    S = np.array([[1, 1], [1, 1], [1, 1]], dtype=bool)
    assert neighbor_pruning(S, np.array([[1, 2], [0, 2], [0, 1]]), 1.0).all()


def test_conformal_sets_by_hand():
    S = np.ones((4, 3), dtype=bool)
    P = np.array([[0.9, 0.05, 0.05], [0.6, 0.4, 0.0], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])
    # Scores of the chosen ones: .1, .4, .5, .6; rank ceil(5 * .5) = 3: limit .5.
    assert_array_equal(
        conformal_pruning(S, P, 0.5), [[1, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]]
    )
    # Rank ceil(5 * .75) = 4: limit .6 keeps all of probability .4 and more.
    assert_array_equal(
        conformal_pruning(S, P, 0.25), [[1, 0, 0], [1, 1, 0], [1, 0, 0], [1, 1, 0]]
    )
    # Too few rows for the level: nothing is removed.
    assert conformal_pruning(S, P, 0.1).all()


@pytest.mark.parametrize("method", ["neighbors", "conformal"])
def test_prunes_few_truths(digits, method):
    X, S, y = digits
    model = CandidatePruner(PLKNN(), method=method, cv=3).fit(X, S)
    assert model.n_removed_ == S.sum() - model.candidates_.sum() > 200
    assert model.candidates_.any(axis=1).all()
    by_hand = 1 - model.candidates_[np.arange(500), y].mean()
    assert model.lost(y) == pytest.approx(by_hand)
    assert model.lost(y) < 0.05
    assert model.score(X, y) > 0.85


def test_lost_counts_strangers(digits):
    X, S, y = digits
    model = CandidatePruner(PLKNN(), tau=0.0).fit(X, S)
    assert model.n_removed_ == 0
    assert model.lost(y) == 0
    assert model.lost(np.full(500, 77)) == 1
    with pytest.raises(ValueError, match="must hold 500 values"):
        model.lost(y[:3])


def test_default_learner(digits):
    X, S, _ = digits
    assert isinstance(CandidatePruner().fit(X[:60], S[:60]).estimator_, CC)


def test_one_row_has_no_folds():
    model = CandidatePruner(PLKNN(), method="conformal").fit([[0.0, 1.0]], [{"a"}])
    assert model.predict([[0.0, 1.0]]) == ["a"]
