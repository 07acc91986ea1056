"""Boosting in model files: what comes back, and which trees are refused."""

import re

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from partlearn import PartialClassifier
from partlearn.classification import CandidateClassifier
from partlearn.io import DataFormatError
from partlearn.persistence import _encode, load_model, save_model
from partlearn.persistence._sound import check_sound, take_apart

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
X[::9, 1] = np.nan
CODES = np.nan_to_num(X[:, 0] > 0).astype(int) + (X[:, 2] > 0.5)
LABELS = np.array(["cat", "cow", "dog"])[CODES]


def boosting(**params):
    words = {"max_iter": 4, "min_samples_leaf": 3, "random_state": 0} | params
    return HistGradientBoostingClassifier(**words)


@pytest.mark.parametrize("labels", [LABELS, LABELS == "cat", CODES])
@pytest.mark.parametrize(
    "params", [{}, {"early_stopping": True}, {"class_weight": "balanced"}]
)
def test_predictions_come_back_to_the_last_bit(labels, params, tmp_path):
    model = boosting(**params).fit(X, labels)
    loaded = load_model(save_model(model, tmp_path / "m")).estimator
    new = np.vstack([X, RNG.normal(size=(20, 4)) * 3, np.full((1, 4), np.nan)])
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    assert loaded.n_iter_ == model.n_iter_
    assert loaded.get_params() == model.get_params()
    again = save_model(loaded, tmp_path / "again")
    assert again.read_bytes() == (tmp_path / "m").read_bytes()


def test_inside_of_classifiers_for_candidates(tmp_path):
    sets = [{a, b} for a, b in zip(LABELS, np.roll(LABELS, 1), strict=True)]
    model = CandidateClassifier(boosting(), max_iter=1, cv=2, random_state=0)
    model.fit(X, sets)
    loaded = load_model(save_model(model, tmp_path / "m")).estimator
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    table = {f"x{j}": X[:, j] for j in range(4)} | {"kind": LABELS.astype(object)}
    whole = PartialClassifier(
        "sklearn.ensemble:HistGradientBoostingClassifier", labels="kind"
    ).fit(table)
    loaded = load_model(save_model(whole, tmp_path / "t")).estimator
    np.testing.assert_array_equal(loaded.predict(table), whole.predict(table))


def test_an_unfitted_one_is_saved_as_it_is(tmp_path):
    loaded = load_model(save_model(boosting(), tmp_path / "m")).estimator
    assert loaded.fit(X, LABELS).score(X, LABELS) > 0.8


def test_categories_and_warm_starts_are_refused(tmp_path):
    coded = np.column_stack([RNG.integers(0, 4, 90), X[:, 0]])
    model = boosting(categorical_features=[0]).fit(coded, LABELS)
    with pytest.raises(DataFormatError, match="only without categorical features"):
        save_model(model, tmp_path / "m")
    model = boosting(warm_start=True).fit(X, LABELS)
    with pytest.raises(DataFormatError, match="only with warm_start=False"):
        save_model(model, tmp_path / "m")


def put(name, value, inner=None):
    def edit(parts):
        nodes = parts["nodes"]
        leaf = nodes["is_leaf"].astype(bool)
        where = slice(None) if inner is None else ~leaf if inner else leaf
        nodes[name] = nodes[name].copy()
        nodes[name][where] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (put("left", 0, True), "out of range"),  # would walk for ever
        (put("right", 2**32 - 1, True), "out of range"),
        (put("left", 10**6, True), "out of range"),
        (put("is_leaf", 0), "out of range"),
        (put("is_leaf", 1), "out of range"),
        (put("is_leaf", 7, False), "not booleans"),
        (put("missing_go_to_left", 2), "not booleans"),
        (put("is_categorical", 1), "splits by categories"),
        (put("bitset_idx", 5), "splits by categories"),
        (put("feature_idx", 4, True), "fitted on more features"),
        (put("feature_idx", 2**40, True), "fitted on more features"),
        (put("feature_idx", -1), "do not fit its nodes"),
        (put("value", np.inf), "do not fit its nodes"),
        (put("num_threshold", np.nan), "do not fit its nodes"),
        (lambda p: p["nodes"].pop("left").tolist() and None, "lack fields"),
        (lambda p: p["nodes"].update(left=np.zeros(3)), "do not fit"),
        (lambda p: p["nodes"].update(value=3.0), "do not fit"),
        (
            lambda p: p.update(nodes={k: v[:0] for k, v in p["nodes"].items()}),
            "not fit",
        ),
        (lambda p: p.update(nodes=None), "lack fields"),
        (lambda p: p.update(more=1), "is incomplete"),
    ],
)
def test_trees_that_would_lead_astray_are_refused(edit, message, tmp_path, monkeypatch):
    model = boosting().fit(X, LABELS)

    def changed(tree):
        parts = take_apart(tree)
        return edit(parts) or parts

    monkeypatch.setattr(_encode, "take_apart", changed)
    path = save_model(model, tmp_path / "m")
    with pytest.raises(DataFormatError, match=re.escape(message)):
        load_model(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_trees_per_iteration_": 2}, "sound|other classes"),
        ({"n_trees_per_iteration_": 0}, "not sound"),
        ({"classes_": np.array(["a", "b"])}, "fitted on other classes"),
        ({"classes_": np.array(["a"])}, "fitted on other classes"),
        ({"n_features_in_": 1}, "fitted on more features"),
        ({"_baseline_prediction": np.zeros((1, 2))}, "not sound"),
        ({"_baseline_prediction": np.full((1, 3), np.nan)}, "not sound"),
        ({"_predictors": [[1, 2, 3]]}, "lacks trees"),
        ({"_predictors": [[]]}, "lacks trees"),
        ({"_predictors": 3}, "not sound"),
        ({"_predictors": None}, "not sound"),
        ({"bandwidth": 1}, "bandwidth"),
    ],
)
def test_a_boosting_that_its_class_would_not_make(change, message):
    model = boosting().fit(X, LABELS)
    vars(model).update(change)
    with pytest.raises(DataFormatError, match=message):
        check_sound(model)


def test_without_a_baseline_nothing_can_be_predicted():
    model = boosting().fit(X, LABELS)
    del model._baseline_prediction
    with pytest.raises(DataFormatError, match="other classes"):
        check_sound(model)
