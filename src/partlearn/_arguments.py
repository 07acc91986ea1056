"""Names of arguments in messages: keywords in Python, options in a command."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = [
    "argument",
    "arguments_as",
    "check_choice",
    "check_index",
    "check_one_per_row",
]

_Spelling = Callable[[str, str], str]


def _keyword(name: str, value: str) -> str:
    return f'`{name}="{value}"`' if value else f"`{name}`"


_spelling: ContextVar[_Spelling] = ContextVar("partlearn_spelling", default=_keyword)


def argument(name: str, value: str = "") -> str:
    """Spell an argument, with a value of text, for a message.

    Examples
    --------
    >>> from partlearn._arguments import argument
    >>> f"Pass {argument('labels')} or {argument('task', 'tags')}."
    'Pass `labels` or `task="tags"`.'
    """
    return _spelling.get()(name, value)


@contextmanager
def arguments_as(spelling: _Spelling) -> Iterator[None]:
    """Spell arguments differently in messages made inside a context.

    Examples
    --------
    >>> from partlearn._arguments import argument, arguments_as
    >>> with arguments_as(lambda name, value: f"--{name}"):
    ...     argument("labels")
    '--labels'
    """
    token = _spelling.set(spelling)
    try:
        yield
    finally:
        _spelling.reset(token)


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raise if an argument is none of its choices.

    Examples
    --------
    >>> from partlearn._arguments import check_choice
    >>> check_choice("empty", "error", ("error", "drop", "all"))
    """
    if value not in choices:
        *others, last = (f'"{choice}"' for choice in choices)
        words = f"{', '.join(others)} or {last}"
        raise ValueError(f"`{name}` must be {words}; got {value!r}.")


def check_one_per_row(name: str, shape: tuple[int, ...], n_rows: int) -> None:
    """Raise if an argument of this shape has not one value for each row.

    Examples
    --------
    >>> from partlearn._arguments import check_one_per_row
    >>> check_one_per_row("truth", (3,), 3)
    """
    if shape != (n_rows,):
        got = shape[0] if len(shape) == 1 else f"shape {shape}"
        raise ValueError(
            f"{argument(name)} must hold {n_rows} values, one per row; got {got}."
        )


def check_index(X: Any, **given: Any) -> None:
    """Raise if pandas labels are in another order than the rows.

    Rows and labels are matched by position, as in scikit-learn. An index that counts
    the rows from 0 is ignored, unless the other index holds the same numbers.

    Parameters
    ----------
    X : object
        Rows; only the index of a data frame is compared.
    **given : object
        Labels, bags and so on by the name of the argument.

    Examples
    --------
    >>> import pandas as pd
    >>> from partlearn._arguments import check_index
    >>> X = pd.DataFrame({"size": [4.0, 30.0]}, index=["tom", "rex"])
    >>> check_index(X, y=pd.Series(["cat", "dog"]))
    >>> check_index(X, y=pd.Series(["dog", "cat"], index=["rex", "tom"]))
    Traceback (most recent call last):
        ...
    ValueError: `y` has another index than the rows: entry 0 is 'rex', row 0 is 'tom'...
    """
    if not hasattr(X, "iloc"):
        return
    import numpy as np  # not for the help of commands

    rows, count = X.index, np.arange(len(X))
    for name, values in given.items():
        if not hasattr(values, "iloc") or len(values) != len(X):
            continue
        own = values.index
        counts = any(np.array_equal(index, count) for index in (rows, own))
        if own.equals(rows) or (counts and set(own) != set(rows)):
            continue
        place = int(np.argmax(own != rows))
        raise ValueError(
            f"{argument(name)} has another index than the rows: entry {place} is "
            f"{own[place]!r}, row {place} is {rows[place]!r}. Pass "
            f"{name}.loc[X.index] to match by name, or {name}.to_numpy() to match by "
            "position."
        )
