"""Tables of the command line: which columns are labels, truth and features."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["TableInput", "is_table_file", "read_table_input"]

_SUFFIXES = (
    ".csv", ".tsv", ".tab", ".parquet", ".pq", ".arrow", ".feather", ".jsonl", ".ndjson"
)  # fmt: skip


@dataclass(frozen=True)
class TableInput:
    """A table and the names of its label and truth columns."""

    columns: dict[str, Any]
    labels: list[str]
    truth: str | None

    def true_labels(self, rows: Any = None) -> Any:
        """True labels of some rows; None where they are not known."""
        if self.truth is None:
            return None
        values = self.columns[self.truth]
        return values if rows is None else values[rows]

    def hidden(self, ignore: Iterable[str] | None) -> list[str]:
        """Columns that are no features, besides the labels."""
        return [*(ignore or ()), *([self.truth] if self.truth else [])]


def is_table_file(path: Path) -> bool:
    """Whether a file has named columns of any kind, or is standard input."""
    return str(path) == "-" or path.name.removesuffix(".gz").endswith(_SUFFIXES)


def read_table_input(
    path: Path,
    labels: str | None,
    truth: str | None,
    ignore: Iterable[str] | None = None,
) -> TableInput:
    """Read a table and find its label columns, by option or by name."""
    from partlearn.io import truth_columns
    from partlearn.tables import check_names, read_columns

    columns = read_columns(path)
    hidden = check_names(ignore or (), columns, "ignore")
    names = _label_columns(labels, columns)
    check_names(names, columns, "labels")
    if truth is not None:
        check_names([truth], columns, "truth")
    else:
        free = [n for n in columns if n not in {*hidden, *names}]
        truths = truth_columns(free)
        truth = truths[0] if len(truths) == 1 else None
    return TableInput(columns, names, truth)


def _label_columns(labels: str | None, columns: Mapping[str, Any]) -> list[str]:
    from partlearn.io import AmbiguousDataError, candidate_columns

    if labels is None:
        label_columns = candidate_columns(list(columns))
        if len(label_columns) != 1:
            raise AmbiguousDataError(
                "no column is named as the one of the labels; columns are "
                + ", ".join(map(repr, list(columns)[:20])),
                advice="Name it with labels=.",
            )
        return label_columns
    if labels in columns or "," not in labels:
        return [labels]
    return [name.strip() for name in labels.split(",")]
