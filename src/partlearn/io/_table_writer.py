"""Write tables in blocks of rows, for data larger than memory."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
import json
import math
import sys
from contextlib import ExitStack
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Self

import numpy as np

from partlearn._arguments import argument
from partlearn.io._arrow import pa, parquet
from partlearn.io._errors import DataFormatError
from partlearn.io._files import STANDARD, atomic_write, nested_as_json

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
# What a formula begins with, in spreadsheets of the West and of the East.
_FORMULA = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")


class _LineEnds:
    """Text file that ends rows with a line feed only."""

    def __init__(self, text: TextIOWrapper) -> None:
        self._text = text

    def write(self, row: str) -> int:
        """Write one row of a CSV writer."""
        return self._text.write(row.removesuffix("\r\n") + "\n")


class TableWriter(ExitStack):
    """Write a table block by block; the file appears when it is complete.

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
            raise ValueError(
                f"names of tables that are written end in one of {known}; got "
                f"{path.name!r}"
            )
        self.path = path
        self.safe_csv = safe_csv
        self.n_rows = 0
        self._writer: Any = None
        self._names: dict[str, None] = {}  # in their order; found without a search
        super().__init__()

    def __enter__(self) -> Self:
        if self.path.is_dir():
            raise IsADirectoryError(f"{self.path} is a folder; name a file in it")
        if self.path == STANDARD:
            self._file: Any = sys.stdout.buffer
        else:
            self._file = self.enter_context(atomic_write(self.path))
        return self

    def write(self, columns: dict[str, Any]) -> None:
        """Append rows; every block has the same columns."""
        self._names = self._names or dict.fromkeys(columns)
        if late := [name for name in columns if name not in self._names]:
            raise DataFormatError(
                f"column {late[0]!r} is not in the rows before",
                where=f"row {self.n_rows} or later",
                advice="Add it to the first row as well, with nothing in it.",
            )
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
            self.callback(text.detach)  # which flushes, and closes nothing
            delimiter = "\t" if self.path.suffix == ".tsv" else ","
            # Cells with either character of the line end are put into quotation marks;
            # a lone carriage return would else begin a row.
            self._writer = csv.writer(
                _LineEnds(text), delimiter=delimiter, lineterminator="\r\n"
            )
            self._writer.writerow(map(neutral, columns) if self.safe_csv else columns)
        lists = [_cells(column) for column in columns.values()]
        if self.safe_csv:
            lists = [[neutral(cell) for cell in cells] for cells in lists]
        self._writer.writerows(zip(*lists, strict=True))

    def _write_lines(self, columns: dict[str, Any]) -> None:
        lists = [_cells(column) for column in columns.values()]
        for cells in zip(*lists, strict=True):
            row = dict(zip(columns, map(_json_cell, cells), strict=True))
            line = json.dumps(row, ensure_ascii=False, default=str)
            self._file.write(f"{line}\n".encode())

    def _write_parquet(self, columns: dict[str, Any]) -> None:
        arrays = {name: arrow_column(column) for name, column in columns.items()}
        if self._writer is None:
            self._schema = pa.table(arrays).schema
            self._writer = parquet.ParquetWriter(self._file, self._schema)
            self.callback(self._writer.close)
        for field in self._schema:
            try:
                arrays[field.name] = arrays[field.name].cast(field.type)
            except pa.ArrowException as error:
                raise DataFormatError(
                    f"column {field.name!r} holds {field.type} in the rows before, "
                    f"which a Parquet file has to keep ({error})",
                    where=f"row {self.n_rows - len(arrays[field.name])} or later",
                    advice="Write CSV, or leave the column out.",
                ) from None
        self._writer.write_table(pa.table(arrays, schema=self._schema))


def arrow_column(column: Any) -> Any:
    """Convert a column to an Arrow array, of text if types are mixed."""
    if hasattr(column, "to_pylist"):
        return column
    if isinstance(column, np.ndarray) and column.dtype.kind == "O":
        return pa.array(column, pa.string())
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        array = pa.array([None if cell is None else str(cell) for cell in column])
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def _cells(column: Any) -> list[Any]:
    """Return a column as Python values; lists of labels become ``cat|dog``."""
    if hasattr(column, "to_pylist"):
        try:
            column = column.to_pylist()
        except (OverflowError, ValueError) as error:  # a moment that no calendar has
            raise DataFormatError(
                f"a value cannot be written ({error})",
                advice=f"Leave the column out with {argument('ignore')}, or mend the "
                "file.",
            ) from None
    elif not isinstance(column, list):
        # Python numbers write the shortest text that reads back the same.
        column = [None if cell != cell else cell for cell in column.tolist()]
    return [_as_cell(cell) for cell in column]


def _as_cell(cell: Any) -> Any:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    if isinstance(cell, list) and not any(isinstance(c, (list, dict)) for c in cell):
        return "|".join(map(str, cell))
    return nested_as_json(cell)


def neutral(cell: Any) -> Any:
    """Quote text that a spreadsheet would run as a formula."""
    if not isinstance(cell, str) or not cell.startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell  # a number with its sign


def _json_cell(cell: Any) -> Any:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
