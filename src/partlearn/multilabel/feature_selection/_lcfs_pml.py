"""LCFS-PML: regression on the candidates that neighbors and cluster centers support."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import row_norms

from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, StrOptions
from partlearn._typing import Array, Indices, Mask
from partlearn.base import Columns
from partlearn.candidates import warn_at_max_iter
from partlearn.multilabel._proximal import accelerated, shrink_rows, soft_threshold
from partlearn.multilabel.feature_selection._base import EPS, PMLSelector

_CUT = 0.02  # share of the distances below the width of the density
_STILL, _MAX_STEPS = 1e-6, 3000  # of the accelerated proximal gradients
_OUTER = 10  # renewals of the confident candidates
_KEPT = 0.6  # share of a label's candidates kept by quantile
_RELEASED_STEPS, _RELEASED_FALL = 499, 1e-2
_ADMM_STEPS, _ADMM_STILL = 100, 1e-4
_ARMIJO, _SHRINK, _REDUCTIONS = 0.1, 0.1, 60


class LCFSPML(PMLSelector):
    """Select features by the confidence of candidate labels.

    A candidate has high confidence if its row is near other rows with the label and
    near a center of them. Weights ``W`` explain the confident candidates and are sparse
    in rows; sparse weights ``Q`` explain the rest.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=0.2
        Number of features, or their fraction (rounded up), or all.
    alpha : float, default=1.0
        Weight of the confident candidates.
    beta : float, default=1.0
        Weight of the row sparsity of ``W``.
    gamma : float, default=1.0
        Weight of the entries of ``Q``.
    lam : float, default=1.0
        Balance of two distances: small values weight the distance to near rows, large
        values the distance to the nearest center.
    theta : float or "quantile", default=0.6
        A candidate is kept if its confidence is larger; "quantile" keeps the best
        60 % of each label's candidates.
    n_neighbors : int, default=5
        Near rows with the same label.
    solver : {"exact", "release"}, default="exact"
        "exact" minimizes the objective; "release" runs the loop of the released
        program, whose ranking mostly follows its random start.
    top_fraction : float, default=0.5
        Share of the features used to update the confidences.
    init : dict of W and Q, default=None
        Weights that ``solver="release"`` starts from, (n_features, n_classes) each;
        None draws them uniformly.
    random_state : int, RandomState or None, default=None
        Seed of the order of equal scores and of the released start.
    scale : bool, default=True
        Bring every column of X to [-1, 1] first.
    must_keep, exclude : sequence of int, str or bool, default=None
        Columns to select in any case, and columns never to select.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Norms of the rows of ``W``.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    selected_ : ndarray of shape (n_selected,)
        Indices of the selected features, best first.
    support_ : ndarray of bool, shape (n_features_in_,)
        Mask of the selected features.
    weights_, rest_ : ndarray of shape (n_features_in_, n_classes)
        ``W`` and ``Q``.
    labels_ : ndarray of shape (n_samples, n_classes)
        Confidences of the candidates, zero elsewhere.
    kept_ : ndarray of bool, shape (n_samples, n_classes)
        Confident candidates of the result.
    cycle_ : bool
        Whether the confident candidates ran in a cycle; those of the least objective
        are kept.
    objective_ : ndarray
        Value for each set of confident candidates; of each iteration, and first of the
        start, for the released loop.
    n_iter_ : int
        Number of sets of confident candidates, or iterations of the released loop.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    PMLFSNF : Regression on a label distribution.

    Notes
    -----
    The released loop takes one gradient step of a wrong length for each set of
    confident candidates and stops at an objective of two to four times the minimum. Its
    ranking has no correlation with the minimizer's. It is offered to reproduce the
    program, with its inner iterations started at zero. No defaults are published: those
    here are not tuned.

    O(sum of squared numbers of candidates, times d) for the confidences, by label;
    O(n d l) or O(d² l) for each of at most 3000 steps of the solver.

    References
    ----------
    Han, Hu and Gao. Label-confidence based feature selection for partial multi-label
    data. Pattern Recognition 161, 2025, article 111281.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel import LCFSPML, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 8))
    >>> candidates = add_noise_labels(X[:, :3] > 0.6, 1, random_state=0)
    >>> selector = LCFSPML(3, random_state=0).fit(X, candidates)
    >>> sorted(selector.selected_.tolist())
    [0, 1, 2]
    """

    _non_negative = False
    _symmetric = True
    _parameter_constraints = PMLSelector._parameter_constraints | {
        "theta": [Real, StrOptions({"quantile"})],
        "solver": [StrOptions({"exact", "release"})],
        "top_fraction": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        n_features_to_select: float | int | None = 0.2,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1.0,
        lam: float = 1.0,
        theta: float | str = 0.6,
        n_neighbors: int = 5,
        solver: str = "exact",
        top_fraction: float = 0.5,
        init: Mapping[str, Any] | None = None,
        random_state: Any = None,
        scale: bool = True,
        must_keep: Columns = None,
        exclude: Columns = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.lam = lam
        self.theta = theta
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.top_fraction = top_fraction
        self.init = init
        self.random_state = random_state
        self.scale = scale
        self.must_keep = must_keep
        self.exclude = exclude

    def _fit(self, X: Any, C: Mask, rng: np.random.RandomState) -> None:
        X = X.toarray() if sp.issparse(X) else X
        problem = LCFSProblem(
            X, C.astype(np.float64), self.alpha, self.beta, self.gamma
        )
        self.cycle_ = False
        if self.solver == "exact":
            W, Q, T, kept, objective = self._exact(problem, C)
        else:
            shape = (X.shape[1], C.shape[1])
            W, Q = self._start({"W": shape, "Q": shape}, rng, sign=False)
            W, Q, T, kept, objective = self._released(problem, C, W, Q)
        self.weights_, self.rest_ = W, Q
        self.labels_, self.kept_ = T * C, kept
        self.objective_ = np.array(objective)
        self.n_iter_ = len(objective) - (self.solver == "release")
        self._rank(row_norms(W), rng, 0.0)

    def _confident(self, X: Array, C: Mask) -> tuple[Array, Mask]:
        T = confidences(X, C, self.n_neighbors, self.lam)
        if self.theta != "quantile":
            return T, C & (float(self.theta) < T)
        kept = np.zeros_like(C)
        for j, column in enumerate(C.T):
            if column.any():
                cut = np.quantile(T[column, j], 1 - _KEPT)
                kept[:, j] = column & (cut <= T[:, j])
        return T, kept

    def _top(self, W: Array, count: int) -> Indices:
        """Columns of largest weights, in their order."""
        order = np.argsort(-row_norms(W), kind="stable")
        return np.asarray(np.sort(order[: max(1, count)]))

    def _exact(
        self, problem: LCFSProblem, C: Mask
    ) -> tuple[Array, Array, Array, Mask, list[float]]:
        """Solve and renew the confident candidates until they repeat."""
        d = problem.X.shape[1]
        top = int(self.top_fraction * d)
        T, kept = self._confident(problem.X, C)
        W = Q = np.zeros((d, C.shape[1]))
        history: list[tuple[Array, Array, Array, Mask, float]] = []
        for _ in iterations("LCFS-PML", _OUTER):
            W, Q, settled = lcfs_minimum(problem, kept.astype(np.float64), W, Q)
            if not settled:
                warn_at_max_iter(_MAX_STEPS, "The weights still change", "scale X")
            value = lcfs_objective(problem, kept, W, Q)
            history.append((W, Q, T, kept, value))
            T, kept = self._confident(problem.X[:, self._top(W, top)], C)
            repeats = [i for i, h in enumerate(history) if (h[3] == kept).all()]
            if repeats:
                self.cycle_ = repeats[0] < len(history) - 1
                break
        best = history[-1]
        if self.cycle_:
            best = min(history[repeats[0] :], key=lambda h: h[4])
        return (*best[:4], [h[4] for h in history])

    def _released(
        self, problem: LCFSProblem, C: Mask, W: Array, Q: Array
    ) -> tuple[Array, Array, Array, Mask, list[float]]:
        """Run the released loop, one gradient step for each renewal."""
        X, d = problem.X, problem.X.shape[1]
        T, kept = self._confident(X, C)
        objective = [lcfs_objective(problem, kept, W, Q)]
        factor = scipy.linalg.cho_factor(2 * X.T @ X + np.eye(d))
        for t in iterations("LCFS-PML", _RELEASED_STEPS, start=1):
            W = armijo_step(problem, kept, W, Q)
            Q = released_rest(problem, W, factor)
            objective.append(lcfs_objective(problem, kept, W, Q))
            value = objective[-1]
            if t > 2 and abs(value - objective[-2]) < _RELEASED_FALL * abs(value):
                break
            T, kept = self._confident(X[:, self._top(W, d // 2)], C)
        return W, Q, T, kept, objective


class LCFSProblem(NamedTuple):
    """Rows, candidates as numbers, and the weights of the objective."""

    X: Array
    L: Array
    alpha: float
    beta: float
    gamma: float


def confidences(X: Array, C: Mask, n_neighbors: int, lam: float) -> Array:
    """Confidence of every candidate, one outside the candidates.

    Source: LCFSPML, label confidence.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows, perhaps with some of the features only.
    C : ndarray of bool, shape (n, l)
        Candidates.
    n_neighbors : int
        Near rows that count.
    lam : float
        Balance of near rows and centers.

    Returns
    -------
    T : ndarray of shape (n, l)
        In [exp(-1), 1].
    """
    T = np.ones(C.shape)
    for j, column in enumerate(C.T):
        rows = np.flatnonzero(column)
        if len(rows) < 2:
            continue
        D = cdist(X[rows], X[rows])
        a = _relative(near_distances(D, n_neighbors))
        c = _relative(D[:, density_peaks(D)].min(axis=1))
        down = lam * a + c
        mean = np.divide((1 + lam) * a * c, down, out=np.zeros_like(a), where=down > 0)
        T[rows, j] = np.exp(-mean)
    return T


def _relative(values: Array) -> Array:
    largest = values.max()
    return values / largest if largest > 0 else np.zeros_like(values)


def near_distances(D: Array, k: int) -> Array:
    """Mean of the k smallest positive distances of each row; zero without any.

    Source: LCFSPML, distance to near rows.
    """
    ordered = np.sort(np.where(D > 0, D, np.inf), axis=1)[:, :k]
    counted = np.isfinite(ordered)
    count = counted.sum(axis=1)
    total = np.where(counted, ordered, 0.0).sum(axis=1)
    return np.divide(total, count, out=np.zeros(len(D)), where=count > 0)


def density_peaks(D: Array) -> Indices:
    """Return dense rows far from denser rows, or the densest row if there are none.

    Source: LCFSPML, cluster centers.
    """
    n = len(D)
    ordered = np.sort(D, axis=None)
    width = ordered[min(int(_CUT * n * (n - 1)) + n, n * n - 1)]
    if width <= 0:
        positive = ordered[ordered > 0]
        if not positive.size:  # all rows are equal
            return np.zeros(1, dtype=np.intp)
        width = positive[0]
    density = np.exp(-((D / width) ** 2)).sum(axis=1) - 1
    denser = np.where(density[None, :] > density[:, None], D, np.inf)
    delta = denser.min(axis=1)
    highest = np.isinf(delta)
    others = delta[~highest]
    delta[highest] = others.max() if others.size else 0.0
    dense = density >= (density.min() + density.max()) / 2
    far = delta > (delta.min() + delta.max()) / 2
    peaks = np.flatnonzero(dense & far)
    return peaks if peaks.size else np.array([int(density.argmax())])


def lcfs_objective(problem: LCFSProblem, kept: Mask, W: Array, Q: Array) -> float:
    """Value of the objective.

    Source: LCFSPML, objective.
    """
    X, L, alpha, beta, gamma = problem
    value = np.sum((X @ (W + Q) - L) ** 2) + alpha * np.sum((X @ W - kept) ** 2)
    return float(value + beta * row_norms(W).sum() + gamma * np.abs(Q).sum())


def lcfs_minimum(
    problem: LCFSProblem, kept: Array, W: Array, Q: Array
) -> tuple[Array, Array, bool]:
    """Minimize over W and Q by accelerated proximal gradients with restarts.

    Source: LCFSPML, objective.

    Parameters
    ----------
    problem : LCFSProblem
        Rows, candidates and weights.
    kept : ndarray of shape (n, l)
        Confident candidates.
    W, Q : ndarray of shape (d, l)
        Where to start.

    Returns
    -------
    W, Q : ndarray of shape (d, l)
        The minimizer.
    settled : bool
        Whether the steps have become small.
    """
    X, L, alpha, beta, gamma = problem
    small = X.T @ X if X.shape[1] <= X.shape[0] else X @ X.T
    largest = float(np.linalg.eigvalsh(small)[-1])
    lip = 2 * largest * (1 + alpha / 2 + float(np.sqrt(1 + alpha**2 / 4)))
    if lip <= 0:  # no feature varies
        return np.zeros_like(W), np.zeros_like(Q), True
    XL, XK = X.T @ L, X.T @ kept
    primal = X.shape[1] <= X.shape[0]

    def scatter(V: Array) -> Array:
        return small @ V if primal else X.T @ (X @ V)

    def step(at: Array) -> Array:
        own, rest = scatter(at[0]), scatter(at[1])
        common = 2 * (own + rest - XL)
        V = at[0] - (common + 2 * alpha * (own - XK)) / lip
        R = at[1] - common / lip
        return np.stack([shrink_rows(V, beta / lip), soft_threshold(R, gamma / lip)])

    numbers = range(1, _MAX_STEPS + 1)
    (W, Q), _, settled = accelerated(step, np.stack([W, Q]), numbers, _STILL)
    return W, Q, settled


def armijo_step(problem: LCFSProblem, kept: Mask, W: Array, Q: Array) -> Array:
    """Take one step of the released loop, with four times the gradient of the row term.

    Source: LCFSPML, released update of W.
    """
    X, L, alpha, beta, _ = problem
    row = 2 / np.sqrt(row_norms(W, squared=True) + EPS)
    g = 2 * alpha * X.T @ (X @ W - kept) + 2 * X.T @ (X @ (W + Q) - L)
    g += 2 * beta * row[:, None] * W
    smooth = problem._replace(gamma=0.0)
    before, slope = lcfs_objective(smooth, kept, W, Q), float(np.vdot(g, g))
    step = 1.0
    for _ in range(_REDUCTIONS):
        moved = W - step * g
        change = lcfs_objective(smooth, kept, moved, Q) - before
        if change <= -_ARMIJO * step * slope:
            break
        step *= _SHRINK
    return np.asarray(W - step * g)


def released_rest(problem: LCFSProblem, W: Array, factor: Any) -> Array:
    """Update of Q by the released inner iterations, started at zero.

    Source: LCFSPML, released update of Q.
    """
    X, L, _, _, gamma = problem
    right = 2 * X.T @ (L - X @ W)
    Z = Y = np.zeros_like(W)
    for _ in range(_ADMM_STEPS):
        Q = scipy.linalg.cho_solve(factor, right + Z - Y)
        before, Z = Z, soft_threshold(Q + Y, gamma)
        Y = Y + Q - Z
        near = np.linalg.norm(Q - Z) < _ADMM_STILL
        if near and np.linalg.norm(Z - before) < _ADMM_STILL:
            break
    return np.asarray(Q)
