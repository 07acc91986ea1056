"""TRACE: a row-sparse path, denoised labels, and a second path.

A decomposition of the data serves all penalties of a path. Where both sides of the data
are large it takes far longer than the path, most of whose steps touch few columns:
then products with the data are used instead, and sparse data stay sparse.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.extmath import row_norms

from partlearn._math.linalg import Standardized, leading_rank, standardize, thin_svd
from partlearn._math.simplex import power_iteration
from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval
from partlearn._typing import Array, Indices, Mask
from partlearn.base import COUNT, Columns, count_features
from partlearn.candidates import warn_at_max_iter
from partlearn.multilabel._proximal import accelerated, shrink_rows
from partlearn.multilabel.feature_selection._base import PMLSelector

Product = Callable[[Array], Array]

_RIDGES = 10.0 ** np.arange(-4, 2)  # per row; the best by leave-one-out is taken
_MOST_FIRST = 200  # features in which labels are denoised
_LEAST_SCORE = 1e-3  # of a candidate, before it divides the rate of noise


class TRACE(PMLSelector):
    """Select features along a path of row-sparse regressions on denoised candidates.

    The labels are regressed on the features with a penalty on the norms of the rows of
    the coefficients, from large penalties to small ones. The score of a feature is the
    penalty at which it enters. This is done first on the candidates and then on
    denoised labels. The denoised labels weight each candidate by its leave-one-out
    ridge score in the features found first.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=0.2
        Number of features, or their fraction (rounded up), or all.
    mu : float, default=1.0
        Weight of the candidates: a label is ``(p + mu) / (1 + mu)`` for a candidate
        that is true with probability p. Infinity keeps the candidates unchanged.
    denoise_with : int or float, default=0.1
        Number or fraction of features, at most 200, in which the labels are denoised.
        With all features, the noise of useless ones enters the labels and the second
        path.
    noise_quantile : float, default=0.1
        Quantile of the scores of a label that estimates the rate at which it is a false
        candidate.
    n_penalties : int, default=100
        Penalties along the path, in equal ratios.
    path_ratio : float, default=1e-3
        Smallest penalty over the largest, at which all coefficients vanish.
    max_iter : int, default=500
        Maximum number of iterations for one penalty.
    tol : float, default=1e-4
        Relative change of the coefficients below which the next penalty is taken.
    random_state : int, RandomState or None, default=None
        Order of features with equal scores; nothing else is random.
    must_keep, exclude : sequence of int, str or bool, default=None
        Columns to select in any case, and columns never to select. Excluded columns are
        not used in the regression.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Penalty at which the feature enters, over the largest. For a feature that has
        not entered at the end, the norm of its correlation with the residual.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    selected_ : ndarray of shape (n_selected,)
        Indices of the selected features, best first.
    support_ : ndarray of bool, shape (n_features_in_,)
        Mask of the selected features.
    labels_ : ndarray of shape (n_samples, n_classes)
        Denoised labels, zero outside the candidates.
    noise_ : ndarray of shape (n_classes,)
        Estimated rate at which each label is a false candidate.
    ridge_ : float
        Penalty of the ridge scores, chosen by leave-one-out error.
    penalties_ : ndarray of shape (n_steps,)
        The penalties that were visited.
    objective_ : ndarray of shape (n_steps,)
        Minimum reached at each of them; it falls along the path.
    n_iter_ : int
        Largest number of iterations for one penalty.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    PMLFSLA : Aligns latent spaces instead.
    partlearn.multilabel.MLKNN : Classifier commonly used after this selector.

    Notes
    -----
    A method of this library, without a paper. If a label is a false candidate at rate r
    wherever it is not true, a row has it as a candidate with probability ``c = p + (1 -
    p) r``, so a candidate is true with probability ``(1 - r / c) / (1 - r)``. The
    scores c are leave-one-out scores in closed form, which do not depend on the row's
    own candidates. Every step is convex. Features are standardized first and may have
    any sign.

    One singular value decomposition, O(n d min(n, d)), serves all steps; a step of the
    path costs O(a² q + d r q) for a active features, where r is the rank of X and q at
    most the number of labels: coefficients are computed in a rotated label space, which
    leaves the norms of rows as they are. Where both n and d exceed 4000 nothing is
    decomposed: a step costs products with X, which stays sparse if it is.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel import TRACE
    >>> from partlearn.multilabel import add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(100, 12))
    >>> candidates = add_noise_labels(X[:, :3] > 0.6, 1, random_state=0)
    >>> selector = TRACE(3).fit(X, candidates)
    >>> sorted(selector.selected_.tolist())
    [0, 1, 2]
    """

    _non_negative = False
    _least_rows = 2
    scale = False

    _parameter_constraints = PMLSelector._parameter_constraints | {
        "mu": [Interval(Real, 0, None, closed="both")],
        "denoise_with": COUNT[:2],
        "noise_quantile": [Interval(Real, 0, 1, closed="both")],
        "n_penalties": [Interval(Integral, 1, None, closed="left")],
        "path_ratio": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: float | int | None = 0.2,
        *,
        mu: float = 1.0,
        denoise_with: float | int = 0.1,
        noise_quantile: float = 0.1,
        n_penalties: int = 100,
        path_ratio: float = 1e-3,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: Any = None,
        must_keep: Columns = None,
        exclude: Columns = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.mu = mu
        self.denoise_with = denoise_with
        self.noise_quantile = noise_quantile
        self.n_penalties = n_penalties
        self.path_ratio = path_ratio
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.must_keep = must_keep
        self.exclude = exclude

    def _fit(self, X: Any, C: Mask, rng: np.random.RandomState) -> None:
        keep, exclude, available = self._limits()
        n_wanted = self._count(keep, available)
        data = trace_data(X, exclude)
        first = count_features(self.denoise_with, X.shape[1])
        first = min(first, _MOST_FIRST)
        candidates = C.astype(np.float64)
        path = self._path(data, candidates, first)
        leading = np.argsort(-path.scores, kind="stable")[:first]
        c, self.ridge_ = leave_one_out(*data.subspace(leading), candidates)
        self.noise_ = np.clip(np.quantile(c, self.noise_quantile, axis=0), 0, 0.99)
        p = posterior_labels(c, C, self.noise_)
        # Written so that an infinite anchor gives the candidates themselves.
        self.labels_ = C * (1 - (1 - p) / (1 + self.mu))
        path = self._path(data, self.labels_, n_wanted)
        if path.n_iter >= self.max_iter:
            warn_at_max_iter(
                self.max_iter,
                "The coefficients still change at some penalty",
                "the ranking may change with more",
            )
        self.penalties_ = path.penalties
        self.objective_ = path.objective
        self.n_iter_ = path.n_iter
        self._rank(path.scores, rng, 1.0)

    def _path(self, data: TraceData, labels: Any, n_wanted: int) -> PenaltyPath:
        T = labels - labels.mean(axis=0)
        path = row_sparse_path(
            data,
            data.transposed_matmul(T),
            n_wanted=n_wanted,
            n_penalties=self.n_penalties,
            ratio=self.path_ratio,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        return path._replace(objective=path.objective + 0.5 * float(np.vdot(T, T)))


def leave_one_out(U: Array, s: Array, C: Array) -> tuple[Array, float]:
    """Return leave-one-out ridge scores of every row, and the best ridge.

    Source: TRACE, held-out scores.

    Parameters
    ----------
    U, s : ndarray of shape (n, r) and (r,)
        Left singular vectors and singular values of the centered features.
    C : ndarray of shape (n, l)
        Targets.

    Returns
    -------
    scores : ndarray of shape (n, l)
        Leave-one-out predictions, the intercept refitted as well.
    ridge : float
        Penalty with the least squared leave-one-out error.
    """
    n = len(C)
    mean = C.mean(axis=0)
    inner = U.T @ (C - mean)
    best, scores, ridge = np.inf, np.broadcast_to(mean, C.shape), float(_RIDGES[-1])
    for penalty in n * _RIDGES:
        shrink = s**2 / (s**2 + penalty)
        own = np.einsum("ij,j,ij->i", U, shrink, U) + 1 / n
        fitted = U @ (shrink[:, None] * inner) + mean
        residual = (C - fitted) / np.maximum(1 - own, 1e-8)[:, None]
        error = float(np.vdot(residual, residual))
        if error < best:
            best, scores, ridge = error, C - residual, float(penalty)
    return scores, ridge


def posterior_labels(c: Array, C: Mask, noise: Array) -> Array:
    """Probability that each candidate is true, ``(1 - r / c) / (1 - r)``.

    Source: TRACE, posterior of the candidates.

    Parameters
    ----------
    c : ndarray of shape (n, l)
        Probability of being a candidate.
    C : ndarray of bool, shape (n, l)
        Candidates.
    noise : ndarray of shape (l,)
        Rate r at which a label is a false candidate.

    Returns
    -------
    p : ndarray of shape (n, l)
        Zero outside the candidates.
    """
    p = (1 - noise / np.clip(c, _LEAST_SCORE, 1)) / (1 - noise)
    return np.clip(p, 0, 1) * C


class PenaltyPath(NamedTuple):
    """Scores of the features, and the visited penalties."""

    scores: Array
    penalties: Array
    objective: Array
    n_iter: int


def row_sparse_path(
    data: TraceData,
    B: Array,
    *,
    n_wanted: int,
    n_penalties: int = 100,
    ratio: float = 1e-3,
    max_iter: int = 500,
    tol: float = 1e-4,
) -> PenaltyPath:
    """Follow ``min |T - Z W|²/2 + lam sum_i |W_i|`` from large penalties to small ones.

    Source: TRACE, row-sparse path.

    Parameters
    ----------
    data : DecomposedData or MultipliedData
        The features Z, (n, d).
    B : ndarray of shape (d, l)
        ``Z' T``.
    n_wanted : int
        Stop when so many features have entered.
    n_penalties, ratio : int, float
        Number of penalties, and the smallest over the largest.
    max_iter, tol : int, float
        Steps at one penalty, and the relative change at which to go on.

    Returns
    -------
    path : PenaltyPath
        ``objective`` lacks the constant ``|T|²/2``.
    """
    # Norms of rows do not change when the label space is turned, so its directions
    # without any correlation can be dropped.
    left, sizes, _ = np.linalg.svd(B, full_matrices=False)
    B = (left * sizes)[:, sizes > 1e-12 * max(sizes[0], 1e-300)]
    slope = row_norms(B)  # of the objective in each row, at zero
    top = float(slope.max())
    scores = np.zeros(len(B))
    if top == 0:
        return PenaltyPath(scores, np.zeros(1), np.zeros(1), 1)
    W = np.zeros_like(B)
    before, most, visited, values = top, 1, [], []
    for step in iterations("penalties", n_penalties, start=1):
        lam = top * ratio ** (step / n_penalties)
        W, explained, used = _solve(data, B, W, slope, lam, before, max_iter, tol)
        entered = (scores == 0) & W.any(axis=1)
        scores[entered] = np.clip(slope[entered], lam, before) / top
        slope, before, most = row_norms(B - explained), lam, max(most, used)
        visited.append(lam)
        value = np.vdot(W, 0.5 * explained - B)
        values.append(float(value + lam * row_norms(W).sum()))
        if np.count_nonzero(scores) >= n_wanted:
            break
    waiting = scores == 0
    scores[waiting] = np.minimum(slope[waiting], before) / top
    scores[scores < 1e-12] = 0  # constant columns, up to rounding
    return PenaltyPath(scores, np.array(visited), np.array(values), most)


def _solve(
    data: TraceData,
    B: Array,
    W: Array,
    slope: Array,
    lam: float,
    before: float,
    max_iter: int,
    tol: float,
) -> tuple[Array, Array, int]:
    """Minimize at one penalty; only rows that may be active are touched.

    `slope` holds the norms of the gradient at the previous penalty, `before`. Rows that
    the sequential strong rule leaves out are checked at the end and taken in if wrong.
    Returns the coefficients, ``Z' Z`` times them, and the number of steps.
    """
    active = W.any(axis=1) | (slope >= 2 * lam - before)
    used = 0
    while True:
        rows = np.flatnonzero(active)
        product, largest = data.gram(rows)
        part, steps = _shrink(product, largest, B[rows], W[rows], lam, max_iter, tol)
        used = max(used, steps)
        W = np.zeros_like(W)
        W[rows] = part
        explained = data.correlations(rows, part)
        wrong = ~active & (row_norms(B - explained) > lam * (1 + 1e-6))
        if not wrong.any():
            return W, explained, used
        active |= wrong


def _shrink(
    product: Product,
    largest: float,
    B: Array,
    W: Array,
    lam: float,
    max_iter: int,
    tol: float,
) -> tuple[Array, int]:
    """Accelerated proximal gradient with restart for ``<W, G W>/2 - <B, W>`` + rows."""
    length = 1 / max(largest, 1e-300)

    def step(at: Array) -> Array:
        return shrink_rows(at - length * (product(at) - B), length * lam)

    return accelerated(step, W, range(1, max_iter + 1), tol)[:2]


class DecomposedData(NamedTuple):
    """Data ``Z = U diag(s) V'`` of shape (n, d)."""

    U: Array
    s: Array
    V: Array

    def gram(self, columns: Indices) -> tuple[Product, float]:
        """Product with ``Z' Z`` of some columns, and its largest eigenvalue."""
        A = self.V[columns]
        G = (A * self.s**2) @ A.T
        return G.__matmul__, float(np.linalg.eigvalsh(G)[-1])

    def correlations(self, columns: Indices, W: Array) -> Array:
        """``Z' Z[:, columns] W``, (d, l)."""
        inner = (self.s**2)[:, None] * (self.V[columns].T @ W)
        return np.asarray(self.V @ inner)

    def transposed_matmul(self, T: Array) -> Array:
        """``Z' T``, (d, l)."""
        return np.asarray(self.V @ (self.s[:, None] * (self.U.T @ T)))

    def subspace(self, columns: Indices) -> tuple[Array, Array]:
        """Left singular vectors and values of some columns."""
        scaled = self.s[:, None] * self.V[columns].T
        left, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
        some = sizes > 1e-10 * self.s.max(initial=0.0)
        return self.U @ left[:, some], sizes[some]


class MultipliedData(NamedTuple):
    """The same of data ``Z`` that are not decomposed."""

    Z: Standardized

    def gram(self, columns: Indices) -> tuple[Product, float]:
        """Product with ``Z' Z`` of some columns, and a bound on its eigenvalues."""
        part = self.Z.columns(columns)

        def product(W: Array) -> Array:
            return part.transposed_matmul(part @ W)

        return product, 1.02 * power_iteration(product, (len(columns), 1))

    def correlations(self, columns: Indices, W: Array) -> Array:
        """``Z' Z[:, columns] W``, (d, l)."""
        return self.Z.transposed_matmul(self.Z.columns(columns) @ W)

    def transposed_matmul(self, T: Array) -> Array:
        """``Z' T``, (d, l)."""
        return self.Z.transposed_matmul(T)

    def subspace(self, columns: Indices) -> tuple[Array, Array]:
        """Left singular vectors and values of some columns, few enough to be dense."""
        part = self.Z.columns(columns) @ np.eye(len(columns))
        U, s, _ = np.linalg.svd(part, full_matrices=False)
        some = s > 1e-10 * s.max(initial=0.0)
        return U[:, some], s[some]


TraceData = DecomposedData | MultipliedData


def trace_data(X: Any, exclude: Indices) -> TraceData:
    """Standardize data; excluded columns become constant.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        The data.
    exclude : ndarray of int
        Columns to leave out.

    Returns
    -------
    data : DecomposedData or MultipliedData
        The latter where both n and d exceed 4000.
    """
    matrix, mean, scale = standardize(X)
    if leading_rank(X.shape) is None:
        U, s, V = thin_svd(matrix)
        V = V.copy()
        V[exclude] = 0
        return DecomposedData(U, s, V)
    if len(exclude):
        scale[exclude] = 0
        matrix = Standardized(X, mean, scale)
    return MultipliedData(matrix)
