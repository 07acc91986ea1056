"""A whole comparison at a glance: ranks and means over groups of combinations."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partlearn.benchmark import average_ranks
from partlearn.report._compare import complete_blocks
from partlearn.report._records import Cost, Overview, PartialCell

__all__ = ["overview", "rows_per_feature"]

Row = Mapping[str, Any]
Block = Mapping[str, float]

REGIMES = (
    ("below 1 row per feature", 0.0, 1.0),
    ("1 to 5 rows per feature", 1.0, 5.0),
    ("5 rows per feature or more", 5.0, np.inf),
)


def rows_per_feature(data: Sequence[Row], folds: int) -> dict[str, float]:
    """Training rows per feature of each data set.

    Parameters
    ----------
    data : sequence of dict
        Descriptions of the data sets.
    folds : int
        Number of folds.

    Returns
    -------
    dict
        By name.
    """
    share = 1 - 1 / folds
    return {d["name"]: share * d["n_samples"] / d["n_features"] for d in data}


def overview(
    folds: int,
    tables: Sequence[Sequence[PartialCell]],
    ranked: Sequence[str],
    names: Sequence[str],
    data: Sequence[Row],
    costs: Sequence[Cost],
) -> list[Overview]:
    """Average rank and mean score of each reducer: all, by regime, by learner.

    Parameters
    ----------
    folds : int
        Folds of the plan.
    tables : sequence of sequence of PartialCell
        Means over folds, by protocol.
    ranked, names : sequence of str
        Reducers that are compared, and all of them.
    data : sequence of dict
        Descriptions of the data sets.
    costs : sequence of Cost
        Times.

    Returns
    -------
    list of Overview
        One per protocol with at least two data sets: groups of combinations, and a row
        per reducer, ranked ones by rank.
    """
    seconds = {c.name: c.fit_time for c in costs if c.kind == "reducer"}
    ratios = rows_per_feature(data, folds)
    found = []
    for cells in tables:
        blocks = complete_blocks(cells, ranked)
        there = [m for m in ranked if any(m in block for block in blocks.values())]
        if len({place[0] for place in blocks}) < 2 or len(there) < 2:
            continue
        groups = {
            name: [blocks[place] for place in places]
            for name, places in _groups(list(blocks), ratios).items()
        }
        columns = [_column(part, there, names) for part in groups.values()]
        order = sorted(there, key=lambda name: columns[0][name]["rank"] or 0.0)
        rest = [name for name in names if name not in ranked]
        found.append(
            Overview(
                protocol=cells[0].protocol,
                groups=[{"name": n, "n_blocks": len(p)} for n, p in groups.items()],
                rows=[
                    {
                        "reducer": name,
                        "ranked": name in there,
                        "fit_time": seconds.get(name),
                        "cells": [column[name] for column in columns],
                    }
                    for name in [*order, *rest]
                ],
            )
        )
    return found


def _groups(places: Sequence[Any], ratios: Mapping[str, float]) -> dict[str, list[Any]]:
    groups = {"all": list(places)}
    for name, low, high in REGIMES:
        groups[name] = [p for p in places if low <= ratios[p[0]] < high]
    learners = list(dict.fromkeys(place[2] for place in places))
    if len(learners) > 1:
        groups |= {name: [p for p in places if p[2] == name] for name in learners}
    return {name: part for name, part in groups.items() if part}


def _column(
    blocks: Sequence[Block], ranked: Sequence[str], names: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Ranks and means; none of a reference that failed, since it would not compare."""
    scores = np.array([[block[name] for name in ranked] for block in blocks])
    ranks = dict(zip(ranked, average_ranks(scores).tolist(), strict=True))
    means = {name: [block[name] for block in blocks if name in block] for name in names}
    return {
        name: {
            "rank": ranks.get(name),
            "mean": float(np.mean(m)) if len(m) == len(blocks) else None,
        }
        for name, m in means.items()
    }
