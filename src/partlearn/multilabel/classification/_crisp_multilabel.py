"""CRISPMultiLabelClassifier: leave-one-out ridge regressions of listed tags."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from partlearn._array_api import (
    as_double,
    is_numpy,
    like,
    namespace,
    take,
    to_numpy,
)
from partlearn._math.blocks import lazy_rows
from partlearn._math.crossfit import (
    POOLED_PARAMETERS,
    RIDGE_STATE,
    centered,
    check_geometries,
    fit_ridges,
    landmark_count,
    pool_ridges,
    ridge_numbers,
)
from partlearn._math.linalg import content_order, in_data_order
from partlearn._sklearn_compat import Interval, StrOptions, fit_context
from partlearn._typing import Array
from partlearn.base import PARAMETERS, BaseMultilabelClassifier, validate_tags
from partlearn.candidates import Tags, one_label_each
from partlearn.multilabel.classification._linear import top_threshold


def _has_false_rate(estimator: Any) -> bool:
    if estimator.false_rate is None:
        raise AttributeError(
            "Probabilities need `false_rate`, the share of tags that are listed where "
            "they are not true; it cannot be estimated from the tags themselves."
        )
    return True


@lazy_rows
class CRISPMultiLabelClassifier(BaseMultilabelClassifier):
    """Learn from partly wrong tags by leave-one-out ridge regressions.

    The listed tags are regressed on the rows in a linear, a Gaussian and a Laplacian
    geometry. The score of a row comes from regressions without the row, so a tag that
    is listed by mistake does not support itself. Geometries are weighted by their
    held-out error for each tag, and the scores are projected on the leading directions
    of the tag space.

    Parameters
    ----------
    geometries : sequence of str, default=("linear", "rbf", "laplacian")
        Geometries in which rows are scored, each once.
    rank : float or None, default=0.99
        Share of the squared held-out scores that the kept directions of the tag space
        hold; 1 or None keeps all directions.
    false_rate : float, array-like of shape (n_classes,) or None, default=None
        Share of the rows without a true tag that list it; one number, or one per tag.
        It cannot be estimated from the listed tags. Required for probabilities.
    threshold : float or "count", default=0.5
        A tag is predicted if its score is larger, or its probability with `false_rate`.
        "count" predicts for each row as many tags as a training row lists on average;
        with `false_rate`, as many as are expected to be true.
    n_landmarks : int, "auto" or None, default="auto"
        Landmarks of the kernels; "auto" takes exact kernels up to 3,000 rows and 2,000
        landmarks above, fewer for very many rows. None is always exact.
    random_state : int, RandomState or None, default=None
        Draws landmarks, and above 1,000 rows those that choose the bandwidths.
    n_jobs : int or None, default=None
        Threads, at most one per geometry; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The tags, in the order of the columns.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Held-out score of each listed tag of each training row, clipped to [0, 1]; with
        `false_rate` the probability that the listed tag is true. Zero where a tag is
        not listed. Rows do not sum to one.
    held_out_scores_ : ndarray of shape (n_samples, n_classes)
        Held-out scores of all tags of the training rows.
    geometry_weights_ : dict of str to ndarray of shape (n_classes,)
        Weight of each geometry for each tag.
    ridge_ : dict of str to float
        Chosen ridge of each geometry.
    bandwidth_ : dict of str to float
        Chosen bandwidth of each kernel.
    n_directions_ : int
        Directions of the tag space that were kept.
    n_labels_ : int
        Tags predicted per row where they are counted.
    model_ : RidgePool
        Scores of new rows.
    multilabel_ : bool
        Whether `fit` received a matrix or sets instead of one label per row.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    partlearn.classification.CRISPClassifier : For candidates with one true label.
    PMLLC : Learns a confidence for every candidate.

    Notes
    -----
    A method of this library, without a paper; the page about tags in the user guide
    has its formulas and figures. Each ridge minimizes the leave-one-out error over all
    tags. With a false rate :math:`r` and a score :math:`G`, a tag is true with
    probability :math:`P = (G - r) / (1 - r)`, and a listed one with probability
    :math:`P / (P + (1 - P) r)`.

    Exact kernels need O(m^3) operations and about four arrays of m x m numbers; L
    landmarks O(m L^2) and about three of m x L. Sparse data of up to 2,000 columns are
    made dense; of wider ones the linear geometry stays sparse and the kernels see the
    500 leading singular directions.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel import CRISPMultiLabelClassifier, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> truth = X[:, :4] > 0.3
    >>> listed = add_noise_labels(truth, 1, random_state=0)
    >>> model = CRISPMultiLabelClassifier().fit(X, listed)
    >>> believed = model.label_confidence_ > 0.5
    >>> [round(float((truth == tags).mean()), 2) for tags in (listed, believed)]
    [0.75, 0.86]
    """

    __state_types__ = RIDGE_STATE
    _array_api = True
    _parameter_constraints = PARAMETERS | {
        "geometries": POOLED_PARAMETERS["geometries"],
        "n_landmarks": POOLED_PARAMETERS["n_landmarks"],
        "rank": [Interval(Real, 0, 1, closed="right"), None],
        "false_rate": [Interval(Real, 0, 1, closed="left"), "array-like", None],
        "threshold": [Real, StrOptions({"count"})],
    }

    def __init__(
        self,
        geometries: Sequence[str] = ("linear", "rbf", "laplacian"),
        *,
        rank: float | None = 0.99,
        false_rate: Any = None,
        threshold: float | Literal["count"] = 0.5,
        n_landmarks: int | Literal["auto"] | None = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.geometries = geometries
        self.rank = rank
        self.false_rate = false_rate
        self.threshold = threshold
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _factor_side(self, n_samples: int, n_features: int) -> int:
        return landmark_count(n_samples, self.n_landmarks) or n_samples

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn scores of tags.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : tags
            A binary matrix of shape (n_samples, n_classes), a sequence of sets, tags
            with weights or votes; see :func:`partlearn.candidates.check_tags`. Rows may
            be without any tag.

        Returns
        -------
        self : CRISPMultiLabelClassifier
            The fitted classifier.
        """
        names = check_geometries(self.geometries)
        if isinstance(y, Iterator):  # to be read twice
            y = list(y)
        X, tags = validate_tags(self, X, y)
        self.multilabel_ = isinstance(y, Tags) or not one_label_each(y)
        rate = self._rate()
        W = np.asarray(tags.weights, dtype=np.float64)
        order = content_order(X, W)
        Y, means = centered(W[order], X)
        space, fits = fit_ridges(
            take(X, order),
            Y,
            names,
            n_landmarks=self.n_landmarks,
            rng=check_random_state(self.random_state),
            n_jobs=self.n_jobs,
        )
        rank = 1.0 if self.rank is None else float(self.rank)
        pool, G, weights, self.n_directions_ = pool_ridges(space, fits, Y, means, rank)
        self.model_ = pool
        self.geometry_weights_ = {
            str(fit.name): weights[g, :] for g, fit in enumerate(fits)
        }
        self.ridge_ = {str(fit.name): fit.ridge for fit in fits}
        self.bandwidth_ = {
            str(fit.name): fit.bandwidth for fit in fits if fit.bandwidth is not None
        }
        xp, G = namespace(G), in_data_order(G, order)
        self.held_out_scores_ = xp.astype(G, X.dtype, copy=False)
        listed = tags.candidates
        F = to_numpy(G)
        F = np.clip(F, 0, 1) if rate is None else listed_probability(F, rate)
        F = np.where(listed, F, 0.0)
        believed = tags.weights.sum() if rate is None else F.sum()
        self.n_labels_ = max(round(float(believed) / len(W)), 1)
        self.label_confidence_ = xp.astype(like(F, G), X.dtype, copy=False)
        return self

    def _rate(self) -> Array | None:
        """False rate, one number per tag."""
        if self.false_rate is None:
            return None
        rate = np.asarray(self.false_rate, dtype=np.float64)
        q = self.classes_.shape[0]
        if rate.shape not in ((), (q,)) or not ((rate >= 0) & (rate < 1)).all():
            raise ValueError(
                "`false_rate` must be one number of at least 0 and below 1, or one "
                f"such number for each of the {q} tags; got {self.false_rate!r}."
            )
        return np.broadcast_to(rate, (q,))

    def tag_scores(self, X: Any) -> Array:
        """Score of each tag: the estimated share of such rows that list it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        G : ndarray of shape (n_samples, n_classes)
            Scores, mostly between 0 and 1, columns as in ``classes_``.
        """
        X = self._validate_predict(X, "label_confidence_")
        X = X.astype(np.float64, copy=False) if is_numpy(X) else as_double(X)
        return self.model_.scores(X)

    def decision_function(self, X: Any) -> Array:
        """Score of each tag, less the threshold from which a tag is predicted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        D : ndarray of shape (n_samples, n_classes)
            Positive where the tag is predicted, columns as in ``classes_``. If the
            classifier was fitted with two plain labels, of shape (n_samples,): how far
            the second is ahead of the first.
        """
        G = self.tag_scores(X)
        if not self.multilabel_:
            return G[:, 1] - G[:, 0] if G.shape[1] == 2 else G
        rate = self._rate()
        if self.threshold == "count":
            ranked = G if rate is None else true_probability(G, like(rate, G))
            return ranked - top_threshold(ranked, self.n_labels_)
        if rate is None:
            return G - self.threshold
        return G - like(rate + self.threshold * (1 - rate), G)

    @available_if(_has_false_rate)
    def predict_proba(self, X: Any) -> Array:
        """Probability that each tag is true, given the false rate.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Between 0 and 1, columns as in ``classes_``. Rows sum to one only if the
            classifier was fitted with plain labels.
        """
        G = self.tag_scores(X)
        rate = self._rate()
        assert rate is not None
        P = true_probability(G, like(rate, G))
        if self.multilabel_:
            return P
        xp = namespace(P)
        total = xp.sum(P, axis=1, keepdims=True)
        even = xp.full_like(P, 1 / P.shape[1])
        return xp.where(total > 0, P / xp.where(total > 0, total, 1.0), even)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the tags of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        Y : ndarray of int, shape (n_samples, n_classes)
            Binary matrix, columns as in ``classes_``. Of shape (n_samples,), holding
            labels, if the classifier was fitted with plain labels.
        """
        check_is_fitted(self)
        if self.multilabel_:
            D = self.decision_function(X)
            xp = namespace(D)
            return xp.astype(D > 0, xp.int64)
        G = self.tag_scores(X)
        best = namespace(G).argmax(G, axis=1)
        text = is_numpy(self.classes_)  # which has no other place
        return self.classes_[to_numpy(best)] if text else take(self.classes_, best)

    def memory_estimate(self, n_samples: int, n_features: int, n_classes: int) -> int:
        """Estimate the peak memory of `fit` on dense float64 data, in bytes.

        Parameters
        ----------
        n_samples, n_features, n_classes : int
            Size of the data.

        Returns
        -------
        nbytes : int
            An order of magnitude: kernels, scores and copies of the data.
        """
        count = landmark_count(n_samples, self.n_landmarks)
        numbers = ridge_numbers(
            n_samples, n_classes, self.geometries, count, self.n_jobs
        )
        return 8 * (numbers + 3 * n_samples * n_features)


def true_probability(G: Array, rate: Array) -> Array:
    """Probability that a tag is true, from its score and its false rate.

    Parameters
    ----------
    G : ndarray of shape (n, q)
        Scores: estimates of the probability that the tag is listed.
    rate : ndarray of shape (q,)
        Probability that a tag is listed where it is not true.

    Returns
    -------
    P : ndarray of shape (n, q)
        ``(G - r) / (1 - r)``, clipped to [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.multilabel.classification._crisp_multilabel import (
    ...     true_probability,
    ... )
    >>> true_probability(np.array([[0.2, 0.6]]), np.array([0.2, 0.2]))
    array([[0. , 0.5]])
    """
    return namespace(G).clip((G - rate) / (1 - rate), 0.0, 1.0)


def listed_probability(G: Array, rate: Array) -> Array:
    """Probability that a listed tag is true: ``P / (P + (1 - P) r)``.

    Parameters
    ----------
    G, rate
        As in :func:`true_probability`.

    Returns
    -------
    P : ndarray of shape (n, q)
        Without false tags, one.
    """
    P = true_probability(G, rate)
    total = P + (1 - P) * rate
    return np.divide(P, total, out=np.ones_like(P), where=total > 0)
