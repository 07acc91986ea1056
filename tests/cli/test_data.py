"""``partlearn data`` and ``partlearn check``."""

import json
import subprocess
import sys

import numpy as np
import pytest

from partlearn.cli._options import print_error
from partlearn.datasets import load_iris_partial
from partlearn.io import DownloadError, read, write


@pytest.fixture
def iris(tmp_path):
    return write(load_iris_partial(), tmp_path / "iris.csv")


def test_list(run, tmp_path):
    (tmp_path / "lost.mat").write_bytes(b"")
    result = run("data", "list", "--data-home", tmp_path)
    assert result.exit_code == 0
    assert "digits" in result.stdout
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert " here " in lines["lost"]
    assert " - " in lines["italian"]
    rows = json.loads(run("data", "list", "--json", "--data-home", tmp_path).stdout)
    assert {row["how"] for row in rows} == {"load", "fetch"}


def test_info(run, tmp_path, iris):
    result = run("data", "info", iris)
    assert result.exit_code == 0
    assert "n_samples        150" in result.stdout
    facts = json.loads(run("data", "info", iris, "--json").stdout)
    assert facts["mean_set_size"] == 2.0
    assert facts["labels"] == ["setosa", "versicolor", "virginica"]
    assert "1797" in run("data", "info", "digits").stdout
    result = run("data", "info", "lost", "--data-home", tmp_path)
    assert result.exit_code == 1
    assert "by hand" in result.stderr
    assert run("data", "info", tmp_path / "nothing.csv").exit_code == 2


def test_info_names_test_part_and_folds(run, tmp_path):
    import scipy.io

    path = tmp_path / "a.mat"
    variables = {
        "train_data": np.eye(4),
        "train_target": np.array([[1, 2, 1, 2]]),
        "test_data": np.ones((3, 4)),
        "test_target": np.array([[1, 2, 1]]),
        "indices": np.array([[1, 1, 2, 2]], dtype=np.uint8),
    }
    scipy.io.savemat(path, variables)
    facts = json.loads(run("data", "info", path, "--json").stdout)
    assert facts["n_test_samples"] == 3
    assert facts["n_folds"] == 2
    result = run("data", "convert", path, tmp_path / "a.npz")
    assert result.exit_code == 0
    assert "`test` is not converted" in result.stderr


@pytest.mark.parametrize("kind", ["npz", "parquet", "arrow", "mat", "tsv"])
def test_convert(run, tmp_path, iris, kind):
    target = tmp_path / f"out.{kind}"
    result = run("data", "convert", iris, target)
    assert result.exit_code == 0
    assert result.stdout.strip() == str(target)
    np.testing.assert_array_equal(read(target).candidates, read(iris).candidates)
    result = run("data", "convert", iris, target, "--json")
    assert json.loads(result.stdout)["n_features"] == 4


def test_convert_options(run, tmp_path):
    source = tmp_path / "a.csv"
    source.write_text("x,mine,note,t\n1,a/b,u,a\n2,b,v,b\n")
    options = ["--labels", "mine", "--truth", "t", "--sep", "/", "--ignore", "note"]
    result = run("data", "convert", source, tmp_path / "a.npz", *options)
    assert result.exit_code == 0
    assert read(tmp_path / "a.npz").candidates.sum() == 3
    result = run("data", "convert", source, tmp_path / "b.npz")
    assert result.exit_code == 2  # ambiguous: an option settles it
    assert "--labels" in result.stderr
    result = run("data", "convert", source, tmp_path / "b.arff", *options)
    assert result.exit_code == 1
    damaged = tmp_path / "c.npz"
    damaged.write_bytes(b"PK")
    assert run("data", "convert", damaged, tmp_path / "b.npz").exit_code == 1
    assert not (tmp_path / "b.npz").exists()


def test_convert_writes_no_formulas_on_request(run, tmp_path, table):
    """From a table as it stands, and from a matrix with its names and labels."""
    source, archive, out = tmp_path / "a.csv", tmp_path / "a.npz", tmp_path / "b.csv"
    source.write_text("x,=y,kind\n-1,+cmd,=a\n-2,2,@b\n3,z,=a|@b\n")
    options = ["--labels", "kind"]
    assert run("data", "convert", source, out, *options, "--safe-csv").exit_code == 0
    assert [list(row.values()) for row in table(out)] == [
        ["-1", "'+cmd", "'=a"],
        ["-2", "2", "'@b"],
        ["3", "z", "'=a|@b"],
    ]
    assert list(table(out)[0]) == ["x", "'=y", "kind"]
    assert run("data", "convert", source, archive, *options).exit_code == 0
    assert run("data", "convert", archive, out, "--safe-csv").exit_code == 0
    rows = table(out)
    assert [row["candidates"] for row in rows] == ["'=a", "'@b", "'=a|@b"]
    assert all(not name.startswith("=") for name in rows[0])
    assert float(rows[0]["x"]) < float(rows[2]["x"])
    assert run("data", "convert", archive, out).exit_code == 0
    assert [row["candidates"] for row in table(out)] == ["=a", "@b", "=a|@b"]


def test_a_table_on_standard_output_is_all_there_is(run, tmp_path):
    source = tmp_path / "a.csv"
    source.write_text("x,kind\nred,a\nblue,b\n")
    words = ("data", "convert", source, "-", "--labels", "kind")
    code, out, _ = run(*words)
    assert (code, out) == (0, source.read_text())
    source.write_text("x,kind\n1,a\n2,b\n")
    for argv in (words, ("data", "make", "-")):
        code, out, err = run(*argv)
        assert (code, out) == (2, "")
        assert "TARGET - is not possible; name a file" in err


def test_labels_of_arff_and_one_hot(run, tmp_path):
    path = tmp_path / "a.arff"
    path.write_text(
        "@relation r\n@attribute a real\n@attribute L {0,1}\n@attribute K {0,1}\n"
        "@data\n1,1,1\n2,0,1\n"
    )
    result = run("data", "info", path, "--labels", "-2", "--json")
    assert json.loads(result.stdout)["labels"] == ["L", "K"]
    result = run("data", "info", path, "--labels", "L,K", "--json")
    assert json.loads(result.stdout)["task"] == "multilabel"


def test_fetch(run, tmp_path, monkeypatch):
    path = write(load_iris_partial(), tmp_path / "iris.npz")
    seen = []

    def fake(name, **options):
        seen.append((name, options))
        if name == "bad":
            raise DownloadError("no network", advice="Put it by hand.")
        if options["progress"] is not None:
            options["progress"](1, 2)
        return path

    monkeypatch.setattr("partlearn.datasets.fetch_file", fake)
    result = run("data", "fetch", "iris", "--data-home", tmp_path, "--timeout", 3)
    assert result.exit_code == 0
    assert result.stdout.strip() == str(path)
    assert seen[0][1]["timeout"] == 3.0
    assert seen[0][1]["progress"] is None  # not a terminal
    result = run("data", "fetch", "bad")
    assert result.exit_code == 1
    assert "by hand" in result.stderr
    assert result.stdout == ""


def test_fetch_shows_progress_on_a_terminal(tmp_path, monkeypatch, capsys):
    from partlearn.cli import _data

    path = write(load_iris_partial(), tmp_path / "iris.npz")

    def fake(name, **options):
        options["progress"](1, 2)
        return path

    monkeypatch.setattr("partlearn.datasets.fetch_file", fake)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    _data.fetch(name="iris", data_home=None, timeout=1.0, as_json=False)
    captured = capsys.readouterr()
    assert "iris: 50 %" in captured.err
    assert captured.out.strip() == str(path)


def test_unknown_name(run):
    result = run("data", "fetch", "nothing")
    assert result.exit_code == 2
    assert "known are" in result.stderr


def test_make(run, tmp_path):
    target = tmp_path / "made.parquet"
    options = ["--samples", 30, "--classes", 3, "--false", 2, "--seed", 5]
    result = run("data", "make", target, *options, "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert len(answer["informative"]) == 4
    code, _, err = run("data", "make", tmp_path / "new.npz", "--false", 9)
    assert code == 2
    assert "--false must be between 0 and 4; got 9" in err
    assert read(target).candidates.all()
    assert run("data", "make", target).stdout.strip() == str(target)
    assert run("data", "make", target, "--classes", 1).exit_code == 2


def test_check(run, tmp_path, iris):
    result = run("check", iris)
    assert result.exit_code == 0
    assert "NOTE: No row has a single candidate." in result.stdout
    page = tmp_path / "report.html"
    result = run("check", iris, "--json", "--html", page)
    assert json.loads(result.stdout)["ok"] is True
    assert page.read_text().startswith("<!doctype html>")


def test_check_finds_problems(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,z,candidates,truth\n1,5,a|b,a\n2,6,b,a\n3,9,a,a\n")
    result = run("check", path)
    assert result.exit_code == 1
    assert "true label outside" in result.stdout
    assert "rows 1" in result.stdout
    path.write_text("x,z,label\n1,5,a\n2,6,b\n")
    result = run("check", path)
    assert result.exit_code == 1
    assert "--labels" in result.stdout
    assert run("check", path, "--task", "nonsense").exit_code == 2
    assert run("check", path, "--labels", "label").exit_code == 0


def test_missing_extra_is_bad_use(capsys):
    assert print_error(ImportError("CSV files need pyarrow")) == 2
    assert "pyarrow" in capsys.readouterr().err


def test_help_imports_nothing_heavy():
    code = (
        "import sys, partlearn.cli._data, partlearn.cli._check; "
        "print([m for m in ('numpy', 'sklearn', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_folders_of_outputs_are_made(run, tmp_path, iris):
    made = tmp_path / "a" / "made.csv"
    assert run("data", "make", made).exit_code == 0
    page = tmp_path / "b" / "page.html"
    assert run("check", iris, "--html", page).exit_code == 0
    assert made.is_file()
    assert page.is_file()


def test_info_of_nothing_names_the_list(run):
    result = run("data", "info", "lots")
    assert result.exit_code == 2
    assert "data list" in result.stderr


def test_a_reader_that_goes_away_is_no_error_to_report(run, monkeypatch):
    def gone(*_, **__):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("typer.echo", gone)
    result = run("data", "list")
    assert (result.exit_code, result.stderr) == (1, "")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_make_tickets(run, tmp_path, suffix):
    from partlearn.datasets import make_tickets
    from partlearn.tables import read_columns

    path = tmp_path / f"tickets{suffix}"
    options = ("--tickets", "--samples", "40", "--seed", "2")
    result = run("data", "make", path, *options, "--json")
    assert result.exit_code == 0, result.stderr
    assert len(json.loads(result.stdout)["columns"]) == 9
    expected = make_tickets(40, random_state=2).columns
    columns = read_columns(path)
    assert columns["subject"].tolist() == expected["subject"].tolist()
    gaps = [value is None or value != value for value in columns["waited"]]
    assert gaps == np.isnan(expected["waited"]).tolist()
    assert run("data", "make", path, *options).stdout.strip() == str(path)


PHOTOS = """size,coat,photo,names
1.5,soft,p1,ann|bob
2.5,rough,p1,ann|bob
3.5,soft,p2,bob|cyd
4,rough,p2,bob|cyd
"""


def test_convert_keeps_bags_and_columns(run, tmp_path):
    source = tmp_path / "photos.csv"
    source.write_text(PHOTOS)
    options = ("--labels", "names", "--bag", "photo", "--json")
    facts = json.loads(run("data", "info", source, *options).stdout)
    assert (facts["n_bags"], facts["n_features"]) == (2, 3)
    matrix, again = tmp_path / "p.npz", tmp_path / "again.csv"
    assert run("data", "convert", source, matrix, *options).exit_code == 0
    bunch = read(matrix)
    assert bunch.bags.tolist() == ["p1", "p1", "p2", "p2"]
    assert bunch.feature_names == ["size", "coat=rough", "coat=soft"]
    # From there to a table of numbers, whose bags are found by their name.
    assert run("data", "convert", matrix, again).exit_code == 0
    assert read(again).bags.tolist() == bunch.bags.tolist()
    # A table of text stays one, with the columns that it has.
    table = tmp_path / "p.parquet"
    assert run("data", "convert", source, table, *options).exit_code == 0
    from partlearn.tables import read_columns

    (first, second) = map(read_columns, (source, table))
    assert list(first) == list(second)
    assert all(first[n].tolist() == second[n].tolist() for n in first)
    options = ("--labels", "names", "--ignore", "photo", "--bag", "runs", "--json")
    facts = json.loads(run("data", "convert", source, matrix, *options).stdout)
    assert facts["n_bags"] == 2
    assert run("data", "info", matrix, "--bag", "bags").exit_code == 0
    result = run("data", "info", matrix, "--bag", "photo")
    assert result.exit_code == 2
    assert "without a column 'photo'" in result.stderr
    assert run("data", "info", matrix, "--text", "coat").exit_code == 2
