"""Text streams: encodings, and lines above the header."""

# SPDX-License-Identifier: BSD-3-Clause

import codecs
import io
import re
from collections.abc import Iterator
from itertools import chain
from typing import IO, Any

from partlearn._arguments import argument
from partlearn.io._errors import DataFormatError
from partlearn.io._files import Pieces, blocks_of, first_line

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
