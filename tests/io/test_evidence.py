"""Weights and votes survive a file, or are refused with a reason."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from partlearn.candidates import (
    Votes,
    aggregate_votes,
    check_evidence,
    from_votes,
    from_weights,
)
from partlearn.classification import CRISPClassifier
from partlearn.io import DataFormatError, read, write
from partlearn.io._npz import evidence_arrays, read_evidence

X = np.arange(8.0).reshape(4, 2)
WEIGHTS = from_weights(
    [
        {"cat": 0.7, "dog": 0.3},
        {"dog": 1e-05, "eel": 3},
        {"cat": 1 / 3, "eel": 1},
        {"dog": 1},
    ]
)
VOTES = from_votes(
    [0, 0, 1, 2, 2, 2, 3],
    ["ann", "bob", "ann", "ann", "bob", "bob", "cem"],
    ["cat", "dog", "dog", "eel", "eel", "cat", "dog"],
)


def bunch(labels, **more):
    return {"data": X, "evidence": labels, "truth": np.array([0, 1, 2, 1])} | more


@pytest.mark.parametrize("name", ["a.npz", "a.csv", "a.tsv"])
def test_weights(tmp_path, name):
    again = read(write(bunch(WEIGHTS), tmp_path / name))
    assert again.target_names == ["cat", "dog", "eel"]
    # Text holds shares: their ratios are those of the weights up to rounding.
    digits = 0 if name == "a.npz" else 1e-14
    assert_allclose(again.evidence.weights, WEIGHTS.weights, rtol=digits)
    assert_array_equal(again.candidates, WEIGHTS.candidates)
    assert_array_equal(again.truth, [0, 1, 2, 1])
    third = read(write(again, tmp_path / f"b{name[1:]}"))
    assert_allclose(third.evidence.weights, WEIGHTS.weights, rtol=digits)


def test_known_labels_of_votes(tmp_path):
    told = VOTES.with_known({0: "dog", 2: "cat"})
    assert read(write(bunch(told), tmp_path / "a.npz")).evidence == told
    assert aggregate_votes(told).label[[0, 2]].tolist() == ["dog", "cat"]
    fine = evidence_arrays(told)
    for wrong in (np.array([0]), np.array([9, -1, -1, -1]), np.full(4, 0.5)):
        with pytest.raises(DataFormatError, match="known label"):
            read_evidence({**fine, "known": wrong}, 4, ["cat", "dog", "eel"])


def test_votes(tmp_path):
    again = read(write(bunch(VOTES), tmp_path / "a.npz"))
    votes = again.evidence
    assert isinstance(votes, Votes)
    assert_array_equal(votes.annotators, ["ann", "bob", "cem"])
    for name in ("row", "annotator", "label"):
        assert_array_equal(getattr(votes.table, name), getattr(VOTES.table, name))
    assert_allclose(
        aggregate_votes(votes).confidence, aggregate_votes(VOTES).confidence
    )


def test_a_fit_is_the_same(tmp_path):
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=40)
    rows = np.eye(3)[y] * 3 + rng.normal(size=(40, 3))
    labels = from_weights(np.eye(3)[y] + rng.uniform(size=(40, 3)))
    file = write({"data": rows, "evidence": labels}, tmp_path / "a.npz")
    here, again = CRISPClassifier().fit(rows, labels), read(file)
    there = CRISPClassifier().fit(again.data, again.evidence)
    assert_array_equal(here.label_confidence_, there.label_confidence_)


def full(rows):
    """Whether no row and no column is empty."""
    return bool(np.any(rows, axis=0).all() and np.any(rows, axis=1).all())


some_weights = st.one_of(st.just(0.0), st.floats(1e-9, 1e6))
some_rows = st.lists(st.tuples(*[some_weights] * 3), min_size=1, max_size=6)


@settings(max_examples=30, deadline=None)
@given(some_rows.filter(full))
def test_any_weights(tmp_path_factory, rows):
    labels = from_weights(rows, classes=["a", "b", "c"])
    data = {"data": np.ones((len(rows), 1)), "evidence": labels}
    folder = tmp_path_factory.mktemp("w")
    for name in ("a.npz", "a.csv"):
        again = read(write(data, folder / name))
        found = again.get("evidence") or check_evidence(again.candidates)
        assert_allclose(found.weights, labels.weights, rtol=1e-13)


ODD = {
    name: from_weights([[1, 2], [3, 4]] * 2, classes=[name, "c"])
    for name in ("a|b", "a:1")
}


@pytest.mark.parametrize(
    ("labels", "name", "message"),
    [
        (WEIGHTS, "a.parquet", "parquet cannot hold weights"),
        (WEIGHTS, "a.mat", "mat cannot hold weights"),
        (VOTES, "a.csv", "csv cannot hold votes"),
        (
            from_weights([[1, 2], [3, 4]] * 2, classes=["a|b", "c"]),
            "a.csv",
            "these names",
        ),
        (
            from_weights([[1, 2], [3, 4]] * 2, classes=["a:1", "c"]),
            "a.csv",
            "these names",
        ),
        (from_weights([[1, 2]], classes=["a", "c"]), "a.npz", "evidence has 1"),
        ("cat", "a.npz", "must be an Evidence"),
    ],
)
def test_refused(tmp_path, labels, name, message):
    given = bunch(labels, truth=None)
    if isinstance(labels, str):
        given["candidates"] = np.ones((4, 2), bool)
        given |= {"target_names": ["a", "b"], "task": "pll"}
    if len(labels) == 1:
        given |= {"candidates": np.ones((4, 2), bool), "target_names": ["a", "c"]}
        given["task"] = "pll"
    with pytest.raises(DataFormatError, match=message):
        write(given, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_other_classes(tmp_path):
    given = bunch(WEIGHTS, candidates=WEIGHTS.candidates, task="pll")
    with pytest.raises(DataFormatError, match="name different classes"):
        write(given | {"target_names": ["x", "y", "z"]}, tmp_path / "a.npz")


def test_sets_stay_sets(tmp_path):
    labels = check_evidence([{"a"}, {"a", "b"}, {"b"}, {"a"}])
    again = read(write({"data": X, "evidence": labels}, tmp_path / "a.parquet"))
    assert "evidence" not in again
    assert_array_equal(again.candidates, labels.candidates)


@pytest.mark.parametrize(
    "change",
    [
        {"weights": np.ones((3, 3))},
        {"weights": -np.ones((4, 3))},
        {"weights": np.full((4, 3), np.nan)},
        {"votes": np.ones((2, 2), int), "annotators": np.array(["a"])},
        {"votes": np.array([[0, 0, 9]]), "annotators": np.array(["a"])},
        {"votes": np.array([[0, 3, 0]]), "annotators": np.array(["a"])},
        {"votes": np.array([[0.5, 0, 0]]), "annotators": np.array(["a"])},
        {"votes": np.array([[0, 0, 0]])},
    ],
)
def test_damaged(tmp_path, change):
    path = write(bunch(WEIGHTS), tmp_path / "a.npz")
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files if key != "weights"}
    np.savez(path, **(arrays | change))
    with pytest.raises(DataFormatError, match="the evidence is damaged"):
        read(path)
