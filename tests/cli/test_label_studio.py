"""``partlearn data convert`` from and to Label Studio."""

import json

import pytest

from partlearn.io import read_label_studio
from partlearn.tables import read_columns


def tasks():
    made = []
    words = ["meow purr", "woof bark", "meow hiss", "bark growl", "purr meow", "growl"]
    for i, text in enumerate(words * 3):
        right = "cat" if "meow" in text else "dog"
        answers = [right, right, "cat" if i % 4 == 0 else right]
        annotations = [
            {
                "completed_by": who,
                "result": [
                    {
                        "from_name": "kind",
                        "to_name": "text",
                        "type": "choices",
                        "value": {"choices": [label]},
                    }
                ],
            }
            for who, label in enumerate(answers)
        ]
        made.append({"id": 100 + i, "data": {"text": text}, "annotations": annotations})
    made[5]["annotations"] = []  # skipped
    return made


def test_there_and_back(run, tmp_path, table):
    source, middle = tmp_path / "tasks.json", tmp_path / "tasks.csv"
    labels, target = tmp_path / "labels.csv", tmp_path / "out.json"
    source.write_text(json.dumps(tasks()))
    code, _, error = run("data", "convert", source, middle)
    assert code == 0, error
    assert list(table(middle)[0]) == [
        "id", "text", "annotator 0", "annotator 1", "annotator 2",
    ]  # fmt: skip
    names = "annotator 0,annotator 1,annotator 2"
    words = ("--labels", names, "--id", "id", "--text", "text", "--method", "pl-knn")
    code, _, error = run("disambiguate", middle, *words, "--out", labels)
    assert code == 0, error
    code, _, error = run("data", "convert", labels, target, "--tasks", source)
    assert code == 0, error
    told = json.loads(target.read_text())
    assert [len(task.get("predictions", ())) for task in told].count(1) == 18
    assert read_label_studio(target).votes == read_label_studio(source).votes
    labels.write_text("id,label,confidence\n7,cat,0.5\n")
    code, _, error = run("data", "convert", labels, target, "--tasks", source)
    assert code == 2
    assert "no task '7'" in error


def test_one_of_two_questions(run, tmp_path, table):
    source, middle = tmp_path / "tasks.json", tmp_path / "tasks.csv"
    made = tasks()
    for task in made:
        for annotation in task["annotations"]:
            other = dict(annotation["result"][0], from_name="mood")
            annotation["result"].append(other | {"value": {"choices": ["glad"]}})
    source.write_text(json.dumps(made))
    code, _, error = run("data", "convert", source, middle)
    assert code == 2
    assert "kind, mood" in error
    assert "--question" in error
    code, _, error = run("data", "convert", source, middle, "--question", "kind")
    assert code == 0, error
    assert {row["annotator 1"] for row in table(middle)} == {"cat", "dog", ""}


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_nested_fields_are_json(run, tmp_path, suffix):
    source, out = tmp_path / "tasks.json", tmp_path / f"tasks.{suffix}"
    made = tasks()
    nested = {
        "size": {"h": 3, "name": "ünï"},
        "boxes": [[1, 2], [3, 4]],
        "pair": [1, 2],
    }
    for task in made:
        task["data"] |= nested
    source.write_text(json.dumps(made))
    code, _, error = run("data", "convert", source, out)
    assert code == 0, error
    columns = read_columns(out)
    for name, value in nested.items():
        assert json.loads(columns[name][0]) == value


def test_ids_of_tasks_are_not_those_of_their_data(run, tmp_path, table):
    source, out = tmp_path / "tasks.json", tmp_path / "tasks.csv"
    value = {"from_name": "k", "type": "choices", "value": {"choices": ["a"]}}
    annotation = {"completed_by": 1, "result": [value]}
    task = {"id": 1, "data": {"id": 7, "text": "x"}, "annotations": [annotation]}
    source.write_text(json.dumps([task]))
    assert run("data", "convert", source, out)[0] == 0
    (row,) = table(out)
    assert (row["id"], row["field id"]) == ("1", "7")
    record = {
        "id": "x",
        "fields": {"id": "q", "text": "a"},
        "responses": {"q": [{"value": "a", "user_id": "u"}]},
    }
    source.write_text(json.dumps([record]))
    assert run("data", "convert", source, out)[0] == 0
    (row,) = table(out)
    assert (row["id"], row["field id"]) == ("x", "q")


def test_tasks_of_one_id(run, tmp_path):
    source, labels = tmp_path / "tasks.json", tmp_path / "labels.csv"
    source.write_text(json.dumps([*tasks(), tasks()[0]]))
    labels.write_text("id,label,confidence\n100,cat,0.5\n")
    code, _, err = run(
        "data", "convert", labels, tmp_path / "o.json", "--tasks", source
    )
    assert code == 2
    assert "share an id" in err
