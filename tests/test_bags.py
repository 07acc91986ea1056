"""Bags through the verbs of the library: tables, labels, predictions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partlearn import PartialClassifier, disambiguate
from partlearn.candidates import (
    bag_confidence,
    check_evidence,
    equal_neighbors,
    from_votes,
    make_bags,
)
from partlearn.check import check
from partlearn.classification import SURE, CandidateClassifier
from partlearn.persistence import load_model, save_model
from partlearn.tables import (
    TableEncoder,
    estimate_quality,
    read_bags,
    read_labels,
    warn_of_bags,
)

MODEL = CandidateClassifier(LogisticRegression(C=0.1), max_iter=3, random_state=0)


@pytest.fixture(scope="module")
def pages():
    """Six digits a page; rows of a page follow each other."""
    X, y = load_digits(return_X_y=True)
    S, bags = make_bags(y[:480], size=6, random_state=0)
    order = np.argsort(bags, kind="stable")
    table = pd.DataFrame(X[:480, 10:40][order]).add_prefix("pixel")
    table["page"] = [f"p{b}" for b in bags[order]]
    table["digits"] = ["|".join(map(str, np.flatnonzero(row))) for row in S[order]]
    table["truth"] = y[:480][order].astype(str)
    return table


def right(result, table):
    return (result.label == table["truth"].to_numpy()).mean()


def test_disambiguate_with_bags(pages):
    features = pages.drop(columns="truth")
    plain = disambiguate(
        features.drop(columns="page").sample(frac=1, random_state=0), "digits", MODEL
    )
    truth = pages.loc[plain.index]
    shared = disambiguate(features, "digits", MODEL, bags="page")
    assert right(shared, pages) > right(plain, truth) + 0.01
    assert shared.bags.tolist() == pages["page"].tolist()
    assert shared.to_frame()["bag"].tolist() == pages["page"].tolist()
    assert plain.bags is None
    # The column of the bags is no feature; arrays and runs mean the same.
    frame = features.drop(columns="page")
    same = disambiguate(frame, "digits", MODEL, bags=pages["page"])
    assert np.array_equal(same.label_confidence, shared.label_confidence)
    runs = disambiguate(frame, "digits", MODEL, bags="runs")
    n_runs = (pages["digits"] != pages["digits"].shift()).sum()
    assert len(set(runs.bags)) == n_runs


def test_bags_of_arrays_pipelines_and_corrections(pages):
    X = pages.filter(like="pixel").to_numpy()
    y = [set(text.split("|")) for text in pages["digits"]]
    model = make_pipeline(StandardScaler(), MODEL)
    result = disambiguate(X, y, model, bags=pages["page"].to_numpy())
    fixed = {0: pages["truth"][0]}
    again = disambiguate(X, y, model, bags="runs", corrections=fixed)
    assert again.label[0] == pages["truth"][0]
    assert again.confidence[0] > 0.999
    assert len(result.label) == 480


def test_bags_are_noticed(pages):
    features = pages.drop(columns=["truth", "page"])
    with pytest.warns(UserWarning, match="have the same set; in random order") as said:
        disambiguate(features, "digits", "pl-knn")
    assert "`bags`" in str(said[0].message)
    assert "`bags`" in str(said[0].message)


def test_equal_neighbors_by_hand():
    S = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1], [0, 1, 0], [1, 1, 0], [1, 1, 0]])
    counts = equal_neighbors(S)
    # Pairs 0-1, 1-2 and 4-5 have several candidates; 0-1 and 4-5 are equal.
    assert counts.n_pairs == 3
    assert counts.share == pytest.approx(2 / 3)
    assert counts.expected == pytest.approx(4 * 3 / (5 * 4))
    assert (counts.n_runs, counts.n_rows) == (2, 4)
    assert not counts.bags_likely  # too few
    assert equal_neighbors(np.eye(3)).n_pairs == 0
    assert equal_neighbors(np.empty((0, 3))).n_pairs == 0
    one_set = np.tile([True, True, False], (60, 1))
    assert not equal_neighbors(one_set).bags_likely  # as often in random order


def test_methods_without_bags_say_so(pages):
    features = pages.drop(columns="truth")
    with pytest.raises(ValueError, match="SURE does not use bags"):
        disambiguate(features, "digits", "sure", bags="page")
    with pytest.raises(ValueError, match="SURE does not use bags"):
        disambiguate(
            features, "digits", make_pipeline(StandardScaler(), SURE()), bags="page"
        )
    with pytest.raises(ValueError, match="SURE does not use bags"):
        PartialClassifier("sure", labels="digits", bags="page").fit(features)


def test_wrong_bags_of_tables(pages):
    features = pages.drop(columns="truth")
    with pytest.raises(ValueError, match=r"`bags`.*'pagee'"):
        disambiguate(features, "digits", MODEL, bags="pagee")
    with pytest.raises(ValueError, match=r"`bags`.*'pagee'"):
        PartialClassifier(MODEL, labels="digits", bags="pagee").fit(features)
    with pytest.raises(ValueError, match="480 values, one per row; got 3"):
        disambiguate(features, "digits", MODEL, bags=[1, 2, 3])
    with pytest.raises(ValueError, match="must be one column"):
        disambiguate(features, "digits", MODEL, bags=(b for b in pages["page"]))
    model = PartialClassifier(MODEL, labels="digits", bags=pages["page"].to_numpy())
    with pytest.raises(TypeError, match="`bags` must name a column of the table"):
        model.fit(features)


def test_bags_that_cannot_be_right_are_named(pages):
    table = pages[:60].drop(columns="truth")
    with pytest.warns(UserWarning, match="No two rows share a bag, so that `bags`"):
        disambiguate(table.assign(page=range(60)), "digits", MODEL, bags="page")
    table = pages[:62].drop(columns="truth")  # the reversed pages are other rows
    mixed = table.assign(page=table["page"][::-1].to_numpy())
    for verb in (
        lambda: disambiguate(mixed, "digits", MODEL, bags="page"),
        lambda: PartialClassifier(MODEL, labels="digits", bags="page").fit(mixed),
    ):
        with pytest.warns(UserWarning, match="of one bag have different candidate"):
            verb()


def test_votes_may_differ_within_a_bag(recwarn):
    rows = np.repeat(np.arange(6), 3)
    votes = from_votes(rows, [0, 1, 2] * 6, [0, 0, 1, 1, 1, 0, 0, 2, 0, *[1, 2, 2] * 3])
    warn_of_bags([0, 0, 1, 1, 2, 2], votes)
    assert not recwarn


def test_a_list_is_written_once_for_each_bag(pages):
    whole = pages[:120].drop(columns="truth").reset_index(drop=True)
    kept = ~whole["page"].duplicated()
    once = whole.assign(digits=whole["digits"].where(kept, ""))
    expected = disambiguate(whole, "digits", MODEL, bags="page")
    features = once.drop(columns="page")
    for table, bags in (once, "page"), (features, whole["page"].tolist()):
        with pytest.warns(UserWarning, match="rows without labels take the list"):
            found = disambiguate(table, "digits", MODEL, bags=bags)
        assert np.array_equal(found.label_confidence, expected.label_confidence)
    model = PartialClassifier(MODEL, labels="digits", bags="page").fit(whole)
    with pytest.warns(UserWarning, match="100 rows without labels"):
        again = PartialClassifier(MODEL, labels="digits", bags="page").fit(once)
    assert again.n_unlabeled_ == 0
    P = again.predict_proba(whole)
    np.testing.assert_array_equal(P, model.predict_proba(whole))
    with pytest.warns(UserWarning, match="rows without labels take the list"):
        labels = model.predictions(once, "digits", bags="page")["label"]
    expected = model.predictions(whole, "digits", bags="page")["label"]
    assert labels.tolist() == expected.tolist()


def test_only_one_list_of_a_bag_is_copied(recwarn):
    page = np.array(["a", "a", "a", "b", "b", None, None, "c"], dtype=object)
    digits = np.array(["1|2", "2|3", "", "1|3", "NA", "2", "", ""], dtype=object)
    columns = {"page": page, "digits": digits}
    evidence, _ = read_labels(columns, "digits", bags="page")
    # Page a has two lists, page c none, and rows without a page share nothing.
    assert evidence.rows.tolist() == [0, 1, 3, 4, 5]
    assert evidence.candidates[3].tolist() == evidence.candidates[2].tolist()
    assert "1 rows without labels" in str(recwarn.pop(UserWarning).message)
    assert digits[4] == "NA"
    marks = {"m": np.array([1.0, np.nan, 0.0]), "n": np.array([1.0, np.nan, 1.0])}
    marks["page"] = np.array(["a", "a", "b"], dtype=object)
    evidence, _ = read_labels(marks, ["m", "n"], bags="page")
    assert evidence.candidates.tolist() == [[1, 1], [1, 1], [0, 1]]


def test_the_bag_may_name_the_row(pages):
    table = pages[:60].drop(columns="truth")
    encoder = TableEncoder(id="page")
    result = disambiguate(table, "digits", MODEL, bags="page", encoder=encoder)
    assert result.bags.tolist() == table["page"].tolist()
    model = PartialClassifier(MODEL, labels="digits", bags="page", id="page").fit(table)
    assert model.predictions(table)["page"].tolist() == table["page"].tolist()
    report = check(table, "digits", bags="page", encoder=encoder)
    assert "bags" in {finding.code for finding in report.findings}


def test_a_column_that_names_bags_is_no_feature(pages):
    table = pages[:60].drop(columns="truth").rename(columns={"page": "bag:id"})
    table = table.sample(frac=1, random_state=0)
    with pytest.warns(UserWarning, match="'bag:id' names bags, which are not used"):
        found = disambiguate(table, "digits", MODEL)
    plain = disambiguate(table.drop(columns="bag:id"), "digits", MODEL)
    assert np.array_equal(found.label_confidence, plain.label_confidence)
    model = PartialClassifier(MODEL, labels="digits").fit(table)
    assert model.encoder_.kinds_["bag:id"].reason == "names bags"
    # Several such columns are features, such as counts of words.
    words = pd.DataFrame({"bag:of": [1.0, 2.0, 4.0], "bag:in": [3.0, 1.0, 0.0]})
    assert TableEncoder().fit(words).n_features_out_ == 2


def test_the_estimate_of_quality_notices_runs(pages):
    table = pages[:120].drop(columns="truth")
    model = PartialClassifier(MODEL, labels="digits", ignore="page")
    with pytest.warns(UserWarning, match="or the estimate is too good"):
        estimate_quality(model, table, cv=2)


def test_rows_without_labels_end_runs_and_keep_bags():
    columns = {"page": np.array(["a", "a", "a", None, "b"], dtype=object)}
    evidence = check_evidence([{"x", "y"}] * 5)[[0, 1, 3, 4]]
    assert read_bags("runs", columns, evidence).tolist() == [0, 0, 1, 1]
    assert read_bags("page", columns, evidence).tolist() == ["a", "a", None, "b"]
    assert read_bags([1, 2, 3, 4, 5], columns, evidence).tolist() == [1, 2, 4, 5]
    assert read_bags([1, 2, 3, 4], columns, evidence).tolist() == [1, 2, 3, 4]
    named = columns | {"runs": np.array(["q", "q", "r", "r", "r"], dtype=object)}
    assert read_bags("runs", named, evidence).tolist() == ["q", "q", "r", "r"]


def test_partial_classifier_with_bags(pages, tmp_path):
    train, new = pages[:360], pages[360:].reset_index(drop=True)
    features = train.drop(columns="truth")
    model = PartialClassifier(MODEL, labels="digits", bags="page").fit(features)
    assert model.encoder_.kinds_["page"].reason == "bags of the rows"
    assert model.estimator_.stray_rate_ is not None
    save_model(model, tmp_path / "model.partlearn")
    model = load_model(tmp_path / "model.partlearn").estimator
    truth = new["truth"].to_numpy()
    alone = (model.predictions(new)["label"] == truth).mean()
    listed = model.predictions(new, "digits")
    shared = model.predictions(new, "digits", bags="page")
    given = [set(text.split("|")) for text in new["digits"]]
    assert all(a in b for a, b in zip(shared["label"], given, strict=True))
    assert (listed["label"] == truth).mean() > alone
    assert (shared["label"] == truth).mean() >= (listed["label"] == truth).mean()
    frame = model.predict_frame(new, given, bags=new["page"])
    assert frame["label"].tolist() == shared["label"].tolist()
    with pytest.raises(ValueError, match="`bags` needs `y`"):
        model.predictions(new, bags="page")


def test_new_lists_may_hold_unknown_labels(pages):
    features = pages.drop(columns="truth")
    model = PartialClassifier(MODEL, labels="digits", bags="page").fit(features)
    new = features[:3].assign(digits=["eleven|1", "eleven", ""])
    label = model.predictions(new, "digits", bags="page")["label"]
    assert label[0] == "1"
    plain = model.predictions(new)["label"]
    assert label[1:].tolist() == plain[1:].tolist()


def test_new_lists_may_hold_few_labels(pages):
    features = pages.drop(columns="truth")
    model = PartialClassifier(MODEL, labels="digits", bags="page").fit(features)
    one = model.predictions(features[:1].assign(digits="7"), "digits", bags="page")
    assert one["label"].tolist() == ["7"]
    none = features[:5].assign(digits="")
    found = model.predictions(none, "digits", bags="page")
    plain = model.predictions(none)
    assert found["probability"].tolist() == plain["probability"].tolist()


def test_new_captions_are_read_as_those_of_training(pages):
    """Two annotators' captions: a label counts by the share of them who list it."""
    table = pages.drop(columns="truth").rename(columns={"digits": "ann"})
    lists = table["ann"].str.split("|")
    table["bob"] = ["|".join(labels[: max(1, len(labels) - 1)]) for labels in lists]
    given = {"raters": ["ann", "bob"], "bags": "page"}
    model = PartialClassifier(MODEL, **given).fit(table[:360])
    new = table[360:366].reset_index(drop=True)
    found = model.predictions(new, "ann,bob", bags="page")
    same = model.predictions(new, ["ann", "bob"], bags="page")
    assert found["probability"].tolist() == same["probability"].tolist()
    W = np.zeros((6, len(model.classes_)))
    for column in ("ann", "bob"):
        for i, text in enumerate(new[column]):
            W[i, np.isin(model.classes_, text.split("|"))] += 0.5
    P = model.predict_proba(new) * W
    rule = {"rule": "cover", "stray": model.estimator_.stray_rate_}
    expected = bag_confidence(P, new["page"].tolist(), W > 0, **rule)
    assert found["probability"] == pytest.approx(expected.max(axis=1))
    # One label in each column of six rows: no form but that of training is certain.
    few = new.assign(ann="1", bob="2")
    assert set(model.predictions(few, "ann,bob")["label"]) <= {"1", "2"}


def test_groups_that_split_bags_are_noticed(pages, recwarn):
    table = pages[:120].drop(columns="truth")
    table["day"] = [f"day {i % 30}" for i in range(120)]
    table["book"] = table["page"]  # of whole pages
    given = {"labels": "digits", "bags": "page", "ignore": "book"}
    model = PartialClassifier(MODEL, groups="day", **given)
    with pytest.warns(UserWarning, match="in several groups .`groups`., so that bags"):
        estimate_quality(model, table, cv=2)
    estimate_quality(model.set_params(groups="book", ignore="day"), table, cv=2)
    assert not [w for w in recwarn if "several groups" in str(w.message)]


def test_quality_is_estimated_on_whole_bags(pages, monkeypatch):
    seen = []
    from partlearn.tables import _splits

    class Folds(_splits.CandidateKFold):
        def split(self, X, y=None, groups=None):
            seen.append(groups)
            return super().split(X, y, groups)

    monkeypatch.setattr(_splits, "CandidateKFold", Folds)
    features = pages.drop(columns="truth")
    model = PartialClassifier(MODEL, labels="digits", bags="runs")
    model.set_params(ignore="page")
    estimate_quality(model, features, cv=2)
    n_runs = (pages["digits"] != pages["digits"].shift()).sum()
    assert len(set(seen[0])) == n_runs
