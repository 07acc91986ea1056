"""Run one piece of work: capped threads, limits, and errors that become records."""

# SPDX-License-Identifier: BSD-3-Clause

import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Self

from threadpoolctl import ThreadpoolController

from partlearn.benchmark._isolated import ChildDiedError, IsolatedProcess, process_bytes
from partlearn.benchmark._plan import Plan
from partlearn.benchmark._records import Record, values_of


class _Local(threading.local):
    """The child process of each thread."""

    def __init__(self) -> None:
        self.child = IsolatedProcess()


_local = _Local()


class PeakMemory:
    """Context manager that samples the resident size of the process in a thread.

    Parameters
    ----------
    interval : float, default=0.02
        Seconds between samples: peaks shorter than this may be missed.

    Attributes
    ----------
    megabytes : float or None
        Highest size above the size at entry; None where it cannot be measured.
    """

    def __init__(self, interval: float = 0.02) -> None:
        self.interval = interval
        self.megabytes: float | None = None
        self._stop = threading.Event()

    def __enter__(self) -> Self:
        self._start = self._peak = process_bytes(1)
        self._thread = threading.Thread(target=self._sample, daemon=True)
        if self._start is not None:
            self._thread.start()
        return self

    def _sample(self) -> None:
        while not self._stop.wait(self.interval):
            self._peak = max(self._peak or 0, process_bytes(1) or 0)

    def __exit__(self, *error: object) -> None:
        if self._start is not None:
            self._stop.set()
            self._thread.join()
            peak = max(self._peak or 0, process_bytes(1) or 0)
            self.megabytes = round((peak - self._start) / 2**20, 1)


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Find the thread pools of this process, again when modules were imported.

    Looking for them takes longer than many a job.
    """
    return ThreadpoolController()


def guard(threads: int, work: Callable[..., Record], *args: Any) -> Record:
    """Do ``work(*args)`` with capped threads; an exception becomes a failed record.

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
        PeakMemory() as peak,
    ):
        warnings.simplefilter("always")
        # Comes when garbage is collected, in whichever job that happens to be.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            record = work(*args)
        except Exception as error:
            record = Record.failed(error, traceback.format_exc())
    texts = {f"{w.category.__name__}: {w.message}" for w in caught}
    memory = values_of({"peak_mb": peak.megabytes})
    return replace(
        record, warnings=tuple(sorted(texts)), values=(*record.values, *memory)
    )


def is_limited(plan: Plan) -> bool:
    """Whether a plan limits the time or memory of a job."""
    return plan.time_limit is not None or plan.memory_limit is not None


def within_limits(
    plan: Plan, function: Callable[..., list[Record]], *args: Any
) -> list[Record]:
    """Call in a process of its own where there are limits on time or memory.

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
