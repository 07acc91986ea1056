"""Looks into one reduced data set: the plane, the confidences, the doubtful rows."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partlearn.benchmark import Run, Store
from partlearn.report._records import View

__all__ = ["views"]

MAX_POINTS = 400
MAX_VIEWS = 4
N_BINS = 10
N_ROWS = 10


def views(run: Run) -> tuple[View, ...]:
    """One view per reducer that has confidences, on the first data set of the run."""
    store = Store(run.folder)
    kept: list[View] = []
    seen: set[tuple[str, str]] = set()
    for t in run.timings:
        first = run.data[0]
        here = t.data == first.name and t.r == next(iter(first.r), None)
        if not here or not t.reduction or (t.protocol, t.reducer) in seen:
            continue
        if len(kept) >= MAX_VIEWS:
            break
        seen.add((t.protocol, t.reducer))
        record = store.get_reduction(t.reduction)
        if record is None or "confidence" not in record.arrays:
            continue
        kept.append(
            View(
                protocol=t.protocol,
                data=t.data,
                r=t.r,
                reducer=t.reducer,
                fold=t.fold,
                disambiguation=record.disambiguation,
                **_view(record.arrays, first.classes),
            )
        )
    return tuple(kept)


def _view(arrays: Mapping[str, np.ndarray], classes: Sequence[str]) -> dict[str, Any]:
    rows, F = arrays["rows"], arrays["confidence"]
    S, truth = arrays["candidates"].astype(bool), arrays["truth"]
    Z = arrays["Z"][rows]
    plane = Z[:, :2] if Z.shape[1] > 1 else np.column_stack([Z[:, 0], np.zeros(len(Z))])
    top = F.argmax(axis=1)
    level = F.max(axis=1)
    # Evenly spread rows: the picture does not depend on a random draw.
    shown = np.unique(np.linspace(0, len(Z) - 1, min(len(Z), MAX_POINTS)).astype(int))
    edges = np.linspace(0, 1, N_BINS + 1)
    start = 1.0 / S.sum(axis=1)
    doubtful = np.lexsort((np.arange(len(F)), level))[:N_ROWS]
    return {
        "points": [
            {
                "x": float(plane[i, 0]),
                "y": float(plane[i, 1]),
                "label": classes[int(top[i])],
                "confidence": float(level[i]),
                "correct": bool(top[i] == truth[i]),
            }
            for i in shown
        ],
        "histogram": {
            "edges": edges.tolist(),
            "before": np.histogram(start, edges)[0].tolist(),
            "after": np.histogram(np.clip(level, 0, 1), edges)[0].tolist(),
        },
        "ambiguous": [
            {
                "row": int(rows[i]),
                "candidates": [
                    {"label": classes[j], "confidence": float(F[i, j])}
                    for j in sorted(
                        np.flatnonzero(S[i]).tolist(), key=lambda j: (-F[i, j], j)
                    )
                ][:5],
                "truth": classes[int(truth[i])],
            }
            for i in doubtful
        ],
    }
