"""From a finished run to one plain dict that every renderer reads."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from partlearn.benchmark import Store, load_rows, published_figures
from partlearn.report._compare import effects, ranking, win_tie_loss_table
from partlearn.report._costs import costs
from partlearn.report._multilabel._summary import summarize_multilabel
from partlearn.report._overview import overview
from partlearn.report._views import views

__all__ = ["Summary", "summarize"]

Summary = dict[str, Any]
Row = Mapping[str, Any]

LEAK_NOTE = (
    "The transductive protocol is the recipe behind the published tables: the reducer "
    "is fitted once on all rows and all candidate sets, those of the test rows "
    "included. True labels are never seen, but test features and test candidate sets "
    "are, so these accuracies are too high for new data. The inductive protocol fits "
    "everything on the training fold only; its figures are the ones to expect in use."
)


def summarize(folder: str | Path) -> Summary:
    """Summarise the run in ``folder``.

    Parameters
    ----------
    folder : str or Path
        As given to :func:`partlearn.benchmark.run_plan`.

    Returns
    -------
    dict
        Only texts, numbers, lists and dicts: the source of all renderers.

    Examples
    --------
    >>> import tempfile
    >>> from partlearn.benchmark import load_plan, run_plan
    >>> from partlearn.report import summarize
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_plan(load_plan("demo-quick"), folder)
    ...     summary = summarize(folder)
    >>> summary["plan"]
    'demo-quick'
    """
    store = Store(folder)
    plan, run = store.read_json("plan.json"), store.read_json("run.json")
    if not (_has(plan, "metrics", "data") and _has(run, "facts", "absent", "data")):
        raise FileNotFoundError(
            f"{Path(folder)} holds no finished run (plan.json, run.json). "
            "`partlearn bench PLAN --out FOLDER` makes one."
        )
    if plan.get("task") == "multilabel":
        return summarize_multilabel(folder, plan, run)
    results, timings = load_rows(folder)
    metric = plan["metrics"][0]
    cells = _cells(plan, results, metric)
    reference = _reference(plan)
    spent = costs(plan, timings)
    notes = list(plan["notes"])
    if "transductive" in plan["protocols"]:
        notes.append(LEAK_NOTE)
    notes += [f"{d['name']}: {d['note']}" for d in plan["data"] if d["note"]]
    return {
        "schema": "partlearn-report/1",
        "plan": plan["name"],
        "title": plan["title"],
        "citation": plan["citation"],
        "notes": notes,
        "metric": metric,
        "protocols": list(plan["protocols"]),
        "reducers": [m["name"] for m in plan["reducers"]],
        "learners": [m["name"] for m in plan["learners"]],
        "reference": reference,
        "data": run["data"],
        "absent": run["absent"],
        "cells": cells,
        "published": _published_rows(cells, plan["protocols"]),
        "win_tie_loss": win_tie_loss_table(plan, results, metric, reference),
        "unranked": _unranked(plan),
        "overview": overview(plan, cells, run["data"], spent),
        "ranking": ranking(plan, cells, reference),
        "effects": effects(plan, cells, reference),
        "figure": dict(plan["figure"]),
        "sweep": _sweep(plan, cells),
        "costs": spent,
        "views": views(plan, timings, run["data"], store),
        "failures": _failures(results),
        "warnings": _warnings(results),
        "facts": run["facts"],
    }


def _has(content: Any, *keys: str) -> bool:
    return isinstance(content, dict) and content.keys() >= set(keys)


def _reference(plan: Mapping[str, Any]) -> str:
    if plan["reference"]:
        return str(plan["reference"])
    named = [m["name"] for m in plan["reducers"] if m["cls"] and m.get("ranked", True)]
    return str(named[-1]) if named else ""


def _unranked(plan: Mapping[str, Any]) -> dict[str, str]:
    """References, and what makes them so."""
    return {
        m["name"]: "fitted with the true labels"
        if m.get("supervised")
        else "for comparison"
        for m in plan["reducers"]
        if not m.get("ranked", True)
    }


def _group(
    rows: Iterable[Row], key: Callable[[Row], tuple[Any, ...]]
) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _cells(
    plan: Mapping[str, Any], results: Sequence[Row], metric: str
) -> list[dict[str, Any]]:
    keys = ("protocol", "data", "r", "learner", "reducer")
    groups = _group(results, lambda row: tuple(row[k] for k in keys))
    names = {
        kind: {m["name"]: m["published"] for m in plan[kind]}
        for kind in ("reducers", "learners")
    }
    source = plan["published"]
    figures = published_figures(source["paper"], str(source["table"])) if source else {}
    cells = []
    for key, rows in groups.items():
        cell: dict[str, Any] = dict(zip(keys, key, strict=True))
        scores = [row[metric] for row in rows if row["status"] == "ok"]
        scores = [s for s in scores if s is not None]
        dims = [row["n_components"] for row in rows if row["n_components"] is not None]
        cell |= {
            "mean": float(np.mean(scores)) if scores else None,
            "std": float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
            "n_scores": len(scores),
            "n_failed": sum(row["status"] != "ok" for row in rows),
            # A mean over the folds that did not fail compares with no other.
            "whole": len(scores) == len(rows),
            "n_components": float(np.mean(dims)) if dims else None,
        }
        figure = figures.get(
            (
                cell["data"],
                cell["r"],
                names["reducers"][cell["reducer"]],
                names["learners"][cell["learner"]],
            )
        )
        cell["published_mean"] = figure.mean if figure else None
        cell["published_std"] = figure.std if figure else None
        cell["published_n_components"] = figure.n_components if figure else None
        known = figure is not None and cell["mean"] is not None
        cell["difference"] = cell["mean"] - figure.mean if known and figure else None
        cells.append(cell)
    _mark_best(cells, _unranked(plan))
    return cells


def _mark_best(cells: Sequence[dict[str, Any]], unranked: Mapping[str, str]) -> None:
    blocks: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for cell in cells:
        key = tuple(cell[k] for k in ("protocol", "data", "r", "learner"))
        blocks.setdefault(key, []).append(cell)
    for block in blocks.values():
        compared = [c for c in block if c["reducer"] not in unranked]
        means = [c["mean"] for c in compared if c["whole"]]
        for cell in block:
            # Best as printed: three decimals.
            cell["best"] = (
                cell in compared
                and cell["whole"]
                and round(cell["mean"], 3) == round(max(means), 3)
            )


def _published_rows(
    cells: Sequence[Mapping[str, Any]], protocols: Sequence[str]
) -> list[dict[str, Any]]:
    keys = ("data", "r", "learner", "reducer")
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in cells:
        if cell["published_mean"] is None:
            continue
        key = tuple(cell[k] for k in keys)
        row = rows.setdefault(
            key,
            {
                **dict(zip(keys, key, strict=True)),
                "published_mean": cell["published_mean"],
                "published_std": cell["published_std"],
                "published_n_components": cell["published_n_components"],
                "measured": {},
            },
        )
        row["measured"][cell["protocol"]] = {
            k: cell[k] for k in ("mean", "std", "difference", "n_components")
        }
    return list(rows.values())


def _sweep(
    plan: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Curves for plans whose reducers vary one parameter by a grid."""
    points = {m["name"]: m for m in plan["reducers"] if m["point"]}
    curves: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in cells:
        method = points.get(cell["reducer"])
        if method is None or cell["mean"] is None:
            continue
        for parameter, value in method["point"].items():
            others = {k: v for k, v in method["point"].items() if k != parameter}
            base = method["name"].split("[")[0]
            label = base + "".join(f", {k}={v}" for k, v in others.items())
            key = (
                cell["protocol"],
                cell["data"],
                cell["r"],
                cell["learner"],
                parameter,
                label,
            )
            curve = curves.setdefault(key, {"x": [], "y": [], "std": []})
            curve["x"].append(value)
            curve["y"].append(cell["mean"])
            curve["std"].append(cell["std"] or 0.0)
    names = ("protocol", "data", "r", "learner", "parameter", "reducer")
    return [{**dict(zip(names, key, strict=True)), **c} for key, c in curves.items()]


def _failures(results: Sequence[Row]) -> list[dict[str, Any]]:
    groups = _group(
        (row for row in results if row["status"] != "ok"),
        lambda row: tuple(
            row[k]
            for k in ("protocol", "data", "r", "reducer", "learner", "error", "message")
        ),
    )
    names = ("protocol", "data", "r", "reducer", "learner", "error", "message")
    return [
        {
            **dict(zip(names, key, strict=True)),
            "n_folds": len(rows),
            "traceback": rows[0]["traceback"],
        }
        for key, rows in groups.items()
    ]


def _warnings(results: Sequence[Row]) -> list[dict[str, Any]]:
    counts: dict[tuple[str, str, str], int] = {}
    for row in results:
        for text in (row["warnings"] or "").splitlines():
            key = (row["reducer"], row["learner"], text)
            counts[key] = counts.get(key, 0) + 1
    return [
        {"reducer": reducer, "learner": learner, "text": text, "n_jobs": n}
        for (reducer, learner, text), n in counts.items()
    ]
