"""Columns of label sets: distinct strings and which row has which."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Mask
from partlearn.candidates import parse_label_cells
from partlearn.io._bunch import sort_names
from partlearn.io._errors import AmbiguousDataError, DataFormatError
from partlearn.io._limits import Budget

__all__ = [
    "LabelSets",
    "TextColumn",
    "all_names",
    "looks_like_sets",
    "parse_sets",
    "set_matrix",
    "weight_matrix",
]

LabelSets = list[dict[str, float]]
_SEVERAL = re.compile(r"[|;,]|^\s*[\[{(].*[\])}]\s*$")


@dataclass(frozen=True)
class TextColumn:
    """A column of text: distinct values and, per row, which one (-1: none).

    `sep` is what separates labels, where the file leaves no doubt about it.
    """

    codes: NDArray[Any]
    values: list[str]
    sep: str | None = None


def looks_like_sets(column: TextColumn) -> bool:
    """Whether some value looks like a set of several labels."""
    if column.sep is not None:
        return any(column.sep in value for value in column.values)
    return any(_SEVERAL.search(value) for value in column.values)


def parse_sets(
    column: TextColumn, sep: str | None, where: str, *, split: bool = True
) -> LabelSets:
    """Return the labels of each distinct value, with their weights.

    `sep` is what the caller said; without `split`, text is never cut.
    """
    if column.sep is not None:
        sets = [value.split(column.sep) for value in column.values]
        return [{n.strip(): 1.0 for n in names if n.strip()} for names in sets]
    try:
        return parse_label_cells(column.values, sep=(sep or "auto") if split else None)
    except ValueError as error:
        raise _named_row(error, column, where) from None


def _named_row(error: ValueError, column: TextColumn, where: str) -> Exception:
    """The same error with the row of the file instead of the distinct value."""

    def row(match: re.Match[str]) -> str:
        places = np.flatnonzero(column.codes == int(match[2]))
        return f"{match[1]} {places[0] if places.size else match[2]}"

    text = re.sub(r"\b(row) (\d+)", row, str(error), flags=re.IGNORECASE)
    text = text.replace("Say which with `sep`.", "").strip().rstrip(".")
    if "separator could be meant" in text:
        return AmbiguousDataError(
            text, where=where, advice="Say with sep= which one separates them."
        )
    return DataFormatError(text, where=where)


def set_matrix(
    column: TextColumn, sets: LabelSets, names: list[str], budget: Budget
) -> Mask:
    """Boolean matrix of the rows of a column; its distinct sets are coded once."""
    return weight_matrix(column, sets, names, budget, dtype=np.bool_)


def weight_matrix(
    column: TextColumn,
    sets: LabelSets,
    names: list[str],
    budget: Budget,
    dtype: Any = np.float64,
) -> NDArray[Any]:
    """Weights of the rows of a column; its distinct sets are coded once."""
    q, size = len(names), np.dtype(dtype).itemsize
    budget.matrix(len(column.codes), q, size, "the label matrix")
    budget.matrix(len(sets) + 1, q, size, "the table of distinct label sets")
    place = {name: j for j, name in enumerate(names)}
    distinct = np.zeros((len(sets) + 1, q), dtype=dtype)  # the last row: no value
    for i, labels in enumerate(sets):
        distinct[i, [place[name] for name in labels]] = list(labels.values())
    return distinct[column.codes]


def all_names(*parts: LabelSets) -> list[str]:
    """Every label that occurs, in order."""
    return sort_names(list({name for sets in parts for row in sets for name in row}))
