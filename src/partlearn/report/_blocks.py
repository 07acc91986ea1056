"""Blocks of a report, which every renderer can show."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from pandas import DataFrame

Draw = Callable[[Any], None]  # gets a matplotlib axes


class Cell(str):
    """Text of a table with marks; lines are separated by line ends.

    Parameters
    ----------
    text : str
        What is printed.
    small : str, default=""
        Remark that LaTeX and the terminal leave out.
    best : bool, default=False
        Whether it is marked.
    tone : int, default=0
        From -3 to 3: the sign says worse or better, the size how clearly.
    """

    __slots__ = ("best", "small", "tone")
    small: str
    best: bool
    tone: int

    def __new__(
        cls, text: str, *, small: str = "", best: bool = False, tone: int = 0
    ) -> Self:
        """Make a string with marks."""
        cell = super().__new__(cls, text)
        cell.small, cell.best, cell.tone = small, best, tone
        return cell


@dataclass(frozen=True)
class Text:
    """A paragraph, a list of sentences, or code; a note or a warning stands out."""

    text: str | Sequence[str]
    role: Literal["", "lead", "note", "warn", "code"] = ""


@dataclass(frozen=True)
class Table:
    """A frame of texts; the first ``n_names`` columns name a row.

    ``marks`` says in words what the mark of the best cells means.
    """

    caption: str
    frame: "DataFrame"
    n_names: int = 1
    marks: str = ""

    @classmethod
    def of(
        cls,
        caption: str,
        head: Sequence[str],
        rows: Iterable[Sequence[str]],
        n_names: int = 1,
        marks: str = "",
    ) -> Self:
        """Make a table of rows of texts."""
        import pandas as pd

        frame = pd.DataFrame(list(rows), columns=list(head), dtype=object)
        return cls(caption, frame, n_names, marks)

    @classmethod
    def by(
        cls,
        caption: str,
        items: Iterable[Any],
        columns: Mapping[str, Callable[[Any], str]],
        n_names: int = 1,
    ) -> Self:
        """Make a row of every item, and a column of every function by its head."""
        rows = [[text(item) for text in columns.values()] for item in items]
        return cls.of(caption, list(columns), rows, n_names)

    @property
    def head(self) -> list[str]:
        """Names of the columns."""
        return list(self.frame.columns)

    @property
    def rows(self) -> list[list[Cell]]:
        """All rows, with every string made a cell."""
        rows = self.frame.to_numpy(dtype=object).tolist()
        return [[c if isinstance(c, Cell) else Cell(c) for c in row] for row in rows]


@dataclass(frozen=True)
class Figure:
    """Pictures that share a caption and a legend; ``alt`` describes them in words.

    A panel is a title and a function that draws it; ``size`` of one is in inches.
    """

    key: str
    title: str
    caption: str
    alt: str
    panels: Sequence[tuple[str, Draw]]
    size: tuple[float, float] = (3.6, 2.8)


@dataclass(frozen=True)
class Section:
    """A heading with its blocks; ``brief`` ones make the short version.

    One without a key is folded away under its title.
    """

    title: str
    blocks: Sequence["Block"]
    key: str = ""
    brief: bool = False


Block = Text | Table | Figure | Section


def tables_of(blocks: Iterable[Block]) -> Iterator[Table]:
    """All tables, also folded ones.

    Parameters
    ----------
    blocks : iterable of Block
        Where to look.

    Yields
    ------
    Table
        In order.
    """
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Section):
            yield from tables_of(block.blocks)
