"""Base class of CC, PRODEN and CLPL: scores, standardization, choice of the penalty."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from partlearn._math.linalg import Standardized, standardize
from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, StrOptions, fit_context
from partlearn._typing import Array, Indices
from partlearn.base import PARAMETERS, BaseScoreClassifier
from partlearn.candidates import (
    initial_confidence,
    warn_at_max_iter,
)
from partlearn.classification._score_models import (
    Layers,
    candidate_loss,
    fit_hidden_layer,
    fit_linear,
    forward,
    posterior,
    relative,
)

PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1)
_FOLDS = 5


class BaseLikelihoodClassifier(BaseScoreClassifier):
    """Classifier whose scores minimize a loss under candidate labels.

    A subclass implements ``_loss(F)``, which maps scores to the mean loss and its
    gradient, or ``_fit_linear``. With a hidden layer, it also implements
    ``_batch_loss(F)``, which takes the indices of the rows too.
    """

    _parameter_constraints = PARAMETERS | {
        "hidden_layer_size": [Interval(Integral, 1, None, closed="left"), None],
        "lam": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, confidence: Any = None) -> Self:
        """Learn the scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes, which initialize the confidences; see
            :func:`partlearn.candidates.check_evidence`. Weights and votes are not part
            of the published method.
        confidence : array-like of shape (n_samples, n_classes), default=None
            Labeling confidences that weight the candidates, for example
            ``label_confidence_`` of a reducer.

        Returns
        -------
        self : estimator
            The fitted classifier.
        """
        X, S, confidence = self._validate_fit(X, y, confidence)
        X = X.astype(np.float64, copy=False)
        F = initial_confidence(confidence, S)
        self.lam_ = self._choose_penalty(X, F) if self.lam == "auto" else self.lam
        layers = self._train(X, F, self.lam_)
        self.coefs_, self.intercepts_ = layers.weights, layers.intercepts
        self.label_confidence_ = self._final_confidence(X, F)
        return self

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights of the features of a linear model, (n_classes, n_features)."""
        return self._only_layer("coef").T

    @property
    def intercept_(self) -> NDArray[Any]:
        """Intercepts of a linear model, (n_classes,)."""
        return self._only_layer("intercept")

    def _only_layer(self, name: str) -> NDArray[Any]:
        layers = getattr(self, f"{name}s_")
        if len(layers) > 1:
            raise AttributeError(
                f"A model with a hidden layer has `{name}s_`, no `{name}_`"
            )
        return np.asarray(layers[0])

    def _train(self, X: Any, F: Array, lam: float) -> Layers:
        """Fit on standardized rows; the result takes rows in the units of the data."""
        matrix, mean, scale = standardize(X)
        if getattr(self, "hidden_layer_size", None) is None:
            W, b = self._fit_linear(matrix, F, lam)
            layers = Layers([W], [b])
        else:
            layers = self._fit_hidden(X, mean, scale, F, lam)
        first = layers.weights[0] / scale[:, None]
        shifted = layers.intercepts[0] - mean @ first
        return Layers([first, *layers.weights[1:]], [shifted, *layers.intercepts[1:]])

    def _fit_linear(
        self, matrix: Standardized, F: Array, lam: float
    ) -> tuple[Array, Array]:
        """Minimize ``_loss(F)`` from zero, with equal scores of all candidates."""
        W, b, value, self.n_iter_, settled = fit_linear(
            matrix,
            self._loss(F),
            (np.zeros((matrix.shape[1], F.shape[1])), np.zeros(F.shape[1])),
            lam,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.objective_ = np.array([value])
        if not settled:
            self._warn_unsettled()
        return W, b

    def _fit_hidden(
        self, X: Any, mean: Array, scale: Array, F: Array, lam: float
    ) -> Layers:
        def rows(index: Indices) -> Array:
            block = X[index].toarray() if sp.issparse(X) else X[index]
            return (block - mean) / scale

        layers, self.objective_ = fit_hidden_layer(
            rows,
            self._batch_loss(F.copy()),
            lambda G, index: candidate_loss(G, relative(F[index]))[0],
            (*X.shape, self.hidden_layer_size, F.shape[1]),
            lam,
            max_iter=self.max_iter,
            rng=check_random_state(self.random_state),
        )
        self.n_iter_ = len(self.objective_)
        return layers

    def _final_confidence(self, X: Any, F: Array) -> Array:
        """Return the confidence in the candidates after the fit."""
        return posterior(self._raw_scores(X), F)

    def _choose_penalty(self, X: Any, F: Array) -> float:
        """Choose the penalty with the largest likelihood of held-out candidate sets."""
        m = len(F)
        fold = np.random.RandomState(0).permutation(m) % min(_FOLDS, m)
        if fold.max() == 0:
            return PENALTIES[-1]
        losses = np.zeros(len(PENALTIES))
        with warnings.catch_warnings():
            # The fit on all rows, which follows, reports what there is to report.
            warnings.simplefilter("ignore", ConvergenceWarning)
            for k in iterations("folds to choose a penalty", int(fold.max()) + 1):
                kept, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
                for i, lam in enumerate(PENALTIES):
                    layers = self._train(X[kept], F[kept], lam)
                    G = forward(X[held], layers)[-1]
                    losses[i] += candidate_loss(G, relative(F[held]))[0] * len(held)
        return PENALTIES[int(losses.argmin())]

    def _raw_scores(self, X: Any) -> NDArray[Any]:
        layers = Layers(
            [W.astype(X.dtype, copy=False) for W in self.coefs_],
            [b.astype(X.dtype, copy=False) for b in self.intercepts_],
        )
        return np.asarray(forward(X, layers)[-1])

    def _scores(self, X: Any) -> NDArray[Any]:
        return self._raw_scores(self._validate_predict(X))

    def _warn_unsettled(self) -> None:
        warn_at_max_iter(
            self.max_iter,
            "The objective still changes",
            "raise `max_iter`, `tol` or `lam`",
        )
