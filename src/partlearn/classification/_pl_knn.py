"""PL-KNN: nearest neighbours vote with their whole candidate sets."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from partlearn._sklearn_compat import Interval, StrOptions, fit_context
from partlearn.base import BasePartialClassifier, initial_confidence
from partlearn.candidates import uniform_confidence
from partlearn.graphs import vote_weights
from partlearn.neighbors import query_neighbors, self_neighbors

__all__ = ["PLKNN"]

_BLOCK = 1 << 22  # votes gathered at a time


class PLKNN(BasePartialClassifier):
    """Classify by the candidate sets of the nearest training rows.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbours that vote; at most the number of training rows.
    weights : {"distance", "rank", "uniform"}, default="distance"
        "distance": one minus the neighbour's share of the summed distances; "rank":
        ``k - a + 1`` for the a-th nearest; "uniform": all alike.
    variant : {"clean", "lab"}, default="clean"
        "clean" is the method as described. "lab" reproduces the program behind the
        published figures: the nearest training row of a query is passed over and the
        remaining ones take the weights of their predecessors.
    n_jobs : int, default=None
        Threads of the neighbour search; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    votes_ : ndarray of shape (n_samples, n_classes)
        What each training row votes with: its candidate indicators, or the
        confidences passed to `fit`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where `X` had any.

    See Also
    --------
    partlearn.decomposition.CENDA : A reducer to put in front of it.

    Notes
    -----
    Candidates vote with their raw 0/1 indicators: a row with many candidates casts
    many votes, as in the original. Distances are Euclidean and depend on the scale of
    the features: standardise first. Prediction costs O(n m d) for n queries and m
    training rows, in blocks of bounded memory.

    Of training rows that are equally far, those that come first in the data vote, so
    that with coarse features the order of the rows matters a little: on the pixels of
    digits a probability moves by up to .05.

    References
    ----------
    Eyke Huellermeier and Juergen Beringer. Learning from Ambiguously Labeled Examples.
    Intelligent Data Analysis 10(5), 2006, 419-439.

    Examples
    --------
    >>> from partlearn.classification import PLKNN
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
    >>> PLKNN(n_neighbors=3).fit(X, y).predict([[0.05], [1.05]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"distance", "rank", "uniform"})],
        "variant": [StrOptions({"clean", "lab"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        weights: str = "distance",
        variant: str = "clean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.variant = variant
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, confidence: Any = None) -> Self:
        """Remember the training rows and what they vote with.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            label sets, or weights and votes, whose shares the first confidences then
            are, which is no longer the published method; see
            :func:`partlearn.candidates.check_evidence`.
        confidence : array-like of shape (n_samples, n_classes), default=None
            Labelling confidences to vote with instead of the candidates, for example
            ``label_confidence_`` of a reducer.

        Returns
        -------
        self : PLKNN
            The fitted classifier.
        """
        self._X, S, confidence = self._validate_fit(
            X, y, confidence, accept_sparse="csr", order="C"
        )
        self._S = S
        self._confidence: NDArray[Any] | None = None
        if confidence is None:
            self.votes_ = S.astype(self._X.dtype)
        else:
            self.votes_ = initial_confidence(confidence, S, self._X.dtype)
        return self

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Give each class its share of the votes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Shares; rows sum to one.
        """
        scores = self._scores(X)
        return scores / scores.sum(axis=1, keepdims=True)

    def _scores(self, X: Any) -> NDArray[Any]:
        X = self._validate_predict(X)
        # With a single training row there is no second nearest: nothing is passed over.
        lab = self.variant == "lab" and self._X.shape[0] > 1
        k = self.n_neighbors + lab
        distances, neighbors = query_neighbors(self._X, X, k, n_jobs=self.n_jobs)
        w = neighbor_weights(distances, self.weights)
        if lab:
            neighbors, w = neighbors[:, 1:], w[:, :-1]
            if self.weights == "rank":
                w = w - 1  # k neighbours are left: weights k, ..., 1
        return weighted_votes(self.votes_, neighbors, w)

    @property
    def label_confidence_(self) -> NDArray[Any]:
        """Disambiguation of the training rows by their own neighbours.

        The votes of each row's neighbours, itself excluded, inside its candidate set
        and scaled to sum to one; uniform over the candidates where none votes. Needs a
        neighbour search of the training rows, hence computed when first asked for.
        """
        check_is_fitted(self)
        if self._confidence is None:
            F = uniform_confidence(self._S, self._X.dtype)
            if self._X.shape[0] > 1:
                distances, neighbors = self_neighbors(
                    self._X, self.n_neighbors, return_distance=True, n_jobs=self.n_jobs
                )
                w = neighbor_weights(distances, self.weights)
                V = weighted_votes(self.votes_, neighbors, w) * self._S
                heard = V.sum(axis=1) > 0
                F[heard] = V[heard] / V[heard].sum(axis=1, keepdims=True)
            self._confidence = F
        return self._confidence


def neighbor_weights(distances: NDArray[Any], kind: str) -> NDArray[np.float64]:
    """Weights of neighbours at these distances, nearest first, shape (n, k).

    Source: PLKNN, weights of the votes.
    """
    n, k = distances.shape
    if kind != "distance":
        flat = vote_weights(k, "rank" if kind == "rank" else "uniform")
        return np.broadcast_to(flat, (n, k))
    if k == 1:
        return np.ones((n, 1))
    total = distances.sum(axis=1, keepdims=True)
    # All neighbours duplicates of the query: they count alike.
    return 1 - distances / np.where(total > 0, total, np.inf)


def weighted_votes(
    votes: NDArray[Any], neighbors: NDArray[np.intp], w: NDArray[np.float64]
) -> NDArray[Any]:
    """Sum the neighbours' votes: ``score_i = sum_a w_ia votes[neighbor_ia]``.

    Source: PLKNN, votes.
    """
    scores = np.empty((neighbors.shape[0], votes.shape[1]), dtype=votes.dtype)
    w = w.astype(votes.dtype)
    step = max(1, _BLOCK // (neighbors.shape[1] * votes.shape[1]))
    for start in range(0, len(scores), step):
        block = slice(start, start + step)
        scores[block] = np.einsum("ia,iaj->ij", w[block], votes[neighbors[block]])
    return scores
