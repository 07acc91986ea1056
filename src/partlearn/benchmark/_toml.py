"""Read TOML and remember on which line each key stands, for error messages."""

# SPDX-License-Identifier: BSD-3-Clause

import re
import tomllib
from typing import Any

KeyPath = tuple[str | int, ...]

_KEY = re.compile(
    r"""\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*[\w"'-]+)*)\s*="""
)
_TABLE = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_STRING = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*')


class PlanError(ValueError):
    """Error in a plan, with the file, the line and the remedy."""


def _parts(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]


def key_lines(text: str) -> dict[KeyPath, int]:
    """Map key paths to line numbers (1-based).

    Parameters
    ----------
    text : str
        TOML document.

    Returns
    -------
    dict
        For instance ``("data", 0, "name") -> 7``. Tables are there as well.
    """
    lines: dict[KeyPath, int] = {}
    counts: dict[str, int] = {}
    prefix: KeyPath = ()
    depth = 0
    quote = ""
    for number, line in enumerate(text.splitlines(), start=1):
        inside = bool(quote) or depth > 0
        if not inside:
            if table := _TABLE.match(line):
                names = _parts(table.group(2))
                prefix = _table_path(names, table.group(1) == "[[", counts)
                lines.setdefault(prefix, number)
                continue
            if key := _KEY.match(line):
                lines[prefix + tuple(_parts(key.group(1)))] = number
        quote = _open_quote(line, quote)
        if not quote:
            bare = _STRING.sub("", line)
            depth += bare.count("[") + bare.count("{")
            depth = max(depth - bare.count("]") - bare.count("}"), 0)
    return lines


def _table_path(names: list[str], is_array: bool, counts: dict[str, int]) -> KeyPath:
    path: list[str | int] = []
    for i, name in enumerate(names):
        path.append(name)
        dotted = ".".join(names[: i + 1])
        if is_array and i == len(names) - 1:
            counts[dotted] = counts.get(dotted, -1) + 1
        if dotted in counts:
            path.append(counts[dotted])
    return tuple(path)


def _open_quote(line: str, quote: str) -> str:
    for mark in re.findall(r'"""|\'\'\'', line):
        if not quote:
            quote = mark
        elif quote == mark:
            quote = ""
    return quote


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
