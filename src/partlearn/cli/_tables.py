"""Tables of the command line: which columns are labels, truth and features."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partlearn.cli._data_options import DataOptions

if TYPE_CHECKING:
    from partlearn.candidates import Votes

__all__ = [
    "TableInput",
    "find_truth",
    "is_table_file",
    "read_table_input",
]

_SUFFIXES = (
    ".csv", ".tsv", ".tab", ".parquet", ".pq", ".arrow", ".feather", ".jsonl", ".ndjson"
)  # fmt: skip
# What columns of a long table of votes are called.
_VOTE_NAMES = {
    "row": ("row", "item", "task", "id", "index", "example", "instance"),
    "annotator": ("annotator", "worker", "user", "rater", "labeler", "coder", "judge"),
    "label": ("label", "vote", "answer", "class", "choice", "response"),
}


@dataclass(frozen=True)
class TableInput:
    """A table, its labels and its truth: names of columns, or votes of another file."""

    columns: dict[str, Any]
    labels: list[str]
    truth: str | None
    ignored: list[str]
    votes: "Votes | None" = None

    @property
    def y(self) -> Any:
        """What functions of the library take as labels."""
        return self.labels if self.votes is None else self.votes

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def true_labels(self, rows: Any = None) -> Any:
        """True labels of some rows; None where they are not known."""
        if self.truth is None:
            return None
        values = self.columns[self.truth]
        return values if rows is None else values[rows]

    @property
    def hidden(self) -> list[str]:
        """Columns that are no features, besides the labels."""
        return [*self.ignored, *([self.truth] if self.truth else [])]


def is_table_file(path: Path) -> bool:
    """Whether a file has named columns of any kind, or is standard input."""
    return str(path) == "-" or path.name.removesuffix(".gz").lower().endswith(_SUFFIXES)


def read_table_input(path: Path, options: DataOptions) -> TableInput:
    """Read a table and find its label columns, by option or by name."""
    from partlearn.tables import check_names, label_columns, read_columns

    columns = read_columns(path)
    hidden = check_names(options.ignore or (), columns, "ignore")
    names: list[str] = []
    votes = None
    if options.votes is None:
        names = label_columns(options.labels, columns)
    else:
        votes = _read_votes(options.votes, options, columns)
    truth = options.truth
    if truth is not None:
        check_names([truth], columns, "truth")
    else:
        truth = find_truth(columns, {*hidden, *names})
    return TableInput(columns, names, truth, hidden, votes)


def find_truth(columns: Iterable[str], taken: Collection[str | None]) -> str | None:
    """The only free column whose name says that it holds true labels."""
    from partlearn.io import truth_columns

    truths = truth_columns([name for name in columns if name not in taken])
    return truths[0] if len(truths) == 1 else None


def _read_votes(
    path: Path, options: DataOptions, columns: Mapping[str, Any]
) -> "Votes":
    """Votes of a long table: one line per row, annotator and label."""
    from partlearn.candidates import from_votes
    from partlearn.io import DataFormatError
    from partlearn.tables import check_names, numbers_in, read_columns

    id = check_names(options.id or (), columns, "id")
    long = read_columns(path)
    row, annotator, label = _vote_columns(long, options.labels, id, path)
    rows: list[Any] = [None if v != v else int(v) for v in numbers_in(long[row])]
    index: Any = None
    if row in id:
        rows, index = _texts(long[row]), _texts(columns[row])
    try:
        return from_votes(
            rows,
            _texts(long[annotator]),
            _texts(long[label]),
            n_rows=len(next(iter(columns.values()))),
            index=index,
            empty="drop",
        )
    except ValueError as error:
        text = str(error).replace("`index`", f"column {row!r} of the data")
        raise DataFormatError(text.rstrip("."), path=path) from None


def _vote_columns(
    long: Mapping[str, Any], labels: str | None, id: list[str], path: Path
) -> list[str]:
    from partlearn.io import AmbiguousDataError
    from partlearn.tables import check_names

    if labels is not None:
        names = check_names([n.strip() for n in labels.split(",")], long, "labels")
        if len(names) == 3:
            return names
    else:
        known = {"row": (*id, *_VOTE_NAMES["row"])}
        names = []
        places = {name.lower(): name for name in reversed(list(long))}
        for words in (_VOTE_NAMES | known).values():
            names += [places[w.lower()] for w in words if w.lower() in places][:1]
        if len(set(names)) == 3:
            return names
    raise AmbiguousDataError(
        "a table of votes has a column that names the row, one of the annotator and "
        f"one of the label; found {', '.join(map(repr, list(long)[:10]))}",
        path=path,
        advice="Say with --id which column of the data the first one is, or name the "
        "three with labels=, separated by commas, in this order.",
    )


def _texts(values: Any) -> list[str | None]:
    from partlearn.tables import as_text

    return [as_text(value) for value in values.tolist()]
