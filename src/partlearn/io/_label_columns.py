"""Label columns of a table: one of sets, or several of marks, votes or weights."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array, Mask
from partlearn.candidates import Evidence, from_annotators, from_weights
from partlearn.io._bunch import binary_matrix
from partlearn.io._errors import DataFormatError
from partlearn.io._label_text import TextColumn, all_names, parse_sets, weight_matrix
from partlearn.io._limits import Budget, Limits

__all__ = [
    "CANDIDATE_MARK",
    "TRUTH_MARK",
    "Column",
    "as_text_column",
    "column_evidence",
    "holds_evidence",
    "is_marked",
    "is_measured",
    "label_evidence",
    "mark_of",
    "one_hot_columns",
    "silent_rows",
]

Column = NDArray[Any] | TextColumn
CANDIDATE_MARK, TRUTH_MARK = "candidate:", "truth:"
_YES, _NO = {"1", "yes", "y", "true", "t", "x"}, {"", "0", "no", "n", "false", "f"}


def label_evidence(
    columns: Mapping[str, NDArray[Any]],
    labels: Sequence[str],
    *,
    sep: str | None = None,
    empty: Literal["error", "drop", "all"] = "error",
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
    empty : {"error", "drop", "all"}, default="error"
        What to do with rows without labels; see
        :func:`partlearn.candidates.from_weights`.

    Returns
    -------
    evidence : Evidence
        Labels for `fit`; ``rows`` says which rows were kept.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.io import label_evidence
    >>> table = {"kind": np.array(["cat|dog", "dog", None], dtype=object)}
    >>> label_evidence(table, ["kind"], empty="drop").counts()
    {'cat': 1, 'dog': 2}
    """
    chosen = list(labels)
    budget = Budget(Limits(), 0)
    typed: dict[str, Column] = {n: _typed(columns[n]) for n in chosen}
    if len(chosen) == 1:
        column, where = as_text_column(typed[chosen[0]]), f"column {chosen[0]!r}"
        sets = parse_sets(column, sep, where)
        names = all_names(sets)
        matrix = weight_matrix(column, sets, names, budget)
    elif holds_evidence(typed, chosen):
        evidence = column_evidence(typed, chosen)
        silent = silent_rows(typed, chosen)
        if not silent.any() or empty == "all":
            return evidence
        if empty == "drop":
            kept = np.flatnonzero(~silent)
            return evidence[kept]
        raise DataFormatError(
            f"{silent.sum()} rows have no label, the first is row {silent.argmax()}"
        )
    else:
        names = [name.removeprefix(mark_of(name)) for name in chosen]
        matrix = one_hot_columns(typed, chosen, budget).astype(np.float64)
    if len(names) < 2:
        shown = f"no other label than {names[0]!r}" if names else "no label at all"
        raise DataFormatError(
            f"there is {shown} in {', '.join(map(repr, chosen))}",
            advice="Nothing can be learnt from fewer than two labels.",
        )
    return from_weights(matrix, classes=names, empty=empty)


def _typed(values: NDArray[Any]) -> Column:
    if values.dtype.kind != "O":
        return values
    texts = np.asarray([v for v in values if v is not None], dtype=object)
    distinct, inverse = np.unique(texts.astype(np.str_), return_inverse=True)
    codes = np.full(len(values), -1, dtype=np.int64)
    codes[[v is not None for v in values]] = inverse.reshape(-1)
    return TextColumn(codes, distinct.tolist())


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


def column_evidence(columns: dict[str, Column], chosen: list[str]) -> Evidence:
    """Votes of columns that name labels, weights of columns of numbers."""
    where = f"columns {', '.join(map(repr, chosen[:3]))}"
    try:
        if isinstance(columns[chosen[0]], TextColumn):
            table = {name: _cells(as_text_column(columns[name])) for name in chosen}
            return from_annotators(table, empty="all")
        matrix = np.column_stack([_numbers(columns[name]) for name in chosen])
        return from_weights(matrix, classes=chosen, empty="all")
    except ValueError as error:
        raise DataFormatError(str(error).rstrip("."), where=where) from None


def silent_rows(columns: dict[str, Column], chosen: list[str]) -> Mask:
    """Rows about which no column says anything."""
    said = [
        column.codes >= 0 if isinstance(column, TextColumn) else _numbers(column) > 0
        for column in (columns[name] for name in chosen)
    ]
    return ~np.logical_or.reduce(said)


def _cells(column: TextColumn) -> list[str | None]:
    values = [*column.values, None]
    return [values[code] for code in column.codes]


def _numbers(column: Column) -> Array:
    assert not isinstance(column, TextColumn)
    return np.nan_to_num(column.astype(np.float64))


def as_text_column(column: Column) -> TextColumn:
    if isinstance(column, TextColumn):
        return column
    if column.dtype.kind == "f":
        missing = np.isnan(column)
        whole = np.isfinite(column) & (column == np.round(column))
        if (whole | missing).all() and (np.abs(column[whole]) < 2**53).all():
            kept = column[~missing].astype(np.int64)
        else:
            kept = column[~missing]
    else:
        missing, kept = np.zeros(len(column), dtype=bool), column
    values, inverse = np.unique(kept, return_inverse=True)
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[~missing] = inverse.reshape(-1)
    return TextColumn(codes, [str(v) for v in values.tolist()])


def one_hot_columns(
    columns: dict[str, Column], chosen: list[str], budget: Budget
) -> Mask:
    first = columns[chosen[0]]
    rows = len(first.codes) if isinstance(first, TextColumn) else len(first)
    budget.matrix(rows, len(chosen), 1, "the label matrix")
    values = []
    for name in chosen:
        column = columns[name]
        if isinstance(column, TextColumn) and _yes_or_no(column):
            yes = np.asarray([v.strip().lower() in _YES for v in (*column.values, "")])
            column = yes[column.codes]
        if isinstance(column, TextColumn):
            raise DataFormatError(
                "one-hot label columns must hold 0 and 1; found text",
                where=f"column {name!r}",
                advice="Columns of annotators hold text in every column.",
            )
        values.append(column)
    matrix = np.column_stack(values)
    return binary_matrix(matrix, budget, "the label columns")


def mark_of(name: str) -> str:
    for mark in (CANDIDATE_MARK, TRUTH_MARK):
        if name.startswith(mark):
            return mark
    return ""


def is_marked(name: str) -> bool:
    return bool(mark_of(name))


def is_measured(column: Column) -> bool:
    """Whether a column holds numbers that are not whole, as no class does."""
    if isinstance(column, TextColumn) or column.dtype.kind != "f":
        return False
    return bool((np.isfinite(column) & (column != np.round(column))).any())
