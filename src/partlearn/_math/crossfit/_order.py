"""Draws of rows that do not depend on the order of the rows in the data."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._array_api import as_double, is_numpy, like, take, to_numpy
from partlearn._math.linalg import column_moments
from partlearn._typing import Array, Indices

_BITS = 36  # to which a row's number is rounded: equal rows shall have equal numbers


def drawn_order(X: Any, L: NDArray[Any], rng: np.random.RandomState) -> Indices:
    """Random order of the rows: the same rows in the same order, however stored.

    Parameters
    ----------
    X, L
        As in :func:`content_order`.
    rng : RandomState
        Draws the order.

    Returns
    -------
    order : ndarray of int, shape (m,)
        Landmarks, reference rows and other samples are taken from it.
    """
    return content_order(X, L)[rng.permutation(X.shape[0])]


def content_order(X: Any, L: NDArray[Any]) -> Indices:
    """Order of the rows by what is in them.

    Each row has a number, a fixed random combination of its standardised columns.
    Equal rows are ordered by their labels, each of which has the sum of the numbers of
    its rows as its own.

    Parameters
    ----------
    X : ndarray, CSR matrix or Rows, of shape (m, d)
        The data.
    L : ndarray of shape (m, q)
        Candidates, or other evidence.

    Returns
    -------
    order : ndarray of int, shape (m,)
        Rows in that order.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.crossfit import content_order
    >>> X, S = np.array([[3.0], [1.0], [2.0]]), np.eye(3)
    >>> first = X[content_order(X, S)]
    >>> second = X[::-1][content_order(X[::-1], S[::-1])]
    >>> bool((first == second).all())
    True
    """
    std = to_numpy(column_moments(X)[1])
    weights = np.random.RandomState(0).standard_normal(X.shape[1])
    weights = np.divide(weights, std, out=np.zeros_like(weights), where=std > 0)
    product = X @ weights if is_numpy(X) else as_double(X) @ like(weights, X)
    numbers = _rounded(np.asarray(to_numpy(product)))
    return np.lexsort((_rounded(L @ (L.T @ numbers)), numbers))


def _rounded(numbers: Array) -> Array:
    """Measured from the least, in units of a small share of the range."""
    numbers = numbers - numbers.min()
    _, exponent = np.frexp(numbers.max())
    unit = float(np.ldexp(1.0, int(exponent) - _BITS))
    return np.round(numbers / unit)


def in_data_order(A: Any, order: Indices) -> Any:
    """Undo `content_order`: return rows in the order of the data.

    Parameters
    ----------
    A : ndarray or array of another library, of shape (m, p)
        Rows.
    order : ndarray of int, shape (m,)
        Result of :func:`content_order`.

    Returns
    -------
    rows : as `A`
        ``rows[order]`` is `A`.
    """
    return take(A, np.argsort(order))
