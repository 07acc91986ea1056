"""Accuracy by number of selected features."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partlearn._typing import Array, Indices
from partlearn.base import count_features
from partlearn.model_selection import cross_validate


class SelectionCurve(NamedTuple):
    """Accuracy against number of features: ``sizes``, ``mean`` and ``std`` (ddof 1)."""

    sizes: Indices
    mean: Array
    std: Array


def selection_curve(
    selector: Any,
    classifier: Any,
    X: Any,
    candidates: Any,
    truth: ArrayLike,
    *,
    sizes: Sequence[int | float] = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6),
    cv: Any = 10,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> SelectionCurve:
    """Cross-validate a classifier on selections of several sizes.

    Selection, scaling and classifier are fitted on the training rows of each fold.

    Parameters
    ----------
    selector : selector
        Selector; it is cloned for each size.
    classifier : classifier
        Classifier for the selected features, scaled to variance one.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features.
    candidates : candidate labels
        In any form that :func:`partlearn.candidates.check_candidates` reads.
    truth : array-like of shape (n_samples,)
        True labels, used to score only.
    sizes : sequence of int or float, default=(0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)
        Numbers of features, or fractions of them; by default those of the paper.
    cv : int, splitter or iterable of (train, test), default=10
        Number of shuffled folds, or how to split.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    n_jobs : int, default=None
        Folds in parallel; the result does not depend on it.

    Returns
    -------
    curve : SelectionCurve
        Accuracy for each distinct size.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.feature_selection import MaxRelevance, selection_curve
    >>> X, y = load_wine(return_X_y=True)
    >>> S = make_candidates(y, n_false=1, random_state=0)
    >>> curve = selection_curve(
    ...     MaxRelevance(alpha=0), PLKNN(), X, S, y, sizes=[2, 6], cv=3
    ... )
    >>> curve.sizes
    array([2, 6])
    >>> bool(curve.mean[1] > 0.8)
    True
    """
    d = X.shape[1] if hasattr(X, "shape") else len(X[0])
    counts = np.unique([count_features(size, d) for size in sizes])
    rows = []
    for n in counts:
        model = make_pipeline(
            clone(selector).set_params(n_features_to_select=int(n)),
            StandardScaler(with_mean=False),
            clone(classifier),
        )
        result = cross_validate(
            model, X, candidates, truth, cv=cv, random_state=random_state, n_jobs=n_jobs
        )
        rows.append(result["test_score"])
    scores = np.array(rows)
    return SelectionCurve(counts, scores.mean(axis=1), scores.std(axis=1, ddof=1))
