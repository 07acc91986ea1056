"""Base class of multi-label classifiers."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from partlearn._math.blocks import lazy_rows
from partlearn._sklearn_compat import fit_context
from partlearn._typing import Array, Indices, Mask
from partlearn.base._fit_input import validate_partial_data
from partlearn.base._mixins import CandidateMixin
from partlearn.candidates import check_candidates, one_label_each, warn_caller


def drop_empty(X: Any, C: Mask) -> tuple[Indices, Any, Mask]:
    """Leave out rows without candidates, with a warning.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Rows.
    C : ndarray of bool, shape (n, l)
        Candidates.

    Returns
    -------
    kept : ndarray of int
        Rows with a candidate.
    X, C : ndarray
        These rows, `X` in float64.
    """
    kept = np.flatnonzero(C.any(axis=1))
    if len(kept) == len(C):
        return kept, X.astype(np.float64), C
    if not kept.size:
        raise ValueError("Every candidate set is empty: there is no label to learn.")
    warn_caller(f"{len(C) - len(kept)} rows without candidates are left out.")
    return kept, X[kept].astype(np.float64), C[kept]


@lazy_rows
class BaseMultilabelClassifier(CandidateMixin, ClassifierMixin, BaseEstimator):
    """Base class of classifiers that predict a set of labels.

    A subclass implements ``_fit``, which gets checked rows and candidates, and
    ``_label_scores``, which returns scores in [0, 1], one column per label. A label is
    predicted if its score reaches ``_threshold``. Rows may have no candidate.

    A subclass with feature weights calls `_rank_features`, which sets ``scores_`` and
    ``ranking_``.

    As scikit-learn's multi-label classifiers, it predicts a matrix if it was fitted
    with a matrix or sets, and labels if it was fitted with plain labels.
    """

    _threshold: Any = 0.5  # a number, or one per label

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from candidate labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            A binary matrix of shape (n_samples, n_classes), a sequence of sets, or
            1-D labels. Rows without candidates are kept if the method can use them, and
            otherwise left out with a warning.

        Returns
        -------
        self : estimator
            The fitted classifier.
        """
        self._fit(*self._validate_fit(X, y))
        return self

    def _validate_fit(self, X: Any, y: Any) -> tuple[Any, Mask]:
        if isinstance(y, Iterator):  # to be read twice
            y = list(y)
        X, C = validate_partial_data(self, X, y, empty="keep", order="C")
        self.multilabel_ = not one_label_each(y)
        return X, C

    def _rank_features(self, scores: Array, rng: np.random.RandomState) -> None:
        """Rank features by descending score, with ties in random order."""
        self.scores_ = scores
        order = np.lexsort((rng.permutation(len(scores)), -scores))
        self.ranking_ = np.empty(len(scores), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(scores) + 1)

    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Between 0 and 1, columns as in ``classes_``. Rows sum to one only if the
            classifier was fitted with plain labels.
        """
        X = self._validate_predict(X)
        P: Array = self._label_scores(X)
        if self.multilabel_:
            return P
        total = P.sum(axis=1, keepdims=True)
        return np.divide(P, total, out=np.full_like(P, 1 / P.shape[1]), where=total > 0)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the labels of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        Y : ndarray of int, shape (n_samples, n_classes)
            Binary matrix, columns as in ``classes_``. Of shape (n_samples,), holding
            labels, if the classifier was fitted with plain labels.
        """
        P = self.predict_proba(X)
        if self.multilabel_:
            return (self._threshold <= P).astype(np.int64)
        return self.classes_[P.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose whole set of labels is predicted right.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.
        y : binary matrix of shape (n_samples, n_classes) or sequence of sets of labels
            True labels; plain labels if the classifier was fitted with such.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        accuracy : float
            Subset accuracy, a harsh score: see :mod:`partlearn.metrics` for others.
        """
        if self.multilabel_:
            _, Y = check_candidates(y, classes=self.classes_, empty="keep")
            y = Y.astype(np.int64)
        return float(super().score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags
