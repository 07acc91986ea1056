"""Stage one of PARTICLE, credible candidates, and its classifiers of pairs."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from partlearn._math.graphs import neighbor_weights, rebuilding_graph, weighted_votes
from partlearn._math.linalg import (
    column_moments,
    inverse_scale,
    settled_orders,
    squared_hinge,
)
from partlearn._math.neighbors import query_neighbors, self_neighbors
from partlearn._progress import iterations
from partlearn._sizes import SIZES, spans
from partlearn._sklearn_compat import Interval, StrOptions
from partlearn._typing import Array, Indices, Mask
from partlearn.base import PARAMETERS, BaseMultilabelClassifier, drop_empty
from partlearn.candidates import warn_at_max_iter

_TIE = 1e-9  # a score this near to the border is a tie: the solver is not more exact
_RELEASE_FOLDS = 10  # in which the released program elicits credible labels


class BaseParticle(BaseMultilabelClassifier):
    """What both PARTICLE classifiers do before they decide.

    A subclass has the parameters constrained here, calls `_stage_one`, trains pairwise
    classifiers on what it returns and passes them to `_set_pairs`.
    """

    _parameter_constraints = PARAMETERS | {
        "alpha": [Interval(Real, 0, 1, closed="left")],
        "thr": [Interval(Real, 0, 1, closed="both")],
        "variant": [StrOptions({"clean", "direct", "release"})],
    }

    _threshold = np.nextafter(0.5, 1)  # a label must be ahead, not level

    def _stage_one(self, X: Any, C: Mask) -> Credible:
        rng = check_random_state(self.random_state)
        kept, X, A = drop_empty(X, C)
        # Ties of distances follow the content of rows and columns, as the folds do.
        order, columns = settled_orders(X, A)
        kept, X, A = kept[order], X[order], A[order]
        std = column_moments(X)[1]
        factor = inverse_scale(std) if self.standardize else np.ones_like(std)
        X = sp.csr_array(X @ sp.diags_array(factor)) if sp.issparse(X) else X * factor
        F, E = self._elicit(X[:, columns], A, rng)
        self.labels_, self.credible_ = np.zeros(C.shape), np.zeros(C.shape, dtype=bool)
        self.labels_[kept], self.credible_[kept] = F, E
        self.never_, self.always_ = ~A.any(axis=0), A.all(axis=0)
        # Classifiers do not depend on the mean, but their rounding error does.
        mean = np.zeros_like(std) if sp.issparse(X) else X.mean(axis=0)
        X = X if sp.issparse(X) else X - mean
        return Credible(X, E, ~A & ~E, factor, mean, std, rng)

    def _elicit(
        self, X: Any, C: Mask, rng: np.random.RandomState
    ) -> tuple[Array, Mask]:
        """Confidences of the candidates, in [0, 1], and which of them are credible.

        `X` is scaled, no row of `C` is empty.
        """
        F, self.n_iter_, distances, others = self._confidences(X, C)
        if self.variant == "direct":
            return F, credible_labels(F, C, self.thr)
        if self.variant == "clean" or len(C) < 2:
            s = weighted_votes(F, others, neighbor_weights(distances, "distance"))
            return F, credible_labels(s, C, self.thr)
        s = np.empty(C.shape)
        folds = KFold(min(_RELEASE_FOLDS, len(C)), shuffle=True, random_state=rng)
        for train, test in folds.split(C):
            G, _, _, _ = self._confidences(X[train], C[train])
            distances, others = query_neighbors(
                X[train], X[test], self.n_neighbors, n_jobs=self.n_jobs
            )
            weights = neighbor_weights(distances, "distance")
            s[test] = weighted_votes(G, others, weights)
        return F, credible_labels(s, C, self.thr, inside=False)

    def _confidences(
        self, X: Any, C: Mask
    ) -> tuple[Array, int, Array, NDArray[np.int64]]:
        """Confidences, iterations, and distances and indices of the neighbors."""
        k, n_jobs = self.n_neighbors, self.n_jobs
        distances, others = self_neighbors(X, k, return_distance=True, n_jobs=n_jobs)
        near, norm = others, "frobenius"
        if self.variant == "release":  # a row is its own neighbor, and rebuilds itself
            _, near = query_neighbors(X, X, k, n_jobs=n_jobs)
            norm = "spectral"
        T, limit = rebuilding_graph(X, near), self.max_iter
        P, n_iter = propagate(T, C, self.alpha, tol=self.tol, max_iter=limit, norm=norm)
        return rescale(P, C), n_iter, distances, others

    def _set_pairs(self, pairs: Pairs, data: Credible, weight: Any) -> None:
        """Classifiers for the features as given, and the importance of these."""
        self.pairs_ = np.column_stack([pairs.first, pairs.second])
        self.coef_ = pairs.coef * data.factor
        self.intercept_ = pairs.intercept - pairs.coef @ data.mean
        # Importance is in units of a standard deviation, scaled features or not.
        W = (self.coef_ * data.std).T * weight
        self._rank_features(np.linalg.norm(W, axis=1), data.rng)


class Credible(NamedTuple):
    """What the first stage hands on.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
        Rows with candidates, scaled and, if dense, centered.
    E, N : ndarray of bool, shape (n, l)
        Credible labels, and labels that are neither credible nor candidates.
    factor, mean, std : ndarray of shape (d,)
        What the features were multiplied by, what was subtracted then, and their
        standard deviations before.
    rng : RandomState
        For what is still to be drawn.
    """

    X: Any
    E: Mask
    N: Mask
    factor: Array
    mean: Array
    std: Array
    rng: Any


def propagate(
    T: sp.csr_array,
    C: Mask,
    alpha: float,
    *,
    tol: float = 1e-5,
    max_iter: int = 1000,
    norm: str = "frobenius",
) -> tuple[Array, int]:
    """Mix each row's labels with those of its neighbors until they converge.

    Source: ParticleVLS, propagation of the confidences.
    Source: ParticleMAP, propagation of the confidences.

    Parameters
    ----------
    T : CSR array of shape (n, n)
        Transition weights.
    C : ndarray of bool, shape (n, l)
        Candidates; no row is empty.
    alpha : float
        Share of the neighbors.
    tol : float, default=1e-5
        Norm of the change at which to stop.
    max_iter : int, default=1000
        Maximum number of iterations; reaching it gives a `ConvergenceWarning`.
    norm : {"frobenius", "spectral"}, default="frobenius"
        Which norm; the spectral one is smaller.

    Returns
    -------
    P : ndarray of shape (n, l)
        Zero outside the candidates, rows sum to one.
    n_iter : int
        Steps taken.
    """
    start = P = C.astype(np.float64)
    for n_iter in iterations("label propagation", max_iter, start=1):
        new = (alpha * (T @ P) + (1 - alpha) * start) * start
        new /= new.sum(axis=1, keepdims=True)
        change = new - P
        P = new
        if norm == "frobenius":
            size = np.linalg.norm(change)
        else:  # from the small matrix of products
            size = np.sqrt(max(np.linalg.eigvalsh(change.T @ change)[-1], 0.0))
        if size < tol:
            return P, n_iter
    warn_at_max_iter(max_iter, "The confidences still change")
    return P, max_iter


def unit_rows(F: Array, C: Mask) -> Array:
    """Bring each row to [0, 1]; a constant row is one on its candidates."""
    low, high = F.min(axis=1, keepdims=True), F.max(axis=1, keepdims=True)
    return np.divide(F - low, high - low, out=C.astype(F.dtype), where=high > low)


def rescale(P: Array, C: Mask) -> Array:
    """Give every label the mass it has among the candidates, then unit rows."""
    mass = P.sum(axis=0)
    factor = np.divide(C.sum(axis=0), mass, out=np.zeros_like(mass), where=mass > 0)
    return unit_rows(P * factor, C)


def credible_labels(s: Array, C: Mask, thr: float, *, inside: bool = True) -> Mask:
    """Return the candidates with a support, scaled to [0, 1], of at least `thr`.

    Source: ParticleVLS, credible labels.
    Source: ParticleMAP, credible labels.

    Parameters
    ----------
    s : ndarray of shape (n, l)
        Support of the labels.
    C : ndarray of bool, shape (n, l)
        Candidates; no row is empty.
    thr : float
        Credibility threshold.
    inside : bool, default=True
        What a row without any falls back to: its candidate of most support, or, as in
        the released program, all labels that reach `thr`, candidates or not.

    Returns
    -------
    E : ndarray of bool, shape (n, l)
        Credible labels, at least one per row.
    """
    s = unit_rows(s, C)
    E = C & (s >= thr)
    bare = np.flatnonzero(~E.any(axis=1))
    if inside:
        E[bare, np.where(C[bare], s[bare], -1.0).argmax(axis=1)] = True
    else:
        E[bare] = s[bare] >= thr
    return E


class Pairs(NamedTuple):
    """Classifiers of pairs; a positive score prefers label ``first``.

    Attributes
    ----------
    first, second : ndarray of int, shape (p,)
        The labels; a ``second`` of -1 is the virtual label.
    coef : ndarray of shape (p, d)
        Coefficients.
    intercept : ndarray of shape (p,)
        Intercepts.
    accuracy : ndarray of shape (p,)
        Share of training rows on the right side; a tie counts half.
    """

    first: Indices
    second: Indices
    coef: Array
    intercept: Array
    accuracy: Array


def pairs_of(l: int, *, real: bool, virtual: bool) -> Indices:  # noqa: E741
    """Pairs ``j < m`` of labels, and each label against the virtual one, (p, 2)."""
    kinds = []
    if real:
        kinds.append(np.column_stack(np.triu_indices(l, 1)))
    if virtual:
        kinds.append(np.column_stack([np.arange(l), np.full(l, -1)]))
    return np.concatenate(kinds)


def fit_pairs(
    X: Any,
    E: Mask,
    N: Mask,
    wanted: Indices,
    *,
    C: float = 1.0,
    n_jobs: int | None = None,
) -> Pairs:
    """Train a support vector machine for each pair that has rows on both sides.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Rows.
    E : ndarray of bool, shape (n, l)
        Credible labels.
    N : ndarray of bool, shape (n, l)
        Labels that are no candidates. What is neither is left out.
    wanted : ndarray of int, shape (p, 2)
        Pairs to train, from `pairs_of`.
    C : float, default=1.0
        Weight of the loss.
    n_jobs : int, default=None
        Workers; the result does not depend on it.

    Returns
    -------
    pairs : Pairs
        Those for which both labels have rows.
    """
    # Sizes of both sides by two products, so that empty pairs cost nothing.
    j, m = wanted.T
    meets = E.T.astype(np.float32) @ N.astype(np.float32)  # exact up to 2**24 rows
    up = np.where(m < 0, E.sum(axis=0)[j], meets[j, m])
    down = np.where(m < 0, N.sum(axis=0)[j], meets[m, j])
    wanted = wanted[(up > 0) & (down > 0)]
    blocks = [wanted[some] for some in spans(len(wanted), SIZES.particle_pairs)]
    if len(blocks) > 1:
        fits = Parallel(n_jobs=n_jobs)(
            delayed(_fit_some)(X, E, N, block, C) for block in blocks
        )
    else:  # not worth a worker
        fits = [_fit_some(X, E, N, wanted, C)]
    coef, intercept, accuracy = map(np.concatenate, zip(*fits, strict=True))
    return Pairs(wanted[:, 0], wanted[:, 1], coef, intercept, accuracy)


def _fit_some(
    X: Any, E: Mask, N: Mask, pairs: Indices, C: float
) -> tuple[Array, Array, Array]:
    coef = np.empty((len(pairs), X.shape[1]))
    intercept, accuracy = np.empty(len(pairs)), np.empty(len(pairs))
    for p, (j, m) in enumerate(pairs):
        up = E[:, j] & N[:, m] if m >= 0 else E[:, j]
        down = E[:, m] & N[:, j] if m >= 0 else N[:, j]
        rows = np.flatnonzero(up | down)
        y = np.where(up[rows], 1.0, -1.0)
        A = X[rows]
        coef[p], intercept[p] = squared_hinge(A, y, C)
        h = votes(np.asarray(A @ coef[p]).ravel() + intercept[p])
        accuracy[p] = np.mean(np.where(y > 0, h, 1 - h))
    return coef, intercept, accuracy


def votes(f: Array) -> Array:
    """1 for the first label, 0 for the second, 1/2 on the border."""
    return np.where(np.abs(f) <= _TIE, 0.5, f > 0)


def vote_blocks(X: Any, pairs: Pairs) -> Iterator[tuple[slice, Array]]:
    """Votes of all classifiers, (rows, p), by blocks of rows."""
    step = SIZES.particle_block // max(1, len(pairs.first))
    for block in spans(X.shape[0], step):
        f = np.asarray(X[block] @ pairs.coef.T, dtype=np.float64) + pairs.intercept
        yield block, votes(f)
