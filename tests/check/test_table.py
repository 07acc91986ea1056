"""Tables of anything are checked whole: problems are findings, never the end."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partlearn.check import check
from partlearn.check._findings import look_alikes
from partlearn.cli.__main__ import main
from partlearn.datasets import make_tickets
from partlearn.tables import TableEncoder


def text(*values):
    return np.array(values, dtype=object)


def codes(report):
    return {finding.code: finding for finding in report.findings}


def test_tickets_have_nothing_wrong():
    tickets = make_tickets(200)
    report = check(tickets.columns, "candidates", tickets.truth)
    assert report.ok
    found = codes(report)
    assert found["text-columns"].items == ("subject",)
    assert found["date-columns"].items == ("opened",)
    assert set(found["category-columns"].items) == {"channel", "product"}
    assert found["id-columns"].items == ("ticket (another value in every row)",)
    assert found["gaps"].count == 2
    assert report.facts["n_columns"] == 9
    again = check(tickets.columns, truth=tickets.truth)  # found by its name
    assert again.facts == report.facts


def test_all_problems_in_one_report():
    tickets = make_tickets(200)
    table = dict(tickets.columns)
    labels = table["candidates"].copy()
    labels[0], labels[1], labels[2] = "", "Billing |billing", "once"
    labels[3] = "|".join({*tickets.target_names, "Billing", "once"})
    table |= {"candidates": labels, "unit": text(*["kg"] * 200)}
    table["copy"] = table["messages"]
    for name, column in table.items():
        if name not in ("candidates", "ticket"):
            table[name] = np.concatenate([column, column[:1]])
    table["candidates"] = np.append(labels, "bug")
    table["ticket"] = np.append(table["ticket"], "T-00001")
    truth = text(*tickets.truth, "bug")
    truth[5], truth[6] = "nonsense", None
    report = check(table, "candidates", truth, encoder=TableEncoder(id="ticket"))
    found = codes(report)
    expected = {
        "empty-sets", "look-alike-labels", "full-sets", "constant-columns",
        "duplicate-features", "duplicate-rows", "truth-unknown", "truth-outside",
        "repeated-ids", "text-columns",
    }  # fmt: skip
    assert expected <= set(found)
    assert found["empty-sets"].severity == "warning"
    assert found["look-alike-labels"].items == ("'Billing' / 'billing'",)
    assert found["truth-unknown"].rows == (5,)
    assert found["constant-columns"].items == ("unit (always 'kg')",)
    assert found["repeated-ids"].items == ("T-00001",)
    json.loads(report.to_json())


def test_labels_that_cannot_be_read_do_not_hide_the_rest():
    table = {"x": [1.0, 2.0, 3.0], "unit": text("a", "a", "a")}
    table["candidates"] = text("[cat", "dog", "dog")
    report = check(table, "candidates")
    assert not report.ok
    assert "Row 0 holds '[cat'" in codes(report)["labels"].title
    assert "constant-columns" in codes(report)
    assert "No label column found" in codes(check({"x": [1.0, 2.0]}))["labels"].title
    wrong = codes(check(table, "candidate"))["labels"]
    assert "Did you mean 'candidates'" in wrong.title


def test_features_that_cannot_be_used():
    table = {"unit": text("a", "a"), "candidates": text("x|y", "x")}
    assert "No column of the table" in codes(check(table))["features"].title


def test_a_column_of_truth():
    tickets = make_tickets(60)
    table = tickets.columns | {"answer": tickets.truth.astype(object)}
    assert check(table, "candidates", "answer").ok
    with pytest.raises(ValueError, match="Did you mean 'answer'"):
        check(table, "candidates", "answr")


def test_matrices_need_labels():
    with pytest.raises(ValueError, match="only tables hold them"):
        check(np.eye(3))


def test_rows_without_a_bag_and_bags_of_one_row():
    table = {
        "x": np.arange(6.0) ** 2,
        "candidates": text("a|b", "a|b", "b|c", "b|c", "a|c", "a"),
        "photo": text("p", "p", "q", "q", None, "r"),
    }
    found = codes(check(table, bags="photo"))
    assert found["bags"].title.startswith("3 bags of 1.7 rows on average")
    assert found["bags-missing"].rows == (4,)
    assert "bags-single" not in found
    table["photo"] = text("p", "q", "r", "s", None, "")
    found = codes(check(table, bags="photo"))
    assert found["bags-single"].severity == "warning"
    assert found["bags-missing"].count == 2
    assert "bags" not in found


def test_rare_labels():
    table = {"x": np.arange(30.0) ** 2, "candidates": text(*["a|b", "a"] * 15)}
    table["candidates"][4] = "a|typo"
    found = codes(check(table))["rare-labels"]
    assert (found.rows, found.items) == ((4,), ("typo",))


def test_look_alikes():
    assert look_alikes(["Cat", "cat ", "dog", "c-a-t", "!"]) == [
        ["Cat", "cat ", "c-a-t"]
    ]


CELLS = st.one_of(
    st.none(),
    st.text(max_size=8),
    st.sampled_from(["a|b", "a", "b;c", "['a', 'b']", "a:0.5|b:0.5", "[a"]),
)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_it_never_dies(data):
    m = data.draw(st.integers(1, 12))
    table = {
        "number": np.array(
            data.draw(st.lists(st.floats(-9, 9), min_size=m, max_size=m))
        ),
        "text": text(*data.draw(st.lists(CELLS, min_size=m, max_size=m))),
        "candidates": text(*data.draw(st.lists(CELLS, min_size=m, max_size=m))),
    }
    report = check(table, "candidates", data.draw(st.sampled_from([None, "text"])))
    assert json.loads(report.to_json())["facts"]["n_samples"] == m
    assert report.to_text()


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        ("x,candidates\n1,a|b\n2,b\n", 0, "2 rows"),
        ("when,note,candidates\n2024-01-01,hi,a|b\n2024-01-02,ho,b\n", 0, "dates"),
        ("x,y\n1,2\n3,4\n", 1, "No label column found"),
        ("x,candidates\n,\n1,a\n", 1, "only one label, 'a'"),
        ("x,candidates\n1,[a\n2,b\n", 1, "Row 0 holds"),
    ],
)
def test_the_command_never_dies(tmp_path, capsys, content, code, said):
    path = tmp_path / "data.csv"
    path.write_text(content)
    with pytest.raises(SystemExit) as end:
        main(["check", str(path)])
    captured = capsys.readouterr()
    assert (end.value.code or 0) == code, captured
    assert said in captured.out
