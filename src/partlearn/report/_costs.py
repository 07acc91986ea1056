"""Time and memory per method."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["costs"]

Row = Mapping[str, Any]


def costs(plan: Mapping[str, Any], timings: Sequence[Row]) -> list[dict[str, Any]]:
    """Mean seconds of fit and use, and the highest memory, per method.

    Parameters
    ----------
    plan : mapping
        The plan of the run.
    timings : sequence of dict
        Timing rows.

    Returns
    -------
    list of dict
        Reducers first, then learners; each reduction counts once.
    """
    found = []
    for method in plan["reducers"]:
        seen = {
            row["reduction"]: row
            for row in timings
            if row["reducer"] == method["name"] and row["reduction"]
        }
        if seen:
            rows = list(seen.values())
            names = ("reduce_fit_time", "reduce_transform_time", "reduce_peak_mb")
            found.append(_cost("reducer", method["name"], rows, names))
    for method in plan["learners"]:
        rows = [row for row in timings if row["learner"] == method["name"]]
        if rows:
            names = ("fit_time", "predict_time", "peak_mb")
            found.append(_cost("learner", method["name"], rows, names))
    return found


def _cost(
    kind: str, name: str, rows: Sequence[Row], columns: tuple[str, str, str]
) -> dict[str, Any]:
    values = [[row[c] for row in rows if row[c] is not None] for c in columns]
    return {
        "kind": kind,
        "name": name,
        "n_runs": len(rows),
        "fit_time": float(np.mean(values[0])) if values[0] else None,
        "use_time": float(np.mean(values[1])) if values[1] else None,
        "peak_mb": float(np.max(values[2])) if values[2] else None,
    }
