"""Read a finished run back."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from partlearn.benchmark._cells import curve_cells, fold_cells
from partlearn.benchmark._multilabel._plan import MultilabelDataSpec, MultilabelPlan
from partlearn.benchmark._multilabel._scores import METRICS as CURVE_METRICS
from partlearn.benchmark._multilabel._tables import load_multilabel_rows
from partlearn.benchmark._plan import DataSpec, MethodSpec, Plan
from partlearn.benchmark._results import (
    AbsentData,
    DataFacts,
    Facts,
    Result,
    Run,
    Timing,
)
from partlearn.benchmark._schema import METRICS
from partlearn.benchmark._store import Store
from partlearn.benchmark._tables import load_rows

__all__ = ["load_run"]


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
    store = Store(folder)
    plan_json, run = store.read_json("plan.json"), store.read_json("run.json")
    if not (_has(plan_json, "metrics", "data") and _has(run, "facts", "data")):
        raise FileNotFoundError(
            f"{folder} holds no finished run (plan.json, run.json). "
            "`partlearn bench PLAN --out FOLDER` makes one."
        )
    plan = _plan(plan_json)
    many = isinstance(plan, MultilabelPlan)
    rows, timings = load_multilabel_rows(folder) if many else load_rows(folder)
    amounts = {float(r): r for spec in plan.data for r in spec.r or ()}
    metrics = CURVE_METRICS if many else METRICS
    results = tuple(_result(row, metrics, amounts) for row in rows)
    cells = (
        curve_cells(plan, results)
        if isinstance(plan, MultilabelPlan)
        else fold_cells(plan, results)
    )
    return Run(
        folder=folder,
        plan=plan,
        facts=_known(Facts, {**run["facts"], "protocols": plan.protocols}),
        data=tuple(_data_facts(item) for item in run["data"]),
        absent=tuple(AbsentData(**item) for item in run["absent"]),
        results=results,
        timings=tuple(_known(Timing, _head(row, amounts)) for row in timings),
        cells=cells,
    )


def _has(content: Any, *keys: str) -> bool:
    return isinstance(content, dict) and content.keys() >= set(keys)


def _known(cls: type, values: Mapping[str, Any]) -> Any:
    names = {f.name for f in fields(cls)}
    return cls(**{k: v for k, v in values.items() if k in names})


def _plan(content: Mapping[str, Any]) -> Plan:
    many = content.get("task") == "multilabel"

    def revived(cls: type, values: Mapping[str, Any]) -> Any:
        lists = {k: tuple(v) for k, v in values.items() if isinstance(v, list)}
        return _known(cls, {**values, **lists})

    values = dict(content)
    spec = MultilabelDataSpec if many else DataSpec
    values["data"] = [revived(spec, item) for item in content["data"]]
    for key in ("reducers", "learners", "classifiers"):
        values[key] = [_known(MethodSpec, item) for item in content.get(key, ())]
    plan: Plan = revived(MultilabelPlan if many else Plan, values)
    return plan


def _head(row: Mapping[str, Any], amounts: Mapping[float, float]) -> dict[str, Any]:
    r = row["r"]
    return {
        "protocol": "inductive",
        "labels": "candidates",
        "draw": 0,
        **row,
        # A table has one type per column; the plan has what was asked for.
        "r": r if r is None else amounts.get(float(r), r),
    }


def _result(
    row: Mapping[str, Any], metrics: tuple[str, ...], amounts: Mapping[float, float]
) -> Result:
    result: Result = _known(
        Result,
        {
            "n_features": row.get("n_components"),
            **_head(row, amounts),
            "scores": {name: row[name] for name in metrics},
            "warnings": tuple((row["warnings"] or "").splitlines()),
        },
    )
    return result


def _data_facts(item: Mapping[str, Any]) -> DataFacts:
    many = "labels" in item
    r = item["r"] if many else () if item["r"] is None else (item["r"],)
    return DataFacts(
        name=item["name"],
        n_samples=item["n_samples"],
        n_features=item["n_features"],
        classes=tuple(item["labels" if many else "classes"]),
        mean_labels=item["mean_labels" if many else "mean_candidates"],
        r=tuple(r),
        noise_seed=item.get("noise_seed"),
        noise=item.get("noise", ""),
        fingerprint=item["fingerprint"],
    )
