"""Label columns of a table: one of sets, or several of marks, votes or weights."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array, Mask
from partlearn.candidates import (
    Evidence,
    from_annotators,
    from_weights,
    parse_label_cells,
)
from partlearn.io._bunch import as_whole, binary_matrix, sort_names
from partlearn.io._errors import AmbiguousDataError, DataFormatError
from partlearn.io._options import Budget, Limits

CANDIDATE_MARK, TRUTH_MARK = "candidate:", "truth:"
_YES, _NO = {"1", "yes", "y", "true", "t", "x"}, {"", "0", "no", "n", "false", "f"}
_SEVERAL = re.compile(r"[|;,]|^\s*[\[{(].*[\])}]\s*$")


@dataclass(frozen=True)
class TextColumn:
    """A column of text: distinct values and, per row, which one (-1: none).

    `sep` is what separates labels, where the file leaves no doubt about it.
    """

    codes: NDArray[Any]
    values: list[str]
    sep: str | None = None


Column = NDArray[Any] | TextColumn
LabelSets = list[dict[str, float]]


def label_evidence(
    columns: Mapping[str, NDArray[Any]],
    labels: Sequence[str],
    *,
    sep: str | None = None,
) -> Evidence:
    """Read the label columns of a table that is in memory.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns of numbers, or of objects that are text or None.
    labels : sequence of str
        One column of label sets; or several of marks (0 and 1, yes and no), of the
        labels that annotators gave, or of weights.
    sep : str, default=None
        What separates labels; ``|``, ``;`` and ``,`` are recognised.

    Returns
    -------
    evidence : Evidence
        Labels for `fit`; ``rows`` says which rows have any.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.io import label_evidence
    >>> table = {"kind": np.array(["cat|dog", "dog", None], dtype=object)}
    >>> label_evidence(table, ["kind"]).counts()
    {'cat': 1, 'dog': 2}
    """
    chosen = list(labels)
    budget = Budget(Limits(), 0)
    typed: dict[str, Column] = {n: _typed(columns[n]) for n in chosen}
    if holds_evidence(typed, chosen):
        return column_evidence(typed, chosen, empty="drop")
    if len(chosen) == 1:
        column = as_text_column(typed[chosen[0]])
        sets = parse_sets(column, sep, f"column {chosen[0]!r}")
        names = all_names(sets)
        matrix = label_matrix(column, sets, names, budget, np.float64)
    else:
        names = [unmarked(name) for name in chosen]
        matrix = one_hot_columns(typed, chosen, budget)
    if len(names) < 2:
        shown = f"no other label than {names[0]!r}" if names else "no label at all"
        raise DataFormatError(
            f"there is {shown} in {', '.join(map(repr, chosen))}",
            advice="Nothing can be learnt from fewer than two labels.",
        )
    return from_weights(matrix, classes=names, empty="drop")


def _typed(values: NDArray[Any]) -> Column:
    if values.dtype.kind != "O":
        return values
    missing = np.asarray([v is None for v in values], dtype=bool)
    return _coded([str(v) for v in values[~missing]], missing)


def as_text_column(column: Column) -> TextColumn:
    """Text as it is; of numbers, the distinct ones as text."""
    if isinstance(column, TextColumn):
        return column
    floats = column.dtype.kind == "f"
    missing = np.isnan(column) if floats else np.zeros(len(column), dtype=bool)
    return _coded(as_whole(column[~missing]).tolist(), missing)


def _coded(kept: list[Any], missing: Mask) -> TextColumn:
    # Not np.unique: an array of text takes for every cell what the longest one needs.
    distinct = sorted(set(kept))
    place = {value: code for code, value in enumerate(distinct)}
    codes = np.full(len(missing), -1, dtype=np.int64)
    codes[~missing] = [place[value] for value in kept]
    return TextColumn(codes, [str(value) for value in distinct])


# One column of sets ---------------------------------------------------------------


def looks_like_sets(column: Column) -> bool:
    """Whether some value looks like a set of several labels."""
    if not isinstance(column, TextColumn):
        return False
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


def label_matrix(
    column: TextColumn, sets: LabelSets, names: list[str], budget: Budget, dtype: Any
) -> NDArray[Any]:
    """Labels of the rows of a column; its distinct sets are coded once."""
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


# Several columns ------------------------------------------------------------------


def holds_evidence(columns: dict[str, Column], chosen: list[str]) -> bool:
    """Whether several label columns hold votes or weights instead of 0 and 1."""
    if len(chosen) < 2 or is_marked(chosen[0]):
        return False
    parts = [columns[name] for name in chosen]
    text = [part for part in parts if isinstance(part, TextColumn)]
    if text:
        return len(text) == len(parts) and not all(map(_yes_or_no, text))
    return any(is_measured(part) for part in parts)


def _yes_or_no(column: TextColumn) -> bool:
    return {value.strip().lower() for value in column.values} <= _YES | _NO


def column_evidence(
    columns: dict[str, Column], chosen: list[str], empty: Literal["drop", "all"]
) -> Evidence:
    """Votes of columns that name labels, weights of columns of numbers."""
    where = f"columns {', '.join(map(repr, chosen[:3]))}"
    try:
        if isinstance(columns[chosen[0]], TextColumn):
            texts = {name: as_text_column(columns[name]) for name in chosen}
            cells = {
                name: np.array([*text.values, None], dtype=object)[text.codes]
                for name, text in texts.items()
            }
            return from_annotators(cells, empty=empty)
        matrix = np.column_stack([_numbers(columns[name]) for name in chosen])
        return from_weights(matrix, classes=chosen, empty=empty)
    except ValueError as error:
        raise DataFormatError(str(error).rstrip("."), where=where) from None


def silent_rows(columns: dict[str, Column], chosen: list[str]) -> Mask:
    """Rows about which no column says anything."""
    said = [
        column.codes >= 0 if isinstance(column, TextColumn) else _numbers(column) > 0
        for column in (columns[name] for name in chosen)
    ]
    return ~np.logical_or.reduce(said)


def _numbers(column: Column) -> Array:
    assert not isinstance(column, TextColumn)
    return np.nan_to_num(column.astype(np.float64))


def one_hot_columns(
    columns: dict[str, Column], chosen: list[str], budget: Budget
) -> Mask:
    values = []
    for name in chosen:
        column = columns[name]
        if isinstance(column, TextColumn):
            if not _yes_or_no(column):
                raise DataFormatError(
                    "one-hot label columns must hold 0 and 1; found text",
                    where=f"column {name!r}",
                    advice="Columns of annotators hold text in every column.",
                )
            yes = np.asarray([v.strip().lower() in _YES for v in (*column.values, "")])
            values.append(yes[column.codes])
            continue
        marks = np.nan_to_num(column)  # an empty cell is no mark
        odd = np.flatnonzero(~np.isin(marks, (-1, 0, 1)))
        if odd.size:
            raise DataFormatError(
                f"one-hot label columns must hold 0 and 1; found {marks[odd[0]]}",
                where=f"row {odd[0]} of column {name!r}",
                advice="Labels that annotators gave as numbers have to be text; turn "
                "counts into shares.",
            )
        values.append(marks)
    return binary_matrix(np.column_stack(values), budget, "the label matrix")


def is_marked(name: str) -> bool:
    return name.startswith((CANDIDATE_MARK, TRUTH_MARK))


def unmarked(name: str) -> str:
    """Class that a column of marks stands for."""
    return name.partition(":")[2] if is_marked(name) else name


def is_measured(column: Column) -> bool:
    """Whether a column holds numbers that are not whole, as no class does."""
    if isinstance(column, TextColumn) or column.dtype.kind != "f":
        return False
    return bool((np.isfinite(column) & (column != np.round(column))).any())
