"""What the page of a multi-label run shows beside the summary itself."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any

from partlearn.report import _format
from partlearn.report._multilabel._figures import multilabel_figures
from partlearn.report._multilabel._tables import (
    against_table,
    metric_name,
    published_table,
    rank_table,
    result_tables,
    set_name,
)

__all__ = ["TEMPLATE", "page_parts"]

TEMPLATE = "multilabel.html.j2"


def page_parts(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Tables, figures and sections of the page.

    Parameters
    ----------
    summary : dict
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    dict
        Variables of the template.
    """
    drawn = multilabel_figures(summary)
    sections = [
        (summary["published"], "published", "Published, measured, difference"),
        (True, "results", "Results"),
        (summary["against_random"], "random", "Against random order"),
        (summary["against_frequency"], "frequency", "Against label frequency"),
        (summary["ranking"], "ranks", "Ranks"),
        (drawn, "figures", "Figures"),
        (True, "costs", "Time and memory"),
        (True, "data", "Data"),
        (True, "failures", "Failures and warnings"),
        (True, "facts", "Run facts"),
    ]
    return {
        "figures": drawn,
        "published": published_table(summary),
        "tables": [
            table
            for metric in summary["metrics"]
            for table in result_tables(summary, metric)
        ],
        "random": against_table(summary, "against_random"),
        "frequency": against_table(summary, "against_frequency"),
        "ranks": [
            {
                "name": metric_name(k["metric"]),
                "friedman": f"{k['friedman']:.2f}",
                "p": _format.pvalue(k["friedman_p"]),
                "n_blocks": k["n_blocks"],
                "over": k["over"],
                "table": rank_table(k, summary["reference"]),
            }
            for k in summary["ranking"]
        ],
        "sections": [(key, text) for there, key, text in sections if there],
        "name": set_name,
    }
