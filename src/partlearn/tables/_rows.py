"""Encode and name the labeled rows of a table."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from partlearn._array_api import to_numpy
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
        Encoder; by default a new one.
    index : ndarray or None
        Names of all rows; numbers by default. The column `id` of the encoder takes
        precedence.

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


def column_importances(
    estimator: Any, sources: Iterable[Any] | None = None
) -> dict[str, float]:
    """Sum the importances of the features by column of a table, largest first.

    Parameters
    ----------
    estimator : estimator
        A fitted one.
    sources : iterable of str, default=None
        Column of each feature; by default each feature is a column, named as
        scikit-learn does: ``x0``, ``x1``.

    Returns
    -------
    importances : dict of str to float
        Sums of ``feature_importances_``; empty if the estimator has none.
    """
    values = getattr(estimator, "feature_importances_", None)
    if values is None:
        return {}
    v = np.asarray(to_numpy(values), dtype=np.float64)
    names = [f"x{j}" for j in range(len(v))] if sources is None else sources
    shares: dict[str, float] = {}
    for name, value in zip(names, v.tolist(), strict=True):
        shares[str(name)] = shares.get(str(name), 0.0) + value
    return dict(sorted(shares.items(), key=lambda item: -item[1]))
