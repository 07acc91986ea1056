"""Markdown, LaTeX and JSON from the same summary."""

# SPDX-License-Identifier: BSD-3-Clause

import json
from collections.abc import Mapping, Sequence
from typing import Any

from partlearn.report import _format
from partlearn.report._format import EMPTY
from partlearn.report._tables import (
    method_label,
    overview_rows,
    rank_rows,
    result_tables,
    unranked_note,
    win_tie_loss_rows,
)

__all__ = ["md", "md_table", "tex", "to_json", "to_latex", "to_markdown"]


def to_json(summary: Mapping[str, Any]) -> str:
    """Render a summary as JSON.

    Parameters
    ----------
    summary : dict
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    str
        Valid JSON: infinite numbers become null.
    """
    return json.dumps(_finite(summary), indent=1, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and (value != value or value in (1e999, -1e999)):
        return None
    return value


def md(text: Any) -> str:
    """Escape what would be markup or would end a table cell."""
    special = "\\`*_{}[]<>|#"
    line = str(text).replace("\n", " ")
    return "".join("\\" + c if c in special else c for c in line)


def md_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return [*lines, ""]


def to_markdown(summary: Mapping[str, Any]) -> str:
    """Render a summary as Markdown.

    Parameters
    ----------
    summary : dict
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    str
        Tables of results, published figures, win/tie/loss, costs and failures.
    """
    if summary.get("task") == "multilabel":
        from partlearn.report._multilabel._text import markdown

        return markdown(summary)
    lines = [f"# {md(summary['title'])}", ""]
    if summary["citation"]:
        lines += [f"Published figures: {md(summary['citation'])}.", ""]
    for note in summary["notes"]:
        lines += [f"> {md(note)}", ""]
    if summary["published"]:
        lines += ["## Published, measured, difference", "", *_md_published(summary)]
    if note := unranked_note(summary):
        lines += [md(note), ""]
    for entry in summary["overview"]:
        lines += [
            f"## Average rank / mean {summary['metric']}, {entry['protocol']}",
            "",
        ]
        head, rows = overview_rows(entry, summary)
        lines += md_table([md(h) for h in head], [[md(c) for c in row] for row in rows])
    for entry in summary["ranking"]:
        lines += _md_ranking(entry, summary)
    lines += ["## Results", ""]
    for table in result_tables(summary):
        lines += [f"{table['protocol'].capitalize()} protocol:", ""]
        labels = [method_label(summary, name) for name in summary["reducers"]]
        head = ["data", "learner", *(md(label) for label in labels)]
        lines += md_table(head, [_md_result(row) for row in table["rows"]])
    if summary["win_tie_loss"]:
        lines += [f"## Win / tie / loss of {md(summary['reference'])}", ""]
        columns, rows = win_tie_loss_rows(summary)
        lines += md_table(
            ["protocol", "against", *(md(c) for c in columns)],
            [
                [
                    row["protocol"],
                    md(row["against"]),
                    *(
                        f"{c['plain']} ({c['corrected']})" if c else EMPTY
                        for c in row["cells"]
                    ),
                ]
                for row in rows
            ],
        )
    lines += ["## Time and memory", ""]
    lines += md_table(
        ["method", "kind", "fit, s", "use, s"],
        [
            [
                md(c["name"]),
                c["kind"],
                _format.seconds(c["fit_time"]),
                _format.seconds(c["use_time"]),
            ]
            for c in summary["costs"]
        ],
    )
    lines += _md_problems(summary)
    lines += ["## Run facts", ""]
    lines += [
        f"- {key}: {md(value)}" for key, value in _format.fact_list(summary["facts"])
    ]
    return "\n".join(lines) + "\n"


def _md_ranking(entry: Mapping[str, Any], summary: Mapping[str, Any]) -> list[str]:
    head, rows = rank_rows(entry, summary)
    return [
        f"## Ranks over {entry['n_blocks']} {entry['over']}, {entry['protocol']}",
        "",
        f"Friedman p = {_format.pvalue(entry['friedman_p'])}; critical difference "
        f"{entry['critical_difference']:.2f} (Nemenyi, 0.05); Wilcoxon signed-rank "
        "tests corrected by Holm.",
        "",
        *md_table([md(h) for h in head], [[md(c) for c in row] for row in rows]),
    ]


def _md_result(row: Mapping[str, Any]) -> list[str]:
    cells = []
    for cell in row["cells"]:
        text = _format.score(cell["mean"], cell["std"]) if cell else EMPTY
        cells.append(f"**{text}**" if cell and cell["best"] else text)
    return [md(_format.data_name(row["data"], row["r"])), md(row["learner"]), *cells]


def _md_published(summary: Mapping[str, Any]) -> list[str]:
    head = ["data", "learner", "reduction", "published"]
    for protocol in summary["protocols"]:
        head += [f"measured, {protocol}", "difference"]
    rows = []
    for row in summary["published"]:
        cells = [
            md(_format.data_name(row["data"], row["r"])),
            md(row["learner"]),
            md(row["reducer"]),
            _format.score(row["published_mean"], row["published_std"]),
        ]
        for protocol in summary["protocols"]:
            found = row["measured"].get(protocol)
            cells += [
                _format.score(found["mean"], found["std"]) if found else EMPTY,
                _format.signed(found["difference"]) if found else EMPTY,
            ]
        rows.append(cells)
    return md_table(head, rows)


def _md_problems(summary: Mapping[str, Any]) -> list[str]:
    lines = []
    if summary["absent"]:
        lines += ["## Data that was not there", ""]
        lines += [f"- {md(a['name'])}: {md(a['reason'])}" for a in summary["absent"]]
        lines.append("")
    if summary["failures"]:
        lines += ["## Failures", ""]
        lines += [
            f"- {md(f['data'])}, {md(f['reducer'])}, {md(f['learner'])} "
            f"({f['protocol']}, {f['n_folds']} folds): "
            f"{f['error']}: {md(f['message'])}"
            for f in summary["failures"]
        ]
        lines.append("")
    return lines


_TEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
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


def tex(text: Any) -> str:
    return "".join(_TEX.get(c, c) for c in str(text).replace("\n", " "))


def to_latex(summary: Mapping[str, Any]) -> str:
    """Render the result tables as LaTeX ``tabular`` environments.

    Parameters
    ----------
    summary : dict
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    str
        One table per protocol; needs the package booktabs.
    """
    if summary.get("task") == "multilabel":
        from partlearn.report._multilabel._text import latex

        return latex(summary)
    lines: list[str] = []
    for table in result_tables(summary):
        labels = [method_label(summary, name) for name in summary["reducers"]]
        names = ["data", "learner", *labels]
        lines += [
            r"\begin{table}",
            rf"\caption{{{tex(summary['title'])}, {table['protocol']} protocol}}",
            r"\begin{tabular}{ll" + "r" * len(summary["reducers"]) + "}",
            r"\toprule",
            " & ".join(tex(n) for n in names) + r" \\",
            r"\midrule",
        ]
        for row in table["rows"]:
            cells = []
            for cell in row["cells"]:
                text = tex(_format.score(cell["mean"], cell["std"]) if cell else EMPTY)
                best = cell is not None and cell["best"]
                cells.append(rf"\textbf{{{text}}}" if best else text)
            head = [
                tex(_format.data_name(row["data"], row["r"])),
                tex(row["learner"]),
            ]
            lines.append(" & ".join([*head, *cells]) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)
