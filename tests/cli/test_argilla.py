"""``partlearn data convert`` from and to records of argilla."""

import json

import numpy as np
import pytest

from partlearn.candidates import aggregate_votes, from_annotators
from partlearn.io import (
    AmbiguousDataError,
    DataFormatError,
    read_argilla,
    read_tasks,
)

WORDS = ["meow purr", "woof bark", "meow hiss", "bark growl", "purr meow", "growl"] * 3


def records():
    made = []
    for i, text in enumerate(WORDS):
        right = "cat" if "meow" in text else "dog"
        answers = {"u-1": right, "u-2": right, "u-3": "cat" if i % 4 == 0 else right}
        given = [{"value": label, "user_id": who} for who, label in answers.items()]
        made.append(
            {
                "id": f"r{i}",
                "fields": {"text": text},
                "metadata": {"words": len(text.split()), "text": "no field"},
                "suggestions": {},
                "responses": {"kind": given},
                "vectors": {},
                "_server_id": None,
            }
        )
    made[5]["responses"] = {}  # nobody responded
    made[6]["responses"]["kind"][0]["status"] = "discarded"
    return made


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "records.json"
    path.write_text(json.dumps(records()))
    return path


def test_there_and_back(run, source, tmp_path, table):
    middle, labels = tmp_path / "records.csv", tmp_path / "labels.csv"
    target = tmp_path / "out.json"
    code, _, error = run("data", "convert", source, middle)
    assert code == 0, error
    lines = table(middle)
    assert list(lines[0]) == ["id", "text", "words", "u-1", "u-2", "u-3"]
    assert [line["text"] for line in lines] == WORDS  # fields come before metadata
    assert [line["words"] for line in lines[:6]] == ["2"] * 5 + ["1"]
    assert [line["u-1"] for line in lines[4:8]] == ["cat", "", "", "dog"]
    words = ("--labels", "u-1,u-2,u-3", "--id", "id", "--text", "text")
    code, _, error = run(
        "disambiguate", middle, *words, "--method", "pl-knn", "--out", labels
    )
    assert code == 0, error
    code, _, error = run("data", "convert", labels, target, "--tasks", source)
    assert code == 0, error
    told = json.loads(target.read_text())
    suggested = [record.pop("suggestions").get("kind") for record in told]
    assert suggested[0]["value"] == "cat"
    assert 0 < suggested[0]["score"] <= 1
    assert suggested[0]["agent"] == "partlearn"
    for record in (given := records()):
        record.pop("suggestions")
    assert told == given  # nothing else differs
    labels.write_text("id,label,confidence\nr99,cat,0.5\n")
    code, _, error = run("data", "convert", labels, target, "--tasks", source)
    assert code == 2
    assert "no task 'r99'" in error


def test_votes_of_the_records(source):
    read = read_argilla(source)
    assert (read.control, len(read.ids)) == ("kind", 18)
    given = np.arange(18) != 5  # the record without responses
    votes = from_annotators(
        {
            who: np.where(cells == "", None, cells)[given]
            for who, cells in read.annotator_columns().items()
        },
    )
    summary = aggregate_votes(votes)
    right = np.array(["cat" if "meow" in text else "dog" for text in WORDS])[given]
    assert summary.label.tolist() == right.tolist()


def test_several_labels_questions_and_faults(tmp_path):
    path = tmp_path / "records.json"

    def write(responses, **other):
        record = {"fields": {"text": "a"}, "responses": responses, **other}
        path.write_text(json.dumps([record]))

    write({"tags": [{"value": ["x", "y"], "user_id": "u"}]})
    read = read_argilla(path)
    assert read.annotator_columns()["u"].tolist() == ["x|y"]
    write({"tags": [{"value": "x"}]}, metadata=[1])
    assert list(read_argilla(path).columns) == ["text"]
    assert read.ids.tolist() == ["0"]
    write({"one": [{"value": "x"}], "two": [{"value": 3}]})
    with pytest.raises(AmbiguousDataError, match="several questions: one, two"):
        read_argilla(path)
    two = read_argilla(path, question="two").annotator_columns()
    assert two["unknown"].tolist() == ["3"]
    with pytest.raises(DataFormatError, match="no response with a label to 'three'"):
        read_argilla(path, question="three")
    write({"one": [{"value": "x", "status": "draft"}]})
    with pytest.raises(DataFormatError, match="no response with a label"):
        read_argilla(path)
    for text in ("[]", "{}", '[{"data": {}}]', '[{"fields": {}, "responses": [1]}]'):
        path.write_text(text)
        with pytest.raises(DataFormatError, match="not a list of records"):
            read_argilla(path)
        with pytest.raises(DataFormatError, match=r"not a list of tasks|no annotation"):
            read_tasks(path)
    path.write_text("{")
    with pytest.raises(DataFormatError, match="not a readable JSON file"):
        read_argilla(path)
