"""The runner: the same answers whatever happens on the way."""

import importlib.util
import os
import signal
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.runs import load_plan_data, rows_of
from tests.settling import few_iterations

from partlearn import benchmark
from partlearn._math.linalg import z_scores
from partlearn.benchmark import (
    EngineLostError,
    ProcessEngine,
    SerialEngine,
    Store,
    load_run,
    make_engine,
    run_plan,
    verify_run,
)
from partlearn.benchmark._isolated import ChildDiedError, IsolatedProcess
from partlearn.benchmark._partial import PartialTask
from partlearn.classification import PLKNN
from partlearn.decomposition import CENDA
from partlearn.metrics import area_under_risk_coverage
from partlearn.model_selection import CandidateKFold, cross_validate
from partlearn.report import summarize, to_markdown

parse_plan = partial(benchmark.parse_plan, allow=["toy_methods"])


def results_bytes(folder):
    (path,) = folder.glob("results.*")
    return path.read_bytes()


class Reversed(SerialEngine):
    """Runs the calls in the opposite order."""

    def run(self, calls):
        numbered = list(enumerate(calls))
        for i, (function, args) in reversed(numbered):
            yield i, function(*args)


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


BOTH = 'protocols = ["inductive", "transductive"]\n'


@pytest.fixture(scope="module")
def plan(plan_text, toys):
    return parse_plan(
        plan_text(learners=("PLKNN", "toy_methods:Noisy"), head=BOTH, noise="[0, 1]")
    )


@pytest.fixture(scope="module")
def whole_folder(plan, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run_plan(plan, folder)
    return folder


@pytest.fixture(scope="module")
def whole(whole_folder):
    return results_bytes(whole_folder)


def test_rows_and_counts(plan, tmp_path):
    seen = []
    result = run_plan(plan, tmp_path, progress=lambda *event: seen.append(event))
    # 2 noise seeds x 2 protocols x 2 reducers x 2 learners x 3 folds.
    assert len(rows_of(result)) == 48
    assert result.facts["n_executed"] == 48
    assert result.facts["n_failed"] == 0
    assert result.facts["work_time"] > 0
    reductions = 2 * (3 + 1)
    assert seen[-1][:2] == (48 + reductions, 48 + reductions)
    rows = rows_of(load_run(tmp_path))
    assert all(0 <= r["accuracy"] <= 1 for r in rows)
    assert all(r["fit_time"] > 0 for r in rows)
    counts = {r["reducer_n_components"] for r in rows if r["reducer"] == "none"}
    assert counts == {None}


def test_order_does_not_matter(plan, tmp_path, whole):
    run_plan(plan, tmp_path / "reversed", engine=Reversed())
    assert results_bytes(tmp_path / "reversed") == whole


def _visible(module):
    return importlib.util.find_spec(module) is not None


def test_processes_see_what_can_be_imported_when_they_are_asked(tmp_path, monkeypatch):
    engine = make_engine(2)
    assert not _visible("arrived_late")
    (tmp_path / "arrived_late.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert dict(engine.run(iter([(_visible, ("arrived_late",))]))) == {0: True}
    engine.close()


def test_processes_give_the_same_bytes(plan, tmp_path, whole):
    engine = make_engine(2)
    assert isinstance(engine, ProcessEngine)
    run_plan(plan, tmp_path / "processes", engine=engine)
    engine.close()
    assert results_bytes(tmp_path / "processes") == whole


@pytest.mark.parametrize("after", [0, 3, 11])
def test_interrupted_runs_resume_to_the_same_bytes(plan, tmp_path, whole, after):
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, tmp_path / "stopped", engine=Stops(after))
    result = run_plan(plan, tmp_path / "stopped")
    assert result.facts["n_executed"] <= 48
    assert results_bytes(tmp_path / "stopped") == whole


def test_finished_jobs_are_skipped(plan, whole_folder, whole):
    folder = whole_folder
    again = run_plan(plan, folder)
    assert again.facts["n_executed"] == 0
    lost = sorted((folder / "jobs").iterdir())[:5]
    for path in lost:
        path.unlink()
    assert run_plan(plan, folder).facts["n_executed"] == 5
    assert results_bytes(folder) == whole


def test_changing_a_parameter_changes_only_its_jobs(plan_text, tmp_path):
    run_plan(parse_plan(plan_text()), tmp_path)
    changed = plan_text().replace('class = "CENDA"', 'class = "CENDA"\nparams.mu = 0.4')
    assert run_plan(parse_plan(changed), tmp_path).facts["n_executed"] == 3


def test_renaming_changes_no_job(plan_text, tmp_path):
    run_plan(parse_plan(plan_text()), tmp_path)
    text = plan_text().replace(
        'class = "PLKNN"', 'class = "PLKNN"\nname = "neighbours"'
    )
    result = run_plan(parse_plan(text), tmp_path)
    assert result.facts["n_executed"] == 0
    assert {row["learner"] for row in rows_of(result)} == {"neighbours"}


def test_inductive_equals_cross_validate(plan_text, tmp_path):
    plan = parse_plan(plan_text())
    (data,), _ = load_plan_data(plan, None)
    rows = rows_of(run_plan(plan, tmp_path))
    cv = CandidateKFold(3, random_state=0)

    def scores(reducer):
        return [r["accuracy"] for r in rows if r["reducer"] == reducer]

    # StandardScaler divides by the deviation with ddof 0: neighbours are the same.
    raw = make_pipeline(StandardScaler(), PLKNN())
    expected = cross_validate(raw, data.X, data.S, data.truth, cv=cv)["test_score"]
    np.testing.assert_allclose(scores("none"), expected)
    reduced = make_pipeline(CENDA(), StandardScaler(), PLKNN())
    with few_iterations():
        found = cross_validate(reduced, data.X, data.S, data.truth, cv=cv)
    np.testing.assert_allclose(scores("CENDA"), found["test_score"])


def test_transductive_equals_cross_validate(plan_text, tmp_path):
    plan = parse_plan(plan_text(head='protocols = ["transductive"]\n'))
    (data,), _ = load_plan_data(plan, None)
    rows = rows_of(run_plan(plan, tmp_path))
    with few_iterations():
        found = cross_validate(
            make_pipeline(CENDA(), PLKNN()),
            data.X,
            data.S,
            data.truth,
            cv=CandidateKFold(3, random_state=0),
            protocol="transductive",
        )
    ours = [r["accuracy"] for r in rows if r["reducer"] == "CENDA"]
    np.testing.assert_allclose(ours, found["test_score"])


def test_seeds_differ_between_folds_and_not_between_runs(plan_text, tmp_path, toys):
    plan = parse_plan(plan_text(learners=("toy_methods:Noisy",), reducers=("none",)))
    (data,), _ = load_plan_data(plan, None)
    task = PartialTask(plan)
    jobs = list(task.expand([data]))
    assert len({job.seed for job in jobs}) == 3
    assert [job.seed for job in task.expand([data])] == [job.seed for job in jobs]


def test_failing_methods_are_rows(plan_text, tmp_path, toys):
    plan = parse_plan(
        plan_text(
            learners=("PLKNN", "toy_methods:Broken"),
            reducers=("none", "toy_methods:Broken"),
        )
    )
    result = run_plan(plan, tmp_path)
    failed = [r for r in rows_of(result) if r["status"] == "failed"]
    # The broken learner fails on raw features, the broken reducer fails everybody.
    assert result.facts["n_failed"] == len(failed) == 3 + 6
    assert all("broken <on> purpose" in r["message"] for r in failed)
    assert all("RuntimeError" in r["traceback"] for r in failed)
    assert run_plan(plan, tmp_path).facts["n_executed"] == 0
    assert run_plan(plan, tmp_path, retry_failed=True).facts["n_executed"] == 9


def test_warnings_are_kept(plan_text, tmp_path, toys):
    plan = parse_plan(plan_text(learners=("toy_methods:Warns",), reducers=("none",)))
    rows = rows_of(run_plan(plan, tmp_path))
    assert all(row["warnings"] == "UserWarning: careful" for row in rows)


def test_metrics_beside_accuracy(plan_text, tmp_path, toys):
    head = 'metrics = ["accuracy", "disambiguation", "candidate_hit"]\n'
    plan = parse_plan(
        plan_text(
            learners=("toy_methods:Constant", "toy_methods:Noisy"),
            reducers=("none",),
            head=head,
        )
    )
    rows = rows_of(run_plan(plan, tmp_path))
    constant = [r for r in rows if r["learner"] == "Constant"]
    noisy = [r for r in rows if r["learner"] == "Noisy"]
    assert all(0 <= r["disambiguation"] <= 1 for r in constant)
    assert all(r["disambiguation"] is None for r in noisy)
    assert all(0 <= r["candidate_hit"] <= 1 for r in rows)


def test_scores_of_imbalance_silence_and_the_oracle(plan_text, tmp_path):
    names = "balanced_accuracy worst_class_recall risk_coverage_area oracle_accuracy"
    head = f"metrics = {['accuracy', *names.split()]}\n"
    plan = parse_plan(plan_text(learners=("PLKNN",), reducers=("none",), head=head))
    (data, *_), _ = load_plan_data(plan, None)
    run = run_plan(plan, tmp_path)
    row = next(r for r in rows_of(run) if r["fold"] == 0)
    train, test = next(CandidateKFold(plan.folds, random_state=0).split(data.X))
    Z = z_scores(data.X, train)
    learner = PLKNN().fit(Z[train], data.S[train])
    P, truth = learner.predict_proba(Z[test]), data.truth[test]
    predicted = learner.predict(Z[test])
    shares = [np.mean(predicted[truth == k] == k) for k in np.unique(truth)]
    assert row["balanced_accuracy"] == pytest.approx(np.mean(shares))
    assert row["worst_class_recall"] == pytest.approx(min(shares))
    area = area_under_risk_coverage(P.max(axis=1), predicted == truth)
    assert row["risk_coverage_area"] == pytest.approx(area)
    told = PLKNN().fit(Z[train], data.truth[train])
    assert row["oracle_accuracy"] == np.mean(told.predict(Z[test]) == truth)
    assert "risk coverage area" in to_markdown(summarize(tmp_path))


@pytest.mark.parametrize(
    ("learner", "head", "error"),
    [
        ("toy_methods:Sleeps", "time_limit = 1\n", "TimeoutError"),
        ("toy_methods:Greedy", "time_limit = 600\nmemory_limit = 1000\n", "Memory"),
    ],
)
def test_limits(plan_text, tmp_path, toys, learner, head, error):
    learners = (learner,) if error == "TimeoutError" else ("PLKNN", learner)
    text = plan_text(learners=learners, reducers=("none",), head=head)
    result = run_plan(parse_plan(text.replace("folds = 3", "folds = 2")), tmp_path)
    name = learner.partition(":")[2]
    for row in rows_of(result):
        assert (error in row["error"]) == (row["learner"] == name)
        assert bool(row["error"]) == (row["learner"] == name)


def test_reductions_obey_limits_too(plan_text, tmp_path, toys):
    plan = parse_plan(
        plan_text(
            learners=("toy_methods:Constant",),
            reducers=("toy_methods:Broken", "CENDA"),
            head="time_limit = 60\n",
        ).replace("folds = 3", "folds = 2")
    )
    rows = rows_of(run_plan(plan, tmp_path))
    assert {r["status"] for r in rows if r["reducer"] == "CENDA"} == {"ok"}
    assert {r["error"] for r in rows if r["reducer"] == "Broken"} == {"RuntimeError"}


def test_a_call_that_kills_its_process_does_not_stop_the_others():
    calls = [(abs, (-1,)), (os._exit, (7,)), (abs, (-2,)), (abs, (-3,))]
    engine = ProcessEngine(2)
    answers = dict(engine.run(iter(calls)))
    engine.close()
    assert isinstance(answers[1], ChildDiedError)
    assert "ended with code 7" in str(answers[1])
    assert (answers[0], answers[2], answers[3]) == (1, 2, 3)


class Loses(SerialEngine):
    """Loses the answers of calls with at least so many jobs."""

    def __init__(self, at_least):
        self.at_least = at_least

    def run(self, calls):
        for i, (function, args) in enumerate(calls):
            jobs = next((part for part in args if isinstance(part, list)), [])
            if len(jobs) >= self.at_least:
                yield i, RuntimeError("gone")
            else:
                yield i, function(*args)


def test_jobs_of_a_lost_group_run_alone(plan_text, tmp_path, toys):
    text = plan_text(learners=("PLKNN", "toy_methods:Constant"))
    plan = parse_plan(text.replace("folds = 3", "folds = 2"))
    seen = []
    result = run_plan(
        plan, tmp_path, engine=Loses(2), progress=lambda *event: seen.append(event[:2])
    )
    assert result.facts["n_failed"] == 0
    assert seen[-1] == (8 + 2, 8 + 2)


def test_a_lost_single_job_is_a_row(plan_text, tmp_path):
    plan = parse_plan(plan_text(reducers=("none",)))
    result = run_plan(plan, tmp_path, engine=Loses(1))
    assert {r["error"] for r in rows_of(result)} == {"RuntimeError"}


class Gone(SerialEngine):
    """Is lost in the middle of a run."""

    def run(self, calls):
        for answer in super().run(calls):
            yield answer
            raise EngineLostError("the machine is gone")


def test_a_lost_engine_leaves_no_failed_results(plan_text, tmp_path):
    plan = parse_plan(plan_text(reducers=("none",)))
    with pytest.raises(EngineLostError, match="machine is gone"):
        run_plan(plan, tmp_path, engine=Gone())
    result = run_plan(plan, tmp_path)
    assert (result.facts["n_executed"], result.facts["n_failed"]) == (2, 0)


def test_a_process_that_cannot_start_says_nothing_about_the_job(monkeypatch):
    def full(*_, **__):
        raise OSError("no memory")

    monkeypatch.setattr("subprocess.Popen", full)
    engine = ProcessEngine(2)
    with pytest.raises(EngineLostError, match=r"no process can be started \(no memory"):
        list(engine.run([(abs, (-1,))]))
    with pytest.raises(EngineLostError):
        list(SerialEngine().run([(IsolatedProcess().call, (abs, (-1,)))]))


def _kill_once(path):
    """End this process the first time, as somebody outside may."""
    try:
        os.mkdir(path)
    except FileExistsError:
        return "done"
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_ended_from_outside_fails_no_job(tmp_path):
    engine = ProcessEngine(1)
    calls = [(_kill_once, (str(tmp_path / "seen"),)), (abs, (-2,))]
    assert dict(engine.run(calls)) == {0: "done", 1: 2}
    engine.close()


def test_an_interrupt_ends_the_processes_at_once():
    engine = ProcessEngine(2)
    answers = engine.run([(abs, (-1,)), (time.sleep, (600,)), (time.sleep, (600,))])
    assert next(answers) == (0, 1)
    answers.close()
    engine.close()


def test_shared_values_reach_the_processes_once():
    engine = ProcessEngine(1)
    value = engine.share(np.arange(5), "numbers")
    assert engine.share(np.arange(9), "numbers") == value
    assert dict(engine.run([(np.sum, (value,))])) == {0: 10}
    engine.close()


def test_verification_finds_what_was_changed(plan_text, tmp_path, toys):
    text = plan_text(learners=("PLKNN", "toy_methods:Noisy"))
    plan = parse_plan(text.replace("folds = 3", "folds = 2"))
    run_plan(plan, tmp_path)
    answer = verify_run(plan, tmp_path, share=1)
    assert (answer.n_checked, answer.different) == (8, ())
    assert verify_run(plan, tmp_path, share=0.2, seed=0).n_checked == 2
    for share in (0, 1.5):
        with pytest.raises(ValueError, match=f"above 0 and at most 1; got {share}"):
            verify_run(plan, tmp_path, share=share)
    # Written by the store itself, so that only running again tells.
    store = Store(tmp_path)
    path = min((tmp_path / "jobs").iterdir())
    record = store.get(f"jobs/{path.stem}")
    wrong = replace(record, values=(("accuracy", 0.123, None),))
    store.put(f"jobs/{path.stem}", wrong)
    other = min((tmp_path / "reductions").glob("*.json"))
    name = f"reductions/{other.stem}"
    reduced = store.get(name)
    arrays = {**reduced.arrays, "Z": reduced.arrays["Z"] + 1e-12}
    store.put(name, replace(reduced, arrays=arrays))
    one, two = verify_run(plan, tmp_path, share=1).different
    assert f"(jobs/{path.name})" in one
    assert f"CENDA (reductions/{other.name})" in two


def test_serial_engine_reports_exceptions_of_the_harness():
    def boom():
        raise OSError("disk")

    ((_, failure),) = SerialEngine().run([(boom, ())])
    assert repr(failure) == "OSError('disk')"


def test_splits_are_kept(plan_text, tmp_path):
    plan = parse_plan(plan_text())
    run_plan(plan, tmp_path)
    import json

    (split,) = json.loads((tmp_path / "splits.json").read_text())["splits"]
    assert (split["data"], split["noise_seed"]) == ("iris", 0)
    assert sorted(set(split["fold_of_row"])) == [0, 1, 2]
    assert len(split["fold_of_row"]) == 60


def test_seeds_that_draw_the_same_sets(plan_text, tmp_path):
    """With every label in every set, noise of one seed is that of another."""
    text = plan_text(reducers=["none"], noise="[0, 1]").replace("r = 1", "r = 2")
    result = run_plan(parse_plan(text), tmp_path)
    rows = rows_of(result)
    assert (len(rows), result.facts["n_failed"]) == (6, 0)
    assert [row["noise_seed"] for row in rows] == 3 * [0] + 3 * [1]
