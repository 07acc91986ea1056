"""PML-FSSO: one subspace for samples, labels and features."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator, Mapping
from math import ceil
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from partlearn._math.graphs import degrees, heat_graph
from partlearn._sklearn_compat import Interval
from partlearn._typing import Array, Mask
from partlearn.base import Columns
from partlearn.candidates import warn_caller
from partlearn.multilabel.feature_selection._base import EPS, PMLSelector, row_penalties

_LARGEST = 200  # latent directions beyond which the default stops growing


class PMLFSSO(PMLSelector):
    """Select features through a subspace shared by samples, labels and features.

    Candidates ``Y`` and features ``X`` are both factorized over latent positions ``U``
    of the samples, which vary smoothly over a neighbor graph. The regression of the
    candidates on the features has the row-sparse coefficients ``W = M' V``.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=0.2
        Number of features, or their fraction (rounded up), or all.
    alpha : float, default=1.0
        Weight of ``|Y - U V|²``.
    beta : float, default=1.0
        Weight of ``|X - U M|²``.
    gamma : float, default=1.0
        Weight of the smoothness of ``U`` over the graph.
    theta : float, default=1.0
        Half the weight of the row-sparsity of ``W``, as in the authors' program.
    n_latent : int or None, default=None
        Latent directions; None is 80 % of the features, as in the program, but at most
        200, with a warning.
    stale : bool, default=False
        Update ``M`` with the coefficients from the start of the sweep, and stop at
        1e-3, as the program does. The objective may then rise, and ``objective_`` is
        the value that the program reports.
    self_loops : bool, default=False
        Whether points are their own neighbors, which only shortens the steps.
    init : dict of U, V, M, default=None
        Factors to start from, of shapes (n_samples, k), (k, n_classes) and
        (k, n_features).
    max_iter : int, default=1000
        Maximum number of iterations.
    n_neighbors : int, default=5
        Neighbors in the graph of samples.
    t : float or "median", default=1.0
        Width of the heat kernel; 1 suits features in [0, 1].
    tol : float or None, default=None
        Relative change of the objective at which to stop; None is 1e-4, or 1e-3 with
        `stale`.
    random_state : int, RandomState or None, default=None
        Seed of the start and of the order of equal scores.
    scale : bool, default=False
        Bring every column of X to [0, 1] first. Without it, negative entries raise.
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
    labels_ : ndarray of shape (n_samples, n_classes)
        ``U V`` on the candidates: the smoothed candidate matrix.
    weights_ : ndarray of shape (n_features_in_, n_classes)
        ``W``.
    factors_ : dict of ndarray
        The factors U, V and M.
    objective_ : ndarray of shape (n_iter_,)
        Value after every sweep.
    n_latent_ : int
        Number of latent directions.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    PMLFSLA : Aligns two latent spaces instead.

    Notes
    -----
    Read off the authors' program; the journal text was not available. Departures: the
    weights of the penalty are computed again before ``M`` is updated, which makes every
    sweep a descent, and the latent size has a limit. A sweep costs
    O(n k (d + l) + k² (n + d + l) + l d²) with ``X' X`` formed once where d is at most
    n; beyond, products go through ``X``.

    The start is drawn by row and label number, so the result depends on their order.

    References
    ----------
    Pingting Hao, Liang Hu and Wanfu Gao. Partial Multi-label Feature Selection via
    Subspace Optimization. Information Sciences 648, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel import PMLFSSO
    >>> from partlearn.multilabel import add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(60, 8))
    >>> candidates = add_noise_labels(X[:, :3] > 0.6, 1, random_state=0)
    >>> selector = PMLFSSO(2, n_latent=4, random_state=0).fit(X, candidates)
    >>> selector.transform(X).shape
    (60, 2)
    >>> bool((np.diff(selector.objective_) <= 1e-9).all())
    True
    """

    # Factors of rows, of labels and of features are drawn to start.
    _order_matters = ("rows", "classes", "columns")
    _parameter_constraints = PMLSelector._parameter_constraints | {
        "theta": [Interval(Real, 0, None, closed="left")],
        "stale": ["boolean"],
        "self_loops": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        n_features_to_select: float | int | None = 0.2,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1.0,
        theta: float = 1.0,
        n_latent: int | None = None,
        stale: bool = False,
        self_loops: bool = False,
        init: Mapping[str, Any] | None = None,
        max_iter: int = 1000,
        n_neighbors: int = 5,
        t: float | str = 1.0,
        tol: float | None = None,
        random_state: Any = None,
        scale: bool = False,
        must_keep: Columns = None,
        exclude: Columns = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.theta = theta
        self.n_latent = n_latent
        self.stale = stale
        self.self_loops = self_loops
        self.init = init
        self.max_iter = max_iter
        self.n_neighbors = n_neighbors
        self.t = t
        self.tol = tol
        self.random_state = random_state
        self.scale = scale
        self.must_keep = must_keep
        self.exclude = exclude

    def _fit(self, X: Any, C: Mask, rng: np.random.RandomState) -> None:
        (n, d), l = X.shape, C.shape[1]  # noqa: E741
        k = self._latent_size(d) if self.init is None else self._init_size("U")
        U, V, M = self._start({"U": (n, k), "V": (k, l), "M": (k, d)}, rng)
        S = heat_graph(X, self.n_neighbors, t=self.t, self_loops=self.self_loops)
        weights = self.alpha, self.beta, self.gamma, self.theta
        problem = FSSOProblem(X, C.astype(np.float64), S, weights, self.stale)
        tol = (1e-3 if self.stale else 1e-4) if self.tol is None else self.tol
        (U, V, M), _ = self._descend(fsso_sweeps(problem, U, V, M), tol=tol)
        self.factors_ = {"U": U, "V": V, "M": M}
        self.weights_ = M.T @ V
        self.labels_ = (U @ V) * C
        self.n_latent_ = len(M)
        self._rank(row_norms(self.weights_), rng, float(X.max()))

    def _latent_size(self, d: int) -> int:
        usual = ceil(0.8 * d)
        if self.n_latent is None and usual > _LARGEST:
            warn_caller(
                f"The latent size of the authors' program would be {usual}; {_LARGEST} "
                "are used. Set n_latent to choose."
            )
        return self.n_latent or min(usual, _LARGEST)


class FSSOProblem:
    """What does not change from sweep to sweep.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Features, not negative.
    Y : ndarray of shape (n, l)
        Candidates.
    S : sparse array of shape (n, n)
        Graph of the rows.
    weights : tuple of four floats
        Weights of the terms: a, b, c and th.
    stale : bool, default=False
        Whether M is updated with the coefficients before the update of V.
    """

    def __init__(
        self, X: Any, Y: Array, S: sp.csr_array, weights: Any, stale: bool = False
    ) -> None:
        self.X, self.Y, self.S, self.weights, self.stale = X, Y, S, weights, stale
        self.XtY, self.degree, self.XtX = np.asarray(X.T @ Y), degrees(S), None
        if X.shape[1] <= X.shape[0]:
            self.XtX = safe_sparse_dot(X.T, X, dense_output=True)

    def gram_times(self, W: Array) -> Array:
        """``X' X W``."""
        return self.X.T @ (self.X @ W) if self.XtX is None else self.XtX @ W


def coefficients(M: Array, V: Array) -> tuple[Array, Array]:
    """``W = M' V`` and the weights ``1 / (2 |W_i|)`` of its rows."""
    W = M.T @ V
    return W, row_penalties(W, EPS)


def fsso_sweeps(
    p: FSSOProblem, U: Array, V: Array, M: Array
) -> Iterator[tuple[tuple[Array, Array, Array], float]]:
    """Update V, then U, then M.

    Source: PMLFSSO, updates.

    Parameters
    ----------
    p : FSSOProblem
        Data, graph and their products.
    U, V, M : ndarray
        Factors to start from.

    Yields
    ------
    U, V, M : ndarray
        New factors.
    objective : float
        Their value.
    """
    X, Y, XtY = p.X, p.Y, p.XtY
    a, b, c, th = p.weights
    while True:
        W, D = coefficients(M, V)
        G, old = p.gram_times(W), D  # (d, l)
        up = M @ XtY + a * (U.T @ Y)
        down = M @ (G + 2 * th * D[:, None] * W) + a * ((U.T @ U) @ V)
        V = V * up / (down + EPS)
        up = a * (Y @ V.T) + b * (X @ M.T) + c * (p.S @ U)
        down = U @ (a * (V @ V.T) + b * (M @ M.T)) + c * p.degree[:, None] * U
        U = U * up / (down + EPS)
        if not p.stale:
            W, D = coefficients(M, V)
            G = p.gram_times(W)
        up = V @ XtY.T + b * (X.T @ U).T
        down = V @ G.T + b * ((U.T @ U) @ M) + 2 * th * ((V @ V.T) @ M) * D
        M = M * up / (down + EPS)
        yield (U, V, M), fsso_objective(p, U, V, M, old if p.stale else None)


def fsso_objective(
    p: FSSOProblem, U: Array, V: Array, M: Array, stale_weights: Array | None = None
) -> float:
    """Value of the objective.

    Source: PMLFSSO, objective.

    Parameters
    ----------
    p : FSSOProblem
        Data, graph and their products.
    U, V, M : ndarray
        Factors.
    stale_weights : ndarray or None, default=None
        With them the value that the authors' program reports: ``2 th Tr(W' D W)``
        instead of ``2 th`` times the sum of the row norms of W.

    Returns
    -------
    value : float
        The value.
    """
    X, Y = p.X, p.Y
    a, b, c, th = p.weights
    W = M.T @ V
    entries = X.data if sp.issparse(X) else X
    value = np.sum((X @ W - Y) ** 2) + a * np.sum((Y - U @ V) ** 2)
    # |X - U M|² without the residual, which would be dense.
    fit = np.vdot(entries, entries) - 2 * np.vdot(X @ M.T, U)
    value += b * (fit + np.vdot(U.T @ U, M @ M.T))
    value += c * (p.degree @ np.einsum("ij,ij->i", U, U) - np.vdot(p.S @ U, U))
    if stale_weights is None:
        return float(value + 2 * th * row_norms(W).sum())
    return float(value + 2 * th * (stale_weights @ np.einsum("ij,ij->i", W, W)))
