"""Write tables in blocks of rows, so that they may exceed the memory."""

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

from partlearn.io._files import STANDARD, atomic_write

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
# What a formula begins with, in spreadsheets of the West and of the East.
_FORMULA = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")


class TableWriter(ExitStack):
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
        super().__init__()

    def __enter__(self) -> Self:
        if self.path.is_dir():
            raise IsADirectoryError(f"{self.path} is a folder; --out names a file")
        if self.path == STANDARD:
            self._file: Any = sys.stdout.buffer
        else:
            self._file = self.enter_context(atomic_write(self.path))
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
            self.callback(text.detach)  # which flushes, and closes nothing
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
            line = json.dumps(row, ensure_ascii=False, default=str)
            self._file.write(f"{line}\n".encode())

    def _write_parquet(self, columns: dict[str, Any]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table(columns)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
            self.callback(self._writer.close)
        self._writer.write_table(table)


def _cells(column: Any) -> list[Any]:
    """Python values; lists, which are label sets, become text such as cat|dog."""
    if not hasattr(column, "to_pylist"):
        # Lists of Python numbers write the shortest text that reads back the same.
        cells: list[Any] = np.asarray(column).tolist()
        return [None if cell != cell else cell for cell in cells]
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
