"""PL-KNN: classify by the candidate sets of the nearest neighbors."""

# SPDX-License-Identifier: BSD-3-Clause

from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from partlearn._array_api import is_numpy, like, namespace, numpy_dtype, take
from partlearn._math.blocks import Rows, lazy_rows, refuse_blocks
from partlearn._math.graphs import (
    ArrayNeighbors,
    neighbor_weights,
    shared_votes,
    tie_tolerance,
    weighted_votes,
)
from partlearn._math.neighbors import (
    cell_neighbors,
    query_neighbors,
    reference_rows,
    some_neighbors,
)
from partlearn._sizes import SIZES
from partlearn._sklearn_compat import StrOptions, fit_context
from partlearn.base import PARAMETERS, BaseCandidateClassifier
from partlearn.candidates import initial_confidence


@lazy_rows
class PLKNN(BaseCandidateClassifier):
    """Classify rows by the candidate sets of their nearest training rows.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors; at most the number of training rows.
    n_reference : int, "auto" or None, default="auto"
        Number of training rows, drawn once, among which neighbors of new rows are
        searched. "auto" is all for up to 25,000 rows and 25,000 above, None is all.
        With fewer than all, neighbors of dense training rows are searched in cells.
    weights : {"distance", "rank", "uniform"}, default="distance"
        "distance": one minus the neighbor's share of the summed distances; "rank":
        ``k - a + 1`` for the a-th nearest; "uniform": equal weights.
    variant : {"clean", "lab"}, default="clean"
        "clean" is the method as described. "lab" reproduces the program behind the
        published figures: the nearest training row of a query is skipped, and the
        others get the weights of their predecessors.
    n_jobs : int, default=None
        Threads of the neighbor search; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    votes_ : ndarray of shape (n_samples, n_classes)
        Weights of the labels of each training row: its candidate indicators, or the
        confidences passed to `fit`. Of rows in blocks, only the reference rows.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    partlearn.decomposition.CENDA : Reducer for the rows of PL-KNN.

    Notes
    -----
    All candidates of a neighbor count fully, as in the original. Distances are
    Euclidean and depend on the scale of the features: standardize first. Prediction
    costs O(n m d) for n queries and m training rows, in blocks of bounded memory.

    Training rows at the same distance share their ranks: each has its expected weight
    if ties are broken at random, so that the order of the rows and rounding do not
    matter. Of more than 1024 tied rows the first ones share. "lab" takes the first rows
    in the data, as the program does.

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

    _array_api = True
    _parameter_constraints = PARAMETERS | {
        "weights": [StrOptions({"distance", "rank", "uniform"})],
        "variant": [StrOptions({"clean", "lab"})],
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        n_reference: int | Literal["auto"] | None = "auto",
        weights: str = "distance",
        variant: str = "clean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_reference = n_reference
        self.weights = weights
        self.variant = variant
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, confidence: Any = None) -> Self:
        """Store the training rows and the weights of their candidates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes, which initialize the confidences; see
            :func:`partlearn.candidates.check_evidence`. Weights and votes are not part
            of the published method.
        confidence : array-like of shape (n_samples, n_classes), default=None
            Labeling confidences to use instead of the candidates, for example
            ``label_confidence_`` of a reducer.

        Returns
        -------
        self : PLKNN
            The fitted classifier.
        """
        X, S, confidence = self._validate_fit(X, y, confidence, blocks=True)
        if self.n_reference is None:
            refuse_blocks(X, "all training rows vote", "n_reference")
        self._reference = reference_rows(
            X.shape[0], self.n_reference, auto=SIZES.exact_rows
        )
        self._in_blocks = isinstance(X, Rows)
        votes: Any = S
        if confidence is not None:
            votes = initial_confidence(confidence, S, numpy_dtype(X))
        if self._in_blocks:  # nothing but the rows that vote is kept
            kept = np.arange(len(S)) if self._reference is None else self._reference
            X, S, votes = X.take(kept), S[kept], votes[kept]
            self._reference = None
        self._X, self._S = X, like(S, X)
        self.votes_ = like(votes, X, X.dtype)
        self._confidence: NDArray[Any] | None = None
        return self

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the share of each class among the neighbors.

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
        return scores / namespace(scores).sum(scores, axis=1, keepdims=True)

    def _scores(self, X: Any) -> NDArray[Any]:
        X = self._validate_predict(X, "_X")
        known, voters = self._X, self.votes_
        if self._reference is not None:
            known, voters = take(known, self._reference), take(voters, self._reference)
        # With a single training row there is no second nearest: nothing is passed over.
        if self.variant == "lab" and self._X.shape[0] > 1:
            k = self.n_neighbors + 1
            distances, neighbors = query_neighbors(known, X, k, n_jobs=self.n_jobs)
            w = neighbor_weights(distances, self.weights)[:, :-1]
            if self.weights == "rank":
                w = w - 1  # k neighbors are left: weights k, ..., 1
            return weighted_votes(voters, neighbors[:, 1:], w)

        def find(rows: Any, k: int) -> Any:
            queries = X if rows is None else take(X, rows)
            return query_neighbors(known, queries, k, n_jobs=self.n_jobs)

        return self._nearest_votes(find, voters, known.shape[0])

    def _nearest_votes(self, find: Any, votes: Any, most: int) -> NDArray[Any]:
        """Sum the labels of the nearest of `most` rows; equally near ones share ranks.

        Tied rows get the mean weight of the ranks they occupy, also beyond the last one
        with a weight. This is the expected weight if ties are broken at random.
        """
        k, kind = self.n_neighbors, self.weights
        near, _ = tie_tolerance(self._X)
        if not is_numpy(votes):
            voted = ArrayNeighbors(find, k, most, near)
            return voted(votes, lambda distances: neighbor_weights(distances, kind))
        return shared_votes(find, votes, k, near, kind)

    def _training_votes(self) -> NDArray[Any]:
        """Sum the labels of the neighbors of each training row."""
        X = self._X
        if self._reference is None or issparse(X) or not is_numpy(X):
            find = partial(some_neighbors, X, n_jobs=self.n_jobs)
            return self._nearest_votes(find, self.votes_, X.shape[0] - 1)
        distances, neighbors = cell_neighbors(X, self.n_neighbors, n_jobs=self.n_jobs)
        w = neighbor_weights(distances, self.weights)
        return weighted_votes(self.votes_, neighbors, w)

    @property
    def label_confidence_(self) -> NDArray[Any]:
        """Confidences of the training rows, from their own neighbors.

        Sums over the neighbors of each row, without the row itself, restricted to its
        candidates and scaled to sum to one; uniform if all sums are zero. Computed on
        first access, since it needs a neighbor search of the training rows.
        """
        check_is_fitted(self)
        if self._in_blocks:
            raise AttributeError(
                "A fit on blocks keeps only the rows that vote: there is no "
                "`label_confidence_` of all training rows."
            )
        if self._confidence is None:
            xp = namespace(self._X)
            S = xp.astype(self._S, self._X.dtype)
            F = S / xp.sum(S, axis=1, keepdims=True)
            if self._X.shape[0] > 1:
                V = self._training_votes() * S
                total = xp.sum(V, axis=1, keepdims=True)
                heard = total > 0
                F = xp.where(heard, V / xp.where(heard, total, 1.0), F)
            self._confidence = F
        return self._confidence
