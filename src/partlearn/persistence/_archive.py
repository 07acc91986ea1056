"""Zip archive of a model, with fixed names and checked sizes."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partlearn._sizes import SIZES
from partlearn.io import Budget, DataFormatError, DataLimitError, Limits, regular_size

STRUCTURE = "model.json"
# Python needs up to this many bytes for one byte of JSON: an empty list and its place
# in another, once as it is read and once as it is built.
JSON_COST = 64
_MEMBER = re.compile(r"arrays/(0|[1-9][0-9]{0,6})", re.ASCII)
_BLOCK = 2**20
_PROBE = 1 << 16  # bytes of an array that show whether it can be compressed
_STAMP = (1980, 1, 1, 0, 0, 0)  # the same model gives the same file
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,  # an offset outside of the file
    RuntimeError,
    OverflowError,
    KeyError,
    ValueError,
)


def write_archive(
    file: BinaryIO, document: Any, arrays: Sequence[NDArray[Any]]
) -> None:
    """Write the structure and the arrays it refers to."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    with zipfile.ZipFile(file, "w") as archive:
        _write_member(archive, STRUCTURE, [text.encode("ascii")], zipfile.ZIP_DEFLATED)
        for i, array in enumerate(arrays):
            fortran = array.flags.f_contiguous and not array.flags.c_contiguous
            flat = (array.T if fortran else array).ravel()  # no copy if contiguous
            flat = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
            step = max(1, _BLOCK // max(1, flat.itemsize))
            blocks = (flat[k : k + step].tobytes() for k in range(0, flat.size, step))
            _write_member(archive, f"arrays/{i}", blocks, _method(flat))


def _method(flat: NDArray[Any]) -> int:
    """Compress an array only if a sample of it becomes much smaller."""
    start = flat[: _PROBE // max(1, flat.itemsize)].tobytes()
    packs = len(zlib.compress(start, 1)) < 0.9 * len(start)
    return zipfile.ZIP_DEFLATED if packs else zipfile.ZIP_STORED


def _write_member(
    archive: zipfile.ZipFile, name: str, blocks: Any, method: int
) -> None:
    info = zipfile.ZipInfo(name, _STAMP)
    info.compress_type = method
    with archive.open(info, "w", force_zip64=True) as member:
        for block in blocks:
            member.write(block)


class Archive:
    """A model file whose members were checked, but not read."""

    def __init__(self, archive: zipfile.ZipFile, budget: Budget) -> None:
        self.budget = budget
        self._archive = archive
        self._arrays: dict[int, zipfile.ZipInfo] = {}
        infos = archive.infolist()
        if len(infos) > SIZES.archive_members:
            raise DataLimitError(
                f"the file has {len(infos):,} members; at most "
                f"{SIZES.archive_members:,} are read"
            )
        names = [info.filename for info in infos]
        if len(set(names)) < len(names):
            raise DataFormatError("two members of the file have the same name")
        if STRUCTURE not in names:
            raise DataFormatError(f"not a model saved by partlearn: no {STRUCTURE}")
        for info in infos:
            self._look_at(info)

    def _look_at(self, info: zipfile.ZipInfo) -> None:
        name = info.filename
        match = _MEMBER.fullmatch(name)
        if name != STRUCTURE and match is None:
            raise DataFormatError(f"a model file has no member {name[:60]!r}")
        if info.flag_bits & 0x1:
            raise DataFormatError(f"{name} is encrypted")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataFormatError(f"{name} is compressed in a way that is not read")
        self.budget.plausible(info.file_size, info.compress_size, name)
        cost = JSON_COST if match is None else 1
        self.budget.charge(cost * info.file_size, name)
        if match is None:
            self._structure = info
        else:
            self._arrays[int(match[1])] = info

    def structure(self) -> Any:
        """Parse the JSON; duplicate keys, NaN and deep nesting raise an error."""
        size = self._structure.file_size
        with _reading(STRUCTURE), self._archive.open(self._structure) as member:
            content = member.read(size + 1)
        if len(content) != size:
            raise DataFormatError(f"{STRUCTURE} is not as long as it declares")
        try:
            return json.loads(
                content.decode("utf-8"),
                object_pairs_hook=_unique,
                parse_constant=_no_constant,
            )
        except RecursionError:
            raise DataFormatError(f"{STRUCTURE} is nested too deeply") from None
        except DataFormatError:
            raise
        except ValueError as error:
            raise DataFormatError(f"{STRUCTURE} is not JSON: {error}") from None

    def sizes(self) -> dict[int, int]:
        """Return the declared bytes of each array."""
        return {i: info.file_size for i, info in self._arrays.items()}

    def array(self, i: int, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
        """Read one array, after its size was compared with the declared one."""
        info = self._arrays[i]
        flat = np.zeros(count, dtype)
        view = flat.view(np.uint8) if flat.nbytes else np.empty(0, np.uint8)
        done = 0
        with _reading(info.filename), self._archive.open(info) as member:
            while block := member.read(_BLOCK):
                view[done : done + len(block)] = np.frombuffer(block, np.uint8)
                done += len(block)
        if done != flat.nbytes:
            raise DataFormatError(f"{info.filename} is shorter than it declares")
        return flat


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise DataFormatError(f"an object of {STRUCTURE} has the same key twice")
    return mapping


def _no_constant(text: str) -> float:
    raise DataFormatError(f"{STRUCTURE} holds {text}, which is not JSON")


@contextmanager
def _reading(what: str) -> Iterator[None]:
    try:
        yield
    except DataFormatError:
        raise
    except _DAMAGE as error:
        raise DataFormatError(f"{what} is damaged: {error}") from None


@contextmanager
def open_archive(path: Path, limits: Limits) -> Iterator[Archive]:
    """Open a model file, which must be a regular file."""
    try:
        budget = Budget(limits, stored=regular_size(path))
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such model file") from None
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise DataFormatError(
                f"not a model saved by partlearn, or damaged: {error}"
            ) from None
        with archive:
            yield Archive(archive, budget)
