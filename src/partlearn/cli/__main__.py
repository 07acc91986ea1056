"""Entry point of the command ``partlearn``."""

# SPDX-License-Identifier: BSD-3-Clause

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; what a user can put right ends in one sentence.

    Parameters
    ----------
    argv : sequence of str or None, default=None
        Arguments; None means those of the process.
    """
    try:
        from partlearn.cli._app import app
    except ImportError as error:
        if error.name not in {"typer", "rich"}:
            raise
        sys.exit("The command line needs the extra: pip install 'partlearn[cli]'")
    try:
        with _leaving_on_sigterm():
            app(args=argv, prog_name="partlearn")
    except (ValueError, OSError, ImportError) as error:
        # What a user can put right: bad plans, absent files, extras not installed.
        from partlearn.cli._data_options import print_error

        sys.exit(print_error(error))


@contextmanager
def _leaving_on_sigterm() -> Iterator[None]:
    """Let SIGTERM leave as Ctrl-C does, through whatever cleans up on the way."""

    def leave(number: int, frame: Any) -> None:
        signal.signal(number, signal.SIG_IGN)  # a second one must not stop the cleaning
        sys.exit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # in a thread of somebody's program, which has its own handler
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    main()
