"""The tables of the classifier study, from cells made by hand."""

import numpy as np
import pytest
from benchmarks.classifier_study import (
    LEARNERS,
    OURS,
    REDUCERS,
    Study,
    beside_ours,
    dots,
    text,
    where_behind,
)

CELLS = [("a", None), ("b", 1), ("b", 2), ("c", 1)]
FOREST = ("none", "forest, cross-fitted")
SURE = ("none", "SURE")


@pytest.fixture
def study():
    grid = [[0.9, 0.8, 0.6, 0.5], [0.8, 0.7, 0.7, 0.6], [np.nan, 0.9, np.nan, 0.4]]
    return Study([OURS, SURE, FOREST], CELLS, np.array(grid), np.array([3, 20, 20, 5]))


def test_a_data_set_counts_once(study):
    names, scores = study.of([OURS, SURE]).by_set()
    assert names == ["a", "b", "c"]
    np.testing.assert_allclose(scores, [[0.9, 0.8], [0.7, 0.7], [0.5, 0.6]])


def test_a_pair_is_compared_on_the_cells_it_has(study):
    assert study.of([OURS, FOREST]).cells == [("b", 1), ("c", 1)]
    row = next(line for line in beside_ours(study) if line.startswith("forest"))
    # Ours has .8 and .5 there, the forest .9 and .4.
    assert row.split()[2:7] == ["2", ".650", ".650", "+.000", "1"]
    assert study.complete().pairs == [OURS, SURE]


def test_regimes_are_parts(study):
    found = {name: part.cells for name, part in study.regimes().items()}
    assert found["all"] == CELLS
    assert found["< 10 rows per feature"] == [("a", None), ("c", 1)]
    assert found["own sets"] == [("a", None)]
    assert found["r = 1"] == [("b", 1), ("c", 1)]


def test_where_another_pair_is_better(study):
    lines = where_behind(study.complete())
    assert lines[0].startswith("CRISPClassifier is first on 2 of 3 data sets")
    assert "On 2 of 4 cells" in lines[0]
    assert [line for line in lines if line.startswith("*")] == ["* c: .500, SURE .600"]


def test_the_page_and_the_figure(tmp_path):
    rng = np.random.default_rng(0)
    pairs = sorted([OURS, *((r, learner) for r in REDUCERS for learner in LEARNERS)])
    cells = [(f"set {i}", r) for i in range(6) for r in (1, 2)]
    grid = rng.uniform(0.5, 0.6, size=(len(pairs), len(cells)))
    for i, (reducer, _) in enumerate(pairs):
        grid[i] += 0.3 * (reducer == "KernelCRISP")
    grid[pairs.index(OURS)] = 0.99
    made = Study(pairs, cells, grid, np.linspace(1, 30, len(cells)))
    page = text(made)
    assert "first on 6 of 6 data sets" in page
    line = next(row for row in page.splitlines() if row.startswith("all, 6 sets"))
    assert line.split()[-4:-1] == ["1.00", "/", line.split()[-2]]
    figures = [tmp_path / "figure.svg", tmp_path / "again.svg"]
    for path in figures:
        dots(made, path)
    first, again = (path.read_text(encoding="utf-8") for path in figures)
    assert "CRISPClassifier" in first
    assert first == again
