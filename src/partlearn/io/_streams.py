"""Text streams: other encodings, lines before the names of columns."""

# SPDX-License-Identifier: BSD-3-Clause

import codecs
import io
import re
from typing import IO, Any

from partlearn.io._errors import DataFormatError
from partlearn.io._files import first_line

_BLOCK = 2**16
_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_SEPARATOR = re.compile(rb'"?sep=(.)"?\s*', re.IGNORECASE)
_UTF8_BOM = codecs.BOM_UTF8


class Prefixed(io.RawIOBase):
    """A stream with bytes in front that were read from it already."""

    def __init__(self, front: bytes, file: Any) -> None:
        self._front, self._file = front, file
        self.n_read = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read as many bytes as the buffer has room for."""
        piece = self._front[: len(buffer)] or self._file.read(len(buffer))
        self._front = self._front[len(piece) :]
        self.n_read += len(piece)
        buffer[: len(piece)] = piece
        return len(piece)


class _Decoded(io.RawIOBase):
    """Text of another encoding as UTF-8."""

    def __init__(self, file: Any, encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._encoding = encoding
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            piece = self._file.read(_BLOCK)
            try:
                text = self._decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                raise DataFormatError(
                    f"the text is not in the encoding {self._encoding}: {error.reason}",
                    advice="Say with encoding= which one it is in.",
                ) from None
            self._ready = text.encode("utf-8", "replace")
            if not piece:
                break
        piece = self._ready[: len(buffer)]
        self._ready = self._ready[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)


def decoded(file: Any, encoding: str | None) -> IO[bytes]:
    """Return a stream of UTF-8: as it is, by its byte order mark, or as said."""
    if encoding is None:
        head = file.peek(2)[:2] if hasattr(file, "peek") else b""
        encoding = _BOMS.get(head)
        if encoding is None:
            return file
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ValueError(
            f"`encoding`: {encoding!r} is not known; examples are latin-1, cp1252, gbk "
            "and utf-16."
        ) from None
    return io.BufferedReader(_Decoded(file, encoding), _BLOCK)


def header_line(stream: IO[bytes]) -> tuple[bytes, bytes, str | None]:
    """Find the line that names the columns.

    Returns
    -------
    line : bytes
        The line; comments (``#``) and a line ``sep=;`` before it are skipped.
    after : bytes
        What was read after it.
    delimiter : str or None
        As ``sep=`` says it.
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
        else:
            return line, b"", delimiter
        line = first_line(stream)


def _is_header(line: bytes, following: bytes) -> bool:
    """Whether a line that begins with # has the columns of the next one."""
    if not following or following.startswith(b"#"):
        return False
    return any(
        line.count(mark) == following.count(mark) > 0 for mark in (b",", b";", b"\t")
    )
