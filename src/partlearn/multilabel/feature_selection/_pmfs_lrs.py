"""PMFS-LRS: low-rank labels, sparse noise, and a manifold."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from sklearn.utils.extmath import row_norms

from partlearn._math.graphs import heat_graph, laplacian
from partlearn._sklearn_compat import Interval, StrOptions
from partlearn._typing import Array, Mask
from partlearn.base import Columns
from partlearn.multilabel._proximal import singular_threshold, soft_threshold
from partlearn.multilabel.feature_selection._base import (
    PMLSelector,
    ReweightedRidge,
    row_penalties,
)

_SMOOTH = 1e-12  # row norms are sqrt(|w|² + this)
_PACKAGE_MU = 1e8
_LEAST_ITER = 5


class PMFSLRS(PMLSelector):
    """Select features by low-rank labels after removing sparse noise.

    The candidates are split into labels F and noise N. F has low rank, is smooth on a
    graph of the rows and close to a row-sparse regression on the features; N is sparse.
    The score of a feature is the norm of its coefficients.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=0.2
        Number of features, or their fraction (rounded up), or all.
    alpha : float, default=1.0
        Weight of the nuclear norm of the labels.
    beta : float, default=1.0
        Weight of the absolute values of the noise.
    lam : float, default=1.0
        Weight of the row norms of the coefficients.
    mu : float, default=1.0
        Weight of ``|Y - F - N|² / 2``, which ties labels and noise to the candidates.
    n_neighbors : int, default=20
        Neighbors in the graph of rows.
    t : float or "median", default=1.0
        Width of the heat kernel; 1 suits features in [0, 1].
    variant : {"derived", "package"}, default="derived"
        "derived" follows the objective. "package" repeats the authors' program, for
        comparison: ``mu = 1e8``, steps by a Frobenius norm, and a threshold that drops
        negative noise; its labels hardly leave the candidates.
    max_iter : int, default=500
        Maximum number of iterations.
    tol : float, default=1e-4
        Stop when the relative change of the objective is below `tol`.
    random_state : int, RandomState or None, default=0
        Order of equal scores.
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
        ``F`` on the candidates.
    weights_ : ndarray of shape (n_features_in_, n_classes)
        ``W``.
    objective_ : ndarray of shape (n_iter_,)
        Value after every iteration.
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
    MIFS : Factorizes the candidates as if they were true.
    TRACE : Row-sparse path on denoised labels.

    Notes
    -----
    Described after the authors' program. With its ``mu = 1e8`` a step moves the labels
    by about 1e-8 of the way, so that F stays at the candidates whatever the weights
    are; the default here lets them move, and steps by the spectral bound
    ``2 + 2 lambda_max + mu``. Nothing of size n x n is formed where there are fewer
    features than rows; an iteration costs O(n d l + d³ + n l²).

    References
    ----------
    Zhenzhen Sun, Zexiang Chen, Jinghua Liu, Yewang Chen and Yuanlong Yu. Partial
    multi-label feature selection via low-rank and sparse factorization with manifold
    learning. Knowledge-Based Systems, 2024, 111899.
    https://doi.org/10.1016/j.knosys.2024.111899

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel import PMFSLRS, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(100, 12))
    >>> candidates = add_noise_labels(X[:, :3] > 0.6, 1, random_state=0)
    >>> sorted(PMFSLRS(3).fit(X, candidates).selected_.tolist())
    [0, 1, 2]
    """

    _non_negative = False
    _least_rows = 2
    _parameter_constraints = PMLSelector._parameter_constraints | {
        "lam": [Interval(Real, 0, None, closed="neither")],
        "variant": [StrOptions({"derived", "package"})],
    }

    def __init__(
        self,
        n_features_to_select: float | int | None = 0.2,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        lam: float = 1.0,
        mu: float = 1.0,
        n_neighbors: int = 20,
        t: float | str = 1.0,
        variant: str = "derived",
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: Any = 0,
        scale: bool = False,
        must_keep: Columns = None,
        exclude: Columns = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.beta = beta
        self.lam = lam
        self.mu = mu
        self.n_neighbors = n_neighbors
        self.t = t
        self.variant = variant
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.scale = scale
        self.must_keep = must_keep
        self.exclude = exclude

    def _fit(self, X: Any, C: Mask, rng: np.random.RandomState) -> None:
        package = self.variant == "package"
        problem = LRSProblem(
            X,
            C.astype(np.float64),
            laplacian(heat_graph(X, self.n_neighbors, t=self.t)),
            self.alpha,
            self.beta,
            self.lam,
            _PACKAGE_MU if package else self.mu,
        )
        sweeps = lrs_sweeps(problem, package=package)
        (W, F), _ = self._descend(sweeps, tol=self.tol, least_iter=_LEAST_ITER)
        self.weights_ = W
        self.labels_ = F * C
        self._rank(row_norms(W), rng, 1e-100)


class LRSProblem(NamedTuple):
    """Features, candidates, graph Laplacian, and the weights of the terms."""

    X: Any
    Y: Array
    L: sp.csr_array
    alpha: float
    beta: float
    lam: float
    mu: float


def lrs_objective(p: LRSProblem, W: Array, F: Array, N: Array) -> float:
    """``|H(XW - F)|² + tr(F'LF) + alpha |F|_* + beta |N|_1 + lam |W|_21 + coupling``.

    Source: PMFSLRS, objective.

    The coupling is ``mu / 2 |Y - F - N|²``; H takes column means out.
    """
    rest = centered(np.asarray(p.X @ W) - F)
    value = np.sum(rest**2) + np.vdot(p.L @ F, F)
    value += p.alpha * np.linalg.norm(F, "nuc") + p.beta * np.abs(N).sum()
    value += p.lam * np.sqrt(np.einsum("ij,ij->i", W, W) + _SMOOTH).sum()
    return float(value + p.mu / 2 * np.sum((p.Y - F - N) ** 2))


def centered(A: Array) -> Array:
    """Take the column means out."""
    return A - A.mean(axis=0)


def step_bound(p: LRSProblem, *, package: bool) -> float:
    """Lipschitz constant of the smooth part in F, or the program's bound of it."""
    if package:
        # |2H + 2L + mu I|_F, entry by entry without forming it.
        n = p.L.shape[0]
        diagonal = 2 * (1 - 1 / n) + 2 * p.L.diagonal() + p.mu
        off = sp.csr_array(p.L - sp.diags_array(p.L.diagonal()))
        squares = 4 * off.multiply(off).sum() - 8 / n * off.sum()
        squares += 4 / n**2 * (n * n - n) + np.sum(diagonal**2)
        return float(np.sqrt(squares))
    if not p.L.diagonal().any():  # no two rows are neighbors
        return 2 + p.mu
    if p.L.shape[0] < 20:
        return 2 + 2 * float(np.linalg.eigvalsh(p.L.toarray())[-1]) + p.mu
    start = np.random.RandomState(0).normal(size=p.L.shape[0])
    largest = eigsh(p.L, 1, v0=start, tol=1e-6, return_eigenvectors=False)
    return 2 + 2 * float(largest[0]) * (1 + 1e-6) + p.mu


def lrs_sweeps(
    p: LRSProblem, *, package: bool = False
) -> Iterator[tuple[tuple[Array, Array], float]]:
    """Iterations in W, F and N from ``F = Y``, ``N = 0``.

    Source: PMFSLRS, alternating updates.

    Yields
    ------
    factors : tuple of ndarray
        W and F.
    value : float
        The objective.
    """
    c = step_bound(p, package=package)
    ridge = ReweightedRidge(p.X, center=True)
    D = np.ones(p.X.shape[1])
    F, N = p.Y.copy(), np.zeros_like(p.Y)
    while True:
        W = ridge.solve(p.lam * D, F)
        D = row_penalties(W, _SMOOTH)
        slope = 2 * centered(F - np.asarray(p.X @ W)) + 2 * (p.L @ F)
        slope += p.mu * (F + N - p.Y)
        F = singular_threshold(F - slope / c, p.alpha / c)
        rest, t = p.Y - F, p.beta / p.mu
        N = soft_threshold(rest, t, one_sided=package)
        yield (W, F), lrs_objective(p, W, F, N)
