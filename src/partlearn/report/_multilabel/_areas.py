"""From rows of a multi-label run to curves and areas, one number per fold and seed."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partlearn.benchmark._multilabel._jobs import OWN
from partlearn.benchmark._multilabel._scores import LOWER_IS_BETTER, area

__all__ = ["Cell", "cells", "is_better", "signed_areas"]

Row = Mapping[str, Any]
Cell = dict[str, Any]
Block = tuple[str, float | None, str, str]


def is_better(metric: str) -> float:
    """1 where a high score is good, -1 where a low one is."""
    return -1.0 if metric in LOWER_IS_BETTER else 1.0


def _blocks(plan: Mapping[str, Any], results: Sequence[Row]) -> list[Block]:
    """Data, r, labels and learner of the tables, in the order of the run."""
    found = (
        (row["data"], row["r"], row["labels"], row["learner"])
        for row in results
        if row["learner"] != OWN
    )
    return list(dict.fromkeys(found))


def cells(
    plan: Mapping[str, Any], results: Sequence[Row], methods: Sequence[str]
) -> list[Cell]:
    """One cell per block, method and metric.

    Parameters
    ----------
    plan : mapping
        The plan of the run.
    results : sequence of dict
        Rows of the results table.
    methods : sequence of str
        Names in the order of the tables.

    Returns
    -------
    list of dict
        With ``area`` (mean over folds and seeds of the area under the curve) and
        ``area_std``, ``mean`` and ``std`` over the points of the mean curve, as papers
        print them, the curve itself, and ``areas`` by seed and fold.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in results:
        key = (row["data"], row["r"], row["labels"], row["learner"], row["reducer"])
        groups.setdefault(key, []).append(row)
    found: list[Cell] = []
    for block in _blocks(plan, results):
        for method in methods:
            # A method that predicts by itself stands beside every learner.
            rows = groups.get((*block, method)) or groups.get((*block[:3], OWN, method))
            if rows:
                found += _cells_of(plan, block, method, rows)
    return found


def _cells_of(
    plan: Mapping[str, Any], block: Block, method: str, rows: Sequence[Row]
) -> list[Cell]:
    good = [row for row in rows if row["status"] == "ok"]
    names = ("data", "r", "labels", "learner")
    return [
        {
            **dict(zip(names, block, strict=True)),
            "method": method,
            "metric": metric,
            "n_failed": len(rows) - len(good),
            **_summary(good, metric),
        }
        for metric in plan["metrics"]
    ]


def _summary(rows: Sequence[Row], metric: str) -> dict[str, Any]:
    # Draws of a random order are averaged first: they are not folds.
    draws: dict[tuple[int, int], dict[float, list[float]]] = {}
    for row in rows:
        points = draws.setdefault((row["noise_seed"], row["fold"]), {})
        points.setdefault(row["percentage"], []).append(row[metric])
    if not draws:
        empty = dict.fromkeys(("area", "area_std", "mean", "std"))
        return {**empty, "x": [], "y": [], "y_std": [], "areas": []}
    curves = {
        key: {x: float(np.mean(v)) for x, v in points.items()}
        for key, points in draws.items()
    }
    areas = [
        [seed, fold, area(list(c), list(c.values()))]
        for (seed, fold), c in curves.items()
    ]
    xs = sorted({x for curve in curves.values() for x in curve})
    at = [[c[x] for c in curves.values() if x in c] for x in xs]
    ys = [float(np.mean(v)) for v in at]
    values = [a for *_, a in areas]
    return {
        "area": float(np.mean(values)),
        "area_std": _spread(values),
        "mean": float(np.mean(ys)),
        "std": _spread(ys),
        "x": xs,
        "y": ys,
        "y_std": [_spread(v) or 0.0 for v in at],
        "areas": areas,
    }


def _spread(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def signed_areas(cell: Mapping[str, Any]) -> dict[tuple[int, int], float]:
    """Areas by seed and fold, turned so that more is better."""
    sign = is_better(cell["metric"])
    return {(seed, fold): sign * value for seed, fold, value in cell["areas"]}
