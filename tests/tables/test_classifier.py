"""From a table with a label column to labels for new rows."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from partlearn import PartialClassifier
from partlearn.classification import PLKNN
from partlearn.datasets import make_tickets
from partlearn.persistence import load_model, save_model
from partlearn.tables import estimate_quality, make_learner
from partlearn.tables._familiarity import learn_familiarity


@pytest.fixture(scope="module")
def tickets():
    return make_tickets(300)


@pytest.fixture(scope="module")
def new():
    return make_tickets(100, random_state=1)


@pytest.fixture(scope="module")
def model(tickets):
    return PartialClassifier("pl-knn", labels="candidates", id="ticket").fit(
        tickets.columns
    )


def test_it_learns(model, new):
    assert np.mean(model.predict(new.columns) == new.truth) > 2 / 6  # twice chance
    P = model.predict_proba(new.columns)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert model.classes_.tolist() == new.target_names


def test_labels_may_be_named_in_fit_or_passed(tickets, model, new):
    named = PartialClassifier("pl-knn", id="ticket").fit(tickets.columns, "candidates")
    expected = model.predict_proba(new.columns)
    np.testing.assert_array_equal(named.predict_proba(new.columns), expected)
    table = {n: c for n, c in tickets.columns.items() if n != "candidates"}
    sets = [set(text.split("|")) for text in tickets.columns["candidates"]]
    passed = PartialClassifier("pl-knn", id="ticket").fit(table, sets)
    np.testing.assert_array_equal(passed.predict_proba(new.columns), expected)
    assert clone(named).labels is None


def test_annotators_are_columns_too(tickets, new):
    rng = np.random.default_rng(0)
    table = {n: c for n, c in tickets.columns.items() if n != "candidates"}
    for name in ("ann", "bob"):
        wrong = rng.choice(tickets.target_names, len(tickets.truth))
        said = np.where(rng.random(len(wrong)) < 0.2, wrong, tickets.truth)
        table[name] = said.astype(object)
    method = LogisticRegression()
    model = PartialClassifier(method, id="ticket").fit(table, ["ann", "bob"])
    assert np.mean(model.predict(new.columns) == new.truth) > 3 / 6  # thrice chance
    assert model.encoder_.kinds_["ann"].kind == "label"


def test_predictions(model, new):
    columns = model.predictions(new.columns)
    assert list(columns) == [
        "ticket",
        "label",
        "probability",
        "runner_up",
        "runner_up_probability",
        "unlike",
    ]
    assert columns["ticket"].tolist() == new.columns["ticket"].tolist()
    assert (columns["probability"] >= columns["runner_up_probability"]).all()
    assert (columns["label"] != columns["runner_up"]).all()
    without = {n: c for n, c in new.columns.items() if n != "ticket"}
    assert model.predictions(without)["row"].tolist() == list(range(100))
    pytest.importorskip("pandas")
    assert list(model.predict_frame(new.columns).columns) == list(columns)


def test_rows_unlike_the_training_rows_are_flagged(model, new):
    table = {name: column[:4].copy() for name, column in new.columns.items()}
    table["channel"][1] = "pigeon"
    table["amount"][2] = 1e7
    said = model.predictions(table)["unlike"]
    assert said[0] == said[3] == ""
    assert said[1] == "unusual channel"
    assert said[2] == "unusual amount; far from all training rows"


def test_few_training_rows_are_far_from_themselves():
    Z = np.random.default_rng(0).normal(size=(500, 4))
    far = learn_familiarity(Z)
    assert not far.is_far(Z).any()
    assert far.is_far(np.full((1, 4), 9.0)).all()


def test_unlabelled_rows_are_left_out(tickets):
    table = {name: column.copy() for name, column in tickets.columns.items()}
    table["candidates"][:10] = None
    model = PartialClassifier("pl-knn", labels="candidates").fit(table)
    assert model.n_unlabelled_ == 10
    assert model.estimator_.label_confidence_.shape[0] == 290


def test_it_travels_in_a_model_file(model, new, tmp_path):
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").estimator
    for name, column in model.predictions(new.columns).items():
        np.testing.assert_array_equal(loaded.predictions(new.columns)[name], column)


def test_errors(tickets):
    with pytest.raises(ValueError, match="Did you mean 'candidates'"):
        PartialClassifier(labels="candidate").fit(tickets.columns)
    with pytest.raises(ValueError, match="Name the columns with the labels"):
        PartialClassifier().fit(tickets.columns)
    leaking = tickets.columns | {"answer": tickets.truth.astype(object)}
    with pytest.raises(ValueError, match="Column 'answer' holds labels"):
        PartialClassifier("pl-knn", labels="candidates").fit(leaking)
    kept = PartialClassifier("pl-knn", labels="candidates", category="answer")
    assert kept.fit(leaking).encoder_.kinds_["answer"].used
    with pytest.raises(TypeError, match="name of a method or an estimator"):
        make_learner(3)
    one = {"x": [1.0, 2.0], "y": np.array(["a", "a"], dtype=object)}
    with pytest.raises(ValueError, match="no other label than 'a'"):
        PartialClassifier(labels="y").fit(one)


def test_learners_of_every_kind():
    assert type(make_learner("crisp-selector")).__name__ == "CoupledClassifier"
    assert make_learner(PLKNN(3)).n_neighbors == 3
    assert make_learner("pl-knn", {"n_neighbors": 4}).n_neighbors == 4
    wrapped = make_learner(LogisticRegression(C=3))
    assert type(wrapped).__name__ == "CandidateClassifier"


def test_quality_beside_rivals(tickets):
    model = PartialClassifier("pl-knn", labels="candidates", id="ticket")
    scores = estimate_quality(model, tickets.columns, truth=tickets.truth)
    ours, single, frequent, chance = scores
    assert ours.accuracy > frequent.accuracy + 0.2
    assert ours.covering_rate > chance.covering_rate + 0.2
    assert abs(ours.approximated_accuracy - ours.accuracy) < 0.15
    assert frequent.accuracy < 0.4
    sizes = [len(text.split("|")) for text in tickets.columns["candidates"]]
    np.testing.assert_allclose(chance.covering_rate, np.mean(sizes) / 6)
    assert chance.accuracy == pytest.approx(1 / 6)
    assert single.note == ""
    without = estimate_quality(model, tickets.columns, cv=2)
    assert all(score.accuracy is None for score in without)


def test_a_rival_that_cannot_be_fitted_says_why(tickets):
    table = tickets.columns | {
        "candidates": np.array(["bug|refund", "bug|billing"] * 150, dtype=object)
    }
    model = PartialClassifier("pl-knn", labels="candidates", id="ticket")
    single = estimate_quality(model, table, cv=2)[1]
    assert "fewer than two labels" in single.note
    assert np.isnan(single.covering_rate)
    few = {name: column[:2] for name, column in table.items()}
    with pytest.raises(ValueError, match="too few for 3 folds"):
        estimate_quality(model, few)
