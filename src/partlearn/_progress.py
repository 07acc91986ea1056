"""Report the progress of long fits to a callback; nothing is printed."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["iterations", "on_progress", "stage"]

_Callback = Callable[[str, int, int], object]
_listener: ContextVar[_Callback | None] = ContextVar("partlearn_progress", default=None)


@contextmanager
def on_progress(callback: Callable[[str, int, int], object] | None) -> Iterator[None]:
    """Report the progress of fits inside a context.

    Parameters
    ----------
    callback : callable or None
        Called with the name of a loop, the number of finished iterations, and the
        number of iterations at most: before each iteration, and once with both numbers
        equal when the loop ends. Loops may be nested, such as the iterations of a fit
        inside the folds of a cross-validation. Work that is done in one step, such as
        an eigenproblem, counts as a loop of one iteration. With None nothing is
        reported.

    Examples
    --------
    >>> from partlearn import on_progress
    >>> from partlearn.classification import SURE
    >>> X, y = [[0.0], [0.1], [1.0]], [{"a"}, {"a", "b"}, {"b"}]
    >>> with on_progress(lambda name, done, total: print(name, done, "of", total)):
    ...     model = SURE(max_iter=2, tol=1e9).fit(X, y)
    SURE 0 of 2
    SURE 2 of 2
    """
    token = _listener.set(callback)
    try:
        yield
    finally:
        _listener.reset(token)


def iterations(name: str, n: int, start: int = 0) -> Iterator[int]:
    """Yield n numbers from `start` on, and call the callback of :func:`on_progress`."""
    callback = _listener.get()
    if callback is None:
        yield from range(start, start + n)
        return
    try:
        for i in range(n):
            callback(name, i, n)
            yield start + i
    finally:  # also where the loop was left early
        callback(name, n, n)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Call the callback of :func:`on_progress` for a step that cannot be counted."""
    callback = _listener.get() or (lambda *event: None)
    callback(name, 0, 1)
    try:
        yield
    finally:
        callback(name, 1, 1)
