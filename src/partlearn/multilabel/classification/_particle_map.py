"""PARTICLE-MAP: credible labels, then Bayes' rule on the number of pairs won."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.isotonic import isotonic_regression
from sklearn.model_selection import KFold

from partlearn._sklearn_compat import Interval
from partlearn._typing import Array, Indices, Mask
from partlearn.multilabel.classification._particle import (
    BaseParticle,
    Credible,
    Pairs,
    fit_pairs,
    pairs_of,
    vote_blocks,
)


class ParticleMAP(BaseParticle):
    """Partial multi-label classifier by credible labels and the MAP rule.

    The first stage is the same as in :class:`ParticleVLS`. Linear support vector
    machines then compare every pair of labels. The posterior probability of a label is
    computed from the number of pairs that it wins, with frequencies counted on the
    training rows.

    The released program counts on the *true labels of the test rows*. This leak makes
    its figures optimistic. Here the frequencies come from credible labels of the
    training rows only.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbors of a row; at most the number of other rows.
    alpha : float, default=0.95
        Share of a confidence that comes from the neighbors, below 1.
    thr : float, default=0.9
        Support, between 0 and 1, from which a candidate is credible.
    C : float, default=1.0
        Weight of the loss of the support vector machines.
    smoothing : float, default=1.0
        Added to every count.
    cv : int, default=5
        Folds in which the pairs won by training rows are counted by classifiers that
        were not fitted on these rows.
    monotone : bool, default=False
        Whether the odds of a label never fall as it wins more pairs. Numbers of pairs
        that no training row won are then not taken as evidence.
    variant : {"clean", "direct", "release"}, default="clean"
        Source of the credible labels of a row: the confidences of its neighbors
        ("clean"), or its own ("direct"). "release" follows the released program: a row
        is its own neighbor, so labels do not spread; labels are elicited in ten folds;
        where no candidate reaches `thr`, every label that does is taken, candidate or
        not.
    standardize : bool, default=True
        Divide every feature by its standard deviation.
    max_iter : int, default=1000
        Maximum number of iterations of the propagation.
    tol : float, default=1e-5
        Stop when the change of the confidences is below `tol`.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the order of equal feature scores.
    n_jobs : int, default=None
        Workers for the neighbor search and the classifiers; the result does not
        depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns.
    labels_ : ndarray of shape (n_samples, n_classes)
        Confidences of the candidates, between 0 and 1.
    credible_ : ndarray of bool, shape (n_samples, n_classes)
        Labels taken as true.
    prior_ : ndarray of shape (n_classes,)
        Smoothed share of rows with the label among those where it is known.
    log_odds_ : ndarray of shape (n_classes, n_counts)
        Contribution of 0, 1, ... won pairs to the log odds of a label.
    pairs_ : ndarray of int, shape (n_pairs, 2)
        Pairs of labels with a classifier, as columns; -1 is the virtual label, which
        only occurs where there is a single label.
    coef_ : ndarray of shape (n_pairs, n_features_in_)
        Coefficients of the classifiers, for the features as given; positive scores
        prefer the first label of a pair.
    intercept_ : ndarray of shape (n_pairs,)
        Intercepts of the classifiers.
    never_, always_ : ndarray of bool, shape (n_classes,)
        Labels that no and that every training row had as a candidate.
    scores_ : ndarray of shape (n_features_in_,)
        Importance of each feature: root of the sum of its squared coefficients. Not
        part of the published method.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    n_iter_ : int
        Number of iterations of the propagation.
    multilabel_ : bool
        Whether `fit` received a matrix or sets instead of one label per row.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    ParticleVLS : The same first stage, decided by a virtual label.
    MLKNN : The same decision on numbers of neighbors.

    Notes
    -----
    A label is predicted where its posterior is above 1/2; the released program cuts
    scores in the middle of each row's range, which always predicts some label and never
    all. Candidates that are not credible count neither for nor against a label. A pair
    is won by neither label if it has no classifier or if the row lies on its decision
    boundary. A label that no training row has as a candidate is never predicted; one
    that all have is always predicted.
    Rows without candidates are left out, with a warning.

    There are l (l - 1) / 2 classifiers, trained ``cv + 1`` times.

    Folds are drawn by row number, so the result depends on the order of the rows.

    References
    ----------
    Jun-Peng Fang and Min-Ling Zhang. Partial multi-label learning via credible label
    elicitation. AAAI 2019.

    Min-Ling Zhang and Jun-Peng Fang. Partial multi-label learning via credible label
    elicitation. IEEE Transactions on Pattern Analysis and Machine Intelligence 43(10),
    2021, 3587-3599.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel import ParticleMAP, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> Y = X[:, :4] > 0.5
    >>> candidates = add_noise_labels(Y, 1, random_state=0)
    >>> model = ParticleMAP(random_state=0).fit(X, candidates)
    >>> bool(np.mean(model.predict(X) == Y) > 0.7)
    True
    """

    _parameter_constraints = BaseParticle._parameter_constraints | {
        "smoothing": [Interval(Real, 0, None, closed="neither")],
        "monotone": ["boolean"],
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        alpha: float = 0.95,
        thr: float = 0.9,
        C: float = 1.0,
        smoothing: float = 1.0,
        cv: int = 5,
        monotone: bool = False,
        variant: str = "clean",
        standardize: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.thr = thr
        self.C = C
        self.smoothing = smoothing
        self.cv = cv
        self.monotone = monotone
        self.variant = variant
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, C: Mask) -> None:
        data = self._stage_one(X, C)
        l = len(self.classes_)  # noqa: E741
        # A single label has no pair and is compared with the virtual label.
        wanted = pairs_of(l, real=l > 1, virtual=l == 1)
        pairs = fit_pairs(data.X, data.E, data.N, wanted, C=self.C, n_jobs=self.n_jobs)
        won = self._training_counts(data, pairs, wanted)
        K = count_tables(data.E, data.N, won, max(l, 2))
        self.prior_, self.log_odds_ = log_odds_tables(
            K, self.smoothing, monotone=self.monotone
        )
        self._set_pairs(pairs, data, 1.0)

    def _training_counts(
        self, data: Credible, pairs: Pairs, wanted: Indices
    ) -> Indices:
        X, E, N = data.X, data.E, data.N
        if len(E) < 2:
            return pairs_won(X, pairs, E.shape[1])
        won = np.empty(E.shape, dtype=np.intp)
        folds = KFold(min(self.cv, len(E)), shuffle=True, random_state=data.rng)
        for train, test in folds.split(E):
            rest = fit_pairs(
                X[train], E[train], N[train], wanted, C=self.C, n_jobs=self.n_jobs
            )
            won[test] = pairs_won(X[test], rest, E.shape[1])
        return won

    def _label_scores(self, X: Any) -> Array:
        l = len(self.classes_)  # noqa: E741
        first, second = self.pairs_.T
        no_weight = np.ones(len(first))
        pairs = Pairs(first, second, self.coef_, self.intercept_, no_weight)
        won = pairs_won(X, pairs, l)
        prior = np.log(self.prior_) - np.log1p(-self.prior_)
        P = expit(prior + self.log_odds_[np.arange(l), won])
        P[:, self.never_], P[:, self.always_] = 0, 1
        return P


def pairs_won(X: Any, pairs: Pairs, n_labels: int) -> Indices:
    """How many pairs each label wins in each row, (n, l); a tie is won by neither."""
    won = np.empty((X.shape[0], n_labels), dtype=np.intp)
    real = np.flatnonzero(pairs.second >= 0)
    p = np.arange(len(pairs.first))
    shape = n_labels, len(p)
    up = sp.csr_array((np.ones(len(p)), (pairs.first, p)), shape)
    down = sp.csr_array((np.ones(len(real)), (pairs.second[real], real)), shape)
    for block, h in vote_blocks(X, pairs):
        won[block] = (up @ (h.T == 1) + down @ (h.T == 0)).T
    return won


def count_tables(E: Mask, N: Mask, won: Indices, bins: int) -> Array:
    """Rows without (0) and with (1) each label by the pairs it won, (2, l, bins)."""
    l = E.shape[1]  # noqa: E741
    cell = np.arange(l) * bins + won
    tables = [np.bincount(cell[A], minlength=l * bins) for A in (N, E)]
    return np.reshape(tables, (2, l, bins)).astype(np.float64)


def log_odds_tables(
    K: Array, s: float, *, monotone: bool = False
) -> tuple[Array, Array]:
    """Return the prior log odds of each label, and the increment by pairs won.

    Source: ParticleMAP, maximum a posteriori rule.

    Parameters
    ----------
    K : ndarray of shape (2, l, r)
        Counts, from `count_tables`.
    s : float
        Smoothing, positive.
    monotone : bool, default=False
        Make the second result rise with the number, by weighted isotonic regression.

    Returns
    -------
    prior : ndarray of shape (l,)
        ``(s + K1) / (2 s + K0 + K1)``, summed over numbers.
    log_odds : ndarray of shape (l, r)
        Logarithm of the ratio of the likelihoods ``(s + K_r) / (s r + sum K)``.
    """
    totals = K.sum(axis=2, keepdims=True)
    prior = (s + totals[1, :, 0]) / (2 * s + totals.sum(axis=0)[:, 0])
    likelihood = (s + K) / (s * K.shape[2] + totals)
    log_odds = np.log(likelihood[1]) - np.log(likelihood[0])
    if monotone:
        weight = K.sum(axis=0) + s
        log_odds = np.array(
            [
                isotonic_regression(row, sample_weight=w)
                for row, w in zip(log_odds, weight, strict=True)
            ]
        )
    return prior, log_odds
