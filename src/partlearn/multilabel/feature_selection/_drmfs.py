"""DRMFS: robust regression with graphs of features and of labels."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from partlearn._sklearn_compat import StrOptions
from partlearn._typing import Array, Mask
from partlearn.base import Columns
from partlearn.graphs import degrees, heat_graph
from partlearn.multilabel.feature_selection._base import EPS, PMLSelector, row_penalties

__all__ = ["DRMFS"]

_CAP = 1e6  # largest weight of a sample that is fitted exactly


class DRMFS(PMLSelector):
    """Select features by robust regression, smooth over features and labels.

    Non-negative coefficients ``W`` predict the candidates with a loss that grows
    linearly in a sample's residual, so that outlying samples count less. Similar
    features get similar coefficients, and so do similar labels; rows are sparse.

    This is a reconstruction: neither the paper's text nor a program was available, and
    no published figure can be expected from it exactly.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=0.2
        Number of features; or the fraction of them, rounded up; or all.
    alpha : float, default=1.0
        Weight of the smoothness over the graph of features.
    beta : float, default=1.0
        Weight of the smoothness over the graph of labels.
    gamma : float, default=1.0
        Weight of the row-sparsity of ``W``.
    loss : {"l21", "fro"}, default="l21"
        Sum of the residuals' norms, or of their squares (cheaper, not robust).
    n_neighbors : int, default=5
        Neighbours in the graphs.
    init : dict of W, default=None
        Coefficients to start from, of shape (n_features, n_classes).
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-4
        Stop when the relative change of the objective is below `tol`.
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
        Place of each feature, 1 is best.
    selected_ : ndarray of shape (n_selected,)
        Indices of the selected features, best first.
    support_ : ndarray of bool, shape (n_features_in_,)
        Mask of the selected features.
    weights_ : ndarray of shape (n_features_in_, n_classes)
        ``W``.
    labels_ : ndarray of shape (n_samples, n_classes)
        ``X W`` on the candidates: what the regression makes of them.
    objective_ : ndarray of shape (n_iter_,)
        Value after every update.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where `X` had any.

    See Also
    --------
    MIFS : Regresses on a factor of the labels.

    Notes
    -----
    Widths of the heat kernels are the median distances of neighbours: columns are far
    apart, and with the literal width of 1 the graphs would be numerically empty.

    An update costs O(nnz(X) l) for the robust loss, and O(d² l) after one product for
    the squared one where d is at most n; graphs stay sparse.

    The start is drawn by place: another order of the labels is another start.

    References
    ----------
    Juncheng Hu, Yonghao Li, Wanfu Gao and Ping Zhang. Robust multi-label feature
    selection with dual-graph regularization. Knowledge-Based Systems 203, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel import DRMFS
    >>> from partlearn.multilabel import add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(100, 8))
    >>> candidates = add_noise_labels(X[:, :3] > 0.6, 1, random_state=0)
    >>> selector = DRMFS(3, random_state=0).fit(X, candidates)
    >>> sorted(selector.selected_.tolist())
    [0, 1, 2]
    """

    # A weight for every label is drawn to start.
    _order_matters = ("classes",)
    _parameter_constraints = PMLSelector._parameter_constraints | {
        "loss": [StrOptions({"l21", "fro"})],
    }

    def __init__(
        self,
        n_features_to_select: float | int | None = 0.2,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1.0,
        loss: str = "l21",
        n_neighbors: int = 5,
        init: Mapping[str, Any] | None = None,
        max_iter: int = 1000,
        tol: float = 1e-4,
        random_state: Any = None,
        scale: bool = False,
        must_keep: Columns = None,
        exclude: Columns = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.loss = loss
        self.n_neighbors = n_neighbors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.scale = scale
        self.must_keep = must_keep
        self.exclude = exclude

    def _fit(self, X: Any, C: Mask, rng: np.random.RandomState) -> None:
        Y = C.astype(np.float64)
        d, l = X.shape[1], C.shape[1]  # noqa: E741
        (W,) = self._start({"W": (d, l)}, rng)
        columns = sp.csr_array(X.T) if sp.issparse(X) else np.ascontiguousarray(X.T)
        Sf, Sl = (
            heat_graph(points, self.n_neighbors, t="median")
            for points in (columns, np.ascontiguousarray(Y.T))
        )
        graphs = Graphs.of(Sf, Sl)
        w = (self.alpha, self.beta, self.gamma)
        robust = self.loss == "l21"

        def sweeps(W: Array) -> Iterator[tuple[Array, float]]:
            while True:
                W = drmfs_update(X, Y, W, graphs, *w, robust=robust)
                yield W, drmfs_objective(X, Y, W, graphs, *w, robust=robust)

        self.weights_ = W = self._descend(
            sweeps(W), max_iter=self.max_iter, tol=self.tol
        )
        self.labels_ = np.asarray(X @ W) * C
        self._rank(row_norms(W), rng, 1 / max(float(X.max()), 1.0))


class Graphs(NamedTuple):
    """Weights and degrees of the graphs of features and of labels."""

    Sf: sp.csr_array
    Af: Array
    Sl: sp.csr_array
    Al: Array

    @classmethod
    def of(cls, Sf: sp.csr_array, Sl: sp.csr_array) -> Graphs:
        """Graphs with their degrees."""
        return cls(Sf, degrees(Sf), Sl, degrees(Sl))


def drmfs_update(
    X: Any,
    Y: Array,
    W: Array,
    graphs: Graphs,
    a: float,
    b: float,
    g: float,
    *,
    robust: bool = True,
) -> Array:
    """One multiplicative update of the coefficients; never raises the objective.

    Source: DRMFS, multiplicative update (reconstructed).

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Features, not negative.
    Y : ndarray of shape (n, l)
        Candidates.
    W : ndarray of shape (d, l)
        Current coefficients.
    graphs : Graphs
        Graphs of features and labels.
    a, b, g : float
        Weights of the graphs and of the row-sparsity.
    robust : bool, default=True
        Whether the loss sums norms of residuals, not their squares.

    Returns
    -------
    W : ndarray of shape (d, l)
        New coefficients.
    """
    XW = np.asarray(X @ W)
    D1 = np.ones((len(Y), 1))
    if robust:
        E = XW - Y
        D1 = np.minimum(row_penalties(E, EPS), _CAP)[:, None]
    D2 = row_penalties(W, EPS)
    up = np.asarray(X.T @ (D1 * Y)) + a * (graphs.Sf @ W) + b * (W @ graphs.Sl)
    down = np.asarray(X.T @ (D1 * XW)) + (a * graphs.Af + g * D2)[:, None] * W
    return W * up / (down + b * W * graphs.Al + EPS)


def drmfs_objective(
    X: Any,
    Y: Array,
    W: Array,
    graphs: Graphs,
    a: float,
    b: float,
    g: float,
    *,
    robust: bool = True,
) -> float:
    """``|XW - Y|_21 + a Tr(W'LfW) + b Tr(W Ll W') + g |W|_21``; see `drmfs_update`.

    Source: DRMFS, objective (reconstructed).
    """
    E = np.asarray(X @ W) - Y
    value = row_norms(E).sum() if robust else np.sum(E**2)
    squares = W**2
    value += a * (graphs.Af @ squares.sum(axis=1) - np.vdot(graphs.Sf @ W, W))
    value += b * (squares.sum(axis=0) @ graphs.Al - np.vdot(W @ graphs.Sl, W))
    return float(value + g * row_norms(W).sum())
