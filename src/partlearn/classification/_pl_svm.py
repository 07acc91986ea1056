"""PL-SVM: largest margin between the best candidate and the best other label."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from partlearn._math.linalg import column_moments, drawn_order, standardize
from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, StrOptions, fit_context
from partlearn._typing import Array, Indices, Mask
from partlearn.base import (
    PARAMETERS,
    BaseScoreClassifier,
    project_standardized,
    recoded,
)
from partlearn.candidates import (
    initial_confidence,
    warn_at_max_iter,
    warn_caller,
)
from partlearn.metrics import candidate_hit_rate

_MAX_SEED = np.iinfo(np.int32).max
_TOL = {"clean": 1e-4, "lab": 1e-3}
_UNEVEN = 100.0  # times the usual size of a feature


class PLSVM(BaseScoreClassifier):
    """Linear support vector machine with a margin between candidates and the rest.

    Parameters
    ----------
    lam : float, default=1.0
        Weight of the squared norm of the coefficients beside the mean hinge loss.
    variant : {"clean", "lab"}, default="clean"
        Stopping rule: "clean" uses the objective. "lab" repeats the program behind the
        published figures, which uses a sum with the spectral norm of the coefficients,
        not squared. The steps are the same.
    init : "random" or array-like of shape (n_classes, n_features), default="random"
        Start: uniform numbers in [0, 1), or given coefficients.
    standardize : bool or None, default=None
        Whether to standardize the columns first. None standardizes, except with
        ``variant="lab"`` or a given `init`, which apply to the features without
        scaling.
    max_iter : int, default=1000
        Maximum number of sub-gradient steps.
    tol : float, default=None
        Stop when `objective_` changes by at most `tol`; by default 1e-4 for "clean" and
        1e-3 for "lab".
    random_state : int, RandomState or None, default=None
        Draws the start.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the (standardized) features; there is no intercept.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and scale of the training rows; zero and one without standardization.
    objective_ : ndarray of shape (`n_iter_`,)
        The watched value at each step.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    PLSVMCV : Chooses `lam` without true labels.

    Notes
    -----
    The objective is ``lam / 2 ||W||^2`` plus the mean of ``max(0, 1 - a + b)``, where a
    is a row's largest score among its candidates and b the largest among the others.
    It is not convex, so that the start matters: a little for standardized features, and
    much for rows far from the origin, whose margins soon exceed one. On digits with
    three false candidates, four starts give .81 to .87 with standardization, and .60 to
    .78 on the raw pixels. Steps are those of Pegasos, on all rows at once, with
    projection onto the ball of radius ``1 / sqrt(lam)``.

    The logarithm of confidences passed to `fit`, relative to the largest of the row, is
    added to the scores of the candidates. Uniform confidences change nothing.

    A label that is not a candidate of any row scores minus infinity and is never
    predicted. A step costs two products of size m x d x q. Sparse data stay sparse.
    Without `standardize`, a warning is raised if a feature is a hundred times as large
    as the median one.

    The start is drawn class by class, and depends on the order of the classes.

    References
    ----------
    Nam Nguyen and Rich Caruana. Classification with Partial Labels. KDD 2008, 551-559.
    https://doi.org/10.1145/1401890.1401958

    Examples
    --------
    >>> from partlearn.classification import PLSVM
    >>> X = [[-1.0], [-0.9], [-0.8], [0.8], [0.9], [1.0]]
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
    >>> PLSVM(random_state=0).fit(X, y).predict([[-2.0], [3.0]])
    array(['a', 'b'], dtype='<U1')
    """

    # The weights of every class and feature are drawn to start.
    _order_matters = ("classes", "columns")
    _parameter_constraints = PARAMETERS | {
        "lam": [Interval(Real, 0, None, closed="neither")],
        "variant": [StrOptions({"clean", "lab"})],
        "init": [StrOptions({"random"}), "array-like"],
        "standardize": ["boolean", None],
        "tol": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        lam: float = 1.0,
        *,
        variant: Literal["clean", "lab"] = "clean",
        init: str | ArrayLike = "random",
        standardize: bool | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.lam = lam
        self.variant = variant
        self.init = init
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, confidence: Any = None) -> Self:
        """Learn the coefficients.

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
        self : PLSVM
            The fitted classifier.
        """
        X, S, confidence = self._validate_fit(X, y, confidence)
        X = self._scaled(X)
        W, self.objective_, settled = fit_margin(
            X,
            S,
            self._start(S.shape[1], X),
            self.lam,
            penalty=handicap(confidence, S, X.dtype),
            lab=self.variant == "lab",
            max_iter=self.max_iter,
            tol=_TOL[self.variant] if self.tol is None else self.tol,
        )
        self.n_iter_ = len(self.objective_)
        if not settled:
            warn_at_max_iter(self.max_iter, "The objective still changes")
        if not W.any() and len(W) > 1:
            warn_caller(
                "All coefficients are zero: every label is a candidate of every row, "
                "so there is no margin. All predictions will be the same."
            )
        self.coef_ = W
        self._seen = S.any(axis=0)
        return self

    def _scaled(self, X: Any) -> Any:
        """Set the standardization, and return the standardized rows."""
        wanted = self.standardize
        if wanted is None:
            wanted = self.variant == "clean" and isinstance(self.init, str)
        if wanted:
            matrix, self.mean_, self.scale_ = standardize(X)
            return matrix if matrix.dense is None else matrix.dense
        self.mean_, self.scale_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
        spread = uneven_units(X)
        if spread > _UNEVEN and not sp.issparse(X):  # words are uneven by nature
            warn_caller(
                f"The largest feature is {spread:.0f} times the size of the median "
                "feature and dominates the penalty; set standardize=True."
            )
        return X

    def _start(self, q: int, X: Any) -> NDArray[Any]:
        d = X.shape[1]
        if isinstance(self.init, str):
            return check_random_state(self.random_state).uniform(size=(q, d))
        W = np.asarray(self.init, dtype=np.float64)
        if W.shape != (q, d):
            raise ValueError(
                f"`init` must have shape ({q}, {d}), one row per class and one column "
                f"per feature; got {W.shape}."
            )
        if not np.isfinite(W).all():
            raise ValueError("`init` must be finite.")
        return W

    def _scores(self, X: Any) -> NDArray[Any]:
        X = self._validate_predict(X)
        scores = project_standardized(X, self.mean_, self.scale_, self.coef_.T)
        scores[:, ~self._seen] = -np.inf
        return scores


def uneven_units(X: Any) -> float:
    """Return the ratio of the largest to the median root mean square of features."""
    mean, std = column_moments(X)
    size = np.hypot(mean, std)
    size = size[size > 0]
    return float(size.max() / np.median(size)) if size.size else 1.0


def handicap(confidence: Any, S: Mask, dtype: Any) -> NDArray[Any] | None:
    """Return log confidences relative to the row's largest."""
    if confidence is None:
        return None
    F = initial_confidence(confidence, S, dtype)
    with np.errstate(divide="ignore"):
        return np.log(F / F.max(axis=1, keepdims=True))


def fit_margin(
    X: Any,
    S: Mask,
    W: NDArray[Any],
    lam: float,
    *,
    penalty: NDArray[Any] | None = None,
    lab: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-4,
) -> tuple[NDArray[Any], Array, bool]:
    """Minimize the partial-label hinge loss by projected sub-gradient descent.

    Source: PLSVM, objective and its sub-gradient steps.

    Parameters
    ----------
    X : ndarray, CSR matrix or Standardized, of shape (m, d)
        Training rows.
    S : ndarray of bool, shape (m, q)
        Candidates.
    W : ndarray of shape (q, d)
        Start.
    lam : float
        Weight of the squared norm.
    penalty : ndarray of shape (m, q), default=None
        Added to the scores of the candidates.
    lab : bool, default=False
        Value of the stopping rule, see :class:`PLSVM`.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-4
        Stop when the objective changes by at most `tol`.

    Returns
    -------
    W : ndarray of shape (q, d)
        Coefficients.
    trace : ndarray of shape (n_iter,)
        The watched value at each step.
    settled : bool
        Whether the descent converged.
    """
    m, q = S.shape
    rows = np.arange(m)
    W = into_ball(W.astype(X.dtype), lam)
    transposed = getattr(X, "transposed_matmul", None) or (lambda A: X.T @ A)
    trace: list[float] = []
    inside = np.where(S, 0, -np.inf).astype(X.dtype) if penalty is None else penalty
    outside = np.where(S, -np.inf, 0).astype(X.dtype)
    for t in iterations("PL-SVM", max_iter, start=1):
        V = np.asarray(X @ W.T)
        A, B = V + inside, V + outside
        best, rival = A.argmax(axis=1), B.argmax(axis=1)
        # A row whose candidates are all labels has no rival: its gap is infinite.
        gap = A[rows, best] - B[rows, rival]
        loss = float(np.maximum(0, 1 - gap).mean(dtype=np.float64))
        if not lab:
            trace.append(lam / 2 * float(np.vdot(W, W)) + loss)
        violators = np.flatnonzero(gap < 1)
        C = np.zeros((m, q), dtype=X.dtype)
        C[violators, best[violators]] = 1
        C[violators, rival[violators]] = -1
        W = into_ball(
            (1 - 1 / t) * W + np.asarray(transposed(C)).T / (lam * t * m), lam
        )
        if lab:
            spectral = np.sqrt(np.linalg.eigvalsh(W @ W.T)[-1].clip(0))
            trace.append(lam / 2 * float(spectral) + loss)
        if t > 1 and abs(trace[-1] - trace[-2]) <= tol:
            return W, np.asarray(trace), True
    return W, np.asarray(trace), False


def into_ball(W: NDArray[Any], lam: float) -> NDArray[Any]:
    """Scale onto the ball of radius ``1 / sqrt(lam)``, where the optimum lies."""
    norm = float(np.linalg.norm(W))
    return W / (np.sqrt(lam) * norm) if norm * np.sqrt(lam) > 1 else W


class PLSVMCV(BaseScoreClassifier):
    """PL-SVM with `lam` chosen by cross-validated candidate hit rate.

    Each value of `lam` is cross-validated on the training rows by
    :func:`~partlearn.metrics.candidate_hit_rate`, which needs no true labels. The best
    value is fitted on all rows; the larger one wins a tie.

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
        Number of iterations of the final fit.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    PLSVM : The machine for a given `lam`.
    partlearn.metrics.candidate_hit_rate : The criterion.

    Notes
    -----
    The papers choose `lam` from these values by a rule that is not described. For any
    other classifier, ``GridSearchCV`` with
    ``scoring=partlearn.metrics.candidate_hit_scorer`` and
    ``cv=partlearn.model_selection.CandidateKFold(5)`` does the same. Only the final fit
    warns if it reaches `max_iter`.

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

    # The weights of every class and feature are drawn to start.
    _order_matters = ("classes", "columns")
    _parameter_constraints = PLSVM._parameter_constraints | {"lams": ["array-like"]}

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
            candidate sets, or weights and votes, which initialize the confidences; see
            :func:`partlearn.candidates.check_evidence`. Weights and votes are not part
            of the published method.
        confidence : array-like of shape (n_samples, n_classes), default=None
            Labeling confidences that weight the candidates, see :class:`PLSVM`.

        Returns
        -------
        self : PLSVMCV
            The fitted classifier.
        """
        X, S, confidence = self._validate_fit(X, y, confidence, ensure_min_samples=2)
        lams = self._check_lams()
        F = None if confidence is None else np.asarray(confidence)
        start = initial_confidence(F, S)  # refuses what would fail in the first fold
        rng = check_random_state(self.random_state)
        fold = np.empty(len(S), dtype=np.intp)
        # Folds follow the content of the rows, so that their order changes nothing.
        fold[drawn_order(X, start, rng)] = np.arange(len(S)) % min(self.cv, len(S))
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
