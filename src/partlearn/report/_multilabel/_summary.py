"""From a finished multi-label run to one plain dict that every renderer reads."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from partlearn.benchmark import published_scores
from partlearn.benchmark._multilabel._rank import (
    ALL_FEATURES,
    CONTROLS,
    LABEL_FREQUENCY,
    NORM,
    RANDOM,
    RIDGE,
)
from partlearn.benchmark._multilabel._tables import load_multilabel_rows
from partlearn.report._costs import costs
from partlearn.report._multilabel._areas import Cell, cells, is_better
from partlearn.report._multilabel._compare import against, ranks

__all__ = ["summarize_multilabel"]

Row = Mapping[str, Any]
# What published figures are put beside.
BESIDE = (RANDOM, ALL_FEATURES, LABEL_FREQUENCY)
HOW = (
    "Scores are areas under the curve over the shares of features, mean and deviation "
    "over folds and seeds. Selectors see candidates only; learners are trained on "
    "candidates or, to tell the worth of the features alone, on clean labels. Test "
    "labels are clean."
)


def summarize_multilabel(
    folder: str | Path, plan: Mapping[str, Any], run: Mapping[str, Any]
) -> dict[str, Any]:
    """Summarise the multi-label run in ``folder``.

    Parameters
    ----------
    folder : str or Path
        Folder of the run.
    plan, run : mapping
        Its ``plan.json`` and ``run.json``.

    Returns
    -------
    dict
        Only texts, numbers, lists and dicts.
    """
    results, timings = load_multilabel_rows(folder)
    selectors = [m["name"] for m in plan["reducers"]]
    flat = [m["name"] for m in plan["classifiers"]]
    methods = [*selectors, *flat, *CONTROLS, ALL_FEATURES, LABEL_FREQUENCY]
    found = cells(plan, results, methods)
    _mark_best(found)
    orders = [*selectors, *CONTROLS]
    metric = plan["metrics"][0]
    folds = plan["folds"]
    notes = [*plan["notes"], HOW]
    notes += [f"{d['name']}: {d['note']}" for d in plan["data"] if d["note"]]
    return {
        "schema": "partlearn-report-multilabel/1",
        "task": "multilabel",
        "plan": plan["name"],
        "title": plan["title"],
        "citation": plan["citation"],
        "notes": notes,
        "metric": metric,
        "metrics": list(plan["metrics"]),
        "protocols": ["inductive"],
        "labels": list(plan["labels"]),
        "methods": methods,
        "controls": [*CONTROLS, ALL_FEATURES, LABEL_FREQUENCY],
        "learners": [m["name"] for m in plan["learners"]],
        "reference": plan["reference"],
        "data": run["data"],
        "absent": run["absent"],
        "cells": found,
        "published": _published(plan, found),
        "against_random": [
            entry
            for name in plan["metrics"]
            for entry in against(found, name, [*selectors, NORM, RIDGE], RANDOM, folds)
        ],
        "against_frequency": against(found, metric, orders, LABEL_FREQUENCY, folds),
        "ranking": [
            entry
            for name in plan["metrics"]
            for entry in ranks(found, name, orders, plan["reference"])
        ],
        "sweep": _sweep(plan, found),
        "costs": costs(plan, timings),
        "failures": _failures(results),
        "warnings": _warnings(results),
        "facts": run["facts"],
    }


def _mark_best(found: Sequence[Cell]) -> None:
    """Best of the methods that select, as printed; all features are no selection."""
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in found:
        cell["best"] = False
        if cell["area"] is not None and len(cell["x"]) > 1:
            key = tuple(cell[k] for k in ("data", "r", "labels", "learner", "metric"))
            groups.setdefault(key, []).append(cell)
    for group in groups.values():
        sign = is_better(group[0]["metric"])
        top = max(round(sign * cell["area"], 3) for cell in group)
        for cell in group:
            cell["best"] = round(sign * cell["area"], 3) == top


def _published(plan: Mapping[str, Any], found: Sequence[Cell]) -> list[dict[str, Any]]:
    source = plan["published"]
    if not source:
        return []
    figures = published_scores(source["paper"], str(source["table"]))
    names = {
        m["name"]: m["published"] for m in (*plan["reducers"], *plan["classifiers"])
    }
    block = ("data", "r", "labels", "learner", "metric")
    beside = {
        (*(cell[k] for k in block), cell["method"]): cell["mean"]
        for cell in found
        if cell["method"] in BESIDE
    }
    rows = []
    for cell in found:
        published = names.get(cell["method"])
        figure = figures.get((cell["data"], published or "", cell["metric"]))
        if figure is None:
            continue
        key = tuple(cell[k] for k in block)
        rows.append(
            {
                **{k: cell[k] for k in (*block, "method", "mean", "std")},
                "published_mean": figure.mean,
                "published_std": None if isnan(figure.std) else figure.std,
                "difference": None
                if cell["mean"] is None
                else cell["mean"] - figure.mean,
                "beside": {name: beside.get((*key, name)) for name in BESIDE},
            }
        )
    return rows


def _sweep(plan: Mapping[str, Any], found: Sequence[Cell]) -> list[dict[str, Any]]:
    """Areas against a parameter, for selectors whose grid varies one.

    The controls do not depend on it: they are level lines in the same picture.
    """
    points = {m["name"]: m["point"] for m in plan["reducers"] if len(m["point"]) == 1}
    curves: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for cell in found:
        if cell["method"] not in points or cell["area"] is None:
            continue
        ((parameter, value),) = points[cell["method"]].items()
        key = (*_place(cell), parameter, cell["method"].split("[")[0])
        curve = curves.setdefault(key, {"x": [], "y": [], "std": []})
        curve["x"].append(value)
        curve["y"].append(cell["area"])
        curve["std"].append(cell["area_std"] or 0.0)
    level = {
        (*_place(cell), cell["method"]): cell["area"]
        for cell in found
        if cell["method"] in BESIDE and cell["area"] is not None
    }
    for (*place, parameter, _), curve in list(curves.items()):
        for name in BESIDE:
            if (height := level.get((*place, name))) is not None:
                flat = [height] * len(curve["x"])
                curves[*place, parameter, name] = {
                    "x": curve["x"],
                    "y": flat,
                    "std": [0.0] * len(flat),
                }
    names = ("protocol", "data", "r", "learner", "parameter", "reducer")
    return [{**dict(zip(names, key, strict=True)), **c} for key, c in curves.items()]


def _place(cell: Cell) -> tuple[Any, ...]:
    score = f"{cell['metric']}, {cell['labels']}"
    r = None if cell["r"] is None else f"{cell['r']:g}"
    return score, cell["data"], r, cell["learner"]


def _failures(results: Sequence[Row]) -> list[dict[str, Any]]:
    names = ("data", "r", "labels", "reducer", "learner", "error", "message")
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in results:
        if row["status"] != "ok":
            groups.setdefault(tuple(row[k] for k in names), []).append(row)
    return [
        {
            **dict(zip(names, key, strict=True)),
            "n_jobs": len(rows),
            "traceback": rows[0]["traceback"],
        }
        for key, rows in groups.items()
    ]


def _warnings(results: Sequence[Row]) -> list[dict[str, Any]]:
    jobs: dict[tuple[str, str, str], set[str]] = {}
    for row in results:
        for text in (row["warnings"] or "").splitlines():
            key = (row["reducer"], row["learner"], text)
            jobs.setdefault(key, set()).add(row["id"])
    return [
        {"reducer": reducer, "learner": learner, "text": text, "n_jobs": len(ids)}
        for (reducer, learner, text), ids in jobs.items()
    ]
