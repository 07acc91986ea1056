"""Rows of a table that have labels: encoded and named."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from partlearn._typing import Array, Indices
from partlearn.io import Columns, take_rows
from partlearn.tables._column_kinds import as_names
from partlearn.tables._encoder import TableEncoder


def encode_rows(
    columns: Columns,
    rows: Indices,
    label_columns: Sequence[str],
    encoder: TableEncoder | None,
    index: NDArray[Any] | None,
) -> tuple[Array, NDArray[Any], Columns, TableEncoder]:
    """Encode some rows of a table, without the columns of the labels.

    Parameters
    ----------
    columns : mapping of str to ndarray
        The table.
    rows : ndarray of int
        Rows to encode.
    label_columns : sequence of str
        Columns that hold the labels.
    encoder : TableEncoder or None
        How to encode; by default as the columns look.
    index : ndarray or None
        Names of all rows; numbers by default. The column `id` of the encoder counts
        first.

    Returns
    -------
    encoded : ndarray of shape (n_rows, n_features)
        Features.
    index : ndarray of shape (n_rows,)
        Names of the rows.
    table : mapping of str to ndarray
        These rows of the table.
    fitted : TableEncoder
        The fitted encoder.
    """
    chosen = TableEncoder() if encoder is None else clone(encoder)
    chosen.set_params(ignore=[*as_names(chosen.ignore), *label_columns])
    table = take_rows(columns, rows)
    encoded = chosen.fit_transform(dict(table))
    ids = as_names(chosen.id)
    if ids:
        index = table[ids[0]]
    else:
        index = rows if index is None else index[rows]
    return encoded, np.asarray(index), table, chosen
