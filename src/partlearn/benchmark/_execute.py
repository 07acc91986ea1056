"""Run one job with capped threads and limits; exceptions become failed records."""

# SPDX-License-Identifier: BSD-3-Clause

import re
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from threadpoolctl import ThreadpoolController

from partlearn.benchmark._isolated import ChildDiedError, IsolatedProcess
from partlearn.benchmark._plan import Plan
from partlearn.benchmark._records import Record


class _Local(threading.local):
    """The child process of each thread."""

    def __init__(self) -> None:
        self.child = IsolatedProcess()


_local = _Local()


def highest_size(*, reset: bool = False) -> float | None:
    """Highest resident size of this process since the last reset.

    Parameters
    ----------
    reset : bool, default=False
        Count anew from the present size.

    Returns
    -------
    float or None
        Megabytes; None where the system does not say (Linux does).
    """
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return None
    kilobytes = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(kilobytes[1]) / 2**10 if kilobytes else None


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Find the thread pools of this process, anew when modules were imported.

    The search can take longer than a job.
    """
    return ThreadpoolController()


def guard(threads: int, work: Callable[..., Record], *args: Any) -> Record:
    """Call ``work(*args)`` with capped threads; an exception becomes a failed record.

    Parameters
    ----------
    threads : int
        Threads of the numerical libraries.
    work : callable
        Returns a record.
    *args : object
        Its arguments.

    Returns
    -------
    Record
        With warnings and peak memory.
    """
    with (
        warnings.catch_warnings(record=True) as caught,
        _controller(len(sys.modules)).limit(limits=threads),
    ):
        warnings.simplefilter("always")
        # Comes when garbage is collected, in whichever job that happens to be.
        warnings.simplefilter("ignore", ResourceWarning)
        before = highest_size(reset=True)
        try:
            record = work(*args)
        except Exception as error:
            record = Record.failed(error, traceback.format_exc())
    texts = {f"{w.category.__name__}: {w.message}" for w in caught}
    values, after = record.values, highest_size()
    if before is not None and after is not None:
        values += (("peak_mb", round(after - before, 1), None),)
    return replace(record, warnings=tuple(sorted(texts)), values=values)


def is_limited(plan: Plan) -> bool:
    """Whether a plan limits the time or memory of a job."""
    return plan.time_limit is not None or plan.memory_limit is not None


def within_limits(
    plan: Plan, function: Callable[..., list[Record]], *args: Any
) -> list[Record]:
    """Call a function, in a child process if the plan limits time or memory.

    Parameters
    ----------
    plan : Plan
        Its limits.
    function : callable
        Importable by name.
    *args : object
        Its arguments.

    Returns
    -------
    list of Record
        What the function returned, or one failed record.
    """
    if not is_limited(plan):
        return function(*args)
    try:
        records: list[Record] = _local.child.call(
            function, args, seconds=plan.time_limit, megabytes=plan.memory_limit
        )
    except (TimeoutError, ChildDiedError) as error:
        return [Record.failed(error)]
    return records
