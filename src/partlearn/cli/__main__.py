"""Entry point of the command ``partlearn``."""

# SPDX-License-Identifier: BSD-3-Clause

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; errors that a user can correct end in one sentence.

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
    from partlearn._arguments import arguments_as
    from partlearn.cli._options import as_option, print_error

    try:
        with _leaving_on_signals(), arguments_as(as_option):
            app(args=argv, prog_name="partlearn")
    except (ValueError, OSError, ImportError) as error:
        # What a user can put right: bad plans, absent files, extras not installed.
        sys.exit(print_error(error))


@contextmanager
def _leaving_on_signals() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, so that temporary files are removed."""

    def leave(number: int, frame: Any) -> None:
        # An object that was interrupted while it was made may fail to be taken down.
        sys.unraisablehook = lambda unraisable: None
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_IGN)  # a second one must not stop the cleaning
        sys.exit(128 + number)

    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        numbers.append(signal.SIGINT)  # otherwise somebody else's, or ignored
    try:
        before = [(number, signal.signal(number, leave)) for number in numbers]
    except ValueError:  # in a thread of somebody's program, which has its own handler
        yield
        return
    hook = sys.unraisablehook
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
        if hook is not sys.__unraisablehook__:  # a program's own; a command stays quiet
            sys.unraisablehook = hook


if __name__ == "__main__":
    main()
