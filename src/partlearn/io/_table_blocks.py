"""Tables of any kind in blocks of rows, for files larger than memory."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any

from partlearn.io._blocks import BLOCK_ROWS, STANDARD, spell_out
from partlearn.io._errors import DataError, DataFormatError
from partlearn.io._files import MAX_LINE, header_line, open_text, regular_size
from partlearn.io._optional import import_optional
from partlearn.io._read import format_of
from partlearn.io._table import find_delimiter, open_parquet

__all__ = ["table_blocks"]

_BLOCK = 1 << 20  # bytes


class _Prefixed(RawIOBase):
    """A stream with the line in front that was read from it already."""

    def __init__(self, line: bytes, file: Any) -> None:
        self._line, self._file = line, file
        self.n_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._line[: len(buffer)] or self._file.read(len(buffer))
        self._line = self._line[len(piece) :]
        self.n_read += len(piece)
        buffer[: len(piece)] = piece
        return len(piece)


def table_blocks(
    path: Path,
    *,
    block_rows: int = BLOCK_ROWS,
    progress: Callable[[float], object] | None = None,
) -> Iterator[Any]:
    """Read any table some rows at a time, cells of text files as they are written.

    Parameters
    ----------
    path : Path
        CSV, TSV, Parquet, Arrow or JSON lines (.jsonl, .ndjson), text also compressed
        by gzip; ``-`` is standard input, as CSV or JSON lines.
    block_rows : int, default=20000
        Rows per block, about.
    progress : callable, default=None
        Told after each block which share of the file was read, where it is known.

    Yields
    ------
    block : Arrow batch or dict of lists
        Some rows; what :func:`partlearn.tables.columns_of` takes.
    """
    empty = True
    with _opened(path) as (file, kind):
        blocks = {
            "csv": _text_batches,
            "jsonl": _line_batches,
            "parquet": _parquet_batches,
            "arrow": _arrow_batches,
        }[kind]
        try:
            for block, share in blocks(file, path, block_rows):
                empty = False
                yield block
                if progress is not None and share is not None:
                    progress(min(share, 1.0))
        except DataError as error:
            raise error.at(path) from None
    if empty:
        raise DataFormatError("the table has no rows", path=path)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, str]]:
    """Open a table for reading; the kind is found in the name, or in the first byte."""
    if path == STANDARD:
        first = sys.stdin.buffer.readline(MAX_LINE + 1)
        stream = BufferedReader(_Prefixed(first, sys.stdin.buffer))
        yield stream, "jsonl" if first.lstrip()[:1] == b"{" else "csv"
        return
    plain = Path(path.name.removesuffix(".gz"))
    kind = (
        "jsonl"
        if plain.suffix.lower() in (".jsonl", ".ndjson")
        else format_of(path, None)
    )
    if kind not in ("csv", "jsonl", "parquet", "arrow"):
        raise DataFormatError(
            f"{path.name!r} is not a table of columns",
            path=path,
            advice="Convert it first: partlearn data convert IN OUT.csv.",
        )
    regular_size(path)
    with open_text(path, None) as file:
        yield file, kind


Blocks = Iterator[tuple[Any, float | None]]  # rows, and the share read with them


def _share(n_read: int, path: Path) -> float | None:
    """Share of a file; unknown for streams and for compressed files."""
    if path == STANDARD or path.name.endswith(".gz"):
        return None
    return n_read / max(1, path.stat().st_size)


def _text_batches(file: Any, path: Path, block_rows: int) -> Blocks:
    """Blocks of a CSV file whose cells stay text: types are found from all rows."""
    pa = import_optional("pyarrow", "CSV files")
    arrow_csv = import_optional("pyarrow.csv", "CSV files")
    line = file.readline(MAX_LINE + 1)
    stream = _Prefixed(line, file)
    file = BufferedReader(stream)
    first = header_line(line)
    delimiter = find_delimiter(first)
    size = MAX_LINE if 8 * len(first) > _BLOCK else _BLOCK  # wide tables have long rows
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    try:
        names = arrow_csv.read_csv(
            pa.BufferReader(first + b"\n"), parse_options=parse
        ).column_names
        double = [name for name in names if names.count(name) > 1]
        if double:
            raise DataFormatError(f"there are several columns {double[0]!r}", path=path)
        with arrow_csv.open_csv(
            file,
            # Without threads errors name the row. Dozens of blocks are read ahead of a
            # slow consumer, hence small ones; a row must fit into one.
            read_options=arrow_csv.ReadOptions(use_threads=False, block_size=size),
            parse_options=parse,
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=True,
                null_values=[""],
            ),
        ) as reader:
            for batch in reader:
                share = _share(stream.n_read, path)
                for start in range(0, batch.num_rows, block_rows):
                    yield batch.slice(start, block_rows), share
    except pa.ArrowInvalid as error:
        raise DataFormatError(
            f"the table cannot be read ({str(error)[:300]})", path=path
        ) from None


def _line_batches(file: Any, path: Path, block_rows: int) -> Blocks:
    names: dict[str, None] = {}
    rows: list[dict[str, Any]] = []
    n_read = 0
    for number, line in enumerate(file, start=1):
        n_read += len(line)
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataFormatError(
                f"line {number} is not JSON ({error})", path=path
            ) from None
        if not isinstance(row, dict):
            raise DataFormatError(f"line {number} is not a JSON object", path=path)
        names |= dict.fromkeys(row)
        rows.append(row)
        if len(rows) == block_rows:
            yield _columns(rows, names), _share(n_read, path)
            rows = []
    if rows:
        yield _columns(rows, names), 1.0


def _columns(rows: list[dict[str, Any]], names: Iterable[str]) -> dict[str, list[Any]]:
    return {name: [row.get(name) for row in rows] for name in names}


def _parquet_batches(file: Any, path: Path, block_rows: int) -> Blocks:
    pa = import_optional("pyarrow", "Parquet files")
    try:
        with open_parquet(path) as table:
            done = 0
            for batch in table.iter_batches(batch_size=block_rows):
                done += batch.num_rows
                yield spell_out(batch), done / table.metadata.num_rows
    except pa.ArrowInvalid as error:
        raise DataFormatError(
            f"the Parquet content cannot be read ({error})", path=path
        ) from None


def _arrow_batches(file: Any, path: Path, block_rows: int) -> Blocks:
    pa = import_optional("pyarrow", "Arrow files")
    ipc = import_optional("pyarrow.ipc", "Arrow files")
    data = file.read()
    try:
        opened = ipc.open_file if data[:6] == b"ARROW1" else ipc.open_stream
        table = opened(pa.BufferReader(data)).read_all()
        for batch in table.to_batches(max_chunksize=block_rows):
            yield batch, None
    except pa.ArrowInvalid as error:
        raise DataFormatError(
            f"the Arrow content cannot be read ({error})", path=path
        ) from None
