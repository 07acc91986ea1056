"""Find columns that decide the label alone, and cells that do not fit their column."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from partlearn._arguments import argument
from partlearn._typing import Mask
from partlearn.candidates import warn_caller
from partlearn.io import as_text, form_of, numbers_in
from partlearn.tables._column_kinds import EITHER_ORDER, GIVEN, ColumnKind
from partlearn.tables._known import known_cells

_SAMPLE = 500  # rows by which most columns are ruled out
_FREQUENT = 0.9  # share of sets from which a label does not count
_AGREE = 0.98  # share of rows that makes a column look like a label
_ENOUGH = 5  # rows with the same value that make agreement remarkable
_COVERED = 0.9  # share of rows that have such values
_BINS = 4  # intervals of a sample per label
_INTERVALS = 0.99  # share of rows that makes intervals of numbers look like a label
_FEW = 40  # values up to which a category is compared value by value
_LIST = re.compile(
    r"[\[{(]\s*(?:np\.\w+\()?(?:[\"']?\w+[\"']?\s*:\s*)?[-+]?\.?\d[^|;]*[,\s:]"
)
_FILL_VALUES = [
    sign * float("9" * digits) for sign in (-1, 1) for digits in range(2, 9)
]
# Digits at both ends, or more digits than letters after a digit; no codes such as 007.
_AMOUNT = re.compile(
    r"(?!0\d+$)[-+~<>=\u2248\u2264\u2265\u00b1]{0,2}\s?\d"
    r"(?:.*\d|(?:[^\w]*\d)*[^\d]{0,4})$",
    re.DOTALL,
)

T = TypeVar("T")


def warn_of_columns(
    columns: Mapping[str, NDArray[Any]], kinds: Mapping[str, ColumnKind], S: Mask
) -> list[str]:
    """Warn of columns that decide the label, and of cells that cannot be read.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns of the rows that have labels.
    kinds : mapping of str to ColumnKind
        Kinds of the columns; only used ones count.
    S : ndarray of bool, shape (n_rows, n_classes)
        Candidates.

    Returns
    -------
    names : list of str
        Columns whose values decide the label.
    """
    _warn_unread(columns, kinds)
    _warn_doubtful_kinds(columns, kinds)
    _warn_fill_values(columns, kinds)
    # A column that the caller declared a feature is one.
    features = (
        (name, _codes(columns[name], kind))
        for name, kind in kinds.items()
        if kind.used and kind.kind != "date" and not kind.reason.startswith(GIVEN)
    )
    names = deciding_columns(features, S)
    if names:
        more = f" So do {', '.join(map(repr, names[1:5]))}." if names[1:] else ""
        warn_caller(
            f"Column {names[0]!r} decides the label alone: rows of equal value, or of "
            "nearby numbers, share a candidate. If it was made from the labels, leave "
            "it out with "
            f"{argument('ignore')}; scores would be too good.{more}"
        )
    return names


def _codes(column: NDArray[Any], kind: ColumnKind) -> NDArray[Any]:
    """Return numbers as floats, and texts as codes."""
    if kind.kind == "number" or column.dtype.kind != "O":
        return numbers_in(column, kind.grouping, kind.unit)
    place: dict[str, int] = {}
    texts = ((as_text(value) or "").strip() for value in column)
    return np.array([place.setdefault(text, len(place)) for text in texts])


def _warn_unread(
    columns: Mapping[str, NDArray[Any]], kinds: Mapping[str, ColumnKind]
) -> None:
    """Warn of text in columns of numbers and dates, such as a second header row."""
    told = []
    for name, kind in kinds.items():
        column = columns[name]
        if kind.kind == "number" and column.dtype.kind == "f":
            infinite = np.flatnonzero(np.isinf(column))
            if len(infinite):
                cell = str(column[infinite[0]])
                told.append(f"{cell!r} in column {name!r} ({len(infinite)} rows)")
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
            f"name the column in {argument('category')}."
        )


def _warn_doubtful_kinds(
    columns: Mapping[str, NDArray[Any]], kinds: Mapping[str, ColumnKind]
) -> None:
    """Warn of amounts and dates that were not read as such, and of lists of numbers."""
    amounts, lists = [], []
    for name, kind in kinds.items():
        if kind.reason.startswith(EITHER_ORDER):
            order = "month" if kind.date_format.startswith("%m") else "day"
            warn_caller(
                f"Dates in column {name!r} were read with the {order} first, but the "
                "other order fits as well. Write them as 2024-12-31."
            )
        column = columns[name]
        unclear = kind.kind in ("category", "text", "constant", "id")
        if not unclear or kind.reason.startswith(GIVEN) or form_of(column) != "text":
            continue
        texts = {str(v).strip() for v in column[:_SAMPLE] if v is not None}
        if len(texts) <= _FEW:
            continue
        if _share(texts, _LIST) >= _FREQUENT:
            lists.append(f"{name!r}")
        elif kind.kind != "id" and _share(texts, _AMOUNT) >= _FREQUENT:
            amounts.append(
                f"{min(sorted(texts), key=len)!r} in column {name!r} ({kind.kind})"
            )
    if lists:
        warn_caller(
            f"Lists of numbers in column {', '.join(lists[:5])} were not read as "
            "numbers. Make a column of each number."
        )
    if amounts:
        warn_caller(
            f"Cells with digits were not read as numbers or dates: "
            f"{', '.join(amounts[:5])}{', ...' if amounts[5:] else ''}. Write them as "
            "plain numbers or dates, or say what the columns are with "
            f"{argument('category')} or {argument('text')}."
        )


def _warn_fill_values(
    columns: Mapping[str, NDArray[Any]], kinds: Mapping[str, ColumnKind]
) -> None:
    """Warn of numbers such as -999 that may stand for missing values."""
    told = []
    for name, kind in kinds.items():
        if kind.kind != "number" or kind.reason.startswith(GIVEN):
            continue
        numbers = numbers_in(columns[name], kind.grouping, kind.unit)
        numbers = numbers[np.isfinite(numbers)]
        for value in np.intersect1d(_FILL_VALUES, numbers):
            others = numbers[numbers != value]
            count = len(numbers) - len(others)
            if count < _ENOUGH or not len(others):
                continue
            low, high = others.min(), others.max()
            if max(low - value, value - high) > max(high - low, 1):
                told.append(f"{value:g} in column {name!r} ({count} rows)")
    if told:
        warn_caller(
            f"These numbers may stand for missing values: {', '.join(told[:5])}"
            f"{', ...' if told[5:] else ''}. If so, empty these cells."
        )


def _share(texts: Collection[str], pattern: re.Pattern[str]) -> float:
    return sum(pattern.match(text) is not None for text in texts) / len(texts)


def deciding_columns(columns: Iterable[tuple[T, NDArray[Any]]], S: Mask) -> list[T]:
    """Find columns in which rows of equal value, or of nearby numbers, share a label.

    Labels that nearly all sets contain do not count, nor do values of few rows. A few
    wrong sets are allowed.

    Parameters
    ----------
    columns : iterable of (name, ndarray of shape (n_rows,))
        The columns. Only columns of floats have nearby numbers.
    S : ndarray of bool, shape (n_rows, n_classes)
        Candidates.

    Returns
    -------
    names : list
        Names of the columns.
    """
    rare = S.mean(axis=0) < _FREQUENT
    sample = np.unique(np.linspace(0, len(S) - 1, _SAMPLE).astype(np.intp))
    few, most = S[sample], max(50, 2 * S.shape[1])
    names = []
    for name, column in columns:
        # A sample is enough to pass over nearly all columns.
        some = column[sample]
        if len(np.unique(some)) > most:
            if (
                column.dtype.kind == "f"
                and _intervals_decide(some, few, rare, _INTERVALS - 0.05)
                and _intervals_decide(column, S, rare, _INTERVALS)
            ):
                names.append(name)
            continue
        if _agreement(some, few, rare, 2)[0] < _AGREE - 0.05:
            continue
        values, size = np.unique(column, return_counts=True)
        often = size[size >= _ENOUGH].sum()
        if 2 <= len(values) <= most and often >= _COVERED * len(column):
            share, labels = _agreement(column, S, rare, _ENOUGH)
            if share >= _AGREE and labels > 1:
                names.append(name)
    return names


def _intervals_decide(column: NDArray[Any], S: Mask, rare: Mask, least: float) -> bool:
    """Whether a few intervals of numbers decide a label in at least a share of rows."""
    # Intervals of equal size rule out nearly all columns. One in which the label
    # changes is right in half of its rows or more.
    codes = np.unique(column, return_inverse=True)[1].reshape(-1)
    bins = min(_BINS * S.shape[1], len(S) // _ENOUGH)
    place = np.argsort(np.argsort(codes, kind="stable"), kind="stable")
    share, labels = _agreement(place * bins // len(S), S, rare, 1)
    changes = (S.shape[1] - 1) / (2 * bins)
    if labels < 2 or share < least - 0.05 - changes:
        return False
    tree = DecisionTreeRegressor(
        max_leaf_nodes=2 * S.shape[1], min_samples_leaf=_ENOUGH, random_state=0
    )
    leaves = tree.fit(codes[:, None], S[:, rare]).apply(codes[:, None])
    share, labels = _agreement(leaves, S, rare, _ENOUGH)
    return labels > 1 and share >= least


def _agreement(
    column: NDArray[Any], S: Mask, rare: Mask, enough: int
) -> tuple[float, int]:
    """Return the share of rows with the commonest label of their value.

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
