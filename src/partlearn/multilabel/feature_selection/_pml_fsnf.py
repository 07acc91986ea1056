"""PML-FSNF: regression on a label distribution from prototypes of denoised rows."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from partlearn._math.graphs import rebuilding_graph
from partlearn._math.neighbors import self_neighbors
from partlearn._math.simplex import project_simplex
from partlearn._progress import iterations
from partlearn._sizes import SIZES
from partlearn._sklearn_compat import Interval, StrOptions
from partlearn._typing import Array, Mask
from partlearn.base import Columns
from partlearn.multilabel.feature_selection._base import (
    EPS,
    PMLSelector,
    ReweightedRidge,
)

_RATE, _RHO, _GROWTH, _MOST = 1e-6, 1e-4, 1.1, 1e10  # of the released loop
_FINAL = 10  # iterations of the final regression
_ZERO = 1e-8  # row norms below it are rounding: their order would be noise


class PMLFSNF(PMLSelector):
    """Select features under label noise and feature noise.

    Rows are denoised by their neighbors. Candidates become a label distribution by the
    similarity of denoised rows with a prototype of each label, and features are ranked
    by a row-sparse regression of this distribution.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=0.2
        Number of features, or their fraction (rounded up), or all.
    alpha : float or None, default=None
        Weight of the row sparsity; None means ``8 n_samples / n_features``.
    beta : float, default=0.5
        Weight of the label correlations, used by ``loop="release"``.
    gamma : float, default=2.0
        Weight of the pseudo-distribution, used by ``loop="release"``.
    delta : float, default=1.0
        Weight of labels outside the candidates, used by ``loop="release"``.
    eps : float, default=4.0
        Weight of the sparsity of the graph, used by ``loop="release"``.
    n_neighbors : int, default=10
        Neighbors that rebuild a row.
    loop : {"none", "release"}, default="none"
        "release" runs the loop of the released program, whose steps are so short that
        it hardly changes anything; "none" leaves it out.
    final_weight : {"alpha", "ratio"}, default="alpha"
        Weight of the final regression: `alpha`, or the number of rows divided by that
        of features and the constant, as a second copy in the program has.
    max_iter : int, default=100
        Maximum number of iterations of the released loop.
    tol : float, default=1e-3
        Relative change of the loss at which the released loop stops.
    random_state : int, RandomState or None, default=None
        Seed of the order of equal scores.
    scale : bool, default=True
        Bring every column of X to [-1, 1] first.
    must_keep, exclude : sequence of int, str or bool, default=None
        Columns to select in any case, and columns never to select.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Squared norms of the rows of ``W``; zero where the norm is below 1e-8.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    selected_ : ndarray of shape (n_selected,)
        Indices of the selected features, best first.
    support_ : ndarray of bool, shape (n_features_in_,)
        Mask of the selected features.
    weights_ : ndarray of shape (n_features_in_ + 1, n_classes)
        ``W``, the constant last.
    labels_ : ndarray of shape (n_samples, n_classes)
        Label distribution, zero outside the candidates.
    graph_ : CSR array of shape (n_samples, n_samples)
        Weights that rebuild each row from its neighbors, before the loop.
    loss_ : ndarray
        Loss after each iteration of the released loop; empty without it.
    objective_ : ndarray of shape (10,)
        Value of the final regression after every iteration.
    n_iter_ : int
        Number of iterations of the final regression.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    PMFSLRS : Low-rank labels and sparse noise.

    Notes
    -----
    The released loop moves the distribution by about 1e-5 and its weights are fitted
    anew afterwards, so the default leaves it out. The distribution separates true from
    false candidates little. Rows without candidates make the program's prototypes
    undefined; here they are skipped.

    The authors' weight, ``8 n / d``, removes every feature where these are few; `fit`
    then raises, and a smaller `alpha` helps.

    One neighbor search and one d x d solve for each of ten iterations, or n x n where
    there are fewer rows. The released loop takes O(n² (d + l)) an iteration.

    References
    ----------
    Wu, Li and Zou. Partial multi-label feature selection with feature noise. Pattern
    Recognition 162, 2025, article 111310.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel import PMLFSNF, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 8))
    >>> candidates = add_noise_labels(X[:, :3] > 0.6, 1, random_state=0)
    >>> selector = PMLFSNF(3, alpha=1.0, random_state=0).fit(X, candidates)
    >>> sorted(selector.selected_.tolist())
    [0, 1, 2]
    """

    # Seen on zeros and ones; probably of equally near rows the first are neighbors.
    _ties_follow = ("rows",)
    _non_negative = False
    _symmetric = True
    _least_rows = 2
    _parameter_constraints = PMLSelector._parameter_constraints | {
        "alpha": [Interval(Real, 0, None, closed="neither"), None],
        "delta": [Interval(Real, 0, None, closed="left")],
        "eps": [Interval(Real, 0, None, closed="left")],
        "loop": [StrOptions({"none", "release"})],
        "final_weight": [StrOptions({"alpha", "ratio"})],
    }

    def __init__(
        self,
        n_features_to_select: float | int | None = 0.2,
        *,
        alpha: float | None = None,
        beta: float = 0.5,
        gamma: float = 2.0,
        delta: float = 1.0,
        eps: float = 4.0,
        n_neighbors: int = 10,
        loop: str = "none",
        final_weight: str = "alpha",
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
        scale: bool = True,
        must_keep: Columns = None,
        exclude: Columns = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.delta = delta
        self.eps = eps
        self.n_neighbors = n_neighbors
        self.loop = loop
        self.final_weight = final_weight
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.scale = scale
        self.must_keep = must_keep
        self.exclude = exclude

    def _fit(self, X: Any, C: Mask, rng: np.random.RandomState) -> None:
        X = X.toarray() if sp.issparse(X) else X
        n, d = X.shape
        rows = np.column_stack([X, np.ones(n)])
        S = C.astype(np.float64)
        near = self_neighbors(rows, min(self.n_neighbors, n - 1))
        self.graph_ = rebuilding_graph(rows, near)
        alpha = 8 * n / d if self.alpha is None else self.alpha
        W = np.linalg.solve(rows.T @ rows + 2 * np.eye(d + 1), rows.T @ S)
        D = label_distribution(np.asarray(self.graph_ @ rows), S, C)
        self.loss_ = np.empty(0)
        if self.loop == "release":
            W, D = self._release(rows, C, W, D, alpha)
        D = D * S
        weight = alpha if self.final_weight == "alpha" else n / (d + 1)
        W, objective = sparse_regression(rows, D, W, weight)
        self.weights_, self.labels_ = W, D
        self.objective_, self.n_iter_ = np.array(objective), _FINAL
        scores = row_norms(W[:-1], squared=True)
        slope = float(row_norms(X.T @ (D - D.mean(axis=0))).max())
        if scores.max() < _ZERO**2 and slope > _ZERO:
            given = "8 n / d, the published default" if self.alpha is None else "given"
            free = self.final_weight == "alpha"
            name = f"`alpha` ({given})" if free else 'final_weight="ratio"'
            advice = "Set `alpha`" if free else 'Set final_weight="alpha" and `alpha`'
            raise ValueError(
                f"PML-FSNF removed every feature: the weight {weight:.3g} by {name} is "
                f"too large for {n} rows of {d} features. {advice} well below "
                f"{slope:.2g}."
            )
        self._rank(np.where(scores < _ZERO**2, 0.0, scores), rng, 0.0)

    def _release(
        self, rows: Array, C: Mask, W: Array, D: Array, alpha: float
    ) -> tuple[Array, Array]:
        """Run the released loop."""
        if len(rows) > SIZES.fsnf_rows:
            raise ValueError(
                f'loop="release" holds matrices of all pairs of rows; {len(rows)} rows '
                f'are more than {SIZES.fsnf_rows}. Use loop="none".'
            )
        weights = alpha, self.beta, self.gamma, self.delta, self.eps
        problem = FSNFProblem(rows, C, label_correlations(C), weights)
        state = FSNFState(self.graph_.toarray(), D, D, W)
        loss: list[float] = []
        for t in iterations("PML-FSNF", self.max_iter, start=1):
            state, value = fsnf_iteration(problem, state, t < self.max_iter)
            loss.append(value)
            if t > 3 and abs(loss[-2] - value) < self.tol * abs(value):
                break
        self.loss_ = np.array(loss)
        return state.W, state.D


class FSNFProblem(NamedTuple):
    """Rows with a constant, candidates, label correlations, and the weights."""

    X: Array
    S: Mask
    L: Array
    weights: tuple[float, float, float, float, float]


class FSNFState(NamedTuple):
    """Graph, distribution, pseudo-distribution, weights, and the copy of the graph."""

    A: Array
    D: Array
    Sd: Array
    W: Array
    C: Array | float = 0.0
    M: Array | float = 0.0
    rho: float = _RHO


def label_correlations(C: Mask) -> Array:
    """Share of a label's rows that have another as well, without a diagonal.

    Source: PMLFSNF, label correlation.
    """
    S = C.astype(np.float64)
    B = S.T @ S
    count = np.diag(B)[:, None].copy()
    np.fill_diagonal(B, 0.0)
    return np.divide(B, count, out=np.zeros_like(B), where=count > 0)


def label_distribution(Z: Array, D: Array, S: Mask) -> Array:
    """Similarity of rows with a prototype of each label, as a distribution.

    Source: PMLFSNF, pseudo-distribution.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Denoised rows.
    D : ndarray of shape (n, l)
        Weights of the labels.
    S : ndarray of bool, shape (n, l)
        Candidates.

    Returns
    -------
    distribution : ndarray of shape (n, l)
        Rows sum to one.
    """
    total = D.sum(axis=1, keepdims=True)
    weight = np.divide(D**2, total, out=np.zeros_like(D), where=total != 0)
    mass = weight.sum(axis=0)[:, None]
    prototypes = weight.T @ Z
    prototypes = np.divide(
        prototypes, mass, out=np.zeros_like(prototypes), where=mass != 0
    )
    lengths = np.outer(row_norms(Z), row_norms(prototypes))
    products = Z @ prototypes.T
    c = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    P = project_simplex(c)
    missing = (~S).sum(axis=1)
    usable = S.any(axis=1) & (missing > 0)
    away = np.where(usable, 1 / (S.shape[1] * np.maximum(missing, 1)), 0.0)
    return project_simplex(P - away[:, None] * ~S)


def fsnf_iteration(
    problem: FSNFProblem, state: FSNFState, renew: bool
) -> tuple[FSNFState, float]:
    """Short gradient steps of graph, distribution and weights, as released.

    Source: PMLFSNF, released loop.

    Parameters
    ----------
    problem : FSNFProblem
        Rows, candidates and weights.
    state : FSNFState
        Blocks before.
    renew : bool
        Whether the pseudo-distribution is computed anew.

    Returns
    -------
    state : FSNFState
        Blocks after.
    loss : float
        The released loss.
    """
    X, S, L, (alpha, beta, gamma, delta, eps) = problem
    A, D, Sd, W, C, M, rho = state
    norms = row_norms(W)
    b = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
    fit, apart = (A @ X) @ W - D, (A @ D) @ L - D
    slope = (fit @ W.T) @ X.T + beta * (apart @ L.T) @ D.T
    slope += (A @ X - X) @ X.T + rho * (A + M - C)
    A = A - _RATE * slope
    np.fill_diagonal(A, 0.0)
    shifted = A + M
    C = np.sign(shifted) * np.maximum(np.abs(shifted) - eps / rho, 0)
    rho = min(_GROWTH * rho, _MOST)
    M = shifted - C
    AX = A @ X
    fit, apart = AX @ W - D, (A @ D) @ L - D
    down = beta * A.T @ (apart @ L.T) - fit - beta * apart
    D = D - _RATE * (down + gamma * (D - Sd) + delta * ~S * D)
    W = W - _RATE * (AX.T @ (AX @ W - D) + 2 * alpha * b[:, None] * W)
    if renew:
        D = D * S
        Sd = label_distribution(AX, D, S)
    A = np.clip(A, 0, 1)
    loss = np.sum((X @ W - D) ** 2) / 2 + alpha * np.sum(b * row_norms(W, squared=True))
    loss += beta / 2 * np.sum(((A @ D) @ L - D) ** 2) + gamma / 2 * np.sum(
        (D - Sd) ** 2
    )
    loss += delta / 2 * np.sum((~S * D) ** 2) + np.sum((A @ X - X) ** 2) / 2
    loss += eps * np.abs(A).sum(axis=0).max()
    return FSNFState(A, D, Sd, W, C, M, rho), float(loss)


def sparse_regression(
    X: Array, D: Array, W: Array, weight: float
) -> tuple[Array, list[float]]:
    """Ten reweighted ridge regressions: ``|XW - D|² / 2 + weight sum |w_i|``.

    Source: PMLFSNF, final weights.
    """
    ridge, objective = ReweightedRidge(X), []
    for _ in range(_FINAL):
        W = ridge.solve(weight / np.maximum(row_norms(W), EPS), D)
        fit = float(np.sum((X @ W - D) ** 2)) / 2
        objective.append(fit + weight * float(row_norms(W).sum()))
    return W, objective
