"""PRODEN: progressive identification of the true label."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np

from partlearn._math.linalg import Standardized
from partlearn._progress import iterations
from partlearn._typing import Array
from partlearn.classification._likelihood import BaseLikelihoodClassifier
from partlearn.classification._score_models import (
    cross_entropy,
    fit_linear,
    posterior,
    renewing_batches,
)

_STEPS = 30  # of L-BFGS between two renewals of the confidences


class PRODEN(BaseLikelihoodClassifier):
    """Progressive identification of the true labels.

    Parameters
    ----------
    lam : float or "auto", default=0.01
        Weight of half the squared norm of all weights, intercepts excepted; "auto"
        takes the value from 1e-4, 1e-3, 1e-2 and 1e-1 under which held-out candidate
        sets are most likely.
    hidden_layer_size : int or None, default=None
        Number of rectified linear units between features and scores; None is a linear
        model.
    max_iter : int, default=200
        Maximum number of iterations, or of epochs with a hidden layer.
    tol : float, default=1e-3
        Stop when no confidence of a linear model changes by more than `tol`.
    random_state : int, RandomState or None, default=0
        Draws start, batches and held-out rows of a hidden layer.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features, in the units of `X`; only without a hidden layer.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts; only without a hidden layer.
    coefs_, intercepts_ : list of ndarray
        Weights and intercepts of each layer.
    lam_ : float
        The penalty used.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Weights of the candidates of each training row.
    objective_ : ndarray of shape (`n_iter_`,)
        Penalized loss of each iteration; with a hidden layer the negative
        log-likelihood of held-out candidate sets after each epoch.
    n_iter_ : int
        Number of iterations or epochs.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    CC : Maximizes the likelihood of the candidate sets at once.

    Notes
    -----
    Rows are standardized inside. Confidences start uniform on the candidates, or as
    passed to `fit`. An iteration of the linear model takes 30 steps of L-BFGS and
    updates the confidences. At convergence this is expectation-maximization for the
    likelihood of :class:`CC`. With a hidden layer the confidences of a batch are
    updated after its step, as published, and early stopping uses the likelihood of
    held-out candidate sets.

    References
    ----------
    Jiaqi Lv, Miao Xu, Lei Feng, Gang Niu, Xin Geng and Masashi Sugiyama. Progressive
    Identification of True Labels for Partial-Label Learning. ICML 2020.

    Examples
    --------
    >>> from partlearn.classification import PRODEN
    >>> X = [[-1.0], [-0.9], [-0.8], [0.8], [0.9], [1.0]]
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
    >>> model = PRODEN().fit(X, y)
    >>> model.predict([[-2.0], [3.0]])
    array(['a', 'b'], dtype='<U1')
    >>> bool(model.label_confidence_[1, 0] > 0.9)
    True
    """

    def __init__(
        self,
        lam: float | str = 0.01,
        *,
        hidden_layer_size: int | None = None,
        max_iter: int = 200,
        tol: float = 1e-3,
        random_state: Any = 0,
    ) -> None:
        self.lam = lam
        self.hidden_layer_size = hidden_layer_size
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit_linear(
        self, matrix: Standardized, F: Array, lam: float
    ) -> tuple[Array, Array]:
        inside = (F > 0).astype(np.float64)
        W, b = np.zeros((matrix.shape[1], F.shape[1])), np.zeros(F.shape[1])
        trace = []
        for _ in iterations("PRODEN", self.max_iter):
            W, b, value, _, _ = fit_linear(
                matrix,
                lambda G, F=F: cross_entropy(G, F),  # type: ignore[misc]
                (W, b),
                lam,
                max_iter=_STEPS,
                tol=1e-6,
            )
            trace.append(value)
            before, F = F, posterior(matrix @ W + b, inside)
            if np.abs(F - before).max() <= self.tol:
                break
        else:
            self._warn_unsettled()
        self.objective_, self.n_iter_ = np.asarray(trace), len(trace)
        return W, b

    def _batch_loss(self, F: Array) -> Any:
        return renewing_batches(F)

    def _final_confidence(self, X: Any, F: Array) -> Array:
        return posterior(self._raw_scores(X), (F > 0).astype(np.float64))
