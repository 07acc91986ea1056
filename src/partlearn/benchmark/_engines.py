"""Engines that run jobs: in this process, in child processes, on a Dask cluster."""

# SPDX-License-Identifier: BSD-3-Clause

import logging
import os
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import joblib

from partlearn._math.blocks import connect
from partlearn.benchmark._isolated import (
    ChildDiedError,
    EngineLostError,
    IsolatedProcess,
)
from partlearn.io import atomic_write

Call = tuple[Callable[..., Any], tuple[Any, ...]]


def _attempt(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        return function(*args)
    except EngineLostError:
        raise
    except Exception as error:
        return error


# All engines have the methods of the first. They run calls in any order and yield
# (number of the call, result); the result of a failed call is its exception.
class SerialEngine:
    """Run one job after the other in this process.

    Examples
    --------
    >>> from partlearn.benchmark import SerialEngine
    >>> list(SerialEngine().run([(max, (1, 2)), (min, (1, 2))]))
    [(0, 2), (1, 1)]
    """

    name = "serial"
    workers = 1

    def share(self, value: Any, key: str, *, lasting: bool = True) -> Any:
        """Return a reference to ``value`` for many calls, or for a few: itself."""
        return value

    def run(self, calls: Iterable[Call]) -> Iterator[tuple[int, Any]]:
        """Run the calls in order."""
        for i, (function, args) in enumerate(calls):
            yield i, _attempt(function, args)

    def close(self) -> None:
        """Release the resources: there are none."""


@dataclass(frozen=True)
class _Shared:
    """Reference to a value in a local file."""

    path: str


@lru_cache(maxsize=2)
def _fetched(path: str) -> Any:
    return joblib.load(path, mmap_mode="r")


def _with_shared(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call a function in a child, which loads shared values once and maps arrays."""
    values = (_fetched(a.path) if isinstance(a, _Shared) else a for a in args)
    return function(*values)


class ProcessEngine:
    """Run jobs in several processes on this machine.

    Parameters
    ----------
    workers : int or None, default=None
        Number of processes; None means one per core.
    """

    name = "processes"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._children = [IsolatedProcess() for _ in range(self.workers)]
        self._files: tempfile.TemporaryDirectory[str] | None = None

    def share(self, value: Any, key: str, *, lasting: bool = True) -> Any:
        """Write ``value`` to a file once; processes map it instead of copying it."""
        if not lasting:
            return value
        if self._files is None:
            self._files = tempfile.TemporaryDirectory(prefix="partlearn-")
        path = Path(self._files.name, f"{key}.joblib")
        if not path.exists():
            with atomic_write(path) as file:
                joblib.dump(value, file)
        return _Shared(str(path))

    def run(self, calls: Iterable[Call]) -> Iterator[tuple[int, Any]]:
        """Run the calls; a call whose process ended is tried once more.

        The process may have been killed from outside; a second death is the result.
        """
        idle: SimpleQueue[IsolatedProcess] = SimpleQueue()
        for child in self._children:
            idle.put(child)

        stopped = threading.Event()

        def work(call: Call) -> Any:
            child = idle.get()
            try:
                answer = _attempt(child.call, (_with_shared, call))
                if isinstance(answer, ChildDiedError) and not stopped.is_set():
                    answer = _attempt(child.call, (_with_shared, call))
                return answer
            finally:
                idle.put(child)

        numbered = enumerate(calls)
        running: dict[Future[Any], int] = {}
        pool = ThreadPoolExecutor(self.workers)
        try:
            while True:
                for i, call in numbered:
                    running[pool.submit(work, call)] = i
                    if len(running) >= 2 * self.workers:
                        break
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
        finally:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            if running:  # interrupted: nobody waits for these answers
                for child in self._children:
                    child.kill()
            pool.shutdown()

    def close(self) -> None:
        """End the processes; the import path of a later run may differ."""
        for child in self._children:
            child.close()
        if self._files is not None:
            self._files.cleanup()
            self._files = None


def _identity(value: Any) -> Any:
    return value


class DaskEngine:
    """Run jobs on the workers of a running Dask cluster.

    Parameters
    ----------
    address : str
        Address of the scheduler, for instance ``tcp://10.0.0.1:8786``.
    timeout : float, default=30
        Seconds to wait for the scheduler and for a first worker.
    """

    name = "dask"

    def __init__(self, address: str, timeout: float = 30) -> None:
        self._address = address
        self._client = connect(address, timeout, set_as_default=False)
        try:
            self._client.wait_for_workers(1, timeout=timeout)
        except TimeoutError:
            self._client.close()
            raise ConnectionError(
                f"The Dask scheduler at {address} has no worker. "
                f"Start one with `dask worker {address}`."
            ) from None
        self.workers = len(self._client.scheduler_info(n_workers=-1)["workers"])
        # A lost connection is reported by an error below, not by log messages.
        known = logging.root.manager.loggerDict  # each may have a level of its own
        names = [name for name in known if name.startswith("distributed.")]
        loggers = map(logging.getLogger, ["distributed", *names])
        self._levels = {logger: logger.level for logger in loggers}
        for logger in self._levels:
            logger.setLevel(logging.CRITICAL)

    def share(self, value: Any, key: str, *, lasting: bool = True) -> Any:
        """Send ``value`` once, as a task that Dask repeats if the copy is lost."""
        with warnings.catch_warnings():
            # Dask advises scatter, but scattered data die with their worker.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self._client.submit(_identity, value, key=f"partlearn-{key}")

    def run(self, calls: Iterable[Call]) -> Iterator[tuple[int, Any]]:
        """Submit all calls; Dask repeats those of a dead worker."""
        import distributed

        as_completed: Any = distributed.as_completed
        futures = {}
        try:
            for i, (function, args) in enumerate(calls):
                # Dask finds shared values only among the arguments themselves.
                future = self._client.submit(function, *args, pure=False, retries=2)
                futures[future] = i
            completed = as_completed(list(futures), loop=self._client.loop)
            for future in completed:
                status = future.status
                if status == "lost":  # its worker died with the answer: done again
                    completed.add(future)
                    continue
                i = futures.pop(future)
                if status == "finished":
                    yield i, future.result()
                elif status == "error":
                    yield i, future.exception()
                else:  # cancelled: nothing is known about the call
                    raise OSError(f"a job was {status}")
        except OSError as error:
            raise EngineLostError(
                f"the connection to the Dask scheduler at {self._address} is lost "
                f"({error}). Start it and run the same command again: finished jobs "
                "are kept."
            ) from error

    def close(self) -> None:
        """Close the connection; the cluster keeps running."""
        with suppress(TimeoutError, OSError):
            self._client.close()
        for logger, level in self._levels.items():
            logger.setLevel(level)


Engine = SerialEngine | ProcessEngine | DaskEngine


def make_engine(workers: int | None = 1, scheduler: str | None = None) -> Engine:
    """Make the engine that runs the jobs of a plan.

    Parameters
    ----------
    workers : int or None, default=1
        1 uses this process; more are child processes; None means one per core.
    scheduler : str or None, default=None
        Address of a Dask scheduler; takes precedence over ``workers``.

    Returns
    -------
    Engine
        Engine for :func:`run_plan`.

    Examples
    --------
    >>> from partlearn.benchmark import make_engine
    >>> make_engine(1).name
    'serial'
    """
    if scheduler:
        return DaskEngine(scheduler)
    return SerialEngine() if workers == 1 else ProcessEngine(workers)
