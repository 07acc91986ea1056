"""Parts of a summary that do not depend on the kind of labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from partlearn.report._records import Cost, Curve, Failure, Warned

__all__ = ["common", "grouped", "mean_of", "spread", "sweep"]

Row = Mapping[str, Any]


def grouped(rows: Iterable[Row], keys: Sequence[str]) -> dict[tuple[Any, ...], Any]:
    """Rows by the values of some columns, in the order of the first of each.

    Parameters
    ----------
    rows : iterable of dict
        Rows of a table.
    keys : sequence of str
        Columns.

    Returns
    -------
    dict
        Lists of rows.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def mean_of(values: Iterable[float | None]) -> float | None:
    """Mean of what is known."""
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known else None


def spread(values: Sequence[float]) -> float | None:
    """Deviation of at least two numbers."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def common(
    plan: Row,
    run: Row,
    results: Sequence[Row],
    timings: Sequence[Row],
    notes: Iterable[str],
    kind: str,
) -> dict[str, Any]:
    """Fields that every summary has, but for the comparisons.

    Parameters
    ----------
    plan, run : mapping
        The plan and the facts of the run.
    results, timings : sequence of dict
        Rows of the run.
    notes : iterable of str
        What a reader must know of this kind of run.
    kind : str
        Column that tells tables of results apart: ``"protocol"`` or ``"labels"``.

    Returns
    -------
    dict
        Arguments of :class:`Summary`.
    """
    of_data = [f"{d['name']}: {d['note']}" for d in plan["data"] if d["note"]]
    return {
        "plan": plan["name"],
        "title": plan["title"],
        "citation": plan["citation"],
        "notes": [*plan["notes"], *notes, *of_data],
        "metric": plan["metrics"][0],
        "learners": [m["name"] for m in plan["learners"]],
        "data": run["data"],
        "absent": run["absent"],
        "costs": _costs(plan, timings),
        "failures": _failures(results, kind),
        "warnings": _warnings(results),
        "facts": run["facts"],
    }


def _failures(results: Iterable[Row], kind: str) -> list[Failure]:
    keys = (kind, "data", "r", "reducer", "learner", "error", "message")
    groups = grouped((row for row in results if row["status"] != "ok"), keys)
    names = ("protocol", *keys[1:])
    return [
        Failure(
            **dict(zip(names, key, strict=True)),
            n_folds=len(rows),
            traceback=rows[0]["traceback"],
        )
        for key, rows in groups.items()
    ]


def _warnings(results: Iterable[Row]) -> list[Warned]:
    jobs: dict[tuple[str, str, str], set[str]] = {}
    for row in results:
        for text in (row["warnings"] or "").splitlines():
            key = (row["reducer"], row["learner"], text)
            jobs.setdefault(key, set()).add(row["id"])
    return [Warned(*key, n_jobs=len(ids)) for key, ids in jobs.items()]


def _costs(plan: Row, timings: Sequence[Row]) -> list[Cost]:
    """Reducers first, then learners; each reduction counts once."""
    found = []
    columns = ("reduce_fit_time", "reduce_transform_time", "reduce_peak_mb")
    for method in plan["reducers"]:
        seen = {
            row["reduction"]: row
            for row in timings
            if row["reducer"] == method["name"] and row["reduction"]
        }
        if seen:
            found.append(_cost("reducer", method["name"], seen.values(), columns))
    columns = ("fit_time", "predict_time", "peak_mb")
    for method in plan["learners"]:
        rows = [row for row in timings if row["learner"] == method["name"]]
        if rows:
            found.append(_cost("learner", method["name"], rows, columns))
    return found


def _cost(kind: str, name: str, rows: Iterable[Row], columns: tuple[str, ...]) -> Cost:
    fit, use, peak = ([row[c] for row in rows] for c in columns)
    peaks = [v for v in peak if v is not None]
    return Cost(
        kind,
        name,
        n_runs=len(fit),
        fit_time=mean_of(fit),
        use_time=mean_of(use),
        peak_mb=float(max(peaks)) if peaks else None,
    )


def sweep(
    plan: Row, scores: Iterable[tuple[tuple[Any, ...], str, float, float | None]]
) -> list[Curve]:
    """Curves for plans whose methods vary a parameter by a grid.

    Parameters
    ----------
    plan : mapping
        The plan of the run.
    scores : iterable of (place, method, score, std)
        Place is table, data set, r and learner.

    Returns
    -------
    list of Curve
        One per place, parameter, and setting of the other parameters.
    """
    points = {m["name"]: m["point"] for m in plan["reducers"] if m["point"]}
    curves: dict[tuple[Any, ...], list[tuple[Any, float, float]]] = {}
    for place, method, score, std in scores:
        for parameter, value in points.get(method, {}).items():
            others = {k: v for k, v in points[method].items() if k != parameter}
            label = method.split("[")[0]
            label += "".join(f", {k}={v}" for k, v in others.items())
            key = (*place, parameter, label)
            curves.setdefault(key, []).append((value, score, std or 0.0))
    return [
        Curve(*key, *(list(column) for column in zip(*found, strict=True)))
        for key, found in curves.items()
    ]
