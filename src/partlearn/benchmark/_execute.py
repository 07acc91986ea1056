"""Run one piece of work: capped threads, limits, and errors that become records."""

# SPDX-License-Identifier: BSD-3-Clause

import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from partlearn.benchmark._isolated import ChildDiedError, call_isolated
from partlearn.benchmark._memory import PeakMemory
from partlearn.benchmark._records import Record

__all__ = ["JobLimits", "guard", "within_limits"]

R = TypeVar("R", bound=Record)
T = TypeVar("T")


@dataclass(frozen=True)
class JobLimits:
    """What one job may use.

    Attributes
    ----------
    threads : int
        Threads of the numerical libraries.
    time : float or None
        Seconds.
    memory : int or None
        Megabytes above what the process uses before the job.
    """

    threads: int = 1
    time: float | None = None
    memory: int | None = None


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Find the thread pools of this process, again when modules were imported.

    Looking for them takes longer than many a job.
    """
    return ThreadpoolController()


def guard(kind: type[R], work: Callable[[], R], limits: JobLimits) -> R:
    """Do ``work()`` with capped threads; an exception becomes a failed record.

    Parameters
    ----------
    kind : type
        Kind of the record of failed work.
    work : callable
        Returns a record.
    limits : JobLimits
        Thread cap; the other limits are those of :func:`within_limits`.

    Returns
    -------
    Record
        With warnings and peak memory.
    """
    with (
        warnings.catch_warnings(record=True) as caught,
        _controller(len(sys.modules)).limit(limits=limits.threads),
        PeakMemory() as peak,
    ):
        warnings.simplefilter("always")
        # Comes when garbage is collected, in whichever job that happens to be.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            record = work()
        except Exception as error:
            trace = traceback.format_exc()
            record = kind.failed(type(error).__name__, str(error), trace)
    texts = {f"{w.category.__name__}: {w.message}" for w in caught}
    return replace(
        record,
        warnings=tuple(sorted(texts)),
        cost=replace(record.cost, peak_mb=peak.megabytes),
    )


def within_limits(
    limits: JobLimits,
    failed: Callable[[str, str], T],
    function: Callable[..., T],
    *args: Any,
) -> T:
    """Call in a process of its own where there are limits on time or memory.

    Parameters
    ----------
    limits : JobLimits
        What the work may use.
    failed : callable
        Answer for work that was ended, from type and text of the error.
    function : callable
        Importable by name.
    *args : object
        Its arguments.

    Returns
    -------
    object
        What the function or `failed` returned.
    """
    if limits.time is None and limits.memory is None:
        return function(*args)
    try:
        answer: T = call_isolated(
            function, args, seconds=limits.time, megabytes=limits.memory
        )
    except (TimeoutError, ChildDiedError) as error:
        return failed(type(error).__name__, str(error))
    return answer
