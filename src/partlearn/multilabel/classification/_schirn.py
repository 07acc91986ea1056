"""Schirn: sparse noise in the candidates, and predictions of high rank."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, StrOptions
from partlearn._typing import Array, Mask
from partlearn.candidates import warn_at_max_iter
from partlearn.multilabel._scaled_rows import ScaledRows, scaled_rows, spectrum
from partlearn.multilabel.classification._linear import BaseLinearScorer

_MU, _GROWTH, _MOST = 1e-4, 1.1, 10.0  # penalty of the augmented Lagrangian
_RANK = 1e-10  # share of the first singular value below which none is raised


class Schirn(BaseLinearScorer):
    """Sparsity constraint with a high-rank property for partial multi-label learning.

    A linear model predicts the candidates less a sparse matrix of false ones. Large
    singular values of the predictions are rewarded, since candidate and label matrices
    have nearly full rank.

    Parameters
    ----------
    alpha : float, default=0.5
        Weight of the number of false candidates. A candidate is false if its prediction
        is below ``(1 - alpha) / 2``.
    beta : float, default=0.04
        Weight of the reward for singular values; with 0 the rank is not used.
    lam : float, default=0.1
        Ridge penalty.
    shift : {"printed", "derived"}, default="printed"
        Singular values are raised by ``2 beta / (2 + mu)``, as printed, or by half of
        it, as the objective implies.
    n_rounds : int or None, default=None
        Exact number of iterations; 100 is the released program. None iterates until
        `tol` is met.
    max_iter : int, default=300
        Maximum number of iterations if `n_rounds` is None.
    tol : float, default=1e-8
        Stop when predictions and their copy differ by this share, the penalty has
        reached its largest value, and no candidate changes.
    threshold : float, default=0.8
        A label is predicted where its score is at least this; 0.8 is the released
        value, and 0.5 lies midway between the targets.
    fit_intercept : bool, default=False
        Append a constant column, penalized like the others.
    scale : bool, default=True
        Bring every column to [-1, 1] by its minimum and maximum in the training rows.
    random_state : int, RandomState or None, default=None
        Seed of the order of equal feature scores; nothing else is drawn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns.
    W_ : ndarray of shape (n_features_in_, n_classes)
        Weights of the scaled features; a last row where there is an intercept.
    coef_ : ndarray of shape (n_classes, n_features_in_)
        Coefficients of the features as given.
    intercept_ : ndarray of shape (n_classes,)
        Added to the scores.
    threshold_ : float
        Threshold on the scores.
    noise_ : ndarray of bool, shape (n_samples, n_classes)
        Candidates estimated to be false.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Fitted predictions of the candidates, clipped to [0, 1]; zero elsewhere.
    never_, always_ : ndarray of bool, shape (n_classes,)
        Labels that no and that every training row had as a candidate.
    scores_ : ndarray of shape (n_features_in_,)
        Importance of each feature: norm of its coefficients for standardized features.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    residuals_ : ndarray of shape (n_iter_,)
        Relative difference between predictions and their copy, per iteration.
    last_change_ : int
        Iteration in which `noise_` changed last; 0 where it never did.
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
    PMLNI : A low-rank classifier beside sparse noise.

    Notes
    -----
    The released program adds the shift to every entry of a full matrix of singular
    values, so that its result depends on the null space the decomposition returns. Here
    it is added to the singular values, as in the paper, and only to those above 1e-10
    of the largest: the direction of a zero one is arbitrary. The released program
    leaves features unscaled and stops after 100 iterations, before its constraint is
    met. The ranking of features is not part of the
    published method.

    One decomposition, then O(n d l + d min(n, d) l + n l²) an iteration. Sparse
    features stay sparse.

    References
    ----------
    Chongjie Si, Yidan Cui, Fuchao Yang, Xiaokang Yang and Wei Shen. Revisiting sparsity
    constraint under high-rank property in partial multi-label learning. CVPR 2026.
    https://arxiv.org/abs/2505.20938

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.metrics import average_precision
    >>> from partlearn.multilabel import Schirn, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> Y = X[:, :4] > 0.5
    >>> candidates = add_noise_labels(Y, 1, random_state=0)
    >>> model = Schirn(fit_intercept=True).fit(X, candidates)
    >>> bool(average_precision(Y, model.decision_function(X)) > 0.8)
    True
    """

    _parameter_constraints = BaseLinearScorer._parameter_constraints | {
        "shift": [StrOptions({"printed", "derived"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left"), None],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        alpha: float = 0.5,
        *,
        beta: float = 0.04,
        lam: float = 0.1,
        shift: str = "printed",
        n_rounds: int | None = None,
        max_iter: int = 300,
        tol: float = 1e-8,
        threshold: float = 0.8,
        fit_intercept: bool = False,
        scale: bool = True,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.lam = lam
        self.shift = shift
        self.n_rounds = n_rounds
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.random_state = random_state

    def _fit(self, X: Any, C: Mask) -> None:
        X = X.astype(np.float64)
        bias = bool(self.fit_intercept)
        rows, shift, factor = scaled_rows(X, scale=self.scale, bias=bias)
        beta = self.beta if self.shift == "printed" else self.beta / 2
        fitted = schirn(
            rows,
            C,
            (self.alpha, beta, self.lam),
            self.n_rounds or self.max_iter,
            -1.0 if self.n_rounds else self.tol,
        )
        if not (fitted.converged or self.n_rounds):
            warn_at_max_iter(self.max_iter, "The predictions still change")
        self.W_, self.noise_ = fitted.W, fitted.N
        self.label_confidence_ = np.clip(fitted.Z, 0, 1) * C
        self.residuals_, self.n_iter_ = (
            np.array(fitted.residuals),
            len(fitted.residuals),
        )
        self.last_change_, self.converged_ = fitted.last_change, fitted.converged
        self.never_, self.always_ = ~C.any(axis=0), C.all(axis=0)
        self.threshold_ = float(self.threshold)
        W, b = fitted.W[: X.shape[1]], np.zeros(C.shape[1])
        if bias:
            b = fitted.W[-1]
        self._set_weights(X, W, b, shift, factor, self.random_state)


class Fitted(NamedTuple):
    """Weights, false candidates, fitted predictions, and how they were reached."""

    W: Array
    N: Mask
    Z: Array
    residuals: list[float]
    last_change: int
    converged: bool


def schirn(
    X: ScaledRows,
    S: Mask,
    weights: tuple[float, float, float],
    max_iter: int,
    tol: float,
) -> Fitted:
    """Minimize by an augmented Lagrangian with a copy ``Z`` of the predictions.

    Source: Schirn, augmented Lagrangian.

    Parameters
    ----------
    X : ScaledRows
        Rows, n x d.
    S : ndarray of bool, shape (n, l)
        Candidates.
    weights : tuple of float
        ``alpha``, ``beta`` and ``lam``.
    max_iter : int
        Maximum number of iterations.
    tol : float
        Relative difference of predictions and copy at which to stop; negative never
        stops.

    Returns
    -------
    fitted : Fitted
        The result.
    """
    alpha, beta, lam = weights
    basis = spectrum(X)
    N = np.zeros(S.shape, dtype=bool)
    Z, M = np.ones(S.shape), np.ones(S.shape)
    mu, residuals, last_change, done = _MU, [], 0, False
    for n_iter in iterations("Schirn", max_iter, start=1):
        right = basis.Q.T @ X.transposed_matmul(mu * Z - M)
        W = basis.Q @ (right / (mu * basis.g + 2 * lam)[:, None])
        F = X @ W
        before, N = N, false_candidates(Z, S, alpha)
        changed = bool((before != N).any())
        last_change = n_iter if changed else last_change
        B = (2.0 * S - 2.0 * N + M + mu * F) / (2 + mu)
        Z = raise_singular_values(B, 2 * beta / (2 + mu))
        M = M + mu * (F - Z)
        apart = float(np.linalg.norm(F - Z))
        size = float(np.linalg.norm(Z))
        residuals.append(apart / size if size else apart)
        done = mu >= _MOST and not changed and apart <= tol * size
        mu = min(_GROWTH * mu, _MOST)
        if done:
            break
    return Fitted(W, N, Z, residuals, last_change, done)


def false_candidates(Z: Array, S: Mask, alpha: float) -> Mask:
    """Return the candidates with a prediction below ``(1 - alpha) / 2``.

    Source: Schirn, update of N.

    The same as to soften ``S - Z`` by ``alpha / 2``, to clip it to the candidates and
    to round it.
    """
    return np.asarray(S & (0.5 - alpha / 2 > Z))


def raise_singular_values(B: Array, shift: float) -> Array:
    """Add `shift` to the singular values that are not zero.

    Source: Schirn, update of Z.
    """
    if shift == 0:
        return B
    P, s, Q = np.linalg.svd(B, full_matrices=False)
    raised = np.where(s > _RANK * s[0], s + shift, s)
    return np.asarray((P * raised) @ Q)
