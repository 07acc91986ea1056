"""``partlearn bench`` and ``partlearn report``: run a plan, and report its results."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partlearn.cli._console import plain_json, print_json, print_summary, progress, say
from partlearn.cli._options import Json, check_files, with_options

if TYPE_CHECKING:
    from partlearn.report import Summary


def _list_plans(wanted: bool) -> None:
    if wanted:
        from partlearn.benchmark import list_plans, load_plan

        for name in list_plans():
            typer.echo(f"{name:28} {load_plan(name).title}")
        raise typer.Exit


def _complete(incomplete: str) -> list[str]:
    from partlearn.benchmark import list_plans

    return [name for name in list_plans() if name.startswith(incomplete)]


@with_options()
def bench(
    plan: Annotated[str, typer.Argument(autocompletion=_complete)],
    *,
    data: Path | None = None,
    out: Path | None = None,
    folds: Annotated[int | None, typer.Option(min=2)] = None,
    jobs: Annotated[int, typer.Option(min=0)] = 1,
    scheduler: str | None = None,
    resume: Annotated[bool, typer.Option("--resume/--fresh")] = True,
    retry_failed: bool = False,
    verify: bool = False,
    share: Annotated[float, typer.Option(min=0, max=1)] = 0.1,
    allow: list[str] | None = None,
    as_json: Json = False,
    _list: Annotated[
        bool, typer.Option("--list", callback=_list_plans, is_eager=True)
    ] = False,
) -> None:
    """Run a benchmark plan: a table of a paper, or your own comparison.

    Finished jobs are kept, so the same command continues an interrupted run. Exit code
    1 means that jobs failed, or that verified results differ.

    Parameters
    ----------
    plan
        Name of an included plan, or a .toml file.
    data
        Folder with the data sets; subfolders are searched.
    out
        Folder for results, by default results/PLAN.
    folds
        Number of folds, instead of the plan's.
    jobs
        Number of processes; 0 means one per core.
    scheduler
        Address of a Dask scheduler, tcp://HOST:PORT.
    resume
        Keep or discard finished jobs.
    retry_failed
        Run failed jobs again.
    verify
        Repeat a share of the finished jobs and compare the results.
    share
        Share of the jobs to verify, above 0.
    allow
        Package whose classes a plan may use. It is imported, which runs its code. May
        be repeated.
    _list
        List the included plans.
    """
    out = out or Path("results") / Path(plan).stem
    running: dict[str, Any] = {
        "data_folder": data,
        "folds": folds,
        "workers": jobs or None,
        "scheduler": scheduler,
        "allow": allow or (),
    }
    if verify:
        _run_again(plan, out, share, as_json=as_json, **running)
        return
    running |= {"fresh": not resume, "retry_failed": retry_failed}
    run_and_report(plan, out, as_json=as_json, **running)


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
    """Run a plan and write its reports; exit code 1 if jobs failed."""
    from partlearn.benchmark import run_plan

    try:
        with _prepared(plan_name, **how) as (plan, running):
            run = run_plan(plan, out, retry_failed=retry_failed, fresh=fresh, **running)
    except KeyboardInterrupt:
        say("Interrupted. Finished jobs are kept; run the same command to continue.")
        raise typer.Exit(1) from None
    for file, reason in run.damaged.items():
        say(f"Damaged: {file} ({reason}); it was made again.")
    for item in run.absent:
        say(f"Left out: {item['name']} ({item['reason']}).")
    if not run.data:
        raise ValueError(
            "no data set of the plan was found; --data must name a folder that holds "
            + ", ".join(item["file"] for item in run.absent)
        )
    from partlearn.report import summarize, to_json

    summary = summarize(out)
    paths = _write_reports(summary, out)
    if as_json:
        print(plain_json(to_json(summary)))
    else:
        print_summary(summary, sections)
        for path in paths:
            print(f"Report: {path}")
    _say_end(run)
    if run.facts["n_failed"]:
        raise typer.Exit(1)


def _run_again(
    plan_name: str, out: Path, share: float, *, as_json: bool, **how: Any
) -> None:
    """Run a share of the finished jobs again; exit code 1 if a result differs."""
    from partlearn.benchmark import verify_run
    from partlearn.report import plural

    if not share:
        raise ValueError("--share must be above 0; 1 runs all finished jobs again.")
    with _prepared(plan_name, **how) as (plan, running):
        answer = verify_run(plan, out, share=share, **running)
    if not answer.n_checked:
        raise ValueError(
            f"{out} has no finished jobs of this plan, data and version of partlearn; "
            "run the plan without --verify first"
        )
    n, different = answer.n_checked, list(answer.different)
    if as_json:
        print_json({"run_again": n, "different": different})
    else:
        for name in different:
            print(f"Different: {name}")
        jobs, records = plural(n, "job"), plural(len(different), "record")
        print(f"{jobs} run again, {records} different.")
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
    """Load a plan; yield it with its data folder, its engine and a progress bar."""
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


def _say_end(run: Any) -> None:
    from partlearn.report import plural

    facts = run.facts
    text = f"{plural(facts['n_executed'], 'job')} in {facts['wall_time']:.1f} s"
    if facts["work_time"] > 0:
        ratio = facts["wall_time"] / facts["work_time"]
        text += f" ({facts['work_time']:.1f} s inside estimators, ratio {ratio:.2f})"
    say(text + ".")
    if facts["n_failed"]:
        frame = run.frame()
        first = next(frame[frame["metric"] == "error"].itertuples())
        reason = first.text.splitlines()[0]
        jobs = plural(facts["n_failed"], "job")
        say(f"{jobs} failed; the report has the tracebacks.")
        say(f"The first, {first.reducer} and {first.learner}: {reason}")


def _write_reports(summary: "Summary", out: Path) -> list[Path]:
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


@with_options()
def report(
    folder: Path,
    *,
    html: Path | None = None,
    markdown: Path | None = None,
    latex: Path | None = None,
    csv: Path | None = None,
    table: str | None = None,
    as_json: Json = False,
) -> None:
    """Render the report of a run; without options, print its tables.

    Parameters
    ----------
    folder
        Folder of a run (bench --out).
    html
        Write one HTML page; - prints it.
    markdown
        Write Markdown; - prints it.
    latex
        Write LaTeX tables; - prints them.
    csv
        Write the cells of all tables as CSV; - prints them.
    table
        Only this table in LaTeX or CSV, for example results.
    """
    from partlearn import report
    from partlearn.benchmark import is_run_file
    from partlearn.io import STANDARD, atomic_write

    if table is not None and latex is None and csv is None:
        raise ValueError("--table chooses a table for --latex or --csv; give one.")
    run = _run_folder(folder)
    outputs = {"--html": html, "--markdown": markdown, "--latex": latex, "--csv": csv}
    given = {name: path for name, path in outputs.items() if path is not None}
    check_files((), {}, printed=given, as_json=as_json)
    for path in given.values():
        if is_run_file(run, path):
            raise ValueError(
                f"{path} is a file of the run itself; name another file for the report"
            )
    summary = report.summarize(run)
    renderers: dict[str, Callable[[], str]] = {
        "--html": lambda: report.to_html(summary),
        "--markdown": lambda: report.to_markdown(summary),
        "--latex": lambda: report.to_latex(summary, table=table),
        "--csv": lambda: report.to_csv(summary, table=table),
    }
    for name, path in given.items():
        page = renderers[name]()
        if path == STANDARD:
            typer.echo(page.rstrip("\n"))
            continue
        with atomic_write(path) as file:
            file.write(page.encode())
        if not as_json:
            typer.echo(f"Report: {path}", err=STANDARD in given.values())
    if as_json:
        print(plain_json(report.to_json(summary)))
    elif not given:
        print_summary(summary)


def _run_folder(folder: Path) -> Path:
    """Return the folder itself, or the only run inside it."""
    if (folder / "run.json").is_file() or not folder.is_dir():
        return folder
    runs = sorted(path.parent for path in folder.glob("*/run.json"))
    if len(runs) > 1:
        names = ", ".join(path.name for path in runs)
        raise ValueError(f"{folder} holds several runs ({names}); name one of them.")
    return runs[0] if runs else folder
