"""The command `train` on folders of files, read block by block."""

import csv
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from sklearn.datasets import make_blobs

from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates
from partlearn.cli.__main__ import main
from partlearn.tables import read_columns


def write_csv(path, columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        cells = [
            ["" if v is None or v != v else v for v in c] for c in columns.values()
        ]
        writer.writerows(zip(*cells, strict=True))
    return path


def call(*argv):
    try:
        main([str(a) for a in argv])
    except SystemExit as end:
        return end.code or 0
    raise AssertionError("a command ends with an exit code")


@pytest.fixture
def parquet_folder(tmp_path):
    """Rows of numbers and a category in three files, and true labels."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, truth = make_blobs(240, n_features=3, centers=3, random_state=0)
    S = make_candidates(truth, n_false=1, random_state=0)
    names = np.array(["cat", "dog", "owl"])
    for part, rows in enumerate(np.array_split(np.arange(240), 3)):
        columns = {f"x{j}": X[rows, j] for j in range(3)}
        columns["coat"] = [("soft", "rough")[i % 2] for i in rows]
        columns["day"] = [f"2024-01-{1 + i % 28:02}" for i in rows]
        columns["candidates"] = ["|".join(names[S[i]]) for i in rows]
        columns["truth"] = names[truth[rows]]
        pq.write_table(pa.table(columns), tmp_path / f"{part}.parquet")
    return tmp_path


def test_several_files_are_fitted_block_by_block(parquet_folder, capsys):
    paths = sorted(parquet_folder.glob("*.parquet"))
    options = ["--labels", "candidates"]  # the truth is known by its name
    few = ["--param", "n_landmarks=15"]
    saved, out = parquet_folder / "m.partlearn", parquet_folder / "out.csv"
    assert call("train", *paths, *options, *few, "--save", saved) == 0
    told = capsys.readouterr().out
    assert "CRISPClassifier: 240 rows" in told
    assert re.search("truth +ignored", told)
    assert call("predict", paths[0], "--load", saved, "--out", out) == 0
    labels = read_columns(out)["label"]
    assert np.mean(labels == read_columns(paths[0])["truth"]) > 0.9
    assert call("train", *paths, *options, "--save", saved) == 0  # exact kernels
    assert call("train", *paths, *options, "--weight", "x0", "--save", saved) == 2
    assert "take no --groups, --weight and --gold" in capsys.readouterr().err
    other = write_csv(parquet_folder / "other.csv", {"x0": ["1"]})
    assert call("train", *paths, other, *options, "--save", saved) == 1
    err = capsys.readouterr().err
    assert "got 0.parquet, 1.parquet, 2.parquet, other.csv. Write all rows" in err
    absent = parquet_folder / "3.parquet"
    assert call("train", *paths, absent, *options, "--save", saved) == 2
    assert "3.parquet'. Did you mean '" in capsys.readouterr().err
    weighted = (
        "--weight",
        "x0",
        "--estimator",
        "sklearn.linear_model:LogisticRegression",
    )
    assert call("train", paths[0], *options, *weighted, "--save", saved) == 2
    assert "--weight must be finite and not negative" in capsys.readouterr().err
    assert call("train", *paths, "--labels", "no", "--save", saved) == 2
    assert "no" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("column", "change", "told"),
    [
        ("x1", ["1.5"] * 5 + ["heavy"] * 75, "row 5: column 'x1' holds 'heavy'"),
        ("coat", [1.0, 2.0] * 40, "row 0: column 'coat' holds '1.0'"),
        ("day", ["2024-02-01", None, "soon", "?"] * 20, "row 2: column 'day' holds 's"),
        ("day", [20240201] * 80, "row 0: column 'day' holds '20240201'"),
    ],
)
def test_a_later_file_that_contradicts_the_first(
    column, change, told, parquet_folder, capsys
):
    """Neither gaps nor unseen values are made of what cannot be."""
    import pyarrow.parquet as pq

    paths = sorted(parquet_folder.glob("*.parquet"))
    table = pq.read_table(paths[1])
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, column, pa.array(change)), paths[1])
    options = ["--labels", "candidates", "--ignore", "truth"]
    few = ["--param", "n_landmarks=15"]
    saved = parquet_folder / "m.partlearn"
    assert call("train", *paths, *options, *few, "--save", saved) == 1
    err = capsys.readouterr().err
    assert f"1.parquet, {told}" in err
    assert "Mend the cell, or say what the column is with --number, --category" in err
    assert not saved.exists()
    more = ("--ignore", column)
    assert call("train", *paths, *options, *few, *more, "--save", saved) == 0


def test_what_is_odd_in_the_first_file_is_odd_in_others(parquet_folder):
    import pyarrow.parquet as pq

    paths = sorted(parquet_folder.glob("*.parquet"))
    for path in paths:
        table = pq.read_table(path)
        cells = [*map(str, table["x0"].to_pylist()[:-1]), "broken"]
        pq.write_table(table.set_column(0, "x0", pa.array(cells)), path)
    options = ["--labels", "candidates", "--ignore", "truth"]
    few = ["--param", "n_landmarks=15", "--save", parquet_folder / "m.partlearn"]
    assert call("train", *paths, *options, *few) == 0


def test_a_scheduler_that_does_not_answer_is_named(parquet_folder, capsys, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(SIZES, "scheduler_seconds", 1)
    options = ["--labels", "candidates", "--scheduler", "tcp://127.0.0.1:1"]
    path, saved = parquet_folder / "0.parquet", parquet_folder / "m.partlearn"
    assert call("train", path, *options, "--save", saved) != 0
    assert "No Dask scheduler answers at tcp://127.0.0.1:1" in capsys.readouterr().err
