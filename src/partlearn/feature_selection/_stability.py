"""Stability of a selection over subsamples of the rows."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from partlearn._sklearn_compat import safe_indexing
from partlearn._typing import Array
from partlearn.candidates import check_candidates


class SelectionStability(NamedTuple):
    """Result of :func:`selection_stability`.

    Attributes
    ----------
    score : float
        Mean share of the features selected from all rows that are selected again.
    chance : float
        Expected score of a random selection of the same size.
    frequency : ndarray of shape (n_features,)
        Share of the resamples in which each feature is selected.
    """

    score: float
    chance: float
    frequency: Array


def selection_stability(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 20,
    fraction: float = 0.8,
    random_state: Any = 0,
) -> SelectionStability:
    """Measure the stability of a selection over random subsamples of the rows.

    A selection that changes if a fifth of the rows is left out depends on single rows
    more than on the features.

    Parameters
    ----------
    selector : estimator
        Any selector with ``get_support``; clones of it are fitted.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows.
    y : candidate labels
        In any form that :func:`partlearn.candidates.check_candidates` reads; for a
        multi-label selector, rows may be without candidates.
    n_resamples : int, default=20
        Number of resamples.
    fraction : float, default=0.8
        Share of the rows in each resample, drawn without replacement.
    random_state : int, RandomState or None, default=0
        Draws the resamples.

    Returns
    -------
    stability : SelectionStability
        Score, chance and frequencies.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.feature_selection import SAUTE, selection_stability
    >>> X, y = load_wine(return_X_y=True)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> stability = selection_stability(SAUTE(4), X, candidates, n_resamples=5)
    >>> stability.score > 2 * stability.chance
    True
    """
    if n_resamples < 1 or not 0 < fraction <= 1:
        raise ValueError(
            "`n_resamples` must be at least 1 and `fraction` above 0, at most 1; got "
            f"{n_resamples} and {fraction}."
        )
    _, S = check_candidates(y, empty="keep")
    rng = check_random_state(random_state)
    m = len(S)
    size = max(2, round(fraction * m))
    whole = clone(selector).fit(X, S).get_support()
    kept = np.empty((n_resamples, len(whole)), dtype=bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit on all rows has said what there is
        for i in range(n_resamples):
            part = np.sort(rng.choice(m, min(size, m), replace=False))
            kept[i] = clone(selector).fit(safe_indexing(X, part), S[part]).get_support()
    return SelectionStability(
        float(kept[:, whole].mean()), float(kept.mean()), kept.mean(axis=0)
    )
