"""Whole files only: written beside their place, then renamed."""

# SPDX-License-Identifier: BSD-3-Clause

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["atomic_write"]

# The disk, the quota of the user, or what a process may write.
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when it is complete.

    Parameters
    ----------
    path : path-like
        The file to write; its folder is made. An older file stays as it was until the
        new one is complete, and for good if anything is raised before.

    Yields
    ------
    file : binary file
        What to write to.

    Raises
    ------
    OSError
        When there is no space left, with the file's name and what to do, or when it
        cannot be written for another reason.

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
            f"no space left for {path} ({error.strerror}). What was there before is "
            "unchanged: free some space, and run the same command again."
        )
        full.errno = error.errno
        raise full from None
    finally:
        temporary.unlink(missing_ok=True)
