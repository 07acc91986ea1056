"""A whole comparison at a glance: ranks and means over groups of cells."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partlearn.benchmark import average_ranks
from partlearn.report._compare import Block, complete_blocks, ranked_reducers

__all__ = ["overview", "rows_per_feature"]

Row = Mapping[str, Any]

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
    plan: Mapping[str, Any],
    cells: Sequence[Row],
    data: Sequence[Row],
    costs: Sequence[Row],
) -> list[dict[str, Any]]:
    """Average rank and mean score of each reducer: all cells, by regime, by learner.

    Parameters
    ----------
    plan : mapping
        The plan of the run.
    cells : sequence of dict
        Means over folds.
    data, costs : sequence of dict
        Descriptions of the data sets, and times.

    Returns
    -------
    list of dict
        One per protocol with at least two data sets: ``groups`` of cells, and
        ``rows``, a reducer each, ranked ones by rank.
    """
    seconds = {c["name"]: c["fit_time"] for c in costs if c["kind"] == "reducer"}
    ratios = rows_per_feature(data, plan["folds"])
    ranked = ranked_reducers(plan)
    others = [m["name"] for m in plan["reducers"] if m["name"] not in ranked]
    found = []
    for protocol in plan["protocols"]:
        blocks = complete_blocks(plan, cells, protocol)
        if len({key[0] for key in blocks}) < 2 or len(ranked) < 2:
            continue
        groups = _groups(list(blocks), ratios)
        columns = [_column([blocks[k] for k in keys], ranked) for _, keys in groups]
        order = sorted(ranked, key=lambda name: columns[0][name]["rank"])
        means = [_means([blocks[k] for k in keys], others) for _, keys in groups]
        found.append(
            {
                "protocol": protocol,
                "groups": [{"name": n, "n_blocks": len(keys)} for n, keys in groups],
                "rows": [
                    {
                        "reducer": name,
                        "ranked": name in ranked,
                        "fit_time": seconds.get(name),
                        "cells": [
                            (column if name in ranked else mean)[name]
                            for column, mean in zip(columns, means, strict=True)
                        ],
                    }
                    for name in [*order, *others]
                ],
            }
        )
    return found


def _groups(
    keys: Sequence[Block], ratios: Mapping[str, float]
) -> list[tuple[str, list[Block]]]:
    groups = [("all", list(keys))]
    for name, low, high in REGIMES:
        groups.append((name, [k for k in keys if low <= ratios[k[0]] < high]))
    learners = list(dict.fromkeys(key[2] for key in keys))
    if len(learners) > 1:
        groups += [(name, [k for k in keys if k[2] == name]) for name in learners]
    return [(name, chosen) for name, chosen in groups if chosen]


def _column(
    blocks: Sequence[Mapping[str, float]], names: Sequence[str]
) -> dict[str, dict[str, Any]]:
    scores = np.array([[block[name] for name in names] for block in blocks])
    ranks, means = average_ranks(scores), scores.mean(axis=0)
    return {
        name: {"rank": float(rank), "mean": float(mean)}
        for name, rank, mean in zip(names, ranks, means, strict=True)
    }


def _means(
    blocks: Sequence[Mapping[str, float]], names: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Means of references; none where one failed, since it would not compare."""
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        scores = [block[name] for block in blocks if name in block]
        whole = len(scores) == len(blocks)
        found[name] = {"rank": None, "mean": float(np.mean(scores)) if whole else None}
    return found
