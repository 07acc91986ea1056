"""ML-KNN: count labels among the neighbours, decide by the maximum posterior."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from partlearn._math.graphs import weighted_votes
from partlearn._math.neighbors import query_neighbors, self_neighbors
from partlearn._sklearn_compat import Interval
from partlearn._typing import Array, Indices, Mask
from partlearn.base import PARAMETERS, BaseMultilabelClassifier

__all__ = ["MLKNN"]


class MLKNN(BaseMultilabelClassifier):
    """Multi-label classifier by neighbor counts and Bayes' rule.

    The posterior probability of each label is computed from the number of nearest
    neighbors with the label, with frequencies counted on the training rows. It is the
    usual classifier on selected features in the partial multi-label literature, trained
    on the candidates as if they were true.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbours; at most the number of other training rows.
    smoothing : float, default=1.0
        Added to every count; with 0 a posterior may be undefined, and the prior is
        used.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance; "cosine" suits text and is not in the original.
    n_jobs : int, default=None
        Threads of the neighbour search; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns.
    prior_ : ndarray of shape (n_classes,)
        Smoothed share of rows with the label.
    likelihood_ : ndarray of shape (2, n_classes, n_neighbors_ + 1)
        Probability of each neighbour count given that a row has not (0) or has (1)
        the label.
    n_neighbors_ : int
        Number of neighbours used.
    multilabel_ : bool
        Whether `fit` received a matrix or sets instead of one label per row.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where `X` had any.

    See Also
    --------
    partlearn.multilabel.PMLFSLA : A selector to put in front of it.

    Notes
    -----
    A label is predicted when its posterior is at least 0.5, as in the original program;
    several ports ask for more than 0.5. ML-KNN has no feature weights, so it cannot
    rank features; tables that list it among selectors are undefined there. Features are
    not scaled: scale them first. Fitting costs one neighbour search, O(n² d), and
    O(n k l) for the counts.

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

    # Equally near rows are taken in their order, as in the published method.
    _ties_follow = ("rows",)
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
        neighbors = self_neighbors(self._X, self.n_neighbors, n_jobs=self.n_jobs)
        self.n_neighbors_ = neighbors.shape[1]
        self.prior_, self.likelihood_ = neighbor_tables(
            C, count_labels(C, neighbors), self.n_neighbors_, self.smoothing
        )

    def _points(self, X: Any) -> Any:
        return X if self.metric == "euclidean" else normalize(X)

    def _label_scores(self, X: Any) -> Array:
        _, neighbors = query_neighbors(
            self._X, self._points(X), self.n_neighbors, n_jobs=self.n_jobs
        )
        counts = count_labels(self._C, neighbors[:, : self.n_neighbors_])
        return posterior(self.prior_, self.likelihood_, counts)


def count_labels(C: Mask, neighbors: NDArray[np.int64]) -> Indices:
    """How many of each row's neighbours carry each label, shape (n, l).

    Source: MLKNN, step (8) of the pseudo-code.
    """
    # Whole numbers that just hold the largest count: memory is what a sum waits for.
    small = np.min_scalar_type(neighbors.shape[1])
    counts: Indices = weighted_votes(C.astype(small), neighbors, np.ones((1, 1)))
    return counts.astype(np.intp)


def neighbor_tables(C: Mask, counts: Indices, k: int, s: float) -> tuple[Array, Array]:
    """Prior of each label, and likelihood of each count without and with the label.

    Source: MLKNN, steps (2), (12) and (13) of the pseudo-code.
    """
    n, l = C.shape  # noqa: E741
    # A label that no count of rows speaks of has no evidence: zero over zero is zero.
    with np.errstate(invalid="ignore", divide="ignore"):
        prior = (s + C.sum(axis=0)) / (2 * s + n)
        cell = np.arange(l) * (k + 1) + counts
        likelihood = np.empty((2, l, k + 1))
        for value in (0, 1):
            K = np.bincount(cell[value == C], minlength=l * (k + 1)).reshape(l, k + 1)
            likelihood[value] = (s + K) / (s * (k + 1) + K.sum(axis=1, keepdims=True))
    return prior, np.nan_to_num(likelihood)


def posterior(prior: Array, likelihood: Array, counts: Indices) -> Array:
    """Probability of each label given the counts among the neighbours.

    Source: MLKNN, maximum a posteriori rule.
    """
    label = np.arange(len(prior))
    present = prior * likelihood[1][label, counts]
    absent = (1 - prior) * likelihood[0][label, counts]
    total = present + absent
    known = total > 0
    fallback = np.broadcast_to(prior, counts.shape).copy()
    return np.divide(present, total, out=fallback, where=known)
