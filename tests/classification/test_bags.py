"""Classifiers that use the lists of bags."""

import re
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partlearn.candidates import BagRule, check_evidence, from_votes, make_bags
from partlearn.classification import CandidateClassifier, CRISPClassifier
from partlearn.decomposition import CRISP, KernelCRISP

LOGISTIC = LogisticRegression(max_iter=2000, C=0.1)


@pytest.fixture(scope="module")
def pages():
    """Digits on pages of six, each page with the list of its digits."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16, y[:600]
    S, bags = make_bags(y, size=6, random_state=0)
    return X, y, S, bags


def test_one_iteration_is_one_application_of_the_rule(pages):
    X, _, S, bags = pages
    model = CandidateClassifier(LOGISTIC, max_iter=1, random_state=0)
    alone = model.fit(X, S).label_confidence_
    assert model.stray_rate_ is None
    rule = BagRule(bags, S)
    shared = rule(alone)
    model.fit(X, S, bags=bags)
    assert np.array_equal(model.label_confidence_, shared)
    assert model.stray_rate_ == rule.stray_
    assert np.abs(shared - alone).max() > 0.05


def test_lists_give_more_labels(pages):
    X, y, S, bags = pages
    model = CandidateClassifier(LOGISTIC, random_state=0)
    plain = (model.fit(X, S).label_confidence_.argmax(axis=1) == y).mean()
    shared = model.fit(X, S, bags=bags).label_confidence_.argmax(axis=1) == y
    assert shared.mean() > plain + 0.01
    assert (model.label_confidence_[~S] == 0).all()
    assert model.stray_rate_ < 0.02


def test_bags_of_one_row_and_other_names_change_nothing(pages):
    X, _, S, bags = pages
    X, S, bags = X[:120], S[:120], bags[:120]
    model = CandidateClassifier(LOGISTIC, max_iter=2, random_state=0)
    plain = model.fit(X, S).label_confidence_
    alone = model.fit(X, S, bags=np.arange(120)).label_confidence_
    assert np.allclose(alone, plain, atol=1e-12)
    shared = model.fit(X, S, bags=bags).label_confidence_
    names = [f"page {b}" for b in bags]
    assert np.array_equal(model.fit(X, S, bags=names).label_confidence_, shared)


def test_bags_with_weights_votes_and_corrections(pages):
    X, y, S, bags = pages
    X, y, S, bags = X[:120], y[:120], S[:120], bags[:120]
    evidence = check_evidence(S)
    model = CandidateClassifier(LOGISTIC, max_iter=2, random_state=0)
    plain = model.fit(X, evidence, bags=bags).label_confidence_
    missing = model.fit(X, evidence.with_miss_rate(0.1), bags=bags).label_confidence_
    assert np.array_equal(evidence.with_miss_rate(0.1).listed, S)
    # Lists stay lists: cover is about them, though every label is possible now.
    assert np.corrcoef(plain[S], missing[S])[0, 1] > 0.8
    assert (missing[~S] > 0).any()
    fixed = evidence.with_known({0: y[0]})
    assert np.array_equal(fixed.listed, S)
    assert np.array_equal(fixed[5:].listed, S[5:])
    known = model.fit(X, fixed, bags=bags).label_confidence_
    assert known[0, y[0]] > 0.999
    rows, labels = np.nonzero(S)
    # One label of the list by each of several annotators.
    who = np.concatenate([np.arange(n) for n in S.sum(axis=1)])
    votes = from_votes(rows, who, labels)
    assert np.array_equal(votes.listed, S)
    F = model.fit(X, votes, bags=bags).label_confidence_
    assert np.allclose(F.sum(axis=1), 1)
    captions = from_votes(rows, ["ann"] * len(rows), labels)
    with pytest.raises(ValueError, match="gives a row several labels"):
        model.fit(X, captions, bags=bags)


def test_bags_are_routed(pages):
    X, _, S, bags = pages
    X, S, bags = X[:120], S[:120], bags[:120]
    model = CandidateClassifier(LOGISTIC, max_iter=1, random_state=0)
    Z = StandardScaler().fit_transform(X)
    expected = model.fit(Z, S, bags=bags).label_confidence_
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(bags=True)
        pipe = make_pipeline(StandardScaler(), model).fit(X, S, bags=bags)
        assert np.array_equal(pipe[-1].label_confidence_, expected)
        search = GridSearchCV(model, {"max_iter": [1]}, cv=2, scoring=lambda *_: 0.0)
        search.fit(Z, S, bags=bags)
        assert np.array_equal(search.best_estimator_.label_confidence_, expected)


def test_wrong_bags(pages):
    X, _, S, bags = pages
    with pytest.raises(
        ValueError, match="`bags` must hold 600 values, one per row; got 599"
    ):
        CandidateClassifier(LOGISTIC).fit(X, S, bags=bags[1:])
    with pytest.raises(TypeError, match="`bags` must be a column"):
        CandidateClassifier(LOGISTIC).fit(X, S, bags="page")


@pytest.mark.parametrize("rule", ["cover", "distinct", "match"])
def test_the_rule_and_the_stray_rate_are_parameters(pages, rule):
    X, _, S, bags = pages
    model = CandidateClassifier(
        LOGISTIC, max_iter=1, bag_rule=rule, stray_rate=0.1, random_state=0
    )
    alone = model.fit(X, S).label_confidence_
    with warnings.catch_warnings():
        # Some pages repeat a digit and have fewer labels than rows.
        warnings.filterwarnings("ignore", "The rule", UserWarning)
        expected = BagRule(bags, S, rule=rule, stray=0.1)(alone)
        shared = model.fit(X, S, bags=bags).label_confidence_
    assert np.array_equal(shared, expected)
    assert model.stray_rate_ == (None if rule == "distinct" else 0.1)


@pytest.mark.parametrize(
    "make", [CRISPClassifier, KernelCRISP, CRISP, CandidateClassifier]
)
def test_each_label_once_is_better_known_where_it_holds(make):
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.permutation(8)[:4] for _ in range(40)])
    bags = np.repeat(np.arange(40), 4)
    X = rng.normal(size=(8, 5))[y] + rng.normal(scale=1.3, size=(160, 5))
    lists = np.zeros((40, 8), dtype=bool)
    lists[bags, y] = True
    S = lists[bags]
    kwargs = {"estimator": LOGISTIC} if make is CandidateClassifier else {}
    right = {}
    for rule in ("cover", "match"):
        model = make(bag_rule=rule, stray_rate=0.0, random_state=0, **kwargs)
        F = np.asarray(model.fit(X, S, bags=bags).label_confidence_)
        right[rule] = (F.argmax(axis=1) == y).mean()
        assert model.stray_rate_ == 0
        if rule == "match":
            # Confidences in one label of a list add up to one over its rows.
            sums = np.add.reduceat(F, np.arange(0, 160, 4), axis=0)
            assert np.allclose(sums[lists], 1, atol=1e-6)
    assert right["match"] >= right["cover"]


def test_impossible_bags_are_named_once_by_their_rows():
    """The first fit on some rows leaves the warning to the fit on all."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, size=700)
    S, bags = make_bags(y, size=4, random_state=0)
    X = np.eye(4)[y] + rng.normal(scale=0.5, size=(700, 4))
    model = CRISPClassifier(bag_rule="match", max_iter=1, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, S, bags=bags)
    said = [str(w.message) for w in caught if "The rule" in str(w.message)]
    assert len(said) == 1
    row = int(re.search(r"bag of row (\d+)", said[0])[1])
    mates = bags == bags[row]
    assert mates.sum() > S[row].sum()
    assert mates.argmax() == row


def test_wrong_rules_and_rates(pages):
    X, _, S, bags = pages
    with pytest.raises(ValueError, match="bag_rule"):
        CandidateClassifier(LOGISTIC, bag_rule="once").fit(X, S, bags=bags)
    with pytest.raises(ValueError, match="stray_rate"):
        CRISPClassifier(stray_rate=1.5).fit(X, S, bags=bags)
