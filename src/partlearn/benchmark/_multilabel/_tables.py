"""Merge fragments into two tables: a row per point of a curve, and what it cost."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from pathlib import Path

from partlearn.benchmark._jobs import Job
from partlearn.benchmark._multilabel._scores import METRICS
from partlearn.benchmark._store import Row, Store, write_table
from partlearn.benchmark._tables import TIMINGS, load_rows, timing_row

__all__ = ["load_multilabel_rows", "merge_multilabel"]

KEYS = [
    ("id", "string"),
    ("data", "string"),
    ("r", "double"),
    ("noise_seed", "int64"),
    ("labels", "string"),
    ("reducer", "string"),
    ("draw", "int64"),
    ("learner", "string"),
    ("fold", "int64"),
]
RESULTS = [
    *KEYS,
    ("status", "string"),
    ("percentage", "double"),
    ("n_features", "int64"),
    *((name, "double") for name in METRICS),
    ("n_train", "int64"),
    ("n_test", "int64"),
    ("warnings", "string"),
    ("error", "string"),
    ("message", "string"),
    ("traceback", "string"),
]
COSTS = [*KEYS, *TIMINGS[TIMINGS.index(("reduction", "string")) :]]


def merge_multilabel(jobs: Sequence[Job], store: Store) -> list[Row]:
    """Write ``results`` and ``timings`` beside the fragments.

    Parameters
    ----------
    jobs : sequence of Job
        All jobs of the plan, in the order of the tables.
    store : Store
        Finished jobs.

    Returns
    -------
    list of dict
        Rows of the results table: one per job and number of features, one for a job
        that failed.
    """
    results: list[Row] = []
    costs: list[Row] = []
    rankings: dict[str, Row] = {}
    for job in jobs:
        record = store.get_job(job.id)
        if record is None:
            continue
        ranked: Row = {}
        if job.reduction.reducer.cls:
            key = job.reduction.id
            if key not in rankings:
                rankings[key] = store.get_reduction(key, arrays=False) or {}
            ranked = rankings[key]
        head = _head(job)
        texts = [*ranked.get("warnings", []), *record["warnings"]]
        tail = {
            **{k: record[k] for k in ("status", "error", "message", "traceback")},
            **{k: record.get(k) for k in ("n_train", "n_test")},
            "warnings": "\n".join(dict.fromkeys(texts)),
        }
        empty = dict.fromkeys(("percentage", "n_features", *METRICS))
        points = record.get("curve") or [empty]
        results += [head | point | tail for point in points]
        costs.append(head | timing_row(job, record, ranked))
    write_table(store.folder / "results", results, RESULTS)
    write_table(store.folder / "timings", costs, COSTS)
    return results


def _head(job: Job) -> Row:
    task = job.reduction
    return {
        "id": job.id,
        "data": task.data,
        "r": None if task.r is None else float(task.r),
        "noise_seed": task.noise_seed,
        "labels": job.content["labels"],
        "reducer": task.reducer.name,
        "draw": task.content["draw"],
        "learner": job.learner.name,
        "fold": job.fold,
    }


def load_multilabel_rows(folder: str | Path) -> tuple[list[Row], list[Row]]:
    """Read both tables of a run.

    Parameters
    ----------
    folder : str or Path
        Folder of the run.

    Returns
    -------
    results, timings : list of dict
        Empty cells are None.
    """
    return load_rows(folder, RESULTS, COSTS)
