"""What a report is made of: blocks that every renderer can show."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Text:
    """A paragraph; a note or a warning stands out."""

    text: str
    role: Literal["", "lead", "note", "warn"] = ""


@dataclass(frozen=True)
class Items:
    """A list of short sentences."""

    items: Sequence[str]
    role: Literal["", "warn"] = ""


@dataclass(frozen=True)
class Code:
    """Lines to be shown as they are."""

    text: str


@dataclass(frozen=True)
class TableCell:
    """One cell: its text, lines below it, a remark that short versions leave out.

    ``tone`` runs from -3 to 3: the sign says worse or better, the size how clearly.
    """

    text: str
    below: Sequence[str] = ()
    small: str = ""
    best: bool = False
    tone: int = 0


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first ``n_names`` columns name a row, the others hold numbers.

    A plain string stands for a cell without more.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[TableCell | str]]
    n_names: int = 1

    @classmethod
    def of(
        cls,
        caption: str,
        items: Iterable[Any],
        columns: Mapping[str, Callable[[Any], TableCell | str]],
        n_names: int = 1,
    ) -> "Table":
        """Make a row of every item, and a column of every function by its head."""
        rows = [[text(item) for text in columns.values()] for item in items]
        return cls(caption, list(columns), rows, n_names)

    @property
    def cells(self) -> list[list[TableCell]]:
        """All rows with every string made a cell."""
        return [
            [TableCell(c) if isinstance(c, str) else c for c in r] for r in self.rows
        ]


@dataclass(frozen=True)
class Panel:
    """One picture of a figure: ``draw`` gets a matplotlib axes."""

    title: str
    draw: Callable[[Any], None]


@dataclass(frozen=True)
class Figure:
    """Pictures that share a caption and a legend; ``alt`` says in words what they show.

    ``size`` of one panel is in inches.
    """

    key: str
    title: str
    caption: str
    alt: str
    panels: Sequence[Panel]
    size: tuple[float, float] = (3.6, 2.8)


@dataclass(frozen=True)
class Details:
    """Blocks folded away under one line."""

    title: str
    blocks: Sequence["Block"]


Block = Text | Items | Code | Table | Figure | Details


@dataclass(frozen=True)
class Section:
    """A heading with its blocks; ``brief`` ones make the short version."""

    key: str
    title: str
    blocks: Sequence[Block]
    brief: bool = False


@dataclass(frozen=True)
class Document:
    """A whole report: title, blocks before the contents, sections."""

    title: str
    lead: Sequence[Block]
    sections: Sequence[Section]


def tables_of(blocks: Sequence[Block]) -> Iterator[Table]:
    """All tables, also folded ones.

    Parameters
    ----------
    blocks : sequence of Block
        Where to look.

    Yields
    ------
    Table
        In order.
    """
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Details):
            yield from tables_of(block.blocks)
