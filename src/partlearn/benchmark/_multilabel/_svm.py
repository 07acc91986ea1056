"""One linear support vector machine per label, with one C for all."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC

from partlearn.benchmark._multilabel._newton import squared_hinge
from partlearn.benchmark._multilabel._scores import ranking_scores

__all__ = ["LinearSVM"]

# Up to here all labels together are faster than one by one.
FEW_FEATURES = 50


class LinearSVM(ClassifierMixin, BaseEstimator):
    """Linear SVM per label (squared hinge); C by inner cross-validation.

    The C of highest average precision on the held-out rows is taken, measured against
    the labels it is trained on: true ones are not looked at when candidates are given.

    Parameters
    ----------
    C : sequence of float, default=(0.1, 1, 10)
        Values to choose from; of one value nothing is chosen.
    inner_folds : int, default=3
        Folds of the inner cross-validation.
    random_state : int or None, default=None
        Seed of the inner folds.

    Attributes
    ----------
    C_ : float
        The value chosen.
    held_out_scores_ : ndarray of shape (n_samples, n_labels)
        Decision values of every training row from a model that has not seen it.
    """

    def __init__(
        self,
        C: Sequence[float] = (0.1, 1.0, 10.0),
        inner_folds: int = 3,
        random_state: int | None = None,
    ) -> None:
        self.C = C
        self.inner_folds = inner_folds
        self.random_state = random_state

    def fit(self, X: Any, y: NDArray[np.bool_]) -> Self:
        """Choose C, then fit one machine per label.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Training rows.
        y : ndarray of bool, shape (n_samples, n_labels)
            Labels.

        Returns
        -------
        self : LinearSVM
            The fitted classifier.
        """
        folds = KFold(self.inner_folds, shuffle=True, random_state=self.random_state)
        splits = list(folds.split(np.empty(len(y))))
        best = -np.inf
        for C in self.C:
            held_out = np.empty(y.shape)
            for train, test in splits:
                held_out[test] = _decide(_machines(X[train], y[train], C), X[test])
            value = ranking_scores(y, held_out)["average_precision"]
            if value > best:
                best, self.C_, self.held_out_scores_ = value, C, held_out
        self._machines = _machines(X, y, self.C_)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Signed distances, up to the norm of the coefficients.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Positive where the label is predicted.
        """
        return _decide(self._machines, X)

    def predict(self, X: Any) -> NDArray[np.bool_]:
        """Labels with a positive decision value.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_labels)
            Predicted labels.
        """
        return self.decision_function(X) > 0


def _machines(
    X: Any, Y: NDArray[np.bool_], C: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients (n_features, n_labels) and intercepts."""
    W, b = np.zeros((X.shape[1], Y.shape[1])), np.empty(Y.shape[1])
    constant = Y.all(axis=0) | ~Y.any(axis=0)
    # A label that all rows have, or none, is decided without a machine.
    b[constant] = np.where(Y[0, constant], 1.0, -1.0)
    if X.shape[1] <= FEW_FEATURES:
        found = squared_hinge(np.column_stack([X, np.ones(len(X))]), Y[:, ~constant], C)
        W[:, ~constant], b[~constant] = found[:-1], found[-1]
        return W, b
    if np.count_nonzero(X) < 0.2 * X.size:
        X = sparse.csr_array(X)
    # Arrays were checked once; checking them per label takes longer than the fits.
    unchecked = config_context(assume_finite=True, skip_parameter_validation=True)
    with warnings.catch_warnings(), unchecked:
        # An unfinished fit is scored as it is; the inner folds see it as well.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for j in np.flatnonzero(~constant):
            machine = LinearSVC(C=C, dual=False).fit(X, Y[:, j])
            W[:, j], b[j] = machine.coef_[0], machine.intercept_[0]
    return W, b


def _decide(
    machines: tuple[NDArray[np.float64], NDArray[np.float64]], X: Any
) -> NDArray[np.float64]:
    W, b = machines
    return np.asarray(X @ W + b)
