"""Options that several commands share, and how errors end."""

# SPDX-License-Identifier: BSD-3-Clause

import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

from partlearn.cli._console import plain, print_json, say

if TYPE_CHECKING:
    from partlearn.io import TableWriter

Input = Annotated[
    Path,
    typer.Argument(
        help="CSV, TSV, Parquet, Arrow, JSON, .xlsx, ARFF, .mat or .npz; - is "
        "standard input."
    ),
]
Param = Annotated[
    list[str] | None,
    typer.Option(help="Parameter of the method, name=value; repeat for more."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

# Options that are not named after the argument of the library, and arguments of none.
_OPTIONS = {"bags": "bag", "control": "question", "folder": "out"}
_OPTIONS |= {"sample_weight": "weight"}
_PYTHON_ONLY = frozenset(
    [
        "format",
        "fold",
        "data_key",
        "candidates_key",
        "truth_key",
        "orientation",
        "label_orientation",
    ]
)

Names = list[str] | None
COLUMN_ROLES = ("id", "number", "category", "date", "text")  # of columns


def _column(which: str) -> Any:
    return typer.Option(help=f"Column {which}; may be repeated.")


@dataclass(frozen=True)
class DataOptions:
    """Options of a command about its data; every field is one.

    Attributes
    ----------
    labels
        Column of candidate sets (cat|dog, lists, cat:0.7|dog:0.3), or several columns
        of raters, marks or weights, separated by commas. For ARFF: the label
        attributes, their number (-6: the last six) or an .xml file.
    raters
        Columns of labels, one per rater, separated by commas. Replaces --labels.
    weights
        Columns of weights or probabilities, each named after its label, separated by
        commas. Replaces --labels.
    marks
        Columns with 1 or yes for each possible label, each named after its label,
        separated by commas. Replaces --labels.
    votes
        Long table with one line per row, annotator and label. Rows are given by number,
        from 0, or by the column --id; --labels names the three columns.
    truth
        Column of true labels; never used for training.
    sep
        Separator of labels within a cell; | ; and , are recognized. none: each cell is
        one label.
    encoding
        Encoding of a text file, such as latin-1 or gbk; UTF-8 and UTF-16 are
        recognized.
    task
        single (default): one label of each row is true. tags: several may be.
    id
        Column that names the rows, copied to the result; may be repeated.
    bag
        Column of bags, such as the photograph of each face: the rows of a bag share one
        list of labels, and each label belongs to at least one of them. runs: each run
        of rows with equal sets is a bag.
    """

    labels: str | None = None
    raters: str | None = None
    weights: str | None = None
    marks: str | None = None
    votes: Path | None = None
    truth: str | None = None
    sep: str | None = None
    encoding: str | None = None
    task: str | None = None
    id: Names = None
    number: Annotated[Names, _column("of numbers")] = None
    category: Annotated[Names, _column("of categories")] = None
    date: Annotated[Names, _column("of dates")] = None
    text: Annotated[Names, _column("of free text")] = None
    ignore: Annotated[Names, _column("to leave out")] = None
    bag: str | None = None

    @property
    def several(self) -> bool:
        """Whether several labels of a row may be true: tags."""
        if self.task not in (None, "single", "tags"):
            raise ValueError(f"--task must be single or tags; got {self.task!r}")
        return self.task == "tags"

    @property
    def label_choice(self) -> Any:
        """Labels as named by one of the four options."""
        from partlearn.io import label_choice

        return label_choice(
            self.labels, raters=self.raters, weights=self.weights, marks=self.marks
        )

    @property
    def roles(self) -> dict[str, Any]:
        """Kinds of columns, as arguments of a TableEncoder."""
        return {name: getattr(self, name) or [] for name in COLUMN_ROLES}


@dataclass(frozen=True)
class Output:
    """Where a command writes its table, and how it reports the result.

    Attributes
    ----------
    out
        Table to write: .csv, .tsv, .parquet or .jsonl; - is standard output.
    safe_csv
        Put a quotation mark before text that a spreadsheet would take for a formula.
    """

    out: Path
    safe_csv: bool = False
    as_json: Json = False

    def check(self, *read: Path | None, **files: Path | None) -> None:
        """Raise if a result would replace the data or mix with another output."""
        check_files(
            read,
            {f"--{name}": path for name, path in files.items()},
            printed={"--out": self.out},
            as_json=self.as_json,
        )

    def open(self) -> "TableWriter":
        """Open the table; the file appears when it is complete."""
        from partlearn.io import TableWriter

        return TableWriter(self.out, safe_csv=self.safe_csv)

    def report(self, facts: dict[str, Any], *lines: str) -> None:
        """Print a summary, on another stream than the table."""
        if self.as_json:
            print_json({**facts, "out": str(self.out)})
            return
        stream = sys.stderr if str(self.out) == "-" else sys.stdout
        print(*map(plain, lines), sep="\n", file=stream)


def with_options(
    *, without: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn the fields of DataOptions and Output into options of a command.

    Parameters behind the ``*`` of a function are options, those before it arguments.
    Their docstrings are the help.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(function)
        about, helps = _documented(function)
        parameters = []
        records = {}  # by argument: the class, and the fields that are options
        for parameter in signature.parameters.values():
            if (record := parameter.annotation) in (DataOptions, Output):
                fields = inspect.signature(record).parameters
                names = [name for name in fields if name not in without]
                records[parameter.name] = record, names
                own = _documented(record)[1]
                options = [
                    fields[n].replace(kind=parameter.KEYWORD_ONLY) for n in names
                ]
                parameters += [_told(option, own) for option in options]
            else:
                parameters.append(_told(parameter, helps))

        @wraps(function)
        def command(**given: Any) -> None:
            made = {
                argument: record(**{name: given.pop(name) for name in names})
                for argument, (record, names) in records.items()
            }
            function(**given, **made)

        # By keyword, since options that must be given may follow others.
        keywords = [p.replace(kind=p.KEYWORD_ONLY) for p in parameters]
        vars(command)["__signature__"] = signature.replace(parameters=keywords)
        command.__doc__ = about
        return command

    return decorate


def _documented(subject: Any) -> tuple[str, dict[str, str]]:
    """Return the docstring without its list of parameters, and the help of each one."""
    text, _, listed = (inspect.getdoc(subject) or "").partition("\n----------\n")
    helps: dict[str, str] = {}
    name = ""
    for line in listed.splitlines():
        if line.startswith(" "):
            helps[name] = f"{helps.get(name, '')} {line.strip()}".strip()
        else:
            name = line
    return text.rpartition("\n\n")[0] if helps else text, helps


def _told(parameter: inspect.Parameter, helps: Mapping[str, str]) -> inspect.Parameter:
    """Return a parameter for typer, with its help."""
    kind, info = parameter.annotation, None
    if get_origin(kind) is Annotated:
        kind, info = get_args(kind)
    if info is None and parameter.kind is parameter.KEYWORD_ONLY:
        flag = f"--{parameter.name.replace('_', '-')}"
        info = typer.Option(flag) if kind is bool else typer.Option()
    info = copy(info) if info is not None else typer.Argument()
    info.help = info.help or helps.get(parameter.name)
    return parameter.replace(annotation=Annotated[kind, info])


def print_error(error: Exception) -> int:
    """Print an error; exit code 1 for unusable data, 2 for what can be corrected."""
    from partlearn.io import AmbiguousDataError, DataError

    if isinstance(error, DataError) and not error.advice:
        error.advice = "Check that it is the right file, and mend it."
        if error.where:
            error.advice = "Mend the file there, or leave that part of it out."
    text = str(error)
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        text = _not_found(Path(error.filename))
    say(f"partlearn: {text}")
    unusable = isinstance(error, DataError) and not isinstance(
        error, AmbiguousDataError
    )
    return 1 if unusable else 2


def _not_found(path: Path) -> str:
    """Suggest a file of a similar name."""
    from difflib import get_close_matches

    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {str(folder)!r}; check the path of {path.name!r}"
    names = sorted(p.name for p in folder.iterdir() if p.is_file())
    near = get_close_matches(path.name, names, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "Check the name and the folder."
    return f"there is no file {str(path)!r}. {hint}"


def as_option(name: str, value: str = "") -> str:
    """Spell an argument of the library as an option of the command line."""
    if name in _PYTHON_ONLY:
        return f"`{name}` of partlearn.io.read in Python"
    option = "--" + _OPTIONS.get(name, name.removeprefix("n_").replace("_", "-"))
    return f"{option} {value}" if value else option


def check_files(
    read: Iterable[Path | None],
    files: Mapping[str, Path | None],
    *,
    printed: Mapping[str, Path | None] | None = None,
    as_json: bool = False,
) -> None:
    """Raise if a result would replace the data or another result.

    Results are named by their options. Those of `printed` may be ``-``, standard
    output, but only one of them and not beside `as_json`. Standard input is read once.
    """
    printed = printed or {}
    data = [path for path in read if path is not None]
    if sum(str(path) == "-" for path in data) > 1:
        raise ValueError("- is standard input, which can be read once; name a file")
    for name, path in files.items():
        if str(path) == "-":
            raise ValueError(f"{name} - is not possible; name a file")
    streams = ["--json"] * as_json
    streams += [f"{name} -" for name, path in printed.items() if str(path) == "-"]
    if len(streams) > 1:
        raise ValueError(
            f"{streams[0]} and {streams[1]} would both write to standard output; leave "
            "out one of them, or write a file"
        )
    results: list[Path] = []
    for path in (*files.values(), *printed.values()):
        if path is None or str(path) == "-":
            continue
        if path.is_dir():
            raise ValueError(f"{path} is a folder; name a file in it")
        for others, wrong in ((data, "the data itself"), (results, "another result")):
            if any(_is_same(path, other) for other in others):
                raise ValueError(f"{path} is {wrong}; write to another file")
        results.append(path)


def _is_same(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()
