"""PL-SVM with its parameter chosen without knowing the truth."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from partlearn._sklearn_compat import StrOptions, fit_context
from partlearn._typing import Array, Indices
from partlearn.base import PARAMETERS, BaseScoreClassifier, recoded
from partlearn.classification._pl_svm import PLSVM
from partlearn.metrics import candidate_hit_rate

__all__ = ["PLSVMCV"]

_MAX_SEED = np.iinfo(np.int32).max


class PLSVMCV(BaseScoreClassifier):
    """PL-SVM whose `lam` is cross-validated by how often it hits the candidates.

    Each value of `lam` is cross-validated on the training rows. Truth is not known, so
    a prediction counts if it is one of the row's candidates, with weight one over
    their number. The best value, the larger of equals, is fitted on all rows.

    Parameters
    ----------
    lams : sequence of float, default=(0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
        Values to try.
    cv : int, default=5
        Number of folds.
    variant : {"clean", "lab"}, default="clean"
        See :class:`PLSVM`.
    init : "random" or array-like of shape (n_classes, n_features), default="random"
        See :class:`PLSVM`.
    standardize : bool or None, default=None
        See :class:`PLSVM`.
    max_iter : int, default=1000
        Maximum number of sub-gradient steps of each fit.
    random_state : int, RandomState or None, default=None
        Draws the folds and the starts.
    n_jobs : int, default=None
        Fits in parallel; the result does not depend on it.

    Attributes
    ----------
    lam_ : float
        The chosen value.
    hit_rates_ : ndarray of shape (n_lams,)
        Mean candidate-hit rate of each value.
    estimator_ : PLSVM
        The machine fitted on all rows.
    coef_ : ndarray of shape (n_classes, n_features)
        Its weights of the features.
    n_iter_ : int
        Number of iterations of that classifier.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where `X` had any.

    See Also
    --------
    PLSVM : The machine for a given `lam`.
    partlearn.metrics.candidate_hit_rate : The criterion.

    Notes
    -----
    The papers choose `lam` from this pool and do not say how. For any other learner,
    ``GridSearchCV`` with ``scoring=partlearn.metrics.candidate_hit_scorer`` and
    ``cv=partlearn.model_selection.CandidateKFold(5)`` does the same. Fits that reach
    `max_iter` inside the search are not reported, the final one is.

    References
    ----------
    Nam Nguyen and Rich Caruana. Classification with Partial Labels. KDD 2008, 551-559.
    https://doi.org/10.1145/1401890.1401958

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLSVMCV
    >>> X, y = make_blobs(90, n_features=5, centers=3, random_state=1)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> model = PLSVMCV((0.01, 1.0), cv=3, random_state=0).fit(X, candidates)
    >>> model.lam_ in (0.01, 1.0)
    True
    >>> model.hit_rates_.shape
    (2,)
    """

    # The weights of every class are drawn to start.
    _order_matters = ("classes",)
    _parameter_constraints = PARAMETERS | {
        "lams": ["array-like"],
        "variant": [StrOptions({"clean", "lab"})],
        "init": [StrOptions({"random"}), "array-like"],
        "standardize": ["boolean", None],
    }

    def __init__(
        self,
        lams: Sequence[float] = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
        *,
        cv: int = 5,
        variant: Literal["clean", "lab"] = "clean",
        init: str | ArrayLike = "random",
        standardize: bool | None = None,
        max_iter: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.lams = lams
        self.cv = cv
        self.variant = variant
        self.init = init
        self.standardize = standardize
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, confidence: Any = None) -> Self:
        """Choose `lam` and fit it on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            label sets, or weights and votes, whose shares the first confidences then
            are, which is no longer the published method; see
            :func:`partlearn.candidates.check_evidence`.
        confidence : array-like of shape (n_samples, n_classes), default=None
            Labelling confidences that weight the candidates, see :class:`PLSVM`.

        Returns
        -------
        self : PLSVMCV
            The fitted classifier.
        """
        X, S, confidence = self._validate_fit(X, y, confidence, ensure_min_samples=2)
        lams = self._check_lams()
        F = None if confidence is None else np.asarray(confidence)
        rng = check_random_state(self.random_state)
        fold = np.empty(len(S), dtype=np.intp)
        fold[rng.permutation(len(S))] = np.arange(len(S)) % min(self.cv, len(S))
        seed = int(rng.randint(_MAX_SEED))
        columns = recoded(S)
        rates = Parallel(n_jobs=self.n_jobs)(
            delayed(_hit_rate)(self._machine(lam, seed), X, columns, F, fold, test)
            for lam in lams
            for test in range(fold.max() + 1)
        )
        self.hit_rates_ = np.reshape(rates, (len(lams), -1)).mean(axis=1)
        tied = np.isclose(self.hit_rates_, self.hit_rates_.max(), rtol=1e-12, atol=0)
        self.lam_ = float(lams[tied].max())
        self.estimator_ = self._machine(self.lam_, seed).fit(X, columns, F)
        self.coef_ = self.estimator_.coef_
        self.n_iter_ = self.estimator_.n_iter_
        return self

    def _check_lams(self) -> Array:
        lams = np.asarray(self.lams, dtype=np.float64)
        if lams.ndim != 1 or lams.size == 0 or not (lams > 0).all():
            raise ValueError(f"`lams` must be positive numbers; got {self.lams!r}.")
        return lams

    def _machine(self, lam: Real | float, seed: int) -> PLSVM:
        return PLSVM(
            float(lam),
            variant=self.variant,
            init=self.init,
            standardize=self.standardize,
            max_iter=self.max_iter,
            random_state=seed,
        )

    def _scores(self, X: Any) -> NDArray[Any]:
        X = self._validate_predict(X)
        return self.estimator_._scores(X)


def _hit_rate(
    machine: PLSVM,
    X: Any,
    y: NDArray[Any],
    F: NDArray[Any] | None,
    fold: Indices,
    test: int,
) -> float:
    train, held = fold != test, fold == test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        machine.fit(X[train], y[train], None if F is None else F[train])
    return candidate_hit_rate(y[held], machine.predict(X[held]))
