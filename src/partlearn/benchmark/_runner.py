"""Run a plan: skip what is done, fit reducers once, learn, merge."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from partlearn.benchmark._data import BenchmarkData, load_plan_data
from partlearn.benchmark._engines import (
    Call,
    DaskEngine,
    Engine,
    Failure,
    JoblibEngine,
    SerialEngine,
)
from partlearn.benchmark._execute import Limits, Record, learn, reduce
from partlearn.benchmark._facts import run_facts
from partlearn.benchmark._isolated import ChildDiedError, call_isolated
from partlearn.benchmark._jobs import Job, Reduction, expand
from partlearn.benchmark._methods import check_methods
from partlearn.benchmark._plan import Plan
from partlearn.benchmark._store import Store
from partlearn.benchmark._tables import merge
from partlearn.model_selection import CandidateKFold

__all__ = [
    "RunResult",
    "failed_record",
    "has_limits",
    "is_open",
    "make_engine",
    "run_plan",
    "seconds_of",
    "within_limits",
]

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class RunResult:
    """What a run left behind.

    Attributes
    ----------
    folder : Path
        Where the results are.
    rows : list of dict
        One per job, as in the results table.
    absent : list of dict
        Data sets that were not there.
    n_failed : int
        Jobs that failed, now or before.
    n_executed : int
        Jobs of this session; the others were done already.
    wall_time : float
        Seconds of this session.
    work_time : float
        Seconds that estimators spent in fit, transform and predict.
    """

    folder: Path
    rows: list[dict[str, Any]] = field(repr=False)
    absent: list[dict[str, str]]
    n_failed: int = 0
    n_executed: int = 0
    wall_time: float = 0.0
    work_time: float = 0.0


def make_engine(workers: int | None = 1, scheduler: str | None = None) -> Engine:
    """Choose an engine.

    Parameters
    ----------
    workers : int or None, default=1
        1 runs in this process, more run in processes, None in one per core.
    scheduler : str or None, default=None
        Address of a Dask scheduler; goes before ``workers``.

    Returns
    -------
    Engine
        Ready to run.

    Examples
    --------
    >>> from partlearn.benchmark import make_engine
    >>> make_engine(1).name
    'serial'
    """
    if scheduler:
        return DaskEngine(scheduler)
    return SerialEngine() if workers == 1 else JoblibEngine(workers)


def run_plan(
    plan: Plan,
    folder: str | Path,
    *,
    data_folder: str | Path | None = None,
    engine: Engine | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
    progress: Progress | None = None,
) -> RunResult:
    """Run the jobs of a plan that are not done yet, and merge the results.

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
        Forget finished jobs, once plan and data have been found in order.
    progress : callable or None, default=None
        Called with (done, total, label) after each finished job.

    Returns
    -------
    RunResult
        Rows and counts. Results do not depend on engine, workers or order.

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
    ...     result = run_plan(plan, folder)
    >>> len(result.rows), result.n_failed
    (2, 0)
    """
    from partlearn.benchmark._multilabel._plan import MultilabelPlan

    engine = engine or SerialEngine()
    if isinstance(plan, MultilabelPlan):
        from partlearn.benchmark._multilabel._runner import run_multilabel

        return run_multilabel(
            plan,
            folder,
            data_folder=data_folder,
            engine=engine,
            retry_failed=retry_failed,
            fresh=fresh,
            progress=progress,
        )
    start = perf_counter()
    plan = check_methods(plan)
    data, absent = load_plan_data(plan, data_folder)
    if not data:  # nothing to run: leave no empty folder behind
        return RunResult(Path(folder), [], absent)
    jobs = expand(plan, data)
    store = Store(folder)
    store.clean()
    session = _Session(plan, data, store, engine, progress)
    if fresh:
        store.forget()
    pending = [job for job in jobs if is_open(store, job, retry_failed)]
    work_time = session.run(pending, retry_failed)
    rows = merge(plan, jobs, store)
    wall_time = perf_counter() - start
    n_failed = sum(row["status"] != "ok" for row in rows)
    facts = run_facts(plan, engine)
    facts |= {
        "wall_time": wall_time,
        "work_time": work_time,
        "n_jobs": len(jobs),
        "n_executed": len(pending),
        "n_failed": n_failed,
    }
    description = [_describe(item) for item in data]
    # Last, and together: an interrupted run leaves the report of the one before.
    store.write_json("plan.json", asdict(plan))
    store.write_json(
        "run.json", {"facts": facts, "absent": absent, "data": description}
    )
    return RunResult(
        Path(folder), rows, absent, n_failed, len(pending), wall_time, work_time
    )


def is_open(store: Store, job: Job, retry_failed: bool) -> bool:
    record = store.get_job(job.id)
    return record is None or (retry_failed and record["status"] != "ok")


def _describe(data: BenchmarkData) -> dict[str, Any]:
    return {
        "name": data.name,
        "r": data.r,
        "noise_seed": data.noise_seed,
        "n_samples": int(data.X.shape[0]),
        "n_features": int(data.X.shape[1]),
        "n_classes": len(data.classes),
        "classes": list(data.classes),
        "mean_candidates": float(data.S.sum(axis=1).mean()),
        "fingerprint": data.fingerprint,
    }


class _Session:
    """One pass over the open jobs of a plan."""

    def __init__(
        self,
        plan: Plan,
        data: Sequence[BenchmarkData],
        store: Store,
        engine: Engine,
        progress: Progress | None,
    ) -> None:
        self.store = store
        self.engine = engine
        self.progress = progress or (lambda done, total, label: None)
        self.limits = Limits(plan.threads, plan.time_limit, plan.memory_limit)
        self.data = {item.fingerprint: item for item in data}
        self.splits = {key: _split(plan, item) for key, item in self.data.items()}
        self.done = self.total = 0
        self._shared: dict[str, Any] = {}

    def run(self, pending: Sequence[Job], retry_failed: bool) -> float:
        """Fit the reducers that open jobs need, then the learners."""
        self._keep_splits()
        reductions = {
            job.reduction.id: job.reduction
            for job in pending
            if job.reduction.reducer.cls
        }
        open_reductions = [
            task
            for task in reductions.values()
            if self._reduction_is_open(task, retry_failed)
        ]
        groups: dict[tuple[str, int], list[Job]] = {}
        for job in pending:
            groups.setdefault((job.reduction.id, job.fold), []).append(job)
        self.total = len(open_reductions) + len(pending)
        work = self._reduce_all(open_reductions)
        self._shared.clear()
        return work + self._learn_all(list(groups.values()))

    def _keep_splits(self) -> None:
        """Keep the folds beside the results, so that others can use the same."""
        folds = {}
        for key, splits in self.splits.items():
            of_row = np.empty(self.data[key].truth.size, dtype=np.int64)
            for fold, (_, test) in enumerate(splits):
                of_row[test] = fold
            folds[key] = of_row.tolist()
        self.store.write_json("splits.json", folds)

    def _reduction_is_open(self, task: Reduction, retry_failed: bool) -> bool:
        record = self.store.get_reduction(task.id)
        return record is None or (retry_failed and record["status"] != "ok")

    def _share_data(self, key: str) -> Any:
        if key not in self._shared:
            self._shared[key] = self.engine.share(self.data[key], key)
        return self._shared[key]

    def _reduce_all(self, tasks: Sequence[Reduction]) -> float:
        def calls() -> Iterator[Call]:
            for task in tasks:
                key = task.content["data"]
                train = None if task.fold is None else self.splits[key][task.fold][0]
                yield _reduce, (self._share_data(key), task, train, self.limits)

        seconds = 0.0
        for i, answer in self.engine.run(calls()):
            record = failed_record(answer) if isinstance(answer, Failure) else answer
            self.store.put_reduction(tasks[i].id, record)
            seconds += seconds_of(record)
            self._advance(1, f"{tasks[i].data} {tasks[i].reducer.name}")
        return seconds

    def _learn_all(self, groups: Sequence[list[Job]]) -> float:
        def calls() -> Iterator[Call]:
            for jobs in groups:
                reduction = jobs[0].reduction
                key = reduction.content["data"]
                split = self.splits[key][jobs[0].fold]
                reduced = self._share_reduction(reduction)
                yield (
                    _learn,
                    (self._share_data(key), reduced, jobs, split, self.limits),
                )

        seconds = 0.0
        for i, answer in self.engine.run(calls()):
            jobs = groups[i]
            if isinstance(answer, Failure):
                answer = self._each_alone(jobs, answer)
            for job, record in zip(jobs, answer, strict=True):
                self.store.put_job(job.id, record)
                seconds += seconds_of(record)
            self._advance(len(jobs), f"{jobs[0].reduction.data} {jobs[0].learner.name}")
        return seconds

    def _each_alone(self, jobs: Sequence[Job], failure: Failure) -> list[Record]:
        """Find the job that took the others of its group down with it."""
        if len(jobs) == 1:
            return [failed_record(failure)]
        key = jobs[0].reduction.content["data"]
        split = self.splits[key][jobs[0].fold]
        reduced = (
            self.store.get_reduction(jobs[0].reduction.id)
            if jobs[0].reduction.reducer.cls
            else None
        )
        data, limits = self.data[key], self.limits
        return [
            within_limits(limits, _learn_alone, data, reduced, job, split, limits)
            for job in jobs
        ]

    def _share_reduction(self, task: Reduction) -> Any:
        if not task.reducer.cls:
            return None
        if task.id not in self._shared:
            # Groups of one reduction follow each other: the last one is enough.
            for key in [k for k in self._shared if k not in self.data]:
                del self._shared[key]
            record = self.store.get_reduction(task.id)
            self._shared[task.id] = self.engine.share(record, task.id)
        return self._shared[task.id]

    def _advance(self, count: int, label: str) -> None:
        self.done += count
        self.progress(self.done, self.total, label)


def _split(plan: Plan, data: BenchmarkData) -> list[tuple[np.ndarray, np.ndarray]]:
    splitter = CandidateKFold(plan.folds, random_state=plan.fold_seed)
    return [(train, test) for train, test in splitter.split(data.X, data.S)]


def seconds_of(record: Record) -> float:
    names = ("fit_time", "transform_time", "predict_time")
    return sum(record.get("measured", {}).get(name, 0.0) for name in names)


def failed_record(failure: Failure) -> Record:
    return {
        "status": "failed",
        "error": failure.error,
        "message": failure.message,
        "traceback": "",
        "warnings": [],
        "measured": {},
    }


def has_limits(limits: Limits) -> bool:
    return limits.time is not None or limits.memory is not None


def within_limits(limits: Limits, function: Callable[..., Any], *args: Any) -> Any:
    try:
        return call_isolated(
            function, args, seconds=limits.time, megabytes=limits.memory
        )
    except (TimeoutError, ChildDiedError) as error:
        return failed_record(Failure(type(error).__name__, str(error)))


def _reduce(
    data: BenchmarkData, task: Reduction, train: np.ndarray | None, limits: Limits
) -> Record:
    if not has_limits(limits):
        return reduce(data, task, train, limits)
    return within_limits(limits, reduce, data, task, train, limits)


def _learn(
    data: BenchmarkData,
    reduced: Record | None,
    jobs: Sequence[Job],
    split: tuple[np.ndarray, np.ndarray],
    limits: Limits,
) -> list[Record]:
    if not has_limits(limits):
        return learn(data, reduced, jobs, split, limits)
    return [
        within_limits(limits, _learn_alone, data, reduced, j, split, limits)
        for j in jobs
    ]


def _learn_alone(
    data: BenchmarkData,
    reduced: Record | None,
    job: Job,
    split: tuple[np.ndarray, np.ndarray],
    limits: Limits,
) -> Record:
    return learn(data, reduced, [job], split, limits)[0]
