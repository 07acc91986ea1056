"""Relevance of columns where rows come in bags, judged by whole bags held out."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence

import numpy as np

from partlearn._math.crossfit._geometries import GeometryName
from partlearn._math.crossfit._relevance import (
    RELEVANCE_ROWS,
    Relevance,
    compare_powers,
    explained_shares,
)
from partlearn._typing import Array, Indices

_LEAST_BAGS = 4  # from which a power is chosen: each half has two


def whole_bags(bags: Indices, n: int) -> Indices:
    """Rows of whole bags, in the order of their first rows.

    Parameters
    ----------
    bags : ndarray of int, shape (m,)
        Number of the bag of each row.
    n : int
        Number of rows at most. Bags of more than half of it are left out.

    Returns
    -------
    rows : ndarray of int
        Rows, bag by bag.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.crossfit._bag_relevance import whole_bags
    >>> whole_bags(np.array([5, 7, 5, 6, 7]), 4)
    array([0, 2, 1, 4])
    """
    _, first, inverse, sizes = np.unique(
        bags, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first[inverse], kind="stable")
    order = order[sizes[inverse[order]] <= n // 2]
    ends = np.append(np.flatnonzero(np.diff(bags[order])) + 1, len(order))
    return order[: ends[ends <= n].max(initial=0)]


def bag_relevance(
    X: Array,
    F: Array,
    L: Array,
    bags: Indices,
    *,
    geometries: Sequence[GeometryName],
    power: float | str,
) -> Relevance:
    """Importances of the columns by the confidences of a first fit, and their power.

    Source: CRISPClassifier, relevance of columns.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Standardized rows of whole bags, in random order of the bags.
    F, L : ndarray of shape (n, q)
        Their confidences and the evidence on their labels.
    bags : ndarray of int, shape (n,)
        Number of the bag of each row.
    geometries : sequence of {"linear", "rbf", "laplacian"}
        Geometries of the regressions whose likelihoods are compared.
    power : float or "auto"
        Power of the importances; "auto" chooses by the bags among the first 500 rows.

    Returns
    -------
    relevance : Relevance
        Importances and power.

    Notes
    -----
    Rows of a bag have the same candidates, and often resemble each other. A regression
    that knows the other rows of a bag would predict the candidates of a row from them,
    whatever the labels are. The likelihood is therefore that of regressions without the
    whole bag of a row.
    """
    v = explained_shares(X, F)
    if isinstance(power, str):
        rows = whole_bags(bags, RELEVANCE_ROWS)
        power = _choose(X[rows], F[rows], L[rows], bags[rows], geometries)
    return Relevance(v, float(power))


def _choose(
    X: Array, F: Array, L: Array, bags: Indices, geometries: Sequence[GeometryName]
) -> float:
    """Power that expects the candidates of other bags best, zero of few bags."""
    numbers = np.cumsum(np.diff(bags, prepend=bags[:1]) != 0)
    if numbers.max(initial=-1) + 1 < _LEAST_BAGS:
        return 0.0
    halves = np.flatnonzero(numbers % 2 == 0), np.flatnonzero(numbers % 2)
    return compare_powers(X, F, L, bags, halves, geometries)
