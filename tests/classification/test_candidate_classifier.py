"""CandidateClassifier: the algorithm literally, and any estimator inside it."""

import warnings
from contextlib import suppress
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_blobs
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

from partlearn.candidates import (
    check_evidence,
    from_complementary,
    from_hierarchy,
    from_intervals,
    from_text,
    from_votes,
    from_weights,
    make_candidates,
)
from partlearn.classification import CandidateClassifier
from partlearn.metrics import candidate_hit_scorer
from partlearn.persistence import load_model, save_model
from partlearn.utils import partial_label_checks

LOGISTIC = LogisticRegression(tol=1e-10, max_iter=2000)
FOREST = RandomForestClassifier(10, random_state=0)


def problem(seed=0, n=90):
    X, y = make_blobs(n, centers=4, cluster_std=1.5, n_features=5, random_state=seed)
    return X, y, make_candidates(y, n_false=1, random_state=seed)


def literal(X, L, folds, rounds):
    """The specification with logistic regression, loop by loop."""
    m, q = L.shape
    F = L / L.sum(axis=1, keepdims=True)

    def fit(rows):
        A, labels, weights = [], [], []
        for i in rows:
            for j in range(q):
                if F[i, j] >= 1e-3:
                    A.append(X[i])
                    labels.append(j)
                    weights.append(F[i, j])
        return clone(LOGISTIC).fit(A, labels, sample_weight=weights)

    for _ in range(rounds):
        P = np.zeros((m, q))
        for train, test in folds:
            model = fit(train)
            for i in test:
                P[i, model.classes_] = model.predict_proba(X[[i]])[0]
        F = L * (P + 1e-3)
        F /= F.sum(axis=1, keepdims=True)
    return F, fit(range(m))


@pytest.mark.parametrize("weighted", [False, True])
def test_rounds_are_the_specification(weighted):
    X, _, S = problem()
    L = S * np.random.default_rng(0).uniform(0.2, 1, S.shape) if weighted else 1.0 * S
    folds = list(KFold(3).split(X))
    F, final = literal(X, L / L.max(axis=1, keepdims=True), folds, 2)
    model = CandidateClassifier(LOGISTIC, cv=KFold(3), max_iter=2)
    model.fit(X, from_weights(L))
    np.testing.assert_allclose(model.label_confidence_, F, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        model.predict_proba(X), final.predict_proba(X), rtol=1e-4, atol=1e-6
    )
    assert model.n_iter_ == 2


def test_in_sample_confirms_what_it_was_told():
    X, y, S = problem(n=200)
    forest = RandomForestClassifier(60, random_state=0)
    right = {
        way: np.mean(
            CandidateClassifier(forest, cross_fit=way, random_state=0)
            .fit(X, S)
            .label_confidence_.argmax(axis=1)
            == y
        )
        for way in (True, False, "oob")
    }
    assert right[True] > right[False] + 0.1
    assert right["oob"] > right[False] + 0.1


@pytest.mark.parametrize(
    ("estimator", "cross_fit", "n_members"),
    [
        (None, True, 1),
        (RandomForestRegressor(30), True, 1),
        (RandomForestRegressor(60), "oob", 1),
        (ExtraTreesRegressor(60), "oob", 1),
        (RandomForestClassifier(60), "oob", 1),
        (BaggingClassifier(n_estimators=60), "oob", 1),
        (LinearSVC(), True, 1),
        (RidgeClassifier(), True, 1),
        (KNeighborsClassifier(), True, 5),
        (make_pipeline(StandardScaler(), LogisticRegression()), True, 1),
        (make_pipeline(StandardScaler(), make_pipeline(LinearSVC())), False, 1),
        (HistGradientBoostingClassifier(max_iter=20), True, 1),
        (GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 9]}, cv=2), True, 5),
    ],
)
def test_any_estimator(estimator, cross_fit, n_members):
    X, y, S = problem()
    model = CandidateClassifier(
        estimator, cross_fit=cross_fit, cv=3, max_iter=2, random_state=0
    ).fit(X, S)
    F, P = model.label_confidence_, model.predict_proba(X)
    assert len(model.estimators_) == n_members
    for A in (F, P, model.feature_confidence_):
        assert np.isfinite(A).all()
        np.testing.assert_allclose(A.sum(axis=1), 1)
    assert not F[~S].any()
    assert model.score(X, y) > 0.8
    again = CandidateClassifier(
        estimator, cross_fit=cross_fit, cv=3, max_iter=2, random_state=0
    ).fit(X, S)
    np.testing.assert_array_equal(again.predict_proba(X), P)


@pytest.mark.parametrize("package", ["lightgbm", "xgboost"])
def test_boosting_libraries(package):
    module = pytest.importorskip(package)
    cls = {"lightgbm": "LGBMClassifier", "xgboost": "XGBClassifier"}[package]
    quiet = {"verbose": -1} if package == "lightgbm" else {"verbosity": 0}
    X, y, S = problem(n=150)
    S[y == 3, :] = [False, False, False, True]  # a class without ambiguous rows
    estimator = getattr(module, cls)(n_estimators=15, n_jobs=1, **quiet)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about their own parameters
        model = CandidateClassifier(estimator, cv=3, max_iter=2, random_state=0)
        assert model.fit(X, S).score(X, y) > 0.85


def test_two_classes_two_ways_to_score():
    X, y = make_blobs(60, centers=2, random_state=1)
    S = np.eye(2, dtype=bool)[y]
    S[::3] = True
    for estimator in (LinearSVC(), LogisticRegression(), RandomForestRegressor(20)):
        model = CandidateClassifier(estimator, cv=3, max_iter=2, random_state=0)
        assert model.fit(X, S).score(X, y) > 0.95


def test_frames_with_texts_in_a_pipeline():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    X["colour"] = pandas.Series(["red", "blue", "white"])[y].to_numpy()
    columns = make_column_transformer(
        (OneHotEncoder(), ["colour"]), remainder="passthrough"
    )
    boosting = HistGradientBoostingClassifier(max_iter=10)
    model = CandidateClassifier(
        make_pipeline(columns, boosting), cv=3, max_iter=2, random_state=0
    )
    S = make_candidates(y, n_false=1, random_state=0)
    assert model.fit(X, S).score(X, y) > 0.95
    assert model.feature_names_in_.tolist() == list(X.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"colour": "color"}))


def test_rows_that_are_texts():
    texts = ["good film", "bad film", "good play", "bad play"] * 10
    sets = [{"pos"}, {"neg"}, {"pos", "neg"}, {"neg"}] * 10
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    model = CandidateClassifier(pipeline, cv=3, random_state=0).fit(texts, sets)
    assert model.predict(["good", "bad"]).tolist() == ["pos", "neg"]
    column = pd.Series(texts, index=range(100, 140), name="text")
    again = clone(model).fit(column, sets)
    np.testing.assert_array_equal(again.label_confidence_, model.label_confidence_)
    assert again.predict(column[:2]).tolist() == ["pos", "neg"]


def test_a_class_that_is_in_one_fold_only():
    X, _, S = problem(n=40)
    S[:, 3] = False
    S[0] = [False, False, False, True]
    S[~S.any(axis=1)] = [True, True, False, False]
    for estimator in (LOGISTIC, KNeighborsClassifier(3)):
        model = CandidateClassifier(estimator, cv=4, random_state=0).fit(X, S)
        assert model.label_confidence_[0].tolist() == [0, 0, 0, 1]
        assert np.isfinite(model.predict_proba(X)).all()


def test_folds_with_one_class():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    folds = [([0, 1], [2, 3]), ([2, 3], [0, 1])]
    model = CandidateClassifier(LogisticRegression(), cv=folds, max_iter=1)
    model.fit(X, ["a", "a", "b", "b"])
    np.testing.assert_array_equal(
        model.feature_confidence_, [[0, 1]] * 2 + [[1, 0]] * 2
    )


def test_weights_of_rows():
    X, y, S = problem()
    weight = np.where(y == 0, 0.0, 1.0)
    model = CandidateClassifier(LOGISTIC, random_state=0)
    without = model.fit(X, S, sample_weight=weight).predict_proba(X)[:, 0].mean()
    assert without < model.fit(X, S).predict_proba(X)[:, 0].mean() / 2
    for wrong, message in [
        (weight[:-1], "must hold 90 values"),
        (np.where(y == 0, -1, 1), "not negative; row"),
        (np.where(y == 0, np.nan, 1), "finite and not negative; row"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(X, S, sample_weight=wrong)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no weights"):
        CandidateClassifier(KNeighborsClassifier()).fit(X, S, sample_weight=weight)


def test_rows_of_a_group_say_nothing_about_each_other():
    X, _, S = problem(n=60)
    groups = np.repeat(np.arange(20), 3)
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append({float(v) for v in X[:, -1]})
            return super().fit(X, y, sample_weight)

    model = CandidateClassifier(Spy(max_iter=2000), cv=4, max_iter=1, random_state=0)
    model.fit(np.column_stack([X, groups / 100]), S, groups=groups)
    assert [len(part) for part in seen[:-1]] == [15] * 4
    assert len(seen[-1]) == 20


def test_metadata_is_routed():
    X, _, S = problem()
    model = CandidateClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), cv=3, max_iter=1
    )
    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=True, groups=True)
        grid = GridSearchCV(
            model, {"max_iter": [1, 2]}, scoring=candidate_hit_scorer, cv=KFold(2)
        )
        grid.fit(X, S, sample_weight=np.ones(90), groups=np.arange(90) // 3)
    assert grid.best_score_ > 0.9


@pytest.mark.parametrize(
    "labels",
    [
        from_weights(np.random.default_rng(0).dirichlet(np.ones(3), 60)),
        from_complementary(np.repeat(["a", "b", "c"], 20)),
        from_hierarchy(["x/a", "x", "y/b"] * 20),
        from_text(["a|b", "b|c", "c"] * 20),
        from_intervals([(1, 2), (2, 3), (3, 3)] * 20),
        from_votes(np.arange(120) % 60, np.arange(120) // 40, np.arange(120) % 3),
        check_evidence([{"a", "b"}, {"c"}, {"b"}] * 20).with_miss_rate(0.1),
    ],
    ids=lambda labels: repr(labels)[:40],
)
def test_every_form_of_labels(labels):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = CandidateClassifier(LogisticRegression(), cv=3, random_state=0)
    model.fit(X, labels)
    F = model.label_confidence_
    assert np.isfinite(F).all()
    np.testing.assert_allclose(F.sum(axis=1), 1)
    assert not F[labels.weights == 0].any()
    assert (model.vote_summary_ is not None) == hasattr(labels, "annotators")
    scores = cross_val_score(model, X, labels, scoring=candidate_hit_scorer, cv=3)
    assert np.isfinite(scores).all()


def test_votes_tell_of_annotators_and_of_rows(tmp_path):
    X, y, _ = problem(n=200)
    rng = np.random.default_rng(0)
    rows, who = np.repeat(np.arange(200), 3), np.tile([0, 1, 2], 200)
    skill = np.array([0.9, 0.7, 0.25])[who]
    given = np.where(rng.random(600) < skill, y[rows], rng.integers(0, 4, 600))
    votes = from_votes(rows, who, given)
    model = CandidateClassifier(FOREST, random_state=0).fit(X, votes)
    summary = model.vote_summary_
    assert (np.diff(summary.annotators.accuracy) < 0).all()
    assert np.mean(summary.label == y) > np.mean(votes.confidence().argmax(1) == y)
    apart = summary.feature_disagreement
    assert ((apart >= 0) & (apart <= 1)).all()
    again = load_model(save_model(model, tmp_path / "model")).estimator
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(
        again.vote_summary_.confusion(0), summary.confusion(0)
    )
    wrong = votes.confidence().argmax(axis=1) != y
    assert apart[wrong].mean() > apart[~wrong].mean() + 0.2


def test_wrong_use():
    X, _, S = problem()
    with pytest.raises(ValueError, match="which LogisticRegression does not provide"):
        CandidateClassifier(LogisticRegression(), cross_fit="oob").fit(X, S)
    folds = [(np.arange(90), np.delete(np.arange(90), 3))]
    with pytest.raises(ValueError, match="1 rows, such as row 3, are in no test"):
        CandidateClassifier(FOREST, cv=folds).fit(X, S)
    with pytest.raises(ValueError, match="X has 90 rows, y has 89"):
        CandidateClassifier(FOREST).fit(X, S[:-1])
    with pytest.raises(ValueError, match="needs at least two classes"):
        CandidateClassifier(FOREST).fit(X, ["a"] * 90)


# scikit-learn expects these of its own forests to fail, for the same reason: rows of
# weight two are drawn otherwise than rows that are there twice.
DRAWN = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


def test_checks_around_a_forest():
    estimator = CandidateClassifier(
        RandomForestClassifier(5), cv=2, max_iter=1, random_state=0
    )
    names = set()
    for _, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        names.add(name)
        if name not in DRAWN:
            with suppress(SkipTest):  # what scikit-learn itself leaves out here
                check(estimator)
    assert names >= DRAWN
    assert len(names) > 40
    strong = CandidateClassifier(
        RandomForestClassifier(25), cv=3, max_iter=2, random_state=0
    )
    for name, check in partial_label_checks(strong):
        if name != "check_sparse_features":  # ties of equal splits fall otherwise
            check(strong)


def test_weights_of_classes_by_name():
    """A heavier class is named more often, also where a fold lacks another one."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120, 3))
    names = np.array(["cat", "dog", "emu"])
    y = names[(rows[:, 0] + rng.normal(size=120) > 0).astype(int)]
    y[0] = "emu"
    counts = []
    for weight in (None, {"dog": 20.0}):
        inner = LogisticRegression(class_weight=weight)
        model = CandidateClassifier(inner, cv=3, max_iter=1, random_state=0)
        counts.append((model.fit(rows, y).predict(rows) == "dog").sum())
    assert counts[1] > counts[0] + 20
    with pytest.raises(ValueError, match=r"weight for 'dgo', which is no label"):
        CandidateClassifier(LogisticRegression(class_weight={"dgo": 2})).fit(rows, y)
