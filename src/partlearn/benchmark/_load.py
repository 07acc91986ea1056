"""A finished run on disk: its tables, written at its end and read back by reports."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
import io
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from importlib import metadata
from itertools import takewhile
from pathlib import Path
from typing import Any

from partlearn._version import __version__
from partlearn.benchmark import _plan
from partlearn.benchmark._engines import Engine
from partlearn.benchmark._jobs import Job, source_hash
from partlearn.benchmark._records import Point, Reduced
from partlearn.benchmark._results import (
    AbsentData,
    DataFacts,
    Facts,
    Result,
    Run,
    Timing,
)
from partlearn.benchmark._store import (
    DamagedStoreError,
    Store,
    file_digest,
    is_run_file,
)
from partlearn.benchmark._task import task_of
from partlearn.io import Budget, atomic_write, table_blocks

Row = dict[str, Any]
CELL = 64  # bytes of a value in a list of rows
Columns = Mapping[str, str]
_SCORES = (*_plan.METRICS, *_plan.CURVE_METRICS, *_plan.CRITERIA)
# Columns of other names hold numbers with decimals.
_KINDS = {
    "string": "id data protocol labels reducer learner status reduction warnings error "
    "message traceback",
    "int64": "r noise_seed draw fold n_components n_features n_train n_test "
    "reducer_n_iter",
}


def _typed(*names: str) -> dict[str, str]:
    """Types of columns, whose names may stand in one text."""
    known = {name: kind for kind, text in _KINDS.items() for name in text.split()}
    return {name: known.get(name, "double") for name in " ".join(names).split()}


_END = "n_train n_test warnings error message traceback"
_REDUCED = "n_components reducer_disambiguation reducer_n_iter"
_JOB = "id data r noise_seed protocol reducer learner fold"
# By the task of the plan. Nothing measured in seconds or bytes: two runs of a plan give
# the same file.
COLUMNS: dict[str, Columns] = {
    "partial": _typed(_JOB, "status", *_plan.METRICS, _REDUCED, _END),
    "tuned": _typed(
        _JOB, "draw status", *_plan.CRITERIA, *_plan.METRICS, _REDUCED, _END
    ),
    "multilabel": {
        **_typed("id data r noise_seed labels reducer draw learner fold status"),
        **_typed("percentage n_features", *_plan.CURVE_METRICS, _END),
        "r": "double",
    },
}
_COSTS = _typed(
    "reduction reduce_fit_time reduce_transform_time reduce_peak_mb",
    "fit_time predict_time peak_mb",
)


def _timing_columns(task: str) -> Columns:
    """The columns that say which job it was, and those of its costs."""
    job = takewhile(lambda column: column[0] != "status", COLUMNS[task].items())
    return {**dict(job), **_COSTS}


def merge(jobs: Sequence[Job], store: Store) -> tuple[list[Result], list[Timing]]:
    """Bring together what jobs and their reductions left.

    Parameters
    ----------
    jobs : sequence of Job
        All jobs of a plan, in the order of the tables.
    store : Store
        Finished jobs.

    Returns
    -------
    results : list of Result
        One per point of a job, one for a job that failed; jobs without a fragment are
        left out.
    timings : list of Timing
        One per job.
    """
    results: list[Result] = []
    timings: list[Timing] = []
    reductions: dict[str, Reduced] = {}
    for job in jobs:
        record = store.get_job(job.id)
        if record is None:
            continue
        reduced = Reduced()
        if job.reduction.reducer.cls:
            key = job.reduction.id
            if key not in reductions:
                reductions[key] = store.get_reduction(key, arrays=False) or reduced
            reduced = reductions[key]
        which = _which(job)
        for point in record.points or (Point({}),):
            result = Result(
                **which,
                status=record.status,
                scores=point.scores,
                percentage=point.percentage,
                n_features=point.n_features if job.points else reduced.n_components,
                reducer_disambiguation=reduced.disambiguation,
                reducer_n_iter=reduced.n_iter,
                n_train=record.n_train,
                n_test=record.n_test,
                warnings=tuple(dict.fromkeys([*reduced.warnings, *record.warnings])),
                error=record.error,
                message=record.message,
                traceback=record.traceback,
            )
            results.append(result)
        timing = Timing(
            **which,
            reduction=job.reduction.id if job.reduction.reducer.cls else "",
            reduce_fit_time=reduced.cost.fit_time,
            reduce_transform_time=reduced.cost.transform_time,
            reduce_peak_mb=reduced.cost.peak_mb,
            fit_time=record.cost.fit_time,
            predict_time=record.cost.predict_time,
            peak_mb=record.cost.peak_mb,
        )
        timings.append(timing)
    return results, timings


def _which(job: Job) -> Row:
    task = job.reduction
    return {
        "id": job.id,
        "data": task.data,
        "r": task.r,
        "noise_seed": task.noise_seed,
        "protocol": task.protocol,
        "labels": job.labels,
        "reducer": task.reducer.name,
        "draw": task.draw or job.draw,
        "learner": job.learner.name,
        "fold": job.fold,
    }


def result_rows(results: Iterable[Result], task: str) -> list[Row]:
    """Results as rows of the table that is written.

    Parameters
    ----------
    results : iterable of Result
        The results.
    task : str
        Task of the plan.

    Returns
    -------
    list of dict
        Plain values.
    """
    rows = []
    for result in results:
        values = {
            **vars(result),
            **dict.fromkeys(_SCORES),
            **result.scores,
            "n_components": result.n_features,
            "warnings": "\n".join(result.warnings),
        }
        rows.append({name: values[name] for name in COLUMNS[task]})
    return rows


def _write(path: Path, rows: Sequence[Row], columns: Columns) -> Path:
    """Write a table as Parquet, or CSV without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        target, text = path.with_suffix(".csv"), io.StringIO()
        writer = csv.DictWriter(text, list(columns), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
        with atomic_write(target) as file:
            file.write(text.getvalue().encode())
        return target
    kinds = columns.items()
    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in kinds])
    table = pa.Table.from_pylist(list(rows), schema=schema)
    target = path.with_suffix(".parquet")
    with atomic_write(target) as file:
        pq.write_table(table, file)
    return target


def _read(path: Path, columns: Columns) -> list[Row]:
    rows: list[Row] = []
    budget = Budget.of_table(path.stat().st_size)
    if path.suffix == ".parquet":
        for block in table_blocks(path, whole=True):
            # As Python's values they take much more than in the file.
            budget.charge(CELL * block.num_rows * block.num_columns, "the table")
            rows += block.to_pylist()
    else:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    return [{k: _cast(row.get(k), kind) for k, kind in columns.items()} for row in rows]


_CAST: dict[str, Any] = {"string": str, "int64": int, "double": float}


def _cast(value: Any, kind: str) -> Any:
    if value is None or (value == "" and kind != "string"):
        return None
    return _CAST[kind](value)


def _read_results(path: Path, task: str) -> list[Result]:
    columns = COLUMNS[task]
    metrics = [name for name in columns if name in _SCORES]
    names = {f.name for f in fields(Result)}
    results = []
    for row in _read(path, columns):
        values = {"n_features": row.get("n_components"), **_complete(row)}
        values["scores"] = {name: row[name] for name in metrics}
        values["warnings"] = tuple((row["warnings"] or "").splitlines())
        results.append(Result(**{k: v for k, v in values.items() if k in names}))
    return results


def _complete(row: Row) -> Row:
    """Add what the table of one task does not say."""
    r = row["r"]
    return {
        "protocol": "inductive",
        "labels": "candidates",
        "draw": 0,
        **row,
        # A table has one type per column; plans count in whole numbers where they can.
        "r": r if r is None or r % 1 else int(r),
    }


RUN_FORMAT = "partlearn-run/2"
PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "numba", "distributed")


_FROM_PLAN = ("protocols", "folds", "fold_seed", "seed", "time_limit", "memory_limit")


def _versions() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def run_facts(plan: _plan.Plan, engine: Engine, **outcome: Any) -> Facts:
    """Versions, machine and settings of a run.

    Parameters
    ----------
    plan : Plan
        The plan.
    engine : Engine
        Where it ran.
    **outcome : float or int
        Times and counts, the other attributes of :class:`Facts`.

    Returns
    -------
    Facts
        No host or user name.
    """
    return Facts(
        partlearn=__version__,
        sources=source_hash(),
        python=platform.python_version(),
        versions=_versions(),
        system=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count(),
        engine=engine.name,
        workers=engine.workers,
        threads_per_job=plan.threads,
        **{name: getattr(plan, name) for name in _FROM_PLAN},
        **outcome,
    )


def save_run(
    store: Store,
    plan: _plan.Plan,
    facts: Facts,
    data: Sequence[DataFacts],
    absent: Sequence[AbsentData],
    results: Sequence[Result],
    timings: Sequence[Timing],
) -> None:
    """Write what is known at the end of a run.

    Parameters
    ----------
    store : Store
        Where to.
    plan : Plan
        As it ran.
    facts : Facts
        Versions, machine, settings, times.
    data : sequence of DataFacts
        Data sets that were there.
    absent : sequence of AbsentData
        Those that were not.
    results : sequence of Result
        Rows of the results table.
    timings : sequence of Timing
        Rows of the timings table.
    """
    rows, costs = result_rows(results, plan.task), [vars(t) for t in timings]
    files = [
        _write(store.folder / "results", rows, COLUMNS[plan.task]),
        _write(store.folder / "timings", costs, _timing_columns(plan.task)),
    ]
    # Last, and together: an interrupted run leaves the report of the one before.
    store.write_json("plan.json", asdict(plan))
    names = ("plan.json", "splits.json")
    files += [store.folder / name for name in names if (store.folder / name).is_file()]
    store.write_json(
        "run.json",
        {
            "format": RUN_FORMAT,
            "facts": asdict(facts),
            "absent": [asdict(item) for item in absent],
            "data": [asdict(item) for item in data],
            "files": {path.name: file_digest(path) for path in files},
        },
    )


def load_run(folder: str | Path) -> Run:
    """Read the run in ``folder``.

    Parameters
    ----------
    folder : str or Path
        As given to :func:`partlearn.benchmark.run_plan`.

    Returns
    -------
    Run
        Plan, facts, rows and the cells of the tables.

    Raises
    ------
    FileNotFoundError
        When there is no finished run.
    DamagedStoreError
        When a file is not what the run wrote, or was written by an older version.

    Examples
    --------
    >>> import tempfile
    >>> from partlearn.benchmark import load_plan, load_run, run_plan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_plan(load_plan("demo-quick"), folder)
    ...     run = load_run(folder)
    >>> run.plan.name, run.cells[0].method
    ('demo-quick', 'none')
    """
    folder = Path(folder)
    plan, run = _opened(folder)
    # Not what another run, with or without pyarrow, may have left beside them.
    tables = {
        Path(name).stem: folder / name
        for name in run["files"]
        if not name.endswith(".json")
    }
    results = _read_results(tables["results"], plan.task)
    costs = _read(tables["timings"], _timing_columns(plan.task))
    return Run(
        folder=folder,
        plan=plan,
        facts=Facts(**_with_tuples(run["facts"])),
        data=tuple(DataFacts(**_with_tuples(item)) for item in run["data"]),
        absent=tuple(AbsentData(**item) for item in run["absent"]),
        results=tuple(results),
        timings=tuple(Timing(**_complete(row)) for row in costs),
        cells=task_of(plan).summarise(results),
    )


def load_rows(
    folder: str | Path,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Read both tables of a run.

    Parameters
    ----------
    folder : str or Path
        Folder of the run.

    Returns
    -------
    results : list of dict
        Rows of the results table; empty cells are None.
    timings : list of dict
        Attributes of :class:`Timing`.
    """
    run = load_run(folder)
    return result_rows(run.results, run.plan.task), [asdict(t) for t in run.timings]


def _opened(folder: Path) -> tuple[_plan.Plan, dict[str, Any]]:
    """Plan and ``run.json``, after all files were found to be as they were written."""
    store = Store(folder)
    plan, run = store.read_json("plan.json"), store.read_json("run.json")
    if plan is None or run is None:
        raise FileNotFoundError(
            f"{folder} holds no finished run (plan.json, run.json). "
            "`partlearn bench PLAN --out FOLDER` makes one."
        )
    if run.get("format") != RUN_FORMAT:
        raise DamagedStoreError(
            "written by another version of partlearn (format "
            f"{run.get('format')!r}, here {RUN_FORMAT!r})",
            path=folder,
        )
    for name, digest in run["files"].items():
        path = folder / name
        if not is_run_file(folder, path) or not path.is_file():
            raise DamagedStoreError("a file of the run is missing", path=path)
        if file_digest(path) != digest:
            raise DamagedStoreError("not what the run wrote", path=path)
    store.read_json("splits.json")
    return _read_plan(plan), run


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has lists where records have tuples."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}


def _read_plan(content: Mapping[str, Any]) -> _plan.Plan:
    many = content["task"] == "multilabel"
    values = _with_tuples(content)
    spec = _plan.MultilabelDataSpec if many else _plan.DataSpec
    values["data"] = tuple(spec(**_with_tuples(item)) for item in content["data"])
    for key in ("reducers", "learners", "classifiers"):
        if key in content:
            values[key] = tuple(_plan.MethodSpec(**item) for item in content[key])
    kinds = {"multilabel": _plan.MultilabelPlan, "tuned": _plan.TunedPlan}
    return kinds.get(content["task"], _plan.Plan)(**values)
