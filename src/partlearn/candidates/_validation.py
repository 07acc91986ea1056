"""The one gate through which candidate labels enter the library.

Everything that a user may call a label becomes ``(classes, S)`` here, with ``S`` a
boolean matrix of shape ``(n_samples, n_classes)``; no estimator checks labels again.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

__all__ = [
    "FLOATS",
    "canonical",
    "check_candidates",
    "check_informative",
    "check_two_classes",
    "one_label_each",
    "parse_candidates",
    "validate_partial_data",
    "validate_rows",
]

FLOATS = (np.float64, np.float32)
_SETS = (set, frozenset, list, tuple)
_SHOWN = 5  # how many offending rows an error names

Empty = Literal["error", "drop", "all", "keep"]
_EMPTY = ("error", "drop", "all", "keep")


def _some(rows: NDArray[np.intp] | Sequence[int]) -> str:
    """Name the first few rows of a list of offending rows."""
    shown = ", ".join(str(int(r)) for r in rows[:_SHOWN])
    return shown if len(rows) <= _SHOWN else f"{shown}, ... ({len(rows)} rows in all)"


def check_candidates(
    y: Any,
    *,
    classes: ArrayLike | None = None,
    empty: Empty = "error",
    return_rows: bool = False,
) -> tuple[NDArray[Any], ...]:
    """Turn labels in any accepted form into classes and a candidate matrix.

    Parameters
    ----------
    y : array-like, sparse matrix, data frame or sequence of sets
        One of

        * 1-D labels: every label is a set of one;
        * a binary matrix of shape (n_samples, n_classes), dense, sparse or a data
          frame whose columns name the classes;
        * a sequence of sets, lists or tuples of labels. Lists of equal length that
          hold nothing but 0 and 1 are read as the rows of a binary matrix; use sets
          where that is not meant.
    classes : array-like of shape (n_classes,), default=None
        The classes and their order. By default the column names of a data frame,
        ``0 .. n_classes - 1`` for another matrix, and the sorted distinct labels
        otherwise. The columns of a data frame are found by these names, unless none
        of its names is a class or they merely count ``0, 1, ...``.
    empty : {"error", "drop", "all", "keep"}, default="error"
        What to do with a row that has no candidate: raise, leave the row out, treat it
        as unlabelled, so that every class is possible, or keep it as it is, which only
        makes sense where a row may have no label at all (multi-label data).
    return_rows : bool, default=False
        Also return the indices of the rows that were kept.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The classes, in the order of the columns of `S`.
    S : ndarray of bool, shape (n_samples, n_classes)
        ``S[i, j]`` says whether class ``j`` is a candidate of row ``i``.
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
    if empty not in _EMPTY:
        raise ValueError(
            f'`empty` must be "error", "drop", "all" or "keep"; got {empty!r}.'
        )
    found, S = _read(y, None if classes is None else np.asarray(classes))
    rows = np.arange(S.shape[0])
    bare = np.flatnonzero(~S.any(axis=1))
    if bare.size and empty == "error":
        raise ValueError(
            f"Every row needs at least one candidate label; rows without any: "
            f"{_some(bare)}. Pass the labels through "
            'check_candidates(y, empty="drop") to leave these rows out, or '
            'empty="all" to treat them as unlabelled.'
        )
    if bare.size and empty == "all":
        S[bare] = True
    elif bare.size and empty == "drop":
        rows = np.flatnonzero(S.any(axis=1))
        S = S[rows]
    return (found, S, rows) if return_rows else (found, S)


def _read(y: Any, classes: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Dispatch on the form of `y`; empty rows are allowed here."""
    if y is None:
        raise ValueError(
            "Learning from candidate labels requires y to be passed, but the target "
            "y is None."
        )
    if classes is not None:
        _check_distinct(classes, "`classes`")
    if isinstance(y, (str, bytes, Mapping)) or not (
        isinstance(y, Iterable) or hasattr(y, "__array__")
    ):
        raise TypeError(
            "y must be an array of labels, a binary matrix or a sequence of label "
            f"sets; got {type(y).__name__}."
        )
    if sp.issparse(y):
        return _from_sparse(y, classes)
    if hasattr(y, "columns") and hasattr(y, "shape"):  # pandas, polars, ...
        names = np.asarray([str(c) for c in y.columns])
        plain = np.asarray(list(y.columns))
        names = plain if plain.dtype.kind in "iu" else names
        if len(names) > 1:
            return _from_frame(y, names, classes)
    y = np.asarray(y) if hasattr(y, "__array__") else list(y)
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change "
            "the shape of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
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
            f"sets: {_some(bad)}."
        )
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in y]
    if any(isinstance(row, (set, frozenset)) for row in rows):
        return rows
    lengths = {len(row) for row in rows}
    # Rows of one label each are sets of one: no matrix has a single column.
    if (
        len(lengths) == 1
        and lengths != {1}
        and all(
            isinstance(v, (bool, int, float, np.bool_, np.integer, np.floating))
            and v in (0, 1)
            for v in chain.from_iterable(rows)
        )
    ):
        return None  # the rows of a binary matrix
    if any(isinstance(v, _SETS) for v in chain.from_iterable(rows)):
        return None  # deeper nesting is no set of labels: let the matrix check speak
    return rows


def _check_label_types(flat: list[Any], rows: NDArray[np.intp]) -> None:
    """Refuse what is no label, and labels that cannot be ordered with each other."""
    if _of_one_type(flat):
        return
    missing = [r for v, r in zip(flat, rows, strict=True) if _is_missing(v)]
    if missing:
        raise ValueError(
            f"A label is None or NaN in rows {_some(missing)}; leave unknown labels "
            "out of the set."
        )
    nested = [r for v, r in zip(flat, rows, strict=True) if isinstance(v, _SETS)]
    if nested:
        raise ValueError(
            f"A label is itself a set, list or tuple in rows {_some(nested)}; give "
            "each class one number or text."
        )
    text = np.fromiter((isinstance(v, str) for v in flat), bool, len(flat))
    if text.any() and not text.all():
        i, j = int(np.argmax(text)), int(np.argmin(text))
        raise ValueError(
            "The labels mix text and other types: "
            f"{flat[i]!r} (row {rows[i]}) and {flat[j]!r} (row {rows[j]}). "
            "Convert them all to one type."
        )


def _of_one_type(labels: Iterable[Any]) -> bool:
    """Whether labels are all text or all whole numbers: nothing can be amiss then."""
    kinds = set(map(type, labels))
    return len(kinds) == 1 and kinds <= {str, int, bool}


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN or NaT, or pandas' NA, which compares to NA."""
    same = label == label
    return not (isinstance(same, (bool, np.bool_)) and same) or label is None


def _from_sets(
    sets: list[Any], classes: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    lengths = np.fromiter((len(s) for s in sets), np.intp, len(sets))
    flat = list(chain.from_iterable(sets))
    rows = np.repeat(np.arange(len(sets)), lengths)
    if not flat and classes is None:
        raise ValueError("No row has any candidate label, so there are no classes.")
    _check_label_types(flat, rows)
    if not flat:
        return np.asarray(classes), np.zeros(
            (len(sets), len(np.asarray(classes))), bool
        )
    labels = np.asarray(flat)
    found, codes = np.unique(labels, return_inverse=True)
    return _scatter(found, codes, rows, len(sets), classes)


def _from_labels(
    labels: NDArray[Any], classes: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    rows = np.arange(labels.shape[0])
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported for labels.")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            kind = "NaN" if np.isnan(labels).any() else "infinity"
            bad = np.flatnonzero(~np.isfinite(labels))
            raise ValueError(f"Input y contains {kind} in rows {_some(bad)}.")
        if np.any(labels != np.trunc(labels)):
            bad = np.flatnonzero(labels != np.trunc(labels))
            raise ValueError(
                "Unknown label type: continuous. Labels are classes, but rows "
                f"{_some(bad)} hold fractions; bin the target first."
            )
    elif labels.dtype == object:
        _check_label_types(list(labels), rows)
        labels = np.asarray(list(labels))
    found, codes = np.unique(labels, return_inverse=True)
    return _scatter(found, codes, rows, labels.shape[0], classes)


def _scatter(
    found: NDArray[Any],
    codes: NDArray[np.intp],
    rows: NDArray[np.intp],
    m: int,
    classes: NDArray[Any] | None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Write label codes into a matrix, in the order of `classes` if given."""
    if classes is not None:
        order = {c: j for j, c in enumerate(classes.tolist())}
        column = np.fromiter((order.get(c, -1) for c in found.tolist()), np.intp)
        if (column < 0).any():
            k = int(np.argmax(column < 0))
            raise ValueError(
                f"Label {found[k].item()!r} (row {rows[codes == k][0]}) is not one of "
                f"the {len(classes)} known classes {classes.tolist()[:10]}"
                f"{' ...' if len(classes) > 10 else ''}."
            )
        found, codes = classes, column[codes]
    S = np.zeros((m, len(found)), dtype=bool)
    S[rows, codes] = True
    return found, S


def _columns(q: int, classes: NDArray[Any] | None) -> NDArray[Any]:
    if q < 2:
        raise ValueError(
            f"A candidate matrix needs one column per class, at least two; got {q}."
        )
    if classes is None:
        return np.arange(q)
    if len(classes) != q:
        raise ValueError(
            f"The candidate matrix has {q} columns but there are {len(classes)} "
            "classes."
        )
    return classes


def _from_frame(
    frame: Any, names: NDArray[Any], classes: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read a matrix with named columns; names of given classes decide their places."""
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


def _from_matrix(
    array: NDArray[Any], classes: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    if array.ndim != 2:
        raise ValueError(
            "y must be 1-D labels or a 2-D candidate matrix; got an array of "
            f"{array.ndim} dimensions."
        )
    found = _columns(array.shape[1], classes)
    if array.dtype == bool:
        return found, array.copy()
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                "A candidate matrix holds 0 and 1 only, but this one holds objects "
                f"such as {array.flat[0]!r}. Give labels as a sequence of sets."
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
    return found, S


def _from_sparse(
    matrix: Any, classes: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    if matrix.ndim != 2:
        raise ValueError("A sparse y must be a matrix, one column per class.")
    found = _columns(matrix.shape[1], classes)
    entries = matrix.tocoo()
    wrong = np.flatnonzero((entries.data != 1) & (entries.data != 0))
    if wrong.size:
        w = wrong[0]
        raise ValueError(
            f"A candidate matrix holds 0 and 1 only; found {entries.data[w].item()!r} "
            f"at row {entries.row[w]}, column {entries.col[w]}."
        )
    S = np.zeros(matrix.shape, dtype=bool)
    kept = entries.data == 1
    S[entries.row[kept], entries.col[kept]] = True
    return found, S


def validate_partial_data(
    estimator: Any, X: Any, y: Any, *, empty: Empty = "error", **check_params: Any
) -> tuple[Any, NDArray[Any]]:
    """Validate what `fit` receives and set ``classes_`` and ``n_features_in_``.

    Parameters
    ----------
    estimator : estimator instance
        The estimator being fitted.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Passed on to scikit-learn's ``validate_data`` with `check_params`.
    y : candidate labels in any form that :func:`check_candidates` reads
        The labels.
    empty : {"error", "all", "keep"}, default="error"
        What to do with rows without candidates; multi-label estimators keep them.
    **check_params : dict
        For ``validate_data``; float64 and float32 are kept unless `dtype` says more.

    Returns
    -------
    X : ndarray or CSR matrix
        Checked features.
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidate matrix.
    """
    check_params = {"dtype": FLOATS, **check_params}
    X = canonical(validate_data(estimator, X, **check_params))
    estimator.classes_, S = check_candidates(y, empty=empty)
    if S.shape[0] != X.shape[0]:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{X.shape[0]} rows, y has {S.shape[0]}."
        )
    return X, S


def check_two_classes(classes: NDArray[Any], name: str) -> None:
    """Refuse labels that are all the same.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    name : str
        Name of the estimator, for the message.
    """
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs at least two classes; y has 1 class "
            f"({classes.tolist()[0]!r})."
        )


def check_informative(S: NDArray[Any], classes: NDArray[Any], name: str) -> None:
    """Refuse candidate sets from which nothing can be learnt.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_classes)
        Candidates.
    classes, name
        As in :func:`check_two_classes`.
    """
    check_two_classes(classes, name)
    if (S[0] == S).all():
        raise ValueError(
            "The candidate sets carry no information: all rows have the same "
            "candidates."
        )


def validate_rows(estimator: Any, X: Any) -> Any:
    """Check the rows that a fitted classifier is to predict.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows as the caller passed them.

    Returns
    -------
    X : ndarray or CSR matrix
        Rows in one order of memory, so that sums over arrays and frames round alike.
    """
    check_is_fitted(estimator)
    options = {"accept_sparse": "csr", "dtype": FLOATS, "order": "C"}
    return canonical(validate_data(estimator, X, reset=False, **options))


def canonical(X: Any) -> Any:
    """Add up entries that a sparse matrix holds twice; squares would not.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Checked features.

    Returns
    -------
    X : ndarray or CSR matrix
        The same rows, copied only where something had to change.
    """
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def one_label_each(y: Any) -> bool:
    """Whether `y` holds plain labels, one per row, rather than sets or a matrix.

    Parameters
    ----------
    y : candidate labels
        What :func:`check_candidates` has accepted; no iterator.

    Returns
    -------
    plain : bool
        True for 1-D labels and for a single column of them.
    """
    if not sp.issparse(y) and not isinstance(y, (list, tuple)):
        y = np.asarray(y)
    if getattr(y, "ndim", 1) == 2:
        if y.shape[1] > 1:
            return False
        y = y.ravel()
    return not isinstance(y[0], (set, frozenset, list, tuple, np.ndarray))


def parse_candidates(texts: Iterable[str], *, sep: str = "|") -> list[frozenset[str]]:
    """Read delimited label texts such as ``"cat|dog"``.

    Text is never split unless this function (or the command line, which calls it) is
    asked to: a label may well contain the delimiter.

    Parameters
    ----------
    texts : iterable of str
        One text per row; spaces around labels are dropped, an empty text is an empty
        set.
    sep : str, default="|"
        The delimiter.

    Returns
    -------
    sets : list of frozenset of str
        One set per row.

    Examples
    --------
    >>> from partlearn.candidates import parse_candidates
    >>> [sorted(s) for s in parse_candidates(["cat|dog", "dog", ""])]
    [['cat', 'dog'], ['dog'], []]
    """
    if not sep:
        raise ValueError("`sep` must not be empty.")
    known: dict[str, frozenset[str]] = {}  # few distinct texts, many rows
    sets = []
    for i, text in enumerate(texts):
        found = known.get(text) if isinstance(text, str) else None
        if found is None:
            if not isinstance(text, str):
                raise TypeError(
                    f"Row {i} holds {text!r}, not text; give the labels as text, an "
                    "empty text for an empty set."
                )
            found = known[text] = frozenset(
                label for part in text.split(sep) if (label := part.strip())
            )
        sets.append(found)
    return sets
