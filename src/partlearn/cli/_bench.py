"""``partlearn bench``: run a plan."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import Annotated, Any

import typer

from partlearn.cli._data_options import Json

__all__ = ["bench"]


def _list_plans(wanted: bool) -> None:
    if wanted:
        from partlearn.benchmark import list_plans, load_plan

        for name in list_plans():
            typer.echo(f"{name:28} {load_plan(name).title}")
        raise typer.Exit


def _complete(incomplete: str) -> list[str]:
    from partlearn.benchmark import list_plans

    return [name for name in list_plans() if name.startswith(incomplete)]


def bench(
    plan: Annotated[
        str,
        typer.Argument(
            help="Name of a shipped plan, or a .toml file.", autocompletion=_complete
        ),
    ],
    data: Annotated[
        Path | None, typer.Option(help="Folder with the data sets, searched deeply.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for results; results/PLAN if not given.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Folds, instead of the plan's number.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=0, help="Number of processes; 0 means one per core.")
    ] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, tcp://HOST:PORT.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume/--fresh", help="Keep or forget jobs already finished."),
    ] = True,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed jobs again.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Run a share of the finished jobs again and compare."
        ),
    ] = False,
    share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the jobs to verify.")
    ] = 0.1,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Package whose classes a plan file may name; it is imported, which "
            "runs its code. Repeat for more."
        ),
    ] = None,
    as_json: Json = False,
    _list: Annotated[
        bool,
        typer.Option(
            "--list", callback=_list_plans, is_eager=True, help="List shipped plans."
        ),
    ] = False,
) -> None:
    """Run a comparison: a paper's table or your own plan.

    Results are kept job by job: the same command goes on where it was stopped.
    Exit code 1 means that some jobs failed, or are different when verified.
    """
    from partlearn.cli import _finish

    out = out or Path("results") / Path(plan).stem
    running: dict[str, Any] = {
        "data_folder": data,
        "folds": folds,
        "workers": jobs or None,
        "scheduler": scheduler,
        "allow": allow or (),
    }
    if verify:
        _finish.verify(plan, out, share, **running)
        return
    running |= {"fresh": not resume, "retry_failed": retry_failed}
    _finish.run_and_report(plan, out, as_json=as_json, **running)
