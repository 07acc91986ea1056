"""Blocks as one HTML page: no script, no outside request."""

# SPDX-License-Identifier: BSD-3-Clause

from functools import lru_cache
from typing import Any

from partlearn._extras import import_optional
from partlearn._pages import visible
from partlearn.report._blocks import Document, Figure
from partlearn.report._svg import panels_svg

__all__ = ["html"]


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
        finalize=lambda v: visible(v, lines=True) if type(v) is str else v,
    )
    return environment.get_template("report.html.j2")


def html(document: Document) -> str:
    """Render a document; text that comes from data is escaped."""
    template = _template()
    from markupsafe import Markup

    def pictures(figure: Figure) -> list[Any]:
        # Our own SVG is markup; its text was escaped by matplotlib and by us.
        return [Markup(svg) for svg in panels_svg(figure)]

    return str(template.render(document=document, pictures=pictures))
