"""From a table with a label column to labels for new rows."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from partlearn import PartialClassifier
from partlearn.classification import PLKNN, CandidateClassifier
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
    taken = {**new.columns, "label": np.arange(100.0)}
    with pytest.raises(ValueError, match="`id`: predictions have a column 'label'"):
        clone(model).set_params(id="label").fit(taken).predictions(taken)
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
    assert model.n_unlabeled_ == 10
    assert model.estimator_.label_confidence_.shape[0] == 290


def test_it_travels_in_a_model_file(model, new, tmp_path):
    save_model(model, tmp_path / "model.partlearn")
    loaded = load_model(tmp_path / "model.partlearn").estimator
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
    with pytest.raises(ValueError, match="only one label, 'a'"):
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


def toy(n=60):
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    kind = np.where(size + rng.normal(size=n) > 1, "rare", "common")
    return {
        "size": size,
        "shop": np.array([f"s{i % 6}" for i in range(n)], dtype=object),
        "trust": np.ones(n),
        "kind": kind.astype(object),
    }


def test_weights_of_classes_decide_and_leave_probabilities_alone():
    table = toy()
    plain = PartialClassifier("pl-knn", labels="kind", ignore=["shop", "trust"])
    P = plain.fit(table).predict_proba(table)
    for weight in ({"rare": 3.0}, "balanced"):
        model = clone(plain).set_params(class_weight=weight).fit(table)
        np.testing.assert_array_equal(model.predict_proba(table), P)
        best = (P * model.class_weights_).argmax(axis=1)
        np.testing.assert_array_equal(model.predict(table), model.classes_[best])
        shown = model.predictions(table)
        np.testing.assert_array_equal(shown["label"], model.predict(table))
        assert (model.predict(table) == "rare").sum() > (
            plain.predict(table) == "rare"
        ).sum()
    share = (table["kind"] == "rare").mean()
    np.testing.assert_allclose(model.class_weights_, 0.5 / np.array([1 - share, share]))
    for wrong, message in (
        ({"rre": 1}, "no label 'rre'. Did you mean 'rare'"),
        ({"rare": -1}, "must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(plain).set_params(class_weight=wrong).fit(table)
    with pytest.raises(TypeError, match="mapping of labels to numbers"):
        clone(plain).set_params(class_weight="equal").fit(table)


class Spy(CandidateClassifier):
    """Says what `fit` was given."""

    given: dict = {}  # noqa: RUF012

    def fit(self, X, y, sample_weight=None, groups=None):
        Spy.given = {"sample_weight": sample_weight, "groups": groups}
        return super().fit(X, y, sample_weight=sample_weight, groups=groups)


def test_groups_and_weights_come_from_columns():
    table = toy()
    learner = Spy(LogisticRegression(), cv=2, max_iter=1, random_state=0)
    model = PartialClassifier(learner, labels="kind", groups="shop", weight="trust")
    model.fit(table)
    np.testing.assert_array_equal(Spy.given["groups"], table["shop"])
    np.testing.assert_array_equal(Spy.given["sample_weight"], table["trust"])
    thousands = [f"1,{i:03}" if i % 2 else str(i) for i in range(len(table["size"]))]
    model.fit({**table, "trust": thousands})
    expected = [1000 * (i % 2) + i for i in range(len(thousands))]
    np.testing.assert_array_equal(Spy.given["sample_weight"], expected)
    assert model.encoder_.get_feature_names_out().tolist() == ["size"]
    assert "groups of the rows (left out)" in model.encoder_.report()
    with pytest.raises(ValueError, match="PLKNN takes no weights of rows"):
        PartialClassifier("pl-knn", labels="kind", weight="trust").fit(table)
    with pytest.raises(ValueError, match="`groups`: there is no column 'shp'"):
        PartialClassifier("pl-knn", labels="kind", groups="shp").fit(table)


def test_quality_holds_groups_out_together():
    """Rows of a shop are alike and say nothing about other shops."""
    rng = np.random.default_rng(0)
    shop = np.repeat(np.arange(20), 16)
    table = {
        "place": shop + rng.normal(size=320) / 100,
        "shop": np.array([f"s{i}" for i in shop], dtype=object),
        "kind": np.array(["a", "b"], dtype=object)[rng.integers(0, 2, 20)[shop]],
    }
    torn, kept = (
        estimate_quality(
            PartialClassifier("pl-knn", labels="kind", **options), table, cv=4
        )[0].covering_rate
        for options in ({"ignore": "shop"}, {"groups": "shop"})
    )
    assert torn > 0.95
    assert kept < 0.75
