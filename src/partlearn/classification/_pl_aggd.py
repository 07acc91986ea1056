"""PL-AGGD: adaptive graph guided disambiguation."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from partlearn._math.graphs import (
    difference_grams,
    few_candidates,
    lift,
    neighbor_graph,
    residual_operator,
)
from partlearn._math.neighbors import self_neighbors
from partlearn._math.simplex import (
    minimize_on_simplex,
    power_iteration,
    reconstruction_weights_from_gram,
)
from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, fit_context
from partlearn._typing import Array, Mask
from partlearn.base import PARAMETERS
from partlearn.candidates import (
    initial_confidence,
    uniform_confidence,
)
from partlearn.classification._ridge import BaseRidgeClassifier

_FIRST_STEPS = 5000  # the first problem is convex, but not strictly


class PLAGGD(BaseRidgeClassifier):
    """Kernel regression with adaptive graph-guided disambiguation.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors of a row in the graph.
    lam : float, default=1.0
        Weight of the features in the graph.
    mu : float, default=1.0
        Weight of the confidences in the graph; its inverse weights the regression in
        the step for the confidences.
    gamma : float, default=0.05
        Weight of the penalty of the regression.
    max_iter : int, default=10
        Number of iterations.
    tol : float, default=None
        Stop when no confidence changes by more than `tol`. None always runs
        `max_iter` iterations, as the authors' program does.
    sigma : float, default=None
        Width of the Gaussian kernel; the mean distance between training rows by
        default.
    n_landmarks : int, default=None
        Number of training rows for the Nystroem approximation of the kernel, for data
        beyond the exact limit. Approximate: see Notes.
    memory_limit : float, default=4.0
        Largest kernel matrix, in GiB. The exact machine holds one of m x m numbers:
        the default allows 23170 rows in float64 and 32768 in float32.
    random_state : int, RandomState or None, default=None
        Draws the landmarks.
    n_jobs : int, default=None
        Threads of the neighbor search; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    graph_ : CSR array of shape (n_samples, n_samples)
        Weights that reconstruct each training row from its neighbors.
    n_iter_ : int
        Number of iterations.
    sigma_ : float
        Width of the kernel.
    intercept_ : ndarray of shape (n_classes,)
        Constant part of the scores.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    SURE : The same regression without a graph.

    Notes
    -----
    As in the authors' program, the graph is built on rows of unit length, its neighbors
    do not change while its weights adapt, and the regression has an intercept, which
    the paper omits. The confidences are found by accelerated projected gradient on the
    candidates only, instead of a quadratic program of m q variables. The first of these
    problems may have several solutions, so that results may differ. Standardize the
    features first.

    One Cholesky factor of m x m numbers serves all iterations. With landmarks the fit
    needs O(m L) memory and is another model; the user guide has measurements.

    References
    ----------
    Deng-Bao Wang, Min-Ling Zhang and Li Li. Adaptive Graph Guided Disambiguation for
    Partial Label Learning. IEEE TPAMI 44(12), 2022, 8796-8811.
    https://doi.org/10.1109/TPAMI.2021.3120012

    Examples
    --------
    >>> from partlearn.classification import PLAGGD
    >>> X = [[0.0, 1.0], [0.1, 1.0], [0.2, 1.0], [1.0, 0.0], [1.0, 0.1], [1.0, 0.2]]
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
    >>> model = PLAGGD(n_neighbors=2).fit(X, y)
    >>> model.predict([[0.0, 1.0], [1.0, 0.0]])
    array(['a', 'b'], dtype='<U1')
    """

    kernel = "rbf"
    _parameter_constraints = PARAMETERS | {
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        lam: float = 1.0,
        mu: float = 1.0,
        gamma: float = 0.05,
        max_iter: int = 10,
        tol: float | None = None,
        sigma: float | None = None,
        n_landmarks: int | None = None,
        memory_limit: float = 4.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.lam = lam
        self.mu = mu
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.sigma = sigma
        self.n_landmarks = n_landmarks
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, confidence: Any = None) -> Self:
        """Learn the graph, the confidences and the regression.

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
            Initial confidences instead of those of the first graph, for example
            ``label_confidence_`` of a reducer.

        Returns
        -------
        self : PLAGGD
            The fitted classifier.
        """
        X, S, confidence = self._validate_fit(X, y, confidence, ensure_min_samples=2)
        ridge = self._ridge(X, self.gamma)
        unit = normalize(X)
        neighbors = self_neighbors(unit, self.n_neighbors, n_jobs=self.n_jobs)
        G = difference_grams(unit, neighbors)
        if confidence is None:
            W = neighbor_graph(neighbors, reconstruction_weights_from_gram(G))
            F = smooth_confidence(W, S, uniform_confidence(S))
        else:
            F = initial_confidence(confidence, S)
        solution = ridge.solve(F.astype(X.dtype, copy=False))
        self.n_iter_ = 0
        for _ in iterations("PL-AGGD", self.max_iter):
            self.n_iter_ += 1
            both = self.lam * G + self.mu * difference_grams(F, neighbors)
            W = neighbor_graph(neighbors, reconstruction_weights_from_gram(both))
            before = F
            F = smooth_confidence(W, S, F, solution.outputs, self.mu)
            solution = ridge.solve(F.astype(X.dtype, copy=False))
            if self.tol is not None and np.abs(F - before).max() <= self.tol:
                break
        self.graph_ = W
        self.label_confidence_ = F.astype(X.dtype, copy=False)
        self._predictor = ridge.predictor(solution)
        self.sigma_ = ridge.sigma
        self.intercept_ = solution.intercept
        return self


def smooth_confidence(
    W: sp.csr_array,
    S: Mask,
    F: NDArray[Any],
    target: NDArray[Any] | None = None,
    mu: float = 1.0,
) -> Array:
    """Compute confidences that are smooth on a graph and near a target.

    Source: PLAGGD, problem of the confidences.

    Minimizes ``||(I - W) F||^2 + (1 / mu) ||F - target||^2`` on the simplices of the
    candidates, from the given start; without a target the first term alone.
    """
    A = residual_operator(W)
    At = A.T.tocsr()
    pull = 0.0 if target is None else 1 / mu
    bound = 1.02 * power_iteration(lambda v: At @ (A @ v), (W.shape[0], 1)) + pull
    max_iter = _FIRST_STEPS if target is None else 2000
    aim = F if target is None else target
    if not few_candidates(S):

        def gradient(F: NDArray[Any]) -> NDArray[Any]:
            return At @ (A @ F) + pull * (F - aim)

        return minimize_on_simplex(gradient, F, S, bound, max_iter=max_iter)[0]
    # Work on the candidates alone: row i of the narrow array holds those of row i.
    B = lift(A, S, inside=False)
    Bt = B.T.tocsr()
    sizes = S.sum(axis=1)
    narrow = np.arange(sizes.max()) < sizes[:, None]
    start, narrow_aim = np.zeros(narrow.shape), np.zeros(narrow.shape)
    start[narrow], narrow_aim[narrow] = F[S], aim[S]

    def narrow_gradient(F: NDArray[Any]) -> NDArray[Any]:
        out = pull * (F - narrow_aim)
        out[narrow] += Bt @ (B @ F[narrow])
        return out

    solution, _ = minimize_on_simplex(
        narrow_gradient, start, narrow, bound, max_iter=max_iter
    )
    result = np.zeros(S.shape)
    result[S] = solution[narrow]
    return result
