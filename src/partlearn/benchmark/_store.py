"""Results on disk: fragments with digests, one writer per folder."""

# SPDX-License-Identifier: BSD-3-Clause

import errno
import hashlib
import io
import json
import math
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy

from partlearn._arguments import argument
from partlearn.benchmark._records import COSTS, Record
from partlearn.io import Budget, DataError, Limits, atomic_write, regular_size

_FRAGMENT = re.compile(r"[0-9a-f]{20}\.(json|npz)")
_FORMAT = "partlearn-fragment/2"
_TABLES = r"(?:results|timings)\.(?:parquet|csv)"
# In any case: some file systems do not tell RUN.JSON from run.json.
_RUN_FILE = re.compile(rf"(?:plan|run|splits)\.json|\.lock|{_TABLES}", re.IGNORECASE)
# Temporary files of a killed run: the name of one of its files, and a mark.
_LEFTOVER = re.compile(
    rf"\.(?:(?:plan|run|splits|report)\.json|report\.html|{_TABLES}|"
    r"[0-9a-f]{20}\.(?:json|npz))\.[0-9a-f]{16}\.tmp"
)
_PARTS = ("jobs", "reductions")
# What reading a damaged fragment raises.
_DAMAGE = (OSError, ValueError, KeyError, EOFError, RecursionError, BadZipFile)
# Another process has the lock. (Windows says so by EACCES or EDEADLK.)
_LOCKED = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
# The file system has no locks; some network file systems do not.
_NO_LOCKS = {
    getattr(errno, name, None)
    for name in ("ENOLCK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL")
}


class BusyError(OSError):
    """Another process writes to the same folder."""


class DamagedStoreError(DataError):
    """A file of a run was changed or damaged."""

    def __init__(self, what: str, *, path: Path) -> None:
        advice = "Run the plan again with the same folder: jobs that this version "
        super().__init__(what, path=path, advice=f"{advice}finished are kept.")


def file_digest(path: Path) -> str:
    """SHA-256 of a file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _text(content: Any) -> bytes:
    return f"{json.dumps(content, indent=1, sort_keys=True)}\n".encode()


def _sealed(content: Mapping[str, Any]) -> bytes:
    """JSON with a digest of its content."""
    digest = hashlib.sha256(_text(content)).hexdigest()
    return _text({**content, "digest": digest})


def _opened(data: bytes) -> dict[str, Any]:
    """Content of JSON from `_sealed`; ValueError if any byte was changed."""
    content = json.loads(data)
    if not isinstance(content, dict):
        raise ValueError("no object")
    digest = content.pop("digest", None)
    if digest is None:
        raise ValueError("without a digest: not written by a run")
    if _sealed(content) != data:
        raise ValueError("its digest does not fit its content")
    return content


def _arrays(data: bytes) -> dict[str, Any]:
    """Arrays of a fragment. They are not compressed, so none exceeds the file."""
    arrays, left = {}, len(data)
    with ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            left -= member.file_size
            if left < 0:
                raise ValueError("its arrays are larger than the file")
            content = io.BytesIO(archive.read(member))
            if npy.read_magic(content) != (1, 0):
                raise ValueError("an array of another version")
            shape, _, dtype = npy.read_array_header_1_0(content)
            if dtype.itemsize * math.prod(shape) > member.file_size:
                raise ValueError("an array is larger than the file")
            content.seek(0)
            array = npy.read_array(content, allow_pickle=False)
            arrays[member.filename.removesuffix(".npy")] = array
    return arrays


def is_run_file(folder: Path, path: Path) -> bool:
    """Whether a path is one of the files that a run is read from.

    Parameters
    ----------
    folder : Path
        Folder of the run.
    path : Path
        Any path.

    Returns
    -------
    bool
        True also for files that do not exist yet.

    Examples
    --------
    >>> from pathlib import Path
    >>> from partlearn.benchmark import is_run_file
    >>> is_run_file(Path("r"), Path("r/run.json")), is_run_file(Path("r"), Path("r/a"))
    (True, False)
    """
    root, path = folder.resolve(), path.resolve()
    if path.parent == root:
        return bool(_RUN_FILE.fullmatch(path.name))
    return any(path.is_relative_to(root / part) for part in _PARTS)


def read_regular(path: Path, limits: Limits | None = None) -> bytes:
    """Read a file of a run; pipes and devices are refused.

    Parameters
    ----------
    path : Path
        The file.
    limits : Limits, default=None
        How large it may be.

    Returns
    -------
    bytes
        Its content.
    """
    size = regular_size(path)
    Budget(limits or Limits(), stored=size).charge(size, "the file")
    return path.read_bytes()


def _try_lock(file: IO[bytes]) -> bool:
    # The system lets go when the file is closed, also by the death of the process.
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _LOCKED:
            return False
        if error.errno not in _NO_LOCKS:
            raise
        warnings.warn(
            "This file system has no locks. Start only one run at a time that writes "
            "to the same folder.",
            UserWarning,
            stacklevel=4,
        )
    return True


class Store:
    """Folder of one run.

    Fragments that are damaged, edited or break the schema count as absent and are
    listed in `damaged`.

    Parameters
    ----------
    folder : str or Path
        Created when something is first kept in it: reading leaves no trace.

    Attributes
    ----------
    damaged : dict of str to str
        Files that were refused, and why.

    Examples
    --------
    >>> import tempfile
    >>> from partlearn.benchmark import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder)
    ...     store.write_json("note.json", {"text": "kept"})
    ...     store.read_json("note.json")
    {'text': 'kept'}
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.damaged: dict[str, str] = {}

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the folder, and remove temporary files of a killed run."""
        if self.folder.is_symlink() and not self.folder.exists():
            raise FileNotFoundError(
                f"{self.folder} is a link to nothing; name a folder with "
                f"{argument('folder')}."
            )
        if self.folder.is_file():
            raise NotADirectoryError(
                f"{self.folder} is a file; name a folder with {argument('folder')}."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in (*_PARTS, ".lock"):
            path = self.folder / name
            kind = "a regular file" if name == ".lock" else "a folder"
            sound = path.is_file() if name == ".lock" else path.is_dir()
            if path.is_symlink() or (path.exists() and not sound):
                found = "a link" if path.is_symlink() else f"not {kind}"
                raise OSError(
                    f"{path} is {found}; a run needs {kind} there. Remove it, or "
                    f"choose another folder with {argument('folder')}."
                )
        # The lock file is not removed: a second run could lock a new one.
        with (self.folder / ".lock").open("a+b") as file:
            if not _try_lock(file):
                raise BusyError(
                    f"another run is writing to {self.folder}; wait for it to end, or "
                    f"choose another folder with {argument('folder')}."
                )
            for part in (".", *_PARTS):
                for leftover in (self.folder / part).glob(".*.tmp"):
                    if _LEFTOVER.fullmatch(leftover.name) and leftover.is_file():
                        leftover.unlink(missing_ok=True)
            yield

    def forget(self) -> None:
        """Remove finished jobs and reductions, and no other files."""
        for part in _PARTS:
            if (self.folder / part).is_symlink():
                continue
            for path in (self.folder / part).glob("*"):
                if _FRAGMENT.fullmatch(path.name) and not path.is_dir():
                    path.unlink()

    def outcome(self, name: str) -> tuple[Any, ...] | None:
        """Return the reproducible part of a record: all but seconds and bytes.

        Arrays are represented by their digest.
        """
        fragment = self._get(name)
        if fragment is None:
            return None
        record, digest = fragment
        values = tuple(value for value in record.values if value[0] not in COSTS)
        return replace(record, values=values), digest

    def get(self, name: str, *, arrays: bool = True) -> Record | None:
        """Record of a finished job or reduction with its arrays, or None."""
        fragment = self._get(name)
        if fragment is None:
            return None
        record, digest = fragment
        if not arrays or digest is None:
            return record
        with self._noting_damage(f"{name}.npz") as path:
            data = read_regular(path)
            if hashlib.sha256(data).hexdigest() != digest:
                raise ValueError("its digest is not the one that was kept")
            return replace(record, arrays=_arrays(data))
        return None

    def put(self, name: str, record: Record) -> None:
        """Store a record, after its arrays."""
        digest = None
        if record.arrays:
            buffer = io.BytesIO()
            arrays: dict[str, Any] = dict(record.arrays)
            np.savez(buffer, **arrays)
            digest = hashlib.sha256(buffer.getbuffer()).hexdigest()
            with atomic_write(self.folder / f"{name}.npz") as file:
                file.write(buffer.getbuffer())
        about = {"format": _FORMAT, "name": name, "arrays": digest}
        self.write_json(f"{name}.json", {**about, "record": record.to_json()})

    def _get(self, name: str) -> tuple[Record, str | None] | None:
        with self._noting_damage(f"{name}.json") as path:
            content = _opened(read_regular(path))
            if (content["format"], content["name"]) != (_FORMAT, name):
                raise ValueError("a fragment of another format or job")
            return Record.from_json(content["record"]), content["arrays"]
        return None

    @contextmanager
    def _noting_damage(self, name: str) -> Iterator[Path]:
        """Yield the path of a file, and note in `damaged` why it cannot be read."""
        try:
            yield self.folder / name
        except (FileNotFoundError, NotADirectoryError):
            pass
        except DataError as error:
            self.damaged[name] = error.what
        except _DAMAGE as error:
            self.damaged[name] = str(error)

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write ``folder/name`` with its digest."""
        data = _sealed(content)
        with atomic_write(self.folder / name) as file:
            file.write(data)

    def read_json(self, name: str) -> Any:
        """Read ``folder/name``, or None when it is not there.

        Raises
        ------
        DamagedStoreError
            If the file was changed.
        """
        try:
            return _opened(read_regular(self.folder / name))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except DataError as error:
            raise DamagedStoreError(error.what, path=self.folder / name) from None
        except (ValueError, RecursionError) as error:
            raise DamagedStoreError(str(error), path=self.folder / name) from None
