"""One linear support vector machine per label, with one C for all."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC
from sklearn.utils.extmath import row_norms

from partlearn._sizes import SIZES
from partlearn._sklearn_compat import Interval
from partlearn._typing import Array, Indices, Mask
from partlearn.base import PARAMETERS
from partlearn.metrics import average_precision
from partlearn.multilabel.classification._linear import BaseLinearScorer
from partlearn.multilabel.classification._svm_path import squared_hinge_path


class LinearSVM(BaseLinearScorer):
    """One linear support vector machine per label, trained on the candidates.

    A baseline that ignores false candidates, and the usual classifier after a feature
    selector. All labels share one C, the one with the highest average precision on
    held-out rows, measured against the candidates.

    Parameters
    ----------
    C : float or sequence of float, default=(0.1, 1, 10)
        Weight of the squared hinge loss; of several values the best is taken.
    cv : int, default=3
        Folds of the inner cross-validation.
    random_state : int, RandomState or None, default=0
        Seed of the inner folds and of the order of equal feature scores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns.
    C_ : float
        The value chosen.
    coef_ : ndarray of shape (n_classes, n_features_in_)
        Coefficients.
    intercept_ : ndarray of shape (n_classes,)
        Added to the scores.
    threshold_ : float
        Threshold on the scores, zero.
    held_out_scores_ : ndarray of shape (n_samples, n_classes)
        Decision values of every training row by machines that have not seen it.
    scores_ : ndarray of shape (n_features_in_,)
        Importance of each feature: norm of its coefficients times its deviation.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    multilabel_ : bool
        Whether `fit` received a matrix or sets instead of one label per row.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    MLKNN : The other classifier commonly used after a selector.
    sklearn.svm.LinearSVC : One machine; used where rows and features exceed 3000.

    Notes
    -----
    Features are used as given; bring them to a common scale first. The intercept is
    penalized as a coefficient. A label that all training rows have, or none, gets no
    machine: its score is 1 or -1. Up to 50 features, one Newton step for all l labels
    costs O(n d² l). Beyond, one decomposition serves all labels and all values of C,
    and Newton's method runs with conjugate gradients on all labels at once, to a
    relative gradient of 1e-7.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.metrics import average_precision
    >>> from partlearn.multilabel import LinearSVM, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> Y = X[:, :4] > 0
    >>> candidates = add_noise_labels(Y, 1, random_state=0)
    >>> model = LinearSVM().fit(X, candidates)
    >>> bool(average_precision(Y, model.decision_function(X)) > 0.8)
    True
    """

    _parameter_constraints = PARAMETERS | {
        "C": ["array-like", Interval(Real, 0, None, closed="neither")],
    }
    threshold_ = 0.0
    _order_matters = ("rows",)  # the inner folds are drawn by row number

    def __init__(
        self,
        C: float | Sequence[float] = (0.1, 1.0, 10.0),
        *,
        cv: int = 3,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.cv = cv
        self.random_state = random_state

    def _fit(self, X: Any, C: Mask) -> None:
        X, Y = X.astype(np.float64, copy=False), C
        values = np.atleast_1d(np.asarray(self.C, dtype=np.float64))
        if values.ndim != 1 or not values.size or not (values > 0).all():
            raise ValueError(f"`C` must hold positive numbers; got {self.C!r}.")
        with np.errstate(over="ignore"):
            total = row_norms(X, squared=True).sum()
            if not np.isfinite(2 * max(values.max(), 1.0) * total):
                raise ValueError(
                    "Squared lengths of these rows overflow float64; rescale the "
                    "features."
                )
        ranked = Y[Y.any(axis=1) & ~Y.all(axis=1)].size > 0
        splits = self._splits(len(Y))
        held_out = np.empty((len(values), *Y.shape))
        for train, test in splits:
            path = machines(X[train], Y[train], values.tolist())
            for scores, (W, b) in zip(held_out, path, strict=True):
                scores[test] = X[test] @ W + b
        precision = [average_precision(Y, S) if ranked else 0.0 for S in held_out]
        best = int(np.argmax(precision))
        self.C_, self.held_out_scores_ = float(values[best]), held_out[best]
        ((W, b),) = machines(X, Y, [self.C_])
        zero = np.zeros(X.shape[1])
        self._set_weights(X, W, b, zero, zero + 1, self.random_state)

    def _splits(self, n: int) -> list[tuple[Indices, Indices]]:
        if n < 2:  # nothing to hold out
            return [(np.arange(n), np.arange(n))]
        folds = KFold(min(self.cv, n), shuffle=True, random_state=self.random_state)
        return list(folds.split(np.empty(n)))


def machines(X: Any, Y: Mask, values: Sequence[float]) -> Iterator[tuple[Array, Array]]:
    """Coefficients (n_features, n_labels) and intercepts, for one C after another."""
    W, b = np.zeros((X.shape[1], Y.shape[1])), np.empty(Y.shape[1])
    constant = Y.all(axis=0) | ~Y.any(axis=0)
    # A label that all rows have, or none, is decided without a machine.
    b[constant] = np.where(Y[0, constant], 1.0, -1.0)
    if constant.all():
        yield from [(W, b)] * len(values)
        return
    for machine in _free_machines(X, Y[:, ~constant], values):
        W[:, ~constant], b[~constant] = machine
        yield W.copy(), b.copy()


def _free_machines(
    X: Any, Y: Mask, values: Sequence[float]
) -> Iterator[tuple[Array, Array]]:
    """Fit machines of labels with both values by the fastest solver."""
    if min(X.shape) <= SIZES.svm_direct:
        return squared_hinge_path(X, Y, values)
    return (_liblinear(X, Y, C) for C in values)


def _liblinear(X: Any, Y: Mask, C: float) -> tuple[Array, Array]:
    """Fit one machine after the other, if no decomposition fits into memory."""
    W, b = np.zeros((X.shape[1], Y.shape[1])), np.empty(Y.shape[1])
    if not sp.issparse(X) and np.count_nonzero(X) < 0.2 * X.size:
        X = sp.csr_array(X)
    # Arrays were checked once; checking them per label takes longer than the fits.
    unchecked = config_context(assume_finite=True, skip_parameter_validation=True)
    with warnings.catch_warnings(), unchecked:
        # An unfinished fit is scored as it is; the inner folds see it as well.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for j, column in enumerate(Y.T):
            machine = LinearSVC(C=C, dual=False).fit(X, column)
            W[:, j], b[j] = machine.coef_[0], machine.intercept_[0]
    return W, b
