"""Which cells of a table hold a value, and which of them cannot be read."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Mask
from partlearn.candidates import is_missing_text
from partlearn.tables._column_kinds import ColumnKind
from partlearn.tables._frame import form_of, numbers_in
from partlearn.tables._moments import moments_in


def known_cells(column: NDArray[Any], kind: ColumnKind) -> tuple[Mask, Mask]:
    """Cells that hold something, and those of them that are no number or date.

    Parameters
    ----------
    column : ndarray
        A column, as ``columns_of`` makes it.
    kind : ColumnKind
        What the column was in the training rows.

    Returns
    -------
    present, unread : ndarray of bool, shape (n_rows,)
        Unread are cells of text in a column of numbers or dates.
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
