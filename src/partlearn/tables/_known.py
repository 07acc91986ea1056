"""Find cells of a table that hold a value, and cells that cannot be read."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Mask
from partlearn.candidates import is_missing_text
from partlearn.io import Columns, DataFormatError, form_of, numbers_in
from partlearn.tables._column_kinds import ColumnKind
from partlearn.tables._moments import moments_in


def known_cells(column: NDArray[Any], kind: ColumnKind) -> tuple[Mask, Mask]:
    """Return masks of cells with a value, and of cells that cannot be read.

    Parameters
    ----------
    column : ndarray
        A column, as from ``columns_of``.
    kind : ColumnKind
        Kind of the column in the training rows.

    Returns
    -------
    present, unread : ndarray of bool, shape (n_rows,)
        Unread cells hold text in a column of numbers or dates.
    """
    form = form_of(column)
    if form == "text":
        missing = {t: is_missing_text(t) for t in set(column.tolist())}
        present = np.asarray([not missing[t] for t in column.tolist()], dtype=bool)
    elif form == "moment":
        present = ~np.isnat(column)
    else:
        present = np.isfinite(column)
    unread = np.zeros(len(column), dtype=bool)
    if kind.kind == "number":
        unread = present & np.isnan(numbers_in(column, kind.grouping, kind.unit))
    elif kind.kind == "date":
        unread = present & np.isnat(moments_in(column, kind.date_format))
    return present, unread


def check_fitted_columns(fitted: Iterable[str], columns: Iterable[str]) -> None:
    """Raise if columns that a model was fitted on are missing."""
    columns = list(columns)
    absent = [repr(name) for name in fitted if name not in columns]
    if absent:
        more = " ..." if len(absent) > 5 else ""
        raise DataFormatError(
            "the table lacks columns that the model was fitted on: "
            f"{', '.join(absent[:5])}{more}. It has "
            f"{', '.join(map(repr, columns[:10]))}",
            advice="Add or rename them.",
        )


def number_matrix(
    columns: Columns, names: Sequence[str], start: int = 0
) -> NDArray[np.float64]:
    """Return columns of plain numbers as a matrix, for a model fitted on a matrix.

    Parameters
    ----------
    columns : mapping of str to ndarray
        The table.
    names : sequence of str
        Columns, in the order of the model.
    start : int, default=0
        Number of the first row, for messages.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
        Numbers, none of them missing.

    Examples
    --------
    >>> from partlearn.tables import columns_of, number_matrix
    >>> number_matrix(columns_of({"x": ["1", "2,5"], "id": ["a", "b"]}), ["x"])
    array([[1. ],
           [2.5]])
    """
    check_fitted_columns(names, columns)
    number = ColumnKind("number", "")
    for name in names:
        present, unread = known_cells(columns[name], number)
        for odd, what in ((unread, "a feature is not a number"), (~present, "")):
            if odd.any():
                row = int(odd.argmax())
                cell = repr(str(columns[name][row])[:40])
                raise DataFormatError(
                    f"{what}: {cell}" if what else "missing or infinite values",
                    where=f"row {start + row} of column {name!r}",
                    advice="" if what else "Fill them in, or leave these rows out.",
                )
    return np.column_stack([numbers_in(columns[name]) for name in names])
