"""A published cell, reproduced from the reference data by a shipped plan."""

from dataclasses import replace

import pytest
from tests.runs import load_plan_data

from partlearn.benchmark import list_plans, load_plan, run_plan
from partlearn.report import summarize


@pytest.mark.shared
def test_lost_with_cenda_is_within_two_points(shared_dir, tmp_path):
    plan = load_plan("cenda-table7")
    plan = replace(
        plan,
        data=tuple(d for d in plan.data if d.name == "Lost"),
        reducers=tuple(m for m in plan.reducers if m.name == "CENDA[thr=0.999]"),
        learners=tuple(m for m in plan.learners if m.name == "PL-KNN"),
        protocols=("transductive",),
    )
    run_plan(plan, tmp_path, data_folder=shared_dir / "data")
    (cell,) = summarize(tmp_path).cells.itertuples()
    assert cell.published == 0.81
    assert cell.n_features == cell.published_columns == 13
    assert abs(cell.difference) < 0.02


@pytest.mark.shared
@pytest.mark.parametrize("name", [n for n in list_plans() if n.endswith("-quick")])
def test_quick_plans_find_their_data(shared_dir, name):
    data, absent = load_plan_data(load_plan(name), shared_dir / "data")
    assert data
    # A set that nobody may hand on: its users supply it.
    assert {item["name"] for item in absent} <= {"MSRCv2"}
