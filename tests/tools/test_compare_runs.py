"""Results of two versions, compared value by value."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def compare(load_tool):
    return load_tool("compare_runs").differences


@pytest.fixture
def write(tmp_path):
    def write(name, fold=0, **metrics):
        folder = tmp_path / name
        folder.mkdir()
        names = "id data r noise_seed protocol labels reducer draw learner fold"
        job = dict.fromkeys([*names.split(), "percentage"]) | {"fold": fold}
        rows = [
            {**job, "id": name, "reducer": reducer, "metric": metric, "value": value}
            for metric, values in metrics.items()
            for reducer, value in zip(("none", "CENDA"), values, strict=True)
        ]
        pq.write_table(pa.Table.from_pylist(rows), folder / "results.parquet")
        return folder

    return write


def test_what_differs_is_counted_by_reducer_and_metric(compare, write):
    before = write("a", accuracy=[0.5, 0.75], recall=[None, 1.0])
    after = write("b", accuracy=[0.5, 0.5], recall=[None, 1.0])
    assert compare(before, after) == (3, {("CENDA", "accuracy"): 1})
    assert compare(before, before)[1] == {}


def test_other_jobs_are_refused(compare, write):
    before, after = write("a", accuracy=[1, 1]), write("b", fold=1, accuracy=[1, 1])
    with pytest.raises(SystemExit, match="2 only before, 2 only after"):
        compare(before, after)


def test_the_outcome_is_printed(load_tool, write, monkeypatch, capsys):
    folders = write("a", accuracy=[0.5, 0.5]), write("b", accuracy=[0.5, 1.0])
    monkeypatch.setattr("sys.argv", ["compare_runs.py", *map(str, folders)])
    load_tool("compare_runs").main()
    assert capsys.readouterr().out == "2 values, 1 differ\n    CENDA: accuracy in 1\n"
