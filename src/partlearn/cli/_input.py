"""Read the parameters, data sets, tables and votes of commands."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from partlearn._arguments import arguments_as
from partlearn.cli._console import say
from partlearn.cli._options import DataOptions, as_option

if TYPE_CHECKING:
    from partlearn.candidates import Votes
    from partlearn.tables import Dataset

_BLOCK_NUMBERS = 2**22
# What columns of a long table of votes are called.
_VOTE_NAMES = {
    "row": ("row", "item", "task", "id", "index", "example", "instance"),
    "annotator": ("annotator", "worker", "user", "rater", "labeler", "coder", "judge"),
    "label": ("label", "vote", "answer", "class", "choice", "response"),
}

UNTESTED = (
    "With so few labels, and hardly any row with a single one, this cannot be tested: "
    "the lower end is the accuracy of a random guess among the candidates. Check some "
    "rows."
)


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


def block_rows(usual: int, *widths: int) -> int:
    """Return the number of rows per block whose results fit into memory.

    The width of the results depends on the model, and a small model file may hold a
    wide model.
    """
    return max(1, min(usual, _BLOCK_NUMBERS // max(1, *widths)))


@contextmanager
def notes() -> Iterator[None]:
    """Print warnings as notes on standard error, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:  # an error may follow from what they say
            for text in dict.fromkeys(str(w.message) for w in caught):
                say(f"Note: {text}")


@contextmanager
def applying(path: Path) -> Iterator[None]:
    """Add the file to errors that its rows cause in a model."""
    from partlearn.io import DataError, DataFormatError

    try:
        yield
    except DataError as error:
        error.at(path)
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


def refuse_missing_values(data: "Dataset") -> None:
    """Raise an error that names the first missing value of a matrix."""
    import numpy as np
    from scipy import sparse

    from partlearn.io import DataFormatError

    if data.bunch is None:
        return
    X = data.X.tocoo() if sparse.issparse(data.X) else data.X
    missing = ~np.isfinite(X.data if sparse.issparse(X) else X)
    if missing.any():
        places = X.coords if sparse.issparse(X) else np.indices(X.shape)
        row, column = (place[missing][0] for place in places)
        raise DataFormatError(
            f"missing or infinite values, the first in row {row} of column "
            f"{data.names[column]!r}",
            path=data.path,
            advice="Fill them in, or leave these rows or columns out.",
        )


def read_data(
    source: Path | list[Path],
    options: DataOptions,
    columns: Any = None,
    *,
    table: bool = False,
    empty: Literal["drop", "all"] = "drop",
) -> "Dataset":
    """Read a file, or several Parquet files, and find the labels.

    `columns` are the columns of a table that was read already, `table` excludes
    matrices, and `empty` is the treatment of rows without votes.
    """
    from partlearn.io import is_table
    from partlearn.tables import check_names, dataset_of, read_columns

    labels = options.label_choice
    path = source if isinstance(source, Path) else None
    if columns is None and path and (table or options.votes is not None):
        if options.votes is not None and not is_table(path):
            raise ValueError(
                f"--votes is for tables; {source} is a matrix of numbers: leave it out"
            )
        with notes():
            columns = read_columns(path, encoding=options.encoding)
    if options.votes is not None:
        check_names(options.ignore or (), columns, "ignore")
        labels = _read_votes(options.votes, options, columns, empty)
    with notes():
        data = dataset_of(
            source if columns is None else columns,
            labels,
            options.truth,
            roles=options.roles | {"ignore": options.ignore or []},
            sep=options.sep,
            encoding=options.encoding,
            task=options.task,
            bags=options.bag,
        )
    data.path = path
    if options.bag is None and data.bunch is not None and "bags" in data.bunch:
        say("Note: the file holds bags; --bag bags uses them.")
    elif options.bag is None and data.bags is not None:
        say(f"Bags: read from column {data.bags!r}; --ignore leaves it out.")
    return data


def echo_labels(read_as: str) -> None:
    """Print how the label columns were read."""
    if read_as:
        say(f"Labels: read as {read_as}.")


def _read_votes(
    path: Path,
    options: DataOptions,
    columns: Mapping[str, Any],
    empty: Literal["drop", "all"],
) -> "Votes":
    """Read votes from a long table: one line per row, annotator and label."""
    from partlearn.candidates import from_votes
    from partlearn.io import DataFormatError
    from partlearn.tables import check_names, numbers_in, read_columns

    id = check_names(options.id or (), columns, "id")
    long = read_columns(path)
    row, annotator, label = _vote_columns(long, options.labels, id, path)
    rows: list[Any] = [None if v != v else int(v) for v in numbers_in(long[row])]
    index: Any = None
    named = row if row in id else next(iter(id), None)
    if named is not None:
        texts, names = _texts(long[row]), _texts(columns[named])
        if row in id or not set(texts).isdisjoint(names):
            rows, index = texts, names
    try:
        with arguments_as(
            lambda name, value: (
                f"column {named!r} of the data"
                if name == "index"
                else as_option(name, value)
            )
        ):
            return from_votes(
                rows,
                _texts(long[annotator]),
                _texts(long[label]),
                n_rows=len(next(iter(columns.values()))),
                index=index,
                empty=empty,
            )
    except ValueError as error:
        raise DataFormatError(str(error).rstrip("."), path=path) from None


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
        "a table of votes needs columns of the row, the annotator and the label; "
        f"found {', '.join(map(repr, list(long)[:10]))}",
        path=path,
        advice="Name the column of the rows with --id, or name the three with "
        "--labels, separated by commas, in this order.",
    )


def _texts(values: Any) -> list[str | None]:
    from partlearn.tables import as_text

    texts = [as_text(value) for value in values.tolist()]
    return [None if text is None else text.strip() or None for text in texts]
