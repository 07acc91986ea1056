"""Learners that are tuned inside a plan: settings, criteria, choices, reports."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from tests.runs import rows_of

from partlearn._math.linalg import z_scores
from partlearn.benchmark import (
    CHOICES,
    PlanError,
    check_methods,
    choose,
    load_plan,
    load_run,
    parse_plan,
    run_plan,
    settings,
)
from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN
from partlearn.metrics import candidate_log_likelihood, covering_rate
from partlearn.model_selection import CandidateKFold
from partlearn.report import summarize, to_markdown

PLAN = """
[plan]
name = "t"
folds = 2
reference = "PLKNN"
metrics = ["accuracy", "disambiguation"]
[tune]
draws = 4
criterion = "candidate_log_likelihood"
[[data]]
source = "sklearn:iris"
r = 1
max_rows = 60
[[data]]
name = "again"
source = "sklearn:wine"
r = 1
max_rows = 60
[[reducers]]
name = "none"
[[learners]]
class = "PLKNN"
search = { n_neighbors = [1, 3, 5, 20, 25] }
[[learners]]
name = "tree"
class = "CandidateClassifier"
[learners.params]
cv = 2
max_iter = 1
estimator = { class = "sklearn.tree:DecisionTreeClassifier" }
[learners.search]
estimator__max_depth = [1, 3]
[[learners]]
class = "CLPL"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tuned")
    assert run_plan(parse_plan(PLAN), path).facts["n_failed"] == 0
    return path


@pytest.fixture(scope="module")
def run(folder):
    return load_run(folder)


def test_settings():
    plan = parse_plan(PLAN)
    knn, tree, clpl = plan.learners
    some = settings(plan, knn)
    assert some[0] == {}
    assert len(some) == plan.draws
    assert len({s.get("n_neighbors") for s in some}) == plan.draws
    assert settings(plan, knn) == some
    # No more values than these: all of them, once.
    assert settings(plan, tree)[1:] == [
        {"estimator__max_depth": 1},
        {"estimator__max_depth": 3},
    ]
    assert settings(plan, clpl) == [{}]


def test_every_setting_is_a_row(run):
    rows = rows_of(run)
    assert sum(r["learner"] == "PLKNN" for r in rows) == 2 * 2 * 4
    assert len(rows) == 2 * 2 * (4 + 3 + 1)
    for row in rows:
        assert 0 <= row["covering_rate"] <= 1
        assert 0 <= row["approximated_accuracy"] <= 1
        assert row["candidate_log_likelihood"] <= 0


def test_criteria_by_hand(run):
    """The criteria of the defaults, measured without the benchmark."""
    data = next(d for d in run.plan.data if d.name == "iris")
    X, y = load_iris(return_X_y=True)
    rows = np.sort(np.random.default_rng(0).permutation(150)[: data.max_rows])
    X, y = X[rows], y[rows]
    S = np.asarray(make_candidates(y, n_false=1, random_state=0))
    train, _ = list(CandidateKFold(2, random_state=0).split(X))[1]
    Z, S = z_scores(X, train)[train], S[train]
    order = np.random.default_rng([0, 1]).permutation(len(train))
    n = round(0.25 * len(train))
    held, rest = np.sort(order[:n]), np.sort(order[n:])
    knn = PLKNN().fit(Z[rest], S[rest])
    row = next(
        r
        for r in rows_of(run)
        if (r["data"], r["learner"], r["fold"], r["draw"]) == ("iris", "PLKNN", 1, 0)
    )
    P = knn.predict_proba(Z[held])
    assert row["candidate_log_likelihood"] == pytest.approx(
        candidate_log_likelihood(S[held], P)
    )
    assert row["covering_rate"] == pytest.approx(
        covering_rate(S[held], knn.predict(Z[held]))
    )


def rows(draw, accuracy, likelihood, fold=0):
    job = {
        "id": f"{draw} {fold}",
        "data": "d",
        "r": 1.0,
        "noise_seed": 0,
        "protocol": "inductive",
        "reducer": "none",
        "draw": draw,
        "learner": "L",
        "fold": fold,
    }
    scores = {"accuracy": accuracy, "candidate_log_likelihood": likelihood}
    return [{**job, "metric": name, "value": v} for name, v in scores.items()]


def test_choose_by_hand():
    jobs = [rows(2, 0.9, -3.0), rows(1, 0.7, -1.0), rows(0, 0.5, -1.0)]
    failed = [{**jobs[2][0], "metric": "error", "value": np.nan}]

    def draws(by, *jobs):
        frame = pd.DataFrame([row for job in jobs for row in job])
        chosen = choose(frame, by).drop_duplicates("id")
        return list(zip(chosen["draw"], chosen["fold"], strict=True))

    assert draws("oracle", *jobs) == [(2, 0)]
    # Of equals the defaults, which come first.
    assert draws("candidate_log_likelihood", *jobs) == [(0, 0)]
    assert draws("defaults", *jobs) == [(0, 0)]
    assert draws("oracle", failed) == []
    assert draws("defaults", failed, jobs[1]) == []
    assert draws("oracle", *jobs, rows(0, 0.1, -9.0, fold=1)) == [(2, 0), (0, 1)]
    with pytest.raises(ValueError, match="`by` must be one of defaults"):
        draws("taste", *jobs)


def test_oracle_is_a_ceiling(run):
    frame = run.frame()
    scores = {}
    for by in CHOICES:
        chosen = choose(frame, by)
        scores[by] = chosen.loc[chosen["metric"] == "accuracy", "value"].to_numpy()
    for by in CHOICES:
        assert len(scores[by]) == 2 * 2 * 3
        assert np.all(scores["oracle"] >= scores[by])


def test_cells_hold_the_chosen(run):
    found, chosen = run.scores(), choose(run.frame(), "candidate_log_likelihood")
    assert set(found.cells["method"]) == {"PLKNN", "tree", "CLPL"}
    keys = ["data", "learner", "metric"]
    means = chosen.groupby(keys)["value"].mean()
    for cell in found.cells.itertuples():
        key = (cell.data, cell.method, cell.metric)
        if key in means.index:
            assert cell.mean == pytest.approx(means[key])
        assert cell.whole == (key in means.index)


def test_a_run_goes_on(folder):
    assert run_plan(parse_plan(PLAN), folder).facts["n_executed"] == 0


def test_report_compares_learners(folder):
    summary = summarize(folder)
    assert summary.methods == ("PLKNN", "tree", "CLPL")
    assert summary.reference == "PLKNN"
    text = to_markdown(summary)
    assert "Selection criterion: candidate log likelihood on 25% of the" in text
    assert "All scores" in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("draws = 4", "draws = 1", "`draws` in .tune. must be a whole number of at"),
        ('"candidate_log_likelihood"', '"accuracy"', "must be one of covering_rate"),
        ("draws = 4", "held_out = 2.0", "must be a number between 0 and 1"),
        ("[1, 3, 5, 20, 25]", "3", "search.n_neighbors must be a list of values"),
        ("n_neighbors =", "neighbours =", "PLKNN has no parameter 'neighbours'"),
        ("[1, 3, 5, 20, 25]", "[3, 0]", "'n_neighbors' parameter of PLKNN must be"),
        ("max_depth = [1, 3]", "max_depth = [1, 0]", "'max_depth' parameter of Decis"),
        ('name = "none"', 'name = "none"\n[[reducers]]\nclass = "PLDA"', "one reducer"),
        ('reference = "PLKNN"', 'reference = "nobody"', "no learner is named 'nobody'"),
    ],
)
def test_bad_plans(old, new, message):
    """All at once when the plan is read, not when the first setting is tried."""
    with pytest.raises(PlanError, match=message):
        parse_plan(PLAN.replace(old, new))


@pytest.mark.parametrize(("share", "rest"), [(0.999, 0), (0.97, 1)])
def test_a_share_that_leaves_no_rows_to_fit_fails_before_any_job(share, rest, tmp_path):
    plan = parse_plan(PLAN.replace("draws = 4", f"draws = 4\nheld_out = {share}"))
    words = f"`held_out` = {share} in .tune. leaves {rest} of 30 training rows"
    with pytest.raises(PlanError, match=words):
        run_plan(plan, tmp_path)
    assert not list(tmp_path.glob("jobs/*"))


def test_search_without_tune():
    text = PLAN.replace("[tune]", "").replace("draws = 4", "")
    text = text.replace('criterion = "candidate_log_likelihood"', "")
    text = text.replace('reference = "PLKNN"', "")
    with pytest.raises(PlanError, match="'PLKNN' has values to search, but the plan"):
        parse_plan(text)


def test_shipped_plan():
    for name in ("tuned-comparison", "tuned-comparison-quick"):
        plan = check_methods(load_plan(name))
        assert len(plan.data) >= 12
        assert plan.reference == "CRISPClassifier"
        for learner in plan.learners:
            n = len(settings(plan, learner))
            assert n == (1 if learner.name == "CRISPClassifier" else plan.draws)
