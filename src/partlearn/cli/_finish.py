"""Run a plan, print its tables, write its reports: shared by demo and bench."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from partlearn.cli._console import print_summary, progress, say

if TYPE_CHECKING:
    from partlearn.report import Summary

__all__ = ["run_and_report", "verify", "write_reports"]


def run_and_report(
    plan_name: str,
    out: Path,
    *,
    fresh: bool = False,
    retry_failed: bool = False,
    as_json: bool = False,
    sections: Container[str] | None = None,
    **how: Any,
) -> None:
    """Run, print, write; exit code 1 when jobs failed. `how` goes to `_prepared`."""
    from partlearn.benchmark import run_plan
    from partlearn.report import summarize, to_json

    try:
        with _prepared(plan_name, **how) as (plan, running):
            result = run_plan(
                plan, out, retry_failed=retry_failed, fresh=fresh, **running
            )
    except KeyboardInterrupt:
        say("Interrupted. Finished jobs are kept: the same command goes on from here.")
        raise typer.Exit(1) from None
    for file, reason in result.damaged.items():
        say(f"Damaged: {file} ({reason}); it was made again.")
    for item in result.absent:
        say(f"Left out: {item.name} ({item.reason}).")
    if not result.results:
        raise ValueError(
            "none of the plan's data sets is there; point --data at a folder that "
            "holds " + ", ".join(a.file for a in result.absent)
        )
    summary = summarize(out)
    paths = write_reports(summary, out)
    if as_json:
        print(to_json(summary))
    else:
        print_summary(summary, sections)
        for path in paths:
            print(f"Report: {path}")
    _say_end(result)
    if result.n_failed:
        raise typer.Exit(1)


def verify(plan_name: str, out: Path, share: float, **how: Any) -> None:
    """Run a share of the finished jobs again; exit code 1 when any differs."""
    from partlearn.benchmark import verify_run

    with _prepared(plan_name, **how) as (plan, running):
        answer = verify_run(plan, out, share=share, **running)
    if not answer.n_checked:
        raise ValueError(
            f"{out} has no finished jobs of this plan, data and version of partlearn; "
            "run the plan without --verify first"
        )
    for name in answer.different:
        print(f"Different: {name}")
    print(
        f"{answer.n_checked} jobs run again, {len(answer.different)} records different."
    )
    if answer.different:
        raise typer.Exit(1)


@contextmanager
def _prepared(
    plan_name: str,
    *,
    data_folder: Path | None = None,
    folds: int | None = None,
    workers: int | None = 1,
    scheduler: str | None = None,
    allow: Sequence[str] = (),
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Load a plan; where its data are and its jobs run, and the bar of the jobs."""
    from partlearn.benchmark import load_plan, make_engine

    plan = load_plan(plan_name, allow=allow)
    if folds is not None:
        plan = replace(plan, folds=folds)
    engine = make_engine(workers, scheduler)
    try:
        with progress(plan.name) as update:
            where = {"data_folder": data_folder, "engine": engine}
            yield plan, where | {"progress": update}
    finally:
        engine.close()


def _say_end(result: Any) -> None:
    text = f"{result.n_executed} jobs in {result.wall_time:.1f} s"
    if result.work_time > 0:
        ratio = result.wall_time / result.work_time
        text += f" ({result.work_time:.1f} s inside estimators, ratio {ratio:.2f})"
    say(text + ".")
    if result.n_failed:
        first = next(row for row in result.results if not row.ok)
        reason = f"{first.error}: {first.message}".splitlines()[0]
        say(f"{result.n_failed} jobs failed; the report has the tracebacks.")
        say(f"The first, {first.reducer} and {first.learner}: {reason}")


def write_reports(summary: "Summary", out: Path) -> list[Path]:
    """Write ``report.html`` where the extra is installed, and ``report.json``."""
    from partlearn.io import atomic_write
    from partlearn.report import to_html, to_json

    with atomic_write(out / "report.json") as file:
        file.write(f"{to_json(summary)}\n".encode())
    path = out / "report.html"
    try:
        page = to_html(summary)
    except ImportError as error:
        say(str(error))
        return [out / "report.json"]
    with atomic_write(path) as file:
        file.write(page.encode())
    return [path]
