"""File formats and their extensions."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

from partlearn._arguments import argument
from partlearn.io._errors import AmbiguousDataError, DataFormatError
from partlearn.io._files import STANDARD

SUFFIXES: dict[str, tuple[str, ...]] = {
    "mat": (".mat", ".h5", ".hdf5"),
    "npz": (".npz",),
    "csv": (".csv", ".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather"),
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "xlsx": (".xlsx",),
    "zip": (".zip",),
    "arff": (".arff",),
    "libsvm": (".libsvm", ".svmlight", ".svm"),
}
TABLES = ("csv", "parquet", "arrow", "jsonl", "json", "xlsx", "zip")
TEXTS = ("csv", "jsonl", "json")  # which a .zip may hold


def plain_suffix(path: Path) -> str:
    """Return the file extension in lower case, without ``.gz``."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def is_table(path: Path) -> bool:
    """Whether a path is a table of named columns, or standard input."""
    suffix = plain_suffix(path)
    return path == STANDARD or any(suffix in SUFFIXES[kind] for kind in TABLES)


def format_of(path: Path, format: str | None) -> str:
    """Return the format, given by name or by the file extension."""
    if format is not None:
        if format not in SUFFIXES:
            words = ", ".join(SUFFIXES)
            raise ValueError(f"`format` must be one of {words}; got {format!r}.")
        return format
    suffix = plain_suffix(path)
    for kind, suffixes in SUFFIXES.items():
        if suffix in suffixes:
            return kind
    if path.is_dir():
        raise DataFormatError(
            "this is a folder", path=path, advice="Name a file in it."
        )
    if suffix in (".xls", ".ods"):
        raise DataFormatError(
            "this spreadsheet format is not supported",
            path=path,
            advice="Save the sheet as CSV, in the encoding UTF-8, or as .xlsx.",
        )
    known = ", ".join(end for suffixes in SUFFIXES.values() for end in suffixes)
    raise AmbiguousDataError(
        f"the file extension is unknown (known: {known})",
        path=path,
        advice=f"Pass it with {argument('format')}, one of {', '.join(SUFFIXES)}.",
    )
