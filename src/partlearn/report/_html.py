"""The HTML report: one file, no script, no outside request."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any

from partlearn.report import _format
from partlearn.report._figures import Figure, figures
from partlearn.report._tables import (
    method_label,
    overview_rows,
    result_tables,
    unranked_note,
    win_tie_loss_rows,
)

__all__ = ["to_html"]


def to_html(summary: Mapping[str, Any]) -> str:
    """Render a summary as one self-contained HTML page.

    Parameters
    ----------
    summary : dict
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    str
        The page. Text that comes from data is escaped.
    """
    try:
        import jinja2
        import matplotlib as _  # noqa: F401
        from markupsafe import Markup
    except ImportError:
        raise ImportError(
            "The HTML report needs the extra: pip install 'partlearn[report]'."
        ) from None
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("partlearn.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def trusted(drawn: list[Figure]) -> list[dict[str, str]]:
        # Our own SVG is markup; its texts were escaped by matplotlib and by us.
        return [{**f, "svg": Markup(f["svg"])} for f in drawn]

    shared = {
        "s": summary,
        "empty": _format.EMPTY,
        "facts": _format.fact_list(summary["facts"]),
        "seconds": _format.seconds,
    }
    if summary.get("task") == "multilabel":
        from partlearn.report._multilabel._html import TEMPLATE, page_parts

        parts = page_parts(summary)
        parts["figures"] = trusted(parts["figures"])
        return environment.get_template(TEMPLATE).render(shared | parts)
    drawn = trusted(figures(summary))
    columns, rows = win_tie_loss_rows(summary)
    return environment.get_template("report.html.j2").render(
        shared,
        tables=result_tables(summary),
        overviews=[
            (o["protocol"], *overview_rows(o, summary)) for o in summary["overview"]
        ],
        label=lambda name: method_label(summary, name),
        unranked=unranked_note(summary),
        wtl={"columns": columns, "rows": rows},
        figures=drawn,
        sections=_sections(summary, bool(drawn)),
        name=_format.data_name,
        score=_format.score,
        signed=_format.signed,
        dims=_format.dims,
        pvalue=_format.pvalue,
    )


def _sections(summary: Mapping[str, Any], has_figures: bool) -> list[tuple[str, str]]:
    candidates = [
        (summary["published"], "published", "Published, measured, difference"),
        (summary["overview"], "overview", "Overview"),
        (True, "results", "Results"),
        (summary["win_tie_loss"], "wtl", "Win / tie / loss"),
        (summary["effects"], "effects", "Effect sizes"),
        (summary["ranking"], "ranks", "Ranks"),
        (has_figures, "figures", "Figures"),
        (summary["views"], "ambiguous", "Most ambiguous rows"),
        (True, "costs", "Time and memory"),
        (True, "data", "Data"),
        (True, "failures", "Failures and warnings"),
        (True, "facts", "Run facts"),
    ]
    return [(key, text) for there, key, text in candidates if there]
