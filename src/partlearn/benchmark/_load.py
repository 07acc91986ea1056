"""A finished run on disk: written at its end, read back by reports."""

# SPDX-License-Identifier: BSD-3-Clause

import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from partlearn._version import __version__
from partlearn.benchmark._engines import Engine
from partlearn.benchmark._jobs import source_hash
from partlearn.benchmark._plan import (
    DataSpec,
    MethodSpec,
    MultilabelDataSpec,
    MultilabelPlan,
    Plan,
    TunedPlan,
)
from partlearn.benchmark._results import (
    AbsentData,
    DataFacts,
    Facts,
    Result,
    Run,
    Timing,
)
from partlearn.benchmark._store import DamagedStoreError, Store, file_digest
from partlearn.benchmark._tables import (
    read_results,
    read_timings,
    result_rows,
    write_tables,
)
from partlearn.benchmark._task import task_of

RUN_FORMAT = "partlearn-run/2"
PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "numba", "distributed")


_FROM_PLAN = ("protocols", "folds", "fold_seed", "seed", "time_limit", "memory_limit")


def _versions() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def run_facts(plan: Plan, engine: Engine, **outcome: Any) -> Facts:
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
    plan: Plan,
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
    files = write_tables(store.folder, results, timings, plan.task)
    # Last, and together: an interrupted run leaves the report of the one before.
    store.write_json("plan.json", asdict(plan))
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
    amounts = {float(r): r for spec in plan.data for r in spec.r or ()}
    results = read_results(folder, plan.task, amounts)
    return Run(
        folder=folder,
        plan=plan,
        facts=Facts(**_with_tuples(run["facts"])),
        data=tuple(DataFacts(**_with_tuples(item)) for item in run["data"]),
        absent=tuple(AbsentData(**item) for item in run["absent"]),
        results=tuple(results),
        timings=tuple(read_timings(folder, plan.task, amounts)),
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


def _opened(folder: Path) -> tuple[Plan, dict[str, Any]]:
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
            f"{folder} was written by another version of partlearn (format "
            f"{run.get('format')!r}, here {RUN_FORMAT!r}). Run the plan again."
        )
    store.read_json("splits.json")
    for name, digest in run["files"].items():
        path = folder / name
        if not path.is_file() or file_digest(path) != digest:
            raise DamagedStoreError(
                f"{path} is not what the run wrote. Run the plan again with the same "
                "folder: finished jobs are kept."
            )
    return _plan(plan), run


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has lists where records have tuples."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}


def _plan(content: Mapping[str, Any]) -> Plan:
    many = content["task"] == "multilabel"
    values = _with_tuples(content)
    spec = MultilabelDataSpec if many else DataSpec
    values["data"] = tuple(spec(**_with_tuples(item)) for item in content["data"])
    for key in ("reducers", "learners", "classifiers"):
        if key in content:
            values[key] = tuple(MethodSpec(**item) for item in content[key])
    kinds = {"multilabel": MultilabelPlan, "tuned": TunedPlan}
    return kinds.get(content["task"], Plan)(**values)
