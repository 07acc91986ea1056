"""Encode the blocks of a table by the kinds of columns in the first block."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._arguments import argument
from partlearn._typing import Array, Mask
from partlearn.io import Columns, DataFormatError, columns_of, form_of, origin_of
from partlearn.tables._encoder import TableEncoder
from partlearn.tables._known import known_cells


class BlockEncoder:
    """Encode a block; raise if a cell contradicts the kind of its column.

    Kinds are inferred from the first block. Without the check, later text in a column
    of numbers would become missing values, and later numbers in a category unknown
    values.

    Parameters
    ----------
    encoder : TableEncoder
        Fitted on the first block.
    first : dict of str to ndarray
        Columns of the first block; cells that contradict their kind there are accepted.
    """

    def __init__(self, encoder: TableEncoder, first: Columns) -> None:
        self._encoder = encoder
        self._forms = {name: form_of(column) for name, column in first.items()}
        self._odd = {
            name: frozenset(first[name][self._unread(name, first[name])].tolist())
            for name in self._used()
        }

    def __call__(self, block: Any) -> Array:
        """Encode the rows of a block."""
        columns = columns_of(block)
        self._encoder.check_columns(columns)
        for name in self._used():
            column = columns[name]
            odd = self._unread(name, column)
            rows = [i for i in np.flatnonzero(odd) if column[i] not in self._odd[name]]
            if rows:
                path, start = origin_of(block)
                kind = self._encoder.kinds_[name].kind
                raise DataFormatError(
                    f"column {name!r} holds {str(column[rows[0]])[:40]!r}, while it is "
                    f"a {kind} in the first rows",
                    path=path,
                    where=f"row {start + rows[0]}",
                    advice="Mend the cell, or say what the column is with "
                    f"{argument('number')}, "
                    f"{argument('category')}, {argument('date')} or "
                    f"{argument('text')}, or leave it out with {argument('ignore')}.",
                )
        return self._encoder.transform(columns)

    def _used(self) -> list[str]:
        return [name for name, kind in self._encoder.kinds_.items() if kind.used]

    def _unread(self, name: str, column: NDArray[Any]) -> Mask:
        """Return a mask of the cells that do not fit the kind of their column."""
        kind = self._encoder.kinds_[name]
        present, unread = known_cells(column, kind)
        if kind.kind in ("number", "date"):
            return unread
        return present & (form_of(column) != self._forms[name])
