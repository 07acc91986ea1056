"""The ARFF grammar, and the label lists of Mulan beside such files.

These are small XML files, read without document types or entities.
"""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

from partlearn._sizes import SIZES
from partlearn.io._errors import DataFormatError, DataLimitError, damage, located

_NAME = re.compile(
    r"""\s*(?: '((?:[^'\\]|\\.)*)' | "((?:[^"\\]|\\.)*)" | (\S+) )\s*(.*)""", re.VERBOSE
)
_ESCAPE = re.compile(r"\\(.)")
_NUMERIC = {"numeric", "real", "integer"}
MISSING = "?"
_MAX_DEPTH = 64


@dataclass(frozen=True)
class Attribute:
    """A column: its name and, if it is nominal, its values."""

    name: str
    kind: str  # "numeric", "nominal", "string" or "date"
    values: tuple[str, ...] = ()


def _name(match: re.Match[str]) -> str:
    quoted = match.group(1) or match.group(2) or ""
    return match.group(3) or _ESCAPE.sub(r"\1", quoted)


def _unquote(part: str) -> str:
    part = part.strip()
    if part[:1] not in ("'", '"'):
        return part
    if len(part) < 2 or part[-1] != part[0]:
        raise DataFormatError("a quoted value is not closed")
    return _ESCAPE.sub(r"\1", part[1:-1])


def split_row(line: str) -> list[str]:
    """Return the values of a dense row or of a list of nominal values."""
    if "'" not in line and '"' not in line:
        return [part.strip() for part in line.split(",")]
    return [_unquote(part) for part in _quoted_parts(line)]


def split_sparse(line: str) -> Iterator[tuple[int, str]]:
    """Yield (column, value) pairs of a sparse row in braces."""
    inner = line.strip()
    if not (inner.startswith("{") and inner.endswith("}")):
        raise DataFormatError("a sparse row must be in braces")
    inner = inner[1:-1].strip()
    if not inner:
        return
    plain = "'" not in inner and '"' not in inner
    for part in inner.split(",") if plain else _quoted_parts(inner):
        pair = part.split(None, 1)
        if len(pair) != 2 or not pair[0].isdecimal() or len(pair[0]) > 10:
            raise DataFormatError(
                f"{part.strip()[:40]!r} is not a pair of column and value"
            )
        yield int(pair[0]), _unquote(pair[1])


def _quoted_parts(text: str) -> Iterator[str]:
    """Split at commas outside quotes."""
    quote, start, escaped = "", 0, False
    for i, c in enumerate(text):
        if escaped:
            escaped = False
        elif c == "\\":
            escaped = True
        elif quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c == ",":
            yield text[start:i]
            start = i + 1
    yield text[start:]


def _attribute(rest: str) -> Attribute:
    match = _NAME.match(rest)
    if match is None or not match.group(4):
        raise DataFormatError("an attribute needs a name and a type")
    name, kind = _name(match), match.group(4).strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise DataFormatError(f"the values of attribute {name!r} are not closed")
        values = tuple(split_row(kind[1:-1]))
        if len(set(values)) != len(values):
            raise DataFormatError(f"attribute {name!r} lists a value twice")
        return Attribute(name, "nominal", values)
    word = kind.split()[0].lower()
    if word in _NUMERIC:
        return Attribute(name, "numeric")
    if word in ("string", "date"):
        return Attribute(name, word)
    raise DataFormatError(f"attribute {name!r} has the unknown type {kind[:40]!r}")


def header(lines: Iterator[tuple[int, str]]) -> tuple[str, list[Attribute]]:
    """Read up to ``@data``: the relation's name and the attributes."""
    relation, attributes = "", []
    seen: set[str] = set()
    for number, line in lines:
        word, _, rest = line.partition(" ") if " " in line else line.partition("\t")
        keyword = word.strip().lower()
        with located(f"line {number}"):
            if keyword == "@relation":
                match = _NAME.match(rest)
                if match is not None:
                    # MEKA puts options into the (quoted) name of the relation.
                    whole = match.group(3) is None
                    relation = _name(match) if whole else rest.strip()
            elif keyword == "@attribute":
                attribute = _attribute(rest)
                if attribute.name in seen:
                    raise DataFormatError(f"attribute {attribute.name!r} occurs twice")
                seen.add(attribute.name)
                attributes.append(attribute)
            elif keyword == "@data":
                return relation, attributes
            else:
                raise DataFormatError(f"{line[:40]!r} is not an ARFF declaration")
    raise DataFormatError("there is no @data section")


def sibling_xml(path: Path) -> Path | None:
    """Return the label list beside ``name.arff`` or ``name-train.arff``."""
    stem = path.name.removesuffix(".gz").removesuffix(".arff")
    for candidate in (stem, stem.removesuffix("-train").removesuffix("-test")):
        xml = path.with_name(candidate + ".xml")
        if xml.is_file():
            return xml
    return None


def mulan_labels(path: Path) -> list[str]:
    """Return the names of all labels, nested ones included, in file order."""
    if path.stat().st_size > SIZES.arff_bytes:
        raise DataLimitError("the label list is too large", path=path)
    names: list[str] = []
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _MAX_DEPTH:
            raise DataFormatError("labels are nested too deeply", path=path)
        if tag.rsplit(":", 1)[-1] == "label":
            if "name" not in attributes:
                raise DataFormatError("a label has no name", path=path)
            names.append(attributes["name"])

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse(*_: Any) -> None:
        raise DataFormatError(
            "document types and entities are not allowed in a label list", path=path
        )

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    with located(path=path), damage("the XML is damaged"):
        parser.Parse(path.read_bytes(), True)
    if not names:
        raise DataFormatError("the XML has no labels", path=path)
    return names
