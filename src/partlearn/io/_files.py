"""Files and text streams: formats, bounded reading and atomic writing."""

# SPDX-License-Identifier: BSD-3-Clause

import codecs
import errno
import gzip
import io
import json
import os
import re
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, BinaryIO

from partlearn._arguments import argument
from partlearn.io._errors import AmbiguousDataError, DataFormatError
from partlearn.io._options import Budget

STANDARD = Path("-")  # standard input or output
CELL = 64  # bytes of a short text and its place in a list
_BLOCK = 2**20
# Bytes that a line of names may have; a table with a longer one is none, and looking
# for its end could take for ever.
MAX_LINE = 2**22

_OPEN_QUOTE = re.compile(rb'(?:^|[,;\t]|\xef\xbb\xbf)"(?:[^"]|"")*\Z')

# Of the pairs that stand for one character; a half alone is no text.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")

# The disk, the quota of the user, or what a process may write.
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def regular_size(path: Path) -> int:
    """Return the size of a regular file; raise for folders, pipes and devices.

    Opening a pipe or a device can block, and reading it may never end.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    size : int
        Its bytes.

    Examples
    --------
    >>> from pathlib import Path
    >>> from partlearn.io import regular_size
    >>> regular_size(Path())
    Traceback (most recent call last):
        ...
    partlearn.io._errors.DataFormatError: .: this is a folder, not a file.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
        raise DataFormatError(
            f"this is {kind}, not a file",
            path=path,
            advice="" if kind == "a folder" else "Save its output to a file first.",
        )
    return status.st_size


class Pieces(io.RawIOBase):
    """Binary stream over an iterator of bytes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._ready = pieces, memoryview(b"")
        self.n_read = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer and return how many."""
        if not self._ready:
            self._ready = memoryview(next(filter(None, self._pieces), b""))
        piece = self._ready[: len(buffer)]
        self._ready = self._ready[len(piece) :]
        self.n_read += len(piece)
        buffer[: len(piece)] = piece
        return len(piece)


def blocks_of(stream: Any) -> Iterator[bytes]:
    """Yield a stream block by block, as the bytes become available."""
    return iter(lambda: stream.read1(_BLOCK), b"")


def _expanded(path: Path, budget: Budget | None) -> Iterator[bytes]:
    try:
        with gzip.open(path) as file:
            for piece in blocks_of(file):
                if budget is not None:
                    budget.charge(len(piece), "the expanded file")
                yield piece
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataFormatError(f"the gzip data are damaged ({error})") from error


def open_text(path: Path, budget: Budget | None) -> IO[bytes]:
    """Open a plain or gzip file; expanded bytes are charged as they are read.

    Without a budget the rows are not kept, so that there is nothing to charge.
    """
    if path.suffix == ".gz":
        return io.BufferedReader(Pieces(_expanded(path, budget)), _BLOCK)
    return path.open("rb")


def scan(path: Path, budget: Budget, marks: bytes) -> None:
    """Charge the memory of a compressed table before any of it is kept.

    Parameters
    ----------
    path : Path
        The file; it is read only if it is compressed.
    budget : Budget
        Memory limits.
    marks : bytes
        Characters that end a cell or begin one.
    """
    if path.suffix != ".gz":
        return
    with open_text(path, None) as stream:
        for piece in blocks_of(stream):
            budget.charge(len(piece), "the expanded file")
            cells = sum(piece.count(mark) for mark in marks)
            budget.charge(CELL * cells, "the table in the compressed file")


def expand(path: Path, budget: Budget) -> bytes:
    """Return the content of a plain or gzip file, within the limits."""
    if path.suffix != ".gz":
        budget.charge(regular_size(path), "the file")
        return path.read_bytes()
    with open_text(path, budget) as stream:
        return b"".join(blocks_of(stream))


def read_json(path: Path) -> Any:
    """Read a JSON file; raise if its text cannot be encoded again.

    Parameters
    ----------
    path : Path
        The file, of UTF-8.

    Returns
    -------
    content : object
        Lists, dictionaries and plain values.
    """
    regular_size(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        content = json.loads(text)
        if _HALF.search(text):
            json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise DataFormatError(
            "a text contains half of a surrogate pair", path=path
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataFormatError(f"not a readable JSON file: {error}", path=path) from None
    return content


def nested_as_json(value: Any) -> Any:
    """Convert lists and mappings to JSON text; return other values unchanged."""
    if not isinstance(value, (list, dict)):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        raise DataFormatError("the data are nested too deeply to be written") from None


def first_line(stream: IO[bytes]) -> bytes:
    """Read the header line; quoted names may contain line breaks."""
    line = stream.readline(MAX_LINE + 1)
    while _OPEN_QUOTE.search(line) and len(line) <= MAX_LINE:
        more = stream.readline(MAX_LINE + 1 - len(line))
        if not more:
            break
        line += more
    return line


def header_of(line: bytes) -> bytes:
    """Return a header line without its line end; raise if it is empty or too long."""
    line = line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")
    if len(line) >= MAX_LINE:
        raise DataFormatError(
            f"the header line is longer than {MAX_LINE:,} bytes",
            advice="The first line must hold the column names.",
        )
    if not line.strip():
        raise DataFormatError("the file has no header line")
    return line


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when it is complete.

    Parameters
    ----------
    path : path-like
        The file to write; its folder is created. An existing file is replaced only when
        the new one is complete.

    Yields
    ------
    file : binary file
        Temporary file, renamed at the end.

    Raises
    ------
    OSError
        If there is no space left, with the name of the file and advice, or if it cannot
        be written for another reason.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from partlearn.io import atomic_write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "labels.csv")
    ...     with atomic_write(path) as file:
    ...         _ = file.write(b"label")
    ...         print(path.exists())
    ...     print(path.read_text())
    False
    label
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not mkstemp: its files are for their owner only, whatever the umask says.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        full = OSError(
            f"no space left for {path} ({error.strerror}). Existing files are "
            "unchanged: free some space, and run the same command again."
        )
        full.errno = error.errno
        raise full from None
    finally:
        temporary.unlink(missing_ok=True)


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
        raise DataFormatError("this is a folder", advice="Name a file in it.")
    if suffix in (".xls", ".ods"):
        raise DataFormatError(
            "this spreadsheet format is not supported",
            advice="Save the sheet as CSV, in the encoding UTF-8, or as .xlsx.",
        )
    known = ", ".join(end for suffixes in SUFFIXES.values() for end in suffixes)
    raise AmbiguousDataError(
        f"the file extension is unknown (known: {known})",
        advice=f"Pass it with {argument('format')}, one of {', '.join(SUFFIXES)}.",
    )


_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_SEPARATOR = re.compile(rb'"?sep=(.)"?\s*', re.IGNORECASE)
_UTF8_BOM = codecs.BOM_UTF8


def prefixed(front: bytes, file: Any) -> Pieces:
    """Return a stream with bytes put back in front."""
    return Pieces(chain([front], blocks_of(file)))


def _transcoded(file: Any, encoding: str) -> Iterator[bytes]:
    """Yield text re-encoded as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    for piece in chain(blocks_of(file), [b""]):
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            raise DataFormatError(
                f"the text is not in the encoding {encoding}: {error.reason}",
                advice=f"Pass its encoding with {argument('encoding')}.",
            ) from None
        yield text.encode("utf-8", "replace")


def decoded(file: Any, encoding: str | None) -> IO[bytes]:
    """Return a UTF-8 stream of text in the given encoding or with a UTF-16 mark."""
    if encoding is None:
        head = file.peek(2)[:2] if hasattr(file, "peek") else b""
        encoding = _BOMS.get(head)
        if encoding is None:
            return file
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ValueError(
            f"{argument('encoding')}: {encoding!r} is not known; examples are latin-1, "
            "cp1252, gbk and utf-16."
        ) from None
    return io.BufferedReader(Pieces(_transcoded(file, encoding)))


def header_line(stream: IO[bytes]) -> tuple[bytes, bytes, str | None]:
    """Find the header line.

    Returns
    -------
    line : bytes
        The line; empty ones, comments (``#``) and a line ``sep=;`` before it are
        skipped.
    after : bytes
        Bytes read after it.
    delimiter : str or None
        Delimiter from a ``sep=`` line.
    """
    delimiter = None
    line = first_line(stream).removeprefix(_UTF8_BOM)
    while True:
        said = _SEPARATOR.fullmatch(line.rstrip(b"\r\n"))
        if said:
            delimiter = said[1].decode("utf-8", "replace")
        elif line.startswith(b"#"):
            following = first_line(stream)
            if _is_header(line, following):
                return line, following, delimiter
            line = following
            continue
        elif line.strip() or not line:
            return line, b"", delimiter
        line = first_line(stream)


def _is_header(line: bytes, following: bytes) -> bool:
    """Whether a line that begins with # is the header of the next line."""
    if not following or following.startswith(b"#"):
        return False
    return any(
        line.count(mark) == following.count(mark) > 0 for mark in (b",", b";", b"\t")
    )
