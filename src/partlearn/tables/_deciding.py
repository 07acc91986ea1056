"""Columns that decide the label alone, and cells that do not fit their column."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Mask
from partlearn.candidates import warn_caller
from partlearn.io import as_text, form_of, numbers_in
from partlearn.tables._column_kinds import GIVEN, ColumnKind
from partlearn.tables._known import known_cells

_AGREE = 0.98  # share of rows that makes a column look like a label
_ENOUGH = 5  # rows with the same value that make agreement remarkable


def warn_of_columns(
    columns: Mapping[str, NDArray[Any]], kinds: Mapping[str, ColumnKind], S: Mask
) -> list[str]:
    """Warn of columns that decide the label, and of cells that cannot be read.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns of the rows that have labels.
    kinds : mapping of str to ColumnKind
        What the columns are; only used ones count.
    S : ndarray of bool, shape (n_rows, n_classes)
        Candidates.

    Returns
    -------
    names : list of str
        Columns whose values decide the label.
    """
    _warn_unread(columns, kinds)
    names = deciding_columns(columns, kinds, S)
    if names:
        warn_caller(
            f"Column {names[0]!r} decides the label alone: rows of equal value share a "
            "candidate. If it was made from the labels, leave it out with `ignore`; "
            "scores would be too good."
            + (f" So do {', '.join(map(repr, names[1:5]))}." if names[1:] else "")
        )
    return names


def _warn_unread(
    columns: Mapping[str, NDArray[Any]], kinds: Mapping[str, ColumnKind]
) -> None:
    """Warn of text in columns of numbers and dates, such as a second row of names."""
    told = []
    for name, kind in kinds.items():
        column = columns[name]
        if kind.kind not in ("number", "date") or form_of(column) != "text":
            continue
        if (
            kind.kind == "number"
            and np.isfinite(numbers_in(column, kind.grouping, kind.unit)).all()
        ):
            continue  # nearly always, and fast
        rows = np.flatnonzero(known_cells(column, kind)[1])
        if len(rows):
            cell = str(column[rows[0]]).strip()[:40]
            told.append(f"{cell!r} in column {name!r} ({len(rows)} rows)")
    if told:
        warn_caller(
            f"Cells that are no number or date were read as missing: "
            f"{', '.join(told[:5])}{', ...' if told[5:] else ''}. Correct them, or "
            "name the column in `category`."
        )


def deciding_columns(
    columns: Mapping[str, NDArray[Any]], kinds: Mapping[str, ColumnKind], S: Mask
) -> list[str]:
    """Columns in which rows of equal value share a candidate, for several values."""
    rare = S.mean(axis=0) < 0.9
    sample = np.unique(np.linspace(0, len(S) - 1, 500).astype(np.intp))
    names = []
    for name, kind in kinds.items():
        # What the caller says is a feature is one.
        if not kind.used or kind.kind == "date" or kind.reason == GIVEN:
            continue
        column = columns[name]
        if column.dtype.kind == "O":
            place: dict[str, int] = {}
            texts = ((as_text(value) or "").strip() for value in column)
            column = np.array([place.setdefault(t, len(place)) for t in texts])
        few = column[sample]
        if len(np.unique(few)) > max(50, 2 * S.shape[1]):
            continue
        if agreement(few, S[sample], rare, 2)[0] < _AGREE - 0.05:
            continue
        if tells_label(column, S, rare):
            names.append(name)
    return names


def agreement(
    column: NDArray[Any], S: Mask, rare: Mask, enough: int
) -> tuple[float, int]:
    """Return which share of rows has the commonest label of its value.

    Only values of at least `enough` rows and `rare` labels count. The second result
    is the number of different commonest labels.
    """
    _, code, size = np.unique(column, return_inverse=True, return_counts=True)
    order = np.argsort(code.reshape(-1), kind="stable")
    starts = np.concatenate(([0], np.cumsum(size)[:-1]))
    counts = np.add.reduceat(S[order].astype(np.int32), starts, axis=0) * rare
    counts = counts[size >= enough]
    if not len(counts):
        return 1.0, 0
    share = counts.max(axis=1).sum() / size[size >= enough].sum()
    return float(share), len(np.unique(counts.argmax(axis=1)))


def tells_label(column: NDArray[Any], S: Mask, rare: Mask) -> bool:
    """Tell whether rows of equal value share a candidate, for several values.

    Labels which nearly every set contains do not count, nor do values that few rows
    have: agreement must be remarkable. A few wrong sets do not hide it.
    """
    values, size = np.unique(column, return_counts=True)
    often = size >= _ENOUGH
    if not 2 <= len(values) <= max(50, 2 * S.shape[1]):
        return False
    if size[often].sum() < 0.9 * len(column):
        return False
    share, labels = agreement(column, S, rare, _ENOUGH)
    return share >= _AGREE and labels > 1
