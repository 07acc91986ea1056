"""Thirty files as people have them: each is parsed or stopped, none silently wrong."""

import numpy as np
import pytest

from partlearn.candidates import Votes
from partlearn.io import DataError, read

A, B, C = {"cat"}, {"cat", "dog"}, {"dog"}

# name, text of the file, arguments of read, sets of the rows
PARSED = [
    ("bar", "x,candidates\n1,cat\n2,cat|dog\n3,dog\n", {}, [A, B, C]),
    ("semicolon", "x,candidates\n1,cat\n2,cat;dog\n3,dog\n", {}, [A, B, C]),
    ("comma", 'x,candidates\n1,cat\n2,"cat,dog"\n3,dog\n', {}, [A, B, C]),
    ("spaces", "x,candidates\n1, cat \n2,cat | dog\n3,dog\n", {}, [A, B, C]),
    ("tabs", "x\tcandidates\n1\tcat\n2\tcat,dog\n3\tdog\n", {}, [A, B, C]),
    ("excel", "x;candidates\n1;cat\n2;cat|dog\n3;dog\n", {}, [A, B, C]),
    ("slash", "x,candidates\n1,cat\n2,cat/dog\n3,dog\n", {"sep": "/"}, [A, B, C]),
    (
        "json",
        'x,candidates\n1,"[""cat""]"\n2,"[""cat"", ""dog""]"\n3,"[""dog""]"\n',
        {},
        [A, B, C],
    ),
    (
        "python",
        "x,candidates\n1,\"['cat']\"\n2,\"['cat', 'dog']\"\n3,['dog']\n",
        {},
        [A, B, C],
    ),
    ("python sets", "x,candidates\n1,{'cat'}\n2,\"{'cat', 'dog'}\"\n3,{'dog'}\n", {},
     [A, B, C]),
    ("tuples", "x,candidates\n1,\"('cat',)\"\n2,\"('cat', 'dog')\"\n3,\"('dog',)\"\n",
     {}, [A, B, C]),
    (
        "lists of numbers",
        'x,candidates\n1,[1]\n2,"[1, 2]"\n3,[2]\n',
        {},
        [{"1"}, {"1", "2"}, {"2"}],
    ),
    (
        "labels of two words",
        'x,candidates\n1,"[""bug""]"\n2,"[""bug"", ""feature request""]"\n',
        {},
        [{"bug"}, {"bug", "feature request"}],
    ),
    ("some lists", 'x,candidates\n1,cat\n2,"[""cat"", ""dog""]"\n3,dog\n', {},
     [A, B, C]),
    ("weights", "x,candidates\n1,cat:1.0\n2,cat:0.7|dog:0.3\n3,dog:1\n", {}, [A, B, C]),
    ("percent", "x,candidates\n1,cat:100%\n2,cat:70%|dog:30%\n3,dog:100%\n", {},
     [A, B, C]),
    (
        "mappings",
        'x,candidates\n1,"{""cat"": 1}"\n2,"{""cat"": 0.7, ""dog"": 0.3}"\n'
        '3,"{""dog"": 1, ""cat"": 0}"\n',
        {},
        [A, B, C],
    ),
    ("colons", "x,candidates\n1,room:1\n2,room:1|room:2\n", {},
     [{"room:1"}, {"room:1", "room:2"}]),
    ("times", "x,candidates\n1,at 9:30\n2,at 9:30|noon\n", {},
     [{"at 9:30"}, {"at 9:30", "noon"}]),
    ("one-hot", "x,cat,dog\n1,1,0\n2,1,1\n3,0,1\n", {"labels": ["cat", "dog"]},
     [A, B, C]),
    ("yes and no", "x,cat,dog\n1,yes,no\n2,yes,yes\n3,no,yes\n",
     {"labels": ["cat", "dog"]}, [A, B, C]),
    ("marks", "x,cat,dog\n1,x,\n2,x,x\n3,,x\n", {"labels": ["cat", "dog"]}, [A, B, C]),
    ("annotators", "x,ann,bob\n1,cat,cat\n2,cat,dog\n3,,dog\n",
     {"labels": ["ann", "bob"]}, [A, B, C]),
    ("soft columns", "x,cat,dog\n1,1.0,0.0\n2,0.7,0.3\n3,0.0,1.0\n",
     {"labels": ["cat", "dog"]}, [A, B, C]),
    ("codes", "x,candidates\n1,01\n2,01|02\n3,02\n", {},
     [{"01"}, {"01", "02"}, {"02"}]),
    ("brackets in labels", "x,candidates\n1,dog [small]\n2,dog [small]|(other)\n", {},
     [{"dog [small]"}, {"dog [small]", "(other)"}]),
    ("byte order mark", "\ufeffx,candidates\n1,cat\n2,cat|dog\n3,dog\n", {}, [A, B, C]),
    ("windows", "x,candidates\r\n1,cat\r\n2,cat|dog\r\n3,dog\r\n", {}, [A, B, C]),
    ("empty cell", "x,candidates\n1,cat\n2,\n3,dog\n", {}, [A, set(), C]),
    ("empty list", "x,candidates\n1,['cat']\n2,[]\n3,['dog']\n", {}, [A, set(), C]),
]  # fmt: skip

# name, text of the file, arguments of read, what the message says
STOPPED = [
    ("two separators", 'x,candidates\n1,cat|dog\n2,"cat,dog"\n', {}, "more than one"),
    ("cut list", "x,candidates\n1,[cat\n2,dog\n", {}, r"row 0 holds '\[cat'"),
    ("broken list", "x,candidates\n1,[cat]\n2,dog\n", {}, "row 0 looks like a list"),
    ("nested", 'x,candidates\n1,"[[""cat""]]"\n2,dog\n', {}, "row 0.*not a label"),
    ("null", 'x,candidates\n1,cat\n2,"[""cat"", null]"\n', {}, "row 1.*not a label"),
    ("counts", "x,candidates\n1,cat:3|dog:1\n2,dog:2\n", {}, "may hold weights or"),
    ("negative", 'x,candidates\n1,"{""cat"": -1}"\n2,dog\n', {}, "weight -1"),
    ("half text", "x,cat,dog\n1,1,no way\n2,1,1\n", {"labels": ["cat", "dog"]}, "text"),
    (
        "other numbers",
        "x,cat,dog\n1,1,5\n2,1,1\n",
        {"labels": ["cat", "dog"]},
        "counts",
    ),
    ("unquoted json", 'x,candidates\n1,["cat", "dog"]\n', {}, "cannot be read"),
]


def test_there_are_thirty_and_more():
    assert len(PARSED) >= 30


@pytest.mark.parametrize(("name", "text", "options", "sets"), PARSED, ids=lambda v: v
                         if isinstance(v, str) and len(v) < 20 else "")  # fmt: skip
def test_parsed(tmp_path, name, text, options, sets):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8", newline="")
    bunch = read(path, task="pll", **options)
    names = np.asarray(bunch.target_names)
    assert [set(names[row].tolist()) for row in bunch.candidates] == sets


@pytest.mark.parametrize(("name", "text", "options", "message"), STOPPED)
def test_stopped(tmp_path, name, text, options, message):
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=f"(?i){message}"):
        read(path, task="pll", **options)


@pytest.mark.parametrize("name", ["weights", "mappings", "soft columns"])
def test_weights_are_kept(tmp_path, name):
    (case,) = [case for case in PARSED if case[0] == name]
    path = tmp_path / "data.csv"
    path.write_text(case[1])
    bunch = read(path, task="pll", **case[2])
    np.testing.assert_allclose(
        bunch.evidence.confidence(), [[1, 0], [0.7, 0.3], [0, 1]]
    )
    assert bunch.evidence.classes.tolist() == bunch.target_names


def test_annotators_are_votes(tmp_path):
    (case,) = [case for case in PARSED if case[0] == "annotators"]
    path = tmp_path / "data.csv"
    path.write_text(case[1])
    bunch = read(path, task="pll", **case[2])
    assert isinstance(bunch.evidence, Votes)


def test_the_row_of_the_file_is_named(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,candidates\n" + "1,dog\n" * 5 + "1,[cat\n")
    with pytest.raises(DataError, match=r"Row 5 holds '\[cat'"):
        read(path)
