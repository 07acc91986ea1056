"""CSV, TSV, Parquet and Arrow files, through Arrow's columns."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from partlearn._extras import import_optional
from partlearn.candidates import MISSING_WORDS
from partlearn.io._arrow_sizes import expanded_size
from partlearn.io._columns import assemble_columns, is_text
from partlearn.io._errors import DataError, DataFormatError
from partlearn.io._files import header_of, open_text, regular_size
from partlearn.io._label_columns import Column, TextColumn
from partlearn.io._options import Budget, ReadOptions
from partlearn.io._streams import Prefixed, decoded, header_line

META_KEY = b"partlearn"
_MAX_COLUMNS = 1_000_000
_BATCH_CELLS = 2**22


def csv_header(head: bytes, said: str | None = None) -> tuple[str, list[str]]:
    """Find the delimiter and the names of the columns in the first line of a file.

    The delimiter is the most frequent of comma, tab and semicolon outside quotes.
    """
    pa = import_optional("pyarrow", "CSV files")
    csv = import_optional("pyarrow.csv", "CSV files")
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


def read_csv(path: Path, options: ReadOptions, budget: Budget) -> Bunch:
    """Read a table of text with a header line; the delimiter is found in it."""
    pa = import_optional("pyarrow", "CSV files")
    csv = import_optional("pyarrow.csv", "CSV files")
    with open_text(path, None) as head:
        line, _, said = header_line(decoded(head, None))
        delimiter, names = csv_header(header_of(line), said)
    if len(names) == 1:
        raise DataFormatError(
            f"there is one column only, {names[0][:40]!r}",
            advice="Columns are separated by commas, tabs or semicolons.",
        )
    coded = pa.dictionary(pa.int32(), pa.string())
    as_text = {n: coded for n in names if is_text(n, options)}
    if path.suffix != ".gz":
        budget.charge(regular_size(path), "the file")
    with (
        arrow_errors("the table"),
        open_text(path, budget, delimiter.encode()) as source,
    ):
        text = decoded(source, None)
        line, after, _ = header_line(text)
        table = csv.read_csv(
            BufferedReader(Prefixed(line + after, text)),
            read_options=csv.ReadOptions(block_size=2**22),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True
            ),
            convert_options=csv.ConvertOptions(
                column_types=as_text, null_values=_nothing()
            ),
        )
        return _from_table(table, options, budget, "a CSV file", {})


def _nothing() -> list[str]:
    """Ways of writing missing values, in the cases that occur."""
    cases = (str, str.upper, str.title)
    return sorted({case(word) for word in MISSING_WORDS for case in cases} | {"NaN"})


@contextmanager
def arrow_errors(what: str) -> Iterator[None]:
    """Turn what Arrow raises into the errors we promise."""
    pa = import_optional("pyarrow", "Tables")
    known = (pa.ArrowException, OSError, MemoryError, TypeError, KeyError)
    try:
        yield
    except (DataError, ImportError):
        raise
    except (*known, ValueError, OverflowError) as error:
        text = str(error).split("\n", 1)[0][:300]
        # Arrow's own message has UTF8, Python's has utf-8.
        foreign = "utf8" in text.lower().replace("-", "")
        raise DataFormatError(
            f"{what} cannot be read ({text})",
            advice="Say with encoding= which encoding it has, such as latin-1 or gbk, "
            "or save the file as UTF-8."
            if foreign
            else "",
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
    """Open a Parquet file; text is read as codes, however often it is repeated."""
    pa = import_optional("pyarrow", "Parquet files")
    pq = import_optional("pyarrow.parquet", "Parquet files")
    regular_size(path)
    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow
    text = [field.name for field in schema if _is_text(field.type, pa.types)]
    text += [
        f"{field.name}.list.{field.type.value_field.name}"
        for field in schema
        if _is_list(field.type, pa) and _is_text(field.type.value_type, pa.types)
    ]
    return pq.ParquetFile(path, read_dictionary=text)


def _charged_table(file: Any, n_rows: int, budget: Budget) -> Any:
    """Read the table in batches, so that a small file cannot become a large table.

    Numbers are charged before anything is read, text and lists batch by batch.
    """
    pa = import_optional("pyarrow", "Parquet files")
    schema = file.schema_arrow
    widths = [_width(field.type, pa.types) for field in schema]
    budget.charge(n_rows * sum(widths), "the table")
    most = 2**16 if all(widths) else 2**12
    rows = max(1, min(most, _BATCH_CELLS // max(1, len(widths))))
    batches, known = [], set()
    for batch in file.iter_batches(batch_size=rows):
        for column, width in zip(batch.columns, widths, strict=True):
            if width:
                continue
            if not pa.types.is_dictionary(column.type):
                # Each element of a list becomes a string of its own.
                elements = len(column.flatten()) if _is_list(column.type, pa) else 0
                budget.charge(column.nbytes + 64 * elements, "the table")
                continue
            budget.charge(column.indices.nbytes, "the table")
            # Batches of a row group share their dictionary.
            place = [b and b.address for b in column.dictionary.buffers()]
            if str(place) not in known:
                known.add(str(place))
                budget.charge(column.dictionary.nbytes, "the table")
        batches.append(batch)
    return pa.Table.from_batches(batches, schema=schema)


def _is_list(kind: Any, pa: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _width(kind: Any, types: Any) -> int:
    """Bytes that every value of a type takes as a number; 0 if they differ."""
    if types.is_null(kind):
        return 8
    if types.is_dictionary(kind) or not types.is_primitive(kind):
        return 0
    return max(1, int(kind.bit_width) // 8)


def check_groups(facts: Any, budget: Budget) -> None:
    """Refuse a Parquet file whose row groups declare too much."""
    if facts.num_columns > _MAX_COLUMNS:
        raise DataFormatError(f"more than {_MAX_COLUMNS:,} columns")
    # Not the sizes of columns: on a damaged file, looking at them ends the process in
    # an uncaught C++ exception (pyarrow 26).
    for i in range(facts.num_row_groups):
        size = facts.row_group(i).total_byte_size
        if size < 0:
            raise DataFormatError("a row group declares a negative size")
        budget.matrix(1, size, 1, "a row group")


def read_parquet(path: Path, options: ReadOptions, budget: Budget) -> Bunch:
    """Read a Parquet file."""
    with arrow_errors("the Parquet content"):
        with open_parquet(path) as file:
            check_groups(file.metadata, budget)
            table = _charged_table(file, file.metadata.num_rows, budget)
        table.validate(full=True)
        return _from_table(table, options, budget, "a Parquet file", _meta(table))


def arrow_batches(data: bytes, charge: Callable[[int, str], None]) -> Iterator[Any]:
    """Sound batches of an Arrow (Feather) file or stream.

    What follows the first eight bytes of a file is a stream, and is read as one. Parts
    of a buffer in memory are only looked at, so that no declared length can exceed the
    file; what compressed parts expand to is charged before any of them is read.
    """
    pa = import_optional("pyarrow", "Arrow files")
    ipc = import_optional("pyarrow.ipc", "Arrow files")
    start = 8 if data[:6] == b"ARROW1" else 0
    source = pa.py_buffer(data).slice(start)
    for message in ipc.MessageReader.open_stream(pa.BufferReader(source)):
        if message.body is not None:
            size = expanded_size(message.metadata.to_pybytes(), message.body)
            charge(size, "the table")
    with ipc.open_stream(pa.BufferReader(source)) as reader:
        for field in reader.schema:
            check_type(field.type, pa, field.name)
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


def check_type(kind: Any, pa: Any, name: str) -> None:
    """Refuse types whose values share memory, so that few bytes are many values."""
    types = pa.types
    shared = ("is_run_end_encoded", "is_list_view", "is_large_list_view", "is_union")
    if any(getattr(types, known, bool)(kind) for known in shared if kind is not None):
        raise DataFormatError(
            f"columns of type {str(kind)[:60]} are not read",
            where=f"column {name!r}",
            advice="Write numbers, text, dates or lists of text.",
        )
    for i in range(kind.num_fields):
        check_type(kind.field(i).type, pa, name)


def read_arrow(path: Path, options: ReadOptions, budget: Budget) -> Bunch:
    """Read an Arrow (Feather) file or stream."""
    pa = import_optional("pyarrow", "Arrow files")
    budget.charge(path.stat().st_size, "the file")
    with arrow_errors("the Arrow content"):
        table = pa.Table.from_batches(arrow_batches(path.read_bytes(), budget.charge))
        return _from_table(table, options, budget, "an Arrow file", _meta(table))


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
    meta: dict[str, Any],
) -> Bunch:
    names = table.column_names
    check_distinct(names)
    if not names or not table.num_rows:
        raise DataFormatError("the table has no rows")
    pa = import_optional("pyarrow", "Tables")
    labels = _strings(options.labels) | _strings(options.truth)
    columns: dict[str, Column] = {
        name: np.empty(0)
        if name in options.ignore
        else _column(table[name], name, pa, name in labels)
        for name in names
    }
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
    if _is_list(kind, pa):
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
        f"values of type {kind} are not features",
        where=f"column {name!r}",
        advice="Leave the column out with ignore= or turn it into numbers.",
    )


def _is_text(kind: Any, types: Any) -> bool:
    known = (types.is_string, types.is_large_string, types.is_string_view)
    return any(is_known(kind) for is_known in known)


def _list_column(column: Any, name: str, pa: Any) -> TextColumn:
    """Candidate sets as Arrow lists, in the same form as delimited text."""
    separator = "\x1f"
    places: dict[str, int] = {}  # of each text, which may be long, kept once
    rows = []
    for chunk in column.chunks:
        values = chunk.flatten()
        if not pa.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        texts = ["" if v is None else str(v) for v in values.dictionary.to_pylist()]
        texts.append("")  # of missing values, whose code is -1
        codes = values.indices.fill_null(-1).to_pylist()
        start = 0
        for length in chunk.value_lengths().fill_null(0).to_pylist():
            # In a set nothing counts twice, however long the list is.
            own = dict.fromkeys(codes[start : start + length])
            line = separator.join(texts[code] for code in own)
            rows.append(places.setdefault(line, len(places)))
            start += length
    return TextColumn(np.asarray(rows, dtype=np.int64), list(places), separator)
