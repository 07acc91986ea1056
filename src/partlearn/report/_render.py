"""The public renderers: a summary becomes blocks, blocks become a page."""

# SPDX-License-Identifier: BSD-3-Clause

import json
from collections.abc import Container
from typing import TYPE_CHECKING

from partlearn.report._console import console_print
from partlearn.report._html import html
from partlearn.report._latex import latex
from partlearn.report._markdown import markdown
from partlearn.report._pages import document
from partlearn.report._records import Summary, plain

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_report", "to_html", "to_json", "to_latex", "to_markdown"]


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
    return html(document(summary))


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
    return markdown(document(summary))


def to_latex(summary: Summary) -> str:
    """Render the main tables as LaTeX ``tabular`` environments.

    Parameters
    ----------
    summary : Summary
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    str
        Tables of the short version; they need the package booktabs.
    """
    return latex(document(summary))


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
    console_print(document(summary), console, sections)


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
