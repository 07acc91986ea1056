"""Results on disk: one fragment per job by atomic rename, merged into tables."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
import json
import re
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from partlearn.io import atomic_write

__all__ = ["Store", "read_table", "write_table"]

Row = dict[str, Any]
_FRAGMENT = re.compile(r"[0-9a-f]{20}\.(json|npz)")


class Store:
    """Folder of one run.

    Parameters
    ----------
    folder : str or Path
        Created when something is first kept in it: reading leaves no trace.

    Examples
    --------
    >>> import tempfile
    >>> from partlearn.benchmark import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder)
    ...     store.put_job("abc", {"status": "ok"})
    ...     store.get_job("abc")
    {'status': 'ok'}
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._jobs = self.folder / "jobs"
        self._reductions = self.folder / "reductions"

    def clean(self) -> None:
        """Remove what a killed run left half-written."""
        for folder in (self._jobs, self._reductions, self.folder):
            for leftover in folder.glob(".*.tmp"):
                leftover.unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove finished jobs, and nothing else that may be in the folder."""
        for folder in (self._jobs, self._reductions):
            for path in folder.glob("*"):
                if _FRAGMENT.fullmatch(path.name):
                    path.unlink()

    def get_job(self, job_id: str) -> Row | None:
        """Record of a finished job, or None."""
        return self._read(self._jobs / f"{job_id}.json")

    def put_job(self, job_id: str, record: Mapping[str, Any]) -> None:
        """Keep the record of a job."""
        self.write_json(f"jobs/{job_id}.json", record)

    def get_reduction(self, reduction_id: str, arrays: bool = True) -> Row | None:
        """Record of a finished reduction with its arrays, or None."""
        record = self._read(self._reductions / f"{reduction_id}.json")
        if record is None or not arrays or record["status"] != "ok":
            return record
        try:
            with np.load(self._reductions / f"{reduction_id}.npz") as file:
                record["arrays"] = {key: file[key] for key in file.files}
        except (OSError, ValueError, EOFError, BadZipFile):
            return None
        return record

    def put_reduction(self, reduction_id: str, record: Mapping[str, Any]) -> None:
        """Keep a reduction: arrays first, so that a record implies its arrays."""
        arrays = record.get("arrays")
        if arrays is not None:
            with atomic_write(self._reductions / f"{reduction_id}.npz") as file:
                np.savez(file, **arrays)
        plain = {k: v for k, v in record.items() if k != "arrays"}
        self.write_json(f"reductions/{reduction_id}.json", plain)

    def write_json(self, name: str, content: Any) -> None:
        """Write ``folder/name`` atomically."""
        text = json.dumps(content, indent=1, sort_keys=True)
        with atomic_write(self.folder / name) as file:
            file.write(f"{text}\n".encode())

    def read_json(self, name: str) -> Any:
        """Read ``folder/name``, or None when it is not there or not whole."""
        return self._read(self.folder / name)

    @staticmethod
    def _read(path: Path) -> Any:
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except json.JSONDecodeError:
            # A disk that filled up, a copy cut short: the job simply runs again.
            return None


def write_table(
    path: Path, rows: Sequence[Row], columns: Sequence[tuple[str, str]]
) -> Path:
    """Write rows as Parquet, or as CSV where pyarrow is not installed.

    Parameters
    ----------
    path : Path
        Name without suffix.
    rows : sequence of dict
        The rows.
    columns : sequence of (name, type)
        Types are "string", "int64" or "double".

    Returns
    -------
    Path
        The file written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return _write_csv(path.with_suffix(".csv"), rows, [name for name, _ in columns])
    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in columns])
    table = pa.Table.from_pylist(list(rows), schema=schema)
    target = path.with_suffix(".parquet")
    with atomic_write(target) as file:
        pq.write_table(table, file)
    return target


def _write_csv(path: Path, rows: Sequence[Row], names: list[str]) -> Path:
    text = StringIO(newline="")
    writer = csv.DictWriter(text, names, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())
    return path


def read_table(path: Path) -> list[Row]:
    """Read a table written by :func:`write_table`.

    Parameters
    ----------
    path : Path
        Name without suffix.

    Returns
    -------
    list of dict
        The rows.
    """
    parquet = path.with_suffix(".parquet")
    if parquet.is_file():
        import pyarrow.parquet as pq

        return list(pq.read_table(parquet).to_pylist())
    with path.with_suffix(".csv").open(newline="", encoding="utf-8") as file:
        return [dict(row) for row in csv.DictReader(file)]
