"""FPML: labels and features share latent factors, which denoises the labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from math import ceil
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.utils import check_random_state

from partlearn._math.linalg import (
    Standardized,
    conjugate_gradients,
    standardize,
)
from partlearn._progress import iterations
from partlearn._sizes import SIZES
from partlearn._sklearn_compat import Interval, StrOptions
from partlearn._typing import Array, Mask
from partlearn.base import PARAMETERS
from partlearn.candidates import warn_at_max_iter, warn_caller
from partlearn.multilabel.classification._linear import BaseLinearScorer

_FEW = 0.1  # share of candidates below which their matrix is kept sparse


class FPML(BaseLinearScorer):
    """Feature-induced partial multi-label learning, reconstructed.

    The candidate matrix is approximated by a product of low rank, ``G S'``, whose
    factor ``G`` also explains the features. This removes false candidates that the
    features do not explain. A linear model is fitted to the denoised candidates.

    This is a reconstruction. No program of the authors is known; the placement of the
    weights and the size of the latent space are our interpretation.

    Parameters
    ----------
    n_latent : int, default=None
        Columns of ``G``, at most the number of rows and of labels. With as many columns
        as labels nothing is denoised, and `fit` warns. By default half the number of
        labels, rounded up, and at least 2.
    lam1 : float, default=1.0
        Weight of explaining the features.
    lam2 : float, default=1.0
        Weight of the linear model. With 0 it is fitted afterwards.
    lam3 : float, default=10.0
        Ridge penalty of the linear model.
    threshold : float or "count", default=0.5
        A label is predicted where its score is larger; "count" predicts for every row
        as many labels as a training row has candidates on average, rounded.
    intercept : bool, default=True
        Center features and labels, which amounts to a free intercept. The published
        method has none.
    balance : bool, default=True
        Divide `lam1` by the number of features, so that many features do not drown
        the labels.
    standardize : bool, default=True
        Divide every feature by its standard deviation.
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=1e-5
        Stop when the relative change of the objective is below `tol`.
    random_state : int, RandomState or None, default=None
        Seed of the start and of the order of equal feature scores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns.
    coef_ : ndarray of shape (n_classes, n_features_in_)
        Coefficients of the features as given.
    intercept_ : ndarray of shape (n_classes,)
        Added to the scores.
    threshold_ : float or None
        Threshold on the scores; None where labels are counted.
    n_labels_ : int
        Mean number of candidates, rounded: labels predicted where they are counted.
    scores_ : ndarray of shape (n_features_in_,)
        Importance of each feature: norm of its coefficients for standardized features.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    labels_ : ndarray of shape (n_samples, n_classes)
        Denoised labels: ``G S'`` on the candidates, clipped to [0, 1].
    objective_ : ndarray of shape (n_iter_,)
        Value after every sweep; it never rises.
    n_iter_ : int
        Number of iterations.
    n_latent_ : int
        Columns of ``G``.
    multilabel_ : bool
        Whether `fit` received a matrix or sets instead of one label per row.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    PMLLC : Learns a confidence for every candidate.
    partlearn.multilabel.PMLFSLA : A selector on latent factors.

    Notes
    -----
    Alternating least squares, every block solved exactly. ``G`` is made orthonormal
    before it is used, which changes no product, so that no block can be singular. A
    sweep costs O(nnz(X) k + nnz(C) k + (n + d + l) k²) after one factorization of the
    smaller of ``X'X`` and ``XX'``. With more than 5000 rows and features, conjugate
    gradients replace the factorization. Sparse features stay sparse. A row without
    candidates is explained by its features alone.

    The start is drawn by row and label number, so the result depends on their order.

    References
    ----------
    Guoxian Yu, Xia Chen, Carlotta Domeniconi, Jun Wang, Zhao Li, Zili Zhang and Xindong
    Wu. Feature-induced partial multi-label learning. ICDM 2018, 1398-1403.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.metrics import average_precision
    >>> from partlearn.multilabel import FPML, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 8))
    >>> Y = X[:, [0, 0, 1, 1]] > [0.3, 0.6, 0.3, 0.6]
    >>> model = FPML(random_state=0).fit(X, add_noise_labels(Y, 1, random_state=0))
    >>> bool(average_precision(Y, model.decision_function(X)) > 0.9)
    True
    >>> sorted(np.argsort(model.ranking_)[:2].tolist())
    [0, 1]
    """

    # Factors of rows and of labels are drawn to start.
    _order_matters = ("rows", "classes")
    _parameter_constraints = PARAMETERS | {
        "lam1": [Interval(Real, 0, None, closed="left")],
        "lam2": [Interval(Real, 0, None, closed="left")],
        "lam3": [Interval(Real, 0, None, closed="neither")],
        "threshold": [Real, StrOptions({"count"})],
        "intercept": ["boolean"],
        "balance": ["boolean"],
    }

    def __init__(
        self,
        n_latent: int | None = None,
        *,
        lam1: float = 1.0,
        lam2: float = 1.0,
        lam3: float = 10.0,
        threshold: float | str = 0.5,
        intercept: bool = True,
        balance: bool = True,
        standardize: bool = True,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.n_latent = n_latent
        self.lam1 = lam1
        self.lam2 = lam2
        self.lam3 = lam3
        self.threshold = threshold
        self.intercept = intercept
        self.balance = balance
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, X: Any, C: Mask) -> None:
        rng = check_random_state(self.random_state)
        X, Y = X.astype(np.float64), C.astype(np.float64)
        Y = sp.csr_array(Y) if C.mean() < _FEW else Y
        Z, mean, scale = standardize(X, center=self.intercept, scale=self.standardize)
        T, prior, _ = standardize(Y, center=self.intercept, scale=False)
        norms = Z.squared_norm(), T.squared_norm()
        self.n_latent_ = self._latent_size(C)
        lam1 = self.lam1 / (X.shape[1] if self.balance else 1)
        weights = lam1, self.lam2, self.lam3
        sizes = [(side, self.n_latent_) for side in C.shape]
        factors = FPMLFactors(*(rng.uniform(size=size) for size in sizes))
        solve = ridge_solver(Z, self.lam3 / (self.lam2 or 1.0))
        objective: list[float] = []
        for _ in iterations("fPML", self.max_iter):
            factors, value = fpml_sweep(Z, T, factors, weights, solve, norms)
            objective.append(value)
            before = objective[-2:][0]
            if len(objective) > 1 and abs(before - value) <= self.tol * abs(before):
                break
        else:
            warn_at_max_iter(self.max_iter, "The objective still changes")
        self.objective_, self.n_iter_ = np.array(objective), len(objective)
        W = solve(factors.G) @ factors.S.T
        self.labels_ = np.clip(factors.G @ factors.S.T + prior, 0, 1) * C
        self.n_labels_ = max(1, round(float(C.sum(axis=1).mean())))
        self.threshold_ = None if self.threshold == "count" else self.threshold
        self._set_weights(X, W, prior, mean, scale, rng)

    def _latent_size(self, C: Mask) -> int:
        n, l = C.shape  # noqa: E741
        if self.n_latent is None:
            return min(n, l, max(2, ceil(l / 2)))
        if self.n_latent >= l:
            warn_caller(
                f"n_latent={self.n_latent} is not less than the number of labels, {l}, "
                "so that the labels are not denoised."
            )
        return min(n, l, self.n_latent)


class FPMLFactors(NamedTuple):
    """Shared factor ``G`` (n, k) and label factor ``S`` (l, k)."""

    G: Array
    S: Array


def fpml_sweep(
    X: Standardized,
    C: Standardized,
    factors: FPMLFactors,
    weights: tuple[float, float, float],
    solve: Callable[[Array], Array],
    norms: tuple[float, float],
) -> tuple[FPMLFactors, float]:
    """Minimize over ``W``, ``S`` and ``F``, and ``G`` in turn.

    Source: FPML, alternating updates (reconstructed).

    The objective, with ``l1, l2, l3`` for the weights, is
    ``|C - GS'|² + l1 |X - GF'|² + l2 |XW - GS'|² + l3 |W|²``.

    Parameters
    ----------
    X : Standardized, shape (n, d)
        Features.
    C : Standardized, shape (n, l)
        Candidates.
    factors : FPMLFactors
        ``G`` and ``S``.
    weights : tuple of float
        Weights of the features, of the linear model and of its penalty.
    solve : callable
        Ridge regression of its argument on `X`, from `ridge_solver`.
    norms : tuple of float
        Squared norms of `X` and `C`.

    Returns
    -------
    factors : FPMLFactors
        New ``G`` and ``S``.
    value : float
        The objective at the new factors.
    """
    l1, l2, l3 = weights
    # An orthonormal G spans the same products, and makes S and F plain projections.
    G, R = np.linalg.qr(factors.G)
    old = factors.S @ R.T
    V = solve(G) if l2 else np.zeros((X.shape[1], G.shape[1]))  # W = V old'
    XV = X @ V
    S = (C.transposed_matmul(G) + l2 * old @ (XV.T @ G)) / (1 + l2)
    F = X.transposed_matmul(G)
    CS, XF = C @ S, X @ F
    SS, FF = S.T @ S, F.T @ F
    G = _right_solve(CS + l1 * XF + l2 * XV @ (old.T @ S), (1 + l2) * SS + l1 * FF)
    GG, outer = G.T @ G, old.T @ old
    value = norms[1] - 2 * np.vdot(CS, G) + np.vdot(GG, SS)
    value += l1 * (norms[0] - 2 * np.vdot(XF, G) + np.vdot(GG, FF))
    value += l2 * np.vdot(XV.T @ XV, outer) - 2 * l2 * np.vdot(XV.T @ G, old.T @ S)
    value += l2 * np.vdot(GG, SS) + l3 * np.vdot(V.T @ V, outer)
    return FPMLFactors(G, S), float(value)


def _right_solve(B: Array, M: Array) -> Array:
    """``B M^-1``; directions in which `M` vanishes matter to nothing and get zero."""
    values, vectors = np.linalg.eigh(M)
    floor = 4 * len(values) * np.finfo(np.float64).eps * max(values[-1], 0.0)
    keep = values > floor
    vectors, values = vectors[:, keep], values[keep]
    return (B @ vectors / values) @ vectors.T


def ridge_solver(X: Standardized, penalty: float) -> Callable[[Array], Array]:
    """Function that regresses (n, k) targets on `X`: ``(X'X + penalty I)^-1 X'G``.

    Parameters
    ----------
    X : Standardized, shape (n, d)
        Features.
    penalty : float
        Ridge penalty, positive.

    Returns
    -------
    solve : callable
        Coefficients of shape (d, k) of its argument; factors a matrix only once.
    """
    n, d = X.shape
    if min(n, d) > SIZES.fpml_direct:

        def apply(V: Array) -> Array:
            return X.transposed_matmul(X @ V) + penalty * V

        return lambda G: conjugate_gradients(apply, X.transposed_matmul(G))
    K = X.scatter() if d <= n else X.gram()
    K.flat[:: len(K) + 1] += penalty
    factor = scipy.linalg.cho_factor(K, overwrite_a=True)
    if d <= n:
        return lambda G: scipy.linalg.cho_solve(factor, X.transposed_matmul(G))
    return lambda G: X.transposed_matmul(scipy.linalg.cho_solve(factor, G))
