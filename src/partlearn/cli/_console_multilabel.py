"""Tables of a multi-label run on the terminal."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["print_multilabel"]


def print_multilabel(summary: Mapping[str, Any], show: Callable[..., None]) -> None:
    """Print results of the first score, published figures, controls and ranks.

    Parameters
    ----------
    summary : dict
        From :func:`partlearn.report.summarize`.
    show : callable
        Prints a table: ``show(title, columns, rows, left=n)``.
    """
    from partlearn.report._format import pvalue
    from partlearn.report._multilabel._tables import (
        against_table,
        metric_name,
        published_table,
        rank_table,
        result_tables,
    )

    for table in result_tables(summary, summary["metric"]):
        rows = [
            [
                row["method"] + (" (control)" if row["control"] else ""),
                *(c["text"] + (" *" if c["best"] else "  ") for c in row["cells"]),
            ]
            for row in table["rows"]
        ]
        title = f"{table['caption']}: area under the curve (* best order)"
        show(title, ["method", *table["head"]], rows, left=1)
    if summary["published"]:
        table = published_table(summary)
        show("Published, measured, difference", table["head"], table["rows"], left=5)
    if summary["against_random"]:
        table = against_table(summary, "against_random")
        first = metric_name(summary["metric"])
        rows = [row for row in table["rows"] if row[0] == first]
        show("Against random order", table["head"], rows, left=2)
    for ranking in summary["ranking"]:
        if ranking["metric"] == summary["metric"]:
            table = rank_table(ranking, summary["reference"])
            p, n = pvalue(ranking["friedman_p"]), ranking["n_blocks"]
            name = metric_name(ranking["metric"])
            over = ranking["over"]
            title = f"Ranks by {name}: Friedman p = {p} over {n} {over}"
            show(title, table["head"], table["rows"], left=1)
