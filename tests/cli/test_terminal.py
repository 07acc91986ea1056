"""No command lets names in files reach the terminal as commands to it."""

import json
import re

import pytest

CONTROLS = "\0-\x08\x0b-\x1f\x7f-\x9f"
BAD = re.compile(f"[{CONTROLS}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
KNN = ["--method", "pl-knn"]
LABELS = ["\u202eevil\u2066", "a\x9b31mb", "\u061cx"]
COLUMN = "\x1b]0;x\x07"


@pytest.fixture
def hostile(tmp_path):
    path = tmp_path / "hostile.csv"
    rows = [f"name,{COLUMN},x,candidates"]
    for i in range(45):
        first, second = LABELS[i % 3], LABELS[(i + 1) % 3]
        label = first if i % 4 else f"{first}|{second}"
        rows.append(f"\u202er{i},{i % 3 + i / 99},{i % 7},{label}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("as_json", [[], ["--json"]])
@pytest.mark.parametrize(
    "words",
    [
        ["check", "{}", "--id", "name"],
        ["data", "info", "{}", "--ignore", "name"],
        ["train", "{}", "--id", "name", *KNN, "--save", "{}.model"],
        [
            "disambiguate",
            "{}",
            "--id",
            "name",
            "--method",
            "pl-knn",
            "--out",
            "{}.o.csv",
        ],
        ["reduce", "{}", "--id", "name", "--method", "cenda", "--out", "{}.o.csv"],
        ["select", "{}", "--id", "name", "--method", "saute", "--out", "{}.o.csv"],
    ],
    ids=lambda words: words[0] if words else "",
)
def test_nothing_for_the_terminal(words, as_json, hostile, run):
    code, out, err = run(*[word.format(hostile) for word in words], *as_json)
    assert code == 0, err
    assert not BAD.findall(out + err)
    if as_json:
        json.loads(out)


def test_json_reads_the_same(hostile, run):
    words = ("data", "info", hostile, "--ignore", "name", "--json")
    assert sorted(json.loads(run(*words)[1])["labels"]) == sorted(LABELS)
