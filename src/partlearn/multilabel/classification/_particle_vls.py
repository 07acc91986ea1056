"""PARTICLE-VLS: credible labels, then pairwise ranking with a virtual label."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
import scipy.sparse as sp

from partlearn._typing import Array, Mask
from partlearn.multilabel.classification._particle import (
    BaseParticle,
    Pairs,
    fit_pairs,
    pairs_of,
    vote_blocks,
)


class ParticleVLS(BaseParticle):
    """Partial multi-label classifier by credible labels and virtual label splitting.

    Confidences are propagated between each row and the neighbors that reconstruct it,
    within the candidates. Candidates with high confidence are credible labels. Linear
    support vector machines then compare every pair of labels, credible ones against
    labels that are not candidates, and each label with a virtual label at the border
    between relevant and irrelevant.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbors of a row; at most the number of other rows.
    alpha : float, default=0.95
        Share of the neighbors when labels spread.
    thr : float, default=0.9
        Support, between 0 and 1, from which a candidate is credible.
    C : float, default=1.0
        Weight of the loss of the support vector machines.
    variant : {"clean", "direct", "release"}, default="clean"
        Where a row's credible labels come from: "clean" reads them off the confidences
        of its neighbors, "direct" off its own. "release" does what the released
        program does: a row is its own neighbor, so that nothing spreads; rows are
        elicited from the others in ten folds; where no candidate reaches `thr`, every
        label that does is taken, candidate or not; votes
        are rounded up, which makes ties.
    standardize : bool, default=True
        Divide every feature by its standard deviation. The mean stays: distances and
        linear classifiers do not depend on it.
    max_iter : int, default=1000
        Maximum number of iterations of the propagation.
    tol : float, default=1e-5
        Stop when the change of the confidences is below `tol`.
    random_state : int, RandomState or None, default=None
        Seed of the folds, if any, and of the order of equal feature scores.
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
    pairs_ : ndarray of int, shape (n_pairs, 2)
        Pairs of labels with a classifier, as columns; -1 is the virtual label.
    coef_ : ndarray of shape (n_pairs, n_features_in_)
        Coefficients of the classifiers, for the features as given; positive scores
        prefer the first label of a pair.
    intercept_ : ndarray of shape (n_pairs,)
        Intercepts of the classifiers.
    weight_ : ndarray of shape (n_pairs,)
        Training accuracy of each classifier, the weight of its vote.
    never_, always_ : ndarray of bool, shape (n_classes,)
        Labels that no and that every training row had as a candidate.
    scores_ : ndarray of shape (n_features_in_,)
        Importance of each feature: root of the sum of its squared, weighted
        coefficients. Our definition; the papers have none.
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
    ParticleMAP : The same first stage, another decision.

    Notes
    -----
    ``predict_proba`` is ``(1 + (r - v) / l) / 2`` for the votes ``r`` of a label and
    ``v`` of the virtual one: it ranks labels as the votes do, and exceeds 1/2 where a
    label is predicted. A label that no training row has as a candidate is never
    predicted, and one that all have always, since nothing can be learned about them.
    Rows without candidates are left out, with a warning.

    The support vector machines
    have a squared hinge and a free intercept, and are solved exactly. There are
    l (l + 1) / 2 of them, which suits up to a few hundred labels; the first stage costs
    one neighbor search and O(n k² d). With more neighbors than features the weights
    that rebuild a row are not unique; any of them is taken.

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
    >>> from partlearn.multilabel import ParticleVLS, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> Y = X[:, :4] > 0.5
    >>> candidates = add_noise_labels(Y, 1, random_state=0)
    >>> model = ParticleVLS(random_state=0).fit(X, candidates)
    >>> bool(np.mean(model.predict(X) == Y) > 0.7)
    True
    >>> sorted(np.argsort(model.ranking_)[:4].tolist())
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        alpha: float = 0.95,
        thr: float = 0.9,
        C: float = 1.0,
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
        self.variant = variant
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, C: Mask) -> None:
        data = self._stage_one(X, C)
        wanted = pairs_of(len(self.classes_), real=True, virtual=True)
        pairs = fit_pairs(data.X, data.E, data.N, wanted, C=self.C, n_jobs=self.n_jobs)
        self.weight_ = pairs.accuracy
        self._set_pairs(pairs, data, pairs.accuracy)

    def _label_scores(self, X: Any) -> Array:
        l = len(self.classes_)  # noqa: E741
        first, second = self.pairs_.T
        pairs = Pairs(first, second, self.coef_, self.intercept_, self.weight_)
        P = np.empty((X.shape[0], l))
        for block, h in vote_blocks(X, pairs):
            r, v = ranking_votes(h, pairs, l)
            if self.variant == "release":
                r, v = np.ceil(r), np.ceil(v)
            P[block] = (1 + (r - v[:, None]) / l) / 2
        P[:, self.never_], P[:, self.always_] = 0, 1
        return P


def ranking_votes(h: Array, pairs: Pairs, n_labels: int) -> tuple[Array, Array]:
    """Weighted votes for each label and for the virtual label.

    Source: ParticleVLS, votes with the virtual label.

    Parameters
    ----------
    h : ndarray of shape (n, p)
        1 where a classifier prefers its first label.
    pairs : Pairs
        The classifiers.
    n_labels : int
        Number of labels.

    Returns
    -------
    r : ndarray of shape (n, n_labels)
        ``r_j = sum_{m>j} a_jm h_jm + sum_{m<j} a_mj (1 - h_mj) + a_jv h_jv``.
    v : ndarray of shape (n,)
        ``v = sum_j a_jv (1 - h_jv)``.
    """
    p, a = np.arange(len(pairs.first)), pairs.accuracy
    second = np.where(pairs.second < 0, n_labels, pairs.second)  # the virtual one last
    places = np.concatenate([pairs.first, second]), np.tile(p, 2)
    shape = n_labels + 1, len(p)
    gain = sp.csr_array((np.concatenate([a, -a]), places), shape)
    lost = np.bincount(second, weights=a, minlength=n_labels + 1)
    total = (gain @ h.T).T + lost
    return total[:, :n_labels], total[:, n_labels]
