"""From results to pages: a summary, its blocks, several renderers."""

from partlearn.report._records import Summary
from partlearn.report._render import (
    print_report,
    to_html,
    to_json,
    to_latex,
    to_markdown,
)
from partlearn.report._summarize import summarize

__all__ = [
    "summarize",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
]
