"""Run a plan: skip what is done, fit reducers once, learn, merge."""

# SPDX-License-Identifier: BSD-3-Clause

import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from partlearn.benchmark._data import BenchmarkData
from partlearn.benchmark._engines import Call, Engine, SerialEngine
from partlearn.benchmark._execute import guard, is_limited, within_limits
from partlearn.benchmark._jobs import Job, Reduction
from partlearn.benchmark._load import METRIC, Run, merge, run_facts, save_run
from partlearn.benchmark._plan import Plan
from partlearn.benchmark._records import Record
from partlearn.benchmark._store import Store
from partlearn.benchmark._task import Task, check_methods, jobs_of, task_of

Progress = Callable[[int, int, str], None]
W = TypeVar("W", Reduction, Job)


def run_plan(
    plan: Plan,
    folder: str | Path,
    *,
    data_folder: str | Path | None = None,
    engine: Engine | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Run the open jobs of a plan and merge the results.

    Parameters
    ----------
    plan : Plan
        From :func:`load_plan`.
    folder : str or Path
        Where results are kept; run again with the same folder to resume.
    data_folder : str, Path or None, default=None
        Where the data sets are.
    engine : Engine or None, default=None
        From :func:`make_engine`; None runs in this process.
    retry_failed : bool, default=False
        Run failed jobs again.
    fresh : bool, default=False
        Discard finished jobs after the plan and the data were checked.
    progress : callable or None, default=None
        Called with (done, total, label) after each finished job.

    Returns
    -------
    Run
        As :func:`load_run` reads it. Results do not depend on engine, workers or
        order.

    Raises
    ------
    BusyError
        When another run writes to the folder.
    EngineLostError
        When the processes or the cluster are gone; finished jobs are kept.

    Examples
    --------
    >>> import tempfile
    >>> from partlearn.benchmark import parse_plan, run_plan
    >>> plan = parse_plan('''
    ... [plan]
    ... name = "small"
    ... folds = 2
    ... [[data]]
    ... source = "sklearn:iris"
    ... r = 1
    ... [[reducers]]
    ... name = "none"
    ... [[learners]]
    ... class = "PLKNN"
    ... ''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = run_plan(plan, folder)
    ...     frame = run.frame()
    >>> int((frame["metric"] == "accuracy").sum()), run.facts["n_failed"]
    (2, 0)
    """
    start = perf_counter()
    engine = engine or SerialEngine()
    task = task_of(check_methods(plan))
    data, absent = task.load(data_folder)
    if not data:  # nothing to run: leave no empty folder behind
        return Run(Path(folder), task.plan, {"n_failed": 0}, (), tuple(absent))
    jobs = jobs_of(task, data)
    store = Store(folder)
    with store.writing():
        session = _Session(task, data, store, engine, progress)
        if fresh:
            store.forget()
        pending = [job for job in jobs if _is_open(store.get(job.name), retry_failed)]
        reductions = session.open_reductions(jobs, pending, retry_failed)
        # Read before they are made again.
        damaged = dict(store.damaged)
        work_time = session.run(reductions, pending)
        rows = merge(jobs, store)
        facts = run_facts(
            task.plan,
            engine,
            wall_time=perf_counter() - start,
            work_time=work_time,
            n_jobs=len(jobs),
            n_executed=len(pending),
            n_failed=sum(row[METRIC] == "error" for row in rows),
        )
        store.write_json("splits.json", {"splits": session.splits()})
        about = [task.describe(item) for item in data]
        run = save_run(store, task.plan, facts, about, absent, rows)
    return replace(run, damaged=damaged)


@dataclass(frozen=True)
class Verification:
    """Result of running jobs of a run again.

    Attributes
    ----------
    n_checked : int
        Jobs that were run again.
    different : tuple of str
        Names of jobs and reductions whose results differ from the stored ones.
    """

    n_checked: int
    different: tuple[str, ...]


def verify_run(
    plan: Plan,
    folder: str | Path,
    *,
    share: float = 0.1,
    seed: int | None = None,
    data_folder: str | Path | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Run a random share of the finished jobs again and compare bit for bit.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    folder : str or Path
        Where its results are; nothing is written there.
    share : float, default=0.1
        Share of the jobs, above 0 and at most 1, rounded up to whole jobs.
    seed : int or None, default=None
        Seed of the choice; None chooses others every time.
    data_folder : str, Path or None, default=None
        Where the data sets are.
    engine : Engine or None, default=None
        Where jobs run.
    progress : callable or None, default=None
        As for :func:`run_plan`.

    Returns
    -------
    Verification
        How many were checked, and which differ. Seconds and bytes do not count.
    """
    if not 0 < share <= 1:
        raise ValueError(f"`share` must be above 0 and at most 1; got {share}.")
    task = task_of(check_methods(plan))
    data, _ = task.load(data_folder)
    kept = Store(folder)
    done = [job for job in jobs_of(task, data) if kept.get(job.name) is not None]
    chosen = random.Random(seed).sample(done, ceil(share * len(done)))
    with tempfile.TemporaryDirectory() as scratch:
        again = Store(scratch)
        session = _Session(task, data, again, engine or SerialEngine(), progress)
        reductions = session.open_reductions(chosen, chosen, False)
        session.run(reductions, chosen)
        names = {
            **{j.name: f"{j.label}, fold {j.fold}" for j in chosen},
            **{t.name: t.label for t in reductions},
        }
        different = [
            f"{name} ({key}.json)"
            for key, name in names.items()
            if kept.outcome(key) != again.outcome(key)
        ]
    return Verification(len(chosen), tuple(different))


def _is_open(record: Record | None, retry_failed: bool) -> bool:
    return record is None or (retry_failed and not record.ok)


@dataclass
class _Session:
    """A pass over the open jobs of a plan."""

    task: Task
    items: Sequence[BenchmarkData]
    store: Store
    engine: Engine
    progress: Progress | None
    done: int = 0
    total: int = 0

    def __post_init__(self) -> None:
        self.data = {(item.name, item.fingerprint): item for item in self.items}
        self.folds: dict[tuple[str, str], dict[int | None, list[Any]]] = {}
        for item in self.items:  # two seeds of the noise may draw the same sets
            folds = self.folds.setdefault((item.name, item.fingerprint), {})
            folds |= self.task.folds(item)
        self._shared: dict[tuple[str, str], Any] = {}
        self._reduced: tuple[str, Any] = ("", None)

    def splits(self) -> list[dict[str, Any]]:
        """Fold of each row, for use in other programs."""
        splits = []
        for (name, fingerprint), folds in self.folds.items():
            n = self.data[name, fingerprint].truth.shape[0]
            for seed, parts in folds.items():
                of_row = np.empty(n, dtype=np.int64)
                for fold, (_, test) in enumerate(parts):
                    of_row[test] = fold
                head = {"data": name, "fingerprint": fingerprint, "noise_seed": seed}
                splits.append({**head, "fold_of_row": of_row.tolist()})
        return splits

    def open_reductions(
        self, jobs: Sequence[Job], pending: Sequence[Job], retry_failed: bool
    ) -> list[Reduction]:
        """Reductions that pending jobs need, and those with damaged files."""
        needed = {job.reduction.id for job in pending}
        every = {j.reduction.id: j.reduction for j in jobs if j.reduction.reducer.cls}
        waiting = []
        for key, task in every.items():
            before = len(self.store.damaged)
            record = self.store.get(task.name)
            damaged = len(self.store.damaged) > before
            if damaged or (key in needed and _is_open(record, retry_failed)):
                waiting.append(task)
        return waiting

    def run(self, reductions: Sequence[Reduction], pending: Sequence[Job]) -> float:
        """Fit the reducers, then the learners; return their seconds."""
        # Limits are those of one job.
        together = self.task.shares_features and not is_limited(self.task.plan)
        groups: dict[Any, list[Job]] = {}
        for job in pending:
            key = (job.reduction.id, job.fold) if together else job.id
            groups.setdefault(key, []).append(job)
        self.total = len(reductions) + len(pending)
        learns = list(groups.values())
        seconds = self._run_all([[task] for task in reductions], self._fitting)
        return seconds + self._run_all(learns, self._learning)

    def _run_all(
        self, groups: Sequence[list[W]], call: Callable[[list[W]], Call]
    ) -> float:
        seconds = 0.0
        again: list[list[W]] = []
        for i, answer in self.engine.run(map(call, groups)):
            group = groups[i]
            if isinstance(answer, Exception):
                if len(group) > 1:
                    # One of them ended the process: run each by itself.
                    again += [[work] for work in group]
                    continue
                answer = [Record.failed(answer)]
            for work, record in zip(group, answer, strict=True):
                self.store.put(work.name, record)
                seconds += record.seconds
            self.done += len(group)
            if self.progress:
                self.progress(self.done, self.total, group[0].label)
        return seconds + (self._run_all(again, call) if again else 0.0)

    def _fitting(self, tasks: list[Reduction]) -> Call:
        (of,) = tasks
        split = self._split(of, of.fold or 0)
        args = (self.task, self._data(of), of, split)
        return within_limits, (self.task.plan, _fit, *args)

    def _learning(self, jobs: list[Job]) -> Call:
        of = jobs[0].reduction
        split = self._split(of, jobs[0].fold)
        args = (self.task, self._data(of), self._reduction(of), jobs, split)
        return within_limits, (self.task.plan, _learn, *args)

    def _data(self, task: Reduction) -> Any:
        key = task.of_data
        if key not in self._shared:
            name = f"{task.fingerprint}-{list(self.data).index(key)}"
            self._shared[key] = self.engine.share(self.data[key], name)
        return self._shared[key]

    def _reduction(self, task: Reduction) -> Any:
        if not task.reducer.cls:
            return None
        # Groups of one reduction follow each other: the last one is enough.
        if task.id != self._reduced[0]:
            record = self.store.get(task.name)
            shared = self.engine.share(record, task.id, lasting=False)
            self._reduced = (task.id, shared)
        return self._reduced[1]

    def _split(self, task: Reduction, fold: int) -> Any:
        return self.folds[task.of_data][task.noise_seed][fold]


def _fit(
    task: Task, data: BenchmarkData, reduction: Reduction, split: Any
) -> list[Record]:
    return [guard(task.plan.threads, task.reduce, data, reduction, split)]


def _learn(
    task: Task,
    data: BenchmarkData,
    reduced: Record | None,
    jobs: Sequence[Job],
    split: Any,
) -> list[Record]:
    if reduced is not None and not reduced.ok:
        return [replace(reduced, values=(), arrays={}) for _ in jobs]
    prepared: Any = task.prepare(data, reduced, jobs[0], split)
    return [
        guard(task.plan.threads, task.learn, data, prepared, job, split) for job in jobs
    ]
