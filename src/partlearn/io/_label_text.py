"""Label sets written as text: ``"cat|dog"``."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn.io._bunch import sort_names
from partlearn.io._errors import AmbiguousDataError
from partlearn.io._limits import Budget

__all__ = ["TextColumn", "find_separator", "has_separator", "parse_sets", "set_matrix"]

_SEPARATORS = ("|", ";", ",")


@dataclass(frozen=True)
class TextColumn:
    """A column of text: distinct values and, per row, which one (-1: none).

    `sep` is what separates labels, where the file leaves no doubt about it.
    """

    codes: NDArray[Any]
    values: list[str]
    sep: str | None = None


def has_separator(column: TextColumn) -> bool:
    """Whether some value looks like a set of several labels."""
    separators = _SEPARATORS if column.sep is None else (column.sep,)
    return any(s in value for value in column.values for s in separators)


def find_separator(column: TextColumn, sep: str | None, where: str) -> str | None:
    """Return the separator in use; None when every value is a single label."""
    if column.sep is not None:
        return column.sep
    if sep is not None:
        return sep
    present = [s for s in _SEPARATORS if any(s in value for value in column.values)]
    if len(present) > 1:
        raise AmbiguousDataError(
            f"the labels contain {' and '.join(map(repr, present))}",
            where=where,
            advice="Say with sep= which one separates them.",
        )
    return present[0] if present else None


def parse_sets(column: TextColumn, sep: str | None) -> list[list[str]]:
    """Return the members of each distinct value."""
    if sep is None:
        return [[value.strip()] if value.strip() else [] for value in column.values]
    return [
        [part for raw in value.split(sep) if (part := raw.strip())]
        for value in column.values
    ]


def set_matrix(
    column: TextColumn, sets: list[list[str]], names: list[str], budget: Budget
) -> NDArray[np.bool_]:
    """Boolean matrix of the rows of a column; its distinct sets are coded once."""
    q = len(names)
    budget.matrix(len(column.codes), q, 1, "the label matrix")
    budget.matrix(len(sets) + 1, q, 1, "the table of distinct label sets")
    place = {name: j for j, name in enumerate(names)}
    distinct = np.zeros((len(sets) + 1, q), dtype=bool)  # the last row: no value
    for i, members in enumerate(sets):
        distinct[i, [place[name] for name in members]] = True
    return distinct[column.codes]


def all_names(*parts: list[list[str]]) -> list[str]:
    """Every label that occurs, in order."""
    return sort_names(list({name for sets in parts for row in sets for name in row}))
