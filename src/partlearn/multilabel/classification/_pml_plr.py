"""PML-PLR: pseudo-labels rebuilt from a low-rank part of the candidates."""

# SPDX-License-Identifier: BSD-3-Clause

from functools import partial
from math import ceil
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state

from partlearn._math.simplex import project_simplex
from partlearn._sizes import SIZES
from partlearn._sklearn_compat import Interval
from partlearn._typing import Array, Indices, Mask
from partlearn.multilabel._proximal import soft_threshold
from partlearn.multilabel._scaled_rows import scaled_rows
from partlearn.multilabel.classification._linear import (
    BaseLinearScorer,
    known_last,
    start_from,
)

_EPS = 2.0**-52
_GUARD = 1e-12  # denominators below it leave a pseudo-label alone
_NEIGHBORS = 5
_LANDMARKS = 5  # landmarks for each feature
_FALL = 1e-4  # relative fall of the loss that stops


class PMLPLR(BaseLinearScorer):
    """Pseudo-label reconstruction for partial multi-label learning.

    Pseudo-labels of the training rows stay near a rotation of the candidates and near
    the scores of a kernel model. Candidates are split into a low-rank part, rebuilt
    from similar rows, and sparse noise.

    Parameters
    ----------
    alpha : float, default=0.1
        Weight of the sparse noise.
    beta : float, default=0.01
        Weight of the smoothness of pseudo-labels along the graph of rows.
    lam : float, default=1.0
        Ridge penalty of the kernel model.
    ratio : float, default=0.8
        Rank of the low-rank part, as a share of the number of labels, rounded up.
    mu : float, default=1000.0
        Penalty that ties the low-rank part to the candidates less the noise.
    threshold : float, default=0.5
        A label is predicted where its score is at least this.
    scale : bool, default=True
        Bring every column to [-1, 1] by its minimum and maximum in the training rows.
    H_init : array-like of shape (rank, n_samples) or None, default=None
        Low-rank factor to start from; None draws it from the standard normal
        distribution.
    landmarks : array-like of int or None, default=None
        Training rows that are landmarks of the kernel; None draws five for each
        feature, or all rows if these are fewer.
    max_iter : int, default=40
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks and of the start.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns.
    W_ : ndarray of shape (n_landmarks + 1, n_classes)
        Weights of the kernel features and, last, of a constant.
    landmarks_ : ndarray of shape (n_landmarks,)
        Training rows that are landmarks.
    pseudo_labels_ : ndarray of shape (n_samples, n_classes)
        Pseudo-labels, zero outside the candidates; they may leave [0, 1].
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        The same, clipped to [0, 1].
    noise_ : ndarray of shape (n_samples, n_classes)
        Sparse noise.
    low_rank_ : ndarray of shape (n_samples, n_classes)
        Low-rank part of the candidates.
    rotated_ : ndarray of shape (n_samples, n_classes)
        Candidates rotated towards the pseudo-labels.
    reconstruction_ : ndarray of shape (n_samples, n_samples)
        Weights that rebuild each row, in columns that sum to one.
    never_, always_ : ndarray of bool, shape (n_classes,)
        Labels that no and that every training row had as a candidate.
    loss_ : ndarray of shape (n_iter_,)
        Printed objective after every iteration; it may rise.
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
    PMLLENFN : Soft labels from near and far rows.

    Notes
    -----
    The updates are those of the released program. Several are no descent steps of the
    printed objective: two signs of the update of H, the sign and a factor of the graph
    term in the reconstruction, and a threshold without an absolute value. The loss can
    rise, which stops the iteration, and the result depends on the start: try several
    seeds. The alternative updates that descend are not offered.

    Two dense n x n arrays and O(n³) an iteration; more than 8000 rows are refused.

    References
    ----------
    Chen, Li, Han, Li, Gao, Chan and Fang. Partial multi-label learning by pseudo-label
    reconstruction. IJCAI 2025, 4896-4904.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.metrics import average_precision
    >>> from partlearn.multilabel import PMLPLR, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> Y = X[:, :4] > 0.5
    >>> candidates = add_noise_labels(Y, 1, random_state=0)
    >>> model = PMLPLR(random_state=0).fit(X, candidates)
    >>> bool(average_precision(Y, model.decision_function(X)) > 0.8)
    True
    """

    # Landmarks and a factor for every row are drawn by row number.
    _order_matters = ("rows",)
    _parameter_constraints = BaseLinearScorer._parameter_constraints | {
        "ratio": [Interval(Real, 0, 1, closed="right")],
        "H_init": ["array-like", None],
        "landmarks": ["array-like", None],
    }

    def __init__(
        self,
        alpha: float = 0.1,
        *,
        beta: float = 0.01,
        lam: float = 1.0,
        ratio: float = 0.8,
        mu: float = 1000.0,
        threshold: float = 0.5,
        scale: bool = True,
        H_init: Any = None,
        landmarks: Any = None,
        max_iter: int = 40,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.lam = lam
        self.ratio = ratio
        self.mu = mu
        self.threshold = threshold
        self.scale = scale
        self.H_init = H_init
        self.landmarks = landmarks
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, X: Any, C: Mask) -> None:
        n, l = C.shape  # noqa: E741
        if n > SIZES.plr_rows:
            raise ValueError(
                f"PML-PLR holds dense matrices of all pairs of rows; {n} rows are more "
                f"than {SIZES.plr_rows}. Fit it on a sample of the rows."
            )
        rng = check_random_state(self.random_state)
        X = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
        rows, self._shift, self._factor = scaled_rows(X, scale=self.scale, bias=False)
        points = rows.dense()
        self.landmarks_ = self._draw_landmarks(n, X.shape[1], rng)
        self._points = points[self.landmarks_]
        D2 = pairwise_distances(points, self._points, metric="sqeuclidean")
        self._width = float(D2.mean()) or 1.0
        K = np.exp(-D2 / (2 * self._width))
        self._means = K.mean(axis=0)
        phi = np.column_stack([K - self._means, np.ones(n)])
        rank = ceil(self.ratio * l)
        H = start_from("H_init", self.H_init, rng.normal(size=(rank, n)))
        weights = self.alpha, self.beta, self.lam, self.mu
        problem = plr_problem(points, phi, C.astype(np.float64), weights)
        Y = problem.Y
        state = PLRState(H=H, F=Y, E=np.zeros_like(Y), C=np.eye(n))
        step = partial(plr_iteration, problem)
        state = self._settle("PML-PLR", step, state, _FALL)
        self.W_, self.reconstruction_ = state.W, state.C
        self.pseudo_labels_, self.noise_ = state.F.T.copy(), state.E.T.copy()
        self.low_rank_, self.rotated_ = state.PH.T.copy(), state.YQ.T.copy()
        self.never_ = np.asarray(~C.any(axis=0))
        self.always_ = np.asarray(C.all(axis=0))
        self.label_confidence_ = np.clip(self.pseudo_labels_, 0, 1) * C

    def _draw_landmarks(self, n: int, d: int, rng: Any) -> Indices:
        if self.landmarks is None:
            count = min(_LANDMARKS * d, n)
            return np.asarray(rng.permutation(n)[:count], dtype=np.intp)
        landmarks = np.asarray(self.landmarks, dtype=np.intp)
        if not landmarks.size or landmarks.min() < 0 or landmarks.max() >= n:
            raise ValueError(f"`landmarks` must hold row numbers from 0 to {n - 1}.")
        return landmarks

    def _decision(self, X: Any) -> Array:
        X = X.toarray() if sp.issparse(X) else X
        points = (X.astype(np.float64) - self._shift) / self._factor
        with np.errstate(over="ignore"):  # rows so far away that no landmark is near
            D2 = pairwise_distances(points, self._points, metric="minkowski", p=2) ** 2
        K = np.exp(-D2 / (2 * self._width)) - self._means
        scores = K @ self.W_[:-1] + self.W_[-1]
        return known_last(scores - self.threshold, self.never_, self.always_)


class PLRProblem(NamedTuple):
    """What does not change: candidates (l, n), kernel features, graph, distances."""

    Y: Array
    phi: Array
    ridge: Any
    G: Array
    L: sp.csr_array
    weights: tuple[float, float, float, float]


class PLRState(NamedTuple):
    """Blocks of the alternation, label by row as in the program."""

    H: Array
    F: Array
    E: Array
    C: Array
    W: Array = np.empty((0, 0))
    P: Array = np.empty((0, 0))
    PH: Array = np.empty((0, 0))
    YQ: Array = np.empty((0, 0))


def plr_problem(
    points: Array, phi: Array, C: Array, weights: tuple[float, float, float, float]
) -> PLRProblem:
    """Distances, graph and factorization, computed once.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Scaled rows.
    phi : ndarray of shape (n, h)
        Kernel features with a constant.
    C : ndarray of shape (n, l)
        Candidates.
    weights : tuple of float
        ``alpha``, ``beta``, ``lam`` and ``mu``.

    Returns
    -------
    problem : PLRProblem
        The problem.
    """
    G = pairwise_distances(points, metric="sqeuclidean")
    np.fill_diagonal(G, 0.0)
    inner = phi.T @ phi
    inner.flat[:: len(inner) + 1] += weights[2]
    return PLRProblem(
        np.ascontiguousarray(C.T),
        phi,
        scipy.linalg.cho_factor(inner),
        G,
        graph_laplacian(G),
        weights,
    )


def graph_laplacian(G: Array) -> sp.csr_array:
    """Laplacian of five neighbors each, symmetric, with ones on the diagonal.

    Source: PMLPLR, graph of the rows.
    """
    n = len(G)
    k = min(_NEIGHBORS, n - 1)
    others = G.copy()
    np.fill_diagonal(others, np.inf)
    sigma = float(others.min(axis=1).mean()) if n > 1 else 0.0
    near = np.argsort(others, axis=1, kind="stable")[:, :k]
    squared = np.take_along_axis(others, near, axis=1)
    if sigma > 0:
        weight = np.exp(-squared / (2 * sigma**2))
    else:
        weight = (squared == 0).astype(np.float64)
    rows = np.repeat(np.arange(n), k)
    R = sp.csr_array((weight.ravel(), (rows, near.ravel())), shape=(n, n))
    R = R + sp.eye_array(n, format="csr")
    R = (R + R.T) / 2
    return sp.csr_array(sp.diags_array(np.asarray(R.sum(axis=1)).ravel()) - R)


def plr_iteration(problem: PLRProblem, state: PLRState) -> tuple[PLRState, float]:
    """Update all blocks once, as the released program does.

    Source: PMLPLR, updates of all blocks.

    Parameters
    ----------
    problem : PLRProblem
        What does not change.
    state : PLRState
        Blocks before.

    Returns
    -------
    state : PLRState
        Blocks after.
    loss : float
        The printed objective at these.
    """
    Y, phi, ridge, G, L, (alpha, beta, lam, mu) = problem
    H, F, E, C = state.H, state.F, state.E, state.C
    W = scipy.linalg.cho_solve(ridge, phi.T @ F.T)
    YQ = rotate(Y, F)
    U, _, V = np.linalg.svd(
        2 * (Y @ C.T) @ H.T + mu * (Y - E) @ H.T, full_matrices=False
    )
    P = V.T @ U.T
    right = 2 * (P @ Y) @ C.T - mu * P @ (Y - E)
    H = low_rank_factor(right, C, mu)
    PH = P.T @ H
    C = reconstruction(H, P @ Y, F, L, G, beta)
    T = Y - PH
    E = soft_threshold(T, alpha / mu, one_sided=True)
    scores = W.T @ phi.T
    smooth = F @ (L.T @ C) if beta else 0.0  # F L' C
    other = (L.T @ (C @ F.T)).T if beta else 0.0  # F C' L
    down = 2 * F + beta * other + beta * smooth + _EPS
    up = F * (scores + YQ) - np.maximum(F - Y, 0) * Y
    safe = np.abs(down) >= _GUARD
    F = np.divide(up, down, out=F.copy(), where=safe)
    loss = np.sum((scores - F) ** 2) + np.sum((YQ - F) ** 2)
    loss += np.sum((Y - PH @ C) ** 2) + np.sum(G * C) + alpha * np.abs(T).sum()
    loss += beta * np.sum((L.T @ F.T).T @ C * F) + lam * np.sum(W**2)
    return PLRState(H, F, E, C, W, P, PH, YQ), float(loss)


def rotate(Y: Array, F: Array) -> Array:
    """``Y Q`` for the rotation Q of the rows that brings Y nearest to F.

    Source: PMLPLR, update of Q.

    Thin factors: no matrix of all pairs of rows is formed. Directions in which F or Y
    vanish are dropped.
    """
    Qf, Rf = np.linalg.qr(F.T)
    _, Ry = np.linalg.qr(Y.T)
    A, s, B = np.linalg.svd(Ry @ Rf.T)
    keep = s > 1e-12 * max(float(s[0]), _EPS)
    return np.asarray(Ry.T @ A[:, keep] @ B[keep] @ Qf.T)


def low_rank_factor(right: Array, C: Array, mu: float) -> Array:
    """Compute ``right (2 C C' - mu I)^-1``, by the pseudo-inverse if it is singular.

    Source: PMLPLR, update of H.
    """
    M = 2 * C @ C.T
    M.flat[:: len(M) + 1] -= mu
    try:
        factors = scipy.linalg.lu_factor(M, check_finite=False)
    except np.linalg.LinAlgError:  # pragma: no cover - LAPACK warns instead
        return np.asarray(right @ np.linalg.pinv(M))
    return np.asarray(scipy.linalg.lu_solve(factors, right.T, trans=1).T)


def reconstruction(
    H: Array, PY: Array, F: Array, L: sp.csr_array, G: Array, beta: float
) -> Array:
    """Weights that rebuild rows from others, each column on the simplex.

    Source: PMLPLR, update of C.

    ``pinv(2 H'H) = H' (HH')^-2 H / 2``, so that no n x n matrix is inverted.
    """
    inverse = np.linalg.pinv(H @ H.T, hermitian=True)
    target = 2 * H.T @ PY + 2 * beta * F.T @ (L.T @ F.T).T - G
    free = H.T @ (inverse @ (inverse @ (H @ target))) / 2
    return np.ascontiguousarray(project_simplex(np.ascontiguousarray(free.T)).T)
