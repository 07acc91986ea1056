"""Twelve awkward cells: one meaning each, in whatever reads a table."""

import numpy as np
import pytest

from partlearn import PartialClassifier
from partlearn.check import check
from partlearn.tables import dataset_of

N = 24
# name: cells of the odd rows, and what the column is
CELLS = {
    "question mark": ("?", "number"),
    "NA": ("NA", "number"),
    "dash": ("-", "number"),
    "decimal comma": ("1,5", "number"),
    "points and comma": ("1.234,5", "number"),
    "space in thousands": ("1\u00a0234", "number"),
    "true": ("true", "category"),
    "yes": ("yes", "category"),
    "date": ("01.02.2024", "date"),
    "beyond floats": (str(2**53 + 1), "number"),
    "empty": ("", "number"),
    "quoted separator": ('"a,b"', "category"),
}
OTHERS = {
    "decimal comma": [f"{i % 7},25" for i in range(N)],
    "points and comma": [f"{1 + i % 7}.00{i % 9},5" for i in range(N)],
    "space in thousands": [f"{1 + i % 7}\u00a000{i % 9}" for i in range(N)],
    "true": ["true", "false"] * (N // 2),
    "yes": ["yes", "no"] * (N // 2),
    "date": [f"{1 + i % 28:02d}.03.2023" for i in range(N)],
    "quoted separator": ["a", "b"] * (N // 2),
}


@pytest.fixture(params=CELLS)
def case(request, tmp_path):
    odd, kind = CELLS[request.param]
    others = OTHERS.get(request.param, [str(3 + 2 * (i % 7)) for i in range(N)])
    cells = [odd if i % 5 == 2 else others[i] for i in range(N)]
    rng = np.random.default_rng(0)
    lines = ["x;odd;candidates;truth"]
    for i, cell in enumerate(cells):
        label = "ab"[i % 2]
        text = cell if cell.startswith('"') else f'"{cell}"'
        lines.append(f"{rng.normal() + i % 2:.3f};{text};{label}|c;{label}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, kind


def test_one_meaning(case, run):
    """The library, the checker and six commands find the same columns."""
    path, kind = case
    data = dataset_of(path)
    assert data.encoder.kinds_["odd"].kind == kind
    assert data.truth.tolist() == ["a", "b"] * (N // 2)
    model = PartialClassifier("pl-knn", labels="candidates", ignore="truth")
    from partlearn.tables import read_columns

    model.fit(read_columns(path))
    assert model.encoder_.kinds_ == {
        **data.encoder.kinds_,
        "candidates": model.encoder_.kinds_["candidates"],
    }
    assert check(read_columns(path), "candidates", "truth").ok
    folder = path.parent
    for command in (
        ["check", path],
        ["train", path, "--method", "pl-knn", "--folds", 0, "--save", folder / "m"],
        ["predict", path, "--load", folder / "m", "--out", folder / "p.csv"],
        ["disambiguate", path, "--method", "pl-knn", "--out", folder / "l.csv"],
        ["reduce", path, "--method", "plda", "--out", folder / "r.csv"],
        ["select", path, "--method", "max-relevance", "--out", folder / "s.csv"],
    ):
        code, _, err = run(*command)
        assert code == 0, (command[0], err)
