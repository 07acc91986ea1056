"""Names of arguments in messages: keywords in Python, options in a command."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["argument", "arguments_as"]

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
