"""Where jobs run: in this process, in joblib's processes, on a Dask cluster."""

# SPDX-License-Identifier: BSD-3-Clause

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from partlearn.benchmark._isolated import call_isolated

__all__ = ["DaskEngine", "Engine", "Failure", "JoblibEngine", "SerialEngine"]

Call = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True)
class Failure:
    """A call that gave no answer at all, for instance because its worker died.

    Attributes
    ----------
    error, message : str
        Type and text of the exception.
    """

    error: str
    message: str


class Engine(Protocol):
    """Runs calls in any order and yields ``(number of the call, answer)``."""

    name: str
    workers: int

    def share(self, value: Any, key: str) -> Any:
        """Return something that stands for ``value`` in many calls."""

    def run(self, calls: Iterable[Call]) -> Iterator[tuple[int, Any]]:
        """Run the calls."""

    def close(self) -> None:
        """Let go of resources."""


def _attempt(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return Failure(type(error).__name__, str(error))


class SerialEngine:
    """One job after the other in this process.

    Examples
    --------
    >>> from partlearn.benchmark import SerialEngine
    >>> list(SerialEngine().run([(max, (1, 2)), (min, (1, 2))]))
    [(0, 2), (1, 1)]
    """

    name = "serial"
    workers = 1

    def share(self, value: Any, key: str) -> Any:
        """Return ``value``."""
        return value

    def run(self, calls: Iterable[Call]) -> Iterator[tuple[int, Any]]:
        """Run the calls in order."""
        for i, (function, args) in enumerate(calls):
            yield i, _attempt(function, args)

    def close(self) -> None:
        """Do nothing."""


def _numbered(i: int, function: Callable[..., Any], args: Any) -> tuple[int, Any]:
    return i, _attempt(function, args)


class JoblibEngine:
    """Several processes on this machine.

    Parameters
    ----------
    workers : int or None, default=None
        Number of processes; None means one per core.
    """

    name = "processes"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1

    def share(self, value: Any, key: str) -> Any:
        """Return ``value``: joblib maps large arrays instead of copying them."""
        return value

    def run(self, calls: Iterable[Call]) -> Iterator[tuple[int, Any]]:
        """Run the calls; those under way when a process dies run one by one."""
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import BrokenProcessPool

        numbered = enumerate(calls)
        open_calls: dict[int, Call] = {}

        def feed() -> Iterator[Any]:
            for i, (function, args) in numbered:
                open_calls[i] = (function, args)
                yield delayed(_numbered)(i, function, args)

        while True:
            parallel = Parallel(
                n_jobs=self.workers,
                return_as="generator_unordered",
                batch_size=1,
                pre_dispatch="2*n_jobs",
            )
            try:
                for i, answer in parallel(feed()):
                    del open_calls[i]
                    yield i, answer
                return
            except BrokenProcessPool:
                # One job took its process down. Which one is only seen when each
                # that was under way has a process to itself; then go on.
                suspects = dict(open_calls)
                open_calls.clear()
            for i, call in suspects.items():
                yield i, _attempt(call_isolated, call)

    def close(self) -> None:
        """End the processes: a later run may need to import from other places."""
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor(max_workers=self.workers, reuse=True).shutdown(wait=True)


def _identity(value: Any) -> Any:
    return value


class DaskEngine:
    """Workers of a running Dask cluster.

    Parameters
    ----------
    address : str
        Address of the scheduler, for instance ``tcp://10.0.0.1:8786``.
    timeout : float, default=30
        Seconds to wait for the scheduler and for a first worker.
    """

    name = "dask"

    def __init__(self, address: str, timeout: float = 30) -> None:
        try:
            import distributed
        except ImportError:
            raise ImportError(
                "A Dask scheduler needs the extra: pip install 'partlearn[dask]'."
            ) from None
        try:
            # distributed has no types of its own.
            client: Any = distributed.Client
            self._client = client(address, timeout=timeout, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ConnectionError(
                f"No Dask scheduler answers at {address}: {error}. "
                "Start one with `dask scheduler` and workers with `dask worker`."
            ) from None
        try:
            self._client.wait_for_workers(1, timeout=timeout)
        except TimeoutError:
            self._client.close()
            raise ConnectionError(
                f"The Dask scheduler at {address} has no worker. "
                f"Start one with `dask worker {address}`."
            ) from None
        self.workers = len(self._client.scheduler_info(n_workers=-1)["workers"])

    def share(self, value: Any, key: str) -> Any:
        """Send ``value`` once, as a task: a lost copy is made again."""
        with warnings.catch_warnings():
            # Dask advises scatter, but scattered data die with their worker.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self._client.submit(_identity, value, key=f"partlearn-{key}")

    def run(self, calls: Iterable[Call]) -> Iterator[tuple[int, Any]]:
        """Submit all calls; Dask runs those of a dead worker again elsewhere."""
        import distributed

        as_completed: Any = distributed.as_completed
        futures = {}
        for i, (function, args) in enumerate(calls):
            # Dask finds shared values only among the arguments themselves.
            future = self._client.submit(function, *args, pure=False, retries=2)
            futures[future] = i
        for future in as_completed(list(futures), loop=self._client.loop):
            i = futures.pop(future)
            if future.status == "finished":
                yield i, future.result()
            else:
                error = future.exception()
                yield i, Failure(type(error).__name__, str(error))

    def close(self) -> None:
        """Close the connection; the cluster goes on."""
        self._client.close()
