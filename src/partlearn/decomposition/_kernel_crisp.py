"""KernelCRISP: cross-fitted discriminants in several geometries."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)

from partlearn._array_api import (
    contiguous,
    like,
    namespace,
    same_namespace,
    take,
    to_numpy,
)
from partlearn._math.blocks import lazy_rows
from partlearn._math.crossfit import (
    POOLED_PARAMETERS,
    POOLED_STATE,
    fit_pool,
    kernel_side,
    landmark_count,
    mean_norm,
)
from partlearn._sklearn_compat import Interval, fit_context
from partlearn._typing import Array
from partlearn.base import (
    PARAMETERS,
    CandidateMixin,
    MemoryEstimateMixin,
    check_informative,
    validate_evidence,
    validate_rows,
)
from partlearn.candidates import BagRule, warn_at_max_iter, warn_caller

_LEAST_LENGTH = 1e-6  # mean length of held-out rows that is not rounding
_LEAST_SHARE = 0.02  # what a geometry counts whose experts are not trusted


class PoolMixin:
    """Fit of the pool of experts, shared by CRISPClassifier and KernelCRISP."""

    max_iter: int
    geometries: Any
    n_landmarks: Any

    def _square_side(self, n_samples: int, n_features: int) -> int:
        return kernel_side(self.geometries, self.n_landmarks, n_samples)

    def _factor_side(self, n_samples: int, n_features: int) -> int:
        return landmark_count(n_samples, self.n_landmarks) or n_samples

    def _fit_pool(self, X: Any, y: Any, confidence: Any, bags: Any) -> None:
        """Fit the pool of experts, and set the attributes of both."""
        X, labels = validate_evidence(
            self, X, y, order="C", ensure_min_samples=2, blocks=True
        )
        check_informative(labels.weights, labels.classes, type(self).__name__)
        rule = BagRule.of(self, bags, labels)
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        fit = fit_pool(X, labels, params, confidence=confidence, rule=rule)
        self.__dict__.update(fit.attributes(X.dtype))
        if not fit.model.converged:
            warn_at_max_iter(self.max_iter)


@lazy_rows
class KernelCRISP(
    PoolMixin,
    CandidateMixin,
    MemoryEstimateMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Reduce dimensions by cross-fitted discriminants in several geometries.

    Confidences are regressed on the data in three geometries: linear, and with a
    Gaussian and a Laplacian kernel. As in CRISP, scores of a row come from regressions
    fitted without the row. The discriminants of all geometries, weighted by the weights
    of their experts, form a nonlinear embedding for any classifier.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components, by largest held-out signal. None keeps all: at most the
        number of classes minus one for each geometry.
    geometries : sequence of {"linear", "rbf", "laplacian"}, default=all three
        Geometries. Each has at most as many components as classes minus one.
    use_neighbors : bool or "auto", default="auto"
        Whether neighbors are among the experts. "auto" uses them. Without them an
        iteration is linear in the rows.
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
        objective no longer rises. With 0 all iterations are run.
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
        Share of rows whose candidate set misses the true label, if that is known.
    bag_rule : {"cover", "distinct", "match"}, default="cover"
        How often a label of the list of a bag occurs among its rows, where `bags` are
        given: at least once, at most once, or exactly once.
    stray_rate : float or "auto", default="auto"
        Chance that a label of no row of a bag is on its list.
        "auto" estimates it; the rule "distinct" does not use it.
    random_state : int, RandomState instance or None, default=0
        Draws the rows that choose the bandwidths, landmarks and reference rows.
    search : neighbor transformer, default=None
        Neighbor search; see :class:`CRISP`.
    n_jobs : int or None, default=None
        Threads of the neighbor search; the result does not depend on it.

    Attributes
    ----------
    cross_fitted_ : ndarray of shape (n_samples, n_components_)
        Embedding of the training rows by regressions fitted without them, as returned
        by `fit_transform`.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    eigenvalues_ : ndarray of shape (n_components_,)
        Held-out signal of each component, times the weight of its geometry.
    geometry_weights_ : dict of str to float
        Weight of each geometry; they sum to one.
    component_geometries_ : list of str
        Geometry of each component.
    expert_weights_ : dict of dict of str to float
        Weight of each expert, in the linear and in the log-linear pool.
    ridge_ : dict of str to float
        Chosen ridge of each geometry, a multiple of the mean squared singular value.
    bandwidth_ : dict of str to float
        Chosen bandwidth of each kernel, in units of the standardized data.
    stray_rate_ : float or None
        Given or estimated stray rate; None without `bags`, and for rules that do not
        use it.
    objective_ : ndarray of shape (n_iter_,)
        Mean log-likelihood of the candidate sets, after each iteration.
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
    n_components_ : int
        Number of components.
    model_ : PooledModel
        The fitted model.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    CRISP : Linear, with interpretable components.
    partlearn.classification.CRISPClassifier : The classifier with the same fit.

    Notes
    -----
    A method of this library, without a paper. The user guide has its formulas, and
    where other methods are better. ``fit_transform(X, y)`` differs from ``fit(X,
    y).transform(X)``: it returns the cross-fitted positions of the training rows, so
    that the next classifier of a pipeline is trained on rows distributed as new ones,
    as with scikit-learn's ``TargetEncoder``.

    The data are standardized inside; computations are in float64. Exact kernels need
    two eigenproblems of the size of the rows, O(m^3), and about four arrays of m x m
    numbers; L landmarks O(m L^2) and about three of m x L. A fit that would not fit
    into memory raises an error at once. Sparse data of up to 2,000 columns are made
    dense; of wider ones the linear geometry stays sparse and the kernels see the 500
    leading singular directions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.pipeline import make_pipeline
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.decomposition import KernelCRISP
    >>> X, y = make_circles(150, factor=0.4, noise=0.05, random_state=0)
    >>> candidates = np.eye(2, dtype=int)[y]
    >>> candidates[::3] = 1  # a third of the rows could be either
    >>> model = make_pipeline(KernelCRISP(1), PLKNN()).fit(X, candidates)
    >>> model.score(X, y)
    1.0
    """

    # Seen on zeros and ones: positions move by 2e-4 of the largest, confidences by
    # 5e-5. Probably rounding decides when the iterations end.
    _ties_follow = ("columns", "classes")
    __state_types__ = POOLED_STATE
    #: Training rows are placed by models without them; see `reduced_rows`.
    cross_fits = True
    _array_api = True
    _parameter_constraints = {  # noqa: RUF012
        **PARAMETERS,
        **POOLED_PARAMETERS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        geometries: Sequence[str] = ("linear", "rbf", "laplacian"),
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
        self.n_components = n_components
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
        """Learn the embedding and the confidences.

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
        self : KernelCRISP
            The fitted reducer.
        """
        self._fit_pool(X, y, confidence, bags)
        self._choose_components()
        return self

    def _choose_components(self) -> None:
        """Weight the geometries, and keep the components of largest signal."""
        model = self.model_
        self.geometry_weights_ = geometry_weights(
            [str(g.name) for g in model.geometries], self.expert_weights_["log_linear"]
        )
        v = list(self.geometry_weights_.values())
        pairs = list(zip(v, model.geometries, strict=True))
        values = np.concatenate([w * to_numpy(g.values) for w, g in pairs])
        kept = np.arange(len(values))
        if self.n_components is not None:
            kept = np.argsort(-values, kind="stable")[: self.n_components]
            if len(kept) < self.n_components:
                warn_caller(
                    f"Only {len(kept)} of n_components={self.n_components} directions "
                    f"carry held-out signal; {len(kept)} are kept."
                )
        names = [str(g.name) for _, g in pairs for _ in range(g.values.shape[0])]
        scales = [
            np.full(g.values.shape[0], np.sqrt(w) / _length(g.held_out))
            for w, g in pairs
        ]
        self._kept = like(kept, model.F)
        self._scale = like(np.concatenate(scales)[kept], model.F)
        self.eigenvalues_ = like(values[kept], model.F)
        self.component_geometries_ = [names[c] for c in kept]
        self.n_components_ = len(kept)

    @property
    def cross_fitted_(self) -> Array:
        """Cross-fitted positions of the training rows."""
        Z = self._side_by_side([g.held_out for g in self.model_.geometries])
        return namespace(Z).astype(Z, self.label_confidence_.dtype, copy=False)

    def _side_by_side(self, parts: list[Array]) -> Array:
        Z = namespace(*parts).concat(parts, axis=1)
        return contiguous(take(Z, self._kept, axis=1) * self._scale)

    def fit_transform(
        self, X: Any, y: Any = None, *, confidence: Any = None, bags: Any = None
    ) -> NDArray[Any]:
        """Fit and return the cross-fitted positions of the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            As in `fit`.
        confidence, bags
            As in `fit`.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            ``cross_fitted_``, which differs from `transform` of the same rows.
        """
        self.fit(X, y, confidence=confidence, bags=bags)
        cross_fitted: NDArray[Any] = self.cross_fitted_
        return cross_fitted

    def transform(self, X: Any) -> NDArray[Any]:
        """Embed new rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows in the units of the training data.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            The embedding.
        """
        X = validate_rows(self, X)
        same_namespace(self, X, self.label_confidence_, "transform")
        Z = self._side_by_side(self.model_.positions(X))
        return namespace(Z).astype(Z, X.dtype, copy=False)

    @classmethod
    def from_classifier(cls, classifier: Any) -> KernelCRISP:
        """Return the reducer of a fitted CRISPClassifier without fitting again.

        Parameters
        ----------
        classifier : CRISPClassifier
            A fitted classifier.

        Returns
        -------
        reducer : KernelCRISP
            With the parameters and the fit of the classifier.
        """
        reducer = cls(**classifier.get_params(deep=False))
        fitted = {k: v for k, v in vars(classifier).items() if k.endswith("_")}
        reducer.__dict__.update(fitted)
        reducer._choose_components()
        return reducer

    @property
    def _n_features_out(self) -> int:
        return self.n_components_


def _length(Z: Array) -> float:
    """Return the mean length of held-out rows, or one if it is due to rounding."""
    length = mean_norm(Z)
    return length if length > _LEAST_LENGTH else 1.0


def geometry_weights(
    names: Sequence[str], experts: dict[str, float]
) -> dict[str, float]:
    """Return the share of each geometry in the log-linear weights, at least .02.

    Source: KernelCRISP, weights of the geometries.

    Parameters
    ----------
    names : sequence of str
        Geometries.
    experts : dict of str to float
        Log-linear weight of each expert, named ``"geometry kind"``.

    Returns
    -------
    weights : dict of str to float
        Weight of each geometry.
    """
    total = max(sum(experts.values()), np.finfo(float).tiny)
    shares = {
        name: sum(w for expert, w in experts.items() if expert.split()[0] == name)
        for name in names
    }
    floored = {name: max(w / total, _LEAST_SHARE) for name, w in shares.items()}
    return {name: w / sum(floored.values()) for name, w in floored.items()}
