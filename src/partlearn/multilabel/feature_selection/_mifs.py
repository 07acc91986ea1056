"""MIFS: regress on a low-dimensional, smooth factor of the labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator, Mapping
from math import ceil
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve
from sklearn.utils.extmath import row_norms

from partlearn._math.graphs import heat_graph, laplacian
from partlearn._math.linalg import conjugate_gradients
from partlearn._sklearn_compat import Interval, StrOptions
from partlearn._typing import Array, Mask
from partlearn.base import Columns
from partlearn.multilabel.feature_selection._base import (
    EPS,
    PMLSelector,
    ReweightedRidge,
    row_penalties,
)

_SMOOTH = 1e-12  # the row norms of the alternating solver are sqrt(|w|² + this)
_MAX_ITER = {"als": 100, "gd": 499}


class MIFS(PMLSelector):
    """Select features that predict a latent factor of the labels.

    The label matrix is factorized as ``V B`` with few columns of ``V``, which vary
    smoothly over a neighbor graph of the samples. Row-sparse regression coefficients
    ``W`` predict ``V`` from the features.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=0.2
        Number of features, or their fraction (rounded up), or all.
    alpha : float, default=1.0
        Weight of ``|Y - V B|²``.
    beta : float, default=0.1
        Weight of the smoothness of ``V`` over the graph.
    gamma : float, default=1.0
        Weight of the row-sparsity of ``W``.
    n_latent : int or None, default=None
        Columns of ``V``; None is 30 % of the labels, at least two.
    solver : {"als", "gd"}, default="als"
        Exact minimization block by block, or gradient steps as in public programs.
    step : float or None, default=None
        Size of the gradient steps; None finds it by backtracking. Only for "gd".
    init : dict of W, V, B, default=None
        Factors to start from, of shapes (n_features, c), (n_samples, c) and
        (c, n_classes).
    max_iter : int or None, default=None
        Maximum number of iterations; None is 100 for "als" and 499 for "gd".
    tol : float, default=1e-5
        Stop when the relative change of the objective is below `tol`.
    n_neighbors : int, default=5
        Neighbors in the graph of samples.
    t : float or "median", default=1.0
        Width of the heat kernel; 1 suits features in [0, 1].
    random_state : int, RandomState or None, default=None
        Seed of the start and of the order of equal scores.
    scale : bool, default=False
        Bring every column of X to [0, 1] first.
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
        ``V B`` on the candidates: the smoothed candidate matrix.
    weights_ : ndarray of shape (n_features_in_, n_latent_)
        ``W``.
    factors_ : dict of ndarray
        The factors W, V and B.
    objective_ : ndarray of shape (n_iter_,)
        Value after every sweep.
    n_latent_ : int
        Number of columns of ``V``.
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
    PMLFSSO : Factorizes the features too.

    Notes
    -----
    MIFS takes the candidates as if they were true. Its objective has no minimizer of
    positive size: shrinking ``V`` and ``W`` while growing ``B`` lowers it for ever, so
    the sweeps stop when its relative change is small; rankings do not depend on the
    scale. With the fixed step of public programs the ranking depends on the seed or
    diverges, hence the alternating solver. A sweep of "als" costs
    O(nnz(X) c + n l c + min(n, d)³) where the cubic part is one Cholesky
    factorization.

    The start is drawn by feature and label number, so the result depends on the order
    of features and labels.

    References
    ----------
    Ling Jian, Jundong Li, Kai Shu and Huan Liu. Multi-Label Informed Feature
    Selection. IJCAI 2016, 1627-1633.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel import MIFS
    >>> from partlearn.multilabel import add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(100, 12))
    >>> candidates = add_noise_labels(X[:, :3] > 0.6, 1, random_state=0)
    >>> MIFS(3, tol=1e-2, random_state=0).fit_transform(X, candidates).shape
    (100, 3)
    """

    _non_negative = False

    # A weight for every label and feature is drawn to start.
    _order_matters = ("classes", "columns")
    _parameter_constraints = PMLSelector._parameter_constraints | {
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({"als", "gd"})],
        "step": [Interval(Real, 0, None, closed="neither"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_features_to_select: float | int | None = 0.2,
        *,
        alpha: float = 1.0,
        beta: float = 0.1,
        gamma: float = 1.0,
        n_latent: int | None = None,
        solver: str = "als",
        step: float | None = None,
        init: Mapping[str, Any] | None = None,
        max_iter: int | None = None,
        tol: float = 1e-5,
        n_neighbors: int = 5,
        t: float | str = 1.0,
        random_state: Any = None,
        scale: bool = False,
        must_keep: Columns = None,
        exclude: Columns = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_latent = n_latent
        self.solver = solver
        self.step = step
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_neighbors = n_neighbors
        self.t = t
        self.random_state = random_state
        self.scale = scale
        self.must_keep = must_keep
        self.exclude = exclude

    def _fit(self, X: Any, C: Mask, rng: np.random.RandomState) -> None:
        (n, d), l = X.shape, C.shape[1]  # noqa: E741
        if self.init is not None:
            c = self._init_size("W")
        else:
            c = self.n_latent or min(max(2, ceil(0.3 * l)), l)
        shapes = {"W": (d, c), "V": (n, c), "B": (c, l)}
        W, V, B = self._start(shapes, rng, sign=False)
        L = laplacian(heat_graph(X, self.n_neighbors, t=self.t))
        problem = MIFSProblem(
            X, C.astype(np.float64), L, self.alpha, self.beta, self.gamma
        )
        if self.solver == "als":
            sweeps = mifs_als(problem, W, V, B)
        else:
            sweeps = mifs_gd(problem, W, V, B, self.step)
        max_iter = self.max_iter or _MAX_ITER[self.solver]
        (W, V, B), _ = self._descend(
            sweeps, tol=self.tol, max_iter=max_iter, least_iter=2
        )
        self.factors_ = {"W": W, "V": V, "B": B}
        self.weights_ = W
        self.labels_ = (V @ B) * C
        self.n_latent_ = W.shape[1]
        # The scale of W is free, and falls with every sweep.
        self._rank(row_norms(W), rng, 1e-100)


class MIFSProblem(NamedTuple):
    """Features, labels, graph Laplacian, and the weights of the terms."""

    X: Any
    Y: Array
    L: sp.csr_array
    a: float
    b: float
    g: float


MIFSSweeps = Iterator[tuple[tuple[Array, Array, Array], float]]


def mifs_objective(
    p: MIFSProblem, W: Array, V: Array, B: Array, smooth: float = 0.0
) -> float:
    """``|XW - V|² + a |Y - VB|² + b Tr(V'LV) + g sum_i sqrt(|W_i|² + smooth)``.

    Source: MIFS, objective.
    """
    value = np.sum((p.X @ W - V) ** 2) + p.a * np.sum((p.Y - V @ B) ** 2)
    value += p.b * np.vdot(p.L @ V, V)
    norms = np.sqrt(np.einsum("ij,ij->i", W, W) + smooth)
    return float(value + p.g * norms.sum())


def mifs_als(p: MIFSProblem, W: Array, V: Array, B: Array) -> MIFSSweeps:
    """Sweeps that minimize over V, B and W in turn; none raises the objective.

    Source: MIFS, exact alternating updates of the objective.

    Parameters
    ----------
    p : MIFSProblem
        The data.
    W, V, B : ndarray
        Factors to start from.

    Yields
    ------
    W, V, B : ndarray
        New factors.
    value : float
        The objective, with row norms ``sqrt(|w|² + 1e-12)``.
    """
    D = np.ones(W.shape[0])
    ridge = ReweightedRidge(p.X)
    while True:
        V = _solve_V(p, W, V, B)
        try:
            B = solve(V.T @ V + 1e-10 * np.eye(V.shape[1]), V.T @ p.Y, assume_a="pos")
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "The factors of MIFS are singular; very large feature values cause "
                "this. Standardize the features."
            ) from error
        W = ridge.solve(p.g * D, V)
        D = row_penalties(W, _SMOOTH)
        yield (W, V, B), mifs_objective(p, W, V, B, _SMOOTH)


def _solve_V(p: MIFSProblem, W: Array, V: Array, B: Array) -> Array:
    """Solve ``(I + b L) V + V (a B B') = X W + a Y B'``.

    In the eigenvectors of ``B B'`` the columns part, each with its own shift, and
    conjugate gradients on all columns at once need few steps: the shifts are at least
    one.
    """
    m, E = np.linalg.eigh(p.a * (B @ B.T))
    shift = 1 + np.maximum(m, 0)
    right = (np.asarray(p.X @ W) + p.a * (p.Y @ B.T)) @ E
    diagonal = shift + p.b * p.L.diagonal()[:, None]

    def apply(Z: Array) -> Array:
        return shift * Z + p.b * (p.L @ Z)

    Z = conjugate_gradients(
        apply, right, start=V @ E, diagonal=diagonal, tol=1e-13, max_iter=500
    )
    return Z @ E.T


def mifs_gd(
    p: MIFSProblem, W: Array, V: Array, B: Array, step: float | None
) -> MIFSSweeps:
    """Gradient steps in V, then B, then W, as public programs take them.

    Source: MIFS, gradient steps.

    Parameters
    ----------
    p : MIFSProblem
        The data.
    W, V, B : ndarray
        Factors to start from.
    step : float or None
        Size of the steps; None halves it while the objective would rise.

    Yields
    ------
    W, V, B : ndarray
        New factors.
    value : float
        The objective.
    """
    D = np.ones(W.shape[0])
    size = 1.0 if step is None else step
    value = mifs_objective(p, W, V, B)
    with np.errstate(over="ignore", invalid="ignore"):
        while True:
            new = _gd_sweep(p, W, V, B, D, size)
            following = mifs_objective(p, *new)
            while step is None and not following <= value and size > 1e-16:
                size /= 2
                new = _gd_sweep(p, W, V, B, D, size)
                following = mifs_objective(p, *new)
            size = 1.2 * size if step is None else size
            (W, V, B), value = new, following
            D = row_penalties(W, EPS)
            if not np.isfinite(value):
                raise ValueError(
                    f"The gradient steps of size {step} diverge; use a smaller step, "
                    'step=None or solver="als".'
                )
            yield (W, V, B), value


def _gd_sweep(
    p: MIFSProblem, W: Array, V: Array, B: Array, D: Array, s: float
) -> tuple[Array, Array, Array]:
    XW = np.asarray(p.X @ W)
    V = V - s * ((V - XW) + p.a * ((V @ B - p.Y) @ B.T) + p.b * (p.L @ V))
    B = B - s * (V.T @ (V @ B - p.Y))
    W = W - s * (np.asarray(p.X.T @ (XW - V)) + p.g * D[:, None] * W)
    return W, V, B
