"""Read votes from a long table or from one column per annotator."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn._arguments import argument, check_choice
from partlearn._typing import Indices
from partlearn.candidates._dawid_skene import VoteTable
from partlearn.candidates._evidence import EmptyRows, no_evidence
from partlearn.candidates._messages import (
    as_column,
    check_known,
    did_you_mean,
    distinct_labels,
    is_missing,
    is_missing_text,
    is_whole,
    some_rows,
    warn_missing_labels,
)
from partlearn.candidates._votes import Votes

_SPARSE_ROWS = 1000  # rows for each vote from which row numbers are taken for names


def _is_empty(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def _codes(
    values: list[Any], known: ArrayLike | None, shown: Callable[[int], str]
) -> tuple[NDArray[Any], Indices]:
    """Return distinct names, sorted or as given, and the code of each value."""
    if known is None:
        kinds = {isinstance(v, str) for v in values}
        if len(kinds) > 1:
            k = next(i for i, v in enumerate(values) if isinstance(v, str))
            raise ValueError(f"{shown(k)} is text, others are numbers; convert them.")
        return distinct_labels(values)
    names = np.asarray(known)
    place = {name: j for j, name in enumerate(names.tolist())}
    if len(place) != len(names):
        raise ValueError(f"Names must be distinct; got {names.tolist()}.")
    for k, value in enumerate(values):
        if value not in place:
            raise ValueError(f"{shown(k)} is not known. {did_you_mean(value, place)}")
    return names, np.array([place[v] for v in values], dtype=np.intp)


def from_votes(
    rows: Any,
    annotators: Any,
    labels: Any,
    *,
    n_rows: int | None = None,
    classes: ArrayLike | None = None,
    index: ArrayLike | None = None,
    empty: EmptyRows = "error",
) -> Votes:
    """Read a long table of votes, one line per row, annotator and label.

    Parameters
    ----------
    rows : array-like of shape (n_votes,)
        Row of `X` that was labeled: its number, counted from 0, or its name where
        `index` is given. Not every annotator need see every row, and one may vote
        twice.
    annotators : array-like of shape (n_votes,)
        The annotators: numbers or strings.
    labels : array-like of shape (n_votes,)
        The label given. Missing entries (None, NaN, empty and, without `classes`, words
        such as ``NA`` and ``?``) are skipped.
    n_rows : int, default=None
        Number of rows of `X`; one more than the largest row number by default.
    classes : array-like of shape (n_classes,), default=None
        The classes and their order; the sorted labels by default.
    index : array-like of shape (n_rows,), default=None
        Names of the rows of `X`, in their order, where `rows` holds names.
    empty : {"error", "drop", "all"}, default="error"
        Treatment of rows without votes: raise, leave them out (the features are then
        ``X[votes.rows]``), or keep them as unlabeled.

    Returns
    -------
    votes : Votes
        For the `y` of any method that takes evidence.

    See Also
    --------
    from_annotators : One column per annotator.
    aggregate_votes : Labels from votes alone.

    Examples
    --------
    >>> from partlearn.candidates import from_votes
    >>> from_votes([0, 0, 1], ["ann", "bob", "ann"], ["cat", "dog", "dog"])
    Votes(2 rows, 2 classes, 3 votes of 2 annotators)
    >>> from_votes(["x7", "x9"], [0, 0], ["cat", "dog"], index=["x7", "x8", "x9"])
    Traceback (most recent call last):
        ...
    ValueError: Rows without votes: 1. ...
    """
    given_columns = {"rows": rows, "annotators": annotators, "labels": labels}
    columns = [as_column(values, what) for what, values in given_columns.items()]
    lengths = [len(column) for column in columns]
    if len(set(lengths)) != 1:
        raise ValueError(
            "`rows`, `annotators` and `labels` must be aligned; they hold "
            f"{lengths[0]}, {lengths[1]} and {lengths[2]} entries."
        )
    for column, what in zip(columns[:2], ("row", "annotator"), strict=True):
        bad = [k for k, value in enumerate(column) if _is_empty(value)]
        if bad:
            raise ValueError(f"Entries {some_rows(bad)} of the votes have no {what}.")
    row, n = _row_numbers(columns[0], n_rows, index)
    given = [k for k, value in enumerate(columns[2]) if not _is_empty(value)]
    if classes is None:
        texts = {value for value in columns[2] if isinstance(value, str)}
        missing = {text for text in texts if is_missing_text(text)}
        warn_missing_labels(missing)
        given = [k for k in given if columns[2][k] not in missing]
    who = [columns[1][k] for k in given]
    what_label = [columns[2][k] for k in given]

    def annotator_of(k: int) -> str:
        return f"Annotator {who[k]!r} (vote {given[k]})"

    def label_of(k: int) -> str:
        row = f"(row {columns[0][given[k]]!r})"
        return f"Label {what_label[k]!r} of annotator {who[k]!r} {row}"

    if not given and classes is None:
        raise ValueError(
            "There are no votes, so the classes are unknown; pass `classes`."
        )
    names, annotator = _codes(who, None, annotator_of)
    known, label = _codes(what_label, classes, label_of)
    table = VoteTable(row[given], annotator, label, n, len(names), len(known))
    votes = Votes(table, known, names)
    silent = ~table.counts.any(axis=1)
    check_choice("empty", empty, get_args(EmptyRows))
    if empty == "all" or not silent.any():
        return votes
    if empty == "error":
        raise ValueError(no_evidence(np.flatnonzero(silent), "votes"))
    return votes[~silent]


def _row_numbers(
    rows: list[Any], n_rows: int | None, index: ArrayLike | None
) -> tuple[Indices, int]:
    """Return the row number of each vote, and the number of rows."""
    if index is not None:
        names = as_column(index, "index")
        place = {name: i for i, name in enumerate(names)}
        if len(place) != len(names):
            raise ValueError(f"{argument('index')} names a row twice.")
        for k, name in enumerate(rows):
            check_known(
                name, place, f"Row {name!r} (vote {k}) is not in {argument('index')}."
            )
        return np.array([place[name] for name in rows], dtype=np.intp), len(names)
    for k, r in enumerate(rows):
        if not is_whole(r) or r < 0:
            raise ValueError(
                f"Vote {k} is for row {r!r}, not a row number; rows count from 0. "
                f"Pass {argument('index')}, the names of the rows of X in their "
                "order, if rows have names."
            )
    if n_rows is not None and int(n_rows) < 0:
        raise ValueError(f"`n_rows` must not be negative; got {n_rows}.")
    try:
        row = np.array(rows, dtype=np.intp)
    except OverflowError:
        raise ValueError(
            f"Row {max(rows)} is not a row number; rows count from 0. Pass "
            f"{argument('index')}, the names of the rows of X in their order, if rows "
            "have names."
        ) from None
    n = int(row.max(initial=-1)) + 1 if n_rows is None else int(n_rows)
    if n_rows is None and n > _SPARSE_ROWS * (len(row) + 1000):
        raise ValueError(
            f"The largest row number is {n - 1}, while there are {len(row)} votes: it "
            f"looks like the name of a row. Pass {argument('index')}, the names of the "
            "rows of X in their order, or `n_rows`."
        )
    if (row >= n).any():
        k = int(np.argmax(row >= n))
        raise ValueError(f"Vote {k} is for row {row[k]}, but there are {n} rows.")
    return row, n


def from_annotators(
    frame: Any,
    *,
    classes: ArrayLike | None = None,
    annotators: Sequence[Any] | None = None,
    empty: EmptyRows = "error",
) -> Votes:
    """Read a table with one column per annotator.

    Parameters
    ----------
    frame : data frame, mapping or array-like of shape (n_samples, n_annotators)
        The labels. Missing values (None, NaN or empty text) are skipped.
    classes : array-like of shape (n_classes,), default=None
        The classes and their order; the sorted labels by default.
    annotators : sequence, default=None
        Columns to use, if the table has other columns; all by default.
    empty : {"error", "drop", "all"}, default="error"
        Treatment of rows without votes; see :func:`from_votes`.

    Returns
    -------
    votes : Votes
        For the `y` of any method that takes evidence.

    Examples
    --------
    >>> from partlearn.candidates import from_annotators
    >>> table = {"ann": ["cat", "dog", None], "bob": ["cat", None, "dog"]}
    >>> from_annotators(table)
    Votes(3 rows, 2 classes, 4 votes of 2 annotators)
    >>> from_annotators(table, annotators=["ann", "bop"])
    Traceback (most recent call last):
        ...
    ValueError: There is no column 'bop'. Did you mean 'bob'?
    """
    columns = _annotator_columns(frame)
    names = list(columns) if annotators is None else list(annotators)
    for name in names:
        check_known(name, columns, f"There is no column {name!r}.")
    if not names:
        raise ValueError("There are no columns of annotators.")
    table = [as_column(columns[name], f"column {name}") for name in names]
    m = len(table[0])
    for name, column in zip(names, table, strict=True):
        if len(column) != m:
            raise ValueError(
                f"Column {name!r} has {len(column)} rows, {names[0]!r} has {m}."
            )
    entries = [
        (i, name, label)
        for name, column in zip(names, table, strict=True)
        for i, label in enumerate(column)
        if not _is_empty(label)
    ]
    rows, who, labels = zip(*entries, strict=True) if entries else ((), (), ())
    return from_votes(rows, who, labels, n_rows=m, classes=classes, empty=empty)


def _annotator_columns(frame: Any) -> dict[Any, Any]:
    """Return columns by name, or by number for an array."""
    if isinstance(frame, Mapping):
        return dict(frame)
    if hasattr(frame, "columns"):
        return {name: frame[name] for name in frame.columns}
    array = np.asarray(frame, dtype=object)
    if array.ndim != 2:
        raise ValueError(f"Votes need a table of columns; got {array.ndim} dimensions.")
    return {j: list(array[:, j]) for j in range(array.shape[1])}
