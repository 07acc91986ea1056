"""Transform columns with heavy tails by a signed logarithm."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from partlearn._typing import Array

_HEAVY = 1.5  # standard deviation per interquartile range; .74 for a normal column
_FEW = 20  # rows from which tails are looked at


def tail_units(N: Array) -> Array:
    """Return median and interquartile range of the columns with heavy tails.

    Parameters
    ----------
    N : ndarray of shape (m, d)
        Numbers, none missing.

    Returns
    -------
    units : ndarray of shape (2, d)
        Median and interquartile range. The range is infinite for columns that stay
        unchanged: those with light tails, fewer than 20 rows, or half of their values
        equal.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.tables._tails import tail_units
    >>> x = np.arange(41.0)
    >>> tail_units(np.column_stack([x, np.append(x[:-1], 1e6)]))[1]
    array([inf, 20.])
    """
    low, median, high = np.quantile(N, [0.25, 0.5, 0.75], axis=0)
    spread = high - low
    heavy = (spread > 0) & (len(N) >= _FEW)
    heavy &= N.std(axis=0) > _HEAVY * spread
    return np.stack([median, np.where(heavy, spread, np.inf)])


def signed_log(N: Array, median: Array, spread: Array) -> Array:
    """Compute ``sign(u) log(1 + |u|)`` of the columns with heavy tails.

    Parameters
    ----------
    N : ndarray of shape (m, d)
        Numbers.
    median, spread : ndarray of shape (d,)
        Result of :func:`tail_units`; ``u = (x - median) / spread``.

    Returns
    -------
    values : ndarray of shape (m, d)
        Columns of infinite spread are unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.tables._tails import signed_log
    >>> signed_log(np.array([[-7.0, 3.0]]), np.zeros(2), np.array([1.0, np.inf]))
    array([[-2.07944154,  3.        ]])
    """
    heavy = np.isfinite(spread)
    if not heavy.any():
        return N
    N = N.copy()
    with np.errstate(over="ignore"):
        u = (N[:, heavy] - median[heavy]) / spread[heavy]
    u = np.nan_to_num(u)  # of values beyond the largest number of float64
    N[:, heavy] = np.sign(u) * np.log1p(np.abs(u))
    return N
