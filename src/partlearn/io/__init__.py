"""Files: formats, readers, writers, limits, blocks of rows, whole-file writing."""

from partlearn.io._atomic import atomic_write
from partlearn.io._blocks import BLOCK_ROWS, TableWriter, is_table, read_blocks
from partlearn.io._corrections import read_corrections
from partlearn.io._errors import (
    AmbiguousDataError,
    DataError,
    DataFormatError,
    DataLimitError,
    DownloadError,
)
from partlearn.io._limits import Budget, Limits
from partlearn.io._optional import import_optional
from partlearn.io._read import format_of, read
from partlearn.io._write import write

__all__ = [
    "BLOCK_ROWS",
    "AmbiguousDataError",
    "Budget",
    "DataError",
    "DataFormatError",
    "DataLimitError",
    "DownloadError",
    "Limits",
    "TableWriter",
    "atomic_write",
    "format_of",
    "import_optional",
    "is_table",
    "read",
    "read_blocks",
    "read_corrections",
    "write",
]
