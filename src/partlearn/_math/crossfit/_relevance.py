"""Relevance of columns: importances from confidences, weights by likelihood."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesRegressor

from partlearn._array_api import row_dots, to_numpy
from partlearn._math.blocks import take
from partlearn._math.crossfit._geometries import GeometryName
from partlearn._math.crossfit._pooled import PooledModel, fit_pooled
from partlearn._math.crossfit._rounds import Labels
from partlearn._typing import Array, Indices

POWERS = (0.0, 0.5, 1.0)  # of the importances, from which "auto" chooses
WIDE_COLUMNS = 2000  # columns above which all count alike
RELEVANCE_ROWS = 500  # rows that choose
_TREES, _LEAF, _SHARE = 50, 3, 0.5
_LEAST = 0.02  # weight of a column beside that of the most important one
_DIGITS = 6  # of confidences: rounding shall not turn a split


class Relevance(NamedTuple):
    """Importance of each column (they sum to one), and the power chosen."""

    importances: Array
    power: float

    @property
    def weights(self) -> Array:
        """Weights by which the standardised columns are multiplied, (d,)."""
        return relevance_weights(self.importances, self.power)


def relevance_weights(importances: Array, power: float) -> Array:
    """Weights of columns from their importances.

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


def forest_importances(X: Array, F: Array) -> Array:
    """Importance of each column for the confidences, by randomised trees.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    F : ndarray of shape (n, q)
        Their confidences.

    Returns
    -------
    importances : ndarray of shape (d,)
        Mean decrease of the squared error; they sum to one. All are alike where no
        column tells the rows apart.
    """
    forest = ExtraTreesRegressor(
        _TREES, min_samples_leaf=_LEAF, max_features=_SHARE, random_state=0
    )
    varies = np.ptp(X, axis=0) > 0
    v = np.zeros(X.shape[1])
    if not varies.any():
        return np.full(len(v), 1 / len(v))
    F = np.round(F, _DIGITS)
    forest.fit(X[:, varies], F[:, np.lexsort(F)])  # whatever the order of the labels
    # The mean of the forest divides by zero where no split of few rows gains anything.
    v[varies] = sum(tree.feature_importances_ for tree in forest.estimators_)
    return v / v.sum() if v.sum() > 0 else np.full(len(v), 1 / len(v))


def sample_rows(X: Any, order: Indices) -> Array:
    """First rows of an order, dense and in the memory of the host."""
    rows = take(X, order[:RELEVANCE_ROWS])
    rows = rows.toarray() if sp.issparse(rows) else to_numpy(rows)
    return np.asarray(rows, dtype=np.float64)


def choose_relevance(
    estimator: Any,
    X: Array,
    labels: Labels,
    *,
    geometries: Sequence[GeometryName],
    power: float | str,
) -> Relevance:
    """Importances of the columns, and the power that expects the candidates best.

    Source: CRISPClassifier, relevance of columns.

    Parameters
    ----------
    estimator : CRISPClassifier or KernelCRISP
        Its parameters count.
    X : ndarray of shape (n, d)
        Some rows, in random order.
    labels : Labels
        Evidence on their labels.
    geometries : sequence of {"linear", "rbf", "laplacian"}
        The geometries.
    power : float or "auto"
        Power of the importances; "auto" chooses by the likelihood of the candidate
        sets, held out: each half of the rows judges importances of the other half.

    Returns
    -------
    relevance : Relevance
        Importances and power.
    """
    factors: dict[str, float] = {}

    def fit(weights: Array | None, labels: Labels, max_iter: int) -> PooledModel:
        settings = SimpleNamespace(**estimator.get_params(deep=False))
        settings.max_iter, settings.n_reference = max_iter, None
        return fit_pooled(
            settings,
            X,
            labels,
            np.arange(len(X)),
            geometries=geometries,
            rng=np.random.RandomState(0),
            weights=weights,
            factors=factors,
        )

    first = fit(None, labels, estimator.max_iter)
    F = to_numpy(first.F)
    v = forest_importances(X, F)
    if not isinstance(power, str):
        return Relevance(v, float(power))
    again = Labels(labels.update(first.F), first.F, labels.update, labels.rule)

    def likelihood(weights: Array | None) -> Array:
        return np.log(row_dots(fit(weights, again, 1).held_out, again.L))

    # Importances fit the rows they come from, so that the other half judges them.
    half = len(X) // 2
    first_half = forest_importances(X[:half], F[:half])
    second_half = forest_importances(X[half:], F[half:])
    gains = [float(likelihood(None).mean())]
    for g in POWERS[1:]:
        judged = [
            likelihood(relevance_weights(second_half, g))[:half],
            likelihood(relevance_weights(first_half, g))[half:],
        ]
        gains.append(float(np.concatenate(judged).mean()))
    return Relevance(v, POWERS[int(np.argmax(gains))])
