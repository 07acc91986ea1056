"""One writer per folder: a lock that ends with its process, however it ends."""

# SPDX-License-Identifier: BSD-3-Clause

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["BusyError", "locked"]


class BusyError(OSError):
    """Another process writes to the same folder."""


@contextmanager
def locked(path: Path, folder: Path) -> Iterator[None]:
    """Hold a lock file while in the context.

    Parameters
    ----------
    path : Path
        The lock file; it stays, since removing it would let two in.
    folder : Path
        What is locked, for the message.

    Yields
    ------
    None
        While nobody else holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if not _try_lock(file):
            raise BusyError(
                f"another run is writing to {folder}; wait for it to end, or choose "
                "another folder with --out."
            )
        yield


def _try_lock(file: IO[bytes]) -> bool:
    # The system lets go when the file is closed, also by the death of the process.
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
