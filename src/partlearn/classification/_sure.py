"""SURE: self-guided retraining."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from partlearn._array_api import like, namespace, numpy_dtype
from partlearn._math.simplex import project_simplex
from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, StrOptions, fit_context
from partlearn._typing import Mask
from partlearn.base import PARAMETERS
from partlearn.candidates import (
    initial_confidence,
    labels_settled,
    uniform_confidence,
    warn_at_max_iter,
)
from partlearn.classification._ridge import BaseRidgeClassifier, Solution


class SURE(BaseRidgeClassifier):
    """Kernel ridge regression by self-training with maximum-confidence regularization.

    Alternates between a kernel ridge regression on the confidences and an update of the
    confidences. The update takes the confidences nearest to the regression, with a
    reward for a large maximum.

    Parameters
    ----------
    lam : float, default=0.3
        Reward for the largest confidence of a row.
    beta : float, default=0.05
        Weight of the penalty of the regression.
    kernel : {"rbf", "linear"}, default="rbf"
        "rbf" has the mean distance between training rows as its width.
    init : {"raw", "uniform"}, default="raw"
        Targets of the first regression: the candidates as ones, as in the authors'
        program, or one unit spread over them.
    refit : bool, default=True
        Whether to fit the regression once more to the final confidences, as the
        authors' program does.
    max_iter : int, default=50
        Maximum number of iterations.
    tol : float, default=1e-6
        Stop when the confidences change by at most `tol` in Frobenius norm.
    sigma : float, default=None
        Width of the Gaussian kernel instead of the mean distance.
    n_landmarks : int, default=None
        Number of training rows for the Nystroem approximation of the Gaussian kernel,
        for data beyond the exact limit. Approximate: see Notes.
    memory_limit : float, default=4.0
        Largest kernel matrix, in GiB. The exact machine holds one of m x m numbers:
        the default allows 23170 rows in float64 and 32768 in float32.
    random_state : int, RandomState or None, default=None
        Draws the landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    objective_ : ndarray of shape (`n_iter_`,)
        Value of the objective after each iteration; it never rises.
    n_iter_ : int
        Number of iterations.
    sigma_ : float or None
        Width of the kernel.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features; only with the linear kernel.
    intercept_ : ndarray of shape (n_classes,)
        Constant part of the scores.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    PLAGGD : The same regression, guided by a graph.

    Notes
    -----
    The row problem needs no solver: with half the reward added to the largest score
    it is a projection onto the simplex of the candidates. One Cholesky factor serves
    all iterations. The fit costs O(m^3 / 3 + t m^2 q) for t iterations; memory is one
    m x m matrix. Standardize the features first.

    With landmarks, the fit costs O(m L^2 + t m L q) and is another model. The loss of
    accuracy depends on the data; the user guide has measurements.

    References
    ----------
    Lei Feng and Bo An. Partial Label Learning with Self-Guided Retraining. AAAI 2019,
    3542-3549. https://doi.org/10.1609/aaai.v33i01.33013542

    Examples
    --------
    >>> from partlearn.classification import SURE
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
    >>> model = SURE().fit(X, y)
    >>> model.predict([[0.05], [1.05]])
    array(['a', 'b'], dtype='<U1')
    >>> model.label_confidence_[1]
    array([1., 0.])
    """

    _array_api = True
    _parameter_constraints = PARAMETERS | {
        "beta": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"rbf", "linear"})],
        "init": [StrOptions({"raw", "uniform"})],
        "refit": ["boolean"],
    }

    def __init__(
        self,
        lam: float = 0.3,
        *,
        beta: float = 0.05,
        kernel: Literal["rbf", "linear"] = "rbf",
        init: Literal["raw", "uniform"] = "raw",
        refit: bool = True,
        max_iter: int = 50,
        tol: float = 1e-6,
        sigma: float | None = None,
        n_landmarks: int | None = None,
        memory_limit: float = 4.0,
        random_state: Any = None,
    ) -> None:
        self.lam = lam
        self.beta = beta
        self.kernel = kernel
        self.init = init
        self.refit = refit
        self.max_iter = max_iter
        self.tol = tol
        self.sigma = sigma
        self.n_landmarks = n_landmarks
        self.memory_limit = memory_limit
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, confidence: Any = None) -> Self:
        """Learn the regression and the confidences.

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
            Labeling confidences to start from instead of `init`, for example
            ``label_confidence_`` of a reducer.

        Returns
        -------
        self : SURE
            The fitted classifier.
        """
        X, S, confidence = self._validate_fit(X, y, confidence)
        xp = namespace(X)
        P = like(self._start(confidence, S, numpy_dtype(X)), X)
        S = like(S, X)
        ridge = self._ridge(X, self.beta)
        objective = []
        for _ in iterations("SURE", self.max_iter):
            solution = ridge.solve(P)
            before, P = P, guided_confidence(solution.outputs, S, self.lam)
            objective.append(self_guided_objective(solution, P, self.lam))
            if xp.linalg.vector_norm(P - before) <= self.tol:
                break
        else:
            if not labels_settled(P, before):
                warn_at_max_iter(self.max_iter)
        self._predictor = ridge.predictor(ridge.solve(P) if self.refit else solution)
        self.label_confidence_ = P
        self.objective_ = like(np.asarray(objective), P)
        self.n_iter_ = len(objective)
        self.sigma_ = ridge.sigma
        self.intercept_ = self._predictor.intercept
        self._forget("coef_")
        if self.kernel == "linear":
            self.coef_ = self._predictor.coef.T
        return self

    def _start(self, confidence: Any, S: Mask, dtype: Any) -> NDArray[Any]:
        if confidence is not None:
            return initial_confidence(confidence, S, dtype)
        return S.astype(dtype) if self.init == "raw" else uniform_confidence(S, dtype)


def guided_confidence(Q: NDArray[Any], S: Mask, lam: float) -> NDArray[Any]:
    """Compute the confidences nearest to the scores, with a reward for the leading one.

    Source: SURE, problem of the confidences.

    Row i minimizes ``||p - q_i||^2 - lam p_j`` on the simplex of its candidates with
    ``p_l <= p_j``, where j has the largest score among them. Completing the square
    moves ``lam / 2`` into ``q_j``; a projection keeps the order, hence the bound.
    """
    xp = namespace(Q, S)
    leader = xp.argmax(xp.where(S, Q, -xp.inf), axis=1)
    led = leader[:, None] == like(np.arange(Q.shape[1]), Q)
    return project_simplex(xp.where(led, Q + lam / 2, Q), S)


def self_guided_objective(solution: Solution, P: NDArray[Any], lam: float) -> float:
    """Return the squared error of the regression and its penalty, minus the reward.

    Source: SURE, objective.
    """
    xp = namespace(P)
    error = float(xp.sum(xp.square(solution.outputs - P), dtype=xp.float64))
    reward = float(xp.sum(xp.max(P, axis=1), dtype=xp.float64))
    return error + solution.penalty - lam * reward
