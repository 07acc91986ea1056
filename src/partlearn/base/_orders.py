"""Orders of rows, columns and labels by their content."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, NamedTuple

import numpy as np

from partlearn._math.linalg import settled_orders
from partlearn._typing import Array, Indices


class Orders(NamedTuple):
    """Indices that sort rows, columns and labels by their content."""

    rows: Indices
    columns: Indices
    labels: Indices


def content_orders(X: Any, L: Array) -> Orders:
    """Sort rows, columns and labels by their content.

    A method that computes in these orders returns the same result, to the last digit,
    for any order of the data, including ties, random draws and rounding.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (m, d)
        The data.
    L : ndarray of shape (m, q)
        Candidates, or other evidence.

    Returns
    -------
    orders : Orders
        Equal rows, columns and labels are adjacent, in any order.
    """
    rows, columns = settled_orders(X, L)
    # Each label has a number, the sum of numbers of its rows.
    numbers = np.cos(np.arange(len(rows))) @ L[rows]
    return Orders(rows, columns, np.argsort(numbers, kind="stable"))
