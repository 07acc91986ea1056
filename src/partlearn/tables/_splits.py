"""Split rows to estimate the quality of labels of new rows."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from partlearn._arguments import argument
from partlearn._progress import iterations
from partlearn._typing import Array, Indices
from partlearn.candidates import bag_codes, warn_caller
from partlearn.io import Columns, check_names, take_rows
from partlearn.model_selection import CandidateKFold
from partlearn.tables._bags import read_bags
from partlearn.tables._column_kinds import find_kinds, read_numbers
from partlearn.tables._moments import moments_in

_TEST_SHARE = 5  # of a drawn part of a large table one row in so many is tested


def held_out_splits(
    classifier: Any,
    columns: Columns,
    labels: Any,
    cv: int,
    time: str | None = None,
    max_rows: int | None = None,
    random_state: int = 0,
) -> list[tuple[Indices, Indices]]:
    """Split labeled rows into rows to train on and rows to test.

    Parameters
    ----------
    classifier : PartialClassifier
        Rows of its `groups`, or otherwise of its `bags`, are kept together.
    columns : mapping of str to ndarray
        The table.
    labels : Evidence or Tags
        Labels; ``labels.rows`` are their rows in the table.
    cv : int
        Number of folds. With `time`, the number of later parts, each of which is tested
        by a model of all earlier rows.
    time : str, default=None
        Column of dates or numbers by which rows are ordered.
    max_rows : int, default=None
        Largest number of rows to use. For larger tables there is one split of random
        rows, four fifths to train and one fifth to test; with `time`, the last part is
        tested.
    random_state : int, default=0
        Seed.

    Returns
    -------
    splits : list of (train, test)
        Places in `labels`.
    """
    m = len(labels.rows)
    column = classifier.groups
    groups = None if column is None else columns[column][labels.rows]
    if classifier.bags is not None:
        bags = bag_codes(read_bags(classifier.bags, columns, labels), m)
        if groups is None:
            groups = bags
        elif len(set(zip(bags, bag_codes(groups, m), strict=True))) > len(set(bags)):
            warn_caller(
                f"Rows of one bag are in several groups ({argument('groups')}), so "
                "that bags are split and the estimate is too good. Use groups of "
                "whole bags."
            )
    rng = np.random.RandomState(random_state)
    most = m if max_rows is None else max_rows
    large = m > most
    if time is not None:
        moments = read_times(time, columns, labels.rows)
        splits = _later_parts(_latest(moments, groups), 1 if large else cv)
    elif large:
        rows = _whole_groups(rng.permutation(m), groups, most)
        part = None if groups is None else groups[rows]
        folds = CandidateKFold(_TEST_SHARE, random_state=random_state)
        train, test = next(iter(folds.split(labels.candidates[rows], groups=part)))
        splits = [(rows[train], rows[test])]
    else:
        folds = CandidateKFold(cv, random_state=random_state)
        return list(folds.split(labels.candidates, groups=groups))
    if large and time is not None:
        share = most // _TEST_SHARE
        splits = [
            (
                np.sort(rng.permutation(train)[: most - share]),
                np.sort(rng.permutation(test)[:share]),
            )
            for train, test in splits
        ]
    return splits


def held_out_models(
    classifier: Any, columns: Columns, labels: Any, names: Sequence[str], **how: Any
) -> Iterator[tuple[Indices, Indices, Any, Columns]]:
    """Fit a clone for every split of :func:`held_out_splits`.

    Parameters
    ----------
    classifier : PartialClassifier
        Its clones are fitted.
    columns : mapping of str to ndarray
        The table.
    labels : Evidence or Tags
        Labels of some of its rows.
    names : sequence of str
        Their columns.
    **how : dict
        Further arguments of :func:`held_out_splits`.

    Yields
    ------
    train, test : ndarray of int
        Places of labels.
    model : PartialClassifier
        Fitted on the training rows.
    held : mapping of str to ndarray
        The test rows.
    """
    splits = held_out_splits(classifier, columns, labels, **how)
    for _, (train, test) in zip(
        iterations("held out", len(splits)), splits, strict=True
    ):
        model = clone(classifier).fit_evidence(columns, labels[train], names)
        yield train, test, model, take_rows(columns, labels.rows[test])


def read_times(name: str, columns: Columns, rows: Sequence[int] | Indices) -> Array:
    """Read the times of rows as numbers, from a column of dates or numbers.

    Parameters
    ----------
    name : str
        The column.
    columns : mapping of str to ndarray
        The table.
    rows : sequence of int
        Rows of the table.

    Returns
    -------
    moments : ndarray of shape (n_rows,)
        Numbers that increase with time.
    """
    check_names([name], columns, "time")
    rows = np.asarray(rows, dtype=np.intp)
    column = columns[name][rows]
    kind = find_kinds({name: column}, {})[name]
    if kind.kind == "date":
        moments = moments_in(column, kind.date_format)
        values = np.where(np.isnat(moments), np.nan, moments.astype(float))
    else:  # numbers, also those that look like names of rows
        values = read_numbers(column)
    unread = int(np.isnan(values).sum())
    if unread:
        first = int(rows[np.flatnonzero(np.isnan(values))[0]])
        raise ValueError(
            f"{argument('time')}: {unread} rows of column {name!r} hold neither a date "
            "nor a "
            f"number; the first is row {first}. Mend them, or name another column."
        )
    return values


def _latest(moments: Array, groups: NDArray[Any] | None) -> Array:
    """Return the moment of each row; all rows of a group have its latest one."""
    if groups is None:
        return moments
    codes = np.unique(groups.astype(str), return_inverse=True)[1].ravel()
    latest = np.full(codes.max(initial=-1) + 1, -np.inf)
    np.maximum.at(latest, codes, moments)
    return np.asarray(latest[codes])


def _later_parts(moments: Array, count: int) -> list[tuple[Indices, Indices]]:
    """Train on earlier rows, test on the next part; equal moments stay together."""
    order = np.sort(moments)
    parts = max(count, _TEST_SHARE - 1) if count == 1 else count
    starts = [order[len(order) * k // (parts + 1)] for k in range(1, parts + 1)]
    bounds = [*np.unique(starts[-count:]), np.inf]
    splits = []
    for low, high in pairwise(bounds):
        train = np.flatnonzero(moments < low)
        test = np.flatnonzero((moments >= low) & (moments < high))
        if len(train):
            splits.append((train, test))
    if not splits:
        raise ValueError(
            f"{argument('time')}: all rows have the same time, so none can be held "
            "out as later. Name another column, or leave it out."
        )
    return splits


def _whole_groups(order: Indices, groups: NDArray[Any] | None, count: int) -> Indices:
    """Return about `count` rows in random order, in whole groups."""
    if groups is None:
        return np.sort(order[:count])
    codes = np.unique(groups.astype(str), return_inverse=True)[1].ravel()
    drawn = np.unique(codes[order], return_index=True)
    first = drawn[0][np.argsort(drawn[1])]  # groups in the order of their first row
    ends = np.cumsum(np.bincount(codes)[first])
    chosen = first[: max(int((ends <= count).sum()), 2)]
    return np.flatnonzero(np.isin(codes, chosen))
