"""Scores without the truth: against loops, and in both libraries' model selection."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, cross_val_score

from partlearn.candidates import from_votes, from_weights, make_candidates
from partlearn.classification import PLKNN
from partlearn.metrics import (
    approximated_accuracy,
    approximated_accuracy_scorer,
    candidate_hit_rate,
    candidate_log_likelihood,
    candidate_log_likelihood_scorer,
    covering_rate,
    covering_scorer,
)
from partlearn.model_selection import CandidateKFold, cross_validate

SCORERS = {
    "approximated_accuracy": approximated_accuracy_scorer,
    "candidate_log_likelihood": candidate_log_likelihood_scorer,
    "covering_rate": covering_scorer,
}


@given(st.integers(0, 2**32 - 1))
def test_scores_are_their_definitions(seed):
    rng = np.random.default_rng(seed)
    L = rng.uniform(size=(6, 4)) * (rng.uniform(size=(6, 4)) < 0.7)
    L[:, 1] += 0.1
    P = rng.dirichlet(np.ones(4), 6)
    labels = from_weights(L)
    accuracy, likelihood = [], []
    for row, p in zip(L / L.max(axis=1, keepdims=True), P, strict=True):
        best = int(np.argmax(p))
        total = sum(row[j] * p[j] for j in range(4))
        accuracy.append(row[best] * p[best] / total)
        likelihood.append(np.log(total))
    assert approximated_accuracy(labels, P) == pytest.approx(np.mean(accuracy))
    assert candidate_log_likelihood(labels, P) == pytest.approx(np.mean(likelihood))
    hits = [L[i, np.argmax(p)] > 0 for i, p in enumerate(P)]
    assert covering_rate(labels, P.argmax(axis=1)) == pytest.approx(np.mean(hits))
    assert covering_rate(labels, P.argmax(axis=1)) == candidate_hit_rate(
        labels, P.argmax(axis=1), weighted=False
    )


def test_classes_of_one_side_only():
    P = [[0.5, 0.5], [0.25, 0.75]]
    assert approximated_accuracy([{"a"}, {"c"}], P, classes=["a", "b"]) == 0.5
    found = candidate_log_likelihood([{"a"}, {"c"}], P, classes=["a", "b"])
    assert found == pytest.approx((np.log(0.5) + np.log(1e-12)) / 2)


@pytest.mark.parametrize(
    ("P", "message"),
    [
        ([[0.5, 0.5]], "2 rows and 2 classes; got shape"),
        ([[0.5, np.nan], [0.5, 0.5]], "finite and not negative"),
        ([[0.5, -0.5], [0.5, 0.5]], "finite and not negative"),
    ],
)
def test_wrong_probabilities(P, message):
    with pytest.raises(ValueError, match=message):
        approximated_accuracy([{"a"}, {"a", "b"}], P)
    with pytest.raises(ValueError, match="None of the candidates"):
        candidate_log_likelihood([{"a"}], [[1.0, 0.0]], classes=["x", "y"])


def labels_of_all_forms():
    X, y = make_blobs(90, centers=3, cluster_std=1.0, random_state=0)
    S = make_candidates(y, n_false=1, random_state=0)
    rows = np.tile(np.arange(90), 2)
    yield X, y, S
    yield X, y, [{"abc"[j] for j in np.flatnonzero(row)} for row in S]
    yield X, y, from_weights(S + 2.0 * np.eye(3)[y])
    yield X, y, from_votes(rows, rows * 0, np.r_[y, (y + (rows[:90] % 5 == 0)) % 3])


@pytest.mark.parametrize("case", range(4))
@pytest.mark.parametrize("name", SCORERS)
def test_model_selection_without_truth(case, name):
    X, _, labels = list(labels_of_all_forms())[case]
    ours = cross_validate(PLKNN(5), X, labels, scoring=name, cv=CandidateKFold(3))[
        "test_score"
    ]
    theirs = cross_val_score(
        PLKNN(5), X, labels, scoring=SCORERS[name], cv=CandidateKFold(3)
    )
    np.testing.assert_allclose(ours, theirs)
    assert np.isfinite(ours).all()
    grid = GridSearchCV(
        PLKNN(), {"n_neighbors": [5, 60]}, scoring=SCORERS[name], cv=CandidateKFold(3)
    )
    assert grid.fit(X, labels).best_params_ == {"n_neighbors": 5}


def test_two_classes():
    X, y = make_blobs(40, centers=2, random_state=0)
    S = np.eye(2, dtype=int)[y]
    S[::4] = 1
    for scorer in SCORERS.values():
        scores = cross_val_score(PLKNN(5), X, S, scoring=scorer, cv=CandidateKFold(2))
        assert np.isfinite(scores).all()


def test_cross_validate_says_what_needs_the_truth():
    X, y, labels = next(iter(labels_of_all_forms()))
    with pytest.raises(ValueError, match=r"'accuracy' needs `truth`.*'covering_rate'"):
        cross_validate(PLKNN(), X, labels)
    both = cross_validate(
        PLKNN(), X, labels, y, scoring=["accuracy", "covering_rate"], cv=3
    )
    assert set(both) >= {"test_accuracy", "test_covering_rate"}
    seen = []

    def own(estimator, rows, S, truth):
        seen.append((S.dtype, truth))
        return 0.5

    cross_validate(PLKNN(), X, labels, scoring=own, cv=2)
    assert seen == [(np.dtype(bool), None)] * 2


def test_weights_reach_the_estimator():
    X, y, weights = list(labels_of_all_forms())[2]
    plain = cross_validate(PLKNN(5), X, weights.candidates, y, cv=3)["test_score"]
    weighted = cross_validate(PLKNN(5), X, weights, y, cv=3)["test_score"]
    assert weighted.mean() >= plain.mean()
    transductive = cross_validate(
        PLKNN(5), X, weights, y, cv=3, protocol="transductive"
    )["test_score"]
    assert transductive.mean() > 0.8


def test_predicted_columns_are_those_of_the_probabilities():
    P = np.array([[0.9, 0.1], [0.9, 0.1]])
    sets = [{"b"}, {"a", "b"}]
    first = [0, 0]  # "b", which comes second among the sorted labels
    accuracy = approximated_accuracy(sets, P, classes=["b", "a"], y_pred=first)
    assert accuracy == pytest.approx(0.95)
    # No row has "a" as a candidate: it is not among the labels of the sets.
    P = np.array([[0.2, 0.5, 0.3]])
    accuracy = approximated_accuracy([{"b", "c"}], P, classes=list("abc"), y_pred=[1])
    assert accuracy == pytest.approx(0.5 / 0.8)
