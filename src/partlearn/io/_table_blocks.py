"""Read tables in blocks of rows, for files larger than memory."""

# SPDX-License-Identifier: BSD-3-Clause

import errno
import json
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from partlearn._extras import import_optional
from partlearn._sizes import SIZES
from partlearn.candidates import warn_caller
from partlearn.io import _files, _options, _table
from partlearn.io._arrow import csv, pa, pc
from partlearn.io._errors import DataFormatError, damage, located
from partlearn.io._files import SUFFIXES, TABLES, TEXTS, format_of, plain_suffix
from partlearn.io._options import Limits

_BLOCK = 1 << 20  # bytes
_LINE_BYTES = 1 << 24  # of lines of JSON that are one block, however few they are
_BLOCK_CELLS = 1 << 24
_WHOLE = ("json", "arrow")
_SHEET_ROWS = 1 << 20  # as many as a sheet has
_LONG_TEXT = 1 << 20  # of a column of lists, from which distinct ones are looked for


def raw_columns(block: Any, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Return the columns of a block without conversion.

    Parameters
    ----------
    block : Arrow batch or dict of lists
        Block from :func:`table_blocks`.
    names : iterable of str, default=None
        All columns of the table: one that only later lines of JSON have is empty here.

    Returns
    -------
    columns : dict of str to Arrow array or list
        Columns for :meth:`TableWriter.write`.
    """
    if isinstance(block, dict):
        nothing = [None] * len(next(iter(block.values()), ()))
        return {name: block.get(name, nothing) for name in names or block}
    return {
        name: column.cast(column.type.value_type)
        if hasattr(column, "dictionary")
        else column
        for name, column in zip(block.schema.names, block.columns, strict=True)
    }


def table_blocks(
    path: Path,
    *,
    block_rows: int = SIZES.block_rows,
    encoding: str | None = None,
    progress: Callable[[float], object] | None = None,
    limits: Limits | None = None,
    whole: bool = False,
    format: str | None = None,
    columns: list[str] | None = None,
) -> Generator[Any, None, None]:
    """Yield a table in blocks of rows; cells of text files stay text.

    Parameters
    ----------
    path : Path
        CSV, TSV, Parquet, Arrow, JSON lines (.jsonl, .ndjson), JSON (a list of objects,
        or lists by name) or the first sheet of an .xlsx; text also compressed by gzip,
        or one table in a .zip; ``-`` is standard input, as CSV or JSON lines.
    block_rows : int, default=20000
        Rows per block, about.
    encoding : str, default=None
        Encoding of text, such as latin-1 or gbk; UTF-8, or UTF-16 with its mark, by
        default.
    progress : callable, default=None
        Called after each block with the share of the file read, if it is known.
    limits : Limits, default=None
        Memory limits of a block, or of the whole table. An uncompressed file may take a
        hundred times its size.
    whole : bool, default=False
        Whether the caller keeps all blocks, so that the limits apply to their sum.
    format : str, default=None
        Name of the format; by default from the file extension.
    columns : list of str, default=None
        Parquet: columns to read; all by default.

    Yields
    ------
    block : Arrow batch or dict of lists
        Rows, for :func:`partlearn.tables.columns_of`.
    """
    empty = True
    with (
        located(path=path),
        _opened(path, encoding, limits, format) as (file, kind),
    ):
        readers: dict[str, Callable[..., Blocks]] = {
            "csv": _text_batches,
            "jsonl": _line_batches,
            "json": _json_batches,
            "xlsx": _sheet_batches,
            "parquet": partial(_parquet_batches, columns=columns),
            "arrow": _arrow_batches,
        }
        charge = _charge(path, limits, whole)
        seen: set[str] = set()
        for block, share in readers[kind](file, path, block_rows, charge):
            if whole:
                charge(_cost(block, seen), "the table")
            else:
                block = _spelled_out(block, charge)
                charge(_cost(block, set()), "a block of rows")
            if empty and not isinstance(block, dict):
                _table.check_distinct(block.schema.names)
            empty = False
            yield block
            if progress is not None and share is not None:
                progress(min(share, 1.0))
        if empty:
            raise DataFormatError("the table has no rows")


Charge = Callable[[int, str], None]


def _charge(path: Path, limits: Limits | None, whole: bool) -> Charge:
    """Return a function that charges memory for the table or for each block."""
    stored = 0 if path == _files.STANDARD else path.stat().st_size
    if path == _files.STANDARD:  # of unknown length
        stored = (limits or Limits()).max_bytes
    budget = _options.Budget.of_table(stored, limits)
    if whole and limits is not None and path.suffix == ".gz":  # meant as they are said
        budget = _options.Budget(limits, stored)
    if not whole:
        return lambda size, what: replace(budget, spent=0).charge(size, what)
    if path.suffix == ".gz":
        marks = b",{[" if plain_suffix(path) in SUFFIXES["jsonl"] else b",;\t\n"
        _files.scan(path, replace(budget), marks)
    return budget.charge


def _cost(block: Any, seen: set[str]) -> int:
    """Return the bytes that a block takes as columns of numbers and text.

    Batches of a file may share what their codes stand for; `seen` are those counted.
    """
    if isinstance(block, dict):
        return sum(_weight(cell) for cells in block.values() for cell in cells)
    return sum(_column_cost(column, seen) for column in block.columns)


def _weight(cell: Any) -> int:
    if isinstance(cell, str):
        return _files.CELL + len(cell)
    if isinstance(cell, (list, dict)):
        return _files.CELL * (1 + len(cell)) + sum(map(_weight, cell))
    return 32


def _column_cost(column: Any, seen: set[str]) -> int:
    """Return the bytes of a column; text and lists count as Python objects."""
    types = pa.types
    kind = column.type
    if types.is_dictionary(kind):
        place = str([b and b.address for b in column.dictionary.buffers()])
        new = 0 if place in seen else _column_cost(column.dictionary, seen)
        seen.add(place)
        return int(8 * len(column) + new)
    if types.is_primitive(kind) or types.is_null(kind):
        return 8 * len(column)
    if types.is_list(kind) or types.is_large_list(kind):
        size = _column_cost(column.flatten(), seen)
        coded = types.is_dictionary(kind.value_type)
        if coded and _text_size(column.flatten()) > _LONG_TEXT:
            # Each distinct list is written once.
            lists, cells = _table.distinct_lists(column)
            lengths = [len(str(cell)) for cell in cells]
            size += sum(lengths[code] for own in {*lists} if own for code in own)
        elif coded:
            size += _text_size(column.flatten())
        return int(_files.CELL * len(column) + size)
    size = _text_size(column) if _has_length(kind) else column.nbytes
    return int(_files.CELL * len(column) + size)


def _has_length(kind: Any) -> bool:
    known = ("string", "large_string", "string_view", "binary", "large_binary")
    return any(getattr(pa.types, f"is_{name}")(kind) for name in known)


def _text_size(column: Any) -> int:
    """Return the bytes of all text in a column, repeated cells included."""
    if not pa.types.is_dictionary(column.type):
        return pc.sum(pc.binary_length(column)).as_py() or 0
    if not _has_length(column.type.value_type):
        return 8 * len(column)
    lengths = pc.take(pc.binary_length(column.dictionary), column.indices)
    return pc.sum(lengths).as_py() or 0


@contextmanager
def _opened(
    path: Path, encoding: str | None, limits: Limits | None, format: str | None
) -> Iterator[tuple[Any, str]]:
    """Open a table and return its format, found by name or by the first byte."""
    if path == _files.STANDARD:
        first = sys.stdin.buffer.readline(_files.MAX_LINE + 1)
        stream = BufferedReader(_files.prefixed(first, sys.stdin.buffer))
        kind = "jsonl" if first.lstrip()[:1] == b"{" else "csv"
        yield _files.decoded(stream, encoding), kind
        return
    if format_of(path, format) == "zip":
        with _zipped(path, limits) as (file, kind):
            yield _files.decoded(file, encoding), kind
        return
    kind = format_of(path, format)
    if kind not in TABLES:
        raise DataFormatError(
            f"{path.name!r} is not a table of columns",
            advice="Convert it first: partlearn data convert IN OUT.csv.",
        )
    stored = _files.regular_size(path)
    # These are read as a whole, even where their rows are yielded in blocks.
    budget = _options.Budget.of_table(stored, limits) if kind in _WHOLE else None
    with _files.open_text(path, budget) as file:
        text = kind in ("csv", "json", "jsonl")
        yield _files.decoded(file, encoding) if text else file, kind


@contextmanager
def _zipped(path: Path, limits: Limits | None) -> Iterator[tuple[Any, str]]:
    """Open the only table in a zip archive."""
    with _archive(path, limits) as archive:
        names = [
            info.filename
            for info in archive.infolist()
            if not info.is_dir()
            and not info.filename.startswith("__MACOSX")
            and any(plain_suffix(Path(info.filename)) in SUFFIXES[k] for k in TEXTS)
        ]
        if len(names) != 1:
            raise DataFormatError(
                f"the archive holds {len(names) or 'no'} tables of text",
                advice="Put one CSV, TSV or JSON file into it, or unpack it first.",
            )
        with archive.open(names[0]) as file:
            yield BufferedReader(file), format_of(Path(names[0]), None)


_DAMAGED_ZIP = (
    BadZipFile, RuntimeError, NotImplementedError, zlib.error, EOFError, OSError,
)  # fmt: skip


@contextmanager
def _archive(path: Path, limits: Limits | None) -> Iterator[ZipFile]:
    """Open a zip archive; the declared sizes of its files are charged first."""
    budget = _options.Budget(limits or Limits(), _files.regular_size(path))
    try:
        with ZipFile(path) as archive:
            for info in archive.infolist():
                budget.charge(info.file_size, "the expanded archive")
            yield archive
    except _DAMAGED_ZIP as error:
        # A damaged directory names places before the start of the file (EINVAL).
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        reason = str(error) or "it ends too soon"
        raise DataFormatError(f"the archive cannot be read ({reason})") from None


Blocks = Iterator[tuple[Any, float | None]]  # rows, and the share read with them


def _share(n_read: int, path: Path) -> float | None:
    """Return the share read, or None for streams and compressed files."""
    if path == _files.STANDARD or path.suffix in (".gz", ".zip"):
        return None
    return n_read / max(1, path.stat().st_size)


def _text_batches(file: Any, path: Path, block_rows: int, charge: Charge) -> Blocks:
    """Yield blocks of a CSV file; cells stay text, since types need all rows."""
    line, after, said = _files.header_line(file)
    stream = _files.prefixed(line + after, file)
    first = _files.header_of(line)
    delimiter, names = _table.csv_header(first, said)
    size = (
        _files.MAX_LINE if 8 * len(first) > _BLOCK else _BLOCK
    )  # wide tables have long rows
    with (
        _table.arrow_errors("the table"),
        csv.open_csv(
            BufferedReader(stream),
            # Without threads errors name the row. Dozens of blocks are read ahead of a
            # slow consumer, hence small ones; a row must fit into one.
            read_options=csv.ReadOptions(use_threads=False, block_size=size),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=True,
                null_values=[""],
            ),
        ) as reader,
    ):
        for batch in reader:
            share = _share(stream.n_read, path)
            for start in range(0, batch.num_rows, block_rows):
                yield batch.slice(start, block_rows), share


def _line_batches(file: Any, path: Path, block_rows: int, charge: Charge) -> Blocks:
    names: dict[str, None] = {}
    rows: list[dict[str, Any]] = []
    n_read = held = 0
    lines = iter(lambda: file.readline(_files.MAX_LINE + 1), b"")
    for number, line in enumerate(lines, start=1):
        n_read += len(line)
        held += len(line)
        if len(line) > _files.MAX_LINE:
            raise DataFormatError(
                f"line {number} is longer than {_files.MAX_LINE:,} bytes",
                advice="Write one row to a line.",
            )
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataFormatError(f"line {number} is not JSON ({error})") from None
        if not isinstance(row, dict):
            raise DataFormatError(f"line {number} is not a JSON object")
        names |= dict.fromkeys(row)
        rows.append(row)
        if len(rows) == block_rows or held > _LINE_BYTES:
            charge(8 * len(rows) * len(names), "a block of rows")
            yield _columns(rows, names), _share(n_read, path)
            rows, held = [], 0
    if rows:
        charge(8 * len(rows) * len(names), "a block of rows")
        yield _columns(rows, names), 1.0


def _json_batches(file: Any, path: Path, block_rows: int, charge: Charge) -> Blocks:
    """Yield blocks of a JSON file: a list of objects, or columns by name."""
    text = file.read()
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataFormatError(f"the file is not JSON ({error})") from None
    if isinstance(content, dict) and isinstance(content.get("data"), list):
        rows, heads = content["data"], content.get("columns")
        if isinstance(heads, list) and all(isinstance(row, list) for row in rows):
            content = [dict(zip(map(str, heads), row, strict=False)) for row in rows]
        elif rows and all(isinstance(row, dict) for row in rows):
            content = rows
    if isinstance(content, dict):
        columns = {
            name: list(cells.values()) if isinstance(cells, dict) else cells
            for name, cells in content.items()
        }
        if not all(isinstance(cells, list) for cells in columns.values()):
            raise DataFormatError(
                "the JSON object does not map column names to lists of cells",
                advice="Write a list of objects, one per row.",
            )
        yield columns, 1.0
        return
    if not isinstance(content, list) or not all(isinstance(r, dict) for r in content):
        raise DataFormatError(
            "the JSON content is not a table",
            advice="Write a list of objects, one per row.",
        )
    names = dict.fromkeys(name for row in content for name in row)
    for start in range(0, len(content), block_rows):
        yield _columns(content[start : start + block_rows], names), None


# Parts of a spreadsheet that become objects before the first row is read, such as cell
# styles and defined names, and how much larger these objects are than the text.
_BOOK_PARTS = (
    "[Content_Types]", "_rels/", "docProps/", "xl/_rels/", "xl/styles", "xl/theme/",
    "xl/workbook",
)  # fmt: skip
_BOOK_FACTOR = 20


def _sheet_batches(file: Any, path: Path, block_rows: int, charge: Charge) -> Blocks:
    """Yield blocks of the first sheet, whose first row is the header."""
    openpyxl = import_optional("openpyxl", "Spreadsheets")
    budget = _options.Budget(Limits(), _files.regular_size(path))
    with _archive(path, None) as archive:
        for info in archive.infolist():
            if info.filename.startswith(_BOOK_PARTS):
                size = _BOOK_FACTOR * info.file_size
                budget.charge(size, "the description of the workbook")
    with damage("the spreadsheet cannot be read"), path.open("rb") as stream:
        book = openpyxl.load_workbook(
            stream, read_only=True, data_only=True, keep_links=False
        )
        if not book.worksheets:
            raise DataFormatError("the spreadsheet has no sheet")
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # as declared; rows would be filled up to there
        if len(book.worksheets) > 1:
            warn_caller(
                f"{path.name} has {len(book.worksheets)} sheets; the first one, "
                f"{sheet.title!r}, is read."
            )
        if _has_merged_cells(sheet):
            warn_caller(
                f"{path.name} has merged cells: the first one holds the value, the "
                "others are read as missing. Unmerge and fill them in."
            )
        lines = sheet.iter_rows(values_only=True, max_row=_SHEET_ROWS)
        named = list(next(lines, ()))
        while named and named[-1] is None:
            named.pop()
        names = ["" if cell is None else str(cell) for cell in named]
        _table.check_distinct(names)
        rows: list[dict[str, Any]] = []
        for line in lines:
            if all(cell is None for cell in line):
                continue
            rows.append(dict(zip(names, map(_sheet_cell, line), strict=False)))
            if len(rows) == block_rows:
                yield _columns(rows, names), None
                rows = []
        if rows:
            yield _columns(rows, names), 1.0


def _has_merged_cells(sheet: Any) -> bool:
    """Search the sheet for them; openpyxl does not read them row by row."""
    with sheet._get_source() as source:
        end = b""
        while block := source.read(1 << 16):
            if b"mergeCell ref" in end + block:
                return True
            end = block[-16:]
    return False


def _sheet_cell(cell: Any) -> Any:
    """Convert dates to text, without a time at midnight."""
    if isinstance(cell, datetime):
        midnight = cell == datetime(cell.year, cell.month, cell.day)
        return cell.strftime("%Y-%m-%d") if midnight else cell.isoformat(" ")
    return cell


def _columns(rows: list[dict[str, Any]], names: Iterable[str]) -> dict[str, list[Any]]:
    return {name: [row.get(name) for row in rows] for name in names}


def _parquet_batches(
    file: Any, path: Path, block_rows: int, charge: Charge, columns: list[str] | None
) -> Blocks:
    done = 0
    with _table.arrow_errors("the Parquet content"), _table.open_parquet(path) as table:
        facts = table.metadata
        budget = _options.Budget.of_table(path.stat().st_size)
        _table.check_groups(facts, budget)
        # A batch of columns without values costs nothing to store.
        block_rows = max(1, min(block_rows, _BLOCK_CELLS // max(1, facts.num_columns)))
        groups = [range(facts.num_row_groups)]
        if any(field.type.num_fields for field in table.schema_arrow):
            # Arrow cannot join lists of codes from two groups.
            groups = [range(i, i + 1) for i in groups[0]]
        for group in groups:
            for batch in table.iter_batches(
                block_rows, row_groups=group, columns=columns
            ):
                batch.validate(full=True)
                done += batch.num_rows
                yield batch, done / facts.num_rows


def _spelled_out(batch: Any, charge: Charge) -> Any:
    """Decode dictionary columns of text after charging their size."""
    if isinstance(batch, dict):
        return batch
    columns = []
    for column in batch.columns:
        if pa.types.is_dictionary(column.type):
            charge(_text_size(column), f"{len(column)} cells of text")
            column = column.cast(column.type.value_type)
        columns.append(column)
    return pa.record_batch(columns, names=batch.schema.names)


def _arrow_batches(file: Any, path: Path, block_rows: int, charge: Charge) -> Blocks:
    data = file.read()
    with _table.arrow_errors("the Arrow content"):
        for batch in _table.arrow_batches(data, charge):
            for start in range(0, batch.num_rows, block_rows):
                yield batch.slice(start, block_rows), None
