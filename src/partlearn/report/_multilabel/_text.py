"""Markdown and LaTeX of a multi-label report."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any

from partlearn.report import _format
from partlearn.report._multilabel._tables import (
    against_table,
    metric_name,
    published_table,
    rank_table,
    result_tables,
    set_name,
)
from partlearn.report._text import md, md_table, tex

__all__ = ["latex", "markdown"]


def markdown(summary: Mapping[str, Any]) -> str:
    """Render the summary of a multi-label run as Markdown."""
    lines = [f"# {md(summary['title'])}", ""]
    if summary["citation"]:
        lines += [f"Published figures: {md(summary['citation'])}.", ""]
    for note in summary["notes"]:
        lines += [f"> {md(note)}", ""]
    if summary["published"]:
        lines += ["## Published, measured, difference", ""]
        lines += _plain(published_table(summary))
    lines += ["## Results", ""]
    for metric in summary["metrics"]:
        for table in result_tables(summary, metric):
            lines += [f"{md(table['caption'])}:", ""]
            rows = [_result_row(row) for row in table["rows"]]
            lines += md_table(["method", *(md(h) for h in table["head"])], rows)
    for key, title in (
        ("against_random", "Against random order"),
        ("against_frequency", "Against label frequency"),
    ):
        if summary[key]:
            lines += [f"## {title}", "", *_plain(against_table(summary, key))]
    for ranking in summary["ranking"]:
        p = _format.pvalue(ranking["friedman_p"])
        n, over = ranking["n_blocks"], ranking["over"]
        lines += [f"## Ranks by {metric_name(ranking['metric'])} over {over}", ""]
        lines += [f"Friedman p = {p} over {n} {over}.", ""]
        lines += _plain(rank_table(ranking, summary["reference"]))
    lines += _problems(summary)
    lines += ["## Run facts", ""]
    facts = _format.fact_list(summary["facts"])
    lines += [f"- {key}: {md(value)}" for key, value in facts]
    return "\n".join(lines) + "\n"


def _result_row(row: Mapping[str, Any]) -> list[str]:
    name = md(row["method"]) + (" (control)" if row["control"] else "")
    return [
        name,
        *(f"**{c['text']}**" if c["best"] else c["text"] for c in row["cells"]),
    ]


def _plain(table: Mapping[str, Any]) -> list[str]:
    rows = [[md(cell) for cell in row] for row in table["rows"]]
    return md_table([md(cell) for cell in table["head"]], rows)


def _problems(summary: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    if summary["absent"]:
        lines += ["## Data that was not there", ""]
        lines += [f"- {md(a['name'])}: {md(a['reason'])}" for a in summary["absent"]]
        lines.append("")
    if summary["failures"]:
        lines += ["## Failures", ""]
        lines += [
            f"- {md(set_name(f['data'], f['r']))}, {md(f['reducer'])}, "
            f"{md(f['learner'])}, {f['labels']} ({f['n_jobs']} jobs): "
            f"{f['error']}: {md(f['message'])}"
            for f in summary["failures"]
        ]
        lines.append("")
    return lines


def latex(summary: Mapping[str, Any]) -> str:
    """Render the result tables of a multi-label run as LaTeX."""
    lines: list[str] = []
    for metric in summary["metrics"]:
        for table in result_tables(summary, metric):
            lines += [
                r"\begin{table}",
                rf"\caption{{{tex(table['caption'])}}}",
                r"\begin{tabular}{l" + "r" * len(table["head"]) + "}",
                r"\toprule",
                " & ".join(["method", *(tex(h) for h in table["head"])]) + r" \\",
                r"\midrule",
            ]
            for row in table["rows"]:
                cells = [
                    rf"\textbf{{{tex(c['text'])}}}" if c["best"] else tex(c["text"])
                    for c in row["cells"]
                ]
                lines.append(" & ".join([tex(row["method"]), *cells]) + r" \\")
            lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)
