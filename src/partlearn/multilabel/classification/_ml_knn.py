"""ML-KNN: count labels among the neighbors, decide by the maximum posterior."""

# SPDX-License-Identifier: BSD-3-Clause

from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from partlearn._math.graphs import shared_votes, tie_tolerance
from partlearn._math.neighbors import query_neighbors, some_neighbors
from partlearn._sklearn_compat import Interval
from partlearn._typing import Array, Indices, Mask
from partlearn.base import PARAMETERS, BaseMultilabelClassifier


class MLKNN(BaseMultilabelClassifier):
    """Multi-label classifier by neighbor counts and Bayes' rule.

    The posterior probability of each label is computed from the number of nearest
    neighbors with the label, with frequencies counted on the training rows. It is the
    usual classifier on selected features in the partial multi-label literature, trained
    on the candidates as if they were true.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors; at most the number of other training rows.
    smoothing : float, default=1.0
        Added to every count; with 0 a posterior may be undefined, and the prior is
        used.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance; "cosine" suits text and is not in the original.
    n_jobs : int, default=None
        Threads of the neighbor search; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns.
    prior_ : ndarray of shape (n_classes,)
        Smoothed share of rows with the label.
    likelihood_ : ndarray of shape (2, n_classes, n_neighbors_ + 1)
        Probability of each neighbor count, for rows without (0) and with (1) the label.
    n_neighbors_ : int
        Number of neighbors used.
    multilabel_ : bool
        Whether `fit` received a matrix or sets instead of one label per row.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    partlearn.multilabel.PMLFSLA : A selector to put in front of it.

    Notes
    -----
    A label is predicted when its posterior is at least 0.5, as in the original program;
    several ports require more than 0.5. ML-KNN has no feature weights, so it cannot
    rank features. Scale the features first. Equally near training rows share their
    ranks, whereas the original takes those that come first in the data. Counts of
    neighbors are then fractions, and their likelihood is interpolated.

    Fitting costs one neighbor search, O(n² d), and O(n k l) for the counts.

    References
    ----------
    Min-Ling Zhang and Zhi-Hua Zhou. ML-KNN: A lazy learning approach to multi-label
    learning. Pattern Recognition 40(7), 2007, 2038-2048.
    https://doi.org/10.1016/j.patcog.2006.12.019

    Examples
    --------
    >>> from partlearn.multilabel import MLKNN
    >>> X = [[0.0], [0.1], [0.2], [0.3], [1.0], [1.1], [1.2], [1.3]]
    >>> y = [{"sea"}, {"sea"}, {"sea", "sun"}, {"sea"}] + [{"sun"}] * 4
    >>> model = MLKNN(n_neighbors=3).fit(X, y)
    >>> model.classes_
    array(['sea', 'sun'], dtype='<U3')
    >>> model.predict([[0.05], [1.15]])
    array([[1, 0],
           [0, 1]])
    """

    _parameter_constraints = PARAMETERS | {
        "smoothing": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        smoothing: float = 1.0,
        metric: str = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.metric = metric
        self.n_jobs = n_jobs

    def _fit(self, X: Any, C: Mask) -> None:
        self._X, self._C = self._points(X), C
        self.n_neighbors_ = min(self.n_neighbors, len(C) - 1)
        counts = self._counts(partial(some_neighbors, self._X, n_jobs=self.n_jobs))
        self.prior_, self.likelihood_ = neighbor_tables(
            C, counts, self.n_neighbors_, self.smoothing
        )

    def _points(self, X: Any) -> Any:
        return X if self.metric == "euclidean" else normalize(X)

    def _label_scores(self, X: Any) -> Array:
        X = self._points(X)

        def find(rows: Indices | None, k: int) -> tuple[Array, Indices]:
            queries = X if rows is None else X[rows]
            return query_neighbors(self._X, queries, k, n_jobs=self.n_jobs)

        return posterior(self.prior_, self.likelihood_, self._counts(find))

    def _counts(self, find: Any) -> Array:
        near, _ = tie_tolerance(self._X)
        return count_labels(find, self._C, self.n_neighbors_, near)


def count_labels(find: Any, C: Mask, k: int, near: float) -> Array:
    """How many of each row's neighbors carry each label, shape (n, l).

    Source: MLKNN, step (8) of the pseudo-code.

    Equally near rows share the places that they take, so that there may be parts of
    one. They are rounded: sums in another order are the same.
    """
    counts = shared_votes(find, C.astype(np.float64), k, near, "uniform")
    return np.round(counts, 9)


def between(counts: Array) -> tuple[Indices, Indices, Array]:
    """Whole numbers around each count, and how far it is from the lower one."""
    low = counts.astype(np.intp)
    part = counts - low
    return low, low + (part > 0), part


def neighbor_tables(C: Mask, counts: Array, k: int, s: float) -> tuple[Array, Array]:
    """Prior of each label, and likelihood of each count without and with the label.

    Source: MLKNN, steps (2), (12) and (13) of the pseudo-code.
    """
    n, l = C.shape  # noqa: E741
    # A label that no count of rows speaks of has no evidence: zero over zero is zero.
    with np.errstate(invalid="ignore", divide="ignore"):
        prior = (s + C.sum(axis=0)) / (2 * s + n)
        low, high, part = between(counts)
        first = np.arange(l) * (k + 1)
        likelihood = np.empty((2, l, k + 1))
        for value in (0, 1):
            some = value == C
            K = np.zeros(l * (k + 1))
            for count, weight in ((low, 1 - part), (high, part)):
                K += np.bincount((first + count)[some], weight[some], len(K))
            K = K.reshape(l, k + 1)
            likelihood[value] = (s + K) / (s * (k + 1) + K.sum(axis=1, keepdims=True))
    return prior, np.nan_to_num(likelihood)


def posterior(prior: Array, likelihood: Array, counts: Array) -> Array:
    """Probability of each label given the counts among the neighbors.

    Source: MLKNN, maximum a posteriori rule.
    """
    label = np.arange(len(prior))
    low, high, part = between(counts)
    without, given = (
        (1 - part) * table[label, low] + part * table[label, high]
        for table in likelihood
    )
    present = prior * given
    absent = (1 - prior) * without
    total = present + absent
    known = total > 0
    fallback = np.broadcast_to(prior, counts.shape).copy()
    return np.divide(present, total, out=fallback, where=known)
