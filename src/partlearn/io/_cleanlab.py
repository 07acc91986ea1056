"""Cleanlab arrays: one label or vote per cell, classes numbered from 0."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._typing import Array, Indices
from partlearn.candidates import Evidence, Votes
from partlearn.io._errors import DataFormatError, located
from partlearn.io._files import regular_size
from partlearn.io._npz import read_npy
from partlearn.io._options import Budget, Limits


def read_cleanlab(path: Path) -> dict[str, NDArray[Any]]:
    """Read a cleanlab array as the columns of a table.

    Parameters
    ----------
    path : path
        ``.npy`` file: ``labels`` of shape (n_samples,); ``labels_multiannotator`` of
        shape (n_samples, n_annotators), NaN where there is no vote; or ``pred_probs``
        of shape (n_samples, n_classes).

    Returns
    -------
    columns : dict of str to ndarray
        ``label``; or ``annotator 0``, ``annotator 1``, ..., empty where there is no
        vote; or a column of weights for each label, named after it.
    """
    with located(path=path):
        A: Any = read_npy(path, Budget(Limits(), regular_size(path)))
    A = A.toarray() if sp.issparse(A) else A
    if not isinstance(A, np.ndarray) or A.ndim not in (1, 2) or not A.size:
        raise DataFormatError(
            "not an array of cleanlab",
            path=path,
            advice="Save labels, labels_multiannotator or pred_probs with numpy.save.",
        )
    A = A.astype(np.float64)
    given = ~np.isnan(A)
    if A.ndim == 2 and given.all() and (np.floor(A) != A).any():
        return {str(j): A[:, j] for j in range(A.shape[1])}
    bad = given & ((A < 0) | (np.floor(A) != A))
    if bad.any() or (A.ndim == 1 and not given.all()):
        place = np.argwhere(bad if bad.any() else ~given)[0].tolist()
        raise DataFormatError(
            f"row {place[0]} holds {A[tuple(place)]:g}, which is not a class number",
            path=path,
            advice="Labels are numbered 0, 1, ...; NaN in a matrix means no vote.",
        )
    codes = np.where(given, A, 0).astype(np.intp).astype(str).astype(object)
    codes[~given] = ""
    if A.ndim == 1:
        return {"label": codes}
    return {f"annotator {j}": codes[:, j] for j in range(A.shape[1])}


def cleanlab_array(labels: Evidence, n_rows: int) -> Array:
    """Convert labels to a cleanlab array of class numbers.

    Parameters
    ----------
    labels : Evidence
        Votes, single labels or weights.
    n_rows : int
        Rows of the table; those without labels are NaN in the array of votes.

    Returns
    -------
    array : ndarray
        ``labels_multiannotator`` of votes, ``labels`` of single labels, ``pred_probs``
        of weights.
    """
    number = class_numbers(labels.classes)
    if isinstance(labels, Votes):
        array = np.full((n_rows, len(labels.annotators)), np.nan)
        t = labels.table
        place = labels.rows[t.row], t.annotator
        given = number[t.label]
        array[place] = given
        if (array[place] != given).any():
            k = np.flatnonzero(array[place] != given)[0]
            raise ValueError(
                f"Annotator {labels.annotators[t.annotator[k]]!r} gave row "
                f"{labels.rows[t.row[k]]} several labels; an array of cleanlab holds "
                "one."
            )
        return array
    if len(labels) < n_rows:
        row = np.setdiff1d(np.arange(n_rows), labels.rows)[0]
        raise ValueError(f"Row {row} has no label; cleanlab arrays need one.")
    if (labels.candidates.sum(axis=1) == 1).all():
        return number[labels.candidates.argmax(axis=1)]
    if labels.weighted:
        P = np.asarray(labels.confidence(), dtype=np.float64)
        return P[:, np.argsort(number)]
    row = np.flatnonzero(labels.candidates.sum(axis=1) > 1)[0]
    raise ValueError(
        f"Row {row} has several candidates, which a cleanlab array cannot hold; "
        "write .npz instead."
    )


def class_numbers(classes: NDArray[Any]) -> Indices:
    """Return class numbers: the names if all are integers, else the positions."""
    try:
        numbers = np.array([int(str(name)) for name in classes], dtype=np.intp)
    except (OverflowError, ValueError):
        return np.arange(len(classes))
    return numbers if (numbers >= 0).all() else np.arange(len(classes))
