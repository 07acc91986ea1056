"""Tables in blocks of rows, so that what is written may exceed the memory."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

__all__ = ["TABLE_SUFFIXES", "TableWriter", "read_blocks"]

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")
BLOCK_ROWS = 20_000


class TableWriter:
    """Writes columns block by block; the file appears when all of it is written.

    Parameters
    ----------
    path : Path
        Ends in .csv, .tsv or .parquet.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix not in TABLE_SUFFIXES:
            known = ", ".join(TABLE_SUFFIXES)
            raise ValueError(f"--out must end in one of {known}; got {path.name!r}")
        self.path = path
        self.n_rows = 0
        self._part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._writer: Any = None
        self._file: Any = None

    def __enter__(self) -> "TableWriter":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self

    def write(self, columns: dict[str, Any]) -> None:
        """Append rows; every block has the same columns."""
        self.n_rows += len(next(iter(columns.values())))
        if self.path.suffix == ".parquet":
            self._write_parquet(columns)
        else:
            self._write_text(columns)

    def _write_text(self, columns: dict[str, Any]) -> None:
        if self._writer is None:
            self._file = self._part.open("w", newline="", encoding="utf-8")
            delimiter = "\t" if self.path.suffix == ".tsv" else ","
            self._writer = csv.writer(
                self._file, delimiter=delimiter, lineterminator="\n"
            )
            self._writer.writerow(columns)
        # Lists of Python numbers write the shortest text that reads back the same.
        lists = [np.asarray(c).tolist() for c in columns.values()]
        self._writer.writerows(zip(*lists, strict=True))

    def _write_parquet(self, columns: dict[str, Any]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({name: pa.array(c) for name, c in columns.items()})
        if self._writer is None:
            self._writer = self._file = pq.ParquetWriter(self._part, table.schema)
        self._writer.write_table(table)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
        if error is None and self._part.exists():
            self._part.replace(self.path)
        self._part.unlink(missing_ok=True)


def read_blocks(
    path: Path, features: Sequence[str]
) -> Iterator[tuple[np.ndarray, dict[str, list[Any]]]]:
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
    kept : dict of str to list
        All other columns, to hand through as they are.
    """
    known = set(features)
    for batch in _batches(path):
        names = batch.schema.names
        absent = [name for name in features if name not in names]
        if absent:
            raise ValueError(
                f"{path.name} lacks columns that the model was fitted on: "
                + ", ".join(absent[:5])
                + (" ..." if len(absent) > 5 else "")
            )
        try:
            columns = [
                batch.column(name).to_numpy(zero_copy_only=False).astype(np.float64)
                for name in features
            ]
        except ValueError as error:
            raise ValueError(
                f"{path.name}: a feature is not a number: {error}"
            ) from None
        others = [name for name in names if name not in known]
        kept = {name: batch.column(name).to_pylist() for name in others}
        yield np.column_stack(columns), kept


def _batches(path: Path) -> Iterator[Any]:
    try:
        import pyarrow.csv as arrow_csv
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError(
            "Reading tables needs the extra: pip install 'partlearn[data]'."
        ) from None
    if path.suffix == ".parquet":
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=BLOCK_ROWS)
        return
    if path.suffix not in TABLE_SUFFIXES:
        known = ", ".join(TABLE_SUFFIXES)
        raise ValueError(f"--load reads tables ({known}); got {path.name!r}")
    with path.open(encoding="utf-8-sig") as text:
        header = re.sub(r'"[^"]*"', "", text.readline())
    delimiter = max((",", "\t", ";"), key=header.count)
    with arrow_csv.open_csv(
        path, parse_options=arrow_csv.ParseOptions(delimiter=delimiter)
    ) as reader:
        yield from reader
