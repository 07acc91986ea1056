"""The short version of a document on a terminal."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from partlearn._pages import visible
from partlearn.report._blocks import Block, Cell, Document, Items, Table, Text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text as Plain

__all__ = ["console_print"]


def console_print(
    document: Document, console: "Console", titles: Container[str] | None = None
) -> None:
    """Print paragraphs and tables of the brief sections, not what is folded."""
    for section in document.sections:
        if section.brief and (titles is None or section.title in titles):
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
    """Print a table, in parts that fit beside the names of the rows."""
    from rich.table import Table as Grid
    from rich.text import Text as Plain

    starred = {i for row in table.cells for i, cell in enumerate(row) if cell.best}
    columns = [
        [Plain(visible(name)), *(_text(row[i], i in starred) for row in table.cells)]
        for i, name in enumerate(table.head)
    ]
    n = table.n_names
    for part in _parts([_width(column) for column in columns], n, console.width):
        grid = Grid()
        for i in part:
            grid.add_column(
                columns[i][0], justify="left" if i < n else "right", no_wrap=True
            )
        for row in zip(*(columns[i][1:] for i in part), strict=True):
            grid.add_row(*row)
        console.print(grid)


def _width(column: list["Plain"]) -> int:
    """Cells that the widest text takes, with its edge and the blanks around it."""
    return 3 + max(line.cell_len for text in column for line in text.split("\n"))


def _parts(widths: list[int], n_names: int, most: int) -> list[list[int]]:
    """Columns that fit beside those that name the rows, at least one at a time."""
    names = list(range(n_names))
    left = most - 1 - sum(widths[:n_names])
    parts: list[list[int]] = [[]]
    for i in range(n_names, len(widths)):
        if parts[-1] and sum(widths[j] for j in parts[-1]) + widths[i] > left:
            parts.append([])
        parts[-1].append(i)
    return [names + part for part in parts]


def _text(cell: Cell, starred: bool) -> "Plain":
    from rich.text import Text as Plain

    # A blank in the others keeps the numbers of a column under each other.
    text = visible(cell.text) + (" *" if cell.best else "  " if starred else "")
    lines = "\n".join([text, *map(visible, cell.below)])
    return Plain(lines, style="bold" if cell.best else "")
