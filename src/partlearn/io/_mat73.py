"""MATLAB files of version 7.3 and other HDF5 files, read within limits.

Only what the file itself holds is read: links to other files, external storage and
virtual data sets are refused, so that no name in a file is ever used as a path.
"""

# SPDX-License-Identifier: BSD-3-Clause

import math
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._extras import import_optional
from partlearn.io._errors import DataFormatError, damage
from partlearn.io._matrix import compressed, read_matrix
from partlearn.io._options import Budget

_PER_OBJECT = 512


class _Reader:
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
        kind = _text(item.attrs.get("MATLAB_class", b""))
        if item.attrs.get("MATLAB_empty"):
            return np.empty((0, 0))
        if self.h5py.check_ref_dtype(item.dtype) is not None:
            return self.cells(item, name, depth)
        if self.h5py.check_string_dtype(item.dtype) is not None:
            raw = self.raw(item, where).ravel().tolist()
            return [_text(line) for line in raw]
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
        if _text(item.attrs.get("MATLAB_class", b"")) == "logical":
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


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def read_hdf5(path: Path, budget: Budget) -> dict[str, Any]:
    """Read all variables, with the same types as from older MATLAB files."""
    h5py = import_optional("h5py", "MATLAB files of version 7.3")
    # The HDF5 library reports damage through many exception types.
    with damage("the HDF5 content is damaged"), h5py.File(path, "r") as file:
        return _Reader(file, h5py, budget).group(file, 0)
