import argparse
import json

import pytest
from benchmarks.pool import add_options, computed, share

CELLS = [{"data": "a", "fold": 0}, {"data": "a", "fold": 1}, {"data": "b", "fold": 0}]


def work(folder, cell):
    if cell["data"] == "b":
        raise ValueError("no such file")
    return {"value": len(folder.name) + cell["fold"]}


def options(out, *more):
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(["--data", "data", "--out", str(out), *more])


def test_finished_cells_are_kept_and_failed_ones_stay_open(tmp_path, capsys):
    given = options(tmp_path / "out")
    store = given.out / "cells.jsonl"
    store.parent.mkdir()
    store.write_text(json.dumps({**CELLS[0], "value": 7}) + "\n", encoding="utf-8")
    found = computed(CELLS, work, given)
    assert [line["value"] for line in found] == [7, 5]
    assert "no such file" in capsys.readouterr().out
    assert len(store.read_text(encoding="utf-8").splitlines()) == 2


def test_time_that_is_over_and_tables_alone_compute_nothing(tmp_path, capsys):
    assert computed(CELLS, work, options(tmp_path, "--minutes", "1e-9")) == []
    assert "3 cells to go" in capsys.readouterr().out
    assert computed(CELLS, work, options(tmp_path, "--tables")) == []


@pytest.mark.parametrize(
    ("value", "text"), [(0.9123, ".912"), (1.0, "1.000"), (float("nan"), "")]
)
def test_share(value, text):
    assert share(value) == text
