"""The renderers: a summary becomes blocks, blocks become a page."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import re
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from partlearn._extras import import_optional
from partlearn._pages import visible
from partlearn.report import _blocks
from partlearn.report._format import EMPTY
from partlearn.report._pages import document
from partlearn.report._sections import lead
from partlearn.report._summarize import Summary, plain
from partlearn.report._svg import panels_svg

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text as Plain

SPECIAL = re.compile(r"[\\`*_{}\[\]<>|#~!]")
# A line that begins so would be a list, a rule or a heading.
START = re.compile(r"^(\s*\d*)([-+.)=])(?=[-=\s]|$)")
# Never a link, whatever a program makes of bare addresses.
SCHEME = re.compile(r"(javascript|vbscript|data|file)\s*:", re.IGNORECASE)
_TEX = {
    "\\": r"\textbackslash{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
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


@lru_cache(maxsize=1)
def _template() -> Any:
    jinja2 = import_optional("jinja2", "HTML reports", "report")
    import_optional("matplotlib", "HTML reports", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("partlearn.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Everything that is printed passes here before it is escaped.
        finalize=lambda v: v if hasattr(v, "__html__") else _shown(v),
    )
    return environment.get_template("report.html.j2")


def _shown(value: Any) -> Any:
    return visible(value, lines=True) if isinstance(value, str) else value


def _caption(table: _blocks.Table, mark: str) -> str:
    """Caption that says what the mark of this format means, where there is one."""
    marked = any(cell.best for row in table.rows for cell in row)
    return f"{table.caption}; {mark}: {table.marks}" if marked else table.caption


def named_tables(summary: Summary) -> dict[str, _blocks.Table]:
    """Tables of a report by name, those of the short version first.

    Parameters
    ----------
    summary : Summary
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    dict
        Names are keys of sections, with a number from the second table on.
    """
    sections = document(summary)
    names: dict[str, _blocks.Table] = {}
    for section in sorted(sections, key=lambda section: not section.brief):
        for i, table in enumerate(_blocks.tables_of(section.blocks), start=1):
            names[section.key if i == 1 else f"{section.key}-{i}"] = table
    return names


def _chosen(summary: Summary, table: str | None) -> dict[str, _blocks.Table]:
    """One table by its name, or the unfolded ones of the short version."""
    named = named_tables(summary)
    if table is not None:
        if table not in named:
            raise ValueError(
                f"There is no table {table!r}. This run has: {', '.join(named)}."
            )
        return {table: named[table]}
    brief = [s.blocks for s in document(summary) if s.brief]
    main = [t.caption for part in brief for t in part if isinstance(t, _blocks.Table)]
    return {name: t for name, t in named.items() if t.caption in main}


def to_html(summary: Summary) -> str:
    """Render a summary as one self-contained HTML page.

    Parameters
    ----------
    summary : Summary
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    str
        The page: no script, no outside request. Text that comes from data is escaped.
    """
    template = _template()
    from markupsafe import Markup

    def pictures(figure: _blocks.Figure) -> list[Any]:
        # Our own SVG is markup; its text was escaped by matplotlib and by us.
        return [Markup(svg) for svg in panels_svg(figure)]

    def kind(block: _blocks.Block) -> str:
        return type(block).__name__

    sections = document(summary)
    page = template.render(
        title=summary.title,
        lead=lead(summary),
        sections=sections,
        pictures=pictures,
        kind=kind,
        caption=lambda table: _caption(table, "★"),
    )
    return str(page)


def to_markdown(summary: Summary) -> str:
    """Render a summary as Markdown.

    Parameters
    ----------
    summary : Summary
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    str
        All paragraphs and tables; figures are described in words. No HTML, no links.
    """
    lines = [f"# {in_markdown(summary.title)}", "", *_markdown(lead(summary))]
    for section in document(summary):
        lines += [f"## {in_markdown(section.title)}", "", *_markdown(section.blocks)]
    return "\n".join(lines).rstrip() + "\n"


def in_markdown(text: Any) -> str:
    """Escape what would be markup, HTML, a link, or the end of a table cell."""
    line = visible(text).replace("&", "&amp;")
    line = SPECIAL.sub(r"\\\g<0>", line)
    line = START.sub(r"\1\\\2", line)
    return SCHEME.sub(r"\1&#58;", line)


def _markdown(blocks: Sequence[_blocks.Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case _blocks.Text(str(text), "code"):
                shown = visible(text, lines=True).splitlines()
                # Indented lines need no closing mark that the text could contain.
                yield from (f"    {line}" for line in shown)
                yield ""
            case _blocks.Text(str(text), role):
                mark = "> " if role in ("note", "warn") else ""
                yield from (mark + in_markdown(text), "")
            case _blocks.Text(items):
                yield from (f"- {in_markdown(item)}" for item in items)
                yield ""
            case _blocks.Table():
                yield from _markdown_table(block)
            case _blocks.Figure():
                yield f"*Figure: {in_markdown(block.title)}.* {in_markdown(block.alt)}"
                yield ""
            case _blocks.Section(title, inner):
                yield from (f"**{in_markdown(title)}**", "")
                yield from _markdown(inner)


def _markdown_table(table: _blocks.Table) -> Iterator[str]:
    yield from (f"{in_markdown(_caption(table, 'bold'))}:", "")
    yield "| " + " | ".join(map(in_markdown, table.head)) + " |"
    left = table.n_names
    yield "|" + " --- |" * left + " ---: |" * (len(table.head) - left)
    for row in table.rows:
        texts = []
        for cell in row:
            text = "; ".join(map(in_markdown, cell.split("\n")))
            text = f"**{text}**" if cell.best else text
            texts.append(f"{text} ({in_markdown(cell.small)})" if cell.small else text)
        yield "| " + " | ".join(texts) + " |"
    yield ""


def to_latex(summary: Summary, *, table: str | None = None) -> str:
    """Render tables as LaTeX ``table`` environments with captions and labels.

    Parameters
    ----------
    summary : Summary
        From :func:`partlearn.report.summarize`.
    table : str or None, default=None
        Name of one table, such as "results"; None takes the tables of the short
        version. A wrong name is an error that lists them all.

    Returns
    -------
    str
        Tables that need the package booktabs. The label of a table is
        ``tab:PLAN-NAME``.
    """
    tables = _chosen(summary, table).items()
    return "\n".join(_latex_table(t, summary, name) for name, t in tables)


def to_csv(summary: Summary, *, table: str | None = None) -> str:
    """Render the cells of all tables, or one table as printed, as CSV.

    Parameters
    ----------
    summary : Summary
        From :func:`partlearn.report.summarize`.
    table : str or None, default=None
        Name of one table, such as "results", to get its texts; None gives the cells:
        one row for every number, with mean and deviation in full precision.

    Returns
    -------
    str
        Comma-separated values with a header.
    """
    if table is None:
        return str(summary.cells.drop(columns="set").to_csv(index=False))
    (chosen,) = _chosen(summary, table).values()
    texts = chosen.frame.map(lambda text: visible(text).replace("\n", "; "))
    return str(texts.to_csv(index=False))


def in_latex(text: Any) -> str:
    """Escape what TeX would take for a command."""
    return "".join(_TEX.get(c, c) for c in visible(text))


def _latex_table(table: _blocks.Table, summary: Summary, name: str) -> str:
    columns = "l" * table.n_names + "r" * (len(table.head) - table.n_names)
    lines = [
        r"\begin{table}",
        rf"\caption{{{in_latex(summary.title)}. {in_latex(_caption(table, 'bold'))}}}",
        rf"\label{{tab:{re.sub(r'[^A-Za-z0-9-]+', '-', f'{summary.plan}-{name}')}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(map(in_latex, table.head)) + r" \\",
        r"\midrule",
        *(" & ".join(map(_latex_cell, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _latex_cell(cell: _blocks.Cell) -> str:
    text = "; ".join(map(in_latex, cell.split("\n")))
    return rf"\textbf{{{text}}}" if cell.best else text


def print_report(
    summary: Summary, console: "Console", *, sections: Container[str] | None = None
) -> None:
    """Print the short version to a terminal.

    Parameters
    ----------
    summary : Summary
        From :func:`partlearn.report.summarize`.
    console : rich.console.Console
        Where to print.
    sections : container of str, default=None
        Titles of those to print; by default all of the short version.
    """
    # Paragraphs and tables of the brief sections, not what is folded.
    for section in document(summary):
        if section.brief and (sections is None or section.title in sections):
            console.print(visible(section.title), style="bold", markup=False)
            for block in section.blocks:
                _print(block, console)


def _print(block: _blocks.Block, console: "Console") -> None:
    match block:
        case _blocks.Text(str(text)):
            console.print(visible(text), markup=False, soft_wrap=False)
        case _blocks.Text(items):
            for item in items:
                console.print(f"- {visible(item)}", markup=False)
        case _blocks.Table():
            # On a line of its own: as a title of the table it would wrap.
            console.print(visible(_caption(block, "*")), style="italic", markup=False)
            _print_table(block, console)


def _print_table(table: _blocks.Table, console: "Console") -> None:
    """Print a table, in parts that fit beside the names of the rows."""
    from rich.table import Table as Grid
    from rich.text import Text as Plain

    starred = {i for row in table.rows for i, cell in enumerate(row) if cell.best}
    columns = [
        [Plain(visible(name)), *(_text(row[i], i in starred) for row in table.rows)]
        for i, name in enumerate(table.head)
    ]
    n = table.n_names
    for part in _parts([_width(column) for column in columns], n, console.width):
        grid = Grid()
        for i in part:
            side: Any = "left" if i < n else "right"
            grid.add_column(columns[i][0], justify=side, no_wrap=True)
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


def _text(cell: _blocks.Cell, starred: bool) -> "Plain":
    from rich.text import Text as Plain

    # A blank in the others keeps the numbers of a column under each other.
    first, *below = map(visible, cell.split("\n"))
    first += " *" if cell.best else "  " if starred else ""
    lines = "\n".join([first, *below])
    return Plain(lines, style="bold" if cell.best else "")


def to_json(summary: Summary) -> str:
    """Render a summary as JSON.

    Parameters
    ----------
    summary : Summary
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    str
        Valid JSON: infinite numbers become null.
    """
    content = plain(summary)
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
