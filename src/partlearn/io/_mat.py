"""MATLAB files of versions 5 to 7.3 and other HDF5 files, read within limits.

``scipy.io.loadmat`` believes the sizes that a file declares, decompresses variables
whole and, on damaged files, raises whatever the broken bytes lead to. This reader
checks each size against the bytes that are there before it allocates, and expands
compressed matrices block by block, so that a mostly zero matrix never exists dense.

Of HDF5 only what the file itself holds is read: links to other files, external storage
and virtual data sets are refused, so that no name in a file is ever used as a path.

Format: "MAT-File Format", The MathWorks.
"""

# SPDX-License-Identifier: BSD-3-Clause

import math
import struct
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._extras import import_optional
from partlearn.io._bunch import BLOCK_BYTES, compressed, read_matrix
from partlearn.io._errors import DataFormatError, damage
from partlearn.io._options import Budget

_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_TYPES |= {12: "i8", 13: "u8", 16: "u1", 17: "u2", 18: "u4"}
_TEXT = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
_MATRIX, _COMPRESSED = 14, 15
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE = 1, 2, 3, 4, 5
_NUMERIC = range(6, 16)
_PER_OBJECT = 512  # rough cost in memory of one cell or field


class _Stream:
    """Bounded stream over the bytes of one element, plain or compressed."""

    def __init__(self, file: BinaryIO, length: int, compressed: bool) -> None:
        self.file, self.stored = file, length
        self.unread = length
        self.position = 0  # bytes handed out so far
        self.inflate = zlib.decompressobj() if compressed else None
        self.tail = b""

    def read(self, n: int) -> bytes:
        self.position += n
        if self.inflate is None:
            return self._plain(n)
        out = bytearray()
        while len(out) < n:
            if not self.tail and not self.inflate.eof:
                self.tail = self._plain(min(self.unread, BLOCK_BYTES), exact=False)
            piece = self.inflate.decompress(self.tail, n - len(out))
            starved = not self.tail
            self.tail = self.inflate.unconsumed_tail
            out += piece
            if not piece and (starved or self.inflate.eof):
                raise DataFormatError("the compressed data end too early")
        return bytes(out)

    def _plain(self, n: int, exact: bool = True) -> bytes:
        if n > self.unread:
            raise DataFormatError("an element is longer than what contains it")
        data = self.file.read(n)
        if exact and len(data) < n:
            raise DataFormatError("the file ends too early")
        self.unread -= n
        return data

    def skip(self, n: int) -> None:
        while n > 0:
            n -= len(self.read(min(n, BLOCK_BYTES)))

    def finish(self) -> None:
        """Read to the end of compressed data, which verifies the checksum."""
        spare = 64
        while self.inflate is not None and not self.inflate.eof:
            data = self.tail or self._plain(min(self.unread, BLOCK_BYTES), exact=False)
            spare -= len(self.inflate.decompress(data, spare))
            self.tail = self.inflate.unconsumed_tail
            if spare <= 0 or not data:
                raise DataFormatError("the compressed data do not end as they should")

    @property
    def capacity(self) -> int:
        """Upper bound on the bytes left."""
        return self.unread if self.inflate is None else 2**63


class _Reader:
    def __init__(self, stream: _Stream, order: str, budget: Budget) -> None:
        self.stream, self.order, self.budget = stream, order, budget

    def tag(self) -> tuple[int, int, bytes | None]:
        """Return type, length and, for small elements, the content of a tag."""
        head = self.stream.read(8)
        kind, length = struct.unpack(self.order + "II", head)
        if kind >> 16:  # small element: the length shares the word of the type
            length, kind = kind >> 16, kind & 0xFFFF
            if length > 4:
                raise DataFormatError("a small element is longer than four bytes")
            return kind, length, head[4 : 4 + length]
        return kind, length, None

    def content(self, limit: int, what: str) -> tuple[int, bytes]:
        """Return a small element such as the dimensions or the name."""
        kind, length, data = self.tag()
        if data is None:
            if length > limit:
                raise DataFormatError(f"{what} of {length:,} bytes is too long")
            data = self.stream.read(length)
            self.stream.skip(-length % 8)
        return kind, data

    def dtype(self, kind: int, what: str) -> np.dtype[Any]:
        if kind not in _TYPES:
            raise DataFormatError(f"{what} has the unknown data type {kind}")
        return np.dtype(self.order + _TYPES[kind])

    def element(self, depth: int) -> tuple[str, Any]:
        """Read one variable, cell or field including its tag."""
        kind, length, _ = self.tag()
        if kind != _MATRIX:
            raise DataFormatError(f"expected a variable, found an element {kind}")
        return self.matrix(length, depth)

    def matrix(self, length: int, depth: int) -> tuple[str, Any]:
        """Read one variable, cell or field; return its name and value."""
        if length == 0:
            return "", np.empty((0, 0))
        self.budget.check_depth(depth)
        if length > self.stream.capacity:
            raise DataFormatError("a variable is longer than the file")
        end = self.stream.position + length
        name, value = self.matrix_content(depth)
        if self.stream.position > end:
            raise DataFormatError("the parts of a variable are longer than the whole")
        if value is None or depth:  # the outermost length is followed by a seek
            self.budget.charge(end - self.stream.position, "a skipped element")
            self.stream.skip(end - self.stream.position)
        return name, value

    def matrix_content(self, depth: int) -> tuple[str, Any]:
        flags = self.vector("array flags", 16)
        if len(flags) != 2:
            raise DataFormatError("the array flags are damaged")
        word = int(flags[0])
        mclass, logical, is_complex = word & 0xFF, bool(word & 0x200), word & 0x800
        if mclass not in range(_CELL, 16):
            # Function handles and new-style objects hold no data for us.
            return "", None
        dims = tuple(int(n) for n in self.vector("dimensions", 256))
        if len(dims) < 2 or any(n < 0 for n in dims):
            raise DataFormatError(f"impossible dimensions {dims}")
        name = self.content(4096, "name")[1].decode("latin-1")
        where = f"variable {name!r}" if name else "a cell or field"
        if is_complex:
            raise DataFormatError(f"{where} holds complex numbers")
        if mclass == _CHAR:
            return name, self.text(dims, where)
        if mclass == _SPARSE:
            return name, self.sparse(dims, logical, where)
        if mclass in _NUMERIC:
            return name, self.array(dims, logical, where)
        return name, self.children(mclass, dims, depth, where)

    def count(self, dims: tuple[int, ...], cost: int, where: str) -> int:
        total = math.prod(dims)
        self.budget.charge(total * cost, where)
        return total

    def children(
        self, mclass: int, dims: tuple[int, ...], depth: int, where: str
    ) -> Any:
        if mclass == _OBJECT:
            self.content(4096, "class name")
        if mclass == _CELL:
            total = self.count(dims, _PER_OBJECT, where)
            return [self.element(depth + 1)[1] for _ in range(total)]
        width = self.vector("length of field names", 8)
        if len(width) != 1 or not 1 <= width[0] <= 4096:
            raise DataFormatError(f"{where} has damaged field names")
        names = self.content(2**20, "field names")[1]
        step = int(width[0])
        fields = [
            names[i : i + step].split(b"\0")[0].decode("latin-1")
            for i in range(0, len(names), step)
        ]
        total = self.count(dims, max(1, len(fields)) * _PER_OBJECT, where)
        structs = [
            {name: self.element(depth + 1)[1] for name in fields} for _ in range(total)
        ]
        return structs[0] if len(structs) == 1 else structs

    def text(self, dims: tuple[int, ...], where: str) -> list[str] | str:
        size = self.count(dims, 4, where)
        kind, data = self.content(max(8, 4 * size), where)
        if kind in _TEXT:
            code = _TEXT[kind]
            if kind != 16:
                code += "-le" if self.order == "<" else "-be"
            characters = data.decode(code, "replace")
        else:
            dtype = self.dtype(kind, where)
            data = data[: len(data) - len(data) % dtype.itemsize]
            codes = np.frombuffer(data, dtype=dtype)
            characters = "".join(
                chr(int(c)) if 0 <= c < 0x110000 else "?" for c in codes
            )
        rows = dims[0]
        if rows <= 1:
            return characters
        self.budget.charge(rows * _PER_OBJECT, where)  # there may be many empty lines
        return [characters[i::rows].rstrip("\0 ") for i in range(rows)]

    def data(self, total: int | None, where: str) -> tuple[np.dtype[Any], int, Any]:
        """Return the tag of a data element, checked against shape and limits."""
        kind, length, small = self.tag()
        dtype = self.dtype(kind, where)
        if length % dtype.itemsize or (
            total is not None and length != total * dtype.itemsize
        ):
            raise DataFormatError(
                f"{where} has {length:,} bytes of data, which do not fit its shape"
            )
        if small is None and length > self.stream.capacity:
            raise DataFormatError(f"{where} is longer than the file")
        self.budget.plausible(length, self.stream.stored, where)
        self.budget.charge(length, where)
        return dtype, length, small

    def vector(self, where: str, limit: int | None = None) -> NDArray[Any]:
        dtype, length, small = self.data(None, where)
        if limit is not None and length > limit:
            raise DataFormatError(f"{where} of {length:,} bytes are too long")
        if small is None:
            small = self.stream.read(length)
            self.stream.skip(-length % 8)
        return np.frombuffer(small, dtype=dtype).astype(dtype.newbyteorder("="))

    def array(self, dims: tuple[int, ...], logical: bool, where: str) -> Any:
        total = math.prod(dims)
        dtype, length, small = self.data(total, where)
        native = np.dtype(bool) if logical else dtype.newbyteorder("=")
        if not total:
            return np.empty(dims, dtype=native)
        rows = dims[0]

        def load(part: slice) -> NDArray[Any]:
            size = (part.stop - part.start) * rows * dtype.itemsize
            raw = self.stream.read(size) if small is None else small
            block = np.frombuffer(raw, dtype=dtype).reshape(-1, rows)
            return block != 0 if logical else block

        matrix = read_matrix(load, total // rows, rows, native).T
        if small is None:
            self.stream.skip(-length % 8)
        if len(dims) == 2:
            return matrix
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        return dense.reshape(dims, order="F")

    def sparse(self, dims: tuple[int, ...], logical: bool, where: str) -> Any:
        if len(dims) != 2:
            raise DataFormatError(f"{where} is sparse but not a matrix")
        index, pointer = self.vector(where), self.vector(where)
        values = self.vector(where)
        values = values != 0 if logical else values
        shape = (dims[0], dims[1])
        return compressed(sp.csc_array, values, index, pointer, shape, where)


def read_mat5(file: BinaryIO, budget: Budget) -> dict[str, Any]:
    """Read all variables of an open file.

    Numeric matrices come as ndarray or, when mostly zero, CSC; sparse ones as CSC;
    text as str or list of str; cells as lists; structs as dicts; anything else is
    left out. Values keep the type they are stored in.
    """
    head = file.read(128)
    if len(head) < 128:
        raise DataFormatError("the file is shorter than a MATLAB header")
    if head[126:128] not in (b"IM", b"MI"):
        raise DataFormatError(
            "this is not a MATLAB file of version 5 to 7.3",
            advice='Files of version 4 can be saved again with save(..., "-v7").',
        )
    order = "<" if head[126:128] == b"IM" else ">"
    left = budget.stored - 128
    variables: dict[str, Any] = {}
    while left > 0:
        tag = file.read(8)
        if len(tag) < 8:
            if tag.strip(b"\0"):
                raise DataFormatError("the file ends inside a tag")
            break
        kind, length = struct.unpack(order + "II", tag)
        left -= 8
        if length > left:
            raise DataFormatError(
                f"a variable declares {length:,} bytes, {left:,} are left in the file"
            )
        budget.charge(_PER_OBJECT, "a variable")
        after = file.tell() + length
        if kind in (_MATRIX, _COMPRESSED):
            reader = _Reader(_Stream(file, length, kind == _COMPRESSED), order, budget)
            try:
                if kind == _COMPRESSED:
                    name, value = reader.element(0)
                    reader.stream.finish()
                else:
                    name, value = reader.matrix(length, 0)
            except zlib.error as error:
                raise DataFormatError("compressed data are damaged") from error
            if name and value is not None:
                variables[name] = value
        file.seek(after)
        left -= length
    return variables


class _HdfReader:
    def __init__(self, file: Any, h5py: Any, budget: Budget) -> None:
        self.file, self.h5py, self.budget = file, h5py, budget

    def group(self, group: Any, depth: int) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name in group:
            if name.startswith("#"):  # MATLAB's own: #refs#, #subsystem#
                continue
            self.budget.charge(_PER_OBJECT, "a variable")
            link = group.get(name, getlink=True)
            if not isinstance(link, self.h5py.HardLink):
                raise DataFormatError(f"variable {name!r} is a link, and not followed")
            value = self.value(group[name], name, depth)
            if value is not None:
                out[name] = value
        return out

    def value(self, item: Any, name: str, depth: int) -> Any:
        self.budget.check_depth(depth)
        where = f"variable {name!r}"
        if isinstance(item, self.h5py.Group):
            if "MATLAB_sparse" in item.attrs:
                return self.sparse(item, where)
            return self.group(item, depth + 1)
        if not isinstance(item, self.h5py.Dataset):
            return None
        kind = _decoded(item.attrs.get("MATLAB_class", b""))
        if item.attrs.get("MATLAB_empty"):
            return np.empty((0, 0))
        if self.h5py.check_ref_dtype(item.dtype) is not None:
            return self.cells(item, name, depth)
        if self.h5py.check_string_dtype(item.dtype) is not None:
            raw = self.raw(item, where).ravel().tolist()
            return [_decoded(line) for line in raw]
        if kind == "char":
            codes = np.atleast_2d(self.raw(item, where))
            lines = ["".join(map(chr, line)).rstrip("\0 ") for line in codes.T.tolist()]
            return lines[0] if len(lines) == 1 else lines
        if item.dtype.kind not in "biuf" or item.dtype.fields is not None:
            return None
        return self.array(item, kind, where)

    def inspect(self, item: Any, where: str) -> int:
        """Charge a data set; raise if its values are stored outside the file."""
        if item.external is not None or item.is_virtual:
            raise DataFormatError(f"{where} keeps its values in another file")
        if item.shape is None:
            raise DataFormatError(f"{where} has no shape")
        size = item.dtype.itemsize * math.prod(map(int, item.shape))
        stored = min(self.budget.stored, int(item.id.get_storage_size()))
        self.budget.plausible(size, stored, where)
        if item.chunks is not None:
            block = item.dtype.itemsize * math.prod(map(int, item.chunks))
            self.budget.plausible(block, self.budget.stored, f"a chunk of {where}")
        self.budget.charge(size, where)
        return size

    def raw(self, item: Any, where: str) -> NDArray[Any]:
        self.inspect(item, where)
        return np.asarray(item[()])

    def cells(self, item: Any, name: str, depth: int) -> Any:
        references = self.raw(item, f"variable {name!r}").T.ravel(order="F")
        self.budget.charge(_PER_OBJECT * len(references), f"variable {name!r}")
        return [
            self.value(self.file[reference], name, depth + 1)
            for reference in references
            if reference
        ]

    def sparse(self, item: Any, where: str) -> Any:
        rows = int(item.attrs["MATLAB_sparse"])
        pointer = self.raw(item["jc"], where).ravel()
        if "ir" in item and "data" in item:
            index = self.raw(item["ir"], where).ravel()
            values = self.raw(item["data"], where).ravel()
        else:  # MATLAB leaves them out when nothing is stored
            index, values = np.empty(0, dtype=np.int32), np.empty(0)
        if _decoded(item.attrs.get("MATLAB_class", b"")) == "logical":
            values = values != 0
        shape = (rows, len(pointer) - 1)
        return compressed(sp.csc_array, values, index, pointer, shape, where)

    def array(self, item: Any, kind: str, where: str) -> Any:
        """Return a matrix; MATLAB stores columns where HDF5 has rows."""
        size = self.inspect(item, where)
        matlab = bool(kind)
        if item.ndim != 2 or not size:
            value = np.asarray(item[()])
            return value.T if matlab else value
        logical = kind == "logical"
        native = np.dtype(bool) if logical else item.dtype.newbyteorder("=")

        def load(part: slice) -> NDArray[Any]:
            block = np.asarray(item[part])
            return block != 0 if logical else block

        lines, length = item.shape
        lines_at_once = item.chunks[0] if item.chunks else 1  # none is read twice
        matrix = read_matrix(load, lines, length, native, multiple=lines_at_once)
        return matrix.T if matlab else matrix


def _decoded(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def read_hdf5(path: Path, budget: Budget) -> dict[str, Any]:
    """Read all variables, with the same types as from older MATLAB files."""
    h5py = import_optional("h5py", "MATLAB files of version 7.3")
    # The HDF5 library reports damage through many exception types.
    with damage("the HDF5 content is damaged"), h5py.File(path, "r") as file:
        return _HdfReader(file, h5py, budget).group(file, 0)
