"""Read weights, complementary labels, hierarchies and intervals."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from partlearn._arguments import argument
from partlearn._typing import Array
from partlearn.candidates._evidence import EmptyRows, Evidence, make_evidence
from partlearn.candidates._messages import (
    check_known,
    first_no_number,
    is_missing,
    is_whole,
)
from partlearn.candidates._validation import check_candidates

_SETS = (set, frozenset, list, tuple)


def from_weights(
    weights: Any, *, classes: ArrayLike | None = None, empty: EmptyRows = "error"
) -> Evidence:
    """Read weights or soft labels, one number per class.

    Parameters
    ----------
    weights : array-like, sparse matrix or data frame of shape (n_samples, n_classes), \
or sequence of mappings
        Numbers that are not negative; only their ratios within a row count. The
        columns of a data frame name the classes. A row may also be a mapping such as
        ``{"cat": 0.7, "dog": 0.3}``; labels left out have weight 0.
    classes : array-like of shape (n_classes,), default=None
        The classes and their order. By default the column names, the sorted labels of
        mappings, or ``0 .. n_classes - 1``.
    empty : {"error", "drop", "all"}, default="error"
        Treatment of rows of zeros: raise, leave them out (the features are then
        ``X[labels.rows]``), or treat them as unlabeled.

    Returns
    -------
    labels : Evidence
        For the `y` of any method that takes evidence.

    Examples
    --------
    >>> from partlearn.candidates import from_weights
    >>> labels = from_weights([{"cat": 0.8, "dog": 0.2}, {"dog": 1.0}])
    >>> labels.confidence()
    array([[0.8, 0.2],
           [0. , 1. ]])
    >>> from_weights([[0.8, 0.2], [0.5, -0.5]])
    Traceback (most recent call last):
        ...
    ValueError: Weights must be finite and not negative; row 1 has -0.5 for label 1 ...
    """
    given = None if classes is None else np.asarray(classes)
    if isinstance(weights, (list, tuple)) and any(
        isinstance(row, Mapping) for row in weights
    ):
        matrix, labels = matrix_of_mappings(weights, given)
    elif hasattr(weights, "columns"):
        names = np.asarray(list(weights.columns))
        matrix, labels = np.asarray(weights), names
        if given is not None:
            order = {c: j for j, c in enumerate(names.tolist())}
            for label in given.tolist():
                check_known(label, order, f"There is no column for class {label!r}.")
            matrix = matrix[:, [order[label] for label in given.tolist()]]
            labels = given
    else:
        matrix = weights.toarray() if sp.issparse(weights) else np.asarray(weights)
        q = matrix.shape[1] if matrix.ndim == 2 else 0
        labels = np.arange(q) if given is None else given
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise ValueError(f"Weights need at least two columns; got {matrix.shape}.")
    try:
        matrix = matrix.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"Weights are numbers; got {first_no_number(np.asarray(matrix, object))}."
        ) from None
    if np.isnan(matrix).any() or (matrix < 0).any():
        Evidence(matrix, labels)  # which says where
    return make_evidence(matrix, labels, empty=empty)


def matrix_of_mappings(
    rows: Sequence[Any], classes: NDArray[Any] | None, missing: float = 0
) -> tuple[Array, NDArray[Any]]:
    """Write mappings of labels to numbers as a matrix, and return its labels."""
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ValueError(
                "Either every row is a mapping of labels to weights or none is; row "
                f"{i} is {type(row).__name__}."
            )
    labels, S = check_candidates(
        [set(row) for row in rows], classes=classes, empty="keep"
    )
    place = {label: j for j, label in enumerate(labels.tolist())}
    matrix = np.full(S.shape, missing, dtype=object)
    for i, row in enumerate(rows):
        for label, weight in row.items():
            matrix[i, place[label]] = weight
    return matrix, labels


def _candidate_sets(labels: Any) -> list[Any]:
    """Return one collection of labels per row, empty if missing."""
    if isinstance(labels, (str, bytes)):
        raise TypeError(
            "Labels must be a column, one entry per row; got a single string."
        )
    rows = list(labels) if isinstance(labels, _SETS) else np.asarray(labels).tolist()
    return [
        row
        if isinstance(row, (*_SETS, np.ndarray))
        else ()
        if is_missing(row) or row == ""
        else (row,)
        for row in rows
    ]


def from_complementary(labels: Any, *, classes: ArrayLike | None = None) -> Evidence:
    """Read complementary labels: each names a class that the row is *not*.

    Parameters
    ----------
    labels : array-like of shape (n_samples,) or sequence of sets
        The excluded class of every row, or a set of them; nothing where missing.
    classes : array-like of shape (n_classes,), default=None
        All classes. By default those that occur; give them where a class may never have
        been excluded.

    Returns
    -------
    labels : Evidence
        Every other class is a candidate.

    Examples
    --------
    >>> from partlearn.candidates import from_complementary
    >>> excluded = ["cat", {"cat", "dog"}, None]
    >>> labels = from_complementary(excluded, classes=["cat", "dog", "eel"])
    >>> labels.candidates.astype(int)
    array([[0, 1, 1],
           [0, 0, 1],
           [1, 1, 1]])
    """
    known, excluded = check_candidates(
        _candidate_sets(labels), classes=classes, empty="keep"
    )
    full = np.flatnonzero(excluded.all(axis=1))
    if full.size:
        raise ValueError(
            f"Row {full[0]} excludes every class {known.tolist()[:10]}; pass `classes` "
            "where there are others."
        )
    return Evidence(~excluded, known)


def from_hierarchy(
    labels: Any,
    *,
    parents: Mapping[Any, Any] | None = None,
    sep: str = "/",
    classes: ArrayLike | None = None,
) -> Evidence:
    """Read labels from any level of a hierarchy; a category includes all its classes.

    Parameters
    ----------
    labels : array-like of shape (n_samples,) or sequence of sets
        Nodes of the hierarchy: classes, or categories of any level; several are joined.
        Any class is possible if the label is missing.
    parents : mapping, default=None
        Parent of each node. The classes are the nodes without children. Without it,
        labels are paths such as ``"animal/cat"``, and the classes are the longest
        paths.
    sep : str, default="/"
        Separator of the parts of a path.
    classes : array-like of shape (n_classes,), default=None
        All classes, in their order; by default those that occur, sorted.

    Returns
    -------
    labels : Evidence
        The classes below each label are the candidates.

    Examples
    --------
    >>> from partlearn.candidates import from_hierarchy
    >>> labels = from_hierarchy(["animal/cat", "animal", "animal/dog", "plant"])
    >>> labels.classes
    array(['animal/cat', 'animal/dog', 'plant'], dtype='<U10')
    >>> labels.candidates.astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 0],
           [0, 0, 1]])
    >>> genus = {"lion": "panthera", "tiger": "panthera", "wolf": "canis"}
    >>> from_hierarchy(["lion", "panthera", "canis"], parents=genus).counts()
    {'lion': 2, 'tiger': 1, 'wolf': 1}
    """
    rows = _candidate_sets(labels)
    if parents is None:
        rows, parents, leaves = _paths(rows, sep, classes)
    else:
        inner = set(parents.values())
        leaves = [node for node in parents if node not in inner]
    if classes is None:
        known, _ = check_candidates([set(leaves)])
    else:
        known = np.asarray(classes)
        for label in known.tolist():
            wrong = f"Class {label!r} is not a leaf of the hierarchy."
            check_known(label, leaves, wrong)
    below = _leaves_below(known.tolist(), parents)
    for i, row in enumerate(rows):
        for node in row:
            wrong = f"Label {node!r} of row {i} is not in the hierarchy."
            check_known(node, below, wrong)
    sets = [{leaf for node in row for leaf in below[node]} for row in rows]
    return Evidence(check_candidates(sets, classes=known, empty="all")[1], known)


def _paths(
    rows: list[Any], sep: str, classes: ArrayLike | None
) -> tuple[list[Any], dict[Any, Any], list[str]]:
    """Return rows with normalized paths, the parents of all nodes, and the leaves."""

    def tidy(path: Any, where: str) -> str:
        if not isinstance(path, str):
            raise TypeError(
                f"{where} is {path!r}, not a path such as 'animal{sep}cat'; pass "
                "`parents` where labels are not paths."
            )
        parts = [part.strip() for part in path.split(sep)]
        return sep.join(part for part in parts if part)

    if not sep:
        raise ValueError(f"{argument('sep')} must not be empty.")
    rows = [[tidy(p, f"A label of row {i}") for p in row] for i, row in enumerate(rows)]
    given = [] if classes is None else np.asarray(classes).tolist()
    known = [tidy(path, "A class") for path in given]
    parents: dict[Any, Any] = {}
    nodes = known or [path for row in rows for path in row]
    for path in nodes:
        while sep in path:
            above = path.rsplit(sep, 1)[0]
            parents[path], path = above, above
        parents.setdefault(path, None)
    inner = set(parents.values())
    return rows, parents, [path for path in parents if path not in inner]


def _leaves_below(
    leaves: Sequence[Any], parents: Mapping[Any, Any]
) -> dict[Any, list[Any]]:
    """Map each node to the leaves below it, itself included."""
    below: dict[Any, list[Any]] = {}
    for leaf in leaves:
        node, seen = leaf, set()
        while node is not None:
            if node in seen:
                raise ValueError(f"The hierarchy has a cycle at {node!r}.")
            seen.add(node)
            below.setdefault(node, []).append(leaf)
            node = parents.get(node)
    return below


def from_intervals(intervals: Any, *, classes: ArrayLike | None = None) -> Evidence:
    """Read intervals of ordered labels: the true one lies between two ends.

    Parameters
    ----------
    intervals : array-like of shape (n_samples, 2) or sequence of pairs
        Lowest and highest possible label of every row, both included; an end that is
        missing is open.
    classes : array-like of shape (n_classes,), default=None
        The labels in their order. Needed unless the ends are whole numbers, whose
        classes are then all from the lowest to the highest.

    Returns
    -------
    labels : Evidence
        The classes between the ends are the candidates.

    Examples
    --------
    >>> from partlearn.candidates import from_intervals
    >>> labels = from_intervals([(1, 2), (2, None), (4, 4)])
    >>> labels.classes
    array([1, 2, 3, 4])
    >>> labels.candidates.astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 1],
           [0, 0, 0, 1]])
    >>> from_intervals([("low", "mid")], classes=["low", "mid", "high"]).counts()
    {'low': 1, 'mid': 1, 'high': 0}
    """
    if not isinstance(intervals, (list, tuple)):
        intervals = np.asarray(intervals, dtype=object).tolist()
    pairs = [tuple(pair) if isinstance(pair, _SETS) else (pair,) for pair in intervals]
    for i, pair in enumerate(pairs):
        if len(pair) != 2:
            raise ValueError(
                f"Row {i} holds {pair!r}, not a lowest and a highest label."
            )
    ends = [end for pair in pairs for end in pair if not is_missing(end)]
    labels = _ordered(ends) if classes is None else np.asarray(classes)
    place = {label: j for j, label in enumerate(labels.tolist())}
    S = np.zeros((len(pairs), len(labels)), dtype=bool)
    for i, (low, high) in enumerate(pairs):
        for end in (low, high):
            if not is_missing(end):
                check_known(end, place, f"Label {end!r} of row {i} is not a class.")
        first = 0 if is_missing(low) else place[low]
        last = len(labels) - 1 if is_missing(high) else place[high]
        if first > last:
            raise ValueError(f"Row {i} starts at {low!r}, above its end {high!r}.")
        S[i, first : last + 1] = True
    return Evidence(S, labels)


def _ordered(ends: list[Any]) -> NDArray[Any]:
    """Return all integers from the lowest to the highest end."""
    if not ends:
        raise ValueError("All intervals are open on both sides; pass `classes`.")
    for end in ends:
        if not is_whole(end):
            raise ValueError(
                f"{end!r} is not a whole number; pass `classes`, the labels in order."
            )
    return np.arange(int(min(ends)), int(max(ends)) + 1)
