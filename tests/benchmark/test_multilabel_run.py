"""Multi-label runs: the same bytes whatever happens on the way, failures as rows."""

import gc
import json
from functools import partial

import numpy as np
import pytest
from tests.runs import load_plan_data, rows_of

from partlearn import benchmark
from partlearn.benchmark import (
    NO_LEARNER,
    SerialEngine,
    load_run,
    make_engine,
    run_plan,
)
from partlearn.benchmark._multilabel import MultilabelTask
from partlearn.benchmark._protocol import (
    draw_candidates,
    ranking_scores,
    split_rows,
    unit_scaled,
)
from partlearn.multilabel import MLKNN, TRACE, LinearSVM

parse_plan = partial(benchmark.parse_plan, allow=["toy_methods"])

PLAN = """
[plan]
name = "small"
task = "multilabel"
folds = 2
percentages = [5, 6, 20]
random_draws = 2
cv = 2
{head}
[[data]]
name = "made"
source = "sklearn:multilabel"
r = 2
noise_seeds = [0, 1]
max_rows = 70
[[selectors]]
class = "TRACE"
[[classifiers]]
name = "alone"
class = "MLKNN"
[[learners]]
name = "svm"
class = "LinearSVM"
params = {{ C = [1.0] }}
[[learners]]
name = "knn"
class = "MLKNN"
params = {{ n_neighbors = 5 }}
{tail}
"""


def plan_of(head="", tail=""):
    return parse_plan(PLAN.format(head=head, tail=tail))


def results_bytes(folder):
    (path,) = folder.glob("results.*")
    return path.read_bytes()


class Stops(SerialEngine):
    """Is interrupted after some calls."""

    def __init__(self, after):
        self.left = after

    def run(self, calls):
        for answer in super().run(calls):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            yield answer


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    seen = []
    result = run_plan(plan_of(), folder, progress=lambda *event: seen.append(event))
    return folder, result, seen


def test_rows_and_counts(whole):
    folder, result, seen = whole
    # 2 seeds x 2 folds x 2 kinds of labels; TRACE, 2 draws, norm, ridge with two
    # learners; all features with two; the classifier and label frequency alone.
    jobs = 2 * 2 * 2 * (5 * 2 + 2 + 2)
    rankings = 2 * 2 * 5
    assert result.facts["n_executed"] == jobs
    assert result.facts["n_failed"] == 0
    assert seen[-1][:2] == (jobs + rankings, jobs + rankings)
    assert len(rows_of(result)) == 2 * 2 * 2 * (5 * 2 * 3 + 2 + 2)
    results = rows_of(load_run(folder))
    assert len({r["id"] for r in results}) == jobs
    assert all(r["fit_time"] >= 0 for r in results)
    assert [r["id"] for r in results] == [r["id"] for r in rows_of(result)]
    for row in results:
        assert 0 <= row["average_precision"] <= 1
    own = {r["reducer"] for r in results if r["learner"] == NO_LEARNER}
    assert own == {"alone", "label frequency"}


def test_percentages_of_equal_count_are_one_point(whole):
    rows = [r for r in rows_of(whole[1]) if r["reducer"] == "TRACE"]
    five, six, twenty = rows[:3]
    assert (five["n_features"], six["n_features"], twenty["n_features"]) == (2, 2, 8)
    assert five["average_precision"] == six["average_precision"]


def test_a_point_is_what_the_pieces_give(whole):
    data, _ = load_plan_data(plan_of(), None)
    (data,) = data
    train, test = split_rows(70, 2, 0, 1)[1]
    C = draw_candidates(data.truth[train], "add", 2, 1, 1)
    X = unit_scaled(data.X, train)
    top = TRACE(8).fit(X[train], C).selected_[:2]
    model = MLKNN(5).fit(X[np.ix_(train, top)], C)
    S = model.predict_proba(X[np.ix_(test, top)])
    expected = ranking_scores(data.truth[test], S)
    (row,) = [
        r
        for r in rows_of(whole[1])
        if (r["reducer"], r["learner"], r["labels"]) == ("TRACE", "knn", "candidates")
        and (r["noise_seed"], r["fold"], r["percentage"]) == (1, 1, 5)
    ]
    for name, value in expected.items():
        assert row[name] == pytest.approx(value)


def test_label_frequency_ignores_the_features(whole):
    data, _ = load_plan_data(plan_of(), None)
    (data,) = data
    train, test = split_rows(70, 2, 0, 0)[0]
    share = data.truth[train].mean(axis=0)
    S = np.tile(share, (test.size, 1))
    (row,) = [
        r
        for r in rows_of(whole[1])
        if (r["reducer"], r["labels"]) == ("label frequency", "clean")
        and (r["noise_seed"], r["fold"]) == (0, 0)
    ]
    expected = ranking_scores(data.truth[test], S)
    assert row["average_precision"] == pytest.approx(expected["average_precision"])
    assert row["n_features"] == 0
    # Its tuned thresholds predict every label for every row.
    Y = data.truth[test]
    assert row["micro_f1_tuned"] == pytest.approx(2 * Y.sum() / (Y.size + Y.sum()))


def test_test_labels_never_reach_a_ranking():
    plan = plan_of()
    (data,), _ = load_plan_data(plan, None)
    task = MultilabelTask(plan)
    job = next(j for j in task.expand([data]) if j.reduction.reducer.cls)
    split = split_rows(70, 2, 0, 0)[0]
    before = task.reduce(data, job.reduction, split).arrays["order"]
    test = split[1]
    data.truth[test] = ~data.truth[test]
    data.X[test] = 7.0
    after = task.reduce(data, job.reduction, split).arrays["order"]
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("after", [0, 12, 50])
def test_interrupted_runs_resume_to_the_same_bytes(whole, tmp_path, after):
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan_of(), tmp_path, engine=Stops(after))
    result = run_plan(plan_of(), tmp_path)
    assert result.facts["n_executed"] <= 112 - max(after - 20, 0)
    assert results_bytes(tmp_path) == results_bytes(whole[0])


def test_processes_give_the_same_bytes(whole, tmp_path):
    engine = make_engine(2)
    run_plan(plan_of(), tmp_path, engine=engine)
    engine.close()
    assert results_bytes(tmp_path) == results_bytes(whole[0])


# Dask leaves sockets to the garbage collector, and loops to an old way of starting.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_cluster_gives_the_same_bytes(whole, tmp_path):
    distributed = pytest.importorskip("distributed")
    # Processes: filters of warnings, which jobs set, belong to all threads of one.
    quiet = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**quiet) as cluster:
        cluster.wait_for_workers(1, timeout=300)  # on a busy machine
        engine = make_engine(scheduler=cluster.scheduler_address)
        result = run_plan(plan_of(), tmp_path, engine=engine)
        engine.close()
    gc.collect()  # what the cluster leaves is not for a later test
    assert result.facts["n_failed"] == 0
    assert results_bytes(tmp_path) == results_bytes(whole[0])


def test_linear_machines_are_tuned_by_the_folds_of_the_plan(tmp_path, monkeypatch):
    folds = []

    def fit(self, X, y):
        folds.append(self.cv)
        raise ValueError("seen")

    monkeypatch.setattr(LinearSVM, "fit", fit)
    run_plan(plan_of(), tmp_path)
    assert set(folds) == {2}


def test_folds_are_kept(whole):
    kept = json.loads((whole[0] / "splits.json").read_text())["splits"]
    by_seed = {split["noise_seed"]: split["fold_of_row"] for split in kept}
    assert set(by_seed) == {0, 1}
    _, test = split_rows(70, 2, 0, 1)[1]
    assert np.flatnonzero(np.array(by_seed[1]) == 1).tolist() == test.tolist()


def test_finished_jobs_are_skipped_and_new_scores_cost_nothing(whole):
    folder = whole[0]
    assert run_plan(plan_of(), folder).facts["n_executed"] == 0
    other = plan_of(head='metrics = ["coverage"]')
    assert run_plan(other, folder).facts["n_executed"] == 0
    next((folder / "jobs").iterdir()).unlink()
    assert run_plan(plan_of(), folder).facts["n_executed"] == 1


ONE = """
[plan]
name = "one"
task = "multilabel"
folds = 2
percentages = [10]
random_draws = 1
labels = ["candidates"]
{head}
[[data]]
source = "sklearn:multilabel"
r = 1
max_rows = 40
[[selectors]]
class = "TRACE"
[[selectors]]
name = "broken"
class = "toy_methods:Broken"
[[selectors]]
name = "unranked"
class = "MLKNN"
[[learners]]
name = "hard"
class = "toy_methods:Constant"
[[learners]]
name = "knn"
class = "MLKNN"
"""


@pytest.mark.parametrize("head", ["", "time_limit = 60"])
def test_failures_are_rows(toys, tmp_path, head):
    result = run_plan(parse_plan(ONE.format(head=head)), tmp_path)
    failed = [r for r in rows_of(result) if r["status"] != "ok"]
    assert result.facts["n_failed"] == len(failed)
    texts = {(r["reducer"], r["learner"]): r["message"] for r in failed}
    assert texts["broken", "knn"] == "broken <on> purpose"
    assert "no `ranking_`" in texts["unranked", "knn"]
    assert "neither decision_function nor predict_proba" in texts["TRACE", "hard"]
    assert ("TRACE", "knn") not in texts
    assert {r["average_precision"] for r in failed} == {None}
    again = run_plan(parse_plan(ONE.format(head=head)), tmp_path, retry_failed=True)
    assert again.facts["n_executed"] == len(failed)


def test_without_data_there_is_nothing_to_keep(tmp_path):
    text = ONE.format(head="").split("[[selectors]]\nname")[0]
    text = text.replace("sklearn:multilabel", "nowhere")
    text += '[[learners]]\nclass = "MLKNN"\n'
    result = run_plan(parse_plan(text), tmp_path / "out", data_folder=tmp_path)
    assert (result.data, result.files) == ((), ())
    assert result.absent[0]["source"] == "nowhere"
    assert not (tmp_path / "out").exists()


def test_candidates_of_the_file(tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.random((40, 12)), rng.random((40, 4)) < 0.4
    C = Y | (rng.random(Y.shape) < 0.3)
    np.savez(tmp_path / "own.npz", X=X, Y=Y, S=C)
    text = ONE.format(head="").replace("r = 1\n", "")
    text = text.replace("sklearn:multilabel", "own").split("[[selectors]]\nname")[0]
    text += '[[learners]]\nclass = "MLKNN"\n'
    result = run_plan(parse_plan(text), tmp_path / "out", data_folder=tmp_path)
    assert result.facts["n_failed"] == 0
    assert {row["r"] for row in rows_of(result)} == {None}


def test_the_same_data_with_other_noise_are_two_data_sets(tmp_path):
    text = ONE.format(head="").split("[[selectors]]\nname")[0]
    other = '[[data]]\nname = "rate"\nsource = "sklearn:multilabel"\nnoise = "rate"\n'
    text += other + "r = 1.5\nnoise_seeds = 3\nmax_rows = 40\n"
    text += '[[learners]]\nclass = "MLKNN"\n'
    result = run_plan(parse_plan(text), tmp_path)
    assert result.facts["n_failed"] == 0
    kinds = {(r["data"], r["r"], r["noise_seed"]) for r in rows_of(result)}
    assert kinds == {("multilabel", 1, 0), ("rate", 1.5, 3)}
