"""Rows of the result tables, shared by the renderers."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any

from partlearn.report._format import EMPTY, pvalue

__all__ = [
    "method_label",
    "overview_rows",
    "rank_rows",
    "result_tables",
    "unranked_note",
    "win_tie_loss_rows",
]

DAGGER = "\N{DAGGER}"


def method_label(summary: Mapping[str, Any], name: str) -> str:
    """Name of a reducer as printed; references have a dagger."""
    shown = "no reduction" if name == "none" else name
    return f"{shown} {DAGGER}" if name in summary["unranked"] else shown


def unranked_note(summary: Mapping[str, Any]) -> str:
    """Sentence on the references, or nothing."""
    if not summary["unranked"]:
        return ""
    texts = [
        f"{'no reduction' if name == 'none' else name} ({why})"
        for name, why in summary["unranked"].items()
    ]
    return f"{DAGGER} Not ranked and not tested: {', '.join(texts)}."


def overview_rows(entry: Mapping[str, Any], summary: Mapping[str, Any]) -> Any:
    """Overview of one protocol as texts: head and rows.

    Parameters
    ----------
    entry : dict
        One of the summary's ``overview``.
    summary : dict
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    head : list of str
        "reduction", groups with their number of cells, "fit, s".
    rows : list of list of str
        "rank / mean", or the mean alone for references.
    """
    head = ["reduction"]
    head += [f"{g['name']} ({g['n_blocks']})" for g in entry["groups"]]
    rows = []
    for row in entry["rows"]:
        texts = [method_label(summary, row["reducer"])]
        for cell in row["cells"]:
            mean = EMPTY if cell["mean"] is None else f"{cell['mean']:.3f}"
            rank = "" if cell["rank"] is None else f"{cell['rank']:.2f} / "
            texts.append(rank + mean)
        time = row["fit_time"]
        rows.append([*texts, EMPTY if time is None else f"{time:.3g}"])
    return [*head, "fit, s"], rows


def rank_rows(entry: Mapping[str, Any], summary: Mapping[str, Any]) -> Any:
    """Ranks of one entry of ``ranking``, best first, with p against the reference.

    Returns
    -------
    head : list of str
        Names of the columns.
    rows : list of list of str
        A reducer each.
    """
    names, p = entry["reducers"], entry["against_reference"]
    order = sorted(range(len(names)), key=lambda i: entry["ranks"][i])
    rows = []
    for i in order:
        own = names[i] == summary["reference"]
        rows.append(
            [
                "no reduction" if names[i] == "none" else names[i],
                f"{entry['ranks'][i]:.2f}",
                EMPTY if own or p is None else pvalue(p[i]),
            ]
        )
    return ["reduction", "rank", f"p against {summary['reference']}"], rows


def result_tables(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One table per protocol: rows are data set, r and learner; columns reducers.

    Parameters
    ----------
    summary : dict
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    list of dict
        With ``protocol`` and ``rows``; a row has ``cells`` in the order of reducers.
    """
    tables = []
    for protocol in summary["protocols"]:
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        for cell in summary["cells"]:
            if cell["protocol"] != protocol:
                continue
            key = (cell["data"], cell["r"], cell["learner"])
            rows.setdefault(key, {})[cell["reducer"]] = cell
        tables.append(
            {
                "protocol": protocol,
                "rows": [
                    {
                        "data": data,
                        "r": r,
                        "learner": learner,
                        "cells": [cells.get(name) for name in summary["reducers"]],
                    }
                    for (data, r, learner), cells in rows.items()
                ],
            }
        )
    return tables


def win_tie_loss_rows(
    summary: Mapping[str, Any],
) -> tuple[list[str], list[dict[str, Any]]]:
    """Win/tie/loss as the papers print it: one column per learner.

    Parameters
    ----------
    summary : dict
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    columns : list of str
        Learners, and "all" when there are several.
    rows : list of dict
        With ``protocol``, ``against`` and ``cells`` in the order of the columns: None
        or texts ``plain`` and ``corrected``.
    """
    entries = summary["win_tie_loss"]
    columns = list(dict.fromkeys(w["learner"] for w in entries))
    # A learner that failed for some reducers must not come after the total.
    columns.sort(key=lambda name: name == "all")
    rows: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for w in entries:
        rows.setdefault((w["protocol"], w["other"]), {})[w["learner"]] = {
            "plain": f"{w['win']}/{w['tie']}/{w['loss']}",
            "corrected": f"{w['corrected_win']}/{w['corrected_tie']}/"
            f"{w['corrected_loss']}",
        }
    return columns, [
        {
            "protocol": protocol,
            "against": "no reduction" if other == "none" else other,
            "cells": [cells.get(name) for name in columns],
        }
        for (protocol, other), cells in rows.items()
    ]
