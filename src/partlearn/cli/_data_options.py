"""Options that several commands share, and how errors end."""

# SPDX-License-Identifier: BSD-3-Clause

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = [
    "Category",
    "DataOptions",
    "Date",
    "Groups",
    "Id",
    "Ignore",
    "Json",
    "Labels",
    "Number",
    "SafeCsv",
    "Sep",
    "Task",
    "Text",
    "Truth",
    "VoteFile",
    "check_output",
    "column_roles",
    "print_error",
    "read_matrix",
    "report_to",
]

Labels = Annotated[
    str | None,
    typer.Option(
        help="Column of candidate sets, or several one-hot columns separated by "
        "commas. ARFF: label attributes, their number (-6: the last six) or an .xml.",
    ),
]
VoteFile = Annotated[
    Path | None,
    typer.Option(
        "--votes",
        help="Long table of labels, one line per row, annotator and label; the row by "
        "its number from 0, or by the column --id. --labels names the three columns.",
    ),
]
Truth = Annotated[str | None, typer.Option(help="Column of true labels.")]
Sep = Annotated[
    str | None,
    typer.Option(
        help="What separates labels in a column; | ; and , are found without it."
    ),
]
Task = Annotated[str | None, typer.Option(help="pll, pml, multiclass or multilabel.")]
Ignore = Annotated[
    list[str] | None, typer.Option(help="Column to leave out; may be repeated.")
]
Id = Annotated[
    list[str] | None,
    typer.Option(help="Column that names the rows, kept beside results; repeatable."),
]
Date = Annotated[
    list[str] | None, typer.Option(help="Column of dates; may be repeated.")
]
Text = Annotated[
    list[str] | None, typer.Option(help="Column of free text; may be repeated.")
]
Category = Annotated[
    list[str] | None, typer.Option(help="Column of categories; may be repeated.")
]
Number = Annotated[
    list[str] | None, typer.Option(help="Column of numbers; may be repeated.")
]
Groups = Annotated[
    str | None,
    typer.Option(
        help="Column that says which rows belong together, such as the customer: they "
        "are held out together, and the column is not a feature."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-csv",
        help="For spreadsheets: text that looks like a formula gets a quotation mark.",
    ),
]


def print_error(error: Exception) -> int:
    """Print an error; exit code 1 for unusable data, 2 for what can be corrected."""
    from partlearn.io import AmbiguousDataError, DataError

    if isinstance(error, DataError) and not error.advice:
        error.advice = "Mend the file there, or leave that part of it out."
    text = _in_options(str(error))
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        text = _not_found(Path(error.filename))
    print(f"partlearn: {text}", file=sys.stderr)
    unusable = isinstance(error, DataError) and not isinstance(
        error, AmbiguousDataError
    )
    return 1 if unusable else 2


def _not_found(path: Path) -> str:
    """Name the file that may have been meant."""
    from difflib import get_close_matches

    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {str(folder)!r}; check the path of {path.name!r}"
    names = sorted(p.name for p in folder.iterdir() if p.is_file())
    near = get_close_matches(path.name, names, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "Check the name and the folder."
    return f"there is no file {str(path)!r}. {hint}"


def _in_options(text: str) -> str:
    """Name options of the command where the library names its arguments."""
    text = re.sub(
        r"`(labels|truth|sep|ignore|id|number|category|date|text|groups|weight|"
        r"class_weight)`",
        lambda match: f"--{match[1].replace('_', '-')}",
        text,
    )
    text = re.sub(
        r"""\b(labels|truth|sep|task|ignore)=(?:["'](\w+)["'])?""",
        lambda match: f"--{match[1]}" + (f" {match[2]}" if match[2] else ""),
        text,
    )
    if re.search(r"\b(format|fold|orientation|\w+_orientation|\w+_key)=", text):
        text += " That is an argument of partlearn.datasets.read in Python."
    return text


@dataclass(frozen=True)
class DataOptions:
    """What a command was told about its data."""

    labels: str | None
    truth: str | None
    sep: str | None
    ignore: Sequence[str] | None
    roles: dict[str, Any] = field(default_factory=dict)  # of columns
    votes: Path | None = None
    task: str | None = None

    def refuse_table_options(self, data: Path) -> None:
        """Raise if something was said that only a table has."""
        for name, value in (self.roles | {"votes": self.votes}).items():
            if value:
                raise ValueError(
                    f"--{name} is for tables; {data.name} is a matrix of numbers: "
                    "leave it out"
                )


def column_roles(
    id: list[str] | None,
    number: list[str] | None,
    category: list[str] | None,
    date: list[str] | None,
    text: list[str] | None,
) -> dict[str, Any]:
    """What a command was told about columns, as arguments of a TableEncoder."""
    return {
        "id": id or [],
        "number": number or [],
        "category": category or [],
        "date": date or [],
        "text": text or [],
    }


def report_to(out: Path) -> Any:
    """Stream for what a command says: not the one its table goes to."""
    return sys.stderr if str(out) == "-" else sys.stdout


def check_output(source: Path, target: Path, as_json: bool = False) -> None:
    """Refuse to replace data by what was made of them, and to mix two outputs."""
    if as_json and str(target) == "-":
        raise ValueError(
            "--json and --out - would both write to standard output; leave out --json, "
            "or give --out a file"
        )
    if source.exists() and target.exists() and target.samefile(source):
        raise ValueError(f"{target} is the data itself; write to another file")


def read_matrix(path: Path, options: DataOptions) -> "Bunch":
    """Read a file with the options of a command."""
    from partlearn.io import read

    task: Any = options.task
    return read(
        path,
        labels=_columns(options.labels, path),
        truth=options.truth,
        sep=options.sep,
        task=task,
        ignore=options.ignore or (),
    )


def _columns(labels: str | None, path: Path) -> str | int | list[str] | None:
    """A name, a list of names or, for ARFF, the number of labels."""
    if labels is None:
        return None
    arff = path.name.removesuffix(".gz").endswith(".arff")
    if arff and labels.removeprefix("-").isdigit():
        return int(labels)
    return labels.split(",") if "," in labels else labels
