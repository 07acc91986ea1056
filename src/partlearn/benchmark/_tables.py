"""Merge what jobs left into two tables: what was found, and what it cost."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import takewhile
from pathlib import Path
from typing import Any

from partlearn.benchmark._jobs import Job
from partlearn.benchmark._plan import CRITERIA, CURVE_METRICS, METRICS
from partlearn.benchmark._records import Point, Reduced
from partlearn.benchmark._results import Result, Timing
from partlearn.benchmark._store import Store
from partlearn.io import atomic_write

Row = dict[str, Any]
Columns = Mapping[str, str]
_SCORES = (*METRICS, *CURVE_METRICS, *CRITERIA)
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
    "partial": _typed(_JOB, "status", *METRICS, _REDUCED, _END),
    "tuned": _typed(_JOB, "draw status", *CRITERIA, *METRICS, _REDUCED, _END),
    "multilabel": {
        **_typed("id data r noise_seed labels reducer draw learner fold status"),
        **_typed("percentage n_features", *CURVE_METRICS, _END),
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


def write_tables(
    folder: Path,
    results: Iterable[Result],
    timings: Iterable[Timing],
    task: str,
) -> list[Path]:
    """Write ``results`` and ``timings`` as Parquet, or CSV without pyarrow.

    Parameters
    ----------
    folder : Path
        Folder of the run.
    results : iterable of Result
        Rows of the first table.
    timings : iterable of Timing
        Rows of the second.
    task : str
        Task of the plan.

    Returns
    -------
    list of Path
        The files.
    """
    costs = [vars(timing) for timing in timings]
    return [
        _write(folder / "results", result_rows(results, task), COLUMNS[task]),
        _write(folder / "timings", costs, _timing_columns(task)),
    ]


def _write(path: Path, rows: Sequence[Row], columns: Columns) -> Path:
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
    parquet = path.with_suffix(".parquet")
    rows: Iterable[Mapping[str, Any]]
    if parquet.is_file():
        import pyarrow.parquet as pq

        rows = pq.read_table(parquet).to_pylist()
    else:
        with path.with_suffix(".csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    return [{k: _cast(row.get(k), kind) for k, kind in columns.items()} for row in rows]


_CAST: dict[str, Any] = {"string": str, "int64": int, "double": float}


def _cast(value: Any, kind: str) -> Any:
    if value is None or (value == "" and kind != "string"):
        return None
    return _CAST[kind](value)


def read_results(
    folder: Path, task: str, amounts: Mapping[float, float]
) -> list[Result]:
    """Read the table of results.

    Parameters
    ----------
    folder : Path
        Folder of the run.
    task : str
        Task of the plan.
    amounts : mapping
        Amounts of noise as the plan has them, by their values.

    Returns
    -------
    list of Result
        The rows.
    """
    columns = COLUMNS[task]
    metrics = [name for name in columns if name in _SCORES]
    names = {f.name for f in fields(Result)}
    results = []
    for row in _read(folder / "results", columns):
        values = {"n_features": row.get("n_components"), **_complete(row, amounts)}
        values["scores"] = {name: row[name] for name in metrics}
        values["warnings"] = tuple((row["warnings"] or "").splitlines())
        results.append(Result(**{k: v for k, v in values.items() if k in names}))
    return results


def read_timings(
    folder: Path, task: str, amounts: Mapping[float, float]
) -> list[Timing]:
    """Read the table of costs.

    Parameters
    ----------
    folder : Path
        Folder of the run.
    task : str
        Task of the plan.
    amounts : mapping
        As for :func:`read_results`.

    Returns
    -------
    list of Timing
        The rows.
    """
    rows = _read(folder / "timings", _timing_columns(task))
    return [Timing(**_complete(row, amounts)) for row in rows]


def _complete(row: Row, amounts: Mapping[float, float]) -> Row:
    """Add what the table of one task does not say."""
    r = row["r"]
    return {
        "protocol": "inductive",
        "labels": "candidates",
        "draw": 0,
        **row,
        # A table has one type per column; the plan has what was asked for.
        "r": r if r is None else amounts.get(float(r), r),
    }
