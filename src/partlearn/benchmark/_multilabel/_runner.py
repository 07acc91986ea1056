"""Run a multi-label plan: skip what is done, rank once, follow the rankings, merge."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from partlearn.benchmark._engines import Call, Engine, Failure
from partlearn.benchmark._execute import Limits, Record
from partlearn.benchmark._facts import run_facts
from partlearn.benchmark._jobs import Job, Reduction
from partlearn.benchmark._methods import available
from partlearn.benchmark._multilabel._data import (
    MultilabelData,
    describe,
    load_multilabel,
)
from partlearn.benchmark._multilabel._execute import follow, rank
from partlearn.benchmark._multilabel._jobs import expand_multilabel
from partlearn.benchmark._multilabel._plan import MultilabelPlan
from partlearn.benchmark._multilabel._protocol import split
from partlearn.benchmark._multilabel._tables import merge_multilabel
from partlearn.benchmark._runner import (
    Progress,
    RunResult,
    failed_record,
    has_limits,
    is_open,
    seconds_of,
    within_limits,
)
from partlearn.benchmark._store import Store

__all__ = ["check_multilabel", "run_multilabel"]


def check_multilabel(plan: MultilabelPlan) -> MultilabelPlan:
    """Fail before anything runs if a method does not exist or a parameter is wrong.

    Parameters
    ----------
    plan : MultilabelPlan
        The plan to check.

    Returns
    -------
    MultilabelPlan
        Without the optional methods that this installation does not have.
    """
    selectors = available(plan, plan.reducers, "ranker")
    names = {method.name for method in selectors}
    return replace(
        plan,
        reducers=selectors,
        classifiers=available(plan, plan.classifiers, "multilabel"),
        learners=available(plan, plan.learners, "multilabel"),
        reference=plan.reference if plan.reference in names else "",
    )


def run_multilabel(
    plan: MultilabelPlan,
    folder: str | Path,
    *,
    data_folder: str | Path | None,
    engine: Engine,
    retry_failed: bool,
    fresh: bool,
    progress: Progress | None,
) -> RunResult:
    """Run the jobs of a plan that are not done yet, and merge the results.

    Parameters
    ----------
    plan : MultilabelPlan
        The plan.
    folder : str or Path
        Where results are kept.
    data_folder : str, Path or None
        Where the data sets are.
    engine : Engine
        Where jobs run.
    retry_failed : bool
        Run failed jobs again.
    fresh : bool
        Forget finished jobs.
    progress : callable or None
        Called with (done, total, label) after each finished job.

    Returns
    -------
    RunResult
        Rows and counts.
    """
    start = perf_counter()
    plan = check_multilabel(plan)
    data, absent = load_multilabel(plan, data_folder)
    if not data:  # nothing to run: leave no empty folder behind
        return RunResult(Path(folder), [], absent)
    jobs = expand_multilabel(plan, data)
    store = Store(folder)
    store.clean()
    store.write_json("splits.json", _folds(plan, data))
    if fresh:
        store.forget()
    pending = [job for job in jobs if is_open(store, job, retry_failed)]
    session = _Session(plan, data, store, engine, progress)
    work_time = session.run(pending, retry_failed)
    rows = merge_multilabel(jobs, store)
    n_failed = sum(row["status"] != "ok" for row in rows)
    wall_time = perf_counter() - start
    facts = run_facts(plan, engine) | {
        "wall_time": wall_time,
        "work_time": work_time,
        "n_jobs": len(jobs),
        "n_executed": len(pending),
        "n_failed": n_failed,
    }
    about = [describe(item) for item in data]
    # Last, and together: an interrupted run leaves the report of the one before.
    store.write_json("plan.json", asdict(plan))
    store.write_json("run.json", {"facts": facts, "absent": absent, "data": about})
    return RunResult(
        Path(folder), rows, absent, n_failed, len(pending), wall_time, work_time
    )


def _folds(
    plan: MultilabelPlan, data: Sequence[MultilabelData]
) -> dict[str, dict[str, list[int]]]:
    """Fold of every row by data set and noise seed, so that others can use the same."""
    found: dict[str, dict[str, list[int]]] = {}
    for item in data:
        n = item.Y.shape[0]
        for seed in item.spec.noise_seeds:
            of_row = np.empty(n, dtype=np.int64)
            for fold in range(plan.folds):
                of_row[split(n, plan.folds, fold, plan.fold_seed, seed)[1]] = fold
            found.setdefault(item.fingerprint, {})[str(seed)] = of_row.tolist()
    return found


class _Session:
    """One pass over the open jobs of a plan."""

    def __init__(
        self,
        plan: MultilabelPlan,
        data: Sequence[MultilabelData],
        store: Store,
        engine: Engine,
        progress: Progress | None,
    ) -> None:
        self.store = store
        self.engine = engine
        self.progress = progress or (lambda done, total, label: None)
        self.limits = Limits(plan.threads, plan.time_limit, plan.memory_limit)
        self.data = {item.fingerprint: item for item in data}
        self.done = self.total = 0
        self._shared: dict[str, Any] = {}

    def run(self, pending: Sequence[Job], retry_failed: bool) -> float:
        """Rank what open jobs need ranked, then follow the rankings."""
        rankings = {
            job.reduction.id: job.reduction
            for job in pending
            if job.reduction.reducer.cls
        }
        tasks = [
            task for task in rankings.values() if self._is_open(task, retry_failed)
        ]
        self.total = len(tasks) + len(pending)
        seconds = self._all(
            ((rank, self._data(task), task) for task in tasks),
            [f"{task.data} {task.reducer.name}" for task in tasks],
            lambda i, record: self.store.put_reduction(tasks[i].id, record),
        )
        return seconds + self._all(
            (
                (follow, self._data(job.reduction), self._ranked(job), job)
                for job in pending
            ),
            [
                f"{job.reduction.data} {job.reduction.reducer.name} {job.learner.name}"
                for job in pending
            ],
            lambda i, record: self.store.put_job(pending[i].id, record),
        )

    def _is_open(self, task: Reduction, retry_failed: bool) -> bool:
        record = self.store.get_reduction(task.id)
        return record is None or (retry_failed and record["status"] != "ok")

    def _data(self, task: Reduction) -> Any:
        key = task.content["data"]
        if key not in self._shared:
            self._shared[key] = self.engine.share(self.data[key], key)
        return self._shared[key]

    def _ranked(self, job: Job) -> Record | None:
        task = job.reduction
        return self.store.get_reduction(task.id) if task.reducer.cls else None

    def _all(
        self,
        work: Iterator[tuple[Any, ...]],
        labels: Sequence[str],
        keep: Callable[[int, Record], None],
    ) -> float:
        calls: Iterator[Call] = ((_limited, (*args, self.limits)) for args in work)
        seconds = 0.0
        for i, answer in self.engine.run(calls):
            record = failed_record(answer) if isinstance(answer, Failure) else answer
            keep(i, record)
            seconds += seconds_of(record)
            self.done += 1
            self.progress(self.done, self.total, labels[i])
        return seconds


def _limited(function: Callable[..., Record], *args: Any) -> Record:
    """Call in a process of its own where the plan sets limits."""
    limits: Limits = args[-1]
    if not has_limits(limits):
        return function(*args)
    found: Record = within_limits(limits, function, *args)
    return found
