"""DRMFS: robust regression with graphs of features and of labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from partlearn._math.graphs import degrees, heat_graph
from partlearn._sklearn_compat import StrOptions
from partlearn._typing import Array, Mask
from partlearn.base import Columns
from partlearn.multilabel.feature_selection._base import EPS, PMLSelector, row_penalties

_CAP = 1e6  # largest weight of a sample that is fitted exactly


class DRMFS(PMLSelector):
    """Select features by robust regression, smooth over features and labels.

    Non-negative coefficients ``W`` predict the candidates with a loss that grows
    linearly in the residual of a sample, so that outliers count less. Similar features
    and similar labels get similar coefficients; the coefficients are row-sparse.

    This is a reconstruction: neither the text of the paper nor a program was available.
    Published figures may not be reproduced exactly.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=0.2
        Number of features, or their fraction (rounded up), or all.
    alpha : float, default=1.0
        Weight of the smoothness over the graph of features.
    beta : float, default=1.0
        Weight of the smoothness over the graph of labels.
    gamma : float, default=1.0
        Weight of the row-sparsity of ``W``.
    loss : {"l21", "fro"}, default="l21"
        Sum of the residuals' norms, or of their squares (cheaper, not robust).
    n_neighbors : int, default=5
        Neighbors in the graphs.
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
        Rank of each feature; 1 is the best.
    selected_ : ndarray of shape (n_selected,)
        Indices of the selected features, best first.
    support_ : ndarray of bool, shape (n_features_in_,)
        Mask of the selected features.
    weights_ : ndarray of shape (n_features_in_, n_classes)
        ``W``.
    labels_ : ndarray of shape (n_samples, n_classes)
        Fitted values ``X W`` on the candidates.
    objective_ : ndarray of shape (n_iter_,)
        Value after every update.
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
    MIFS : Regresses on a factor of the labels.

    Notes
    -----
    The width of each heat kernel is the median distance of neighbors. Columns are far
    apart, and with the width of 1 in the paper the graphs would be numerically empty.

    An update costs O(nnz(X) l) for the robust loss, and O(d² l) after one product for
    the squared one where d is at most n; graphs stay sparse.

    The start is drawn by feature and label number, so the result depends on the order
    of features and labels.

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

    # A weight for every label and feature is drawn to start.
    _order_matters = ("classes", "columns")
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
        (W,) = self._start({"W": (X.shape[1], C.shape[1])}, rng)
        columns = sp.csr_array(X.T) if sp.issparse(X) else np.ascontiguousarray(X.T)
        Sf, Sl = (
            heat_graph(points, self.n_neighbors, t="median")
            for points in (columns, np.ascontiguousarray(Y.T))
        )
        terms = self.alpha, self.beta, self.gamma, self.loss == "l21"
        problem = DRMFSProblem(X, Y, Sf, degrees(Sf), Sl, degrees(Sl), *terms)
        W, _ = self._descend(drmfs_sweeps(problem, W), tol=self.tol)
        self.weights_ = W
        self.labels_ = np.asarray(X @ W) * C
        self._rank(row_norms(W), rng, 1 / max(float(X.max()), 1.0))


class DRMFSProblem(NamedTuple):
    """Features, candidates, graphs of features and labels, weights of the terms.

    ``Af`` and ``Al`` are the degrees of the graphs ``Sf`` and ``Sl``; ``robust`` says
    whether the loss sums norms of residuals, not their squares.
    """

    X: Any
    Y: Array
    Sf: sp.csr_array
    Af: Array
    Sl: sp.csr_array
    Al: Array
    a: float
    b: float
    g: float
    robust: bool = True


def drmfs_sweeps(p: DRMFSProblem, W: Array) -> Iterator[tuple[Array, float]]:
    """Multiplicative updates of the coefficients; none raises the objective.

    Source: DRMFS, multiplicative update (reconstructed).

    Parameters
    ----------
    p : DRMFSProblem
        Data, not negative, graphs and weights.
    W : ndarray of shape (d, l)
        Coefficients to start from.

    Yields
    ------
    W : ndarray of shape (d, l)
        New coefficients.
    objective : float
        Their value.
    """
    while True:
        XW = np.asarray(p.X @ W)
        D1 = np.ones((len(p.Y), 1))
        if p.robust:
            D1 = np.minimum(row_penalties(XW - p.Y, EPS), _CAP)[:, None]
        D2 = row_penalties(W, EPS)
        up = np.asarray(p.X.T @ (D1 * p.Y)) + p.a * (p.Sf @ W) + p.b * (W @ p.Sl)
        down = np.asarray(p.X.T @ (D1 * XW)) + (p.a * p.Af + p.g * D2)[:, None] * W
        W = W * up / (down + p.b * W * p.Al + EPS)
        yield W, drmfs_objective(p, W)


def drmfs_objective(p: DRMFSProblem, W: Array) -> float:
    """``|XW - Y|_21 + a Tr(W'LfW) + b Tr(W Ll W') + g |W|_21``.

    Source: DRMFS, objective (reconstructed).
    """
    E = np.asarray(p.X @ W) - p.Y
    value = row_norms(E).sum() if p.robust else np.sum(E**2)
    squares = W**2
    value += p.a * (p.Af @ squares.sum(axis=1) - np.vdot(p.Sf @ W, W))
    value += p.b * (squares.sum(axis=0) @ p.Al - np.vdot(W @ p.Sl, W))
    return float(value + p.g * row_norms(W).sum())
