"""PML-LENFN: labels enhanced by near and far rows, and a guided linear model."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state

from partlearn._sizes import SIZES, spans
from partlearn._sklearn_compat import Interval, StrOptions
from partlearn._typing import Array, Mask
from partlearn.multilabel._scaled_rows import (
    ScaledRows,
    Spectrum,
    scaled_rows,
    spectrum,
)
from partlearn.multilabel.classification._linear import BaseLinearScorer, start_from

_ETA = 1e-3  # released step along half the gradient of V
_HALVINGS = 60  # of a step that would raise the objective
_FALL = 1e-3  # relative fall of the loss that stops
_CUT = 0.9  # where a label is predicted, as a share of its row's range
Factors = tuple[Array, Array, Array]


class PMLLENFN(BaseLinearScorer):
    """Label enhancement from near and far neighbors with nonlinear guidance.

    First the candidates become soft labels, from the candidates of a row, the
    candidates of near rows, and the labels missing in far rows. Then a linear model is
    fitted to the soft labels, with similar weights for correlated labels. It is
    regularized towards a network with one hidden layer, which is fitted to the scores
    of the model.

    Parameters
    ----------
    l1 : float, default=10.0
        Ridge penalty of the linear model.
    l2 : float, default=1.0
        Weight of the label correlations.
    l3 : float, default=0.01
        Penalty of the network's output weights.
    l4 : float, default=10.0
        Penalty of the network's hidden weights.
    k : int or None, default=None
        Hidden units, at most the number of labels; None means as many.
    alpha : float, default=0.7
        Weight of a row's own candidates.
    beta : float, default=0.1
        Weight of the far rows. Near rows have the weight ``1 - alpha - beta``.
    mu : float, default=0.2
        Width of near and far, as a share of the range of a row's similarities.
    neighbors : {"exclude_self", "release"}, default="exclude_self"
        Rows that may be near or far. "release" includes the row itself and leaves out
        the first training row, as the released program does.
    enhance_all : bool, default=False
        Keep soft labels outside the candidates too.
    v_step : {"release", "backtracking"}, default="release"
        Step of the hidden weights: fixed, or halved until the objective does not rise.
    threshold : "row_minmax" or float, default="row_minmax"
        "row_minmax" predicts labels in the upper tenth of their row's range of scores,
        so that every row has one; a number is the threshold on the scores.
    scale : bool, default=True
        Bring every column to [-1, 1] by its minimum and maximum in the training rows.
    U_init, V_init : array-like or None, default=None
        Output weights (k, n_classes) and hidden weights (n_features + 1, k) to start
        from; None draws them from the standard normal distribution.
    max_iter : int, default=200
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the start and of the order of equal feature scores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns.
    W_ : ndarray of shape (n_features_in_ + 1, n_classes)
        Weights of the scaled features and, last, of the constant.
    U_, V_ : ndarray of shape (k, n_classes) and (n_features_in_ + 1, k)
        Weights of the network.
    L_ : ndarray of shape (n_classes, n_classes)
        Laplacian of the label correlations; not symmetric.
    coef_ : ndarray of shape (n_classes, n_features_in_)
        Coefficients of the features as given.
    intercept_ : ndarray of shape (n_classes,)
        Added to the scores.
    threshold_ : float or None
        Threshold on the scores, where it is the same for all rows.
    soft_labels_ : ndarray of shape (n_samples, n_classes)
        Enhanced labels, in [0, 1].
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Enhanced labels, zero outside the candidates.
    never_, always_ : ndarray of bool, shape (n_classes,)
        Labels that no and that every training row had as a candidate.
    scores_ : ndarray of shape (n_features_in_,)
        Importance of each feature: norm of its coefficients for standardized features.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    loss_ : ndarray of shape (n_iter_,)
        Objective after every iteration.
    converged_ : bool
        Whether the stopping rule was met.
    n_iter_ : int
        Number of iterations.
    multilabel_ : bool
        Whether `fit` received a matrix or sets instead of one label per row.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    PMLNI : Splits the weights into a classifier and noise.

    Notes
    -----
    In the released program the only row near a row is the row itself, so near rows add
    nothing. By default the row itself is left out here. With the released step the loss
    still falls when `max_iter` is reached, so the result depends on the start;
    ``v_step="backtracking"`` converges. As the hidden weights shrink, the network tends
    to a constant and mainly shrinks the scores. The ranking of features is not part of
    the published method.

    The label correlations can be indefinite. Where the objective has no minimum `fit`
    raises, and a larger `l1` helps.

    O(n² (d + l)) for the enhancement, in blocks of rows; then one decomposition and
    O(n d (k + l)) an iteration. Sparse features stay sparse.

    References
    ----------
    Yu Chen, Yanan Wu, Na Han, Xiaozhao Fang, Bingzhi Chen and Jie Wen. Partial
    multi-label learning based on near-far neighborhood label enhancement and nonlinear
    guidance. ACM Multimedia 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.metrics import average_precision
    >>> from partlearn.multilabel import PMLLENFN, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> Y = X[:, :4] > 0.5
    >>> candidates = add_noise_labels(Y, 1, random_state=0)
    >>> model = PMLLENFN(v_step="backtracking", random_state=0).fit(X, candidates)
    >>> bool(average_precision(Y, model.decision_function(X)) > 0.8)
    True
    """

    # Weights of the network are drawn for every feature and every label.
    _order_matters = ("columns", "classes")
    _parameter_constraints = BaseLinearScorer._parameter_constraints | {
        "l1": [Interval(Real, 0, None, closed="left")],
        "l2": [Interval(Real, 0, None, closed="left")],
        "l3": [Interval(Real, 0, None, closed="neither")],
        "l4": [Interval(Real, 0, None, closed="left")],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "beta": [Interval(Real, 0, 1, closed="both")],
        "mu": [Interval(Real, 0, 1, closed="both")],
        "neighbors": [StrOptions({"exclude_self", "release"})],
        "enhance_all": ["boolean"],
        "v_step": [StrOptions({"release", "backtracking"})],
        "threshold": [Real, StrOptions({"row_minmax"})],
        "U_init": ["array-like", None],
        "V_init": ["array-like", None],
    }

    def __init__(
        self,
        l1: float = 10.0,
        *,
        l2: float = 1.0,
        l3: float = 0.01,
        l4: float = 10.0,
        k: int | None = None,
        alpha: float = 0.7,
        beta: float = 0.1,
        mu: float = 0.2,
        neighbors: str = "exclude_self",
        enhance_all: bool = False,
        v_step: str = "release",
        threshold: float | str = "row_minmax",
        scale: bool = True,
        U_init: Any = None,
        V_init: Any = None,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.l1 = l1
        self.l2 = l2
        self.l3 = l3
        self.l4 = l4
        self.k = k
        self.alpha = alpha
        self.beta = beta
        self.mu = mu
        self.neighbors = neighbors
        self.enhance_all = enhance_all
        self.v_step = v_step
        self.threshold = threshold
        self.scale = scale
        self.U_init = U_init
        self.V_init = V_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, X: Any, C: Mask) -> None:
        X = X.astype(np.float64)
        if self.alpha + self.beta > 1 + 1e-12:
            raise ValueError(
                f"`alpha + beta` must be at most 1; got {self.alpha + self.beta}."
            )
        rng = check_random_state(self.random_state)
        rows, shift, factor = scaled_rows(X, scale=self.scale)
        J = enhanced_labels(
            rows, C, (self.alpha, self.beta, self.mu), self.neighbors == "release"
        )
        self.soft_labels_ = J if self.enhance_all else J * C
        self.label_confidence_ = self.soft_labels_ * C
        self.L_ = label_laplacian(self.soft_labels_)
        weights = self.l1, self.l2, self.l3, self.l4
        problem = lenfn_problem(rows, self.soft_labels_, self.L_, weights)

        fixed = self.v_step == "release"

        def step(factors: Factors) -> tuple[Factors, float]:
            _, U, V = factors
            W, U, V, loss = lenfn_iteration(problem, U, V, fixed)
            return (W, U, V), loss

        U, V = self._start(rows.shape[1], C.shape[1], rng)
        start: Factors = np.empty((0, 0)), U, V
        self.W_, self.U_, self.V_ = self._settle("PML-LENFN", step, start, _FALL)
        self.never_, self.always_ = ~C.any(axis=0), C.all(axis=0)
        free = self.threshold == "row_minmax"
        self.threshold_ = None if free else float(self.threshold)
        self._set_weights(X, self.W_[:-1], self.W_[-1], shift, factor, rng)

    def _start(self, p: int, n_labels: int, rng: Any) -> tuple[Array, Array]:
        k = n_labels if self.k is None else min(self.k, n_labels)
        drawn = rng.normal(size=(k, n_labels)), rng.normal(size=(p, k))
        return (
            start_from("U_init", self.U_init, drawn[0]),
            start_from("V_init", self.V_init, drawn[1]),
        )

    def _row_threshold(self, scores: Array) -> Any:
        if self.threshold_ is not None:
            return self.threshold_
        low = scores.min(axis=1, keepdims=True)
        high = scores.max(axis=1, keepdims=True)
        return np.minimum(_CUT * high + (1 - _CUT) * low, high)


def enhanced_labels(
    X: ScaledRows, C: Mask, weights: tuple[float, float, float], release: bool = False
) -> Array:
    """Mix a row's candidates with near rows' and with labels that far rows lack.

    Source: PMLLENFN, label enhancement.

    Parameters
    ----------
    X : ScaledRows
        Rows.
    C : ndarray of bool, shape (n, l)
        Candidates.
    weights : tuple of float
        ``alpha``, ``beta`` and ``mu``.
    release : bool, default=False
        Whether rows may be near themselves, and the first row is near to none.

    Returns
    -------
    J : ndarray of shape (n, l)
        Soft labels, also outside the candidates.
    """
    alpha, beta, mu = weights
    n = len(C)
    Y = C.astype(np.float64)
    if n == 1 and not release:
        return alpha * Y + (1 - alpha)
    points = X.dense()[:, : X.shape[1] - X.bias]
    nearest = [_without_own(D, rows).min(axis=1) for rows, D in _distances(points)]
    sigma = float(np.concatenate(nearest).mean()) if n > 1 else 0.0
    J = np.empty(Y.shape)
    for rows, D in _distances(points):
        if sigma > 0:
            K = np.exp(-D / (2 * sigma**2))
        else:
            K = (D == 0).astype(np.float64)
        own = np.zeros(D.shape, dtype=bool)
        own[np.arange(len(D)), np.arange(rows.start, rows.start + len(D))] = True
        counted = np.ones(D.shape, dtype=bool) if release else ~own
        hi = np.where(counted, K, -np.inf).max(axis=1, keepdims=True)
        lo = np.where(counted, K, np.inf).min(axis=1, keepdims=True)
        width = mu * (hi - lo)
        if release:
            counted[:, 0] = False
        # The whole range holds every row, whatever the rounding of its ends.
        near = counted & ((hi - width <= K) | (mu == 1))
        far = counted & ((lo + width >= K) | (mu == 1))
        a, b = _means(near, Y), _means(far, 1 - Y)
        J[rows] = alpha * Y[rows] + (1 - alpha - beta) * a + beta * b
    return J


def _means(members: Mask, Y: Array) -> Array:
    """Return the mean of Y over the members of each row; ones without members."""
    count = members.sum(axis=1, keepdims=True)
    total = members.astype(np.float64) @ Y
    return np.divide(total, count, out=np.ones_like(total), where=count > 0)


def _distances(points: Array) -> Iterator[tuple[slice, Array]]:
    """Euclidean distances of blocks of rows to all rows."""
    for rows in spans(len(points), SIZES.lenfn_block // len(points)):
        # By differences: equal rows are at distance zero.
        D = pairwise_distances(points[rows], points, metric="minkowski", p=2)
        yield rows, np.asarray(D)


def _without_own(D: Array, rows: slice) -> Array:
    D = D.copy()
    D[np.arange(len(D)), np.arange(rows.start, rows.start + len(D))] = np.inf
    return D


def label_laplacian(J: Array) -> Array:
    """``diag(P 1) - P`` for ``P_ij = (J_i . J_j) / (J_i . J_i)``; not symmetric.

    Source: PMLLENFN, label correlations.
    """
    B = J.T @ J
    own = np.diag(B)[:, None]
    P = np.divide(B, own, out=np.zeros_like(B), where=own > 0)
    return np.asarray(np.diag(P.sum(axis=1)) - P)


class Problem(NamedTuple):
    """Rows, soft labels, weights, and the decompositions of the W step."""

    X: ScaledRows
    J: Array
    S: Array
    weights: tuple[float, float, float, float]
    basis: Spectrum
    e: Array
    R: Array


def lenfn_problem(
    X: ScaledRows, J: Array, L: Array, weights: tuple[float, float, float, float]
) -> Problem:
    """Decompose both sides of the Sylvester equation of W once.

    Parameters
    ----------
    X : ScaledRows
        Rows with a constant column, n x p.
    J : ndarray of shape (n, l)
        Soft labels.
    L : ndarray of shape (l, l)
        Laplacian.
    weights : tuple of float
        ``l1`` to ``l4``.

    Returns
    -------
    problem : Problem
        All that does not change.
    """
    S = (L + L.T) / 2
    e, R = np.linalg.eigh(weights[0] * np.eye(len(S)) + weights[1] * S)
    basis = spectrum(X)
    least = float(basis.g.min()) if len(basis.g) == X.shape[1] else 0.0
    lowest = float(e[0]) + 2 * least
    if lowest <= 0:
        raise ValueError(
            f"The objective has no minimum: its smallest curvature is {lowest:.2g}. "
            f"Raise `l1` above {weights[0] - lowest:.2g}."
        )
    return Problem(X, J, S, weights, basis, e, R)


def lenfn_iteration(
    problem: Problem, U: Array, V: Array, fixed: bool
) -> tuple[Array, Array, Array, float]:
    """Solve for W, then for U, then take one step of V.

    Source: PMLLENFN, updates of the model and of the network.

    Parameters
    ----------
    problem : Problem
        Rows, labels and weights.
    U, V : ndarray of shape (k, l) and (p, k)
        Weights of the network.
    fixed : bool
        Whether the step of V is fixed; otherwise it is halved until the loss falls.

    Returns
    -------
    W, U, V : ndarray
        New weights.
    loss : float
        The objective at these.
    """
    X, J, S, (l1, l2, l3, l4), basis, e, R = problem
    H = expit(X @ V)
    inner = basis.Q.T @ X.transposed_matmul(H @ U + J) @ R
    W = basis.Q @ (inner / (2 * basis.g[:, None] + e)) @ R.T
    F = X @ W
    U = np.linalg.solve(H.T @ H + l3 * np.eye(H.shape[1]), H.T @ F)
    slope = X.transposed_matmul(H * (1 - H) * ((H @ U - F) @ U.T)) + l4 * V
    still = float(np.sum((F - J) ** 2) + l1 * np.sum(W**2) + l2 * np.vdot(W @ S, W))
    still += float(l3 * np.sum(U**2))

    def loss(V: Array) -> float:
        apart = np.sum((F - expit(X @ V) @ U) ** 2) + l4 * np.sum(V**2)
        return still + float(apart)

    if fixed:
        V = V - _ETA * slope
        return W, U, V, loss(V)
    before, eta = loss(V), 1.0
    for _ in range(_HALVINGS):
        moved = V - eta * slope
        value = loss(moved)
        if value <= before:
            return W, U, moved, value
        eta /= 2
    return W, U, V, before
