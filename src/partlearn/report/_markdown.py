"""Blocks as Markdown."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections.abc import Iterator, Sequence
from typing import Any

from partlearn._pages import visible
from partlearn.report._blocks import (
    Block,
    Code,
    Details,
    Document,
    Figure,
    Items,
    Table,
    Text,
)

__all__ = ["markdown"]

SPECIAL = re.compile(r"[\\`*_{}\[\]<>|#~!]")
# A line that begins so would be a list, a rule or a heading.
START = re.compile(r"^(\s*\d*)([-+.)=])(?=[-=\s]|$)")
# Never a link, whatever a program makes of bare addresses.
SCHEME = re.compile(r"(javascript|vbscript|data|file)\s*:", re.IGNORECASE)


def markdown(document: Document) -> str:
    """Render a document; figures are told in words."""
    lines = [f"# {escape(document.title)}", "", *_blocks(document.lead)]
    for section in document.sections:
        lines += [f"## {escape(section.title)}", "", *_blocks(section.blocks)]
    return "\n".join(lines).rstrip() + "\n"


def escape(text: Any) -> str:
    """Escape what would be markup, HTML, a link, or the end of a table cell."""
    line = visible(text).replace("&", "&amp;")
    line = SPECIAL.sub(r"\\\g<0>", line)
    line = START.sub(r"\1\\\2", line)
    return SCHEME.sub(r"\1&#58;", line)


def _blocks(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Text(text, role):
                mark = "> " if role in ("note", "warn") else ""
                yield from (mark + escape(text), "")
            case Items(items):
                yield from (f"- {escape(item)}" for item in items)
                yield ""
            case Code(text):
                shown = visible(text, lines=True).splitlines()
                # Indented lines need no closing mark that the text could contain.
                yield from (f"    {line}" for line in shown)
                yield ""
            case Table():
                yield from _table(block)
            case Figure():
                yield from (f"*Figure: {escape(block.title)}.* {escape(block.alt)}", "")
            case Details(title, inner):
                yield from (f"**{escape(title)}**", "")
                yield from _blocks(inner)


def _table(table: Table) -> Iterator[str]:
    yield from (f"{escape(table.caption)}:", "")
    yield "| " + " | ".join(map(escape, table.head)) + " |"
    left = table.n_names
    yield "|" + " --- |" * left + " ---: |" * (len(table.head) - left)
    for row in table.cells:
        texts = []
        for cell in row:
            text = "; ".join(map(escape, (cell.text, *cell.below)))
            text = f"**{text}**" if cell.best else text
            texts.append(f"{text} ({escape(cell.small)})" if cell.small else text)
        yield "| " + " | ".join(texts) + " |"
    yield ""
