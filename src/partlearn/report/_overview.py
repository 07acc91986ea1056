"""A whole comparison at a glance: ranks and means over groups of combinations."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from partlearn.benchmark import Cell, DataFacts, average_ranks
from partlearn.report._compare import complete_blocks
from partlearn.report._records import Cost, Overview

__all__ = ["overview", "rows_per_feature"]

REGIMES = (
    ("below 1 row per feature", 0.0, 1.0),
    ("1 to 5 rows per feature", 1.0, 5.0),
    ("5 rows per feature or more", 5.0, np.inf),
)


def rows_per_feature(data: Iterable[DataFacts], folds: int) -> dict[str, float]:
    """Training rows per feature of each data set."""
    return {d.name: (1 - 1 / folds) * d.n_samples / d.n_features for d in data}


def overview(
    folds: int,
    tables: Iterable[Sequence[Cell]],
    ranked: Sequence[str],
    names: Sequence[str],
    data: Iterable[DataFacts],
    costs: Iterable[Cost],
) -> tuple[Overview, ...]:
    """Average rank and mean score of each method: all, by regime, by learner.

    Parameters
    ----------
    folds : int
        Folds of the plan.
    tables : iterable of sequence of Cell
        One per protocol.
    ranked, names : sequence of str
        Methods that are compared, and all of them.
    data : iterable of DataFacts
        Data sets.
    costs : iterable of Cost
        Times.

    Returns
    -------
    tuple of Overview
        One per protocol with at least two data sets; ranked methods by rank, then the
        others.
    """
    seconds = {c.name: c.fit_time for c in costs if c.kind == "reducer"}
    ratios = rows_per_feature(data, folds)
    overviews = []
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
        order = sorted(there, key=lambda name: columns[0][name][0] or 0.0)
        rest = [name for name in names if name not in ranked]
        overviews.append(
            Overview(
                protocol=cells[0].protocol,
                groups=tuple((name, len(part)) for name, part in groups.items()),
                rows=tuple(
                    (name, seconds.get(name), tuple(column[name] for column in columns))
                    for name in [*order, *rest]
                ),
            )
        )
    return tuple(overviews)


def _groups(places: Sequence[Any], ratios: Mapping[str, float]) -> dict[str, list[Any]]:
    groups = {"all": list(places)}
    for name, low, high in REGIMES:
        groups[name] = [p for p in places if low <= ratios[p[0]] < high]
    learners = list(dict.fromkeys(place[-1] for place in places))
    if len(learners) > 1:
        groups |= {name: [p for p in places if p[-1] == name] for name in learners}
    return {name: part for name, part in groups.items() if part}


def _column(
    blocks: Sequence[Mapping[str, float]], ranked: Sequence[str], names: Sequence[str]
) -> dict[str, tuple[float | None, float | None]]:
    """Ranks and means; none of a reference that failed, since it would not compare."""
    scores = np.array([[block[name] for name in ranked] for block in blocks])
    ranks = dict(zip(ranked, average_ranks(scores).tolist(), strict=True))
    known = {name: [b[name] for b in blocks if name in b] for name in names}
    return {
        name: (ranks.get(name), float(np.mean(v)) if len(v) == len(blocks) else None)
        for name, v in known.items()
    }
