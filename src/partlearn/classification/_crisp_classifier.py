"""CRISPClassifier: leave-one-out experts in several geometries, pooled."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from typing import Any, Literal, Self

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from partlearn._math.blocks import lazy_rows
from partlearn._math.crossfit import (
    POOLED_PARAMETERS,
    POOLED_STATE,
)
from partlearn._sklearn_compat import fit_context
from partlearn._typing import Array
from partlearn.base import PARAMETERS, BaseCandidateClassifier
from partlearn.decomposition import KernelCRISP, PoolMixin


@lazy_rows
class CRISPClassifier(PoolMixin, BaseCandidateClassifier):
    """Ensemble of leave-one-out experts in several geometries.

    Confidences are regressed on the data in three geometries: linear, and with a
    Gaussian and a Laplacian kernel. In each, neighbors, Gaussian classes and the
    regression itself are experts, all of them fitted without the row (leave-one-out);
    neighbors in the input space are one more. The thirteen experts are weighted by the
    held-out likelihood of the candidate sets. Their pool, restricted to the candidates,
    gives the confidences of the next iteration. Nothing is tuned on true labels.

    Parameters
    ----------
    geometries : sequence of {"linear", "rbf", "laplacian"}, default=all three
        Geometries.
    use_neighbors : bool or "auto", default="auto"
        Whether neighbors are among the experts. "auto" uses them. False needs no
        neighbor search at all, and with landmarks a time linear in the rows.
    n_neighbors : int, default=10
        Number of neighbors.
    n_reference : int, "auto" or None, default="auto"
        Number of rows, drawn once, among which neighbors are searched, those of new
        rows, too. "auto" is all for up to 25,000 rows and 4,000 above; None is all.
        With fewer than all, neighbors in the embeddings are searched once more at the
        end among all training rows, in cells, for experts whose log-linear weight
        exceeds .05. Not used with `search`.
    max_iter : int, default=10
        Maximum number of iterations.
    tol : float, default=0.01
        Stop when no confidence changes by more, or earlier, when two iterations in a
        row change the most likely label of at most one row in fifty, or when the
        objective no longer rises; without neighbors, of at most one row in two
        hundred.
        With 0 all iterations are run.
    n_landmarks : int, "auto" or None, default="auto"
        Rows by which the kernels are approximated (Nystroem). "auto" takes exact
        kernels up to 3,000 rows and 1,000 landmarks above; more are more accurate on
        classes with fine boundaries, and slower. None is always exact.
    normal_scores : bool, default=True
        Whether each column is averaged with its normal scores, so that outliers and
        heavy tails do not dominate distances. Not done above 1,000 columns.
    relevance : float or "auto", default="auto"
        Power of the importances by which the standardized columns are weighted, so that
        columns without information get small weights. "auto" takes a power for each
        geometry: 0 in the linear one, .5 in the Gaussian, 1 in the Laplacian, so that
        the weights of the experts determine their effect. With 0, and with "auto" above
        1,000 columns, all columns have equal weights.
    miss_rate : float, default=0.0
        Share of rows whose candidate set misses the true label, if that is known, for
        example from an audit of some rows.
    bag_rule : {"cover", "distinct", "match"}, default="cover"
        How often a label of the list of a bag occurs among its rows, where `bags` are
        given: at least once, at most once, or exactly once.
    stray_rate : float or "auto", default="auto"
        Chance that a label of no row of a bag is on its list.
        "auto" estimates it; the rule "distinct" does not use it.
    random_state : int, RandomState instance or None, default=0
        Draws the rows that choose the bandwidths, landmarks and reference rows.
    search : neighbor transformer, default=None
        Neighbor search; see :class:`~partlearn.decomposition.CRISP`.
    n_jobs : int or None, default=None
        Threads of the neighbor search; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    expert_weights_ : dict of dict of str to float
        Weight of each expert, in the ``"linear"`` and in the ``"log_linear"`` pool.
    ridge_ : dict of str to float
        Chosen ridge of each geometry, a multiple of the mean squared singular value.
    bandwidth_ : dict of str to float
        Chosen bandwidth of each kernel, in units of the standardized data.
    stray_rate_ : float or None
        Given or estimated stray rate; None without `bags`, and for rules that do not
        use it.
    vote_summary_ : VoteSummary or None
        If `y` are votes: the annotators, and the disagreement of features and votes.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column for the labels, without the other columns; they sum to
        one. They come from a first fit on at most 500 rows, with `bags` on whole bags
        of at most 1,000 rows.
    relevance_ : dict of str to float
        Power of the importances in each geometry.
    n_iter_ : int
        Number of iterations.
    objective_ : ndarray of shape (n_iter_,)
        Mean log-likelihood of the candidate sets, after each iteration.
    cross_fitted_ : list of ndarray of shape (n_samples, n_directions)
        Embedding of the training rows in each geometry, by regressions fitted without
        them.
    reducer_ : KernelCRISP
        The embedding of the same fit, as a reducer.
    model_ : PooledModel
        The fitted model.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    partlearn.decomposition.KernelCRISP : The embedding of the same fit.
    SURE : Self-training kernel regression, the best single published method.

    Notes
    -----
    A method of this library, without a paper. The user guide has its formulas and
    measurements, and where other methods are better. Held-out scores of a row do not
    depend on its own labels; the rotation of the scores and the weights of the pool, a
    handful of numbers, see all rows.

    The data are standardized inside; computations are in float64. Exact kernels need
    two eigenproblems of the size of the rows, O(m^3), and about four arrays of m x m
    numbers; L landmarks O(m L^2) and about three of m x L. A fit that would not fit
    into memory raises an error at once. Sparse data of up to 2,000 columns are made
    dense; of wider ones the linear geometry stays sparse and the kernels see the 500
    leading singular directions.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import CRISPClassifier
    >>> X, y = make_blobs(200, n_features=6, centers=4, random_state=0)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> model = CRISPClassifier().fit(X[:100], candidates[:100])
    >>> model.score(X[100:], y[100:])
    1.0
    >>> float((model.label_confidence_.argmax(axis=1) == y[:100]).mean())
    1.0
    >>> model.reducer_.transform(X).shape
    (200, 9)
    """

    __state_types__ = POOLED_STATE
    _array_api = True
    _parameter_constraints = {  # noqa: RUF012
        **PARAMETERS,
        **POOLED_PARAMETERS,
    }

    def __init__(
        self,
        geometries: Sequence[str] = ("linear", "rbf", "laplacian"),
        *,
        use_neighbors: bool | Literal["auto"] = "auto",
        n_neighbors: int = 10,
        n_reference: int | Literal["auto"] | None = "auto",
        max_iter: int = 10,
        tol: float = 0.01,
        n_landmarks: int | Literal["auto"] | None = "auto",
        normal_scores: bool = True,
        relevance: float | Literal["auto"] = "auto",
        miss_rate: float = 0.0,
        bag_rule: Literal["cover", "distinct", "match"] = "cover",
        stray_rate: float | Literal["auto"] = "auto",
        random_state: Any = 0,
        search: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.geometries = geometries
        self.use_neighbors = use_neighbors
        self.n_neighbors = n_neighbors
        self.n_reference = n_reference
        self.max_iter = max_iter
        self.tol = tol
        self.n_landmarks = n_landmarks
        self.normal_scores = normal_scores
        self.relevance = relevance
        self.miss_rate = miss_rate
        self.bag_rule = bag_rule
        self.stray_rate = stray_rate
        self.random_state = random_state
        self.search = search
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, *, confidence: Any = None, bags: Any = None) -> Self:
        """Learn the experts, their weights and the confidences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes; see
            :func:`partlearn.candidates.check_evidence`.
        confidence : array-like of shape (n_samples, n_classes), default=None
            Labeling confidences to start from, for example ``label_confidence_`` of a
            reducer; those of the labels themselves by default.
        bags : array-like of shape (n_samples,), default=None
            Bag of each row: rows that share one list of labels, each of which belongs
            to some row of the bag. See :func:`partlearn.candidates.bag_confidence`.

        Returns
        -------
        self : CRISPClassifier
            The fitted classifier.
        """
        self._fit_pool(X, y, confidence, bags)
        return self

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Predict the probability of each class by the pooled experts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        X = self._validate_predict(X, "label_confidence_")
        return self.model_.confidence(X, search=self.search, n_jobs=self.n_jobs)

    @property
    def cross_fitted_(self) -> list[Array]:
        """Cross-fitted positions of the training rows in each geometry."""
        return [g.held_out for g in self.model_.geometries]

    @property
    def reducer_(self) -> KernelCRISP:
        """The embedding of the same fit, as a reducer."""
        check_is_fitted(self)
        return KernelCRISP.from_classifier(self)
