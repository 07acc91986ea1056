"""Prune candidate sets before fitting a classifier."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from partlearn._arguments import check_one_per_row
from partlearn._math.blocks import lazy_rows
from partlearn._math.graphs import vote
from partlearn._math.linalg import z_scores
from partlearn._math.neighbors import self_neighbors
from partlearn._sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from partlearn._typing import Array, Mask
from partlearn.base import (
    PARAMETERS,
    BaseCandidateClassifier,
    recoded,
    validate_partial_data,
)
from partlearn.classification._cc import CC


@lazy_rows
class CandidatePruner(BaseCandidateClassifier):
    """Remove unlikely candidates, then fit a classifier on the narrower sets.

    Parameters
    ----------
    estimator : classifier, default=None
        Classifier for candidate labels that is fitted on the pruned sets; by default
        :class:`CC`.
    method : {"neighbors", "conformal"}, default="neighbors"
        "neighbors" removes candidates that few of the nearest rows share. "conformal"
        removes candidates that a cross-fitted classifier scores lower than nearly all
        labels that it predicts.
    n_neighbors : int, default=10
        Number of nearest rows, by the angle of standardized rows.
    tau : float, default=0.5
        Share of the candidates beyond the first that "neighbors" removes from every
        set, rounded down.
    alpha : float, default=0.05
        Share of true labels that "conformal" may remove, if the labels that its
        classifier predicts are right.
    cv : int, default=5
        Number of folds in which "conformal" cross-fits its classifier.

    Attributes
    ----------
    candidates_ : ndarray of bool, shape (n_samples, n_classes)
        The pruned sets.
    n_removed_ : int
        Number of candidates removed.
    estimator_ : classifier
        The classifier fitted on the pruned sets.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    CRISPClassifier : Weighs candidates instead of removing them.

    Notes
    -----
    Removed candidates are lost in all later steps. Pruning helps classifiers that
    average over candidates and can hurt those that weight them. :meth:`lost` returns
    how many true labels were removed, where they are known. No set becomes empty.

    The neighbor-based method was published for representations of deep networks; here
    neighbors are searched among standardized features. The conformal one was published
    with a validation set labeled by the classifier; here every row is scored by a
    classifier that was fitted without its fold, and all rows are used to calibrate.

    References
    ----------
    Shuo He, Chaojie Wang, Guowu Yang and Lei Feng. Candidate Label Set Pruning: A
    Data-centric Perspective for Deep Partial-label Learning. ICLR 2024.

    Tobias Fuchs and Florian Kalinke. Partial-Label Learning with Conformal Candidate
    Cleaning. UAI 2025, PMLR 286, 1337-1357.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLKNN, CandidatePruner
    >>> X, y = load_digits(n_class=5, return_X_y=True)
    >>> S = make_candidates(y, n_false=3, random_state=0)
    >>> model = CandidatePruner(PLKNN(), tau=0.7).fit(X, S)
    >>> model.n_removed_ > 1.9 * len(X)
    True
    >>> model.lost(y) < 0.02
    True
    """

    _parameter_constraints = PARAMETERS | {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "method": [StrOptions({"neighbors", "conformal"})],
        "tau": [Interval(Real, 0, 1, closed="both")],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "neighbors",
        n_neighbors: int = 10,
        tau: float = 0.5,
        alpha: float = 0.05,
        cv: int = 5,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.n_neighbors = n_neighbors
        self.tau = tau
        self.alpha = alpha
        self.cv = cv

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Prune the candidate sets and fit the classifier on what is left.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes) or a sequence
            of candidate sets; see :func:`partlearn.candidates.check_candidates`.

        Returns
        -------
        self : CandidatePruner
            The fitted classifier.
        """
        X, S = validate_partial_data(self, X, y)
        estimator = CC() if self.estimator is None else self.estimator
        if len(S) < 2:  # nobody to ask
            self.candidates_ = S
        elif self.method == "neighbors":
            rows = normalize(z_scores(X))
            neighbors = self_neighbors(rows, self.n_neighbors)
            self.candidates_ = neighbor_pruning(S, neighbors, self.tau)
        else:
            P = _out_of_fold(estimator, X, S, min(self.cv, len(S)))
            self.candidates_ = conformal_pruning(S, P, self.alpha)
        self.n_removed_ = int(S.sum() - self.candidates_.sum())
        self.estimator_ = clone(estimator).fit(X, recoded(self.candidates_))
        return self

    def lost(self, truth: ArrayLike) -> float:
        """Return the share of training rows whose true label was removed.

        Parameters
        ----------
        truth : array-like of shape (n_samples,)
            True labels of the training rows.

        Returns
        -------
        share : float
            Rows whose pruned set misses the truth, also if the truth is not a class.
        """
        check_is_fitted(self)
        labels = np.asarray(truth)
        check_one_per_row("truth", labels.shape, len(self.candidates_))
        kept = self.candidates_ & (labels[:, None] == self.classes_)
        return float(1 - kept.any(axis=1).mean())

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return class probabilities of the fitted classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        X = self._validate_predict(X)
        return self.estimator_.predict_proba(X)


def neighbor_pruning(S: Mask, neighbors: NDArray[np.int64], tau: float) -> Mask:
    """Remove from every set the candidates that most neighbors lack.

    Source: CandidatePruner, rule of the neighbors.

    A set of n loses ``floor(tau (n - 1))``. Ties are broken by the sums over nearer
    neighbors, with more weight of smaller sets; remaining ties stay in the set.
    """
    sizes = S.sum(axis=1)
    n_removed = np.floor(tau * (sizes - 1) + 1e-9).astype(int)
    support = vote(S / sizes[:, None], neighbors).round(12)
    lacking = vote((~S).astype(np.float64), neighbors, "uniform")
    against = np.where(S, lacking, -1)
    order = np.lexsort((support, -against), axis=1)
    rows = np.arange(len(S))
    stays = order[rows, n_removed]  # the worst candidate that is not removed
    limit, least = against[rows, stays, None], support[rows, stays, None]
    worse = (against > limit) | ((against == limit) & (support < least))
    return S & ~worse


def conformal_pruning(S: Mask, P: Array, alpha: float) -> Mask:
    """Remove candidates outside the conformal set of level ``1 - alpha``.

    Source: CandidatePruner, conformal rule.

    The most probable candidate of every row stands for its unknown label. Candidates
    less probable than the `alpha` quantile of these are removed, except the most
    probable one of each row.
    """
    inside = np.where(S, P, -1.0)
    best = inside.argmax(axis=1)
    scores = np.sort(1 - inside[np.arange(len(S)), best])
    rank = int(np.ceil((len(S) + 1) * (1 - alpha)))
    limit = scores[rank - 1] if rank <= len(S) else np.inf
    kept = S & (limit >= 1 - P)
    kept[np.arange(len(S)), best] = True
    return kept


def _out_of_fold(estimator: Any, X: Any, S: Mask, cv: int) -> Array:
    """Return probabilities of every row by a classifier fitted without its fold."""
    P = np.full(S.shape, 1 / S.shape[1])
    fold = np.random.RandomState(0).permutation(len(S)) % cv
    for k in range(cv):
        kept, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        fitted = clone(estimator).fit(X[kept], recoded(S[kept]))
        P[held] = fitted.predict_proba(X[held])
    return P
