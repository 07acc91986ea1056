"""Checks of Arrow, Parquet and CSV content before it is read.

A buffer of Arrow that is compressed begins with its expanded length. pyarrow allocates
that length when it reads the message, so it has to be added up beforehand. In the Arrow
columnar format a message is a FlatBuffers table, whose fields are found through a table
of offsets.
"""

# SPDX-License-Identifier: BSD-3-Clause

import json
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from partlearn._arguments import argument
from partlearn.io._arrow import csv, ipc, pa, parquet
from partlearn.io._errors import DataError, DataFormatError
from partlearn.io._files import regular_size
from partlearn.io._options import Budget

META_KEY = b"partlearn"
_MAX_COLUMNS = 1_000_000


def csv_header(head: bytes, said: str | None = None) -> tuple[str, list[str]]:
    """Return the delimiter and the column names of a header line.

    The delimiter is the most frequent of comma, tab and semicolon outside quotes.
    """
    bare = re.sub(rb'"[^"]*"', b"", head)
    delimiter = said or max(
        (",", "\t", ";"), key=lambda mark: bare.count(mark.encode())
    )
    if head.count(delimiter.encode()) > _MAX_COLUMNS:
        raise DataFormatError(f"more than {_MAX_COLUMNS:,} columns")
    with arrow_errors("the header line"):
        table = csv.read_csv(
            pa.BufferReader(head + b"\n"),
            read_options=csv.ReadOptions(use_threads=False),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True
            ),
        )
        return delimiter, list(table.column_names)


@contextmanager
def arrow_errors(what: str) -> Iterator[None]:
    """Turn exceptions of Arrow into DataFormatError."""
    try:
        yield
    except (DataError, ImportError, Warning):
        raise
    except Exception as error:
        text = str(error).split("\n", 1)[0][:300]
        # Arrow's own message has UTF8, Python's has utf-8.
        advice = ""
        if "utf8" in text.lower().replace("-", ""):
            advice = (
                f"Pass its encoding with {argument('encoding')}, such as latin-1 or "
                "gbk, or save the file as UTF-8."
            )
        elif "Expected 1 columns" in text:
            advice = (
                "The first line must name the columns: delete lines above it, or begin "
                "them with #."
            )
        raise DataFormatError(
            f"{what} cannot be read ({text})", advice=advice
        ) from error


def check_distinct(names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    if len(set(names)) != len(names):
        double = next(n for n in names if names.count(n) > 1)
        raise DataFormatError(
            f"there are several columns {double!r}",
            advice="Give each a name of its own, or remove all but one.",
        )


def open_parquet(path: Path) -> Any:
    """Open a Parquet file; text is read as dictionary codes."""
    regular_size(path)
    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
    text = [field.name for field in schema if _is_text(field.type)]
    text += [
        f"{field.name}.list.{field.type.value_field.name}"
        for field in schema
        if _is_list(field.type) and _is_text(field.type.value_type)
    ]
    return parquet.ParquetFile(path, read_dictionary=text)


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _is_text(kind: Any) -> bool:
    known = ("is_string", "is_large_string", "is_string_view")
    return any(getattr(pa.types, is_known)(kind) for is_known in known)


def check_groups(facts: Any, budget: Budget) -> None:
    """Raise if the row groups of a Parquet file declare too much memory."""
    if facts.num_columns > _MAX_COLUMNS:
        raise DataFormatError(f"more than {_MAX_COLUMNS:,} columns")
    # Not the sizes of columns: on a damaged file, looking at them ends the process in
    # an uncaught C++ exception (pyarrow 26).
    for i in range(facts.num_row_groups):
        size = facts.row_group(i).total_byte_size
        if size < 0:
            raise DataFormatError("a row group declares a negative size")
        budget.matrix(1, size, 1, "a row group")


def arrow_batches(data: bytes, charge: Callable[[int, str], None]) -> Iterator[Any]:
    """Yield the validated batches of an Arrow (Feather) file or stream.

    A file is read as a stream after its first eight bytes. Uncompressed parts are views
    of the bytes in memory, so that no declared length can exceed the file. The expanded
    size of compressed parts is charged before any of them is read.
    """
    start = 8 if data[:6] == b"ARROW1" else 0
    source = pa.py_buffer(data).slice(start)
    for message in ipc.MessageReader.open_stream(pa.BufferReader(source)):
        if message.body is not None:
            size = expanded_size(message.metadata.to_pybytes(), message.body)
            charge(size, "the table")
    with ipc.open_stream(pa.BufferReader(source)) as reader:
        for field in reader.schema:
            check_type(field.type, field.name)
        empty = True
        for batch in reader:
            batch.validate(full=True)
            empty = False
            yield batch
        if empty:
            yield pa.record_batch(
                [pa.array([], field.type) for field in reader.schema],
                schema=reader.schema,
            )


def check_type(kind: Any, name: str) -> None:
    """Raise for types whose values share memory: few bytes could be many values."""
    types = pa.types
    shared = ("is_run_end_encoded", "is_list_view", "is_large_list_view", "is_union")
    if any(getattr(types, known, bool)(kind) for known in shared if kind is not None):
        raise DataFormatError(
            f"columns of type {str(kind)[:60]} are not supported",
            where=f"column {name!r}",
            advice="Write numbers, text, dates or lists of text.",
        )
    for i in range(kind.num_fields):
        check_type(kind.field(i).type, name)


def note_of(schema: Any) -> dict[str, Any]:
    """Return the note that ``write`` stored in a schema, or an empty dict."""
    raw = (getattr(schema, "metadata", None) or {}).get(META_KEY)
    if raw is None:
        return {}
    try:
        meta = json.loads(raw)
    except (ValueError, RecursionError):
        meta = None
    names = meta.get("target_names") if isinstance(meta, dict) else None
    if (
        not isinstance(meta, dict)
        or not isinstance(names, list)
        or not all(isinstance(n, str) for n in names)
    ):
        raise DataFormatError("the metadata of partlearn in the file are damaged")
    return meta


def distinct_lists(values: Any) -> tuple[list[tuple[int, ...] | None], list[Any]]:
    """Return the lists of a block as tuples of codes, and the coded values.

    In a set nothing counts twice, however long the list is.
    """
    flat = values.flatten()
    if not hasattr(flat, "dictionary"):
        flat = flat.dictionary_encode()
    codes = flat.indices.fill_null(-1).to_pylist()
    lists: list[tuple[int, ...] | None] = []
    start = 0
    for length in values.value_lengths().to_pylist():
        own = codes[start : start + (length or 0)]
        known = tuple(code for code in dict.fromkeys(own) if code >= 0)
        lists.append(None if length is None else known)
        start += length or 0
    return lists, flat.dictionary.to_pylist()


_CELL = 8  # bytes that a value takes, also where the format needs none
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2  # kinds of messages


def expanded_size(metadata: bytes, body: Any) -> int:
    """Return the number of bytes that a message takes in memory.

    Parameters
    ----------
    metadata : bytes
        The description of the message.
    body : pyarrow.Buffer
        Its buffers, as stored.

    Returns
    -------
    size : int
        Bytes; zero for messages without values.

    Raises
    ------
    DataFormatError
        If a length is negative, or a buffer lies outside of the body.
    """
    try:
        return sum(_lengths(metadata, body))
    except (struct.error, IndexError, OverflowError):
        raise DataFormatError("the description of the Arrow data is damaged") from None


def _lengths(metadata: bytes, body: Any) -> Iterator[int]:
    message = _Fields(metadata, _at("<I", metadata, 0))
    kind = message.value(1, "<B")
    if kind not in (_RECORD_BATCH, _DICTIONARY_BATCH):
        return
    batch = message.table(2)
    if kind == _DICTIONARY_BATCH and batch is not None:
        batch = batch.table(1)
    if batch is None:
        raise DataFormatError("a message of the Arrow data is empty")
    yield _CELL * _positive(batch.value(0, "<q"))
    for length, _ in batch.pairs(1):
        yield _CELL * _positive(length)
    for offset, length in batch.pairs(2):
        if not 0 <= offset <= offset + length <= body.size:
            raise DataFormatError("a buffer of the Arrow data lies outside of it")
        expanded = length
        if batch.table(3) is not None and length >= 8:
            (declared,) = struct.unpack("<q", body.slice(offset, 8).to_pybytes())
            expanded = length if declared == -1 else _positive(declared)
        yield expanded


def _positive(length: int) -> int:
    if length < 0:
        raise DataFormatError("the Arrow data declare a negative length")
    return length


def _at(form: str, data: bytes, place: int) -> int:
    if place < 0:
        raise IndexError(place)
    (value,) = struct.unpack_from(form, data, place)
    return int(value)


class _Fields:
    """A FlatBuffers table."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data, self._start = data, start
        self._offsets = start - _at("<i", data, start)

    def _place(self, field: int) -> int | None:
        """Return the position of a field, or None if the table lacks it."""
        entry = 4 + 2 * field
        if entry >= _at("<H", self._data, self._offsets):
            return None
        offset = _at("<H", self._data, self._offsets + entry)
        return self._start + offset if offset else None

    def value(self, field: int, form: str) -> int:
        """Return a number, 0 if it is not stored."""
        place = self._place(field)
        return 0 if place is None else _at(form, self._data, place)

    def table(self, field: int) -> "_Fields | None":
        """Return a nested table, or None."""
        place = self._place(field)
        if place is None:
            return None
        return _Fields(self._data, place + _at("<I", self._data, place))

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """Yield the pairs of integers in a vector of structs."""
        place = self._place(field)
        if place is None:
            return
        start = place + _at("<I", self._data, place)
        for i in range(_at("<I", self._data, start)):
            first = start + 4 + 16 * i
            yield _at("<q", self._data, first), _at("<q", self._data, first + 8)
