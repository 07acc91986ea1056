"""CSV, TSV, Parquet and Arrow files, through Arrow's columns."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import gzip
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from partlearn.io._columns import assemble_columns, is_text
from partlearn.io._errors import DataError, DataFormatError
from partlearn.io._label_columns import Column
from partlearn.io._label_text import TextColumn
from partlearn.io._limits import Budget
from partlearn.io._matrix import BLOCK_BYTES
from partlearn.io._optional import import_optional
from partlearn.io._options import ReadOptions

__all__ = [
    "META_KEY",
    "expand",
    "find_delimiter",
    "read_arrow",
    "read_csv",
    "read_parquet",
]

META_KEY = b"partlearn"
_MAX_COLUMNS = 1_000_000
_HEADER = 2**26  # bytes that a header line may have


def expand(path: Path, budget: Budget) -> bytes:
    """Return the bytes of a text file, gzip or plain, within the limits."""
    if path.suffix != ".gz":
        budget.charge(path.stat().st_size, "the file")
        return path.read_bytes()
    out = bytearray()
    try:
        with gzip.open(path) as stream:
            while piece := stream.read(BLOCK_BYTES):
                budget.charge(len(piece), "the expanded file")
                out += piece
    except (OSError, EOFError, zlib.error) as error:
        raise DataFormatError(f"the gzip data are damaged ({error})") from error
    return bytes(out)


def find_delimiter(header: bytes) -> str:
    """Return the most frequent of comma, tab and semicolon outside quotes."""
    header = re.sub(rb'"[^"]*"', b"", header)
    counts = {mark: header.count(mark.encode()) for mark in (",", "\t", ";")}
    return max(counts, key=lambda mark: counts[mark])


def read_csv(path: Path, options: ReadOptions, budget: Budget) -> Bunch:
    """Read a table of text with a header line; the delimiter is found in it."""
    pa = import_optional("pyarrow", "CSV files")
    csv = import_optional("pyarrow.csv", "CSV files")
    source: Any
    if path.suffix == ".gz":
        data = expand(path, budget)
        source, head = pa.BufferReader(data), data[:_HEADER]
    else:
        budget.charge(path.stat().st_size, "the file")
        source = str(path)
        with path.open("rb") as file:
            head = file.readline(_HEADER)
    head = head.split(b"\n", 1)[0].removeprefix(b"\xef\xbb\xbf")
    if not head.strip():
        raise DataFormatError("the file has no header line")
    delimiter = find_delimiter(head)
    if head.count(delimiter.encode()) > _MAX_COLUMNS:
        raise DataFormatError(f"more than {_MAX_COLUMNS:,} columns")
    names = _header_names(head, delimiter, pa, csv)
    if len(names) == 1:
        raise DataFormatError(
            f"there is one column only, {names[0][:40]!r}",
            advice="Columns are separated by commas, tabs or semicolons.",
        )
    coded = pa.dictionary(pa.int32(), pa.string())
    as_text = {n: coded for n in names if is_text(n, options)}
    with _arrow_errors(pa, "the table"):
        table = csv.read_csv(
            source,
            read_options=csv.ReadOptions(block_size=2**22),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True
            ),
            convert_options=csv.ConvertOptions(column_types=as_text),
        )
        return _from_table(table, options, budget, "a CSV file", pa, {})


def _header_names(head: bytes, delimiter: str, pa: Any, csv: Any) -> list[str]:
    with _arrow_errors(pa, "the header line"):
        table = csv.read_csv(
            pa.BufferReader(head.rstrip(b"\r") + b"\n"),
            parse_options=csv.ParseOptions(delimiter=delimiter),
        )
        return list(table.column_names)


class _arrow_errors:
    """Turn what Arrow raises into the errors we promise."""

    def __init__(self, pa: Any, what: str) -> None:
        self.pa, self.what = pa, what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None or isinstance(error, (DataError, ImportError)):
            return
        known = (self.pa.ArrowException, OSError, ValueError, MemoryError, TypeError)
        if isinstance(error, (*known, KeyError, OverflowError)):
            text = str(error).split("\n", 1)[0][:300]
            # Arrow's own message has UTF8, Python's has utf-8.
            foreign = "utf8" in text.lower().replace("-", "")
            raise DataFormatError(
                f"{self.what} cannot be read ({text})",
                advice="Save the file in the encoding UTF-8." if foreign else "",
            ) from error


def read_parquet(path: Path, options: ReadOptions, budget: Budget) -> Bunch:
    """Read a Parquet file."""
    pa = import_optional("pyarrow", "Parquet files")
    pq = import_optional("pyarrow.parquet", "Parquet files")
    with _arrow_errors(pa, "the Parquet content"):
        with pq.ParquetFile(path) as file:
            facts = file.metadata
            if facts.num_columns > _MAX_COLUMNS:
                raise DataFormatError(f"more than {_MAX_COLUMNS:,} columns")
            budget.charge(facts.num_rows * facts.num_columns, "the table")
            for i in range(facts.num_row_groups):
                # Not the columns of the group: on a damaged file, looking at them
                # ends the process in an uncaught C++ exception (pyarrow 26).
                budget.charge(facts.row_group(i).total_byte_size, "a row group")
            table = file.read()
        table.validate(full=True)
        return _from_table(table, options, budget, "a Parquet file", pa, _meta(table))


def read_arrow(path: Path, options: ReadOptions, budget: Budget) -> Bunch:
    """Read an Arrow (Feather) file or stream."""
    pa = import_optional("pyarrow", "Arrow files")
    ipc = import_optional("pyarrow.ipc", "Arrow files")
    budget.charge(path.stat().st_size, "the file")
    # From memory, parts of a buffer are only looked at, never allocated anew, so that
    # a declared length cannot exceed the file.
    data = path.read_bytes()
    with _arrow_errors(pa, "the Arrow content"):
        opened = ipc.open_file if data[:6] == b"ARROW1" else ipc.open_stream
        with opened(pa.BufferReader(data)) as reader:
            table = reader.read_all()
        table.validate(full=True)
        budget.charge(table.nbytes, "the table")
        return _from_table(table, options, budget, "an Arrow file", pa, _meta(table))


def _meta(table: Any) -> dict[str, Any]:
    """Return what our own writer noted down, if it looks as it should."""
    raw = (table.schema.metadata or {}).get(META_KEY)
    if raw is None:
        return {}
    meta = json.loads(raw)
    names = meta.get("target_names") if isinstance(meta, dict) else None
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise DataFormatError("the partlearn note in the file is damaged")
    return dict(meta)


def _from_table(
    table: Any,
    options: ReadOptions,
    budget: Budget,
    origin: str,
    pa: Any,
    meta: dict[str, Any],
) -> Bunch:
    names = table.column_names
    if len(set(names)) != len(names):
        double = next(n for n in names if names.count(n) > 1)
        raise DataFormatError(
            f"there are several columns {double!r}",
            advice="Give each a name of its own, or remove all but one.",
        )
    if not names or not table.num_rows:
        raise DataFormatError("the table has no rows")
    labels = _strings(options.labels) | _strings(options.truth)
    columns: dict[str, Column] = {}
    for name in names:
        if name in options.ignore:
            columns[name] = np.empty(0)
            continue
        columns[name] = _column(table[name], name, pa, name in labels)
    return assemble_columns(columns, options, budget, origin=origin, meta=meta)


def _strings(value: Any) -> set[str]:
    if value is None or isinstance(value, int):
        return set()
    return {value} if isinstance(value, str) else set(value)


def _column(column: Any, name: str, pa: Any, is_label: bool) -> Column:
    kind = column.type
    types = pa.types
    if types.is_dictionary(kind) and not _is_text(kind.value_type, types):
        column = column.cast(kind.value_type)
        kind = kind.value_type
    if types.is_list(kind) or types.is_large_list(kind):
        return _list_column(column, name, pa)
    if types.is_dictionary(kind) or _is_text(kind, types):
        if not types.is_dictionary(kind):
            column = column.dictionary_encode()
        coded = column.unify_dictionaries().combine_chunks()
        if isinstance(coded, pa.ChunkedArray):  # more text than one array can hold
            coded = pa.concat_arrays(coded.chunks)
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return TextColumn(codes, coded.dictionary.to_pylist())
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if types.is_boolean(kind):
        column = column.cast(pa.uint8())
        kind = pa.uint8()
    if types.is_integer(kind) or types.is_floating(kind):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if is_label:
        return _column(column.cast(pa.string()), name, pa, False)
    raise DataFormatError(
        f"values of type {kind} are no features",
        where=f"column {name!r}",
        advice="Leave the column out with ignore= or turn it into numbers.",
    )


def _is_text(kind: Any, types: Any) -> bool:
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
    )


def _list_column(column: Any, name: str, pa: Any) -> TextColumn:
    """Candidate sets as Arrow lists, in the same form as delimited text."""
    separator = "\x1f"
    lines = [
        separator.join("" if v is None else str(v) for v in row or [])
        for row in column.to_pylist()
    ]
    coded = pa.array(lines, pa.large_string()).dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False)
    return TextColumn(codes, coded.dictionary.to_pylist(), separator)
