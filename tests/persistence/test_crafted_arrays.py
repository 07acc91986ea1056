"""Arrays, sparse matrices and trees that point outside of themselves."""

import copy
import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.persistence.crafted import S, X, edited, load, members, refuse, state, write

from partlearn.classification import PLKNN
from partlearn.persistence._sound import take_apart


def array(document):
    return state(document)["_X"]["array"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": [-12, -3]}, "a shape is not a short list"),
        ({"shape": [12.0, 3]}, "a shape is not a short list"),
        ({"shape": [True, 36]}, "a shape is not a short list"),
        ({"shape": [1] * 70}, "a shape is not a short list"),
        ({"shape": "36"}, "a shape is not a short list"),
        ({"shape": [2**62, 0]}, "larger than any array"),
        ({"shape": [2**40, 2**40]}, "larger than any array"),
        ({"shape": [2**31, 2**31]}, "does not fill its shape"),
        ({"shape": [36, 3]}, "does not fill its shape"),
        ({"shape": []}, "does not fill its shape"),
        ({"dtype": "float32"}, "does not fill its shape"),
        ({"dtype": "object"}, "unknown dtype 'object'"),
        ({"dtype": "|O"}, "unknown dtype"),
        ({"dtype": "str99999999"}, "unknown dtype"),
        ({"dtype": "str999999"}, "does not fill its shape"),
        ({"dtype": 8}, "unknown dtype"),
        ({"dtype": "str2"}, "holds no text"),
        ({"order": "K"}, "neither C nor F"),
        ({"member": 99}, "lacks the array 99"),
        ({"member": -1}, "lacks the array -1"),
        ({"member": "0"}, "lacks the array 0"),
        ({"member": True}, "lacks the array True"),
        ({"member": "../../etc/passwd"}, "lacks the array"),
        ({"more": 1}, "an array is incomplete"),
    ],
)
def test_arrays_that_are_none(change, message, tmp_path):
    refuse(edited(tmp_path / "m", lambda d: array(d).update(change)), message)


def test_an_array_in_two_ways(tmp_path):
    def edit(document):
        other = copy.deepcopy(state(document)["_X"])
        other["array"]["shape"] = [3, 12]
        state(document)["votes_"] = [other]

    refuse(edited(tmp_path / "m", edit), "described in two ways|does not use")


def test_truth_values_are_zero_and_one(tmp_path):
    content = members()
    number = json.loads(content["model.json"])
    name = f"arrays/{state(number)['_S']['array']['member']}"
    content[name] = b"\x07" * len(content[name])
    refuse(write(tmp_path / "m", content), "holds no truth values")


def sparse_file(path, **change):
    """A model whose rows are a sparse matrix, with one of its parts replaced."""
    from scipy import sparse

    model = PLKNN(2).fit(sparse.csr_array(X), S)
    for name, value in change.items():
        if isinstance(value, np.ndarray):
            setattr(model._X, name, value)
    shapes = {k: v for k, v in change.items() if not isinstance(v, np.ndarray)}
    return edited(path, lambda d: state(d)["_X"]["sparse"].update(shapes), model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, None),
        ({"indices": np.full(36, 3, np.int32)}, "out of range"),
        ({"indices": np.full(36, -1, np.int32)}, "out of range"),
        ({"indptr": np.full(13, 36, np.int32)}, "out of range"),
        (
            {"indptr": np.array([0, 9, 3, *[36] * 10], np.int32)},
            "out of range",
        ),
        ({"indptr": np.arange(13, dtype=np.int32) * 9}, "out of range"),
        ({"indptr": np.arange(10, dtype=np.int32)}, "do not fit"),
        ({"indices": np.zeros(36, np.uint8)}, "do not fit"),
        ({"data": np.zeros(35)}, "do not fit"),
        ({"data": np.zeros((36, 1))}, "not made of vectors"),
        ({"data": np.full(36, "a")}, "do not fit"),
        ({"shape": [12]}, "has rows and columns"),
        ({"shape": [12, 3, 1]}, "has rows and columns"),
        ({"shape": []}, "has rows and columns"),
        ({"shape": [2**60, 3]}, "larger than any array"),
        ({"class": "dok_array"}, "unknown class"),
        ({"class": 3}, "unknown class"),
    ],
)
def test_sparse_matrices(change, message, tmp_path):
    path = sparse_file(tmp_path / "m", **change)
    if message is None:
        assert load(path).estimator.predict(X).shape == (12,)
    else:
        refuse(path, message)


def forest_file(path, edit):
    """A forest of one tree whose arrays have been changed before saving."""
    from partlearn.persistence import _encode

    forest = RandomForestClassifier(1, random_state=0, max_depth=2).fit(X, S[:, 1])

    def changed(tree):
        parts = take_apart(tree)
        return edit(parts) or parts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_encode, "take_apart", changed)
        return edited(path, lambda document: None, forest)


def test_trees_are_sound_before_the_attack(tmp_path):
    path = forest_file(tmp_path / "m", lambda parts: None)
    assert load(path).estimator.predict(X).shape == (12,)


def children(value, name="left_child", inner=True):
    def edit(parts):
        column = parts["nodes"][name]
        column[(parts["nodes"]["left_child"] != -1) == inner] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (children(0), "out of range"),  # would walk for ever
        (children(10**9), "out of range"),
        (children(-2), "out of range"),
        (children(-1, "right_child"), "out of range"),
        (children(2**40, "right_child"), "out of range"),
        (children(3, "feature"), "out of range"),
        (children(-1, "feature"), "out of range"),
        (lambda p: p["nodes"].pop("feature").tolist() and None, "lack fields"),
        (lambda p: p["nodes"].update(more=np.zeros(3)), "lack fields"),
        (lambda p: p["nodes"].update(feature=np.zeros(3)), "do not fit"),
        (lambda p: p["nodes"].update(threshold=np.zeros(1)), "do not fit"),
        (lambda p: p["nodes"].update(left_child=3), "do not fit"),
        (lambda p: p.update(nodes=None), "lack fields"),
        (
            lambda p: p.update(nodes={k: v[:0] for k, v in p["nodes"].items()}),
            "not fit",
        ),
        (lambda p: p.update(values=np.zeros((1, 1, 2))), "do not fit its nodes"),
        (lambda p: p.update(values=p["values"].astype("f4")), "do not fit its nodes"),
        (lambda p: p.update(n_classes=np.array([-2])), "do not fit its nodes"),
        (lambda p: p.update(n_classes=np.array([10**9])), "do not fit its nodes"),
        (lambda p: p.update(n_classes=3), "do not fit its nodes"),
        (lambda p: p.update(n_outputs=2**40), "are invalid"),
        (lambda p: p.update(n_outputs=0, n_classes=np.array([], "i8")), "not fit its"),
        (lambda p: p.update(n_features=-1), "are invalid"),
        (lambda p: p.update(max_depth=0), "a tree is incomplete"),
        (children(2), "out of range"),  # a child of two parents
        (lambda p: p["values"].fill(np.nan), "do not fit its nodes"),
        (lambda p: p.update(n_features=100), "another number of features"),
        (lambda p: p.pop("values") is None, "a tree is incomplete"),
        (lambda p: [1, 2], "a tree is incomplete"),
    ],
)
def test_trees(edit, message, tmp_path):
    refuse(forest_file(tmp_path / "m", edit), message)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda s: s.update(n_features_in_=2), "estimators_.* is not sound"),
        (lambda s: s.pop("n_features_in_") and None, "do not belong together"),
        (lambda s: s.update(estimators_={"tuple": s["estimators_"]}), "must be list"),
        (lambda s: s["estimators_"].append(3), r"estimators_\[1\] is not sound"),
        (lambda s: s["estimators_"].append(s["estimator"]), "do not belong together"),
        (
            lambda s: s["estimators_"][0]["object"]["state"].update(n_features_in_=2),
            "another number of features",
        ),
        (
            lambda s: s["estimator"]["object"]["state"].update(tree_=3),
            "holds no tree",
        ),
        (lambda s: s.update(n_classes_=3), "fitted on other classes"),
        (lambda s: s.update(n_outputs_=2), "fitted on other classes"),
    ],
)
def test_forests(edit, message, tmp_path):
    model = RandomForestClassifier(1, random_state=0, max_depth=2).fit(X, S[:, 1])
    refuse(edited(tmp_path / "m", lambda d: edit(state(d)), model), message)


def test_a_file_does_not_say_how_many_workers_to_start(tmp_path):
    model = RandomForestClassifier(1, n_jobs=7, random_state=0).fit(X, S[:, 1])
    loaded = load(edited(tmp_path / "m", lambda d: None, PLKNN(2, n_jobs=2).fit(X, S)))
    assert loaded.estimator.n_jobs == 1
    assert load(edited(tmp_path / "m", lambda d: None, model)).estimator.n_jobs == 1
