"""Descriptions of models that no fit leaves: refused with a sentence."""

import os
import pickle

import numpy as np
import pytest
from tests.persistence.crafted import S, X, edited, load, members, refuse, state, write

from partlearn.classification import PLKNN


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "partlearn-model/1"}, "layout of the model is 'partlearn-model/1'"),
        ({"format": ["x"]}, "layout of the model"),
        ({"more": 1}, "incomplete"),
        ({"versions": {"partlearn": "1"}}, "incomplete"),
        ({"versions": {"partlearn": 1, "scikit-learn": "1"}}, "incomplete"),
        ({"versions": {"partlearn": "0.1\x1b[2J", "scikit-learn": "1"}}, "incomplete"),
        ({"feature_names": [1]}, "feature_names is not a list of strings"),
        ({"target_names": "abc"}, "target_names is not a list of strings"),
        ({"estimator": None}, "holds no estimator"),
        ({"estimator": {"tuple": []}}, "holds no estimator"),
        (
            {"versions": {"partlearn": "9.9", "scikit-learn": "1"}},
            r"saved with partlearn 9.9, and this is .* load it with partlearn 9.9",
        ),
    ],
)
def test_documents(change, message, tmp_path):
    refuse(edited(tmp_path / "m", lambda d: d.update(change)), message)


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        (
            "0.0.9",
            "saved with partlearn 0.0.9, and this is .* Train it again with this",
        ),
        ("0.1.99", "lacks .*saved with partlearn 0.1.99, .*: train it again with this"),
        (None, "lacks parameters: weights.*older than that release. Train the model"),
    ],
)
def test_a_model_from_before_a_parameter(saved, message, tmp_path):
    """The sentence names who wrote the file, who reads it, and what to do."""

    def edit(document):
        del state(document)["weights"]
        document["versions"]["partlearn"] = saved or document["versions"]["partlearn"]

    refuse(edited(tmp_path / "m", edit), message)


def test_the_version_of_sklearn_counts_where_its_classes_are_inside(tmp_path):
    from sklearn.preprocessing import StandardScaler

    def edit(document):
        document["versions"]["scikit-learn"] = "0.1"

    assert load(edited(tmp_path / "m", edit)).estimator
    path = edited(tmp_path / "m", edit, StandardScaler().fit(X))
    refuse(path, "saved with scikit-learn 0.1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "not a model saved by partlearn"),
        ("{}", "not a model saved by partlearn"),
        ('{"format": NaN}', "holds NaN"),
        ('{"format": 1, "format": 2}', "same key twice"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        (b"\xff\xfe", "not JSON"),
        (pickle.dumps(os.getcwd), "not JSON"),
        ('{"format": 1e999}', "layout"),
        ("1" * 10_000, "not JSON"),
    ],
)
def test_text_that_is_no_document(text, message, tmp_path):
    refuse(write(tmp_path / "m", {**members(), "model.json": text}), message)


def nest(depth, wrap):
    node = 0
    for _ in range(depth):
        node = wrap(node)
    return node


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"reduce": 1}, "unknown kind"),
        ({"object": 1, "state": 2}, "unknown kind"),
        ({"members": 1}, "unknown kind"),
        ({"keys": 1}, "unknown kind"),
        ({}, "unknown kind"),
        ({"float": "1"}, "neither finite"),
        ({"float": []}, "neither finite"),
        ({"tuple": 3}, "a tuple is not a list"),
        ({"dict": {"a": 1}}, "not a list of pairs"),
        ({"dict": [[1]]}, "does not hold pairs"),
        ({"dict": [[[], 1]]}, "does not hold pairs"),
        ({"dict": [[1, 2], [1, 3]]}, "same key twice"),
        ({"dict": [[{"float": "x"}, 3]]}, "does not hold pairs"),
        ({"slice": [1, 2]}, "no three bounds"),
        ({"slice": [1, 2, {}]}, "no three bounds"),
        ({"dtype": "object"}, "unknown dtype 'object'"),
        ({"dtype": "O"}, "unknown dtype 'O'"),
        ({"dtype": ["i4"]}, "unknown dtype"),
        ({"type": "os.system"}, "unknown type"),
        ({"type": "object"}, "unknown type"),
        ({"type": None}, "unknown type"),
        ({"scalar": 3}, "a number is incomplete"),
        ({"scalar": {"type": "numpy.int8", "value": 300}}, "out of its range"),
        ({"scalar": {"type": "numpy.int8", "value": "a"}}, "no such value"),
        ({"scalar": {"type": "numpy.bool", "value": 1}}, "no such value"),
        ({"scalar": {"type": "numpy.float64", "value": [1]}}, "no such value"),
        ({"scalar": {"type": "eval", "value": 1}}, "unknown type"),
        ({"objects": {"shape": [2], "values": [1]}}, "does not fill its shape"),
        ({"objects": {"shape": [1], "values": [[1]]}}, "holds other objects"),
        ({"objects": {"shape": [1], "values": {"a": 1}}}, "does not fill its shape"),
        ({"array": 3}, "an array is incomplete"),
        ({"sparse": {}}, "a sparse matrix is incomplete"),
        ({"object": "partlearn:CENDA"}, "an estimator is incomplete"),
        ({"part": 1}, "a part is incomplete"),
        (
            {"object": {"class": "partlearn:CENDA", "state": {}}},
            "lacks parameters: .*search",
        ),
        ({"object": {"class": "partlearn:CENDA", "state": 3}}, "is not an object"),
        (nest(200, lambda node: [node]), "nested too deeply"),
        (nest(200, lambda node: {"tuple": [node]}), "nested too deeply"),
    ],
)
def test_nodes_that_are_none(node, message, tmp_path):
    path = edited(tmp_path / "m", lambda d: state(d).update(votes_=node))
    refuse(path, message)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"n_neighbors": -3}, "n_neighbors"),
        ({"n_neighbors": "many"}, "n_neighbors"),
        ({"n_neighbors": "a\n" * 99}, r"in the range \[1, inf\)\. The file"),
        ({"n_neighbors": {"object": None}}, "an estimator is incomplete"),
        ({"n_features_in_": -1}, "is not sound"),
        ({"n_features_in_": "3"}, "n_features_in_ is not sound"),
    ],
)
def test_state_that_no_fit_leaves(attributes, message, tmp_path):
    refuse(edited(tmp_path / "m", lambda d: state(d).update(attributes)), message)


def test_classes_are_a_list(tmp_path):
    model = PLKNN(2).fit(X, S)
    model.classes_ = np.eye(3)
    path = edited(tmp_path / "m", lambda d: None, model)
    refuse(path, "PLKNN.classes_ is not sound")


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ([["a", 7]], "skips columns"),
        ([["a", 0], ["b", 0]], "skips columns"),
        ([["a", -1]], "skips columns"),
        ([[1, 0]], "holds no words"),
        ([["a", "b"]], "is not sound"),
    ],
)
def test_vocabularies(vocabulary, message, tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer

    model = TfidfVectorizer().fit(["some words", "more words"])

    def edit(document):
        state(document)["vocabulary_"] = {"dict": vocabulary}

    refuse(edited(tmp_path / "m", edit, model), message)


def test_keys_that_share_a_hash(tmp_path):
    """To compare each with all others took minutes."""
    step = 2**61 - 1  # Python takes integers modulo this number

    def edit(document):
        pairs = [[i * step, 0] for i in range(1, 60_000)]
        state(document)["weights"] = {"dict": pairs}

    refuse(edited(tmp_path / "m", edit), "large numbers are looked up")


def test_shapes_that_no_array_has(tmp_path):
    def edit(document):
        array = state(document)["_X"]["array"]
        array["shape"] = [0, 2**32, 2**32, 2**32]

    refuse(edited(tmp_path / "m", edit), "does not fill its shape|larger than any")

    def empty(document):
        text = {"member": 0, "dtype": "str0", "shape": [3], "order": "C"}
        state(document)["weights"] = {"array": text}

    refuse(edited(tmp_path / "m", empty), "unknown dtype")
