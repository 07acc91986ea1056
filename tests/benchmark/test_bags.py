"""Plans that hold out whole bags."""

import numpy as np
import pytest
from tests.runs import load_plan_data

from partlearn.benchmark import (
    PlanError,
    check_methods,
    parse_plan,
    run_plan,
)
from partlearn.benchmark._partial import PartialTask
from partlearn.candidates import bag_runs, make_bags

PLAN = """\
[plan]
name = "bags"
folds = 3
metrics = ["accuracy", "disambiguation"]
[[data]]
name = "faces"
source = "faces"
{data}
[[reducers]]
name = "none"
[[learners]]
class = "{learner}"
{more}
[learners.params]
{params}
"""
FOREST = (
    'max_iter = 1\ncv = 2\nestimator = {class = "sklearn.tree:DecisionTreeClassifier"}'
)


def parsed(data="", learner="PLKNN", more="", params=""):
    text = PLAN.format(data=data, learner=learner, more=more, params=params)
    return parse_plan(text)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, size=90)
    S, bags = make_bags(y, size=3, random_state=0)
    order = np.argsort(bags, kind="stable")
    X = (np.eye(5)[y] + rng.normal(scale=0.3, size=(90, 5)))[order]
    names = [f"x{j}" for j in range(5)]
    head = ",".join([*names, "photo", "candidates", "truth"])
    lines = [head]
    for row, b, s, t in zip(X, bags[order], S[order], y[order], strict=True):
        sets = "|".join(f"n{j}" for j in np.flatnonzero(s))
        lines.append(",".join([*map(str, row), str(b), sets, f"n{t}"]))
    (tmp_path / "faces.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_whole_bags_are_held_out(folder):
    plain = load_plan_data(parsed(), folder)[0][0]
    runs = load_plan_data(parsed('bags = "runs"'), folder)[0][0]
    column = load_plan_data(parsed('bags = "photo"'), folder)[0][0]
    assert plain.bags is None
    assert plain.X.shape[1] == runs.X.shape[1] == 6
    assert column.X.shape[1] == 5  # the column is no feature
    assert np.array_equal(runs.bags, bag_runs(runs.S))
    assert np.array_equal(column.bags, np.arange(90) // 3)
    assert len({d.fingerprint for d in (plain, runs, column)}) == 3
    for data in (runs, column):
        for train, test in PartialTask(parsed()).folds(data)[None]:
            assert not set(data.bags[train]) & set(data.bags[test])
    small = load_plan_data(parsed('bags = "photo"\nmax_rows = 30'), folder)[0][0]
    assert len(small.bags) == 30


def test_learners_use_the_lists(folder, tmp_path):
    accuracy = {}
    for more in ("", "pass_bags = true"):
        plan = parsed('bags = "photo"', "CandidateClassifier", more, FOREST)
        run = run_plan(plan, tmp_path / f"out{bool(more)}", data_folder=folder)
        frame = run.frame()
        accuracy[more] = frame[frame["metric"] == "disambiguation"]["value"].tolist()
    assert len(accuracy[""]) == 3
    assert accuracy[""] != accuracy["pass_bags = true"]


def test_wrong_plans(folder):
    with pytest.raises(PlanError, match="has no column 'photos'"):
        load_plan_data(parsed('bags = "photos"'), folder)
    with pytest.raises(PlanError, match="PLKNN does not use bags"):
        check_methods(parsed(more="pass_bags = true"))
    with pytest.raises(PlanError, match="no data set has bags"):
        check_methods(parsed("", "CandidateClassifier", "pass_bags = true", FOREST))
    text = PLAN.replace('source = "faces"', 'source = "sklearn:iris"\nr = 1')
    plan = parse_plan(
        text.format(data='bags = "runs"', learner="PLKNN", more="", params="")
    )
    with pytest.raises(PlanError, match="come in no bags"):
        load_plan_data(plan, folder)
