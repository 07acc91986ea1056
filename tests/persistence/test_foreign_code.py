"""Model files that name code to run: refused before any side effect."""

import json
import subprocess
import sys

import pytest
from tests.persistence.crafted import S, X, edited, load, refuse, state, write

from partlearn.classification import PLAGGD
from partlearn.persistence import save_model


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
    path = tmp_path / "evil.partlearn"
    schema = {**SKOPS[kind], "protocol": 2, "_skops_version": "0.16.0"}
    write(path, {"schema.json": json.dumps(schema)})
    refuse(path, "not a model saved by partlearn")
    # The same nodes in a file of our layout, in place of the estimator and inside it.
    edited(path, lambda document: {**document, "estimator": SKOPS[kind]})
    refuse(path, "holds no estimator")
    edited(path, lambda document: state(document).update(n_neighbors=SKOPS[kind]))
    refuse(path, "unknown kind '__class__'")


def test_a_skops_file_runs_nothing(tmp_path):
    """In a process of its own, as a user meets it."""
    path = tmp_path / "evil.partlearn"
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
    assert "not a model saved by partlearn" in done.stdout
    assert done.stdout.endswith("[]\n")
    assert [p.name for p in tmp_path.iterdir()] == ["evil.partlearn"]


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
        "sklearn:FunctionSampler",
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
