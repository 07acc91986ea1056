"""``partlearn demo``: the main job on data that ships with scikit-learn."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option(help="Folder for results and report.")] = Path(
        "partlearn-demo"
    ),
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 2,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer rows and folds: a few seconds.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON.")
    ] = False,
) -> None:
    """Compare methods on handwritten digits with ambiguous labels.

    Every image gets 1, 2 or 3 false labels beside the true one. The command prints
    accuracy with and without dimensionality reduction and writes an HTML report.
    """
    from partlearn.cli._finish import run_and_report

    run_and_report(
        "demo-quick" if quick else "demo", out, workers=jobs, as_json=as_json
    )
