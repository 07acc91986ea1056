"""Relevance of columns: importances from candidate sets, weights by likelihood."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from partlearn._array_api import row_dots, to_numpy
from partlearn._math.blocks import take
from partlearn._math.crossfit._bases import Basis, linear_basis
from partlearn._math.crossfit._embedding import choose_ridge
from partlearn._math.crossfit._experts import label_share, regression_confidence
from partlearn._math.crossfit._geometries import (
    GeometryName,
    choose_bandwidth,
    kernel_unit,
)
from partlearn._math.crossfit._kernels import exact_kernel_basis
from partlearn._math.crossfit._order import content_order
from partlearn._math.crossfit._scores import LeaveOneOut, targets
from partlearn._math.linalg import standardize
from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices

POWERS = (0.0, 0.5, 1.0)  # of the importances, from which "auto" chooses
RELEVANCE_ROWS = 500  # rows that choose
_LEAST_ROWS = 20  # rows from which a power is chosen
FITTED = 250  # rows of a regression that judges powers, its own half at least
_BINS = 8  # of a column, with about equally many rows
_ROUNDING = 1e-9  # deviations of a column between cells that count as equal
_RUNS = 16  # of neighboring rows, every other of which is in one half
_LEAST = 0.02  # weight of a column beside that of the most important one
_SAME = 1e-9  # gain of likelihood that is rounding


class Relevance(NamedTuple):
    """Importance of each column (they sum to one), and the power chosen."""

    importances: Array
    power: float

    @property
    def weights(self) -> Array | None:
        """Weights of the standardized columns, (d,); None where all count alike."""
        if not self.power:
            return None
        return relevance_weights(self.importances, self.power)


def relevance_weights(importances: Array, power: float) -> Array:
    """Weights of columns from their importances.

    Source: CRISPClassifier, relevance of columns.

    Parameters
    ----------
    importances : ndarray of shape (d,)
        Importance of each column.
    power : float
        Power of the importance; 0 weighs all columns alike.

    Returns
    -------
    weights : ndarray of shape (d,)
        ``clip((v / max v)^power, .02, 1)``.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.crossfit import relevance_weights
    >>> relevance_weights(np.array([0.8, 0.2, 0.0]), 0.5)
    array([1.  , 0.5 , 0.02])
    """
    if power == 0:
        return np.ones_like(importances)
    return np.clip((importances / importances.max()) ** power, _LEAST, 1.0)


def explained_shares(X: Array, F: Array) -> Array:
    """Share of the variance of the confidences that each column explains by itself.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    F : ndarray of shape (n, q)
        Their confidences.

    Returns
    -------
    shares : ndarray of shape (d,)
        Variance of the targets (block A) between at most eight bins of a column, of
        about equally many rows, less what bins drawn at random explain; at least zero.
        They are divided by their sum; all are alike where no column explains anything.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.crossfit._relevance import explained_shares
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [5.0, 1.0], [5.0, 2.0]])
    >>> explained_shares(X, np.eye(2)[[0, 0, 1, 1]])
    array([1., 0.])
    """
    n, Y = len(X), targets(F)
    total = float(np.square(Y).sum())
    v = np.zeros(X.shape[1])
    for j in range(X.shape[1]):
        order, starts = _equal_bins(X[:, j])
        if 1 < len(starts) < n and total > 0:
            counts = np.diff(starts, append=n)[:, None]
            sums = np.add.reduceat(Y[order], starts, axis=0)
            between = float((np.square(sums) / counts).sum()) / total
            chance = (len(starts) - 1) / (n - len(starts))
            v[j] = max(between - chance * (1 - between), 0.0)
    return v / v.sum() if v.sum() > 0 else np.full(len(v), 1 / len(v))


def _equal_bins(x: Array) -> tuple[Indices, Indices]:
    """Rows in the order of a column, and where each of at most eight bins starts.

    Cells that differ by rounding only stay together: their mean rank gives the bin.
    """
    order = np.argsort(x, kind="stable")
    scaled = x / (np.abs(x).max() or 1.0)  # of which squares do not overflow
    gaps = np.diff(scaled[order])
    first = np.concatenate([[0], np.flatnonzero(gaps > _ROUNDING * scaled.std()) + 1])
    last = np.append(first[1:], len(x)) - 1
    bins = (first + last + 1) * _BINS // (2 * len(x))
    return order, first[np.diff(bins, prepend=-1) > 0]


def choose_power(
    X: Array, F: Array, L: Array, geometries: Sequence[GeometryName]
) -> float:
    """Power of the importances that expects the candidates of other rows best.

    Source: CRISPClassifier, relevance of columns.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Some rows, in the order of their content.
    F, L : ndarray of shape (n, q)
        Their confidences and the evidence on their labels.
    geometries : sequence of {"linear", "rbf", "laplacian"}
        Geometries of the leave-one-out regressions whose likelihoods are compared.

    Returns
    -------
    power : float
        Importances fit the rows they come from, so that each half of the rows judges
        those of the other half.

    Notes
    -----
    Rows of one picture have the same candidates, and resemble each other. Other rows
    with the candidates of a row would predict them whatever the labels are, so that
    the regressions that judge a row leave out all rows with its candidate set.
    """
    if len(X) < _LEAST_ROWS:
        return 0.0
    # Runs of rows: an order that rounding changes a little has nearly the same halves.
    even = np.arange(len(X)) * _RUNS // len(X) % 2 == 0
    halves = np.flatnonzero(even), np.flatnonzero(~even)
    return compare_powers(X, F, L, equal_evidence(L), halves, geometries)


def compare_powers(
    X: Array,
    F: Array,
    L: Array,
    bags: Indices,
    halves: tuple[Indices, Indices],
    geometries: Sequence[GeometryName],
) -> float:
    """Power of the importances of one half with the best likelihood in the other.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    F, L : ndarray of shape (n, q)
        Their confidences and the evidence on their labels.
    bags : ndarray of int, shape (n,)
        Bag of each row; regressions leave out the whole bag of the row that they
        judge.
    halves : tuple of two ndarrays of int
        Rows of each half. Regressions have at least 250 rows where there are as many.
    geometries : sequence of {"linear", "rbf", "laplacian"}
        Geometries of the regressions.

    Returns
    -------
    power : float
        Of equal ones the smallest.
    """
    logs = np.zeros((len(POWERS), len(X)))
    for own, other in (halves, halves[::-1]):
        v = explained_shares(X[other], F[other])
        rows = np.concatenate([own, other[: max(FITTED - len(own), 0)]])
        data = F[rows], L[rows], bags[rows]
        for name in geometries if np.ptp(bags[rows]) else ():
            factor: float | None = None
            for i, power in enumerate(POWERS):
                Z = X[rows] * relevance_weights(v, power)
                basis, factor = trial_basis(name, Z, F[rows], factor)
                if basis is not None:
                    gains = likelihood_without_bags(basis, *data)
                    logs[i, own] += gains[: len(own)]
    gains = logs.mean(axis=1)
    return POWERS[int(np.argmax(gains > gains.max() - _SAME))]


def trial_basis(
    name: GeometryName, X: Array, F: Array, factor: float | None
) -> tuple[Basis | None, float | None]:
    """Basis of some rows, and its bandwidth in median distances, chosen if None."""
    if not np.ptp(X, axis=0).any():
        return None, factor
    if name == "linear":
        rng = np.random.RandomState(0)
        return linear_basis(X, scale=False, rank=None, rng=rng)[0], None
    unit = kernel_unit(name, X)
    if factor is not None:
        return exact_kernel_basis(name, X, factor * unit), factor
    width, basis = choose_bandwidth(name, X, targets(F))
    return basis, width / unit


def likelihood_without_bags(basis: Basis, F: Array, L: Array, bags: Indices) -> Array:
    """Log-likelihood of the evidence of each row by regressions without its bag.

    Parameters
    ----------
    basis : Basis
        Decomposition of the rows.
    F, L : ndarray of shape (n, q)
        Their confidences and the evidence on their labels.
    bags : ndarray of int, shape (n,)
        Number of the bag of each row, two bags at least.

    Returns
    -------
    logs : ndarray of shape (n,)
        Log-likelihoods.
    """
    model, Y = LeaveOneOut(basis), targets(F)
    C = model.project(Y)
    scores = model.held_out_bags(Y, C, choose_ridge(model, Y, C), bags)
    P = regression_confidence(scores, label_share(F))
    return np.asarray(np.log(row_dots(P, L)))


def equal_evidence(L: Array) -> Indices:
    """Number of the candidate set of each row; rows of one candidate stay apart."""
    _, sets = np.unique(L, axis=0, return_inverse=True)
    apart = np.arange(len(L)) + sets.max() + 1
    return np.where((L > 0).sum(axis=1) > 1, sets.ravel(), apart)


def learn_relevance(
    X: Any,
    F: Any,
    L: Any,
    order: Indices,
    *,
    geometries: Sequence[GeometryName],
    power: float | str,
) -> Relevance:
    """Importances of the columns by some rows, and the power of them that counts.

    Parameters
    ----------
    X : ndarray, CSR matrix or Rows, of shape (m, d)
        Training rows.
    F, L : ndarray of shape (m, q)
        First confidences and the evidence on the labels.
    order : ndarray of int, shape (m,)
        Rows in random order; the first 500 choose.
    geometries : sequence of {"linear", "rbf", "laplacian"}
        As in :func:`choose_power`.
    power : float or "auto"
        Power of the importances; "auto" chooses. Of more than 2,000 columns all count
        alike, and the importances are the squared correlations with the confidences.

    Returns
    -------
    relevance : Relevance
        Importances and power.
    """
    rows = order[:RELEVANCE_ROWS]
    F, L = (np.asarray(to_numpy(take(A, rows)), dtype=np.float64) for A in (F, L))
    part: Any = take(X, rows)
    part = (part if sp.issparse(part) else np.asarray(to_numpy(part))).astype(float)
    d = part.shape[1]
    if d <= SIZES.relevant_columns and sp.issparse(part):
        part = part.toarray()
    if d <= SIZES.relevant_columns:
        # From here on it does not matter in which order rows came.
        placed = content_order(part, L)
        part, F, L = part[placed], F[placed], L[placed]
    varies = d > SIZES.relevant_columns or np.ptp(part, axis=0).any()
    if not varies or not (L.max(axis=1) > L.min(axis=1)).any():
        return Relevance(np.full(d, 1 / d), 0.0)
    matrix, _, _ = standardize(part, center=True, scale=True)
    if d > SIZES.relevant_columns:
        v = np.square(matrix.transposed_matmul(targets(F))).sum(axis=1)
        return Relevance(v / max(v.sum(), np.finfo(float).tiny), 0.0)
    v = explained_shares(part, F)
    if isinstance(power, str):
        assert matrix.dense is not None
        power = choose_power(matrix.dense, F, L, geometries)
    return Relevance(v, float(power))
