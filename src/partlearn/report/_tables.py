"""Rows of the result tables, shared by the renderers."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any

__all__ = ["result_tables", "win_tie_loss_rows"]


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
