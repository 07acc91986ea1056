"""Reducer and classifier in one object."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partlearn.candidates import fitted_confidence, make_candidates
from partlearn.classification import (
    IPAL,
    PLECOC,
    PLKNN,
    SURE,
    CoupledClassifier,
)
from partlearn.decomposition import CENDA
from partlearn.feature_selection import RandomSelection
from partlearn.metrics import candidate_hit_scorer
from partlearn.model_selection import CandidateKFold, cross_validate


@pytest.mark.parametrize("learner", [PLKNN(), SURE(), IPAL()])
def test_equals_a_pipeline(blobs, learner):
    X, S, _ = blobs
    coupled = CoupledClassifier(CENDA(), learner).fit(X, S)
    pipeline = make_pipeline(CENDA(), learner).fit(X, S)
    np.testing.assert_array_equal(coupled.predict_proba(X), pipeline.predict_proba(X))
    np.testing.assert_array_equal(coupled.predict(X), pipeline.predict(X))
    np.testing.assert_array_equal(
        coupled.label_confidence_, pipeline[-1].label_confidence_
    )


@pytest.mark.parametrize("learner", [PLKNN(), SURE(), IPAL()])
def test_passes_the_confidences(blobs, learner):
    X, S, _ = blobs
    coupled = CoupledClassifier(CENDA(), learner, pass_confidence=True).fit(X, S)
    reducer = CENDA().fit(X, S)
    by_hand = learner.fit(reducer.transform(X), S, confidence=reducer.label_confidence_)
    np.testing.assert_array_equal(
        coupled.predict_proba(X), by_hand.predict_proba(reducer.transform(X))
    )


def test_the_reducer_sees_the_names_of_the_features(blobs):
    X, S, _ = blobs
    frame = pd.DataFrame(X).add_prefix("x")
    selector = RandomSelection(2, must_keep=["x3"], random_state=0)
    model = CoupledClassifier(selector, PLKNN()).fit(frame, S)
    assert "x3" in model.reducer_.get_feature_names_out()
    by_hand = PLKNN().fit(model.reducer_.transform(frame), S)
    np.testing.assert_array_equal(
        model.predict(frame), by_hand.predict(model.reducer_.transform(frame))
    )


def test_confidences_of_a_step_of_a_pipeline(blobs):
    X, S, y = blobs
    reducer = make_pipeline(StandardScaler(), CENDA(), StandardScaler())
    model = CoupledClassifier(reducer, PLKNN(), pass_confidence=True).fit(X, S)
    np.testing.assert_allclose(
        model.classifier_.votes_, model.reducer_[1].label_confidence_, rtol=1e-14
    )
    assert model.score(X, y) > 0.9


def test_confidences_of_the_reducer_where_the_learner_has_none(blobs):
    X, S, _ = blobs
    model = CoupledClassifier(CENDA(), PLECOC(random_state=0, min_size=1)).fit(X, S)
    np.testing.assert_array_equal(
        model.label_confidence_, model.reducer_.label_confidence_
    )


def test_no_confidences_where_neither_has_any(blobs):
    X, S, _ = blobs
    model = CoupledClassifier(PCA(2), PLECOC(random_state=0, min_size=1)).fit(X, S)
    assert not hasattr(model, "label_confidence_")
    assert fitted_confidence(model) is None
    with pytest.raises(AttributeError, match="Neither the classifier nor the reducer"):
        _ = model.label_confidence_


def test_messages(blobs):
    X, S, _ = blobs
    with pytest.raises(ValueError, match="PLECOC cannot start from confidences"):
        CoupledClassifier(CENDA(), PLECOC(), pass_confidence=True).fit(X, S)
    with pytest.raises(ValueError, match="PCA learns no confidences"):
        CoupledClassifier(PCA(2), PLKNN(), pass_confidence=True).fit(X, S)
    with pytest.raises(ValueError, match="at least two classes"):
        CoupledClassifier(CENDA(), PLKNN()).fit(X, np.zeros(100))


def test_names_of_classes(blobs):
    X, S, _ = blobs
    names = np.array(["ant", "bee", "cat", "dog"])
    y = [set(names[row]) for row in S]
    model = CoupledClassifier(CENDA(), PLKNN(), pass_confidence=True).fit(X, y)
    assert list(model.classes_) == list(names)
    assert set(model.predict(X)) <= set(names)


def test_scores_are_there_if_the_classifier_has_them(blobs):
    X, S, _ = blobs
    model = CoupledClassifier(CENDA(), SURE()).fit(X, S)
    Z = model.reducer_.transform(X)
    np.testing.assert_array_equal(
        model.decision_function(X), model.classifier_.decision_function(Z)
    )
    assert not hasattr(CoupledClassifier(CENDA(), PLKNN()), "decision_function")


def test_sparse_features(blobs):
    X, S, _ = blobs
    dense = CoupledClassifier(CENDA(), PLKNN()).fit(X, S)
    sparse = CoupledClassifier(CENDA(), PLKNN()).fit(sp.csr_matrix(X), S)
    np.testing.assert_allclose(
        dense.predict_proba(X), sparse.predict_proba(sp.csr_matrix(X)), atol=1e-8
    )


def test_cross_validation_and_search():
    X, y = make_blobs(80, n_features=6, centers=4, random_state=0)
    S = make_candidates(y, 1, random_state=0)
    model = CoupledClassifier(CENDA(max_iter=5), PLKNN())
    for protocol in ("inductive", "transductive"):
        scores = cross_validate(model, X, S, y, cv=2, protocol=protocol)["test_score"]
        assert scores.mean() > 0.85
    search = GridSearchCV(
        model,
        {"pass_confidence": [False, True]},
        scoring=candidate_hit_scorer,
        cv=CandidateKFold(2),
    ).fit(X, S)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.score(X, y) > 0.85
