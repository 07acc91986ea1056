"""The tables of the short version as LaTeX."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

from partlearn._pages import visible
from partlearn.report._blocks import Cell, Document, Table, tables_of
from partlearn.report._format import EMPTY

__all__ = ["latex"]

_TEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    # A bracket at the start of a row would be an argument of the line break.
    "[": "{[}",
    "]": "{]}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    EMPTY: "--",
    "\N{DAGGER}": r"$\dagger$",
}


def latex(document: Document) -> str:
    """Render a document: one ``table`` environment after the other."""
    tables = [t for s in document.sections if s.brief for t in tables_of(s.blocks)]
    return "\n".join(_table(table, document.title) for table in tables)


def escape(text: Any) -> str:
    """Escape what TeX would take for a command."""
    return "".join(_TEX.get(c, c) for c in visible(text))


def _table(table: Table, title: str) -> str:
    columns = "l" * table.n_names + "r" * (len(table.head) - table.n_names)
    lines = [
        r"\begin{table}",
        rf"\caption{{{escape(title)}. {escape(table.caption)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(map(escape, table.head)) + r" \\",
        r"\midrule",
        *(" & ".join(map(_cell, row)) + r" \\" for row in table.cells),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    text = "; ".join(map(escape, (cell.text, *cell.below)))
    return rf"\textbf{{{text}}}" if cell.best else text
