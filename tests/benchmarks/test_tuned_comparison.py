"""The tables of the tuned comparison, from a small run."""

import numpy as np
import pytest

from benchmarks import tuned_comparison
from partlearn.benchmark import CHOICES, choose, load_run, parse_plan, run_plan

PLAN = """
[plan]
name = "t"
folds = 2
metrics = ["accuracy", "disambiguation", "balanced_accuracy", "worst_class_recall",
           "risk_coverage_area"]
[tune]
draws = 3
[[data]]
source = "sklearn:iris"
r = 1
max_rows = 60
[[data]]
source = "sklearn:wine"
r = 1
max_rows = 60
[[reducers]]
name = "none"
[[learners]]
class = "CRISPClassifier"
[[learners]]
class = "PLKNN"
search = { n_neighbors = [1, 3] }
[[learners]]
class = "PLSVM"
search = { lam = [0.1, 10.0] }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("run")
    run_plan(parse_plan(PLAN), path)
    return path


def test_tables(folder, capsys):
    tuned_comparison.main([str(folder)])
    text = capsys.readouterr().out
    assert "2 data sets, 2 folds\n0 of 28 settings failed" in text
    for by in CHOICES[1:-1]:
        assert f"Tuned by {by.replace('_', ' ')}: CRISPClassifier with" in text
    # No grid, no regret: only learners that were searched are in that table.
    regret = text[text.index("Regret") : text.index("One setting")]
    assert "CRISPClassifier" not in regret
    assert "PLKNN" in regret


def test_regret_by_hand(folder):
    results = load_run(folder).frame()
    A = tuned_comparison.grid(results, ["PLKNN"], ["iris"], "oracle")
    known = results[results["metric"] == "accuracy"]
    rows = known[(known["learner"] == "PLKNN") & (known["data"] == "iris")]
    best = rows.groupby("fold")["value"].max()
    assert A[0, 0] == pytest.approx(np.mean(best))
    chosen = tuned_comparison.grid(results, ["PLKNN"], ["iris"], "covering_rate")
    taken = rows[rows["id"].isin(choose(results, "covering_rate")["id"])]
    assert chosen[0, 0] == pytest.approx(taken["value"].mean())
    blind = tuned_comparison.settings_alike(results, ["PLKNN"], ["iris"])
    assert blind[0, 0] == pytest.approx(rows["value"].mean())
