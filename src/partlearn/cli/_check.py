"""``partlearn check``: what is wrong with my data, in plain words."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import Annotated

import typer

from partlearn.cli._data_options import (
    Ignore,
    Json,
    Labels,
    Sep,
    Task,
    Truth,
    exit_on_error,
    load,
)

__all__ = ["check"]


def check(
    file: Annotated[Path, typer.Argument(help="The data: CSV, Parquet, .mat, ...")],
    labels: Labels = None,
    truth: Truth = None,
    sep: Sep = None,
    task: Task = None,
    ignore: Ignore = None,
    html: Annotated[Path | None, typer.Option(help="Also write one HTML page.")] = None,
    as_json: Json = False,
) -> None:
    """Say what is wrong with a data set; exit code 1 if something breaks learning."""
    with exit_on_error():
        from partlearn.check import check as check_data
        from partlearn.io import AmbiguousDataError

        bunch = load(file, labels, truth, sep, task, ignore)
        if bunch.candidates is None:
            raise AmbiguousDataError(
                "the file has true labels but no candidate sets to check",
                path=file,
                advice="Name the candidates with --labels, or say --task pll.",
            )
        report = check_data(
            bunch.data,
            bunch.candidates,
            bunch.truth,
            feature_names=bunch.feature_names,
            target_names=bunch.target_names,
        )
        if html is not None:
            from partlearn.io import atomic_write

            with atomic_write(html) as page:
                page.write(report.to_html().encode())
        typer.echo(report.to_json() if as_json else report.to_text())
    if not report.ok:
        raise typer.Exit(1)
