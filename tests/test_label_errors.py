"""Single labels of which some are wrong, and why rows got their labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from partlearn import disambiguate
from partlearn.candidates import estimate_miss_rate, from_votes, held_out_miss_rate
from partlearn.classification import CandidateClassifier

NAMES = np.array(["cat", "cow", "dog", "hen"])


@pytest.fixture(scope="module")
def wrong():
    """Four blobs, their names, and the names of which every eighth is wrong."""
    X, y = make_blobs(160, n_features=3, centers=4, cluster_std=1.5, random_state=3)
    rng = np.random.RandomState(0)
    bad = np.zeros(len(y), dtype=bool)
    bad[rng.choice(len(y), 20, replace=False)] = True
    z = np.where(bad, (y + rng.randint(1, 4, len(y))) % 4, y)
    return X, NAMES[y], NAMES[z], bad


@pytest.fixture(scope="module")
def found(wrong):
    X, _, given, _ = wrong
    return disambiguate(X, given, miss_rate="auto")


def test_wrong_labels_come_first(wrong, found):
    _, truth, _, bad = wrong
    rows = found.label_errors()
    assert bad[rows].mean() > 0.9
    assert average_precision_score(bad, found.wrong) > 0.9
    np.testing.assert_array_equal(np.argsort(found.look)[: len(rows)], rows)
    assert (found.label[rows] == truth[rows]).mean() > 0.9
    assert found.miss_rate.low - 0.02 <= bad.mean() <= found.miss_rate.high + 0.02
    assert abs(found.wrong.sum() - bad.sum()) < 6


def test_frame_says_what_was_given_and_where_to_look(wrong, found):
    frame = found.to_frame()
    assert frame["candidates"].tolist() == [[name] for name in wrong[2]]
    assert sorted(frame["look"]) == list(range(1, 161))
    worst = frame.sort_values("look").iloc[0]
    assert worst["wrong"] == frame["wrong"].max()
    assert "wrong" not in disambiguate(wrong[0], wrong[2], "plknn").to_frame()


def test_without_a_miss_rate_labels_are_taken_as_they_are(wrong):
    X, _, given, _ = wrong
    result = disambiguate(X, given)
    np.testing.assert_array_equal(result.label, given)
    assert result.label_errors().size == 0
    assert result.miss_rate is None


def test_the_rate_changes_how_many_not_the_order(wrong):
    X, _, given, _ = wrong
    model = CandidateClassifier(LogisticRegression(), random_state=0)
    few, many = (disambiguate(X, given, model, miss_rate=r) for r in (0.02, 0.4))
    assert few.miss_rate.rate == 0.02
    assert len(few.label_errors()) <= len(many.label_errors())
    assert few.wrong.sum() < many.wrong.sum()


def test_rate_of_known_rows(wrong):
    X, truth, given, bad = wrong
    gold = {i: truth[i] for i in range(0, 160, 4)}
    result = disambiguate(X, given, miss_rate="auto", gold=gold)
    missed = int(bad[::4].sum())
    assert result.miss_rate.n_rows == 40
    assert result.miss_rate.rate == pytest.approx((missed + 0.5) / 41)
    assert (result.wrong[::4] == 0).all()
    assert result.quality.n_gold == 40


def test_corrected_rows_are_certain(wrong, found):
    X, truth, given, _ = wrong
    i = int(found.label_errors()[0])
    again = disambiguate(X, given, miss_rate="auto", corrections={i: truth[i]})
    assert again.wrong[i] == 0
    assert again.label[i] == truth[i]
    assert i not in again.label_errors()


def test_a_rate_that_cannot_be_is_refused(wrong):
    X, _, given, _ = wrong
    with pytest.raises(ValueError, match="at least 0 and below 1; got 1"):
        disambiguate(X, given, miss_rate=1)
    with pytest.raises(TypeError, match="number or 'auto'; got 'much'"):
        disambiguate(X, given, miss_rate="much")
    sets = [{a, b} for a, b in zip(given, np.roll(given, 1), strict=True)]
    several = sum(len(labels) > 1 for labels in sets)
    with pytest.raises(ValueError, match=f"one label each; {several} rows have"):
        disambiguate(X, sets, miss_rate="auto")
    with pytest.raises(ValueError, match="`miss_rate` and `annotator`; leave"):
        disambiguate(X, given, miss_rate=0.1, task="tags")
    votes = from_votes(np.arange(160), ["ann"] * 160, given)
    with pytest.raises(ValueError, match="is for candidate sets"):
        disambiguate(X, votes, miss_rate=0.1)


def test_sets_may_miss_the_truth_at_a_given_rate(wrong):
    X, _, given, _ = wrong
    sets = [{a, b} for a, b in zip(given, np.roll(given, 1), strict=True)]
    result = disambiguate(X, sets, miss_rate=0.1)
    inside = result.candidates.sum(axis=1)
    assert inside.max() == 2
    rows = result.label_errors()
    assert not result.candidates[rows, result.label_confidence[rows].argmax(1)].any()


def test_confident_joint_and_em_by_hand():
    # Two labels of two rows each; the last row was given "1" and looks like "0".
    P = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.95, 0.05]])
    given = np.array([0, 0, 1, 1])
    estimate = held_out_miss_rate(P, given)
    # Thresholds .85 and .375: row 0 counts for 0, row 1 for none, row 2 for 1, row 3
    # for 0. Label 0 stays, label 1 in half of its rows: one of four is wrong.
    assert estimate.low == pytest.approx(0.25)
    rate = estimate.high
    odds = rate * (1 - P[np.arange(4), given])
    odds /= odds + (1 - rate) * P[np.arange(4), given]
    assert rate == pytest.approx(odds.mean(), abs=1e-4)
    assert estimate.rate == pytest.approx((0.25 + rate) / 2)


def test_labels_that_nobody_has_count_for_nothing():
    P = np.array([[0.6, 0.1, 0.3], [0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
    estimate = held_out_miss_rate(P, np.array([0, 1, 0]))
    assert 0 <= estimate.low <= estimate.high < 1e-5


def test_estimate_of_an_audit_stays_as_it_was():
    assert estimate_miss_rate([{"a"}, {"b"}], ["a", "a"]).rate == 0.5


# Why ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_columns():
    """Labels that follow the first column; the second is noise."""
    rng = np.random.RandomState(0)
    y = np.arange(80) % 2
    X = np.column_stack([3.0 * y + rng.normal(size=80), rng.normal(size=80)])
    sets = [{"a", "b"} if i % 3 == 0 else {"ab"[k]} for i, k in enumerate(y)]
    return X, sets


@pytest.mark.parametrize("method", ["crisp-classifier", "plknn", "sure"])
def test_the_column_that_decides_is_named(two_columns, method):
    X, sets = two_columns
    result = disambiguate(X, sets, method)
    reasons = result.why(9)
    assert reasons.label == result.label[9]
    assert {reasons.label, reasons.rival} == {"a", "b"}
    assert reasons.columns[0][0] == "0"
    assert reasons.columns[0][1] > 0
    assert str(reasons).startswith(f"for {reasons.label}: 0 (")
    names = [name for name, _, _ in reasons.neighbors]
    distance = np.square((X - X[9]) / X.std(axis=0)).sum(axis=1)
    assert names == np.argsort(distance)[1:6].tolist()


def test_what_a_column_adds_by_hand(two_columns):
    X, sets = two_columns
    model = CandidateClassifier(LogisticRegression(), random_state=0)
    result = disambiguate(X, sets, model, standardize=False)
    reasons = result.why(0, n_draws=len(X))
    fitted = model.fit(X, sets)
    best = list(fitted.classes_).index(reasons.label)

    def odds(rows):
        logs = np.log(np.maximum(fitted.predict_proba(rows), 1e-6))
        return logs[:, best] - logs[:, 1 - best]

    replaced = np.tile(X[0], (len(X), 1))
    replaced[:, 0] = X[:, 0]
    expected = odds(X[:1])[0] - odds(replaced).mean()
    assert dict(reasons.columns)["0"] == pytest.approx(expected, rel=1e-6)


def test_reasons_without_probabilities_and_of_sparse_rows(two_columns):
    X, sets = two_columns
    assert disambiguate(X, sets, "crisp").why(0).columns == []
    sparse = disambiguate(sp.csr_array(X), sets, "plknn").why(0)
    assert sparse.columns[0][0] == "0"


def test_reasons_name_columns_of_a_table_and_rows_by_their_names():
    pandas = pytest.importorskip("pandas")
    rng = np.random.RandomState(1)
    y = np.arange(60) % 2
    coat = np.where(y == 1, "rough", "soft")
    coat[::7] = "curly"
    frame = pandas.DataFrame(
        {
            "coat": coat,
            "size": rng.normal(size=60),
            "kind": np.array(["cat", "dog"])[y],
        },
        index=[f"r{i}" for i in range(60)],
    )
    reasons = disambiguate(frame, "kind").why("r5")
    assert reasons.columns[0][0] == "coat"
    assert reasons.label == "dog"
    assert reasons.rival == "cat"
    assert all(str(name).startswith("r") for name, _, _ in reasons.neighbors)
    with pytest.raises(ValueError, match="which is not there"):
        disambiguate(frame, "kind").why("r99")


def test_report_shows_errors_and_reasons(wrong, found):
    pytest.importorskip("jinja2")
    page = found.to_html()
    n = len(found.label_errors())
    assert f"<strong>{n}</strong> labels probably wrong" in page
    assert "given:</span> " in page
    first = found.why(int(found.label_errors()[0]), n_draws=5)
    assert f"<summary>Why</summary>{first.by_columns}. {first.by_rows}" in page


def test_fitted_classifier_by_its_name(two_columns):
    X, sets = two_columns
    model = CandidateClassifier(LogisticRegression(), random_state=0).fit(X, sets)
    assert model.estimator_ is model.estimators_[0]
    np.testing.assert_allclose(
        model.estimator_.predict_proba(X), model.predict_proba(X)
    )
