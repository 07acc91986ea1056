"""``partlearn check``: find problems in a data set."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

import typer

from partlearn.cli._console import plain, plain_json
from partlearn.cli._input import notes, read_data
from partlearn.cli._options import DataOptions, Json, check_files, with_options


@with_options()
def check(
    file: Path,
    *,
    options: DataOptions,
    html: Path | None = None,
    as_json: Json = False,
) -> None:
    """Find problems in a data set; exit code 1 if training would fail.

    Parameters
    ----------
    file
        Table or matrix: CSV, Parquet, .mat, ...
    html
        Also write the report as an HTML page.
    """
    from partlearn.check import check as check_data
    from partlearn.io import AmbiguousDataError, atomic_write
    from partlearn.tables import feature_names

    check_files([file, options.votes], {"--html": html})
    with notes():
        data = read_data(file, options)
        matrix = data.bunch
        if matrix is not None and data.labels is None:
            raise AmbiguousDataError(
                "the file has true labels but no candidate sets to check",
                path=file,
                advice="Name the candidates with --labels, or pass --task pll.",
            )
        report = check_data(
            data.X,
            data.labels,
            data.truth_column,
            sep=options.sep,
            encoder=data.new_encoder(),
            feature_names=None if matrix is None else feature_names(matrix),
            target_names=None if matrix is None else matrix.target_names,
            bags=data.bags,
            task=data.task,
        )
    if html is not None:
        with atomic_write(html) as page:
            page.write(report.to_html().encode())
    typer.echo(plain_json(report.to_json()) if as_json else plain(report.to_text()))
    if not report.ok:
        raise typer.Exit(1)
