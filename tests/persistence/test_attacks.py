"""Model files made to do harm: refused with a sentence, before any side effect."""

import copy
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tools.fuzz.watch import nothing_but

from partlearn.classification import PLAGGD, PLKNN
from partlearn.io import DataError, Limits
from partlearn.persistence import load_model, save_model
from partlearn.persistence._trees import take_apart

X = np.random.default_rng(0).random((12, 3))
S = np.eye(3, dtype=bool)[np.arange(12) % 3] | np.eye(3, dtype=bool)[0]


def load(path, **options):
    """Load a model; fail on whatever reaches outside of the file."""
    with nothing_but(path):
        return load_model(path, **options)


def members(model=None):
    buffer = io.BytesIO()
    from partlearn.persistence._archive import write_archive
    from partlearn.persistence._encode import Encoder
    from partlearn.persistence._model import FORMAT, __version__, sklearn

    encoder = Encoder()
    model = PLKNN(2).fit(X, S) if model is None else model
    document = {
        "format": FORMAT,
        "versions": {"partlearn": __version__, "scikit-learn": sklearn.__version__},
        "feature_names": None,
        "target_names": None,
        "estimator": encoder.encode(model, "model", object),
    }
    write_archive(buffer, document, encoder.arrays)
    with zipfile.ZipFile(buffer) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


def refuse(path, message, **options):
    with pytest.raises(DataError, match=message) as caught:
        load(path, **options)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)
    assert caught.value.advice  # what to do next


def edited(path, edit, model=None):
    """Write a sound file with a changed document."""
    content = members(model)
    document = json.loads(content["model.json"])
    document = edit(document) or document
    content["model.json"] = json.dumps(document)
    return write(path, content)


def state(document):
    return document["estimator"]["object"]["state"]


def test_the_files_of_this_suite_are_sound_before_the_attack(tmp_path):
    path = edited(tmp_path / "m", lambda document: None)
    assert load(path).estimator.predict(X).shape == (12,)


SKOPS = {
    "reduce": {
        "__class__": "import_module",
        "__module__": "partlearn.datasets._read",
        "__loader__": "ReduceNode",
        "args": {
            "__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode",
            "content": [{"__loader__": "JsonNode", "content": '"os"'}],
        },
    },
    "constructor": {
        "__class__": "_attempt",
        "__module__": "partlearn.benchmark._engines",
        "__loader__": "ObjectNode",
        "content": {"__loader__": "JsonNode", "content": '"touch owned"'},
    },
    "method": {
        "__class__": "method", "__module__": "builtins", "__loader__": "MethodNode",
        "content": {"func": "system", "obj": {"__class__": "os"}},
    },
    "partial": {
        "__class__": "partial", "__module__": "functools", "__loader__": "PartialNode",
        "content": {"func": {"__class__": "system", "__module__": "os"}},
    },
    "operator": {
        "__class__": "methodcaller", "__module__": "operator",
        "__loader__": "OperatorFuncNode", "attrs": ["system"],
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", SKOPS)
def test_skops_files(kind, tmp_path):
    path = tmp_path / "evil.skops"
    schema = {**SKOPS[kind], "protocol": 2, "_skops_version": "0.16.0"}
    write(path, {"schema.json": json.dumps(schema)})
    refuse(path, "a skops file, which partlearn no longer reads because such files can")
    # The same nodes in a file of our layout, in place of the estimator and inside it.
    edited(path, lambda document: {**document, "estimator": SKOPS[kind]})
    refuse(path, "holds no estimator")
    edited(path, lambda document: state(document).update(n_neighbors=SKOPS[kind]))
    refuse(path, "unknown kind '__class__'")


def test_the_skops_file_of_the_issue_runs_nothing(tmp_path):
    """In a process of its own, as a user meets it."""
    path = tmp_path / "evil.skops"
    write(path, {"schema.json": json.dumps(SKOPS["constructor"])})
    code = (
        "import sys\n"
        "from partlearn.persistence import load_model\n"
        "try:\n    load_model(sys.argv[1])\n"
        "except ValueError as error:\n    print(error)\n"
        "print([m for m in sys.modules if m in ('partlearn.benchmark', 'skops')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert "skops file" in done.stdout
    assert done.stdout.endswith("[]\n")
    assert [p.name for p in tmp_path.iterdir()] == ["evil.skops"]


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "subprocess:Popen",
        "builtins:eval",
        "partlearn:import_module",
        "partlearn:_attempt",
        "partlearn.datasets._read:import_module",
        "partlearn:PLKNN.__init__",
        "partlearn:BaseEstimator",
        "partlearn:",
        "partlearn:plknn",
        "sklearn:FunctionTransformer",
        "sklearn:SVC",
        "sklearn:Pipeline ",
        "antigravity:antigravity",
        "PLKNN",
        "",
        None,
        3,
        ["partlearn:PLKNN"],
        {"object": {}},
    ],
)
def test_classes_that_are_not_on_the_list(name, tmp_path):
    def edit(document):
        document["estimator"]["object"]["class"] = name

    refuse(edited(tmp_path / "m", edit), "not among the classes that model files")


@pytest.mark.parametrize("name", ["Predictor", "__class__", "tuple", "Ridge", None])
def test_parts_belong_to_their_estimator(name, tmp_path):
    part = {"part": {"class": name, "state": {}}}
    path = edited(tmp_path / "m", lambda d: state(d).update(votes_=part))
    refuse(path, "PLKNN holds no part called")


def test_parts_have_their_fields(tmp_path):
    model = PLAGGD().fit(X, S)
    assert load(save_model(model, tmp_path / "m")).estimator.sigma_ > 0

    def edit(document):
        state(document)["_predictor"]["part"]["state"]["more"] = 1

    refuse(
        edited(tmp_path / "m", edit, model), "description of Predictor is incomplete"
    )


@pytest.mark.parametrize(
    "name",
    ["predict", "fit", "__class__", "__dict__", "_validate_params", "a b", "",
     "x" * 200, "_", "__x", "1a", "__sklearn_tags__", "_parameter_constraints",
     "größe"],
)  # fmt: skip
def test_attributes_that_would_change_the_class(name, tmp_path):
    path = edited(tmp_path / "m", lambda d: state(d).update({name: 1}))
    refuse(path, "cannot have an attribute")


def array(document):
    return state(document)["_X"]["array"]


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
        ({"tuple": 3}, "a tuple is no list"),
        ({"dict": {"a": 1}}, "no list of pairs"),
        ({"dict": [[1]]}, "something else than pairs"),
        ({"dict": [[[], 1]]}, "something else than pairs"),
        ({"dict": [[1, 2], [1, 3]]}, "same key twice"),
        ({"dict": [[{"float": "x"}, 3]]}, "something else than pairs"),
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
        ({"objects": {"shape": [1], "values": [[1]]}}, "holds something else"),
        ({"objects": {"shape": [1], "values": {"a": 1}}}, "does not fill its shape"),
        ({"array": 3}, "an array is incomplete"),
        ({"sparse": {}}, "a sparse matrix is incomplete"),
        ({"object": "partlearn:CENDA"}, "an estimator is incomplete"),
        ({"part": 1}, "a part is incomplete"),
        (
            {"object": {"class": "partlearn:CENDA", "state": {}}},
            "lacks parameters: .*search",
        ),
        ({"object": {"class": "partlearn:CENDA", "state": 3}}, "is no object"),
        (nest(200, lambda node: [node]), "nested too deeply"),
        (nest(200, lambda node: {"tuple": [node]}), "nested too deeply"),
    ],
)
def test_nodes_that_are_none(node, message, tmp_path):
    path = edited(tmp_path / "m", lambda d: state(d).update(votes_=node))
    refuse(path, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": [-12, -3]}, "a shape is no short list"),
        ({"shape": [12.0, 3]}, "a shape is no short list"),
        ({"shape": [True, 36]}, "a shape is no short list"),
        ({"shape": [1] * 70}, "a shape is no short list"),
        ({"shape": "36"}, "a shape is no short list"),
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
        ({"indices": np.full(36, 3, np.int32)}, "points outside of itself"),
        ({"indices": np.full(36, -1, np.int32)}, "points outside of itself"),
        ({"indptr": np.full(13, 36, np.int32)}, "points outside of itself"),
        (
            {"indptr": np.array([0, 9, 3, *[36] * 10], np.int32)},
            "points outside of itself",
        ),
        ({"indptr": np.arange(13, dtype=np.int32) * 9}, "points outside of itself"),
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


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"n_neighbors": -3}, "n_neighbors"),
        ({"n_neighbors": "many"}, "n_neighbors"),
        ({"n_neighbors": "a\n" * 99}, r"in the range \[1, inf\)\. The file"),
        ({"n_neighbors": {"object": None}}, "an estimator is incomplete"),
        ({"n_features_in_": -1}, "impossible number of features"),
        ({"n_features_in_": "3"}, "impossible number of features"),
    ],
)
def test_state_that_no_fit_leaves(attributes, message, tmp_path):
    refuse(edited(tmp_path / "m", lambda d: state(d).update(attributes)), message)


def test_classes_are_a_list(tmp_path):
    model = PLKNN(2).fit(X, S)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("partlearn.persistence._encode.check_sound", lambda model: None)
        model.classes_ = np.eye(3)
        path = edited(tmp_path / "m", lambda d: None, model)
    refuse(path, "classes of PLKNN are no list")


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ([["a", 7]], "skips columns"),
        ([["a", 0], ["b", 0]], "skips columns"),
        ([["a", -1]], "skips columns"),
        ([[1, 0]], "no dictionary"),
        ([["a", "b"]], "no dictionary"),
    ],
)
def test_vocabularies(vocabulary, message, tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer

    model = TfidfVectorizer().fit(["some words", "more words"])

    def edit(document):
        state(document)["vocabulary_"] = {"dict": vocabulary}

    refuse(edited(tmp_path / "m", edit, model), message)


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
        (children(0), "points outside of itself"),  # would walk for ever
        (children(10**9), "points outside of itself"),
        (children(-2), "points outside of itself"),
        (children(-1, "right_child"), "points outside of itself"),
        (children(2**40, "right_child"), "points outside of itself"),
        (children(3, "feature"), "points outside of itself"),
        (children(-1, "feature"), "points outside of itself"),
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
        (lambda p: p.update(n_outputs=2**40), "no sizes"),
        (lambda p: p.update(n_outputs=0, n_classes=np.array([], "i8")), "not fit its"),
        (lambda p: p.update(n_features=-1), "no sizes"),
        (lambda p: p.update(max_depth="deep"), "no sizes"),
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
        (lambda s: s.update(n_features_in_=2), "do not belong together"),
        (lambda s: s.pop("n_features_in_") and None, "do not belong together"),
        (lambda s: s.update(estimators_={"tuple": s["estimators_"]}), "together"),
        (lambda s: s["estimators_"].append(3), "do not belong together"),
        (lambda s: s["estimators_"].append(s["estimator"]), "do not belong together"),
        (
            lambda s: s["estimators_"][0]["object"]["state"].update(n_features_in_=2),
            "another number of features",
        ),
        (
            lambda s: s["estimator"]["object"]["state"].update(tree_=3),
            "holds no tree",
        ),
        (lambda s: s.update(n_jobs=10**6), "asks for 1000000 workers"),
    ],
)
def test_forests(edit, message, tmp_path):
    model = RandomForestClassifier(1, random_state=0, max_depth=2).fit(X, S[:, 1])
    refuse(edited(tmp_path / "m", lambda d: edit(state(d)), model), message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "partlearn-model/1"}, "layout of the model is 'partlearn-model/1'"),
        ({"format": ["x"]}, "layout of the model"),
        ({"more": 1}, "incomplete"),
        ({"versions": {"partlearn": "1"}}, "incomplete"),
        ({"versions": {"partlearn": 1, "scikit-learn": "1"}}, "incomplete"),
        ({"versions": {"partlearn": "0.1\x1b[2J", "scikit-learn": "1"}}, "incomplete"),
        ({"feature_names": [1]}, "feature_names is no list of text"),
        ({"target_names": "abc"}, "target_names is no list of text"),
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
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[]", "not a model saved by partlearn"),
        ("{}", "not a model saved by partlearn"),
        ('{"format": NaN}', "holds NaN"),
        ('{"format": 1, "format": 2}', "same key twice"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        (b"\xff\xfe", "no JSON"),
        (pickle.dumps(os.getcwd), "no JSON"),
        ('{"format": 1e999}', "layout"),
        ("1" * 10_000, "no JSON"),
    ],
)
def test_text_that_is_no_document(text, message, tmp_path):
    refuse(write(tmp_path / "m", {**members(), "model.json": text}), message)


@pytest.mark.parametrize(
    "name",
    ["../model.json", "/etc/passwd", "arrays/../../x", "arrays/00", "arrays/-1",
     "arrays/1e3", "x.pkl", "arrays/0.npy", "arrays/", "arrays/\u0661", "C:\\x"],
)  # fmt: skip
def test_names_of_members(name, tmp_path):
    refuse(write(tmp_path / "m", {**members(), name: b""}), "has no member")
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_members_that_nothing_uses(tmp_path):
    path = write(tmp_path / "m", {**members(), "arrays/77": b"12345678"})
    refuse(path, "arrays that the model does not use")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_the_same_name(tmp_path):
    path = write(tmp_path / "m", members())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model.json", "{}")
    refuse(path, "two members of the file have the same name")


def test_no_structure(tmp_path):
    refuse(write(tmp_path / "m", {"arrays/0": b""}), "no model.json")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no zip",
        pickle.dumps({"a": 1}),
        b"PK\x03\x04" + b"\0" * 100,
        b"PK\x05\x06",
    ],
)
def test_files_that_are_no_zip(content, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(content)
    refuse(path, "not a model saved by partlearn, or damaged")


def test_truncated(tmp_path):
    whole = write(tmp_path / "whole", members()).read_bytes()
    path = tmp_path / "m"
    for size in range(0, len(whole), 37):
        path.write_bytes(whole[:size])
        refuse(path, "not a model saved by partlearn, or damaged")


def test_a_real_bomb(tmp_path):
    content = members()
    document = json.loads(content["model.json"])
    state(document)["votes_"] = {
        "array": {"member": 50, "dtype": "uint8", "shape": [2**29], "order": "C"}
    }
    content["model.json"] = json.dumps(document)
    path = write(tmp_path / "m", content)
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("arrays/50", "w") as member,
    ):
        for _ in range(2**9):
            member.write(bytes(2**20))
    refuse(path, "a ratio above")
    refuse(path, "above the limit", limits=Limits(max_bytes=2**20))


def test_a_structure_that_would_not_fit_in_memory(tmp_path):
    content = {**members(), "model.json": "[" + "{}," * 70_000_000 + "{}]"}
    refuse(write(tmp_path / "m", content), "above the limit|a ratio above")


def patched_size(path, name, size):
    """Change the declared size of a member in both of its headers."""
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        old = archive.getinfo(name).file_size
    position = -1
    key = struct.pack("<L", old)
    while (position := data.find(key, position + 1)) != -1:
        data[position : position + 4] = struct.pack("<L", size)
    path.write_bytes(data)


@pytest.mark.parametrize("size", [0, 7, 2**31])
def test_declared_sizes_that_are_wrong(size, tmp_path):
    path = write(tmp_path / "m", members())
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda info: info.file_size).filename
        name = largest if largest != "model.json" else "arrays/0"
    patched_size(path, name, size)
    refuse(path, "does not fill its shape|cannot hold|damaged|declares")


def test_an_array_shorter_than_declared(tmp_path):
    content = members()
    number = json.loads(content["model.json"])
    name = f"arrays/{state(number)['_X']['array']['member']}"
    size = len(content[name])
    path = write(tmp_path / "m", {**content, name: content[name][:-8]})
    patched_size(path, name, size)
    refuse(path, "damaged|shorter than it declares")


def test_encrypted_members(tmp_path):
    path = write(tmp_path / "m", members())
    data = bytearray(path.read_bytes())
    position = data.find(b"PK\x01\x02")
    data[position + 8] |= 1
    path.write_bytes(data)
    refuse(path, "is encrypted")


def test_other_compressions(tmp_path):
    with zipfile.ZipFile(tmp_path / "m", "w", zipfile.ZIP_LZMA) as archive:
        for name, data in members().items():
            archive.writestr(name, data)
    refuse(tmp_path / "m", "compressed in a way that is not read")


def test_too_many_members(tmp_path, monkeypatch):
    monkeypatch.setattr("partlearn.persistence._archive.MAX_MEMBERS", 3)
    refuse(write(tmp_path / "m", members()), "at most 3 are read")


def test_only_files_are_opened(tmp_path):
    refuse(tmp_path, "not a file")
    os.mkfifo(tmp_path / "pipe")
    refuse(tmp_path / "pipe", "not a file")
