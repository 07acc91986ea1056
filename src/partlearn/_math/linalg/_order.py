"""Draws of rows that do not depend on the order of rows, columns or labels."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array, issparse

from partlearn._array_api import as_double, is_numpy, like, take, to_numpy
from partlearn._math.blocks import total
from partlearn._math.linalg._standardized import column_moments
from partlearn._typing import Array, Indices

_SPREAD = 100.0  # radians over which the weights of columns are spread
_BITS = 36  # to which a row's number is rounded: equal rows shall have equal numbers
_PASSES = 2  # from rows to columns and back


def drawn_order(X: Any, L: NDArray[Any], rng: np.random.RandomState) -> Indices:
    """Draw a random order of the rows that depends on their content only.

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
    """Return the order of the rows by their content.

    The key of a row is a combination of its standardized columns. The weight of a
    column follows from its cells, so that the order of the columns does not matter
    either. Equal rows are ordered by their labels; the key of a label is the sum of the
    keys of its rows.

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
    >>> from partlearn._math.linalg import content_order
    >>> X, S = np.array([[3.0], [1.0], [2.0]]), np.eye(3)
    >>> first = X[content_order(X, S)]
    >>> second = X[::-1][content_order(X[::-1], S[::-1])]
    >>> bool((first == second).all())
    True
    """
    std = to_numpy(column_moments(X)[1])
    scale = np.divide(1.0, std, out=np.zeros_like(std), where=std > 0)
    labels = _rounded(np.asarray(L @ L.sum(axis=0)))
    # A column's weight comes from its cells and from rows: neither order matters.
    first = _standard(_product(X, scale)) + _standard(labels)
    cells = scale * _transposed_product(X, _standard(np.sin(first)))
    size = float(np.abs(cells).max(initial=0.0))
    weights = scale * np.cos(_SPREAD * cells / size if size > 0 else cells)
    numbers = _rounded(_product(X, weights))
    return np.lexsort((_rounded(L @ (L.T @ numbers)), numbers))


def _product(X: Any, weights: Array) -> Array:
    """``X @ weights`` in the memory of the host."""
    product = X @ weights if is_numpy(X) else as_double(X) @ like(weights, X)
    return np.asarray(to_numpy(product))


def _transposed_product(X: Any, numbers: Array) -> Array:
    """``X.T @ numbers`` in the memory of the host."""
    if is_numpy(X):
        return np.asarray(total(X, _block_transposed, numbers))
    return np.asarray(to_numpy(as_double(X).T @ like(numbers, X)))


def _block_transposed(block: Any, numbers: Array) -> Array:
    return np.asarray(block.T @ numbers)


def _standard(numbers: Array) -> Array:
    """Standardize a vector."""
    numbers = numbers - numbers.mean()
    deviation = float(numbers.std())
    return numbers / deviation if deviation > 0 else numbers


def settled_orders(X: Any, L: NDArray[Any]) -> tuple[Indices, Indices]:
    """Return the orders of the rows and of the columns by their content.

    Extends :func:`content_order` to columns. The key of a column follows from its
    entries and the keys of the rows, and the key of a row from its entries and the keys
    of the columns, in turn.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (m, d)
        The data.
    L : ndarray of shape (m, q)
        Candidates, or other evidence.

    Returns
    -------
    rows : ndarray of int, shape (m,)
        The rows in their order.
    columns : ndarray of int, shape (d,)
        The columns in theirs.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.linalg import settled_orders
    >>> X, S = np.array([[3.0, 1.0], [1.0, 0.0], [2.0, 5.0]]), np.eye(3)
    >>> rows, columns = settled_orders(X, S)
    >>> other, turned = settled_orders(X[::-1, ::-1], S[::-1])
    >>> bool((X[rows][:, columns] == X[::-1, ::-1][other][:, turned]).all())
    True
    """
    mean, std = (moment.astype(np.float64) for moment in column_moments(X))
    unit = np.divide(1.0, std, out=np.zeros_like(std), where=std > 0)
    if issparse(X):  # centered below
        mean, Z = mean * unit, X @ diags_array(unit)
        squares = Z.multiply(Z).tocsr()
    else:
        mean, Z = np.zeros_like(std), (X - mean) * unit
        squares = Z * Z
    m, d = Z.shape
    # Labels count by how many rows have them, which does not depend on their order.
    rows = _spread(L @ _spread(L.sum(axis=0), m), L.shape[1])
    for _ in range(_PASSES):
        rows = rows - rows.mean()
        once = Z.T @ rows
        twice = squares.T @ rows - 2 * mean * once
        columns = _spread(once, m) + 2 * _spread(twice, m)
        numbers = _rounded(Z @ columns, d) / 2.0**_BITS
        rows = _spread(numbers, 1) + 2 * _spread(L @ (L.T @ numbers), m)
    return np.argsort(rows, kind="stable"), np.argsort(columns, kind="stable")


def _spread(numbers: Array, scale: float) -> Array:
    """Hash numbers to (-1, 1); equal numbers have equal hashes."""
    return np.sin(1 + 7 * _rounded(numbers, scale) / 2.0**_BITS)


def _rounded(numbers: Array, scale: float = 0.0) -> Array:
    """Round a vector to multiples of a small share of its range.

    A range that is a small share of `scale` is due to rounding.
    """
    numbers = numbers - numbers.min()
    _, exponent = np.frexp(max(numbers.max(), scale / 64))
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
