"""Orders of features: from a fitted method, or from a control."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge

from partlearn._typing import Array, Indices, Mask
from partlearn.benchmark._results import Control

__all__ = ["RANKINGS", "order_of", "ordered"]


def _random(X: Array, C: Mask) -> Array:
    return np.zeros(X.shape[1])


def _norm(X: Array, C: Mask) -> Array:
    return np.asarray(np.linalg.norm(X, axis=0))


def _ridge(X: Array, C: Mask) -> Array:
    W = Ridge(1.0).fit(X, C.astype(np.float64)).coef_
    return np.asarray(np.linalg.norm(np.atleast_2d(W), axis=0))


# The controls that order features, by their names in tables.
RANKINGS: dict[str, Callable[[Array, Mask], Array]] = {
    Control.RANDOM.value: _random,
    Control.NORM.value: _norm,
    Control.RIDGE.value: _ridge,
}


def ordered(scores: Array, seed: int) -> Indices:
    """Features by falling score, equal ones shuffled: column order is not neutral.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        One score per feature.
    seed : int
        Seed of the shuffle.

    Returns
    -------
    ndarray of int, shape (n_features,)
        Best first.
    """
    tie = np.random.default_rng(seed).permutation(len(scores))
    return np.lexsort((tie, -scores))


def order_of(method: Any, seed: int) -> Indices:
    """Order of the features according to a fitted method.

    Parameters
    ----------
    method : estimator
        With ``ranking_``, a place per feature, 1 being the best.
    seed : int
        Decides between equal places.

    Returns
    -------
    ndarray of int, shape (n_features,)
        Best first.
    """
    name = type(method).__name__
    ranking = getattr(method, "ranking_", None)
    if ranking is None:
        raise TypeError(
            f"{name} has no `ranking_` after fit, so it cannot rank features; list it "
            "under [[classifiers]]."
        )
    scores = getattr(method, "scores_", None)
    if scores is not None and np.ptp(scores) == 0:
        raise ValueError(f"All feature scores of {name} are equal: no ranking.")
    return ordered(-np.asarray(ranking, dtype=np.float64), seed)
