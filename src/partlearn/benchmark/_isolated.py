"""A child process that runs one call at a time under limits and can be killed.

The child runs this file as a script: it imports nothing of the package until a call
needs it, so it starts at once.
"""

# SPDX-License-Identifier: BSD-3-Clause

import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from partlearn._sizes import SIZES


class ChildDiedError(RuntimeError):
    """The process of a job ended without a result."""


class EngineLostError(OSError):
    """The engine was lost; the jobs themselves did not fail."""


# The bytes of a value are a value themselves: one that cannot be read, for instance for
# want of its module, leaves nothing of itself in the pipe.
def _send(stream: IO[bytes], value: Any) -> None:
    pickle.dump(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), stream)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    try:
        body = pickle.load(stream)
    except pickle.UnpicklingError as error:
        raise EOFError from error
    return pickle.loads(body)


class IsolatedProcess:
    """One child interpreter, started when first needed and again after a kill.

    The frames between parent and child never leave the machine: they are pipes
    that the parent created.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        *,
        seconds: float | None = None,
        megabytes: int | None = None,
    ) -> Any:
        """Return ``function(*args)`` computed in the child.

        Raises
        ------
        TimeoutError
            After ``seconds``; the child is killed.
        ChildDiedError
            When the child ends, for instance for want of memory.
        """
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(seconds, expire) if seconds is not None else None
        try:
            _send(process.stdin, (function, args, seconds, megabytes))
            # The clock starts when the child has imported what the call needs.
            kind, value = _receive(process.stdout)
            if kind == "ready":
                if timer:
                    timer.start()
                kind, value = _receive(process.stdout)
        except (EOFError, BrokenPipeError, OSError):
            self.close()
            if expired.is_set():
                raise TimeoutError(
                    f"The job took longer than its limit of {seconds:g} s."
                ) from None
            raise ChildDiedError(
                f"The job's process ended with code {process.returncode}; "
                "memory may have run out."
            ) from None
        finally:
            if timer:
                timer.cancel()
        if kind == "error":
            raise value
        return value

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            path = os.pathsep.join(filter(None, sys.path))
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", __file__, str(os.getpid())],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, "PYTHONPATH": path},
                )
            except OSError as error:
                raise EngineLostError(
                    f"no process can be started ({error}). Free some memory, and run "
                    "the same command: finished jobs are kept."
                ) from error
        return self._process

    def kill(self) -> None:
        """Kill the child; a call in progress raises ChildDiedError."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the child: close its input, and kill it if it does not exit."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        # What is still in the buffer has nobody to read it.
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(timeout=SIZES.leaving_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _address_space() -> int | None:
    """Bytes of the address space of this process; None where they are not known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _cap(seconds: float | None, megabytes: int | None) -> None:
    try:
        import resource
    except ImportError:
        return
    # Should the parent be stopped, nobody else would end this process.
    signal.alarm(0 if seconds is None else math.ceil(seconds) + 60)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    used = _address_space()
    soft = hard if megabytes is None or used is None else used + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _end_with(parent: int) -> None:
    """Exit when the parent process has ended, for whatever reason."""
    while os.getppid() == parent:
        time.sleep(SIZES.leaving_seconds / 4)
    os._exit(1)


def main() -> None:
    """Serve calls from standard input until it closes."""
    # An interrupt at the terminal is for the parent, which ends its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.name == "posix":
        parent = int(sys.argv[1])
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    source = sys.stdin.buffer
    # What a method prints must not land between the frames.
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            function, args, seconds, megabytes = _receive(source)
        except EOFError:
            return
        except Exception as error:
            # For instance a module that this interpreter cannot import.
            _send(sink, ("error", RuntimeError(f"{type(error).__name__}: {error}")))
            continue
        _send(sink, ("ready", None))
        try:
            _cap(seconds, megabytes)
            answer = ("value", function(*args))
        except Exception as error:
            answer = ("error", error)
        _cap(None, None)
        try:
            _send(sink, answer)
        except BrokenPipeError:  # nobody waits any more
            os._exit(1)
        except Exception as error:
            # Nothing was written: the answer is packed before.
            text = f"the answer of the job cannot be sent: {error}"
            if answer[0] == "error":
                text = f"{type(answer[1]).__name__}: {answer[1]}"
            _send(sink, ("error", RuntimeError(text)))


if __name__ == "__main__":
    main()
