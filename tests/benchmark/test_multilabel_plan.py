"""Plans for multi-label data: what they say, and where they are wrong."""

import numpy as np
import pytest
from tests.runs import load_plan_data

from partlearn.benchmark import (
    MultilabelPlan,
    PlanError,
    check_methods,
    list_plans,
    load_plan,
    parse_plan,
)
from partlearn.benchmark._multilabel import MultilabelTask

BASE = """
[plan]
name = "small"
task = "multilabel"
folds = 2
{head}
[[data]]
source = "sklearn:multilabel"
{data}
[[selectors]]
class = "TRACE"
{selector}
[[learners]]
class = "MLKNN"
{tail}
"""


def text(head="", data="r = 1", selector="", tail=""):
    return BASE.format(head=head, data=data, selector=selector, tail=tail)


def test_defaults_are_the_sound_protocol():
    plan = parse_plan(text())
    assert isinstance(plan, MultilabelPlan)
    assert plan.percentages == tuple(range(1, 21))
    assert plan.labels == ("candidates", "clean")
    assert plan.random_draws == 20
    assert plan.metrics[0] == "average_precision"
    assert plan.data[0].noise == "add"
    assert [m.name for m in plan.reducers] == ["TRACE"]


def test_every_field():
    plan = parse_plan(
        text(
            head="percentages = [5, 20]\nlabels = ['clean']\nrandom_draws = 2\n"
            "cv = 4\nmetrics = ['coverage']\nreference = 'TRACE'\n"
            "time_limit = 9\nnotes = ['x']",
            data="r = [0.5, 1]\nnoise = 'rate'\nnoise_seeds = [3, 4]\ncounts = [1, 2]\n"
            "learners = ['MLKNN']\nmax_rows = 50\nnote = 'y'",
            tail="[[classifiers]]\nname = 'alone'\nclass = 'MLKNN'",
        )
    )
    (data,) = plan.data
    assert (data.r, data.noise_seeds, data.counts) == ((0.5, 1), (3, 4), (1, 2))
    assert data.learners == ("MLKNN",)
    assert plan.time_limit == 9
    assert plan.classifiers[0].name == "alone"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"head": "percentages = [0]"}, "above 0"),
        ({"head": "labels = ['noisy']"}, "candidates, clean"),
        ({"head": "protocols = ['inductive']"}, "unknown field `protocols`"),
        ({"head": "reference = 'nobody'"}, "no selector is named 'nobody'"),
        ({"data": "r = -1"}, "at least 0"),
        ({"data": "r = 1\nnoise = 'loud'"}, "must be one of add"),
        ({"data": "r = 1\nlearners = ['nobody']"}, "no learner is named"),
        ({"selector": "name = 'random order'"}, "name of a control"),
        ({"tail": "pass_confidence = true"}, "unknown field `pass_confidence`"),
        (
            {"tail": "[[classifiers]]\nname = 'TRACE'\nclass = 'MLKNN'"},
            "two methods are named 'TRACE'",
        ),
        ({"tail": "[quick]\nselectors = ['nobody']"}, "no selectors entry"),
        ({"data": "r = 1\nmax_labels = 1"}, "`max_labels` .* at least 2"),
    ],
)
def test_errors_say_where(parts, message):
    with pytest.raises(PlanError, match=message):
        parse_plan(text(**parts), origin="mine.toml", quick="quick" in str(parts))


ALONE = """
[plan]
name = "alone"
task = "multilabel"
folds = 2
labels = ["candidates"]
{head}
[[data]]
name = "made"
source = "sklearn:multilabel"
r = 2
max_rows = 60
[[classifiers]]
class = "MLKNN"
[[classifiers]]
class = "FPML"
"""


def test_classifiers_alone_are_compared_with_each_other():
    plan = parse_plan(ALONE.format(head='reference = "MLKNN"'))
    assert [spec.name for spec in plan.compared] == ["MLKNN", "FPML"]
    assert not any("tuned" in metric for metric in plan.metrics)
    data, _ = load_plan_data(plan, None)
    names = [job.reduction.reducer.name for job in MultilabelTask(plan).expand(data)]
    assert names == ["MLKNN", "FPML", "label frequency"] * 2
    with pytest.raises(PlanError, match="`macro_f1_tuned` is for plans with"):
        parse_plan(ALONE.format(head='metrics = ["macro_f1_tuned"]'))
    without = ALONE.format(head="").split("[[classifiers]]")[0]
    with pytest.raises(PlanError, match=r"at least one \[\[classifiers\]\] entry"):
        parse_plan(without)


def test_frequent_labels_and_features(tmp_path):
    X = np.array([[0.0, 1, 2], [0, 3, 0], [5, 6, 0], [0, 1, 1], [0, 0, 7]])
    Y = np.array(
        [[1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]], bool
    )
    np.savez(tmp_path / "own.npz", X=X, Y=Y, S=Y | np.eye(5, 4, dtype=bool))
    own = ALONE.replace("sklearn:multilabel", "own").replace("r = 2\n", "")
    own = own.replace("max_rows = 60", "max_labels = 2\nmax_features = 2")
    (data,), _ = load_plan_data(parse_plan(own.format(head="")), tmp_path)
    assert data.X.tolist() == [[1, 2], [3, 0], [6, 0]]
    assert data.truth.tolist() == [[False, True], [True, True], [True, False]]
    assert data.S.tolist() == data.truth.tolist()
    assert data.classes == ("1", "3")


def test_quick_changes_what_it_names():
    plan = parse_plan(
        text(
            head="reference = 'TRACE'",
            tail="[[selectors]]\nclass = 'MIFS'\n[quick]\nselectors = ['MIFS']\n"
            "percentages = [10]\nnoise_seeds = [7]\nrandom_draws = 1\nr = 2\n"
            "cv = 2\nlabels = ['clean']\nfolds = 3\nmax_rows = 40",
        ),
        quick=True,
    )
    assert plan.name == "small-quick"
    assert [m.name for m in plan.reducers] == ["MIFS"]
    assert plan.reference == ""
    assert (plan.percentages, plan.random_draws, plan.folds) == ((10,), 1, 3)
    (data,) = plan.data
    assert (data.r, data.noise_seeds, data.max_rows) == ((2,), (7,), 40)


def test_optional_methods_and_wrong_parameters():
    missing = text(tail="[[selectors]]\nclass = 'NOPE'\noptional = true")
    assert [m.name for m in check_methods(parse_plan(missing)).reducers] == ["TRACE"]
    with pytest.raises(PlanError, match="no method named 'NOPE'"):
        check_methods(parse_plan(missing.replace("optional = true", "")))
    with pytest.raises(PlanError, match="no parameter `mi`"):
        check_methods(parse_plan(text(selector="params = { mi = 1 }")))


def test_data_without_noise_or_labels(tmp_path):
    with pytest.raises(PlanError, match="give `r`"):
        load_plan_data(parse_plan(text(data="")), None)
    source = 'source = "sklearn:multilabel"'
    with pytest.raises(PlanError, match="only source of scikit-learn"):
        load_plan_data(parse_plan(text().replace(source, 'source = "sklearn:x"')), None)
    rng = np.random.default_rng(0)
    X, Y = rng.random((20, 3)), rng.random((20, 4)) < 0.5
    np.savez(tmp_path / "plain.npz", X=X, Y=Y)
    np.savez(tmp_path / "partial.npz", X=X, Y=Y, S=Y | (rng.random((20, 4)) < 0.3))
    np.savez(tmp_path / "single.npz", X=X, y=np.arange(20) % 3)
    plain = text(data="").replace(source, 'source = "plain"')
    with pytest.raises(PlanError, match="no candidates; give `r`"):
        load_plan_data(parse_plan(plain), tmp_path)
    partial = text(data="max_rows = 10").replace(source, 'source = "partial"')
    (data,), absent = load_plan_data(parse_plan(partial), tmp_path)
    assert absent == []
    assert data.S.shape == (10, 4)
    single = text().replace(source, 'source = "single"')
    with pytest.raises(PlanError, match="matrix of true labels"):
        load_plan_data(parse_plan(single), tmp_path)
    with pytest.raises(PlanError, match="`counts` is 4, but there are 3 features"):
        load_plan_data(
            parse_plan(plain.replace("[[sel", "r = 1\ncounts = 4\n[[sel", 1)), tmp_path
        )
    with pytest.raises(PlanError, match="30 folds of 10 rows"):
        load_plan_data(parse_plan(partial.replace("folds = 2", "folds = 30")), tmp_path)


def test_absent_data_is_listed(tmp_path):
    plan = parse_plan(text().replace("sklearn:multilabel", "nowhere"))
    data, absent = load_plan_data(plan, tmp_path)
    assert data == []
    assert "nowhere" in absent[0]["reason"]


def test_jobs_have_controls_and_share_rankings():
    plan = parse_plan(text(head="percentages = [5, 20]\nrandom_draws = 3"))
    data, _ = load_plan_data(plan, None)
    jobs = list(MultilabelTask(plan).expand(data))
    # Per fold: TRACE, 3 random orders, norm, ridge, all features, label frequency;
    # each trained on candidates and on clean labels.
    assert len(jobs) == 2 * 2 * (1 + 3 + 1 + 1 + 1 + 1)
    assert len({job.id for job in jobs}) == len(jobs)
    rankings = {j.reduction.id for j in jobs if j.reduction.reducer.cls}
    assert len(rankings) == 2 * (1 + 3 + 1 + 1)
    draws = {j.reduction.seed for j in jobs if j.reduction.reducer.name[:6] == "random"}
    assert len(draws) == 2 * 3
    assert jobs[0].points == ((5, 2), (20, 8))


def test_scores_asked_for_do_not_change_a_job():
    def ids(head):
        plan = parse_plan(text(head=f"percentages = [5]\nrandom_draws = 1\n{head}"))
        data, _ = load_plan_data(plan, None)
        return [job.id for job in MultilabelTask(plan).expand(data)]

    assert ids("metrics = ['coverage']") == ids("metrics = ['macro_f1']")
    assert ids("fold_seed = 1") != ids("fold_seed = 2")


def test_shipped_plans():
    names = [n for n in list_plans() if n.startswith("pml-")]
    tables = [f"pml-fsla-table{i}" for i in range(2, 9)]
    wanted = [*tables, "pml-fsla-figure4", "pml-fsla-figure5"]
    wanted += ["pml-newer", "pml-sound", "pml-selectors"]
    wanted += ["pml-learners", "pml-yeast"]  # classifiers alone
    assert set(names) == {*wanted, *(f"{n}-quick" for n in wanted)}
    for name in names:
        plan = check_methods(load_plan(name))
        assert isinstance(plan, MultilabelPlan)
        assert bool(plan.reducers) == (name.split("-")[1] not in ("learners", "yeast"))
    sound = load_plan("pml-sound")
    # Seeds below 9000 were used in development.
    assert all(min(d.noise_seeds) > 9000 for d in sound.data)
