"""Infer the kind of each column of a table: number, category, date, text, or unused."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from partlearn._arguments import argument
from partlearn._typing import Array
from partlearn.candidates import MISSING_WORDS, is_missing_text
from partlearn.io import bag_columns, find_writing, form_of, numbers_in
from partlearn.tables._moments import find_format, fits_both_orders

Kind = Literal[
    "number", "category", "date", "text", "id", "constant", "ignored", "label"
]
_SAMPLE = 2000  # distinct strings looked at
_NUMBERS = 0.9  # share of cells that makes a column of text one of numbers
_WORDS = 3.0  # words in a cell, on average, that make free text of it
_REPEATED = 0.5  # distinct values per row under which text is a category
_MANY_ROWS = 20  # rows from which distinct values make an identifier
# Without a name, or with one of pandas, a column is the index of a data frame.
_ID_NAME = re.compile(
    r"(^|[_\W])(id|uuid|guid|key|index|row)$|^id[_\W]|[a-z]I[dD]$"
    r"|^$|^Unnamed: \d+$|^__index_level_\d+__$",
    re.A,
)
GIVEN = "given"  # by the caller
EITHER_ORDER = "day and month could be exchanged"
_UNSPACED = 0.5  # share of letters of scripts without spaces between words
_UNSPACED_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x9FFF),  # Chinese
    (0x20000, 0x3134F),
)
_LETTERS = 4  # letters in a cell, on average, that make text of such a script
_CODE = re.compile(r"0\d+|.*_.*")


@dataclass(frozen=True)
class ColumnKind:
    """Kind of a column, and the reason for it."""

    kind: Kind
    reason: str
    date_format: str = ""
    grouping: str = ""  # what separates thousands
    unit: str = ""  # of numbers in text, such as kg or $

    @property
    def used(self) -> bool:
        """Whether the column becomes features."""
        return self.kind in ("number", "category", "date", "text")


def as_names(value: str | Iterable[str] | None) -> list[str]:
    """Names of columns as a list."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def find_kinds(
    columns: dict[str, NDArray[Any]], given: Mapping[str, Kind]
) -> dict[str, ColumnKind]:
    """Infer the kind of each column.

    Parameters
    ----------
    columns : dict of str to ndarray
        The columns, as from ``columns_of``. Text that holds numbers is replaced by them
        in place, so that it is read once.
    given : mapping of str to str
        Kinds that the caller gave.

    Returns
    -------
    kinds : dict of str to ColumnKind
        One entry per column, in order.
    """
    kinds = {}
    bags = bag_columns(columns)
    for name, column in columns.items():
        kind, form = given.get(name), form_of(column)
        if kind == "date":
            kinds[name] = _as_date(name, column)
        elif kind == "number" and form == "text":
            grouping, unit = find_writing(_some(set(_texts(column))))
            kinds[name] = ColumnKind("number", GIVEN, grouping=grouping, unit=unit)
        elif kind is not None:
            kinds[name] = ColumnKind(kind, GIVEN)
        elif [name] == bags:
            kinds[name] = ColumnKind("ignored", "names bags")
        elif form == "moment":
            kinds[name] = _moment_kind(column)
        elif form == "number":
            kinds[name] = _number_kind(name, column)
        else:
            kinds[name] = _text_kind(name, columns)
    return kinds


def _as_date(name: str, column: NDArray[Any]) -> ColumnKind:
    if form_of(column) == "moment":
        return ColumnKind("date", GIVEN, "iso")
    texts = _texts(column) if form_of(column) == "text" else []
    form = find_format(_some(set(texts)), share=0.5)
    if form is None:
        shown = repr(texts[0][:40]) if texts else "numbers"
        raise ValueError(
            f"{argument('date')}: column {name!r} holds {shown}, which is not a known "
            "way of "
            "writing a date; write dates as 2024-12-31."
        )
    return ColumnKind("date", GIVEN, form)


def _moment_kind(column: NDArray[Any]) -> ColumnKind:
    if len(np.unique(column[~np.isnat(column)])) < 2:
        return ColumnKind("constant", "one moment only")
    return ColumnKind("date", "holds moments", "iso")


def _number_kind(name: str, column: NDArray[Any]) -> ColumnKind:
    # As features have them: whole numbers in a column of text have no more digits.
    present = column[np.isfinite(column)].astype(np.float64)
    if len(present) == 0:
        return ColumnKind("constant", "no value at all")
    if present.min() == present.max():
        exact = abs(present[0]) < 2**53
        reason = f"always {present[0]:g}" if exact else "alike in the first 15 digits"
        return ColumnKind("constant", reason)
    whole = bool((present == np.round(present)).all())
    if whole and len(present) == len(column) >= _MANY_ROWS:
        if (present == present[0] + np.arange(len(present))).all():
            return ColumnKind("id", "counts the rows")
        if _ID_NAME.search(name) and len(np.unique(present)) == len(present):
            return ColumnKind("id", "another number in every row, and named so")
    return ColumnKind("number", _gaps(len(column) - len(present), len(column)))


def _gaps(missing: int, total: int) -> str:
    return f"{missing} of {total} missing" if missing else ""


def _texts(column: NDArray[Any]) -> list[str]:
    texts = [text for text in column.tolist() if text is not None]
    if MISSING_WORDS.isdisjoint(map(str.lower, map(str.strip, texts))):  # nearly always
        return texts
    return [text for text in texts if not is_missing_text(text)]


def _some(texts: set[str]) -> list[str]:
    """Return some of many strings, sorted, independently of the order of the rows."""
    step = max(1, len(texts) // _SAMPLE)
    if step == 1:
        return sorted(texts)
    # To sort them all takes longer than to read them.
    chosen = [t for t in texts if crc32(t.encode("utf-8", "replace")) % step == 0]
    return sorted(chosen or texts)


def _text_kind(name: str, columns: dict[str, NDArray[Any]]) -> ColumnKind:
    column = columns[name]
    texts = _texts(column)
    distinct = set(texts)
    missing = _gaps(len(column) - len(texts), len(column))
    if len(distinct) == 0:
        return ColumnKind("constant", "no value at all")
    if len(distinct) == 1:
        return ColumnKind("constant", f"always {texts[0][:40]!r}")
    sample = _some(distinct)
    form = find_format(sample)
    if form is not None:
        reason = "years of two digits" if "%y" in form else ""
        if len(sample) > 1 and fits_both_orders(sample, form):
            reason = _and(EITHER_ORDER, reason)
        return ColumnKind("date", _and(reason, missing) if reason else missing, form)
    grouping, unit = find_writing(sample)
    numbers = numbers_in(np.asarray(sample, dtype=object), grouping, unit)
    # Leading zeros, as in postal codes, and underscores say that digits are no amount.
    coded = any(_CODE.fullmatch(text.strip()) for text in sample)
    if np.isfinite(numbers).mean() >= _NUMBERS and not coded:
        columns[name] = numbers_in(column, grouping, unit)
        kind = _number_kind(name, columns[name])
        reason = kind.reason
        if grouping:
            reason = _and(f"1{grouping}000 is a thousand", reason)
        if unit:
            reason = _and(f"in {unit}", reason)
        return replace(kind, reason=reason, grouping=grouping, unit=unit)
    words = float(np.mean([len(text.split()) for text in sample]))
    share = len(distinct) / len(texts)
    if is_unspaced(sample) and share > _REPEATED / 5:
        length = float(np.mean([len(text) for text in sample]))
        if length >= _LETTERS:
            return ColumnKind("text", _and(f"{length:.0f} letters in a cell", missing))
    if share > 0.95 and words < 2 and len(texts) >= _MANY_ROWS:
        return ColumnKind("id", "another value in every row")
    if words >= _WORDS and share > _REPEATED / 5:
        return ColumnKind("text", _and(f"{words:.0f} words in a cell", missing))
    return ColumnKind("category", _and(f"{len(distinct)} values", missing))


def is_unspaced(texts: Iterable[str]) -> bool:
    """Whether text is in a script that writes no spaces between words.

    Chinese, Japanese, Thai, Lao, Khmer and Burmese letters are counted.
    """
    letters = [ord(c) for text in texts for c in text if c.isalpha()]
    if not letters:
        return False
    own = sum(_is_unspaced_letter(code) for code in letters)
    return own >= _UNSPACED * len(letters)


def _is_unspaced_letter(code: int) -> bool:
    return any(first <= code <= last for first, last in _UNSPACED_BLOCKS)


def _and(first: str, second: str) -> str:
    return f"{first}, {second}" if second else first


def read_numbers(column: NDArray[Any]) -> Array:
    """Return the numbers of a column, NaN for other cells, however they are written."""
    kind = find_kinds({"": column}, {"": "number"})[""]
    return numbers_in(column, kind.grouping, kind.unit)
