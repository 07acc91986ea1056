"""Validation of candidate labels, shared by all estimators.

Everything that a user may call a label becomes ``(classes, S)`` here, with ``S`` a
boolean matrix of shape ``(n_samples, n_classes)``; no estimator checks labels again.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Hashable, Iterable, Mapping
from itertools import chain
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import DataConversionWarning

from partlearn._arguments import check_choice
from partlearn._typing import Indices
from partlearn.candidates._evidence import Evidence
from partlearn.candidates._messages import (
    distinct_labels,
    first_no_number,
    is_missing,
    some_rows,
    warn_caller,
)
from partlearn.candidates._separators import warn_shared_parts

_SETS = (set, frozenset, list, tuple)

Empty = Literal["error", "drop", "all", "keep"]
Classes = NDArray[Any] | None  # as the caller gave them
Labels = tuple[NDArray[Any], NDArray[Any]]  # classes and candidate matrix


def check_candidates(
    y: Any,
    *,
    classes: ArrayLike | None = None,
    empty: Empty = "error",
    return_rows: bool = False,
) -> tuple[NDArray[Any], ...]:
    """Convert labels in any accepted form to classes and a candidate matrix.

    Parameters
    ----------
    y : array-like, sparse matrix, data frame or sequence of sets
        One of

        * 1-D labels: every label is a set of one;
        * a binary matrix of shape (n_samples, n_classes), dense, sparse or a data
          frame whose columns name the classes;
        * a sequence of sets, lists or tuples of labels. Lists of equal length that
          hold nothing but 0 and 1 are read as the rows of a binary matrix; use sets
          where that is not meant;
        * :class:`Evidence`, whose possible labels are the candidates.
    classes : array-like of shape (n_classes,), default=None
        The classes and their order. By default the column names of a data frame,
        ``0 .. n_classes - 1`` for another matrix, and the sorted distinct labels
        otherwise. The columns of a data frame are found by these names, unless none
        of its names is a class or they merely count ``0, 1, ...``.
    empty : {"error", "drop", "all", "keep"}, default="error"
        Treatment of rows without candidates: raise, leave them out, treat them as
        unlabeled, so that every class is possible, or keep them, which only
        makes sense where a row may have no label at all (multi-label data).
    return_rows : bool, default=False
        Also return the indices of the rows that were kept.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The classes, in the order of the columns of `S`.
    S : ndarray of bool, shape (n_samples, n_classes)
        ``S[i, j]`` is True if class ``j`` is a candidate of row ``i``.
    rows : ndarray of int
        Indices of the rows kept; only with ``return_rows=True``.

    Examples
    --------
    >>> from partlearn.candidates import check_candidates
    >>> classes, S = check_candidates([{"cat", "dog"}, {"dog"}])
    >>> classes
    array(['cat', 'dog'], dtype='<U3')
    >>> S.astype(int)
    array([[1, 1],
           [0, 1]])
    """
    check_choice("empty", empty, get_args(Empty))
    labels, S = _read(y, None if classes is None else np.asarray(classes))
    rows = np.arange(S.shape[0])
    bare = np.flatnonzero(~S.any(axis=1))
    if bare.size and empty == "error":
        raise ValueError(
            f"Every row needs at least one candidate label; rows without any: "
            f"{some_rows(bare)}. Pass the labels through "
            'check_candidates(y, empty="drop") to leave these rows out, or '
            'empty="all" to treat them as unlabeled.'
        )
    if bare.size and empty == "all":
        S[bare] = True
    elif bare.size and empty == "drop":
        rows = np.flatnonzero(S.any(axis=1))
        S = S[rows]
    return (labels, S, rows) if return_rows else (labels, S)


def _read(y: Any, classes: Classes) -> Labels:
    """Dispatch on the form of `y`; empty rows are allowed here."""
    if y is None:
        raise ValueError("Fitting requires y to be passed, but the target y is None.")
    if classes is not None:
        _check_distinct(classes, "`classes`")
    if isinstance(y, Evidence):
        if classes is None:
            return y.classes, y.candidates.copy()
        rows, columns = np.nonzero(y.candidates)
        return _scatter(y.classes, columns, rows, len(y), classes)
    if isinstance(y, (str, bytes, Mapping)) or not (
        isinstance(y, Iterable) or hasattr(y, "__array__")
    ):
        raise TypeError(
            "y must be an array of labels, a binary matrix or a sequence of label "
            f"sets; got {type(y).__name__}."
        )
    if sp.issparse(y):
        if y.ndim != 2:
            raise ValueError("A sparse y must be a matrix, one column per class.")
        marks = np.isin(y.tocsr().data, (0, 1)).all()
        return _from_matrix((y.astype(bool) if marks else y).toarray(), classes)
    if hasattr(y, "columns") and hasattr(y, "shape"):  # pandas, polars, ...
        names = np.asarray(list(y.columns))
        if names.dtype.kind not in "iu":
            names = np.asarray([str(c) for c in y.columns])
        if len(names) > 1:
            return _from_frame(y, names, classes)
    y = np.asarray(y) if hasattr(y, "__array__") else list(y)
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        warn_caller(
            "A column-vector y was passed when a 1d array was expected. Please change "
            "the shape of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        y = y.ravel()
    sets = _as_sets(y)
    if sets is not None:
        return _from_sets(sets, classes)
    array = np.asarray(y)
    if array.dtype.kind == "U" and array is not y and not _of_one_type(y):
        # Text mixed with numbers or NaN, which have become text here.
        array = np.asarray(y, dtype=object)
    if array.ndim == 1:
        return _from_labels(array, classes)
    return _from_matrix(array, classes)


def _check_distinct(classes: NDArray[Any], what: str) -> None:
    if len(np.unique(classes)) != len(classes):
        raise ValueError(f"{what} must be distinct; got {classes.tolist()}.")


def _as_sets(y: NDArray[Any] | list[Any]) -> list[Any] | None:
    """Return `y` as a list of label collections, or None if it is something else."""
    if isinstance(y, np.ndarray) and (y.dtype != object or y.ndim != 1):
        return None
    collections = [isinstance(row, (*_SETS, np.ndarray)) for row in y]
    if not any(collections):
        return None
    if not all(collections):
        bad = [i for i, ok in enumerate(collections) if not ok]
        raise ValueError(
            "Either every row of y is a set of labels or none is; rows that are not "
            f"sets: {some_rows(bad)}."
        )
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in y]
    if any(isinstance(row, (set, frozenset)) for row in rows):
        return rows
    lengths = {len(row) for row in rows}
    # Rows of one label each are sets of one: no matrix has a single column.
    even, flat = len(lengths) == 1 and lengths != {1}, list(chain.from_iterable(rows))
    if even and all(isinstance(v, (Real, np.bool_)) and v in (0, 1) for v in flat):
        return None  # the rows of a binary matrix
    if any(isinstance(v, _SETS) for v in flat):
        return None  # deeper nesting is no set of labels: let the matrix check speak
    return rows


def _check_label_types(flat: list[Any], rows: Indices) -> None:
    """Raise for values that are not labels or cannot be sorted together."""
    if _of_one_type(flat):
        return
    odd = next((v for v in flat if not _is_label(v)), None)
    one = "give each class one number or string"
    for what, is_wrong, advice in (
        ("None or NaN", is_missing, "leave unknown labels out of the set"),
        ("itself a set, list or tuple", lambda v: isinstance(v, _SETS), one),
        (f"a {type(odd).__name__}", lambda v: not _is_label(v), one),
    ):
        wrong = [row for v, row in zip(flat, rows, strict=True) if is_wrong(v)]
        if wrong:
            raise ValueError(f"A label is {what} in rows {some_rows(wrong)}; {advice}.")
    text = np.fromiter((isinstance(v, str) for v in flat), bool, len(flat))
    if text.any() and not text.all():
        i, j = int(np.argmax(text)), int(np.argmin(text))
        raise ValueError(
            "The labels mix strings and other types: "
            f"{flat[i]!r} (row {rows[i]}) and {flat[j]!r} (row {rows[j]}). "
            "Convert them all to one type."
        )


def _is_label(value: Any) -> bool:
    """Whether a value can be a class name: hashable and sortable."""
    ordered = getattr(type(value), "__lt__", object.__dict__["__lt__"])
    return isinstance(value, Hashable) and ordered is not object.__dict__["__lt__"]


def _of_one_type(labels: Iterable[Any]) -> bool:
    """Whether all labels have one simple type, so that no check is needed."""
    kinds = set(map(type, labels))
    return len(kinds) == 1 and kinds <= {str, int, bool}


def _from_sets(sets: list[Any], classes: Classes) -> Labels:
    lengths = np.fromiter((len(s) for s in sets), np.intp, len(sets))
    flat = list(chain.from_iterable(sets))
    rows = np.repeat(np.arange(len(sets)), lengths)
    if not flat and classes is None:
        raise ValueError("No row has any candidate label, so there are no classes.")
    _check_label_types(flat, rows)
    if not flat:
        names = np.asarray(classes)
        return names, np.zeros((len(sets), len(names)), bool)
    names, codes = distinct_labels(flat)
    return _scatter(names, codes, rows, len(sets), classes)


def _from_labels(labels: NDArray[Any], classes: Classes) -> Labels:
    rows = np.arange(labels.shape[0])
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported for labels.")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            kind = "NaN" if np.isnan(labels).any() else "infinity"
            bad = np.flatnonzero(~np.isfinite(labels))
            raise ValueError(f"Input y contains {kind} in rows {some_rows(bad)}.")
        bad = np.flatnonzero(labels != np.trunc(labels))
        if bad.size:
            raise ValueError(
                "Unknown label type: continuous. Labels are classes, but rows "
                f"{some_rows(bad)} hold fractions; bin the target first."
            )
    elif labels.dtype == object:
        _check_label_types(labels.tolist(), rows)
    given = labels.tolist() if labels.dtype == object else labels
    names, codes = distinct_labels(given)
    if names.dtype.kind == "U":
        warn_shared_parts(names.tolist())
    return _scatter(names, codes, rows, labels.shape[0], classes)


def _scatter(
    labels: NDArray[Any],
    codes: Indices,
    rows: Indices,
    m: int,
    classes: Classes,
) -> Labels:
    """Write label codes into a matrix, in the order of `classes` if given."""
    if classes is not None:
        order = {c: j for j, c in enumerate(classes.tolist())}
        column = np.fromiter((order.get(c, -1) for c in labels.tolist()), np.intp)
        if (column < 0).any():
            k = int(np.argmax(column < 0))
            raise ValueError(
                f"Label {labels[k].item()!r} (row {rows[codes == k][0]}) is not one of "
                f"the {len(classes)} known classes {classes.tolist()[:10]}"
                f"{' ...' if len(classes) > 10 else ''}."
            )
        labels, codes = classes, column[codes]
    S = np.zeros((m, len(labels)), dtype=bool)
    S[rows, codes] = True
    return labels, S


def _from_frame(frame: Any, names: NDArray[Any], classes: Classes) -> Labels:
    """Read a matrix with named columns; given classes set their order."""
    _check_distinct(names, "The columns of y")
    if classes is None:
        return _from_matrix(np.asarray(frame), names)
    order = {c: j for j, c in enumerate(classes.tolist())}
    place = [order.get(name, -1) for name in names.tolist()]
    if max(place) < 0 or names.tolist() == list(range(len(names))):
        return _from_matrix(np.asarray(frame), classes)  # the names are no classes
    if min(place) < 0:
        stranger = names.tolist()[place.index(-1)]
        raise ValueError(
            f"Column {stranger!r} of y is not one of the {len(classes)} known classes."
        )
    _, columns = _from_matrix(np.asarray(frame), names)
    S = np.zeros((len(columns), len(classes)), dtype=bool)
    S[:, place] = columns
    return classes, S


def _from_matrix(array: NDArray[Any], classes: Classes) -> Labels:
    if array.ndim != 2:
        raise ValueError(f"y must be labels or a matrix; got {array.ndim} dimensions.")
    q = array.shape[1]
    if q < 2:
        raise ValueError(
            f"A candidate matrix needs one column per class, at least two; got {q}."
        )
    names = np.arange(q) if classes is None else classes
    if len(names) != q:
        raise ValueError(f"y has {q} columns but there are {len(names)} classes.")
    if array.dtype == bool:
        return names, array.copy()
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                "A candidate matrix holds 0 and 1 only, but this one holds "
                f"{first_no_number(array)}. Give labels as a sequence of sets."
            ) from None
    S = array == 1
    wrong = np.argwhere(~(S | (array == 0)))
    if wrong.size:
        i, j = wrong[0]
        value = array[i, j].item()
        hint = " Convert -1/+1 with (y > 0)." if value == -1 else ""
        raise ValueError(
            "A candidate matrix holds 0 and 1 only; found "
            f"{value!r} at row {i}, column {j} ({len(wrong)} such entries).{hint}"
        )
    return names, S


def check_evidence(y: Any) -> Evidence:
    """Convert labels in any accepted form to evidence.

    Parameters
    ----------
    y : Evidence, or candidate labels in any form that :func:`check_candidates` reads
        The labels.

    Returns
    -------
    labels : Evidence
        The evidence; for candidate sets one inside, zero outside.

    Examples
    --------
    >>> from partlearn.candidates import check_evidence
    >>> check_evidence([{"cat", "dog"}, {"dog"}])
    Evidence(2 rows, 2 classes, 1.5 candidates a row, equal weights)
    """
    if isinstance(y, Evidence):
        return y
    classes, S = check_candidates(y)
    return Evidence(S, classes)
