"""Convert tables of any kind to columns of numbers, dates or text."""

# SPDX-License-Identifier: BSD-3-Clause

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array
from partlearn.candidates import MISSING_WORDS
from partlearn.io._arrow import pa, pc
from partlearn.io._errors import DataFormatError, damage, located
from partlearn.io._files import nested_as_json
from partlearn.io._options import Limits
from partlearn.io._table import distinct_lists, note_of
from partlearn.io._table_blocks import table_blocks
from partlearn.io._units import find_unit, signed, split_unit

Columns = dict[str, NDArray[Any]]
_PLAIN_TEXT = frozenset((str, type(None)))
TRUTH = {"true": 1.0, "false": 0.0}
# Marks between thousands; in India also between each two digits above them.
_GROUPED = {
    mark: re.compile(rf"[-+]?[1-9]\d{{0,2}}([{mark}]\d{{3}})+([{decimal}]\d+)?")
    for marks, decimal in ((".", ","), (" \u00a0\u202f'\u2019", ".,"))
    for mark in marks
}
_GROUPED[","] = re.compile(r"[-+]?[1-9](\d{0,2}(,\d{3})+|\d?(,\d{2})*,\d{3})(\.\d+)?")
_CODE = "^[-+]?0[0-9]|_"  # a code, as in postal codes
_NUMBERS = (int, float, np.number, np.bool_)
_ARROW_NUMBERS = ("int", "uint", "float", "double", "halffloat", "bool", "duration")


def columns_of(frame: Any) -> Columns:
    """Convert a table to a mapping of column names to arrays.

    Parameters
    ----------
    frame : pandas or polars data frame, Arrow table or batch, mapping or matrix
        The table. Columns of a matrix are called ``x0``, ``x1`` and so on.

    Returns
    -------
    columns : dict of str to ndarray
        Missing numbers are NaN, missing moments NaT, missing text None. Numbers keep
        their type, so that names of rows stay whole; those with gaps are floats, and
        text where a float cannot hold them.
    """
    if isinstance(frame, Mapping):
        parts: Iterable[tuple[Any, Any]] = frame.items()
    elif hasattr(frame, "column_names"):  # an Arrow table
        parts = ((name, frame[name]) for name in frame.column_names)
    elif hasattr(frame, "schema") and hasattr(frame, "to_pydict"):  # an Arrow batch
        parts = zip(frame.schema.names, frame.columns, strict=True)
    elif hasattr(frame, "columns"):
        parts = ((name, frame[name]) for name in frame.columns)
    else:
        matrix = np.asarray(frame)
        if matrix.ndim != 2:
            raise ValueError(
                "A table has rows and columns: pass a data frame, a mapping of columns "
                f"or a matrix; got shape {matrix.shape}."
            )
        parts = ((f"x{j}", column) for j, column in enumerate(matrix.T))
    columns: Columns = {}
    for name, values in parts:
        if str(name) in columns:
            raise ValueError(f"There are several columns {str(name)!r}; rename one.")
        columns[str(name)] = _column(values)
    if not columns:
        raise ValueError("The table has no columns; give at least one.")
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(
            f"Columns must have the same length; got lengths {sorted(lengths)}."
        )
    if lengths == {0}:
        raise ValueError("The table has no rows; give at least one.")
    return columns


def form_of(column: NDArray[Any]) -> Literal["number", "moment", "text"]:
    """Return the kind of the cells of a column."""
    forms: dict[str, Literal["moment", "text"]] = {"M": "moment", "O": "text"}
    return forms.get(column.dtype.kind, "number")


def is_frame(X: Any) -> bool:
    """Whether `X` has named columns."""
    return isinstance(X, Mapping) or hasattr(X, "columns") or hasattr(X, "column_names")


def is_plain(columns: Columns) -> bool:
    """Whether all cells of a table are finite numbers."""
    return all(
        form_of(column) == "number" and bool(np.isfinite(column).all())
        for column in columns.values()
    )


def _column(values: Any) -> NDArray[Any]:
    if hasattr(values, "to_pylist"):  # Arrow
        array = _from_arrow(values)
    elif hasattr(values, "to_numpy"):
        array = np.asarray(values.to_numpy())
    else:
        array = _untyped(values)
    if array.dtype.kind in "biuf":
        return array
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    if array.dtype.kind == "m":
        return np.asarray(array / np.timedelta64(1, "s"))
    array = array.astype(object)
    if _PLAIN_TEXT.issuperset(map(type, array)):  # nearly always, and all at once
        return array
    return _typed(_untyped([as_text(value) for value in array]), array)


def _untyped(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out


def _from_arrow(values: Any) -> NDArray[Any]:
    kind = str(values.type)
    if kind.startswith(("timestamp", "date")):
        values = values.cast("timestamp[us]", safe=False)
    elif kind.startswith(("int", "uint")) and values.null_count:
        try:
            values = values.cast("float64")
        except ValueError:  # it would round them
            return _untyped(values.cast("string").to_pylist())
    elif kind.startswith("dictionary"):
        return _repeated(values)
    elif kind.startswith(("list<", "large_list<")):
        return _lists(values)
    elif not kind.startswith(_ARROW_NUMBERS):
        return _untyped(values.to_pylist())
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _repeated(values: Any) -> NDArray[Any]:
    """Return the cells of a dictionary array; equal cells share one object."""
    if hasattr(values, "chunks"):
        values = values.unify_dictionaries().combine_chunks()
    cells = _from_arrow(values.dictionary)
    if cells.dtype.kind != "O":
        return _column(values.cast(values.type.value_type))
    codes = values.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False)
    return _untyped([*cells, None])[codes]


def _lists(values: Any) -> NDArray[Any]:
    """Return lists as text; equal lists share one string."""
    rows: list[str | None] = []
    for block in getattr(values, "chunks", [values]):
        try:
            lists, cells = distinct_lists(block)
        except NotImplementedError:  # lists of lists
            rows += [as_text(value) for value in block.to_pylist()]
            continue
        texts = {own: str([cells[code] for code in own]) for own in {*lists} if own}
        rows += [None if own is None else texts.get(own, "[]") for own in lists]
    return _untyped(rows)


def _typed(texts: NDArray[Any], given: NDArray[Any]) -> NDArray[Any]:
    """Return numbers if all given objects were numbers, else the text."""
    known = np.asarray([text is not None for text in texts], dtype=bool)
    present = given[known].tolist()
    if not present or not all(isinstance(v, _NUMBERS) for v in present):
        return texts
    numbers = np.asarray(present)
    if not known.all() and numbers.dtype.kind == "b":  # flags, as text has them
        return _untyped([None if text is None else text.lower() for text in texts])
    if not known.all() and numbers.dtype.kind in "iu":
        numbers = numbers.astype(np.float64)
    if numbers.dtype.kind not in "biuf" or numbers.tolist() != present:
        return texts  # a whole number that is too long
    if known.all():
        return numbers
    filled = np.full(len(given), np.nan)
    filled[known] = numbers
    return filled


def as_text(value: Any) -> str | None:
    """Return a value as text, or None if it is missing; whole floats lose ``.0``."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):  # text of Parquet files that do not say so
        return value.decode("utf-8", "replace")
    if isinstance(value, np.ndarray):  # a list in a frame that was read from Parquet
        return as_text(value.tolist())
    if isinstance(value, dict):
        return nested_as_json(value)
    if isinstance(value, (set, frozenset)):  # whose order differs from run to run
        return str(sorted(value, key=str))
    same = value == value
    if not isinstance(same, (bool, np.bool_)) or not same:  # NaN, NaT and NA
        return None
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def numbers_in(column: NDArray[Any], grouping: str = "", unit: str = "") -> Array:
    """Convert a column to floats; cells that are not numbers become NaN.

    Parameters
    ----------
    column : ndarray
        Numbers, moments or text.
    grouping : str, default=""
        Thousands separator in text.
    unit : str, default=""
        Unit before or after numbers in text.

    Returns
    -------
    numbers : ndarray of float
        One for each cell.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.io import numbers_in
    >>> numbers_in(np.array(["1", " 2,5 ", "n/a", None], dtype=object))
    array([1. , 2.5, nan, nan])
    >>> numbers_in(np.array(["950", "1,234.5"], dtype=object), ",")
    array([ 950. , 1234.5])
    >>> numbers_in(np.array(["$1,234.50", "$7"], dtype=object), ",", "$")
    array([1234.5,    7. ])
    >>> numbers_in(np.array(["950", "(1,422)"], dtype=object), ",")
    array([  950., -1422.])
    """
    form = form_of(column)
    if form == "moment":
        return np.full(len(column), np.nan)
    if form == "number":
        return _finite(column.astype(np.float64))
    if unit:
        parts = [split_unit(text, unit) for text in column.tolist()]
        scales = np.array([scale for _, scale in parts])
        return numbers_in(_untyped([number for number, _ in parts]), grouping) * scales
    if not grouping:
        with suppress(ValueError):  # nearly always all are numbers, read at once
            plain = ("nan" if text is None or text == "" else text for text in column)
            return _finite(np.fromiter(map(float, plain), np.float64, len(column)))
    known = {text: _number(text, grouping) for text in set(column.tolist())}
    return _finite(np.asarray([known[text] for text in column], dtype=np.float64))


def exact_numbers(column: NDArray[Any]) -> NDArray[Any] | None:
    """Return the numbers of a column in their own type, or None if a cell is not one.

    Integers stay integers, and flags become 0 and 1. Codes such as 007 are not numbers.
    """
    form = form_of(column)
    if form == "moment":
        return None
    if form == "number":
        return column.astype(np.uint8) if column.dtype.kind == "b" else column
    text = pc.utf8_trim_whitespace(pa.array(column, pa.large_string()))
    words = pa.array(sorted(MISSING_WORDS), pa.large_string())
    text = pc.if_else(pc.is_in(pc.utf8_lower(text), value_set=words), None, text)
    if pc.any(pc.match_substring_regex(text, _CODE)).as_py():
        return None
    for kind in (pa.int64(), pa.bool_(), pa.float64()):
        with suppress(pa.ArrowInvalid):
            read = text.cast(kind)
            read = read.cast(pa.uint8()) if kind == pa.bool_() else read
            return np.asarray(read.to_numpy(zero_copy_only=False))
    present = {cell for cell in text.to_pylist() if cell is not None}
    numbers = numbers_in(column, *find_writing(sorted(present)))
    known = ~np.asarray(text.is_null())
    return numbers if not np.isnan(numbers[known]).any() else None


def find_writing(texts: list[str]) -> tuple[str, str]:
    """Return the thousands separator and the unit of numbers in text."""
    unit = find_unit(texts)
    bare = [split_unit(text, unit)[0] for text in texts] if unit else texts
    return find_grouping(text for text in bare if text is not None), unit


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, np.nan)


def find_grouping(texts: Iterable[str]) -> str:
    """Return the thousands separator of numbers in text, or an empty string.

    A mark separates thousands if groups of three digits follow it everywhere. A point
    counts only if a decimal comma follows it in some number.
    """
    words = [signed(text).strip() for text in texts]
    numbers = [word for word in words if not re.search(r"[^\W\d]", word)]
    for mark, grouped in _GROUPED.items():
        marked = [text for text in numbers if mark in text]
        clear = mark != "." or any("," in text for text in marked)
        if marked and clear and all(map(grouped.fullmatch, marked)):
            return mark
    return ""


def _number(text: str | None, grouping: str) -> float:
    if text is None:
        return np.nan
    text = signed(text)
    if grouping and _GROUPED[grouping].fullmatch(text.strip()):
        text = text.replace(grouping, "")
    elif grouping == "," and "," in text:  # no decimals where commas part thousands
        return np.nan
    elif text.strip().lower() in TRUTH:  # a flag elsewhere, as in Parquet
        return TRUTH[text.strip().lower()]
    for candidate in (text, text.strip().replace(",", ".")):
        try:
            return float(candidate)
        except ValueError:
            continue
    return np.nan


def row_count(columns: Mapping[str, Any]) -> int:
    """Count the rows of a table."""
    return len(next(iter(columns.values())))


def take_rows(columns: Columns, rows: Any) -> Columns:
    """Return some rows of a table."""
    return {name: column[rows] for name, column in columns.items()}


def read_columns(
    path: str | os.PathLike[str], *, encoding: str | None = None
) -> Columns:
    r"""Read a whole table into memory.

    Parameters
    ----------
    path : path-like
        CSV, TSV, Parquet, Arrow, JSON lines, JSON or .xlsx, or a .zip of one of them;
        ``-`` is standard input.
    encoding : str, default=None
        Encoding of text, such as latin-1 or gbk; UTF-8, or UTF-16 with its mark, by
        default.

    Returns
    -------
    columns : dict of str to ndarray
        As from :func:`columns_of`. Cells of text files stay text, so that codes such as
        ``007`` are kept.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from partlearn.io import read_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pets.csv")
    ...     _ = path.write_text("weight,kind\n4,cat|dog\n30,dog\n")
    ...     columns = read_columns(path)
    >>> columns["kind"].tolist()
    ['cat|dog', 'dog']
    """
    return read_noted(Path(path), encoding)[0]


def read_noted(
    path: Path,
    encoding: str | None = None,
    limits: Limits | None = None,
    format: str | None = None,
) -> tuple[Columns, dict[str, Any]]:
    """Read a whole table, and the note that :func:`write` stored in it."""
    blocks = table_blocks(
        path, encoding=encoding, limits=limits, whole=True, format=format
    )
    first = next(blocks)
    with located(path=path), damage("the table cannot be read"):
        note = note_of(getattr(first, "schema", None))
        return join_blocks(chain([first], blocks)), note


def join_blocks(blocks: Iterable[Any]) -> Columns:
    """Concatenate blocks of rows into one table."""
    parts = [columns_of(block) for block in blocks]
    names = list(dict.fromkeys(name for part in parts for name in part))
    return {name: _joined([_part(part, name) for part in parts]) for name in names}


def _part(block: Columns, name: str) -> NDArray[Any]:
    if name in block:
        return block[name]
    return np.full(len(next(iter(block.values()))), None, dtype=object)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    if len(set(map(form_of, parts))) == 1:
        return np.concatenate(parts)
    return _untyped([as_text(value) for part in parts for value in part.tolist()])


def read_corrections(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read a table of corrections, with columns row and label.

    Parameters
    ----------
    path : str or path
        The file: CSV with any separator, or another table.

    Returns
    -------
    corrections : dict of str to str
        True labels by the name of the row. Rows without a label are skipped.
    """
    path = Path(path)
    columns = read_columns(path)
    if not {"row", "label"} <= set(columns):
        raise DataFormatError(
            f"corrections need columns named row and label; got {', '.join(columns)}",
            path=path,
            advice="Save them from the page, or write that header.",
        )
    corrections: dict[str, str] = {}
    for row, cells in enumerate(
        zip(columns["row"].tolist(), columns["label"].tolist(), strict=True)
    ):
        name, label = map(as_text, cells)
        if not label:
            continue
        if not name:
            raise DataFormatError("a label has no row", path=path, where=f"row {row}")
        if corrections.setdefault(name, label) != label:
            raise DataFormatError(
                f"row {name!r} is corrected to {corrections[name]!r} and to {label!r}",
                path=path,
                advice="Keep one of the two.",
            )
    return corrections
