"""Merge fragments into two tables: what was found, and what it cost."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from partlearn.benchmark._jobs import Job
from partlearn.benchmark._plan import Plan
from partlearn.benchmark._store import Row, Store, read_table, write_table

__all__ = ["load_rows", "merge", "timing_row"]

KEYS = [
    ("id", "string"),
    ("data", "string"),
    ("r", "int64"),
    ("noise_seed", "int64"),
    ("protocol", "string"),
    ("reducer", "string"),
    ("learner", "string"),
    ("fold", "int64"),
]
# Nothing measured in seconds or bytes: two runs of a plan give the same file.
RESULTS = [
    *KEYS,
    ("status", "string"),
    ("accuracy", "double"),
    ("disambiguation", "double"),
    ("candidate_hit", "double"),
    ("n_components", "int64"),
    ("reducer_disambiguation", "double"),
    ("reducer_n_iter", "int64"),
    ("n_train", "int64"),
    ("n_test", "int64"),
    ("warnings", "string"),
    ("error", "string"),
    ("message", "string"),
    ("traceback", "string"),
]
TIMINGS = [
    *KEYS,
    ("reduction", "string"),
    ("reduce_fit_time", "double"),
    ("reduce_transform_time", "double"),
    ("reduce_peak_mb", "double"),
    ("fit_time", "double"),
    ("predict_time", "double"),
    ("peak_mb", "double"),
]


def merge(plan: Plan, jobs: Sequence[Job], store: Store) -> list[Row]:
    """Write ``results`` and ``timings`` beside the fragments.

    Parameters
    ----------
    plan : Plan
        The plan.
    jobs : sequence of Job
        All its jobs, in the order of the tables.
    store : Store
        Finished jobs.

    Returns
    -------
    list of dict
        Rows of the results table; jobs without a fragment are left out.
    """
    results: list[Row] = []
    timings: list[Row] = []
    reductions: dict[str, Row] = {}
    for job in jobs:
        record = store.get_job(job.id)
        if record is None:
            continue
        reduced: Row = {}
        if job.reduction.reducer.cls:
            key = job.reduction.id
            if key not in reductions:
                reductions[key] = store.get_reduction(key, arrays=False) or {}
            reduced = reductions[key]
        head = _head(job)
        results.append(head | _result(record, reduced))
        timings.append(head | timing_row(job, record, reduced))
    write_table(store.folder / "results", results, RESULTS)
    write_table(store.folder / "timings", timings, TIMINGS)
    return results


def _head(job: Job) -> Row:
    return {
        "id": job.id,
        "data": job.reduction.data,
        "r": job.reduction.r,
        "noise_seed": job.reduction.noise_seed,
        "protocol": job.reduction.protocol,
        "reducer": job.reduction.reducer.name,
        "learner": job.learner.name,
        "fold": job.fold,
    }


def _result(record: Row, reduced: Row) -> Row:
    scores = record.get("scores", {})
    return {
        "status": record["status"],
        "accuracy": scores.get("accuracy"),
        "disambiguation": scores.get("disambiguation"),
        "candidate_hit": scores.get("candidate_hit"),
        "n_components": reduced.get("n_components"),
        "reducer_disambiguation": reduced.get("disambiguation"),
        "reducer_n_iter": reduced.get("n_iter"),
        "n_train": record.get("n_train"),
        "n_test": record.get("n_test"),
        "warnings": "\n".join(
            dict.fromkeys([*reduced.get("warnings", []), *record["warnings"]])
        ),
        "error": record["error"],
        "message": record["message"],
        "traceback": record["traceback"],
    }


def timing_row(job: Job, record: Row, reduced: Row) -> Row:
    cost = record["measured"]
    reduce_cost = reduced.get("measured", {})
    return {
        "reduction": job.reduction.id if job.reduction.reducer.cls else "",
        "reduce_fit_time": reduce_cost.get("fit_time"),
        "reduce_transform_time": reduce_cost.get("transform_time"),
        "reduce_peak_mb": reduce_cost.get("peak_mb"),
        "fit_time": cost.get("fit_time"),
        "predict_time": cost.get("predict_time"),
        "peak_mb": cost.get("peak_mb"),
    }


def load_rows(
    folder: str | Path,
    results: Sequence[tuple[str, str]] = RESULTS,
    timings: Sequence[tuple[str, str]] = TIMINGS,
) -> tuple[list[Row], list[Row]]:
    """Read both tables of a run.

    Parameters
    ----------
    folder : str or Path
        Folder of the run.
    results, timings : sequence of (name, type)
        Columns of the tables.

    Returns
    -------
    results, timings : list of dict
        Empty cells are None.
    """
    folder = Path(folder)
    return (
        [_typed(row, results) for row in read_table(folder / "results")],
        [_typed(row, timings) for row in read_table(folder / "timings")],
    )


_CAST: dict[str, Any] = {"string": str, "int64": int, "double": float}


def _typed(row: Row, columns: Sequence[tuple[str, str]]) -> Row:
    def cast(value: Any, kind: str) -> Any:
        if value is None or (value == "" and kind != "string"):
            return None
        return _CAST[kind](value)

    return {name: cast(row.get(name), kind) for name, kind in columns}
