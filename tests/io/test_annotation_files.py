"""Files of Label Studio and argilla that hold something else than they should."""

import json
import os

import pytest

from partlearn.io import (
    DataFormatError,
    read_argilla,
    read_label_studio,
    write_label_studio,
)


def choice(who, value):
    result = {"from_name": "k", "to_name": "t", "type": "choices", "value": value}
    return {"completed_by": who, "result": [result]}


def task(*annotations, **more):
    return {"id": 1, "data": {"text": "x"}, "annotations": [*annotations], **more}


GOOD = task(choice(1, {"choices": ["a"]}), choice(2, {"choices": ["b"]}))
TASKS = [
    (task(5), "annotations"),
    (task() | {"annotations": 7}, "annotations"),
    (task() | {"annotations": "abc"}, "annotations"),
    (task() | {"annotations": {"a": 1}}, "annotations"),
    (task({"result": [3]}), "result"),
    (task({"result": 3}), "result"),
    (task({"result": [{"type": "choices"}]}), "choices"),
    (task(choice(1, [1])), "choices"),
    (task(choice(1, {"choices": "abc"})), "choices"),
    (task(choice(1, {"choices": 4})), "choices"),
    (task(choice(1, {"choices": [{"a": 1}]})), "choices"),
    (task(choice(1, {"choices": [["a"]]})), "choices"),
    (GOOD | {"id": [1, 2]}, "id"),
    (GOOD | {"id": None}, "id"),
    (GOOD | {"predictions": "abc"}, "predictions"),
]


@pytest.mark.parametrize(("wrong", "named"), TASKS)
def test_tasks_that_are_none(wrong, named, tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([GOOD, wrong]))
    with pytest.raises(DataFormatError, match=rf"tasks.json, task 1: .*\b{named}\b"):
        read_label_studio(path)


RECORD = {
    "id": "x",
    "fields": {"text": "a"},
    "responses": {"q": [{"value": "a", "user_id": "u"}, {"value": "b"}]},
}
TEXTS = [
    ("[" * 100_000, "recursion"),
    ('[{"data": {"a": ' + "9" * 5000 + "}}]", "digits"),
    (json.dumps([GOOD | {"data": {"text": "\ud800"}}, RECORD]), "half of a surrogate"),
]


@pytest.mark.parametrize("read", [read_label_studio, read_argilla])
@pytest.mark.parametrize(("text", "said"), TEXTS)
def test_text_that_no_file_should_hold(text, said, read, tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(text)
    with pytest.raises(DataFormatError, match=said):
        read(path)


def test_a_pair_of_halves_is_a_character(tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text("\ufeff" + json.dumps([GOOD | {"data": {"text": "\N{CAT FACE}"}}]))
    assert "\\ud83d" in path.read_text()
    assert read_label_studio(path).columns["text"].tolist() == ["\N{CAT FACE}"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize("read", [read_label_studio, read_argilla])
def test_pipes_are_not_waited_for(read, tmp_path):
    path = tmp_path / "tasks.json"
    os.mkfifo(path)
    with pytest.raises(DataFormatError, match="a pipe or a device"):
        read(path)


@pytest.mark.parametrize("suggestions", [5, "abc", ["a"]])
def test_suggestions_that_are_none(suggestions, tmp_path):
    path = tmp_path / "records.json"
    path.write_text(json.dumps([RECORD | {"suggestions": suggestions}]))
    with pytest.raises(DataFormatError, match="not a list of records"):
        read_argilla(path)


def test_what_is_empty_is_filled(tmp_path):
    path = tmp_path / "records.json"
    path.write_text(json.dumps([RECORD | {"suggestions": None}]))
    read = read_argilla(path)
    (told,) = read.with_predictions(["a"], [0.5])
    assert told["suggestions"]["q"]["value"] == "a"
    assert read.tasks[0]["suggestions"] is None
    path.write_text(json.dumps([GOOD | {"predictions": None}]))
    tasks = read_label_studio(path)
    (told,) = tasks.with_predictions(["a"], [0.5])
    assert len(told["predictions"]) == 1
    assert tasks.tasks[0]["predictions"] is None


def test_deep_data_are_copied_or_refused(tmp_path):
    deep = []
    for _ in range(800):
        deep = [deep]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([GOOD | {"data": {"text": deep}}]))
    tasks = read_label_studio(path).with_predictions(["a"], [0.5])
    for _ in range(200):
        deep = [deep]
    tasks[0]["data"]["text"] = deep
    with pytest.raises(DataFormatError, match="nested too deeply"):
        write_label_studio(tasks, path)


def test_a_label_with_the_separator_of_labels(tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([task(choice(1, {"choices": ["a|b"]}))]))
    tasks = read_label_studio(path)
    assert tasks.votes.classes.tolist() == ["a|b"]
    with pytest.raises(DataFormatError, match=r"'a\|b' holds \|"):
        tasks.annotator_columns()
    response = {"value": ["a|b", "c"], "user_id": "u"}
    path.write_text(json.dumps([RECORD | {"responses": {"q": [response]}}]))
    with pytest.raises(DataFormatError, match=r"'a\|b' holds \|"):
        read_argilla(path).annotator_columns()
