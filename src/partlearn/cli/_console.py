"""Results to standard output, everything else to standard error."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import sys
import threading
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from partlearn import on_progress
from partlearn._pages import CONTROLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from partlearn.io import TableWriter
    from partlearn.report import Summary

_BETWEEN = 0.2  # seconds between two lines about a fit


def output() -> "Console":
    """Console for results; wide when not a terminal, so that nothing is cut."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 240)


def plain(text: str) -> str:
    """Escape control characters in text, such as names read from files."""
    return CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


def plain_json(text: str) -> str:
    """Escape control characters in JSON; its content stays the same."""
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: str) -> None:
    """Print a message that is not a result."""
    print(plain(text), file=sys.stderr)


def print_json(content: Any) -> None:
    """Print one JSON document."""
    print(plain_json(json.dumps(content, indent=1, ensure_ascii=False)))


@contextmanager
def progress(title: str) -> "Iterator[Callable[[int, int, str], None]]":
    """Show a bar with the time left on standard error, if it is a terminal."""
    from rich import progress as parts
    from rich.console import Console

    bar = parts.Progress(
        parts.TextColumn("{task.fields[title]}"),
        parts.BarColumn(),
        parts.MofNCompleteColumn(),
        parts.TimeRemainingColumn(),
        parts.TextColumn("{task.description}"),
        console=Console(stderr=True, highlight=False),
        disable=not sys.stderr.isatty(),
    )
    # A second line about each fit would tear the bar.
    with bar, on_progress(None):
        task = bar.add_task("starting", total=None, title=title)

        def update(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total, description=label)

        yield update


@contextmanager
def row_progress(
    title: str, writer: "TableWriter"
) -> "Iterator[Callable[[float], None]]":
    """Show the share of a table that was read and the number of rows written."""
    with progress(title) as update:
        yield lambda share: update(int(100 * share), 100, f"{writer.n_rows:,} rows")


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


@contextmanager
def fit_progress(patience: float = 2.0, tick: float = 1.0) -> Iterator[None]:
    """Show the progress of a long fit on a terminal.

    The line is updated when the fit reports progress, and every `tick` seconds in
    between (0: never), as in a long eigenproblem.
    """
    if not sys.stderr.isatty():
        yield
        return
    running: dict[str, tuple[int, int]] = {}
    started = last = since = time.monotonic()  # since: the outermost step
    lock, ended = threading.Lock(), threading.Event()

    def show(name: str, done: int, total: int) -> None:
        nonlocal started, last, since
        with lock:
            now = time.monotonic()
            if not running:
                started = now
            outermost = next(iter(running), name)
            if name == outermost and running.get(name) != (done, total):
                since = now
            running[name] = done, total
            if done == total:
                del running[name]
            if now - started < patience or (now - last < _BETWEEN and running):
                return
            last = now
            write(now)

    def write(now: float) -> None:
        line = ", ".join(
            f"{key} {i + 1} of {n}" if n > 1 else key for key, (i, n) in running.items()
        )
        if running:
            i, n = next(iter(running.values()))
            took, step = now - started, now - since
            usual = (since - started) / i if i else 0.0
            if step <= usual:
                line += f": at most {_span(usual * (n - i) - step)} left"
            elif took >= 1:  # no step to go by, or one that takes longer than others
                line += f": {_span(took)} so far"
        print(f"\r\x1b[2K{line}", end="", file=sys.stderr, flush=True)

    def renew() -> None:
        while not ended.wait(tick):
            with lock:
                now = time.monotonic()
                if running and now - started >= patience:
                    write(now)

    clock = threading.Thread(target=renew, daemon=True)
    if tick:
        clock.start()
    try:
        with on_progress(show):
            yield
    finally:
        ended.set()
        if tick:
            clock.join()


def print_summary(summary: "Summary", sections: Container[str] | None = None) -> None:
    """Print the short version of a report, or of some of its sections."""
    from partlearn.report import print_report

    print_report(summary, output(), sections=sections)
