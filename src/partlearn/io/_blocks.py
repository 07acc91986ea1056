"""Tables in blocks of rows, so that what is written may exceed the memory."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
import json
import math
import sys
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from partlearn.io._atomic import atomic_write
from partlearn.io._errors import DataError, DataLimitError
from partlearn.io._files import first_line, open_text, regular_size
from partlearn.io._limits import Limits
from partlearn.io._read import format_of
from partlearn.io._table import find_delimiter, open_parquet

__all__ = [
    "BLOCK_ROWS",
    "STANDARD",
    "TABLE_SUFFIXES",
    "TableWriter",
    "is_table",
    "read_blocks",
    "spell_out",
]

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
STANDARD = Path("-")  # standard input or output
BLOCK_ROWS = 20_000
# What a formula begins with, in spreadsheets of the West and of the East.
_FORMULA = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")


class TableWriter:
    """Writes columns block by block; the file appears when all of it is written.

    Parameters
    ----------
    path : Path
        Ends in .csv, .tsv, .parquet or .jsonl (one JSON object per line); ``-`` is
        standard output, as CSV.
    safe_csv : bool, default=False
        Put a quotation mark before text that a spreadsheet would take for a formula.
    """

    def __init__(self, path: Path, *, safe_csv: bool = False) -> None:
        if path.suffix not in TABLE_SUFFIXES and path != STANDARD:
            known = ", ".join(TABLE_SUFFIXES)
            raise ValueError(f"--out must end in one of {known}; got {path.name!r}")
        self.path = path
        self.safe_csv = safe_csv
        self.n_rows = 0
        self._writer: Any = None
        self._stack = ExitStack()

    def __enter__(self) -> "TableWriter":
        if self.path.is_dir():
            raise IsADirectoryError(f"{self.path} is a folder; --out names a file")
        if self.path == STANDARD:
            self._file: Any = sys.stdout.buffer
        else:
            self._file = self._stack.enter_context(atomic_write(self.path))
        return self

    def write(self, columns: dict[str, Any]) -> None:
        """Append rows; every block has the same columns."""
        self.n_rows += len(next(iter(columns.values())))
        if self.path.suffix == ".parquet":
            self._write_parquet(columns)
        elif self.path.suffix in (".jsonl", ".ndjson"):
            self._write_lines(columns)
        else:
            self._write_text(columns)

    def _write_text(self, columns: dict[str, Any]) -> None:
        if self._writer is None:
            text = TextIOWrapper(self._file, encoding="utf-8", newline="")
            self._stack.callback(text.detach)  # which flushes, and closes nothing
            delimiter = "\t" if self.path.suffix == ".tsv" else ","
            self._writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
            self._writer.writerow(map(_neutral, columns) if self.safe_csv else columns)
        lists = [_cells(column) for column in columns.values()]
        if self.safe_csv:
            lists = [[_neutral(cell) for cell in cells] for cells in lists]
        self._writer.writerows(zip(*lists, strict=True))

    def _write_lines(self, columns: dict[str, Any]) -> None:
        lists = [_cells(column) for column in columns.values()]
        for cells in zip(*lists, strict=True):
            row = dict(zip(columns, map(_json_cell, cells), strict=True))
            self._file.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())

    def _write_parquet(self, columns: dict[str, Any]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table(
            {
                name: column if isinstance(column, pa.Array) else pa.array(column)
                for name, column in columns.items()
            }
        )
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
            self._stack.callback(self._writer.close)
        self._writer.write_table(table)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)


def _cells(column: Any) -> list[Any]:
    """Python values; lists, which are label sets, become text such as cat|dog."""
    if not hasattr(column, "to_pylist"):
        # Lists of Python numbers write the shortest text that reads back the same.
        return list(np.asarray(column).tolist())
    return [
        "|".join(map(str, cell)) if isinstance(cell, list) else cell
        for cell in column.to_pylist()
    ]


def _neutral(cell: Any) -> Any:
    """Keep a spreadsheet from computing a cell: text that begins like a formula."""
    if not isinstance(cell, str) or not cell.startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell  # a number with its sign


def _json_cell(cell: Any) -> Any:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def is_table(path: Path) -> bool:
    """Whether a file can be read some rows at a time."""
    return format_of(path, None) in ("csv", "parquet")


def read_blocks(
    path: Path, features: Sequence[str]
) -> Iterator[tuple[np.ndarray, dict[str, Any]]]:
    """Read a table some rows at a time.

    Parameters
    ----------
    path : Path
        CSV, TSV or Parquet.
    features : sequence of str
        Numeric columns, in the order a model wants them.

    Yields
    ------
    X : ndarray of shape (n_rows, n_features)
        The features.
    kept : dict of str to pyarrow.Array
        All other columns, to hand through as they are.
    """
    known = set(features)
    empty = True
    for batch in _batches(path, known):
        empty = False
        names = batch.schema.names
        absent = [name for name in features if name not in names]
        if absent:
            raise ValueError(
                f"{path.name} lacks columns that the model was fitted on: "
                + ", ".join(absent[:5])
                + (" ..." if len(absent) > 5 else "")
            )
        double = [name for name in set(names) if names.count(name) > 1]
        if double:
            raise ValueError(f"{path.name}: there are several columns {double[0]!r}")
        try:
            columns = [
                batch.column(name).to_numpy(zero_copy_only=False).astype(np.float64)
                for name in features
            ]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{path.name}: a feature is not a number: {error}"
            ) from None
        kept = {name: batch.column(name) for name in names if name not in known}
        yield np.column_stack(columns), kept
    if empty:
        raise ValueError(f"{path.name}: the table has no rows; give at least one")


def _batches(path: Path, features: AbstractSet[str]) -> Iterator[Any]:
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError(
            "Reading tables needs the extra: pip install 'partlearn[data]'."
        ) from None
    if not is_table(path):
        raise ValueError(f"--load reads CSV, TSV and Parquet; got {path.name!r}")
    try:
        regular_size(path)
        if format_of(path, None) == "parquet":
            with open_parquet(path) as file:
                for batch in file.iter_batches(batch_size=BLOCK_ROWS):
                    yield spell_out(batch)
        else:
            yield from _csv_batches(path, features)
    except DataError as error:
        raise error.at(path) from None
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path.name}: {error}") from None


def spell_out(batch: Any) -> Any:
    """Write text that was read as codes out again, if it may be that long."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for column in batch.columns:
        if pa.types.is_dictionary(column.type):
            lengths = pc.take(pc.binary_length(column.dictionary), column.indices)
            size = pc.sum(lengths).as_py() or 0
            if size > Limits().max_bytes:
                raise DataLimitError(f"{len(column)} cells of text have {size:,} bytes")
            column = column.cast(column.type.value_type)
        columns.append(column)
    return pa.record_batch(columns, names=batch.schema.names)


def _csv_batches(path: Path, features: AbstractSet[str]) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    delimiter = find_delimiter(first_line(path))
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    with (
        open_text(path, None) as source,
        arrow_csv.open_csv(source, parse_options=parse) as reader,
    ):
        schema = reader.schema
    # Types guessed from the first block need not fit the others, and a guess would
    # turn a code such as 00123 into 123.
    types = {
        field.name: pa.string()
        if field.name not in features
        else field.type
        if pa.types.is_boolean(field.type)
        else pa.float64()
        for field in schema
    }
    convert = arrow_csv.ConvertOptions(column_types=types)
    # Without threads, which gain nothing here, errors name the row.
    read = arrow_csv.ReadOptions(use_threads=False)
    with (
        open_text(path, None) as source,
        arrow_csv.open_csv(
            source, read_options=read, parse_options=parse, convert_options=convert
        ) as reader,
    ):
        yield from reader
