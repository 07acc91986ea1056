"""Cells of tables from rows, by hand, and runs that are read back."""

import numpy as np
import pandas as pd
import pytest

from partlearn.benchmark import (
    area_under_curve,
    load_run,
    metric_sign,
    parse_plan,
    run_plan,
    scores_of,
)

PARTIAL = """
[plan]
name = "p"
folds = 2
metrics = ["accuracy", "disambiguation"]
[[data]]
source = "sklearn:iris"
r = 1
max_rows = 40
[[reducers]]
name = "none"
[[reducers]]
class = "CENDA"
ranked = false
[[learners]]
class = "PLKNN"
"""
MANY = """
[plan]
name = "m"
task = "multilabel"
folds = 2
percentages = [10, 30]
random_draws = 2
labels = ["candidates"]
metrics = ["ranking_loss"]
[[data]]
source = "sklearn:multilabel"
r = [0.5, 2]
noise = "rate"
max_rows = 40
[[selectors]]
class = "TRACE"
[[learners]]
class = "MLKNN"
"""


def rows(scores, **changes):
    """Rows of one job by metric; one without scores failed."""
    job = {
        "id": str(changes),
        "reduction": "",
        "data": "iris",
        "r": 1.0,
        "noise_seed": 0.0,
        "protocol": "inductive",
        "labels": "candidates",
        "reducer": "none",
        "draw": 0,
        "learner": "PLKNN",
        "fold": 0,
        "percentage": np.nan,
        "text": "",
        **changes,
    }
    values = [{**job, "metric": name, "value": v} for name, v in scores.items()]
    return values or [{**job, "metric": "error", "value": np.nan, "text": "E: bad"}]


def cells_of(plan, *jobs):
    found = scores_of(plan, pd.DataFrame([row for job in jobs for row in job]))
    return found, list(found.cells.itertuples())


def test_a_cell_is_the_mean_of_its_folds():
    jobs = [rows({"accuracy": 0.5}), rows({"accuracy": 0.7}, fold=1)]
    for n in (0, 1):
        width = {"accuracy": 0.5, "reducer_n_components": n}
        jobs.append(rows(width, reducer="CENDA", fold=n))
    found, (none, cenda, *others) = cells_of(parse_plan(PARTIAL), *jobs)
    assert (none.mean, none.whole, none.best) == (0.6, True, True)
    assert none.std == pytest.approx(0.02**0.5)
    assert list(found.folds["value"][:2]) == [0.5, 0.7]
    assert (cenda.n_features, cenda.best) == (0.5, False)
    assert [(c.metric, c.whole) for c in others] == [("disambiguation", False)] * 2
    assert all(np.isnan(c.mean) for c in others)
    assert np.isnan(none.difference)


def test_candidates_of_the_file_have_no_r():
    plan = parse_plan(PARTIAL)
    one, two = rows({"accuracy": 0.5}), rows({"accuracy": 0.75}, fold=1)
    for row in (*one, *two):
        row |= {"r": np.nan, "noise_seed": np.nan}
    found, (cell, _) = cells_of(plan, one, two)
    assert (cell.mean, cell.whole) == (0.625, True)
    assert np.isnan(cell.r)
    assert found.folds["r"].isna().all()


def test_a_mean_over_the_folds_that_did_not_fail_is_never_best():
    jobs = [rows({"accuracy": 0.5}), rows({}, fold=1)]
    _, (cell, *_) = cells_of(parse_plan(PARTIAL), *jobs)
    assert (cell.mean, cell.n_failed) == (0.5, 1)
    assert np.isnan(cell.std)
    assert not cell.whole
    assert not cell.best


def test_draws_are_averaged_before_folds_and_low_is_best():
    plan = parse_plan(MANY)
    made = {"data": "multilabel", "learner": "MLKNN", "r": 2.0}

    def points(reducer, first, last, **more):
        job = {**made, "reducer": reducer, **more}
        return [
            {**row, "id": str(job)}
            for x, y in ((10.0, first), (30.0, last))
            for row in rows({"ranking_loss": y}, **job, percentage=x)
        ]

    jobs = [points("TRACE", 0.2, 0.4), points("TRACE", 0.4, 0.6, fold=1)]
    for draw, value in enumerate((0.5, 0.9)):
        jobs.append(points("random order", value, value, draw=draw))
    alone = {**made, "learner": "-", "reducer": "label frequency"}
    jobs.append(rows({"ranking_loss": 0.1}, **alone, percentage=0.0))
    found, (trace, chance, frequency) = cells_of(plan, *jobs)
    areas = found.folds.groupby("method")["value"].apply(list)
    assert areas["TRACE"] == pytest.approx([0.3, 0.5])
    assert list(found.curves["mean"][:2]) == pytest.approx([0.3, 0.5])
    assert (trace.printed, trace.best) == (pytest.approx(0.4), True)
    assert areas["random order"] == pytest.approx([0.7])
    assert not chance.best
    # It stands beside every learner, and is no selection.
    assert (frequency.learner, frequency.best) == ("MLKNN", False)
    failed = rows({}, **made, reducer="TRACE", fold=2)
    _, (trace, chance, frequency) = cells_of(plan, *jobs, failed)
    assert (trace.whole, trace.best, chance.best) == (False, False, True)
    # Curves of one point have a best one, too.
    few = [[row for row in job if row["percentage"] < 20] for job in jobs]
    found, (trace, *_) = cells_of(plan, *few)
    assert list(found.curves["percentage"].unique()) == [10.0, 0.0]
    assert trace.best


def test_area_by_hand():
    assert area_under_curve([1, 3, 2], [0.0, 2.0, 1.0]) == pytest.approx(1.0)
    assert area_under_curve([1, 2, 5], [0.0, 1.0, 1.0]) == pytest.approx((0.5 + 3) / 4)
    assert area_under_curve([100], [0.7]) == 0.7


def test_a_run_comes_back_as_it_was(tmp_path):
    plan = parse_plan(PARTIAL)
    result = run_plan(plan, tmp_path)
    run = load_run(tmp_path)
    assert run.plan == plan
    assert not run.multilabel
    pd.testing.assert_frame_equal(run.frame(), result.frame())
    assert run.data[0]["classes"] == ["setosa", "versicolor", "virginica"]
    assert (run.data[0]["r"], run.facts["folds"], run.absent) == ([1], 2, ())
    cells = run.scores().cells
    assert list(cells["method"]) == ["none", "CENDA"] * 2
    frame = run.frame()
    fitted = frame[frame["metric"] == "reducer_fit_time"]
    assert (len(fitted), fitted["reduction"].nunique()) == (2, 2)


def test_the_amount_of_noise_is_what_the_plan_says(tmp_path):
    plan = parse_plan(MANY)
    run_plan(plan, tmp_path)
    run = load_run(tmp_path)
    assert run.plan == plan
    assert run.multilabel
    frame = run.frame()
    assert list(frame["r"].unique()) == [0.5, 2.0]
    assert run.data[0]["noise"] == "rate"
    assert set(frame["protocol"]) == {"inductive"}


def test_no_run(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no finished run"):
        load_run(tmp_path)


def test_signs():
    assert [metric_sign(m) for m in ("coverage", "macro_f1")] == [-1, 1]
