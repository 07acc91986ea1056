"""``partlearn check``: what is wrong with my data, in plain words."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partlearn.cli._console import plain
from partlearn.cli._input import bags_of, find_truth, notes, read_table_input
from partlearn.cli._options import (
    DataOptions,
    Json,
    check_files,
    read_matrix,
    with_options,
)

if TYPE_CHECKING:
    from partlearn.check import DataReport


@with_options()
def check(
    file: Annotated[Path, typer.Argument(help="The data: CSV, Parquet, .mat, ...")],
    options: DataOptions,
    html: Annotated[Path | None, typer.Option(help="Also write one HTML page.")] = None,
    as_json: Json = False,
) -> None:
    """Say what is wrong with a data set; exit code 1 if something breaks learning."""
    from partlearn.io import atomic_write, is_table

    check_files([file, options.votes], [html])
    table = is_table(file) and options.task in (None, "pll", "single", "tags")
    with notes():
        report = (_check_table if table else _check_matrix)(file, options)
    if html is not None:
        with atomic_write(html) as page:
            page.write(report.to_html().encode())
    typer.echo(report.to_json() if as_json else plain(report.to_text()))
    if not report.ok:
        raise typer.Exit(1)


def _check_table(file: Path, options: DataOptions) -> "DataReport":
    """Check a table whose columns may be anything: problems are findings."""
    from partlearn.check import check as check_data
    from partlearn.io import LabelColumns
    from partlearn.tables import TableEncoder, check_names, read_columns

    encoder = TableEncoder(**options.roles, ignore=options.ignore or ())
    chosen = options.label_choice
    task: Any = "tags" if options.task == "tags" else "single"
    if options.votes is not None:
        table = read_table_input(file, options)
        return check_data(
            table.columns,
            table.y,
            table.truth,
            encoder=encoder,
            bags=options.bag,
            task=task,
        )
    columns = read_columns(file, encoding=options.encoding)
    check_names(options.ignore or (), columns, "ignore")
    if isinstance(chosen, LabelColumns):
        names = check_names(chosen.names, columns, chosen.form or "labels")
    else:
        names = [chosen or "", *(chosen or "").split(",")]
    truth = find_truth(columns, names, options)
    return check_data(
        columns,
        chosen,
        truth,
        sep=options.sep,
        encoder=encoder,
        bags=options.bag,
        task=task,
    )


def _check_matrix(file: Path, options: DataOptions) -> "DataReport":
    from partlearn.check import check as check_data
    from partlearn.io import AmbiguousDataError

    bunch = read_matrix(file, options)
    if bunch.candidates is None:
        raise AmbiguousDataError(
            "the file has true labels but no candidate sets to check",
            path=file,
            advice="Name the candidates with --labels, or say --task pll.",
        )
    return check_data(
        bunch.data,
        bunch.candidates,
        bunch.truth,
        feature_names=bunch.feature_names,
        target_names=bunch.target_names,
        bags=bags_of(bunch, options.bag),
    )
