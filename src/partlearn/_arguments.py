"""Names of arguments in messages: keywords in Python, options in a command."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["argument", "arguments_as", "check_choice", "check_one_per_row"]

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
