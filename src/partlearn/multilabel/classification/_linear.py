"""Multi-label classifiers with a linear score per label and a threshold."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from scipy.special import expit, softmax
from sklearn.utils import check_random_state

from partlearn._array_api import namespace
from partlearn._math.blocks import lazy_rows
from partlearn._math.linalg import column_moments
from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval
from partlearn._typing import Array, Mask
from partlearn.base import PARAMETERS, BaseMultilabelClassifier
from partlearn.candidates import warn_at_max_iter

State = TypeVar("State")
_LEAST = 5  # iterations before a slow fall of the loss may stop them
_SLOPE = 4.0  # so that a probability grows as fast as its score at the threshold


@lazy_rows
class BaseLinearScorer(BaseMultilabelClassifier):
    """Classifier whose scores are ``X @ coef_.T + intercept_``.

    A subclass calls `_set_weights` and sets ``threshold_``, a number that a score must
    exceed, or None where each row gets its ``n_labels_`` best labels. Where it sets
    ``never_`` and ``always_``, masks of labels that no and every training row had as a
    candidate, these labels are decided by that alone.
    """

    _parameter_constraints = PARAMETERS | {
        "lam": [Interval(Real, 0, None, closed="neither")],
        "scale": ["boolean"],
        "threshold": [Real],
    }

    def _set_weights(
        self, X: Any, W: Array, b: Array, mean: Array, scale: Array, rng: Any
    ) -> None:
        """Coefficients and a ranking from weights (d, l) of ``(X - mean) / scale``."""
        std = column_moments(X)[1]
        self.coef_ = np.ascontiguousarray((W / scale[:, None]).T)
        self.intercept_ = b - self.coef_ @ mean
        # In units of a standard deviation, whether or not the features were scaled.
        norms = np.linalg.norm(self.coef_ * std, axis=0)
        self._rank_features(norms, check_random_state(rng))

    def _settle(
        self,
        name: str,
        step: Callable[[State], tuple[State, float]],
        state: State,
        fall: float,
    ) -> State:
        """Iterate until the loss falls by less than the share `fall` of itself."""
        loss: list[float] = []
        self.converged_ = False
        for _ in iterations(name, self.max_iter):
            state, value = step(state)
            loss.append(value)
            if len(loss) > _LEAST and loss[-2] - value < fall * loss[-2]:
                self.converged_ = True
                break
        else:
            warn_at_max_iter(self.max_iter, "The loss still falls")
        self.loss_, self.n_iter_ = np.array(loss), len(loss)
        return state

    def decision_function(self, X: Any) -> Array:
        """Score of each label, less the threshold from which a label is predicted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        D : ndarray of shape (n_samples, n_classes)
            Positive where the label is predicted, columns as in ``classes_``. If the
            classifier was fitted with two plain labels, of shape (n_samples,): how far
            the second is ahead of the first.
        """
        D = self._decision(self._validate_predict(X))
        if not self.multilabel_ and D.shape[1] == 2:
            return D[:, 1] - D[:, 0]
        return D

    def predict_proba(self, X: Any) -> Array:
        """Scores brought to the unit interval by a logistic curve.

        They rank labels as the scores do, and are 1/2 at the threshold. They are not
        calibrated.

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
        D = self._decision(self._validate_predict(X))
        return expit(_SLOPE * D) if self.multilabel_ else softmax(_SLOPE * D, axis=1)

    def _decision(self, X: Any) -> Array:
        scores = np.asarray(X @ self.coef_.T, dtype=np.float64) + self.intercept_
        D = scores - self._row_threshold(scores)
        if hasattr(self, "never_"):
            D = known_last(D, self.never_, self.always_)
        return D

    def _row_threshold(self, scores: Array) -> Any:
        """Number, or one per row, from which a label is predicted."""
        if self.threshold_ is None:
            return top_threshold(scores, self.n_labels_)
        return self.threshold_


def start_from(name: str, given: Any, drawn: Array) -> Array:
    """Return the factor of the caller, or a random one of its shape."""
    if given is None:
        return drawn
    factor = np.array(given, dtype=np.float64)
    if factor.shape != drawn.shape:
        raise ValueError(f"`{name}` must have shape {drawn.shape}; got {factor.shape}.")
    return factor


def top_threshold(scores: Array, count: int) -> Array:
    """Per row, a number between its `count` best scores and the others, (n, 1)."""
    l = scores.shape[1]  # noqa: E741
    xp = namespace(scores)
    if count >= l:
        return xp.min(scores, axis=1, keepdims=True) - 1
    ordered = xp.sort(scores, axis=1)
    return (ordered[:, l - count - 1, None] + ordered[:, l - count, None]) / 2


def best_threshold(scores: Array, target: Mask) -> float:
    """One threshold for all labels that maximizes F1 against a binary target.

    Parameters
    ----------
    scores : ndarray of shape (n, l)
        Scores of the labels.
    target : ndarray of bool, shape (n, l)
        What should be above the threshold.

    Returns
    -------
    threshold : float
        Midway between two scores; the largest of equally good ones. Below or above all
        scores if all or none should be predicted.
    """
    flat = scores.ravel()
    order = np.argsort(-flat, kind="stable")
    ordered = flat[order]
    hits = np.cumsum(target.ravel()[order])
    if not hits[-1]:
        return float(ordered[0] + 1)
    f1 = 2 * hits / (np.arange(1, len(flat) + 1) + hits[-1])
    # Equal scores are predicted together.
    f1[:-1][ordered[:-1] == ordered[1:]] = -1
    best = int(np.argmax(f1))
    if best == len(flat) - 1:
        return float(ordered[-1] - 1)
    return float((ordered[best] + ordered[best + 1]) / 2)


def known_last(D: Array, never: Mask, always: Mask) -> Array:
    """Put labels of no row behind all others, and labels of every row before them."""
    D = D.copy()
    D[:, never] = np.minimum(D.min(axis=1), 0)[:, None] - 1
    D[:, always] = np.maximum(D.max(axis=1), 0)[:, None] + 1
    return D
