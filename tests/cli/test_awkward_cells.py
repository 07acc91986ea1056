"""Twelve awkward cells by eight commands: one meaning each.

Each table is written twice: as people write it in CSV, and in Parquet with the types
that the cells stand for. Every command must give the same for both.
"""

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partlearn import PartialClassifier
from partlearn.io import read
from partlearn.tables import dataset_of, read_columns

N = 24
NUMBERS = [3 + 2 * (i % 7) for i in range(N)]
TEXTS, FLOATS = [str(n) for n in NUMBERS], [float(n) for n in NUMBERS]
DAYS = [dt.datetime(2023, 3, 1 + i % 28) for i in range(N)]
# name: the awkward cell and what it stands for, the other cells and what they stand for
CELLS = {
    "question mark": ("?", None, TEXTS, FLOATS),
    "NA": ("NA", None, TEXTS, FLOATS),
    "dash": ("-", None, TEXTS, FLOATS),
    "decimal comma": (
        "1,5",
        1.5,
        [f"{i % 7},25" for i in range(N)],
        [i % 7 + 0.25 for i in range(N)],
    ),
    "points and comma": (
        "1.234,5",
        1234.5,
        [f"{1 + i % 7}.00{i % 9},5" for i in range(N)],
        [1000.5 + 1000 * (i % 7) + i % 9 for i in range(N)],
    ),
    "space in thousands": (
        "1\u00a0234",
        1234.0,
        [f"{1 + i % 7}\u00a000{i % 9}" for i in range(N)],
        [1000.0 + 1000 * (i % 7) + i % 9 for i in range(N)],
    ),
    "true": ("true", True, ["true", "false"] * (N // 2), [True, False] * (N // 2)),
    "yes": ("yes", "yes", ["yes", "no"] * (N // 2), ["yes", "no"] * (N // 2)),
    "date": (
        "01.02.2024",
        dt.datetime(2024, 2, 1),
        [day.strftime("%d.%m.%Y") for day in DAYS],
        DAYS,
    ),
    "beyond floats": (str(2**53 + 1), 2**53 + 1, TEXTS, NUMBERS),
    "empty": ("", None, TEXTS, FLOATS),
    "quoted separator": ("a;b", "a;b", ["a", "b"] * (N // 2), ["a", "b"] * (N // 2)),
}
KINDS = {"true": "number", "yes": "category", "date": "date"}
KINDS["quoted separator"] = "category"


@pytest.fixture(params=CELLS)
def tables(request, tmp_path):
    """The same table as people write it, and with the types that it means."""
    odd, meant, others, meanings = CELLS[request.param]
    rng = np.random.default_rng(0)
    columns = {
        "x": [round(float(rng.normal()) + i % 2, 3) for i in range(N)],
        "odd": [meant if i % 5 == 2 else meanings[i] for i in range(N)],
        "candidates": [f"{'ab'[i % 2]}|c" for i in range(N)],
        "truth": ["ab"[i % 2] for i in range(N)],
    }
    written, typed = tmp_path / "written.csv", tmp_path / "typed.parquet"
    cells = [odd if i % 5 == 2 else others[i] for i in range(N)]
    lines = zip(
        columns["x"], cells, columns["candidates"], columns["truth"], strict=True
    )
    text = [f'{x};"{cell}";{S};{y}' for x, cell, S, y in lines]
    written.write_text("\n".join(["x;odd;candidates;truth", *text]) + "\n", "utf-8")
    pq.write_table(pa.table(columns), typed)
    return written, typed, KINDS.get(request.param, "number")


def test_one_meaning_in_the_library(tables):
    written, typed, kind = tables
    data, same = dataset_of(written), dataset_of(typed)
    assert data.encoder.kinds_["odd"].kind == kind == same.encoder.kinds_["odd"].kind
    np.testing.assert_allclose(data.rows, same.rows, rtol=1e-12)
    assert data.truth.tolist() == same.truth.tolist() == ["a", "b"] * (N // 2)
    model = PartialClassifier("pl-knn", labels="candidates", ignore="truth")
    model.fit(read_columns(written))
    assert model.encoder_.kinds_["odd"] == data.encoder.kinds_["odd"]


def table(path):
    import csv

    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def numbers_of(rows, names):
    return np.array([[float(row[name]) for name in names] for row in rows])


def test_one_meaning_in_eight_commands(tables, run):
    written, typed, kind = tables
    folder = written.parent
    found = {"written": {}, "typed": {}}

    def call(*argv):
        code, out, err = run(*argv)
        assert code == 0, (argv[0], err)
        return json.loads(out)

    for source, seen in zip((written, typed), found.values(), strict=True):
        place = folder / source.stem
        report = call("check", source, "--json")
        seen["check"] = report["facts"], [f["code"] for f in report["findings"]]
        model = place.with_suffix(".partlearn")
        options = ("--method", "pl-knn", "--folds", 0, "--json")
        told = call("train", source, *options, "--save", model)
        seen["train"] = told["features"], told["columns"]["odd"]["kind"]
        out = place.with_suffix(".out.csv")
        # Each model is applied to the table as it is written.
        call("predict", written, "--load", model, "--out", out, "--json")
        seen["predict"] = [row["label"] for row in table(out)], None
        options = ("--method", "pl-knn", "--out", out, "--json")
        call("disambiguate", source, *options)
        seen["disambiguate"] = [(r["label"], r["confidence"]) for r in table(out)], None
        options = ("--method", "plda", "--n-components", 2, "--out", out, "--json")
        names = call("reduce", source, *options)["features"]
        positions = numbers_of(table(out), names)
        seen["reduce"] = names, positions.shape
        options = ("--method", "max-relevance", "--n-features", 1, "--out", out)
        told = call("select", source, *options, "--json")
        seen["select"] = told["features"], told["features_in"]
        told = call("data", "info", source, "--json")
        told = {k: told[k] for k in ("n_samples", "n_features", "n_classes", "labels")}
        seen["data info"] = told, None
        matrix = place.with_suffix(".npz")
        call("data", "convert", source, matrix, "--json")
        bunch = read(matrix)
        seen["data convert"] = bunch.target_names, bunch.feature_names
        seen["numbers"] = positions, bunch.data.astype(float)
    first, second = found["written"], found["typed"]
    for mine, others in zip(first.pop("numbers"), second.pop("numbers"), strict=True):
        np.testing.assert_allclose(mine, others, rtol=1e-7, atol=1e-9)
    facts = [seen.pop("check") for seen in (first, second)]
    assert facts[0][1] == facts[1][1]
    for name, value in facts[0][0].items():
        assert facts[1][0][name] == (
            pytest.approx(value) if isinstance(value, float) else value
        )
    assert len(first) == 7
    assert first == second
    assert first["train"][1] == kind
