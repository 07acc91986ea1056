"""What commands read: parameters, data sets, tables and votes."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partlearn.cli._console import say
from partlearn.cli._options import DataOptions, read_matrix

if TYPE_CHECKING:
    from partlearn.candidates import Tags, Votes
    from partlearn.io import Form

_BLOCK_NUMBERS = 2**22
# What columns of a long table of votes are called.
_VOTE_NAMES = {
    "row": ("row", "item", "task", "id", "index", "example", "instance"),
    "annotator": ("annotator", "worker", "user", "rater", "labeler", "coder", "judge"),
    "label": ("label", "vote", "answer", "class", "choice", "response"),
}


def parse_amount(text: str | None, option: str) -> int | float | str | None:
    """Read "12", "0.99", "15%" or "auto"."""
    if text is None or text == "auto":
        return text
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise ValueError(
            f"{option} must be a number, a share like 15%, or auto; got {text!r}"
        ) from None


def parse_params(pairs: Sequence[str]) -> dict[str, Any]:
    """Read ``name=value``; values are JSON where they look like it, else text."""
    params: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise ValueError(f"--param must look like name=value; got {pair!r}")
        try:
            params[name.strip()] = json.loads(text)
        except json.JSONDecodeError:
            params[name.strip()] = text
    return params


def parse_class_weight(words: Sequence[str]) -> Any:
    """Read ``balanced``, or ``label=weight`` once for each label."""
    if not words:
        return None
    if list(words) == ["balanced"]:
        return "balanced"
    weights = {}
    for word in words:
        label, _, text = word.rpartition("=")
        try:
            weights[label] = float(text)
        except ValueError:
            label = ""
        if not label:
            raise ValueError(
                "--class-weight must be balanced, or a label and a number such as "
                f"fraud=5; got {word!r}"
            )
    return weights


def read_input(path: Path, options: DataOptions) -> Any:
    """Read a data set and make sure that it has candidate sets."""
    import numpy as np

    from partlearn.io import format_of

    bunch = read_matrix(path, options)
    if bunch.candidates is None:
        # One label per row is a set of one.
        if bunch.truth is None or bunch.truth.ndim != 1:
            advice = "name their column with --labels"
            if format_of(path, None) in ("arff", "libsvm"):
                advice = (
                    "if its labels are candidates, use what `partlearn data convert "
                    f"{path.name} {path.stem}.npz --task pll` writes"
                )
            raise ValueError(f"{path.name} has no candidate sets; {advice}")
        bunch.candidates = bunch.truth[:, None] == np.arange(len(bunch.target_names))
    if bunch.feature_names is None:
        bunch.feature_names = [f"x{j}" for j in range(bunch.data.shape[1])]
    bunch.path = path
    return bunch


def block_rows(usual: int, *widths: int) -> int:
    """Rows of a block whose predictions, or features, fit into memory together.

    A model says how wide they are, and a small file may hold a wide one.
    """
    return max(1, min(usual, _BLOCK_NUMBERS // max(1, *widths)))


@contextmanager
def notes() -> Iterator[None]:
    """Print warnings as notes on standard error, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(w.message) for w in caught):
        say(f"Note: {text}")


@contextmanager
def fitting(bunch: Any) -> Iterator[None]:
    """Print warnings as notes, and say which values are to blame for an error."""
    with notes():
        try:
            yield
        except ValueError:
            raise_on_missing_values(bunch.data, bunch.feature_names, bunch.path)
            raise


@contextmanager
def applying(path: Path) -> Iterator[None]:
    """Say of an error in applying a model that the rows of a file are to blame."""
    from partlearn.io import DataError, DataFormatError

    try:
        yield
    except DataError:
        raise
    except ValueError as error:
        raise DataFormatError(
            str(error),
            path=path,
            advice="The model needs a table like the one it was trained on.",
        ) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        # A model of others may hold anything that is sound piece by piece.
        raise DataFormatError(
            f"the model cannot be applied to these rows ({type(error).__name__})",
            path=path,
            advice="Train the model again.",
        ) from error


def labels_of(bunch: Any) -> Any:
    """Labels by name for `fit`: sets, or the weights or votes of the file.

    Sets that break learning are refused here: estimators know neither rows nor names.
    """
    import numpy as np

    from partlearn.candidates import Evidence
    from partlearn.io import DataFormatError

    empty = np.flatnonzero(~bunch.candidates.any(axis=1))
    if empty.size:
        raise DataFormatError(
            f"{empty.size} of {len(bunch.candidates)} rows have no candidate label, "
            f"the first is row {empty[0]}",
            path=bunch.path,
            advice="Leave them out, or give them every label that is possible.",
        )
    if len(bunch.target_names) == 1:
        raise DataFormatError(
            f"there is no other label than {bunch.target_names[0]!r}",
            path=bunch.path,
            advice="Add rows of another label: nothing can be learnt from one.",
        )
    evidence = bunch.get("evidence")
    return (
        Evidence(bunch.candidates, bunch.target_names) if evidence is None else evidence
    )


def bags_of(bunch: Any, bag: str | None) -> Any:
    """Bags of a file of numbers: those it holds, or "runs" as it was said."""
    if bag != "bags":
        return bag
    if bunch.get("bags") is None:
        raise ValueError("the file holds no bags; use --bag runs")
    return bunch.bags


def raise_on_missing_values(
    X: Any, names: Sequence[str], path: Path, start: int = 0
) -> None:
    """Say where values are missing, if any are; `start` is the first row of `X`."""
    import numpy as np
    from scipy import sparse

    from partlearn.io import DataFormatError

    if X.dtype.kind != "f":
        return
    if sparse.issparse(X):
        X = X.tocoo()
        rows, columns = (place[~np.isfinite(X.data)] for place in X.coords)
    else:
        rows, columns = np.nonzero(~np.isfinite(X))
    if rows.size:
        raise DataFormatError(
            f"missing or infinite values, the first in row {start + rows[0]} of column "
            f"{names[columns[0]]!r}",
            path=path,
            advice="Fill them in, or leave these rows or columns out.",
        )


@dataclass(frozen=True)
class TableInput:
    """A table, its labels and its truth: names of columns, or votes of another file."""

    columns: dict[str, Any]
    labels: list[str]
    truth: str | None
    ignored: list[str]
    votes: "Votes | None" = None
    form: "Form | None" = None

    @property
    def y(self) -> Any:
        """What functions of the library take as labels."""
        from partlearn.io import LabelColumns

        if self.votes is not None:
            return self.votes
        return LabelColumns(self.labels, self.form)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def true_labels(self, rows: Any = slice(None)) -> Any:
        """True labels of some rows; None where they are not known."""
        from partlearn.tables import refuse_several, true_labels

        if self.truth is None:
            return None
        refuse_several(self.columns[self.truth], f"column {self.truth!r}")
        values = true_labels(self.columns[self.truth][rows])
        return values if any(value is not None for value in values) else None

    def true_tags(self, sep: str | None) -> "Tags | None":
        """True tags of the rows that have any."""
        from partlearn.io import tag_columns

        if self.truth is None:
            return None
        return tag_columns(self.columns, [self.truth], sep=sep)[0]

    @property
    def hidden(self) -> list[str]:
        """Columns that are no features, besides the labels."""
        return [*self.ignored, *([self.truth] if self.truth else [])]


def read_table_input(path: Path, options: DataOptions) -> TableInput:
    """Read a table and find its label columns."""
    from partlearn.tables import read_columns

    columns = read_columns(path, encoding=options.encoding)
    return table_input(columns, options)


def table_input(columns: dict[str, Any], options: DataOptions) -> TableInput:
    """Find the label columns of a table, by option or by name."""
    from partlearn.io import LabelColumns
    from partlearn.tables import check_names, label_columns

    hidden = check_names(options.ignore or (), columns, "ignore")
    names: list[str] = []
    votes = None
    form: Form | None = None
    chosen = options.label_choice
    if options.votes is not None:
        votes = _read_votes(options.votes, options, columns)
    elif isinstance(chosen, LabelColumns):
        names, form = check_names(chosen.names, columns, chosen.form or ""), chosen.form
    else:
        if chosen is None and options.several and "tags" in columns:
            chosen = "tags"
        names = label_columns(chosen, columns)
    truth = find_truth(columns, names, options)
    return TableInput(columns, names, truth, hidden, votes, form)


def echo_labels(read_as: str) -> None:
    """Print how the label columns were read."""
    if read_as:
        say(f"Labels: read as {read_as}.")


def find_truth(
    columns: Iterable[str], labels: Sequence[str], options: DataOptions
) -> str | None:
    """The column of true labels: as named, or the only free one with a telling name."""
    from partlearn.io import truth_columns
    from partlearn.tables import check_names

    if options.truth is None:
        taken = {*(options.ignore or ()), *labels}
        truths = truth_columns([name for name in columns if name not in taken])
        return truths[0] if len(truths) == 1 else None
    check_names([options.truth], columns, "truth")
    if options.truth in labels:
        raise ValueError(
            f"--truth: column {options.truth!r} holds the labels to learn from; name "
            "another one, or leave out --truth"
        )
    return options.truth


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

    texts = [as_text(value) for value in values.tolist()]
    return [None if text is None else text.strip() or None for text in texts]
