"""PML-NI: a low-rank classifier beside a sparse identifier of false candidates."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np

from partlearn._progress import iterations
from partlearn._sklearn_compat import StrOptions, fit_context
from partlearn._typing import Array, Mask
from partlearn.candidates import check_candidates, warn_at_max_iter, warn_caller
from partlearn.multilabel._proximal import (
    accelerated,
    shrink_rows,
    singular_threshold,
    soft_threshold,
)
from partlearn.multilabel._scaled_rows import Spectrum, scaled_rows, spectrum
from partlearn.multilabel.classification._linear import BaseLinearScorer

_RELEASE = (10.0, 0.5, 0.5)  # lam, beta and gamma of the released program
_MU, _GROWTH, _MOST = 1e-4, 1.1, 1e10  # penalty of the augmented Lagrangian
_GAP, _STEP = 1e-7, 1e-5  # its stopping rule
_STILL = 1e-10  # relative step at which proximal gradients stop
_MARGIN = 0.1  # how far the outer cuts are from the scores

Shrink = Callable[[Array, float], Array]


class PMLNI(BaseLinearScorer):
    """Partial multi-label learning by identifying noisy labels.

    The candidates are regressed on the features by ``W = U + V``. ``U`` has low rank
    and classifies; ``V`` is sparse and absorbs false candidates that depend on the
    features. Only ``U`` predicts.

    Parameters
    ----------
    lam : float, default=10.0
        Ridge penalty of ``W``.
    beta : float, default=5.0
        Weight of the nuclear norm of ``U``.
    gamma : float, default=1.0
        Weight of the absolute entries of ``V``. Noise is identified only where `gamma`
        is below `beta`, and ``U`` is zero where `beta` exceeds ``gamma sqrt(l (d+1))``.
    preset : {"release"} or None, default=None
        "release" sets ``lam=10, beta=0.5, gamma=0.5``, as the released program does.
    solver : {"alm", "prox"}, default="alm"
        Inexact augmented Lagrangian, as released; or accelerated proximal gradients on
        ``U`` and ``V``, which minimize the same objective.
    v_norm : {"l1", "l21"}, default="l1"
        Sparse entries of ``V``, or sparse rows, one per label.
    threshold : {"candidates", "clean"} or float, default="candidates"
        Score from which a label is predicted. "candidates" fits a threshold for each
        row, linear in its scores, to the candidates. "clean" fits it to the true labels
        given as `y_true` in `fit`, as the released program does. A number is used as it
        is.
    threshold_bias : {"consistent", "release"}, default="consistent"
        "release" leaves the intercept out of the scores from which the threshold of a
        new row is computed, as the released program does.
    scale : bool, default=True
        Bring every column to [-1, 1] by its minimum and maximum in the training rows.
    max_iter : int, default=500
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the order of equal feature scores; nothing else is drawn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns.
    U_, V_, W_ : ndarray of shape (n_classes, n_features_in_ + 1)
        Weights of the scaled features and, last, of the constant.
    coef_ : ndarray of shape (n_classes, n_features_in_)
        Coefficients of the features as given: ``U`` without the constant.
    intercept_ : ndarray of shape (n_classes,)
        Added to the scores.
    threshold_coef_ : ndarray of shape (n_classes + 1,) or None
        Threshold of a row: weights of its scores, then a constant.
    threshold_ : float or None
        The threshold, where it is the same for all rows.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Scores of the candidates by ``U``, clipped to [0, 1]; zero elsewhere.
    noise_ : ndarray of shape (n_samples, n_classes)
        Scores of the candidates by ``V``: the estimated noise; zero elsewhere.
    never_, always_ : ndarray of bool, shape (n_classes,)
        Labels that no and that every training row had as a candidate.
    scores_ : ndarray of shape (n_features_in_,)
        Importance of each feature: norm of its coefficients for standardized features.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    objective_ : float
        Objective at ``U`` and ``V``.
    mu_ : ndarray of shape (n_iter_,)
        Penalty used in each iteration of "alm"; empty for "prox".
    converged_ : bool
        Whether the stopping rule was met.
    n_iter_ : int
        Number of iterations.
    multilabel_ : bool
        Whether `fit` received a matrix or sets instead of one label per row.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    Schirn : Rewards a high rank of the predictions instead.
    FPML : Denoises labels by a product of low rank.

    Notes
    -----
    At the optimum ``Z = C'X - W (X'X + lam I)`` has spectral norm at most `beta` and
    entries at most `gamma`. Hence ``gamma >= beta`` gives ``V = 0``: no noise is
    identified, the method is ridge regression with a nuclear norm, and `fit` warns. The
    released program uses ``gamma = beta``. The defaults here were not tuned.

    The released program fits its threshold to true training labels and leaves out the
    intercept for new rows; both are options here, and neither is the default. Ranking
    scores do not depend on the threshold. The ranking of features is not part of the
    published method.

    One decomposition, then O(l (d + 1) min(n, d + 1)) an iteration and the singular
    values of an l x (d + 1) matrix. Sparse features stay sparse.

    References
    ----------
    Ming-Kun Xie and Sheng-Jun Huang. Partial multi-label learning with noisy label
    identification. IEEE TPAMI 44(7):3676-3687, 2022 (AAAI 2020).
    https://doi.org/10.1109/TPAMI.2021.3059290

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.metrics import average_precision
    >>> from partlearn.multilabel import PMLNI, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> Y = X[:, :4] > 0.5
    >>> candidates = add_noise_labels(Y, 1, random_state=0)
    >>> model = PMLNI(beta=1.2).fit(X, candidates)
    >>> bool(average_precision(Y, model.decision_function(X)) > 0.8)
    True
    """

    _parameter_constraints = BaseLinearScorer._parameter_constraints | {
        "preset": [StrOptions({"release"}), None],
        "solver": [StrOptions({"alm", "prox"})],
        "v_norm": [StrOptions({"l1", "l21"})],
        "threshold": [Real, StrOptions({"candidates", "clean"})],
        "threshold_bias": [StrOptions({"consistent", "release"})],
    }

    def __init__(
        self,
        lam: float = 10.0,
        *,
        beta: float = 5.0,
        gamma: float = 1.0,
        preset: str | None = None,
        solver: str = "alm",
        v_norm: str = "l1",
        threshold: float | str = "candidates",
        threshold_bias: str = "consistent",
        scale: bool = True,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        self.lam = lam
        self.beta = beta
        self.gamma = gamma
        self.preset = preset
        self.solver = solver
        self.v_norm = v_norm
        self.threshold = threshold
        self.threshold_bias = threshold_bias
        self.scale = scale
        self.max_iter = max_iter
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, y_true: Any = None) -> Self:
        """Split the weights of the candidates into a classifier and noise.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            A binary matrix of shape (n_samples, n_classes), a sequence of sets, or
            1-D labels; rows may be without any candidate.
        y_true : binary matrix of shape (n_samples, n_classes), default=None
            True labels, read only with ``threshold="clean"``.

        Returns
        -------
        self : PMLNI
            The fitted classifier.
        """
        X, C = self._validate_fit(X, y)
        X = X.astype(np.float64)
        target = self._target(C, y_true)
        weights = self._weights()
        rows, shift, factor = scaled_rows(X, scale=self.scale)
        split = self._split(rows.transposed_matmul(C.astype(float)).T, rows, weights)
        self.W_, self.U_, self.V_ = split.W, split.U, split.V
        self.n_iter_, self.converged_ = split.n_iter, split.converged
        self.mu_ = np.array(split.mu)
        scores, noise = rows @ split.U.T, rows @ split.V.T
        shrunk = ni_penalty(split.U, split.V, *weights[1:], self.v_norm)
        residual = float(np.sum((C - scores - noise) ** 2))
        ridge = weights[0] * float(np.sum((split.U + split.V) ** 2))
        self.objective_ = (residual + ridge) / 2 + shrunk
        self.label_confidence_ = np.clip(scores, 0, 1) * C
        self.noise_ = noise * C
        self.never_, self.always_ = ~C.any(axis=0), C.all(axis=0)
        self.threshold_ = self.threshold_coef_ = None
        if isinstance(target, np.ndarray):
            self.threshold_coef_ = border_weights(scores, best_cuts(scores, target))
        else:
            self.threshold_ = target
        W, b = split.U[:, :-1].T, split.U[:, -1]
        self._set_weights(X, W, b, shift, factor, self.random_state)
        return self

    def _target(self, C: Mask, y_true: Any) -> Mask | float:
        """Labels that the threshold should separate, or the threshold itself."""
        if self.threshold == "candidates":
            return C
        if self.threshold != "clean":
            return float(self.threshold)
        if y_true is None:
            raise ValueError(
                'threshold="clean" needs the true labels: pass `y_true` to `fit`, or '
                'use threshold="candidates".'
            )
        _, Y = check_candidates(y_true, classes=self.classes_, empty="keep")
        return np.asarray(Y, dtype=bool)

    def _weights(self) -> tuple[float, float, float]:
        given = self.lam, self.beta, self.gamma
        lam, beta, gamma = _RELEASE if self.preset == "release" else given
        if gamma >= beta:
            warn_caller(
                f"gamma={gamma} is not below beta={beta}, so that no noise can be "
                "identified: V is zero. Lower gamma or raise beta."
            )
        return lam, beta, gamma

    def _split(self, A: Array, rows: Any, weights: tuple[float, float, float]) -> Split:
        lam, beta, gamma = weights
        shrink = soft_threshold if self.v_norm == "l1" else shrink_rows
        solve = ni_alm if self.solver == "alm" else ni_prox
        split = solve(A, spectrum(rows), weights, shrink, self.max_iter)
        if not split.converged:
            warn_at_max_iter(self.max_iter, "The weights still change")
        elif len(A) > 1 and A.any() and not split.U.any():
            rest = A - rows.transposed_matmul(rows @ split.V.T).T - lam * split.V
            least = float(np.linalg.norm(rest, 2))
            both = " and `gamma` below that" if least <= gamma else ""
            warn_caller(
                f"beta={beta:g} is too large for these data: all scores of PML-NI are "
                f"zero. Set `beta` below {least:.3g}{both}."
            )
        return split

    def _row_threshold(self, scores: Array) -> Any:
        if self.threshold_coef_ is None:
            return self.threshold_
        if self.threshold_bias == "release":
            scores = scores - self.U_[:, -1]
        threshold = scores @ self.threshold_coef_[:-1] + self.threshold_coef_[-1]
        return threshold[:, None]


class Split(NamedTuple):
    """``W = U + V`` with all matrices (l, p), and how they were reached."""

    W: Array
    U: Array
    V: Array
    n_iter: int
    converged: bool
    mu: list[float]


def ni_alm(
    A: Array,
    X: Spectrum,
    weights: tuple[float, float, float],
    shrink: Shrink,
    max_iter: int,
) -> Split:
    """Minimize by the inexact augmented Lagrangian of the released program.

    Source: PMLNI, augmented Lagrangian.

    Parameters
    ----------
    A : ndarray of shape (l, p)
        ``C'X`` for candidates C.
    X : Spectrum
        Of the rows.
    weights : tuple of float
        ``lam``, ``beta`` and ``gamma``.
    shrink : callable
        Proximal step of V: `soft_threshold` or `shrink_rows`.
    max_iter : int
        Maximum number of iterations.

    Returns
    -------
    split : Split
        The weights.
    """
    lam, beta, gamma = weights
    U, V, multiplier = (np.zeros_like(A) for _ in range(3))
    mu, trace, done = _MU, [], False
    for _ in iterations("PML-NI", max_iter):
        trace.append(mu)
        W = X.ridge(A + mu * U + mu * V + multiplier, lam + mu)
        size = float(np.linalg.norm(W))
        if size == 0:  # no candidate at all
            return Split(W, U, V, len(trace), True, trace)
        before = U
        U = singular_threshold(W - V - multiplier / mu, beta / mu)
        V = shrink(W - U - multiplier / mu, gamma / mu)
        gap = W - U - V
        slow = mu * float(np.linalg.norm(U - before)) / size < _STEP
        done = slow and float(np.linalg.norm(gap)) / size < _GAP
        if slow:
            mu = min(_GROWTH * mu, _MOST)
        multiplier = multiplier - mu * gap
        if done:
            break
    return Split(W, U, V, len(trace), done, trace)


def ni_prox(
    A: Array,
    X: Spectrum,
    weights: tuple[float, float, float],
    shrink: Shrink,
    max_iter: int,
) -> Split:
    """Minimize by accelerated proximal gradients on U and V, with restarts.

    Source: PMLNI, objective.

    Parameters and result as in `ni_alm`.
    """
    lam, beta, gamma = weights
    lipschitz = 2 * (float(X.g.max(initial=0.0)) + lam)

    def step(at: Array) -> Array:
        W = at.sum(axis=0)
        down = ((W @ X.Q * X.g) @ X.Q.T + lam * W - A) / lipschitz
        U = singular_threshold(at[0] - down, beta / lipschitz)
        return np.stack([U, shrink(at[1] - down, gamma / lipschitz)])

    numbers = iterations("PML-NI", max_iter, start=1)
    start = np.zeros((2, *A.shape))
    (U, V), n_iter, done = accelerated(step, start, numbers, _STILL)
    return Split(U + V, U, V, n_iter, done, [])


def ni_penalty(U: Array, V: Array, beta: float, gamma: float, v_norm: str) -> float:
    """Nuclear norm of U and absolute entries, or row norms, of V.

    Source: PMLNI, objective.
    """
    rest = np.abs(V) if v_norm == "l1" else np.linalg.norm(V, axis=1)
    low_rank = np.linalg.svd(U, compute_uv=False).sum()
    return float(beta * low_rank + gamma * rest.sum())


def best_cuts(scores: Array, target: Mask) -> Array:
    """Find the threshold of each row with the fewest errors.

    Source: PMLNI, size predictor.

    Parameters
    ----------
    scores : ndarray of shape (n, l)
        Scores.
    target : ndarray of bool, shape (n, l)
        Labels that should be above the cut.

    Returns
    -------
    cuts : ndarray of shape (n,)
        The lowest of the best cuts: below all scores, midway between two neighbors,
        or, for a row without targets only, above all scores.
    """
    order = np.argsort(scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    wanted = np.take_along_axis(target, order, axis=1)
    inner = (ordered[:, :-1] + ordered[:, 1:]) / 2
    cuts = np.column_stack([ordered[:, 0] - _MARGIN, inner, ordered[:, -1] + _MARGIN])
    none = np.zeros((len(scores), 1), dtype=np.intp)
    missed = np.hstack([none, np.cumsum(wanted, axis=1)])
    kept = np.hstack([none, np.cumsum(~wanted, axis=1)])
    errors = missed + kept[:, -1:] - kept
    errors[wanted.any(axis=1), -1] = errors.shape[1]  # a row keeps at least one label
    best = errors.argmin(axis=1)
    return np.asarray(cuts[np.arange(len(cuts)), best])


def border_weights(scores: Array, cuts: Array) -> Array:
    """Regress the thresholds on the scores and a constant, with minimum norm.

    Source: PMLNI, size predictor.
    """
    design = np.column_stack([scores, np.ones(len(scores))])
    return np.asarray(np.linalg.lstsq(design, cuts, rcond=None)[0])
