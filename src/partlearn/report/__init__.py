"""Summaries of runs and their renderers."""

from partlearn.report._format import plural
from partlearn.report._render import (
    named_tables,
    print_report,
    to_csv,
    to_html,
    to_json,
    to_latex,
    to_markdown,
)
from partlearn.report._summarize import Summary, summarize

__all__ = [
    "summarize",
    "to_csv",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
]
