"""Rows of the result tables, shared by the renderers."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any

__all__ = ["result_tables"]


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
