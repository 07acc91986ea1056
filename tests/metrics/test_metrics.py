"""Scores by hand, and scorers inside scikit-learn's own tools."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score

from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN
from partlearn.metrics import (
    accuracy_score,
    candidate_hit_rate,
    candidate_hit_scorer,
    disambiguation_accuracy,
    truth_scorer,
)
from partlearn.model_selection import CandidateKFold


def test_disambiguation_accuracy():
    F = [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]
    assert disambiguation_accuracy([0, 0, 0], F) == pytest.approx(2 / 3)
    assert disambiguation_accuracy(["b", "a", "b"], F, classes=["a", "b"]) == (
        pytest.approx(2 / 3)
    )
    with pytest.raises(ValueError, match="confidences of shape"):
        disambiguation_accuracy(F, [0, 0, 0])
    with pytest.raises(ValueError, match="3 classes but 2 columns"):
        disambiguation_accuracy([0, 0, 0], F, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="No true label is one of the classes"):
        disambiguation_accuracy(["b", "a", "b"], F)
    with pytest.raises(ValueError, match="confidences of row 1 hold NaN"):
        disambiguation_accuracy([0, 0, 0], [F[0], [np.nan, 0.5], F[2]])


def test_candidate_hit_rate():
    S = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 1]])
    # Hits: yes (weight 1/2), no (1), yes (1/3).
    rate = candidate_hit_rate(S, [0, 1, 2])
    assert rate == pytest.approx((0.5 + 1 / 3) / (0.5 + 1 + 1 / 3))
    assert candidate_hit_rate(S, [0, 1, 2], weighted=False) == pytest.approx(2 / 3)
    assert candidate_hit_rate(S, ["b", "c", "z"], classes=["a", "b", "c"]) == (
        pytest.approx(1.5 / (0.5 + 1 + 1 / 3))
    )
    with pytest.raises(ValueError, match="must hold 3 values"):
        candidate_hit_rate(S, [0, 1])


def test_accuracy_is_the_usual_one():
    assert accuracy_score([0, 1], [0, 0]) == 0.5


def test_grid_search_without_truth():
    X, y = load_iris(return_X_y=True)
    S = make_candidates(y, 1, random_state=0)
    search = GridSearchCV(
        PLKNN(),
        {"n_neighbors": [1, 15]},
        scoring=candidate_hit_scorer,
        cv=CandidateKFold(3),
    ).fit(X, S)
    assert search.best_params_ == {"n_neighbors": 15}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_truth_travels_as_metadata():
    X, y = load_iris(return_X_y=True)
    S = make_candidates(y, 1, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            PLKNN(),
            X,
            S,
            cv=CandidateKFold(3),
            scoring=truth_scorer(),
            params={"truth": y},
        )
    assert scores.mean() > 0.9


def test_score_of_a_classifier_needs_truth():
    X, y = load_iris(return_X_y=True)
    S = make_candidates(y, 1, random_state=0)
    model = PLKNN().fit(X, S)
    assert model.score(X, y) > 0.9
    for candidates in (S, [set(np.flatnonzero(row)) for row in S]):
        with pytest.raises(ValueError, match="candidate_hit_rate"):
            model.score(X, candidates)
