"""NumPy archives, read without pickle and within limits."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import math
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy
from numpy.typing import NDArray

from partlearn._sizes import SIZES
from partlearn.io._errors import DataFormatError, damage
from partlearn.io._matrix import compressed, read_matrix
from partlearn.io._options import Budget

_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # those of NumPy


def read_npz(path: Path, budget: Budget) -> dict[str, Any]:
    """Read all arrays: ndarray, or CSR when mostly zero; text stays text."""
    out: dict[str, Any] = {}
    with damage("the archive is damaged"), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > SIZES.npz_members:
            raise DataFormatError(f"{len(members):,} arrays are too many")
        for member in members:
            name = member.filename.removesuffix(".npy")
            where = f"array {name!r}"
            if member.compress_type not in _COMPRESSIONS:
                raise DataFormatError(f"{where} uses an unknown compression")
            stored = min(member.compress_size, budget.stored)
            budget.plausible(member.file_size, stored, where)
            budget.charge(member.file_size, where)
            with archive.open(member) as stream:
                out[name] = _array(stream, member.file_size, where)  # type: ignore[arg-type]
    return out


def read_npy(path: Path, budget: Budget) -> Any:
    """Read an npy file: ndarray, or CSR when mostly zero; text stays text."""
    budget.charge(budget.stored, "array")
    with damage("the array is damaged"), path.open("rb") as stream:
        return _array(stream, budget.stored, "array")


def _array(stream: BinaryIO, size: int, where: str) -> Any:
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, fortran, dtype = npy.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, fortran, dtype = npy.read_array_header_2_0(stream)
    else:
        raise DataFormatError(f"{where} has the unknown version {version}")
    if dtype.hasobject:
        raise DataFormatError(
            f"{where} holds Python objects, which only pickle can read",
            advice="Objects are never loaded; save plain numbers or text instead.",
        )
    if dtype.kind not in "biufUS" or not dtype.itemsize:
        raise DataFormatError(f"{where} has the type {dtype}, which is not data")
    if any(n < 0 for n in shape):
        raise DataFormatError(f"{where} has a negative dimension")
    total = dtype.itemsize * math.prod(shape)
    if total > size:
        raise DataFormatError(f"{where} declares {total:,} bytes, and holds {size:,}")
    native = dtype.newbyteorder("=")
    if dtype.kind in "US" or len(shape) != 2 or not total:
        data = np.frombuffer(_exactly(stream, total, where), dtype=dtype)
        array = data.astype(native).reshape(shape, order="F" if fortran else "C")
        _drain(stream, where)
        return _as_text(array, where) if dtype.kind in "US" else array
    lines, length = shape[::-1] if fortran else shape

    def load(part: slice) -> NDArray[Any]:
        size = (part.stop - part.start) * length * dtype.itemsize
        block = np.frombuffer(_exactly(stream, size, where), dtype=dtype)
        return block.reshape(-1, length)

    matrix = read_matrix(load, lines, length, native)
    _drain(stream, where)
    return matrix.T if fortran else matrix


def _exactly(stream: BinaryIO, n: int, where: str) -> bytes:
    data = stream.read(n)
    if len(data) < n:
        raise DataFormatError(f"{where} ends too early")
    return data


def _drain(stream: BinaryIO, where: str) -> None:
    """Read to the end of a member, where zipfile verifies the checksum."""
    if stream.read(1):
        raise DataFormatError(f"{where} is longer than its shape")


def _as_text(array: NDArray[Any], where: str) -> str | list[str]:
    if array.dtype.kind == "U" and array.size:
        codes = np.ascontiguousarray(array.reshape(-1)).view(np.uint32)
        if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any():
            raise DataFormatError(f"{where} holds numbers that are not characters")
    lines = [
        line.decode("utf-8", "replace") if isinstance(line, bytes) else str(line)
        for line in array.ravel().tolist()
    ]
    return lines[0] if array.ndim == 0 else lines


def csr_parts(arrays: dict[str, Any]) -> dict[str, Any]:
    """Join ``X_data, X_indices, X_indptr, X_shape`` into one sparse ``X``."""
    keys = ["X_data", "X_indices", "X_indptr", "X_shape"]
    if not all(key in arrays for key in keys):
        return arrays
    out = {key: value for key, value in arrays.items() if key not in keys}
    values, index, pointer, shape = (_vector(arrays[key], key) for key in keys)
    whole = len(shape) == 2 and shape.dtype.kind in "iu"
    if not whole or (shape < 0).any() or (shape >= 2**31).any():
        raise DataFormatError("X_shape must be two numbers of rows and columns")
    m, d = (int(n) for n in shape)
    out["X"] = compressed(sp.csr_array, values, index, pointer, (m, d), "X")
    return out


def _vector(value: Any, key: str) -> NDArray[Any]:
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise DataFormatError(f"{key} must be a vector of numbers")
    return value


def parse_meta(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the content of ``meta``, JSON text, or an empty dict."""
    text = arrays.get("meta")
    if not isinstance(text, str):
        return {}
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataFormatError("the meta text is not JSON", where="meta") from error
    return meta if isinstance(meta, dict) else {}
