"""Read the labels in columns of a table."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from partlearn._arguments import argument
from partlearn._typing import Indices, Mask
from partlearn.candidates import (
    Evidence,
    Tags,
    check_evidence,
    is_missing,
    is_missing_text,
    named_codes,
    one_label_each,
    warn_caller,
)
from partlearn.io import (
    AmbiguousDataError,
    LabelColumns,
    as_text,
    candidate_columns,
    check_names,
    is_marked,
    label_cells,
    label_evidence,
    row_count,
    spell_labels,
)


def label_columns(labels: str | None, columns: Iterable[str]) -> list[str]:
    """Return the label columns, as named or found by a name such as ``candidates``.

    Parameters
    ----------
    labels : str or None
        Name of a column, or several names separated by commas.
    columns : iterable of str
        Names of all columns.

    Returns
    -------
    list of str
        Names of the label columns.

    Examples
    --------
    >>> from partlearn.tables import label_columns
    >>> label_columns(None, ["size", "candidates"])
    ['candidates']
    >>> label_columns("ann,bob", ["size", "ann", "bob"])
    ['ann', 'bob']
    """
    columns = list(columns)
    if labels is None:
        matching = candidate_columns(columns)
        if not matching or (len(matching) > 1 and not is_marked(matching[0])):
            raise AmbiguousDataError(
                "no label column found; columns are "
                + ", ".join(map(repr, columns[:20])),
                advice=f"Name it with {argument('labels')}.",
            )
        return matching
    if labels in columns:
        return [labels]
    names = check_names(map(str.strip, labels.split(",")), columns, "labels")
    if len(set(names)) < len(names):
        raise ValueError(
            f"{argument('labels')}: {labels!r} names a column twice; name it once."
        )
    return names


def named_columns(columns: Mapping[str, Any], y: Any) -> list[str] | None:
    """Return the columns that `y` names; None if it holds the labels themselves.

    Parameters
    ----------
    columns : mapping
        Columns of the table.
    y : str, list of str, or labels
        A string is the name of a column; a list holds names if all of them are columns.

    Returns
    -------
    names : list of str or None
        Existing columns; an unknown name raises.
    """
    if isinstance(y, LabelColumns):
        return check_names(y.names, columns, y.form or "labels")
    if isinstance(y, str):
        return check_names([y], columns, "labels")
    texts = isinstance(y, (list, tuple)) and all(isinstance(v, str) for v in y)
    if texts and 0 < len(y) == len(set(y)):
        known = [name for name in y if name in columns]
        if len(known) == len(y) or (known and len(y) != row_count(columns)):
            return check_names(y, columns, "labels")
    return None


def read_labels(
    columns: Mapping[str, Any],
    y: Any,
    sep: str | None = None,
    *,
    empty: Literal["drop", "all"] = "drop",
    bags: Any = None,
    known: Sequence[str] = (),
) -> tuple[Evidence, list[str]]:
    """Read the labels of a table, and return their columns.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns of the table, as from ``columns_of``.
    y : str, list of str, LabelColumns, or labels
        Columns that hold the labels, or the labels in any form that ``check_evidence``
        reads.
    sep : str, default=None
        Separator of labels; ``|``, ``;`` and ``,`` are recognized. With ``"none"`` each
        cell is one label.
    empty : {"drop", "all"}, default="drop"
        Whether rows without labels are left out, or every label is possible for them.
    bags : str or array-like of shape (n_rows,), default=None
        Bags of the rows, or their column. A row without labels takes those of the other
        rows of its bag if these are equal, as where a caption is written once for each
        photograph; with a warning.
    known : sequence of str, default=()
        Labels of a model that the rows are new to: columns may then hold fewer than two
        labels.

    Returns
    -------
    evidence : Evidence
        ``evidence.rows`` are the labeled rows.
    names : list of str
        Columns of the labels; empty if `y` holds the labels themselves.

    Examples
    --------
    >>> from partlearn.candidates import from_votes
    >>> from partlearn.tables import columns_of, read_labels
    >>> columns = columns_of({"size": [1.0, 2.0, 3.0]})
    >>> votes = from_votes([0, 2], ["ann", "ann"], ["cat", "dog"], empty="drop")
    >>> evidence, names = read_labels(columns, votes)
    >>> evidence.rows, names
    (array([0, 2]), [])
    """
    names = named_columns(columns, y)
    if names is None and is_text_column(y) and len(y) == row_count(columns):
        cells = {"y": np.array([as_text(value) for value in y], dtype=object)}
        return label_evidence(cells, ["y"], sep=sep, empty=empty), []
    if names is None:
        return aligned(check_evidence(y), y, row_count(columns)), []
    form = y.form if isinstance(y, LabelColumns) else None
    if isinstance(bags, str):
        bags = columns.get(bags)  # runs of equal sets have no column
    if hasattr(bags, "__len__") and len(bags) == row_count(columns):
        columns = _fill_lists(columns, names, bags)
    evidence = label_evidence(
        columns, names, sep=sep, form=form, empty=empty, known=known
    )
    return evidence, names


def _fill_lists(
    columns: Mapping[str, Any], names: list[str], bags: Any
) -> Mapping[str, Any]:
    """Copy the label cells of a bag to its rows that have none."""
    cells = cell_codes(columns, names)
    bare: Mask = cells.max(axis=1) < 0
    if not bare.any():
        return columns
    codes, named = named_codes(true_labels(bags), len(bare), "bags")
    given = np.flatnonzero(~bare & named)
    lists, first = np.unique(
        np.column_stack([codes[given], cells[given]]), axis=0, return_index=True
    )
    bag, n_lists = np.unique(lists[:, 0], return_counts=True)
    source = np.full(codes.max() + 1, -1)
    source[lists[:, 0]] = given[first]
    source[bag[n_lists > 1]] = -1
    rows = np.flatnonzero(bare & named & (source[codes] >= 0))
    if not rows.size:
        return columns
    warn_caller(
        f"{rows.size} rows without labels take the list of the other rows of their bag."
    )
    filled = dict(columns)
    for name in names:
        filled[name] = np.array(columns[name])
        filled[name][rows] = filled[name][source[codes[rows]]]
    return filled


def cell_codes(columns: Mapping[str, Any], names: list[str]) -> Indices:
    """Number the different cells of label columns; -1 for empty ones.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns of the table.
    names : list of str
        The label columns.

    Returns
    -------
    codes : ndarray of int, shape (n_rows, n_columns)
        Equal for equal cells of a column.
    """
    parts = []
    for name in names:
        codes, values = label_cells(columns[name])
        missing = [j for j, value in enumerate(values) if is_missing_text(value)]
        parts.append(np.where(np.isin(codes, missing), -1, codes))
    return np.column_stack(parts)


def is_text_column(y: Any) -> bool:
    """Whether labels are one column of text, with cells that may hold sets."""
    if isinstance(y, (str, Evidence, Mapping)) or not hasattr(y, "__len__"):
        return False
    if getattr(y, "ndim", 1) != 1 or hasattr(y, "columns"):
        return False
    texts = [isinstance(v, str) for v in y if not is_missing(v)]
    return bool(texts) and all(texts)


def one_text_each(y: Any) -> bool:
    """Whether `y` holds one label per row: text without separators, or numbers."""
    if y is None or isinstance(y, (str, Evidence, LabelColumns)):
        return False
    if is_text_column(y):
        return not any(mark in str(v) for v in y for mark in "|;[{")
    if hasattr(y, "columns") or sparse.issparse(y) or not len(y):
        return False
    return bool(one_label_each(y))


def true_labels(values: ArrayLike) -> NDArray[Any]:
    """Return true labels as text; None if missing.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        Labels, as text or as numbers.

    Returns
    -------
    labels : ndarray of objects, shape (n_rows,)
        Text spelled as labels that are read from columns.

    Examples
    --------
    >>> from partlearn.tables import true_labels
    >>> true_labels([3.0, float("nan"), "cat", " "]).tolist()
    ['3', None, 'cat', None]
    """
    given = np.asarray(values, dtype=object)
    labels = np.full(given.shape, None, dtype=object)
    labels.flat[:] = spell_labels([as_text(value) for value in given.ravel()])
    return labels


def warn_unknown_truth(truth: NDArray[Any], classes: NDArray[Any]) -> None:
    """Warn of true labels that are never candidates, which cannot be predicted.

    Parameters
    ----------
    truth : ndarray of objects, shape (n_rows,)
        True labels as text, None if not known.
    classes : ndarray of shape (n_classes,)
        The labels.
    """
    known = {as_text(label) for label in classes.tolist()} | {None}
    unknown = [label for label in truth.tolist() if label not in known]
    if unknown:
        warn_caller(
            f"True labels of {len(unknown)} rows are never candidates, such as "
            f"{unknown[0]!r}: these rows count as wrong. Check the spelling."
        )


def aligned(labels: Any, y: Any, n: int) -> Any:
    """Return evidence or tags whose `rows` are rows of the table.

    As many labels as the table has rows belong to these rows, even if rows of a larger
    table were left out before. For fewer labels, ``rows`` of evidence or tags gives the
    rows.

    Parameters
    ----------
    labels : Evidence or Tags
        Labels that were read.
    y : object
        Labels as the caller gave them.
    n : int
        Number of rows of the table.

    Returns
    -------
    labels : Evidence or Tags
        A copy if the rows were renumbered.
    """
    if len(labels) == n:
        labels = copy(labels)
        labels.rows = np.arange(n)
    elif (
        not isinstance(y, Evidence | Tags)
        or len(labels) > n
        or labels.rows.max(initial=0) >= n
    ):
        raise ValueError(
            f"The table has {n} rows, the labels have {len(labels)}; give one label "
            "for each row."
        )
    return labels


def labels_by_place(
    index: NDArray[Any], corrections: Mapping[Any, Any], option: str = "corrections"
) -> dict[int, Any]:
    """Convert labels by the name of the row to labels by its position.

    Parameters
    ----------
    index : ndarray of shape (n_samples,)
        Names of the rows.
    corrections : mapping
        Labels by the name of the row.
    option : str, default="corrections"
        Name of the argument in messages.

    Returns
    -------
    labels : dict of int to label
        By place.
    """
    # Files and pages know rows by their text.
    places: dict[str, list[int]] = {}
    for i, name in enumerate(index):
        places.setdefault(str(name), []).append(i)
    for name in corrections:
        n = len(places.get(str(name), ()))
        if n != 1:
            which = f"which {n} rows are called" if n else "which is not there"
            raise ValueError(f"{argument(option)} name row {name!r}, {which}.")
    return {places[str(name)][0]: label for name, label in corrections.items()}


def read_gold(
    gold: Any, columns: Mapping[str, Any], index: NDArray[Any], kept: Indices | None
) -> dict[int, Any]:
    """Read true labels of some rows.

    Parameters
    ----------
    gold : mapping, str or array-like of shape (n_samples,)
        Labels by the name of the row; a column; or one label per row, None if not
        known.
    columns : mapping of str to ndarray
        Columns of the table.
    index : ndarray of shape (n_samples,)
        Names of the rows.
    kept : ndarray of int or None
        Rows of the table that have labels; None for all.

    Returns
    -------
    labels : dict of int to label
        True labels by the place of the row.
    """
    if isinstance(gold, Mapping):
        return labels_by_place(index, gold, "gold")
    if isinstance(gold, str):
        gold = columns[check_names([gold], columns, "gold")[0]]
        gold = gold if kept is None else gold[kept]
    values = true_labels(gold)
    if values.shape != index.shape:
        raise ValueError(
            f"{argument('gold')} must hold {len(index)} labels, one per row, None "
            "where it is not "
            f"known; got shape {values.shape}."
        )
    return {i: label for i, label in enumerate(values) if label is not None}
