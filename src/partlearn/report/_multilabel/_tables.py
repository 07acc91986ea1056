"""Tables of a multi-label report as rows of texts, for every renderer."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any

from partlearn.report import _format

__all__ = [
    "against_table",
    "metric_name",
    "published_table",
    "rank_table",
    "result_tables",
    "set_name",
]

Table = dict[str, Any]


def metric_name(metric: str) -> str:
    """Write a score in words."""
    text = metric.replace("_tuned", ", tuned thresholds").replace("_", " ")
    return text.replace("f1", "F1")


def set_name(data: str, r: float | None) -> str:
    """Name of a data set with its noise."""
    return data if r is None else f"{data}, r = {r:g}"


def result_tables(summary: Mapping[str, Any], metric: str) -> list[Table]:
    """One table per kind of training labels and learner: methods by data sets.

    Parameters
    ----------
    summary : dict
        From :func:`partlearn.report.summarize`.
    metric : str
        The score.

    Returns
    -------
    list of dict
        With ``caption``, ``head`` and ``rows``; a row has ``method``, ``control`` and
        ``cells``, each with ``text`` and ``best``.
    """
    here = [cell for cell in summary["cells"] if cell["metric"] == metric]
    tables = []
    for labels in summary["labels"]:
        for learner in summary["learners"]:
            part = [
                c for c in here if c["labels"] == labels and c["learner"] == learner
            ]
            sets = list(dict.fromkeys((c["data"], c["r"]) for c in part))
            known = {(c["method"], c["data"], c["r"]): c for c in part}
            if not sets:
                continue
            rows = [
                {
                    "method": method,
                    "control": method in summary["controls"],
                    "cells": [_cell(known.get((method, *s))) for s in sets],
                }
                for method in summary["methods"]
                if any((method, *s) in known for s in sets)
            ]
            name = metric_name(metric)
            caption = f"{name[0].upper()}{name[1:]}, {learner}, trained on {labels}"
            head = [set_name(*s) for s in sets]
            tables.append({"caption": caption, "head": head, "rows": rows})
    return tables


def _cell(cell: Mapping[str, Any] | None) -> dict[str, Any]:
    if cell is None:
        return {"text": _format.EMPTY, "best": False}
    text = _format.score(cell["area"], cell["area_std"])
    if cell["n_failed"]:
        text += f" ({cell['n_failed']} failed)"
    return {"text": text, "best": cell["best"]}


def published_table(summary: Mapping[str, Any]) -> Table:
    """Published, measured, difference, and the controls on the same data."""
    rows = []
    for row in summary["published"]:
        cells = [
            metric_name(row["metric"]),
            set_name(row["data"], row["r"]),
            row["learner"],
            row["labels"],
            row["method"],
            _format.score(row["published_mean"], row["published_std"]),
            _format.score(row["mean"], row["std"]),
            _format.signed(row["difference"]),
        ]
        cells += [_format.score(value) for value in row["beside"].values()]
        rows.append(cells)
    names = list(summary["published"][0]["beside"]) if rows else []
    head = ["score", "data", "learner", "trained on", "method", "published"]
    head += ["measured", "difference", *names]
    return {"head": head, "rows": rows}


def against_table(summary: Mapping[str, Any], key: str) -> Table:
    """Every method against a control."""
    rows = [
        [
            metric_name(e["metric"]),
            e["method"],
            _format.signed(e["difference"]),
            f"{e['n_above']} of {e['n_blocks']}",
            f"{e['win']}/{e['tie']}/{e['loss']}",
            _format.pvalue(e["p"]),
            "yes" if e["beats"] else "no",
        ]
        for e in summary[key]
    ]
    head = ["score", "method", "mean difference", "better in", "win/tie/loss"]
    return {"head": [*head, "Wilcoxon p (Holm)", "beats it"], "rows": rows}


def rank_table(ranking: Mapping[str, Any], reference: str) -> Table:
    """Average ranks, best first, with p values against one method."""
    names, places = ranking["reducers"], ranking["ranks"]
    order = sorted(range(len(names)), key=lambda i: places[i])
    p = ranking["against_reference"]
    head = ["method", "average rank"]
    if p is not None:
        head.append(f"Wilcoxon-Holm p against {reference}")
    rows = []
    for i in order:
        row = [names[i], f"{places[i]:.2f}"]
        if p is not None:
            same = names[i] == reference
            row.append(_format.EMPTY if same else _format.pvalue(p[i]))
        rows.append(row)
    return {"head": head, "rows": rows}
