"""What the checks share: a small problem, a fit, and how two fits are compared."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_blobs
from sklearn.utils import get_tags

from partlearn._typing import Indices, Mask
from partlearn.candidates import make_candidates

__all__ = [
    "Check",
    "assert_same",
    "confidence",
    "error_message",
    "fit",
    "is_multilabel",
    "output",
    "problem",
    "uses_labels",
    "with_truth",
]

Check = Callable[[Any], None]


def is_multilabel(estimator: Any) -> bool:
    """Whether rows may have several true labels."""
    return bool(get_tags(estimator).target_tags.multi_output)


def uses_labels(estimator: Any) -> bool:
    """Whether the estimator looks at labels at all."""
    return bool(get_tags(estimator).target_tags.required)


def problem(estimator: Any, seed: int = 0) -> tuple[NDArray[Any], Mask]:
    """120 rows, and candidates of the kind that the estimator learns from.

    `seed` draws classes; labels of multi-label rows are always the same, each decided
    by one of ten features.
    """
    if is_multilabel(estimator):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(120, 10))
        S = X[:, :5] > 0.6
        S[np.arange(120), rng.integers(5, size=120)] = True
        return X, S
    X, _, S = with_truth(seed)
    return X, S


def with_truth(seed: int = 0) -> tuple[NDArray[Any], Indices, Mask]:
    """Well separated classes: any sound method solves it, whatever its random draws."""
    X, y = make_blobs(120, n_features=7, centers=5, cluster_std=0.8, random_state=seed)
    return X, y, make_candidates(y, 1, random_state=seed)


def fit(estimator: Any, X: Any, y: Any) -> Any:
    """Fit a copy that has a seed: two fits can be compared only if both draw alike."""
    estimator = clone(estimator)
    for name, value in estimator.get_params().items():
        if name.endswith("random_state") and value is None:
            estimator.set_params(**{name: 0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return estimator.fit(X, y)


def output(fitted: Any, X: Any) -> NDArray[Any]:
    """What is learnt: probabilities, scores of features, or distances between rows.

    Directions may turn without changing any distance, hence distances.
    """
    if is_classifier(fitted):
        P = np.asarray(fitted.predict_proba(X))
        assert is_multilabel(fitted) or np.allclose(P.sum(axis=1), 1, atol=1e-5)
        return P
    if is_multilabel(fitted):
        return np.asarray(fitted.scores_)
    Z = fitted.transform(X)
    Z = Z.toarray() if sp.issparse(Z) else np.asarray(Z)
    return pdist(Z.astype(np.float64, copy=False))


def confidence(fitted: Any) -> NDArray[Any] | None:
    """Confidences in the labels of the training rows, where there are any."""
    return getattr(fitted, "label_confidence_", None)


def assert_same(a: Any, b: Any, X: Any, tol: float = 1e-9) -> None:
    """Two fitted estimators do the same with rows `X` and labelled alike in `fit`."""
    P, F, G = output(a, X), confidence(a), confidence(b)
    atol = tol * np.abs(P).max()
    np.testing.assert_allclose(output(b, X), P, rtol=tol, atol=atol)
    if F is not None and G is not None:
        np.testing.assert_allclose(G, F, rtol=tol, atol=tol)


def error_message(estimator: Any, X: Any, y: Any) -> str:
    """Message of the ValueError that fitting must raise."""
    try:
        fit(estimator, X, y)
    except ValueError as error:
        return str(error)
    raise AssertionError("Fitting should have raised a ValueError.")
