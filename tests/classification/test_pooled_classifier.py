"""PooledClassifier: the formula literally, calibration, ensembles of scikit-learn."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from partlearn.candidates import from_weights, make_candidates
from partlearn.classification import (
    PLKNN,
    SURE,
    CandidateClassifier,
    PooledClassifier,
)
from partlearn.classification._pooled_classifier import for_candidates
from partlearn.model_selection import StratifiedCandidateKFold

X, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
S = make_candidates(Y, n_false=1, random_state=0)
TRAIN, TEST = np.arange(0, 178, 2), np.arange(1, 178, 2)


def smooth(P):
    return (P + 0.001 / 3) / 1.001


def pooled(experts, w):
    P = np.prod([p**e for p, e in zip(experts, w, strict=True)], axis=0)
    return P / P.sum(axis=1, keepdims=True)


def test_weights_are_those_that_expect_held_out_candidates():
    learners = [PLKNN(), SURE()]
    model = PooledClassifier(learners, cv=3, random_state=0).fit(X, S)
    seed = np.random.RandomState(0).randint(2**31 - 1)
    held = [np.empty(S.shape), np.empty(S.shape)]
    for train, test in StratifiedCandidateKFold(3, random_state=seed).split(X, S):
        for P, learner in zip(held, learners, strict=True):
            fitted = clone(learner).fit(X[train], S[train])
            P[test] = smooth(fitted.predict_proba(X[test]))

    def loss(w):
        inside = (pooled(held, w) * S).sum(axis=1)
        return -np.log(inside).mean() + 1e-3 * ((w - 0.5) ** 2).sum()

    best = minimize(loss, [1.0, 1.0], bounds=[(0, 5)] * 2, method="L-BFGS-B").x
    np.testing.assert_allclose(model.weights_, best, atol=1e-3)  # numeric gradient
    F = pooled(held, model.weights_) * S
    np.testing.assert_allclose(
        model.label_confidence_, F / F.sum(axis=1, keepdims=True), rtol=1e-9
    )
    full = [smooth(clone(e).fit(X, S).predict_proba(X)) for e in learners]
    np.testing.assert_allclose(
        model.predict_proba(X), pooled(full, model.weights_), rtol=1e-9
    )


def test_equal_weights_are_the_mean_and_need_no_folds():
    learners = [PLKNN(), PLKNN(3)]
    model = PooledClassifier(learners, weights="equal").fit(X, S)
    each = [smooth(e.fit(X, S).predict_proba(X)) for e in learners]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(each, axis=0))
    assert model.weights_ is None
    assert not hasattr(model, "label_confidence_")


def test_one_learner_is_calibrated():
    """PL-KNN shares its belief among all candidates of the neighbours."""
    plain = PLKNN().fit(X[TRAIN], S[TRAIN])
    model = PooledClassifier([PLKNN()], random_state=0).fit(X[TRAIN], S[TRAIN])
    np.testing.assert_array_equal(model.predict(X[TEST]), plain.predict(X[TEST]))
    before = log_loss(Y[TEST], plain.predict_proba(X[TEST]))
    assert log_loss(Y[TEST], model.predict_proba(X[TEST])) < 0.8 * before


def test_names_weights_groups_and_other_classifiers():
    names = np.array(["red", "rose", "white"])
    weights = from_weights(np.where(S, 1.0, 0.1), classes=names)
    groups = np.arange(len(X)) % 20
    learners = [LogisticRegression(), PLKNN()]
    model = PooledClassifier(learners, cv=3, random_state=0)
    model.fit(X, weights, groups=groups)
    assert type(model.estimators_[0]) is CandidateClassifier
    assert (model.predict(X) == names[Y]).mean() > 0.9


def test_nothing_to_pool():
    with pytest.raises(ValueError, match="one classifier or more"):
        PooledClassifier([]).fit(X, S)
    with pytest.raises(ValueError, match="two classes"):
        PooledClassifier([PLKNN()]).fit(X, np.zeros(len(X)))


LOGISTIC = LogisticRegression(max_iter=1000)
TREE = DecisionTreeClassifier(max_depth=5, random_state=0)


@pytest.mark.parametrize(
    "ensemble",
    [
        VotingClassifier([("a", LOGISTIC), ("b", TREE)], voting="soft"),
        BaggingClassifier(LOGISTIC, n_estimators=3, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_ensembles_of_sklearn_work_inside(ensemble):
    """The guide says so: they go into CandidateClassifier, not around a learner."""
    model = CandidateClassifier(ensemble, cv=3, max_iter=2, random_state=0)
    assert model.fit(X, S).score(X, Y) > 0.8  # a guess among the candidates has .5


@pytest.mark.parametrize(
    "ensemble",
    [CalibratedClassifierCV(LOGISTIC), StackingClassifier([("a", LOGISTIC)])],
)
def test_those_that_trust_labels_name_what_does_not(ensemble):
    for estimator in (ensemble, make_pipeline(StandardScaler(), ensemble)):
        with pytest.raises(ValueError, match="Use PooledClassifier"):
            CandidateClassifier(estimator).fit(X, S)


@pytest.mark.parametrize(
    "ensemble",
    [
        CalibratedClassifierCV(PLKNN()),
        VotingClassifier([("a", PLKNN())]),
        BaggingClassifier(PLKNN()),
        StackingClassifier([("a", PLKNN())]),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("form", ["matrix", "sets"])
def test_ensembles_of_sklearn_refuse_sets(ensemble, form):
    """None takes sets for something else; the guide quotes what they say."""
    y = S.astype(int) if form == "matrix" else [set(np.flatnonzero(row)) for row in S]
    with pytest.raises(
        (ValueError, NotImplementedError),
        match=r"y should be a 1d array|Unknown label type|only supports binary",
    ):
        ensemble.fit(X, y)


@pytest.mark.parametrize("weights", ["held-out", "equal"])
def test_a_seed_decides_about_other_classifiers_too(weights):
    X, y = load_wine(return_X_y=True)
    S = make_candidates(y, n_false=1, random_state=0)
    model = PooledClassifier(
        [DecisionTreeClassifier(max_depth=2)], weights=weights, random_state=0
    )
    once, again = (clone(model).fit(X, S).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(once, again)


def test_pipelines_that_end_in_a_classifier_for_candidates_stay_as_they_are():
    own = make_pipeline(StandardScaler(), PLKNN())
    assert for_candidates(own) is own
    nested = make_pipeline(StandardScaler(), own)
    assert for_candidates(nested) is nested
    other = make_pipeline(StandardScaler(), LogisticRegression())
    assert isinstance(for_candidates(other), CandidateClassifier)
