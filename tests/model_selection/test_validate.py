"""Cross-validation: nothing of the test rows reaches an honest fit."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.settling import few_iterations, fit_briefly

from partlearn._math.linalg import z_scores
from partlearn.candidates import make_bags, make_candidates
from partlearn.classification import PLKNN, CoupledClassifier, CRISPClassifier
from partlearn.decomposition import CENDA, KernelCRISP
from partlearn.model_selection import (
    CandidateKFold,
    cross_validate,
    published_embedding,
    truth_codes,
)
from partlearn.utils._common_checks import frames

X, Y = load_iris(return_X_y=True)
S = make_candidates(Y, 1, random_state=0)


class Spy(TransformerMixin, BaseEstimator):
    """Records the number of rows of each fit."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        Spy.seen.append((X.shape[0], X.mean(), X.std(axis=0, ddof=1)))
        self.fitted_ = True
        return self

    def transform(self, X):
        return 3 * X + 5


@pytest.fixture(autouse=True)
def _fresh_spy():
    Spy.seen = []


def test_frames_keep_their_columns():
    plain = cross_validate(make_pipeline(StandardScaler(), PLKNN()), X, S, Y, cv=3)
    for _, numbers in frames(X):
        columns = {name: numbers[name] for name in numbers.columns}
        data = type(numbers)({"name": ["iris"] * len(X), **columns})
        chosen = make_column_transformer((StandardScaler(), list(columns)))
        found = cross_validate(make_pipeline(chosen, PLKNN()), data, S, Y, cv=3)
        np.testing.assert_array_equal(found["test_score"], plain["test_score"])
        for protocol in ("inductive", "transductive"):
            model = make_pipeline(CENDA(tol=0.5), PLKNN())
            assert cross_validate(model, numbers, S, Y, cv=3, protocol=protocol)


def test_inductive_fits_on_training_rows_only():
    cross_validate(make_pipeline(Spy(), PLKNN()), X, S, Y, cv=5)
    assert [rows for rows, _, _ in Spy.seen] == [120] * 5


def test_transductive_fits_the_reducer_once_on_standardised_rows():
    result = cross_validate(
        make_pipeline(Spy(), PLKNN()),
        X,
        S,
        Y,
        cv=5,
        protocol="transductive",
        return_estimator=True,
    )
    [(rows, mean, std)] = Spy.seen
    assert rows == 150
    assert abs(mean) < 1e-12
    np.testing.assert_allclose(std, 1)
    assert result["reducer_time"] >= 0
    # The learner alone is cross-validated, on standardised columns.
    learner = result["estimator"][0]
    assert isinstance(learner, PLKNN)
    assert np.abs(learner._X.mean()) < 0.2  # not 5, where the spy had put it


def test_result_by_hand():
    """The same folds, written out."""
    result = cross_validate(PLKNN(3), X, S, Y, cv=4, random_state=7)
    expected = [
        PLKNN(3).fit(X[train], S[train]).score(X[test], Y[test])
        for train, test in CandidateKFold(4, random_state=7).split(X)
    ]
    np.testing.assert_allclose(result["test_score"], expected)
    assert set(result) == {"test_score", "fit_time", "score_time"}
    assert result["fit_time"].shape == (4,)


def test_named_classes_and_sets():
    names = np.array(["setosa", "versicolor", "virginica"])
    sets = [set(names[row]) for row in S]
    one = cross_validate(PLKNN(), X, sets, names[Y], cv=3)
    two = cross_validate(PLKNN(), X, S, Y, cv=3)
    np.testing.assert_array_equal(one["test_score"], two["test_score"])


def test_several_scores_and_a_function():
    result = cross_validate(
        PLKNN(), X, S, Y, cv=3, scoring=["accuracy", "candidate_hit_rate"]
    )
    assert {"test_accuracy", "test_candidate_hit_rate"} <= set(result)
    result = cross_validate(
        PLKNN(), X, S, Y, cv=3, scoring=lambda e, X, S, y: float(len(y))
    )
    np.testing.assert_array_equal(result["test_score"], 50)


def test_workers_and_splitters_change_nothing():
    pipeline = make_pipeline(StandardScaler(), PLKNN())
    one = cross_validate(pipeline, X, S, Y, cv=3)
    two = cross_validate(pipeline, X, S, Y, cv=CandidateKFold(3), n_jobs=2)
    three = cross_validate(pipeline, X, S, Y, cv=list(CandidateKFold(3).split(X)))
    np.testing.assert_array_equal(one["test_score"], two["test_score"])
    np.testing.assert_array_equal(one["test_score"], three["test_score"])


@pytest.mark.parametrize("estimator", [PLKNN(), make_pipeline(CENDA(), PLKNN())])
def test_sparse_rows_give_the_same_figures(estimator):
    for protocol in ("inductive", "transductive"):
        with few_iterations():
            dense, sparse = (
                cross_validate(estimator, rows, S, Y, cv=3, protocol=protocol)
                for rows in (X, sp.csr_matrix(X))
            )
        np.testing.assert_allclose(dense["test_score"], sparse["test_score"], atol=0.03)


def test_a_pipeline_of_one_step_has_no_reducer():
    one = cross_validate(make_pipeline(PLKNN()), X, S, Y, protocol="transductive")
    two = cross_validate(PLKNN(), X, S, Y, protocol="transductive")
    np.testing.assert_array_equal(one["test_score"], two["test_score"])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"protocol": "leaky"}, 'must be "inductive" or "transductive"'),
        ({"truth": Y[:-1]}, "X has 150 rows, candidates 150, truth 149"),
        ({"truth": np.full(150, 9)}, "true label 9 of row 0 is never a candidate"),
        ({"truth": np.eye(3)[Y]}, "`truth` must be 1-D"),
        ({"scoring": "auc"}, "one of .*accuracy.*got 'auc'"),
        ({"scoring": []}, "must be a function or one of"),
        ({"cv": 200}, "folds of 150 rows"),
    ],
)
def test_mistakes_are_explained(change, match):
    arguments = {"X": X, "candidates": S, "truth": Y, **change}
    with pytest.raises(ValueError, match=match):
        cross_validate(PLKNN(), **arguments)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "published", "raw"),
    [
        ("lost", {0.9: 0.718, 0.99: 0.804, 0.999: 0.810}, (0.354, 0.02)),
        ("fgnet", {0.9: 0.133, 0.99: 0.118, 0.999: 0.106}, (0.032, 0.015)),
    ],
)
def test_published_figures_of_cenda(shared_dir, name, published, raw):
    """Table 7 of the CENDA paper, with the recipe that led to it."""
    with np.load(shared_dir / "data" / "pll" / f"{name}.npz") as file:
        data, candidates, truth = file["X"].astype(float), file["S"], file["y"]
    learner = PLKNN(variant="lab")
    arguments = (data, candidates, truth)
    for share, accuracy in published.items():
        pipeline = make_pipeline(CENDA(share, scaling="maxabs"), learner)
        with few_iterations():
            found = cross_validate(pipeline, *arguments, protocol="transductive")
        assert found["test_score"].mean() == pytest.approx(accuracy, abs=0.02)
    found = cross_validate(learner, *arguments, protocol="transductive")
    assert found["test_score"].mean() == pytest.approx(raw[0], abs=raw[1])


NAMES = ["accuracy", "balanced_accuracy", "f1_macro", "neg_log_loss", "roc_auc_ovr"]


def test_scorers_of_sklearn_by_name():
    """Each fold's score is what scikit-learn computes from the predictions."""
    result = cross_validate(
        PLKNN(), X, S, Y, cv=3, scoring=NAMES, return_estimator=True
    )
    folds = list(CandidateKFold(3).split(X))
    for name in NAMES:
        for k, (_, test) in enumerate(folds):
            model = result["estimator"][k]
            wanted = get_scorer(name)(model, X[test], Y[test])
            assert result[f"test_{name}"][k] == pytest.approx(wanted)
    with pytest.raises(ValueError, match="'f1_macro' needs `truth`"):
        cross_validate(PLKNN(), X, S, scoring=["f1_macro"])
    with pytest.raises(ValueError, match="Did you mean 'accuracy'"):
        cross_validate(PLKNN(), X, S, Y, scoring="acuracy")


def test_log_loss_of_a_fold_without_some_label_is_defined_and_auc_says_why_not():
    order = np.argsort(Y, kind="stable")
    folds = [(order[50:], order[:50])]
    scores = cross_validate(PLKNN(), X, S, Y, cv=folds, scoring="neg_log_loss")
    assert np.isfinite(scores["test_score"]).all()
    with pytest.raises(ValueError, match=r"has the true label 1\. Use fewer"):
        cross_validate(PLKNN(), X, S, Y, cv=folds, scoring="roc_auc_ovr")
    names = np.array(["ant", "bee", "cat"])
    sets = [set(names[row]) for row in S]
    with pytest.raises(ValueError, match=r"has the true label 'bee'\. Use fewer"):
        cross_validate(PLKNN(), X, sets, names[Y], cv=folds, scoring="roc_auc_ovr")


@pytest.mark.parametrize(
    "name",
    [name for name in get_scorer_names() if "brier" in name or "top_k" in name],
)
def test_scores_of_probabilities_know_labels_that_a_fold_lacks(name):
    order = np.argsort(Y, kind="stable")
    folds = [(order, order[:90])]
    model = PLKNN().fit(X, S)
    lacking = cross_validate(PLKNN(), X, S, Y, cv=folds, scoring=name)["test_score"]
    with config_context(enable_metadata_routing=True):
        rows = order[:90]
        expected = get_scorer(name)(model, X[rows], Y[rows], labels=[0, 1, 2])
    assert lacking[0] == pytest.approx(expected)
    whole = cross_validate(PLKNN(), X, S, Y, cv=[(order, order)], scoring=name)
    assert whole["test_score"][0] == pytest.approx(get_scorer(name)(model, X, Y))


def test_no_pair_of_labels_to_compare():
    rows = np.flatnonzero(Y == 0)
    with pytest.raises(ValueError, match="'roc_auc_ovo_weighted' needs test rows"):
        cross_validate(
            PLKNN(), X, S, Y, cv=[(rows, rows)], scoring="roc_auc_ovo_weighted"
        )


def test_true_labels_of_any_kind_that_are_never_a_candidate():
    truth = np.array(["cat", "dog", None], dtype=object)
    with pytest.raises(ValueError, match="true label 'dog' of row 1 is never"):
        truth_codes(truth, np.array(["cat"], dtype=object))


def test_transductive_pipelines_train_on_cross_fitted_rows():
    reducer, learner = KernelCRISP(2, geometries=["linear"]), PLKNN()
    Z, _ = published_embedding(CoupledClassifier(reducer, learner), X, S)
    piped, _ = published_embedding(make_pipeline(reducer, learner), X, S)
    np.testing.assert_array_equal(piped, Z)
    fitted = clone(reducer).fit(z_scores(X), S)
    np.testing.assert_allclose(Z, z_scores(fitted.cross_fitted_))


def test_groups_are_never_torn_apart():
    class Rows(Spy):
        def fit(self, X, y):
            Spy.seen.append(set(X[:, 0]))
            self.fitted_ = True
            return self

    groups = np.repeat(np.arange(30), 5)
    rows = np.column_stack([groups, X])
    cross_validate(make_pipeline(Rows(), PLKNN()), rows, S, Y, cv=5, groups=groups)
    assert sum(30 - len(seen) for seen in Spy.seen) == 30


@pytest.mark.parametrize("as_given", [list, np.asarray])
def test_bags_of_the_training_rows_reach_fit(as_given):
    lists, bags = make_bags(Y, size=5, random_state=0)
    model, given = CRISPClassifier(random_state=0), as_given(bags)
    found = cross_validate(
        model,
        X,
        lists,
        Y,
        groups=bags,
        cv=3,
        params={"bags": given},
        return_estimator=True,
    )
    split = CandidateKFold(3, random_state=0).split(X, lists, bags)
    for (train, test), score, fitted in zip(
        split, found["test_score"], found["estimator"], strict=True
    ):
        own = clone(model).fit(X[train], lists[train], bags=bags[train])
        assert own.score(X[test], Y[test]) == score
        np.testing.assert_array_equal(own.label_confidence_, fitted.label_confidence_)
        plain = fit_briefly(clone(model), X[train], lists[train]).label_confidence_
        assert np.abs(plain - fitted.label_confidence_).max() > 0.01


def test_params_of_a_step_of_a_pipeline():
    lists, bags = make_bags(Y, size=5, random_state=0)
    model = make_pipeline(StandardScaler(), CRISPClassifier(random_state=0))
    options = {"groups": bags, "cv": 3}
    named = {"crispclassifier__bags": bags}
    one = cross_validate(model, X, lists, Y, params=named, **options)["test_score"]
    with config_context(enable_metadata_routing=True):
        model[-1].set_fit_request(bags=True)
        two = cross_validate(model, X, lists, Y, params={"bags": bags}, **options)
    np.testing.assert_array_equal(one, two["test_score"])


def test_bags_that_are_split_are_noticed(recwarn):
    lists, bags = make_bags(Y, size=5, random_state=0)
    model = CRISPClassifier(random_state=0, max_iter=1)
    with pytest.warns(UserWarning, match="Pass the bags as `groups` too"):
        cross_validate(model, X, lists, Y, cv=2, params={"bags": bags})
    cross_validate(model, X, lists, Y, cv=2, params={"bags": None})
    cross_validate(model, X, lists, Y, cv=2, groups=bags, params={"bags": bags})
    assert not [w for w in recwarn if "Rows of one bag" in str(w.message)]
    with pytest.raises(ValueError, match="must hold 150 values, one per row; got 149"):
        cross_validate(model, X, lists, Y, cv=2, params={"bags": bags[1:]})
