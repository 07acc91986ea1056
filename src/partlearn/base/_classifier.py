"""Base classes of partial-label classifiers: prediction and scores."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score

from partlearn._array_api import is_numpy, namespace, take, to_numpy
from partlearn._math.blocks import lazy_rows
from partlearn._typing import Mask
from partlearn.base._fit_input import validate_evidence
from partlearn.base._mixins import CandidateMixin, MemoryEstimateMixin
from partlearn.candidates import Evidence, one_label_each


@lazy_rows
class BaseCandidateClassifier(
    CandidateMixin, MemoryEstimateMixin, ClassifierMixin, BaseEstimator
):
    """Base class of classifiers that learn from candidate sets and predict one label.

    A subclass sets ``classes_`` in `fit` and implements ``predict_proba``. It may
    override ``_scores``: `predict` returns the class of the largest score. Set
    ``_array_api`` if arrays of other libraries are supported.
    """

    def _validate_fit(
        self, X: Any, y: Any, confidence: Any = None, **check_params: Any
    ) -> tuple[Any, Mask, Any]:
        """Return checked rows, candidates, and initial confidences."""
        X, labels = validate_evidence(self, X, y, **{"order": "C", **check_params})
        if confidence is None and labels.weighted:
            confidence = labels.first_confidence()
        return X, labels.candidates, confidence

    def _scores(self, X: Any) -> NDArray[Any]:
        return self.predict_proba(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict one label per row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of largest score; the first of equal ones.
        """
        scores = self._scores(X)
        best = namespace(scores).argmax(scores, axis=1)
        if is_numpy(self.classes_):  # text has no other place
            return self.classes_[to_numpy(best)]
        return take(self.classes_, best)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy against true labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.
        y : array-like of shape (n_samples,)
            True labels; candidate sets raise an error.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        accuracy : float
            Share of rows predicted right.
        """
        if not one_label_each(y):
            raise ValueError(
                "Accuracy needs true labels, one per row, but y holds candidate sets. "
                "Use partlearn.metrics.candidate_hit_rate, which needs no truth (in "
                "scikit-learn's tools scoring=candidate_hit_scorer)."
            )
        y, predicted = to_numpy(y), to_numpy(self.predict(X))
        weight = to_numpy(sample_weight)
        return float(accuracy_score(y, predicted, sample_weight=weight))


@lazy_rows
class BaseScoreClassifier(BaseCandidateClassifier):
    """Classifier whose ``_scores`` are real numbers, one column per class."""

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Predict probabilities of the classes, the softmax of the scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        return softmax(self._scores(X), axis=1)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of the classes; `predict` takes the largest.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            One column per class, in the order of ``classes_``. With two classes the
            score of the second minus that of the first, as in scikit-learn.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def recoded(labels: Mask | Evidence) -> Any:
    """Return labels as column numbers, for a nested estimator."""
    if isinstance(labels, Evidence):
        if labels.weighted:
            return labels.with_classes(np.arange(labels.shape[1]))
        labels = labels.candidates
    # A matrix of one column would be read as a column of labels.
    return labels if labels.shape[1] > 1 else np.zeros(len(labels), dtype=np.intp)
