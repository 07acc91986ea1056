"""Cells of tables from rows, by hand, and runs that are read back."""

from dataclasses import replace

import pytest

from partlearn.benchmark import (
    Result,
    area_under_curve,
    load_run,
    metric_sign,
    parse_plan,
    run_plan,
)
from partlearn.benchmark._cells import curve_cells, fold_cells

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


def row(**changes):
    base = Result(
        id="i",
        data="iris",
        r=1,
        noise_seed=0,
        protocol="inductive",
        labels="candidates",
        reducer="none",
        draw=0,
        learner="PLKNN",
        fold=0,
        status="ok",
        scores={"accuracy": 0.5, "disambiguation": None},
    )
    return replace(base, **changes)


def test_a_cell_is_the_mean_of_its_folds():
    plan = parse_plan(PARTIAL)
    rows = [row(), row(fold=1, scores={"accuracy": 0.7})]
    rows += [row(reducer="CENDA", n_features=n, fold=n) for n in (0, 1)]
    none, cenda, *others = fold_cells(plan, rows)
    assert (none.mean, none.whole, none.best) == (0.6, True, True)
    assert none.std == pytest.approx(0.02**0.5)
    assert [score.value for score in none.folds] == [0.5, 0.7]
    assert (cenda.n_features, cenda.best) == (0.5, False)
    assert [(c.metric, c.mean, c.whole) for c in others] == [
        ("disambiguation", None, False)
    ] * 2
    assert none.difference is None


def test_a_mean_over_the_folds_that_did_not_fail_is_never_best():
    rows = [row(), row(fold=1, status="failed", scores={}, error="E")]
    cell = fold_cells(parse_plan(PARTIAL), rows)[0]
    assert (cell.mean, cell.std, cell.n_failed) == (0.5, None, 1)
    assert not cell.whole
    assert not cell.best


def test_draws_are_averaged_before_folds_and_low_is_best():
    plan = parse_plan(MANY)
    made = {"data": "multilabel", "learner": "MLKNN", "r": 2}

    def points(reducer, first, last, **more):
        for x, y in ((10, first), (30, last)):
            yield row(
                reducer=reducer,
                percentage=x,
                scores={"ranking_loss": y},
                **made,
                **more,
            )

    rows = [*points("TRACE", 0.2, 0.4), *points("TRACE", 0.4, 0.6, fold=1)]
    for draw, value in enumerate((0.5, 0.9)):
        rows += points("random order", value, value, draw=draw)
    rows.append(
        row(
            reducer="label frequency",
            percentage=0.0,
            scores={"ranking_loss": 0.1},
            **{**made, "learner": "-"},
        )
    )
    trace, chance, frequency = curve_cells(plan, rows)
    assert [score.value for score in trace.folds] == pytest.approx([0.3, 0.5])
    assert trace.curve.y == pytest.approx((0.3, 0.5))
    assert (trace.printed, trace.best) == (pytest.approx(0.4), True)
    assert [score.value for score in chance.folds] == pytest.approx([0.7])
    assert not chance.best
    # It stands beside every learner, and is no selection.
    assert (frequency.learner, frequency.best) == ("MLKNN", False)
    failed = row(reducer="TRACE", fold=2, status="failed", scores={}, **made)
    trace, chance, frequency = curve_cells(plan, [*rows, failed])
    assert (trace.whole, trace.best, chance.best) == (False, False, True)
    # Curves of one point have a best one, too.
    trace, *_ = curve_cells(plan, [r for r in rows if r.percentage in (0, 10)])
    assert (trace.curve.x, trace.best) == ((10,), True)


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
    assert [r.scores["accuracy"] for r in run.results] == [
        r["accuracy"] for r in result.rows
    ]
    assert run.data[0].classes == ("setosa", "versicolor", "virginica")
    assert (run.data[0].r, run.facts.folds, run.absent) == ((1,), 2, ())
    (cell,) = run.select("accuracy", method="CENDA")
    assert cell.folds[1].fold == 1
    assert sum(t.reduction != "" for t in run.timings) == 2


def test_the_amount_of_noise_is_what_the_plan_says(tmp_path):
    plan = parse_plan(MANY)
    run_plan(plan, tmp_path)
    run = load_run(tmp_path)
    assert run.plan == plan
    assert run.multilabel
    amounts = list(dict.fromkeys(r.r for r in run.results))
    assert [(a, type(a)) for a in amounts] == [(0.5, float), (2, int)]
    assert run.data[0].noise == "rate"
    assert {r.protocol for r in run.results} == {"inductive"}


def test_no_run(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no finished run"):
        load_run(tmp_path)


def test_signs():
    assert [metric_sign(m) for m in ("coverage", "macro_f1")] == [-1, 1]
