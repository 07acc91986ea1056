"""Expanded sizes of Arrow messages, computed before anything is decompressed.

A buffer that is compressed begins with its expanded length. pyarrow allocates that
length when it reads the message, so it has to be added up beforehand. In the Arrow
columnar format a message is a FlatBuffers table, whose fields are found through a table
of offsets.
"""

# SPDX-License-Identifier: BSD-3-Clause

import struct
from collections.abc import Iterator
from typing import Any

from partlearn.io._errors import DataFormatError

_CELL = 8  # bytes that a value takes, also where the format needs none
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2  # kinds of messages


def expanded_size(metadata: bytes, body: Any) -> int:
    """Return the number of bytes that a message takes in memory.

    Parameters
    ----------
    metadata : bytes
        The description of the message.
    body : pyarrow.Buffer
        Its buffers, as stored.

    Returns
    -------
    size : int
        Bytes; zero for messages without values.

    Raises
    ------
    DataFormatError
        If a length is negative, or a buffer lies outside of the body.
    """
    try:
        return sum(_lengths(metadata, body))
    except (struct.error, IndexError, OverflowError):
        raise DataFormatError("the description of the Arrow data is damaged") from None


def _lengths(metadata: bytes, body: Any) -> Iterator[int]:
    message = _Fields(metadata, _at("<I", metadata, 0))
    kind = message.value(1, "<B")
    if kind not in (_RECORD_BATCH, _DICTIONARY_BATCH):
        return
    batch = message.table(2)
    if kind == _DICTIONARY_BATCH and batch is not None:
        batch = batch.table(1)
    if batch is None:
        raise DataFormatError("a message of the Arrow data is empty")
    yield _CELL * _positive(batch.value(0, "<q"))
    for length, _ in batch.pairs(1):
        yield _CELL * _positive(length)
    for offset, length in batch.pairs(2):
        if not 0 <= offset <= offset + length <= body.size:
            raise DataFormatError("a buffer of the Arrow data lies outside of it")
        expanded = length
        if batch.table(3) is not None and length >= 8:
            (declared,) = struct.unpack("<q", body.slice(offset, 8).to_pybytes())
            expanded = length if declared == -1 else _positive(declared)
        yield expanded


def _positive(length: int) -> int:
    if length < 0:
        raise DataFormatError("the Arrow data declare a negative length")
    return length


def _at(form: str, data: bytes, place: int) -> int:
    if place < 0:
        raise IndexError(place)
    (value,) = struct.unpack_from(form, data, place)
    return int(value)


class _Fields:
    """A FlatBuffers table."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data, self._start = data, start
        self._offsets = start - _at("<i", data, start)

    def _place(self, field: int) -> int | None:
        """Return the position of a field, or None if the table lacks it."""
        entry = 4 + 2 * field
        if entry >= _at("<H", self._data, self._offsets):
            return None
        offset = _at("<H", self._data, self._offsets + entry)
        return self._start + offset if offset else None

    def value(self, field: int, form: str) -> int:
        """Return a number, 0 if it is not stored."""
        place = self._place(field)
        return 0 if place is None else _at(form, self._data, place)

    def table(self, field: int) -> "_Fields | None":
        """Return a nested table, or None."""
        place = self._place(field)
        if place is None:
            return None
        return _Fields(self._data, place + _at("<I", self._data, place))

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """Yield the pairs of integers in a vector of structs."""
        place = self._place(field)
        if place is None:
            return
        start = place + _at("<I", self._data, place)
        for i in range(_at("<I", self._data, start)):
            first = start + 4 + 16 * i
            yield _at("<q", self._data, first), _at("<q", self._data, first + 8)
