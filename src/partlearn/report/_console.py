"""The short version of a document on a terminal."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from typing import TYPE_CHECKING

from partlearn.report._blocks import Block, Cell, Document, Items, Table, Text
from partlearn.report._format import visible

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console_print"]


def console_print(document: Document, console: "Console") -> None:
    """Print texts and tables of the brief sections; what is folded stays folded."""
    for section in document.sections:
        if section.brief:
            console.print(visible(section.title), style="bold", markup=False)
            _print(section.blocks, console)


def _print(blocks: Sequence[Block], console: "Console") -> None:
    for block in blocks:
        match block:
            case Text(text):
                console.print(visible(text), markup=False, soft_wrap=False)
            case Items(items):
                for item in items:
                    console.print(f"- {visible(item)}", markup=False)
            case Table():
                # On a line of its own: as a title of the table it would wrap.
                console.print(visible(block.caption), style="italic", markup=False)
                _print_table(block, console)


def _print_table(table: Table, console: "Console") -> None:
    from rich.table import Table as Grid
    from rich.text import Text as Plain

    grid = Grid()
    for i, name in enumerate(table.head):
        justify = "left" if i < table.n_names else "right"
        grid.add_column(Plain(visible(name)), justify=justify, no_wrap=True)  # type: ignore[arg-type]
    starred = {i for row in table.cells for i, cell in enumerate(row) if cell.best}
    for row in table.cells:
        texts = [_text(cell, i in starred) for i, cell in enumerate(row)]
        styles = ["bold" if cell.best else "" for cell in row]
        grid.add_row(*(Plain(t, style=s) for t, s in zip(texts, styles, strict=True)))
    console.print(grid)


def _text(cell: Cell, starred: bool) -> str:
    # A blank in the others keeps the numbers of a column under each other.
    text = visible(cell.text) + (" *" if cell.best else "  " if starred else "")
    return "\n".join([text, *map(visible, cell.below)])
