"""Label Studio: choices, several annotators, skipped tasks, there and back."""

import json

import numpy as np
import pytest

from partlearn.io import DataError, read_label_studio, write_label_studio


def annotation(number, who, *choices, name="kind", **more):
    value = {"choices": list(choices)}
    result = {
        "id": f"r{number}",
        "from_name": name,
        "to_name": "text",
        "type": "choices",
        "value": value,
        "origin": "manual",
    }
    results = [result] if choices else []
    return {"id": number, "completed_by": who, "result": results, **more}


TASKS = [
    {
        "id": 41,
        "data": {"text": "meow — ünïcode", "length": 4},
        "annotations": [
            annotation(1, {"id": 1, "email": "ann@a.org"}, "cat", lead_time=3.2),
            annotation(2, 2, "cat", "dog"),
        ],
        "predictions": [],
        "meta": {"source": "zoo"},
    },
    {
        "id": 42,
        "data": {"text": "woof", "length": 4},
        "annotations": [annotation(3, 2, "dog"), annotation(4, 3, "dog")],
    },
    {
        "id": 43,
        "data": {"text": "?"},
        "annotations": [annotation(5, 2, was_cancelled=True)],
    },
    {"id": 44, "data": {"text": "moo", "length": 3}, "annotations": []},
    {
        "id": 45,
        "data": {"text": "woof woof"},
        "annotations": [annotation(6, 3, "dog"), annotation(7, 2, "cat")],
    },
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(TASKS, ensure_ascii=False), encoding="utf-8")
    return path


def test_what_is_read(path):
    read = read_label_studio(path)
    assert read.ids.tolist() == [41, 42, 43, 44, 45]
    assert read.skipped.tolist() == [False, False, True, True, False]
    assert read.votes.rows.tolist() == [0, 1, 4]
    assert read.votes.annotators.tolist() == ["2", "3", "ann@a.org"]
    assert read.votes.classes.tolist() == ["cat", "dog"]
    assert read.votes.table.counts.tolist() == [[2, 1], [0, 2], [1, 1]]
    assert read.columns["length"].tolist() == [4, 4, None, 3, None]
    assert read.annotator_columns()["2"].tolist() == ["cat|dog", "dog", "", "", "cat"]


def test_round_trip_loses_nothing(path, tmp_path):
    read = read_label_studio(path)
    again = tmp_path / "again.json"
    write_label_studio(read.tasks, again)
    assert json.loads(again.read_text(encoding="utf-8")) == TASKS
    told = read.with_predictions(["cat", "dog", "dog"], [0.9, 1.0, 0.6])
    write_label_studio(told, again)
    back = read_label_studio(again)
    assert back.votes == read.votes
    added = [task.pop("predictions", []) for task in json.loads(again.read_text())]
    assert [len(p) for p in added] == [1, 1, 0, 0, 1]
    assert added[0][0]["result"][0]["value"] == {"choices": ["cat"]}
    assert added[0][0]["score"] == 0.9
    for task, other in zip(told, TASKS, strict=True):
        assert {k: v for k, v in task.items() if k != "predictions"} == {
            k: v for k, v in other.items() if k != "predictions"
        }
    with pytest.raises(ValueError, match="3 rows, 1 labels"):
        read.with_predictions(["cat"], [1.0])


def test_several_questions(path):
    tasks = [*TASKS, {"id": 46, "data": {"text": "x"}, "annotations": []}]
    tasks[-1]["annotations"] = [annotation(9, 1, "good", name="mood")]
    path.write_text(json.dumps(tasks))
    with pytest.raises(DataError, match="several questions: kind, mood"):
        read_label_studio(path)
    assert read_label_studio(path, control="mood").votes.classes.tolist() == ["good"]
    with pytest.raises(DataError, match="no annotation with choices"):
        read_label_studio(path, control="none")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a readable JSON file"),
        ("[" * 100_000, "not a readable JSON file"),
        ("{}", "not a list of tasks"),
        ("[]", "not a list of tasks"),
        ('[{"id": 1}]', "not a list of tasks"),
        ('[{"id": 1, "data": {}}]', "no annotation with choices"),
    ],
)
def test_other_files(tmp_path, text, message):
    path = tmp_path / "tasks.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_label_studio(path)


def test_results_of_other_kinds_and_nobody(path):
    tasks = json.loads(json.dumps(TASKS[:2]))
    tasks[0]["annotations"][0]["result"].append({"type": "textarea", "value": {}})
    del tasks[1]["annotations"][0]["completed_by"]
    path.write_text(json.dumps(tasks))
    votes = read_label_studio(path).votes
    assert "unknown" in votes.annotators
    assert np.array_equal(votes.table.counts, [[2, 1], [0, 2]])
