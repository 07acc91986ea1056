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
    ending,
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
    with ending():
        from partlearn.datasets import AmbiguousDataError
        from partlearn.datasets import check as examine

        bunch = load(file, labels, truth, sep, task, ignore)
        if bunch.candidates is None:
            raise AmbiguousDataError(
                "the file has true labels but no candidate sets to check",
                path=file,
                advice="Name the candidates with --labels, or say --task pll.",
            )
        report = examine(
            bunch.data,
            bunch.candidates,
            bunch.truth,
            feature_names=bunch.feature_names,
            target_names=bunch.target_names,
        )
        if html is not None:
            from partlearn.datasets._write import atomic

            with atomic(html) as page:
                page.write(report.to_html().encode())
        typer.echo(report.to_json() if as_json else report.to_text())
    if not report.ok:
        raise typer.Exit(1)
