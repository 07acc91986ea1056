"""Results of two versions, compared value by value."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def compare(load_tool):
    return load_tool("compare_runs").differences


@pytest.fixture
def write(tmp_path):
    def write(name, **columns):
        folder = tmp_path / name
        folder.mkdir()
        fixed = {"id": [name] * 2, "reducer": ["none", "CENDA"], "fold": [0, 0]}
        pq.write_table(pa.table(fixed | columns), folder / "results.parquet")
        return folder

    return write


def test_what_differs_is_counted_by_reducer_and_column(compare, write):
    before = write("a", accuracy=[0.5, 0.75], recall=[None, 1.0])
    after = write("b", accuracy=[0.5, 0.5], recall=[None, 1.0], coverage=[1.0, 1.0])
    assert compare(before, after) == (8, {("CENDA", "accuracy"): 1})
    assert compare(before, before)[1] == {}


def test_other_jobs_are_refused(compare, write):
    before, after = write("a"), write("b", fold=[0, 1])
    with pytest.raises(SystemExit, match="1 only before, 1 only after"):
        compare(before, after)


def test_the_outcome_is_printed(load_tool, write, monkeypatch, capsys):
    folders = write("a", accuracy=[0.5, 0.5]), write("b", accuracy=[0.5, 1.0])
    monkeypatch.setattr("sys.argv", ["compare_runs.py", *map(str, folders)])
    load_tool("compare_runs").main()
    assert capsys.readouterr().out == "6 values, 1 differ\n    CENDA: accuracy in 1\n"
