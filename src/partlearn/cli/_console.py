"""Results to standard output, everything else to standard error."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

__all__ = ["errors", "output", "print_json", "print_summary", "progress", "say"]


def output() -> "Console":
    """Console for results; wide when not a terminal, so that nothing is cut."""
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, width=240)


def errors() -> "Console":
    """Console for progress and messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """Print a message that is not a result."""
    print(text, file=sys.stderr)


def print_json(content: Any) -> None:
    """Print one JSON document."""
    json.dump(content, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


@contextmanager
def progress(title: str) -> "Iterator[Callable[[int, int, str], None]]":
    """Bar with the time left on standard error; silent when it is no terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.fields[title]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
        console=errors(),
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task("starting", total=None, title=title)

        def update(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total, description=label)

        yield update


def _show(title: str, columns: list[str], rows: list[list[str]], *, left: int) -> None:
    """Print a table whose cells are plain text; a star makes a cell bold."""
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for i, column in enumerate(columns):
        table.add_column(
            Text(column), justify="left" if i < left else "right", no_wrap=True
        )
    for row in rows:
        table.add_row(
            *(Text(cell, style="bold" if cell.endswith(" *") else "") for cell in row)
        )
    console = output()
    # On a line of its own: as a title of the table it would wrap to its width.
    console.print(title, style="bold", markup=False)
    console.print(table)


def print_summary(summary: Mapping[str, Any]) -> None:
    """Print the tables of a report."""
    if summary.get("task") == "multilabel":
        from partlearn.cli._console_multilabel import print_multilabel

        print_multilabel(summary, _show)
        return
    _print_results(summary)
    _print_ranks(summary)
    if summary["published"]:
        _print_published(summary)
    if summary["win_tie_loss"]:
        _print_win_tie_loss(summary)


def _print_results(summary: Mapping[str, Any]) -> None:
    from partlearn.report._format import EMPTY, data_name, score
    from partlearn.report._tables import method_label, result_tables

    names = [method_label(summary, name) for name in summary["reducers"]]
    for table in result_tables(summary):
        rows = []
        for row in table["rows"]:
            cells = [data_name(row["data"], row["r"]), row["learner"]]
            for cell in row["cells"]:
                text = score(cell["mean"], cell["std"]) if cell else EMPTY
                cells.append(text + (" *" if cell and cell["best"] else "  "))
            rows.append(cells)
        title = (
            f"{summary['metric'].capitalize()}, {table['protocol']} protocol "
            f"(mean ± std over {summary['facts']['folds']} folds, * best)"
        )
        _show(title, ["data", "learner", *names], rows, left=2)


def _print_ranks(summary: Mapping[str, Any]) -> None:
    from partlearn.report._format import pvalue
    from partlearn.report._tables import overview_rows, rank_rows, unranked_note

    for entry in summary["overview"]:
        head, rows = overview_rows(entry, summary)
        title = f"Average rank / mean {summary['metric']}, {entry['protocol']} protocol"
        _show(title, head, rows, left=1)
    for entry in summary["ranking"]:
        head, rows = rank_rows(entry, summary)
        title = (
            f"Ranks over {entry['n_blocks']} {entry['over']}, {entry['protocol']}: "
            f"Friedman p = {pvalue(entry['friedman_p'])}, critical difference "
            f"{entry['critical_difference']:.2f}, Wilcoxon p corrected by Holm"
        )
        _show(title, head, rows, left=1)
    if note := unranked_note(summary):
        print(note)


def _print_published(summary: Mapping[str, Any]) -> None:
    from partlearn.report._format import data_name, score, signed

    columns = ["data", "learner", "reduction", "published"]
    for protocol in summary["protocols"]:
        columns += [protocol, "difference"]
    rows = []
    for row in summary["published"]:
        cells = [data_name(row["data"], row["r"]), row["learner"], row["reducer"]]
        cells.append(score(row["published_mean"], row["published_std"]))
        for protocol in summary["protocols"]:
            found = row["measured"].get(protocol, {})
            cells.append(score(found.get("mean"), found.get("std")))
            cells.append(signed(found.get("difference")))
        rows.append(cells)
    _show("Published, measured, difference", columns, rows, left=3)


def _print_win_tie_loss(summary: Mapping[str, Any]) -> None:
    from partlearn.report._format import EMPTY
    from partlearn.report._tables import win_tie_loss_rows

    columns, found = win_tie_loss_rows(summary)
    rows = [
        [
            row["protocol"],
            row["against"],
            *(f"{c['plain']} ({c['corrected']})" if c else EMPTY for c in row["cells"]),
        ]
        for row in found
    ]
    _show(
        f"Win/tie/loss of {summary['reference']} "
        "(paired t-test at 0.05; in brackets the corrected test)",
        ["protocol", "against", *columns],
        rows,
        left=2,
    )
