"""Estimate memory, and raise before an allocation fails."""

# SPDX-License-Identifier: BSD-3-Clause

import os
import re
from pathlib import Path

GIB = 2**30
# Where Linux says how much memory there is, in units of so many bytes: free in all,
# and what a container may have by the second or the first version of its limits.
_SOURCES = (
    ("/proc/meminfo", r"MemAvailable:\s*(\d+)", 1024),
    ("/sys/fs/cgroup/memory.max", r"(\d+)", 1),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", r"(\d+)", 1),
)


def available_memory() -> int | None:
    """Return the available memory in bytes, or None if it is not known."""
    known = []
    for path, pattern, unit in _SOURCES:
        try:
            number = re.search(pattern, Path(path).read_text(encoding="ascii"))
        except OSError:
            continue
        if number is not None:
            known.append(int(number[1]) * unit)
    if known:
        return min(known)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def too_large(needed: int, limit: float) -> str | None:
    """Return the bound that `needed` bytes exceed, or None.

    Parameters
    ----------
    needed : int
        Bytes to allocate.
    limit : float
        Bound of the caller in GiB.

    Returns
    -------
    reason : str or None
        The bound that is exceeded, in words.
    """
    if needed > limit * GIB:
        return f"memory_limit={limit:g} GiB"
    available = available_memory()
    if available is not None and needed > available:
        return f"the {available / GIB:.1f} GiB that this machine has free"
    return None


def memory_error(rows: int, itemsize: int, reason: str) -> MemoryError:
    """Return the error for a kernel matrix that does not fit, with a remedy."""
    needed = rows**2 * itemsize / GIB
    advice = "pass float32 features, which halve it, " if itemsize == 8 else ""
    return MemoryError(
        f"The exact kernel of {rows} rows needs {needed:.1f} GiB ({itemsize} bytes x "
        f"rows^2), more than {reason}. Set n_landmarks (for example 2000) for the "
        f"Nystroem approximation, {advice}or raise memory_limit if the machine has "
        "the memory."
    )
