"""Read TOML, and find the line of a key for error messages."""

# SPDX-License-Identifier: BSD-3-Clause

import re
import tomllib
from bisect import bisect_left
from typing import Any

KeyPath = tuple[str | int, ...]


class PlanError(ValueError):
    """Error in a plan, with the file, the line and the remedy."""


def line_of(text: str, path: KeyPath) -> int | None:
    """Line of a key path, or of the longest part of it that exists.

    Parameters
    ----------
    text : str
        Sound TOML document.
    path : tuple
        Keys of tables and places in lists, such as ``("data", 0, "name")``.

    Returns
    -------
    int or None
        Counted from 1; None if the first key does not exist.
    """
    lines = text.splitlines()

    def known(n: int) -> int:
        """Number of keys of the path that are in the first n lines."""
        return _depth(_statements(lines, n)[1], path)

    depth = known(len(lines))
    end = bisect_left(range(len(lines)), depth, key=known)
    return _statements(lines, end - 1)[0] + 1 if depth else None


def _statements(lines: list[str], n: int) -> tuple[int, dict[str, Any]]:
    """Largest number of lines, at most n, that are valid TOML, and their content.

    A statement over several lines is valid only with its last line.
    """
    while True:
        try:
            return n, tomllib.loads("\n".join(lines[:n]))
        except tomllib.TOMLDecodeError:
            n -= 1


def _depth(content: Any, path: KeyPath) -> int:
    for depth, key in enumerate(path):
        try:
            content = content[key]
        except (LookupError, TypeError):
            return depth
    return len(path)


def read_toml(text: str, origin: str) -> dict[str, Any]:
    """Parse TOML; a syntax error becomes a :class:`PlanError`.

    Parameters
    ----------
    text : str
        TOML document.
    origin : str
        File name for the message.

    Returns
    -------
    dict
        The document.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        where = re.search(r"at line (\d+), column (\d+)", message)
        line = f"{origin}:{where.group(1)}" if where else origin
        raise PlanError(f"{line}: not valid TOML: {message}") from None
    except RecursionError:
        raise PlanError(f"{origin}: not valid TOML: nested too deeply") from None
    except ValueError as error:  # an integer of thousands of digits
        raise PlanError(f"{origin}: not valid TOML: {error}") from None
