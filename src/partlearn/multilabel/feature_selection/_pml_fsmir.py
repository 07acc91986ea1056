"""PML-FSMIR: candidates rebuilt by mutual information, then a factorized regression."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from math import isqrt
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from partlearn._sklearn_compat import Interval
from partlearn._typing import Array, Indices, Mask
from partlearn.base import Columns
from partlearn.multilabel.feature_selection._base import EPS, PMLSelector, row_penalties

_BINS = 5  # of equal width, in which rebuilt labels are compared


class PMLFSMIR(PMLSelector):
    """Select features by labels weighted by the mutual information of candidates.

    Candidates are weighted by their mutual information with the other candidates of
    their row. The resulting labels are regressed on a non-negative factorization of the
    features. The coefficients are row-sparse and similar for related labels.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=0.2
        Number of features, or their fraction (rounded up), or all.
    alpha : float, default=1.0
        Weight of the regression beside the factorization of the features.
    beta : float, default=1.0
        Weight of the graph of labels.
    gamma : float, default=1.0
        Weight of the row norms of the coefficients.
    n_latent : int or None, default=None
        Columns of the factor of the rows; by default the root of the number of
        features, rounded down.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-3
        Stop when the relative change of the objective is below `tol`.
    n_init : int, default=5
        Random starts, of which the one with the least objective is kept.
    random_state : int, RandomState or None, default=0
        Draws the starts and the order of equal scores.
    scale : bool, default=False
        Bring every column of X to [0, 1] first, since the factors are not negative.
    must_keep, exclude : sequence of int, str or bool, default=None
        Columns to select in any case, and columns never to select.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Squared norms of the rows of ``W``.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    selected_ : ndarray of shape (n_selected,)
        Indices of the selected features, best first.
    support_ : ndarray of bool, shape (n_features_in_,)
        Mask of the selected features.
    labels_ : ndarray of shape (n_samples, n_classes)
        Reconstructed labels, in [0, 1], zero outside the candidates.
    weights_ : ndarray of shape (n_features_in_, n_classes)
        ``W``.
    objective_ : ndarray of shape (n_iter_,)
        Value after every iteration.
    n_latent_ : int
        Columns of the factor of the rows.
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
    PMLFSLA : Aligns latent spaces of features and labels.

    Notes
    -----
    These are the first two stages of the method. The third stage finds representative
    labels by their connectivity and adapts the coefficients to them. It is not
    included, since its description was not completely available. The updates minimize
    ``|X - UV|² + alpha |UVW - T|² + beta tr(W (A - S) W') + gamma |W|_21``; the printed
    objective has the first weight elsewhere, in conflict with the printed updates.
    Mutual information is in nats; for the graph of labels the reconstructed labels have
    five bins of equal width.

    Products are taken from the small side: an iteration costs O(n d k + d k q).

    References
    ----------
    Wanfu Gao, Hanlin Pan, Qingqi Han and Kunpeng Liu. Noise-Resistant Label
    Reconstruction Feature Selection for Partial Multi-Label Learning. IJCAI 2025,
    arXiv 2506.04669.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel import PMLFSMIR, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(100, 12))
    >>> candidates = add_noise_labels(X[:, :3] > 0.6, 1, random_state=0)
    >>> PMLFSMIR(3).fit_transform(X, candidates).shape
    (100, 3)
    """

    # Of features with equal scores the first is taken.
    _ties_follow = ("columns",)
    _parameter_constraints = PMLSelector._parameter_constraints | {
        "alpha": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: float | int | None = 0.2,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1.0,
        n_latent: int | None = None,
        max_iter: int = 1000,
        tol: float = 1e-3,
        n_init: int = 5,
        random_state: Any = 0,
        scale: bool = False,
        must_keep: Columns = None,
        exclude: Columns = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_latent = n_latent
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.scale = scale
        self.must_keep = must_keep
        self.exclude = exclude

    def _fit(self, X: Any, C: Mask, rng: np.random.RandomState) -> None:
        T = rebuilt_labels(C)
        S = label_graph(T)
        problem = FSMIRProblem(
            X, T, S, S.sum(axis=1), self.alpha, self.beta, self.gamma
        )
        k = isqrt(X.shape[1]) if self.n_latent is None else self.n_latent
        starts = []
        for _ in range(self.n_init):
            V, w = rng.uniform(size=(k, X.shape[1])), rng.uniform(size=(X.shape[1], 1))
            # Rows start by their content and labels alike: their order is irrelevant.
            U = np.asarray(X @ V.T) / X.shape[1]
            starts.append(fsmir_sweeps(problem, U, V, np.tile(w, C.shape[1])))
        self.weights_, _ = self._descend(*starts, tol=self.tol)
        self.labels_ = T
        self.n_latent_ = k
        self._rank(row_norms(self.weights_) ** 2, rng, 1e-100)


class FSMIRProblem(NamedTuple):
    """Features, rebuilt labels, graph of labels, its row sums, weights of the terms."""

    X: Any
    T: Array
    S: Array
    A: Array
    alpha: float
    beta: float
    gamma: float


def mutual_information(joint: Array) -> Array:
    """Mutual information, in nats, of tables of counts in the last two axes."""
    p = joint / joint.sum(axis=(-2, -1), keepdims=True)
    product = p.sum(axis=-1, keepdims=True) * p.sum(axis=-2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log(p / product), 0.0)
    return np.maximum(terms.sum(axis=(-2, -1)), 0.0)


def pairwise_information(codes: Indices, n_values: int) -> Array:
    """Mutual information of all pairs of columns of codes, (q, q)."""
    one_hot = (codes[:, :, None] == np.arange(n_values)).astype(np.float64)
    flat = one_hot.reshape(len(codes), -1)
    q = codes.shape[1]
    joint = (flat.T @ flat).reshape(q, n_values, q, n_values).transpose(0, 2, 1, 3)
    return mutual_information(joint)


def rebuilt_labels(C: Mask) -> Array:
    """``(Y Z) * Y`` scaled to [0, 1], Z the mutual information of candidate columns.

    Source: PMLFSMIR, reconstruction of the labels.
    """
    Y = C.astype(np.float64)
    T = (Y @ pairwise_information(C.astype(np.intp), 2)) * Y
    low, high = T.min(), T.max()
    # Labels that say nothing about each other are taken as they are.
    return (T - low) / (high - low) if high > low else Y


def label_graph(T: Array) -> Array:
    """Mutual information of rebuilt labels in five bins of equal width."""
    codes = np.minimum((T * _BINS).astype(np.intp), _BINS - 1)
    return pairwise_information(codes, _BINS)


def fsmir_objective(p: FSMIRProblem, U: Array, V: Array, W: Array) -> float:
    """``|X - UV|² + alpha |UVW - T|² + beta tr(W (A - S) W') + gamma |W|_21``.

    Source: PMLFSMIR, objective.
    """
    total = p.X.multiply(p.X).sum() if sp.issparse(p.X) else np.vdot(p.X, p.X)
    value = total - 2 * np.vdot(np.asarray(p.X @ V.T), U)
    value += np.vdot(U.T @ U, V @ V.T)
    value += p.alpha * np.sum((U @ (V @ W) - p.T) ** 2)
    value += p.beta * (np.vdot(W * p.A, W) - np.vdot(W @ p.S, W))
    return float(value + p.gamma * row_norms(W).sum())


def fsmir_sweeps(
    p: FSMIRProblem, U: Array, V: Array, W: Array
) -> Iterator[tuple[Array, float]]:
    """Multiplicative updates of U, V and W; none raises the objective but by rounding.

    Source: PMLFSMIR, alternating updates.

    Yields
    ------
    W : ndarray of shape (d, q)
        Coefficients.
    value : float
        The objective.
    """
    while True:
        VW = V @ W
        up = np.asarray(p.X @ V.T) + p.alpha * (p.T @ VW.T)
        U = U * up / (U @ (V @ V.T + p.alpha * (VW @ VW.T)) + EPS)
        gram, UT = U.T @ U, U.T @ p.T
        up = np.asarray((p.X.T @ U).T) + p.alpha * (UT @ W.T)
        V = V * up / (gram @ V + p.alpha * (gram @ (V @ W)) @ W.T + EPS)
        D = row_penalties(W, EPS)[:, None]
        up = p.alpha * (V.T @ UT) + p.beta * (W @ p.S)
        down = p.alpha * (V.T @ (gram @ (V @ W))) + p.beta * W * p.A + p.gamma * D * W
        W = W * up / (down + EPS)
        yield W, fsmir_objective(p, U, V, W)
