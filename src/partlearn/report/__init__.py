"""From results to pages: one dict, several renderers."""

from partlearn.report._html import to_html
from partlearn.report._summarize import summarize
from partlearn.report._text import to_json, to_latex, to_markdown

__all__ = ["summarize", "to_html", "to_json", "to_latex", "to_markdown"]
