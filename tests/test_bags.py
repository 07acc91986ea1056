"""Bags through the verbs of the library: tables, labels, predictions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partlearn import PartialClassifier, disambiguate
from partlearn.candidates import check_evidence, equal_neighbors, make_bags
from partlearn.classification import SURE, CandidateClassifier
from partlearn.persistence import load_model, save_model
from partlearn.tables import estimate_quality, read_bags

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
