"""Put the commands together; each one imports its modules when it runs."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Annotated

import typer

from partlearn.cli._ask import ask
from partlearn.cli._bench import bench, report
from partlearn.cli._check import check
from partlearn.cli._console import fit_progress
from partlearn.cli._data import app as data
from partlearn.cli._demo import demo
from partlearn.cli._disambiguate import disambiguate
from partlearn.cli._reduce import reduce, select
from partlearn.cli._train import predict, train

app = typer.Typer(
    help="Learn from labels that are sets of candidates.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing what draws boxes takes as long as all the rest
    context_settings={
        "help_option_names": ["-h", "--help"],
        # Flags that are not given would be checked by pydantic, which is slow to load.
        "default_map": {
            "help": False,
            "install_completion": False,
            "show_completion": False,
            "data": {"help": False},
        },
    },
)


def _version(wanted: bool) -> None:
    if wanted:
        from partlearn import __version__

        typer.echo(f"partlearn {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Learn from labels that are sets of candidates."""
    context.with_resource(fit_progress())


commands = (
    demo, reduce, select, disambiguate, ask, train, predict, check, bench, report,
)  # fmt: skip
for command in commands:
    app.command()(command)
app.add_typer(data, name="data")
