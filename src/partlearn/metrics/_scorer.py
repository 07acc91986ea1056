"""Scorers for scikit-learn's own model selection.

scikit-learn hands the target that was fitted, here the candidate labels, to a scorer.
All but the last below need nothing else; that one takes the truth as metadata.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.metrics import accuracy_score, make_scorer

from partlearn.metrics._scores import candidate_hit_rate
from partlearn.metrics._truth_free import (
    approximated_accuracy,
    candidate_log_likelihood,
    covering_rate,
)

__all__ = [
    "approximated_accuracy_scorer",
    "candidate_hit_scorer",
    "candidate_log_likelihood_scorer",
    "covering_scorer",
    "truth_scorer",
]

candidate_hit_scorer = make_scorer(candidate_hit_rate)
covering_scorer = make_scorer(covering_rate)


def approximated_accuracy_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Score of a fitted classifier: :func:`approximated_accuracy` on given rows.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        The fitted classifier.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : Evidence or candidate labels
        Labels of the rows.

    Returns
    -------
    score : float
        Larger is better.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.metrics import approximated_accuracy_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = GridSearchCV(
    ...     PLKNN(), {"n_neighbors": [3, 10]}, scoring=approximated_accuracy_scorer
    ... )
    >>> bool(grid.fit(X, make_candidates(y, random_state=0)).best_score_ > 0.5)
    True
    """
    P = estimator.predict_proba(X)
    return approximated_accuracy(y, P, classes=estimator.classes_)


def candidate_log_likelihood_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Score of a fitted classifier: :func:`candidate_log_likelihood` on given rows.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        The fitted classifier.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : Evidence or candidate labels
        Labels of the rows.

    Returns
    -------
    score : float
        Larger is better.

    Examples
    --------
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.metrics import candidate_log_likelihood_scorer
    >>> X, y = [[0.0], [0.1], [1.0], [1.1]], [{0}, {0, 1}, {1}, {1}]
    >>> candidate_log_likelihood_scorer(PLKNN(3).fit(X, y), X, y) < 0
    True
    """
    P = estimator.predict_proba(X)
    return candidate_log_likelihood(y, P, classes=estimator.classes_)


def _truth_accuracy(candidates: Any, y_pred: Any, *, truth: Any) -> float:
    return float(accuracy_score(np.asarray(truth), y_pred))


def truth_scorer() -> Any:
    """Give a scorer for the accuracy against true labels passed as metadata.

    The metadata is named ``truth``. Metadata routing of scikit-learn must be enabled
    where the scorer is used. :func:`partlearn.model_selection.cross_validate` does the
    same without routing.

    Returns
    -------
    scorer : callable
        For the `scoring` parameter of scikit-learn's functions.

    Examples
    --------
    >>> import sklearn
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.metrics import truth_scorer
    >>> from partlearn.model_selection import CandidateKFold
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = make_candidates(y, random_state=0)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scores = cross_val_score(
    ...         PLKNN(), X, candidates, cv=CandidateKFold(5),
    ...         scoring=truth_scorer(), params={"truth": y},
    ...     )
    >>> bool(scores.mean() > 0.9)
    True
    """
    with config_context(enable_metadata_routing=True):
        return make_scorer(_truth_accuracy).set_score_request(truth=True)
