"""CRISP: cross-fitted ridge scoring projection."""

# SPDX-License-Identifier: BSD-3-Clause

from math import sqrt
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_consistent_length, check_random_state

from partlearn._array_api import as_double, at_least, like, namespace
from partlearn._math.blocks import as_rows, refuse_blocks
from partlearn._math.crossfit import (
    POOLED_PARAMETERS,
    PRESS_ROWS,
    Embedding,
    Iterations,
    LeaveOneOut,
    LinearBasis,
    NeighborSearch,
    PoolOptions,
    background_size,
    background_weight,
    crisp_iterations,
    embed,
    find_relevance,
    linear_basis,
    make_labels,
    mean_norm,
)
from partlearn._math.linalg import drawn_order
from partlearn._sklearn_compat import Interval, StrOptions, fit_context
from partlearn._typing import Array, Indices
from partlearn.base import PARAMETERS, BaseReducer, count_directions
from partlearn.candidates import BagRule, Evidence, check_evidence, warn_at_max_iter
from partlearn.decomposition._seen_rows import SeenRows


class CRISP(BaseReducer):
    """Reduce dimensions by leave-one-out ridge scores of the confidences.

    The confidences are regressed on the data with a ridge. All further steps (the
    strength of the ridge, the choice of directions, the update of the confidences, the
    share of principal components) use the score of each row from a regression fitted
    without the row. With few rows per feature a projection can reproduce any labels.
    The held-out scores keep a row from confirming its own candidate set.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default=None
        Number of directions. None or "auto" keeps all with positive held-out signal,
        and the background if it helps. An integer keeps this number of discriminant
        directions, and adds background only if there are fewer. A float keeps the
        discriminant directions that reach this share of the signal.
    n_neighbors : int, default=8
        Number of neighbors.
    n_reference : int, "auto" or None, default="auto"
        Number of rows, drawn once, among which neighbors are searched. "auto" is all
        for up to 25,000 rows and 4,000 above; None is all. With fewer than all,
        neighbors in the embedding are searched once more at the end among all rows, in
        cells. Not used with `search`.
    use_neighbors : bool or "auto", default="auto"
        Whether neighbors are among the experts. "auto" uses them. Without them the
        experts are the Gaussian classes and the regression, and an iteration is linear
        in the rows.
    background : {"auto", "none"} or float, default="auto"
        Weight, in [0, 1], of leading principal components beside the discriminant
        directions. "auto" takes the smallest weight with a likelihood of the candidate
        sets near the best; "none" is 0, which gives at most as many components as
        classes minus one.
    standardize : bool, default=True
        Whether to scale the columns to variance one; they are always centered.
    relevance : float or "auto", default="auto"
        Power of the importances by which the standardized columns are weighted, so that
        columns without information get small weights. "auto" is 1. With 0, and with
        "auto" above 1,000 columns, all columns have equal weights. Used only with
        `standardize`.
    max_iter : int, default=20
        Maximum number of iterations of scoring and update.
    tol : float, default=1e-3
        Stop when no confidence changes by more, or earlier, when two iterations in a
        row change the most likely label of at most one row in two hundred. With 0 all
        iterations are run.
    bag_rule : {"cover", "distinct", "match"}, default="cover"
        How often a label of the list of a bag occurs among its rows, where `bags` are
        given: at least once, at most once, or exactly once.
    stray_rate : float or "auto", default="auto"
        Chance that a label of no row of a bag is on its list.
        "auto" estimates it; the rule "distinct" does not use it.
    random_state : int, RandomState instance or None, default=0
        Draws reference rows and starts the truncated decomposition.
    search : neighbor transformer, default=None
        Approximate neighbor search for many rows, for example
        ``PyNNDescentTransformer``; None searches exactly. It must return eleven
        neighbors besides the row itself, or `n_neighbors` if this is more than ten.
    svd_rank : int or None, default=None
        Number of leading singular directions of the data to use. None uses all, or 500
        if both sides of the data exceed 4000, found by a randomized iteration that
        keeps sparse data sparse.
    n_jobs : int or None, default=None
        Threads of the neighbor search; the result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Directions, in the space of the standardized data.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    ridge_ : float
        Chosen ridge, as a multiple of the mean squared singular value.
    background_ : float
        Weight of the principal components.
    n_discriminant_ : int
        Number of discriminant directions with positive held-out signal.
    expert_weights_ : ndarray of shape (4,) or (2,)
        Weights of Euclidean and cosine neighbors in the embedding, of the Gaussian
        classes, and of neighbors in the input space; without neighbors, of the Gaussian
        classes and of the regression.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column for the labels, without the other columns; they sum to
        one. They come from a first fit on at most 500 rows, with `bags` on whole bags
        of at most 1,000 rows.
    relevance_ : float
        Power of the importances.
    eigenvalues_ : ndarray
        Held-out signal of each discriminant direction among the components; empty if
        only principal components are kept.
    cross_fitted_ : ndarray of shape (n_samples, n_kept)
        Position of each training row along these directions, by regressions fitted
        without the row. `transform` also contains the effect of the row's own labels.
    stray_rate_ : float or None
        Given or estimated stray rate; None without `bags`, and for rules that do not
        use it.
    objective_ : ndarray of shape (n_iter_,)
        Mean log-likelihood of the candidate sets under the experts, after each
        iteration.
    n_iter_ : int
        Number of iterations.
    n_components_ : int
        Number of components.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and scale of the training rows.
    seen_rows_ : SeenRows
        Rows and labels of all calls of `partial_fit`; only set by it.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    partlearn.feature_selection.CRISPSelector : Features chosen by the same confidences.
    partlearn.decomposition.TunedPCA : Regularizes the published reducers.
    partlearn.classification.PLKNN : Classifier commonly used after this reducer.

    Notes
    -----
    CRISP is a method of this library; it has no paper. The user guide has its formulas,
    and where other methods are better. The embedding of the training rows is the
    in-sample one, so that ``fit_transform(X, y)`` equals ``fit(X, y).transform(X)``,
    and training and new rows are treated alike. Computations are in float64 whatever
    the input; components and confidences have its precision.

    One decomposition of the data, O(m d min(m, d)), then O(m r q) an iteration with r
    the rank, and two neighbor searches in at most q - 1 dimensions. Memory is
    O(m (r + q)) besides the data and the smaller Gram matrix. Above 4,000 rows, 4,000
    random rows determine the ridge, and above 10,000 rows, 10,000 determine the
    background. The result does not depend on the order of the rows.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.decomposition import CRISP
    >>> X, y = make_blobs(120, n_features=6, centers=4, random_state=0)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> reducer = CRISP(background="none").fit(X, candidates)
    >>> reducer.transform(X).shape
    (120, 3)
    >>> float((reducer.label_confidence_.argmax(axis=1) == y).mean())
    1.0
    """

    _fits_blocks = True
    _array_api = True
    __state_types__ = (SeenRows,)
    _parameter_constraints = PARAMETERS | {
        "relevance": POOLED_PARAMETERS["relevance"],
        "background": [
            StrOptions({"auto", "none"}),
            Interval(Real, 0, 1, closed="both"),
        ],
    }

    def __init__(
        self,
        n_components: int | float | Literal["auto"] | None = None,
        *,
        n_neighbors: int = 8,
        n_reference: int | Literal["auto"] | None = "auto",
        use_neighbors: bool | Literal["auto"] = "auto",
        background: Literal["auto", "none"] | float = "auto",
        standardize: bool = True,
        relevance: float | Literal["auto"] = "auto",
        max_iter: int = 20,
        tol: float = 1e-3,
        bag_rule: Literal["cover", "distinct", "match"] = "cover",
        stray_rate: float | Literal["auto"] = "auto",
        random_state: Any = 0,
        search: Any = None,
        svd_rank: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.n_reference = n_reference
        self.use_neighbors = use_neighbors
        self.background = background
        self.standardize = standardize
        self.relevance = relevance
        self.max_iter = max_iter
        self.tol = tol
        self.bag_rule = bag_rule
        self.stray_rate = stray_rate
        self.random_state = random_state
        self.search = search
        self.svd_rank = svd_rank
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, *, confidence: Any = None, bags: Any = None) -> Self:
        """Learn the projection and the confidences.

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
        self : CRISP
            The fitted reducer.
        """
        self._forget("seen_rows_")
        X, labels = self._check_fit(X, y)
        return self._fit(X, labels, confidence, bags)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add rows and learn from all rows so far.

        The model and its model file keep the rows and their labels. The result equals
        `fit` on the rows of all calls, and takes as long.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Further rows, in memory.
        y : candidate labels
            As in `fit`. Classes and annotators may be new.

        Returns
        -------
        self : CRISP
            The fitted reducer.

        Notes
        -----
        Sums over the rows, such as :math:`X^T X` and :math:`X^T Y`, would not do
        instead of the rows. The confidences of old rows change with new ones, and those
        of a row come from its own features and leverage. Rows of the same candidate set
        can be rotated among each other so that the sums of each set stay the same, but
        the components do not.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from partlearn.decomposition import CRISP
        >>> X, y = load_iris(return_X_y=True)
        >>> whole = CRISP(use_neighbors=False).fit(X, y)
        >>> parts = CRISP(use_neighbors=False)
        >>> parts = parts.partial_fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2])
        >>> bool(np.allclose(parts.components_, whole.components_, atol=1e-8))
        True
        """
        refuse_blocks(as_rows(X), "`partial_fit` keeps the rows", "`fit` on all blocks")
        seen = getattr(self, "seen_rows_", None)
        if seen is None:
            X, labels = self._check_fit(X, y)
        else:
            X, labels = self._validate_predict(X), check_evidence(y)
            check_consistent_length(X, labels)
            X, labels = seen.joined(self.classes_, X, labels)
            self.classes_: Any = labels.classes
        self._fit(X, labels)
        self.seen_rows_ = SeenRows.of(X, labels)
        return self

    def _fit(
        self, X: Any, labels: Evidence, confidence: Any = None, bags: Any = None
    ) -> Self:
        rng = check_random_state(self.random_state)
        order = drawn_order(X, labels.weights, rng)
        rule = BagRule.of(self, bags, labels)
        given = make_labels(labels, X, confidence, rule)
        relevance = find_relevance(
            X,
            labels,
            given,
            order,
            PoolOptions(
                geometries=("linear",),
                use_neighbors=self.use_neighbors,
                n_neighbors=self.n_neighbors,
                n_reference=self.n_reference,
                max_iter=self.max_iter,
                tol=self.tol,
                n_landmarks=None,
                search=self.search,
                n_jobs=self.n_jobs,
            ),
            columns=None,
            # Neighbors in one embedding cannot pass over columns, as a pool can.
            power=(1.0 if self.relevance == "auto" else self.relevance)
            if self.standardize
            else 0.0,
            rule=rule,
        )
        self.feature_importances_ = like(relevance.importances, given.F)
        self.relevance_ = relevance.powers["linear"]
        basis, self.mean_, self.scale_ = linear_basis(
            X,
            scale=self.standardize,
            rank=self.svd_rank,
            rng=rng,
            weights=relevance.weights,
        )
        dtype, m = X.dtype, X.shape[0]
        chosen_by = None if m <= PRESS_ROWS else np.sort(order[-PRESS_ROWS:])
        model = LeaveOneOut(basis, chosen_by)
        search = NeighborSearch.among(order, self.n_reference, self.search, self.n_jobs)
        state = crisp_iterations(
            model,
            given,
            search if self.use_neighbors else None,
            n_neighbors=self.n_neighbors,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        if not state.converged:
            warn_at_max_iter(self.max_iter)
        embedding = embed(model, state.F, state.ridge)
        P, scale, weight = self._directions(basis, embedding, state, search, order)
        self._warn_if_fewer(P.shape[1], "directions carry held-out signal or variance")
        xp, kept = namespace(P), len(scale)
        self._set_components(P, embedding.values[:kept])
        self.components_ = xp.astype(self.components_, dtype, copy=False)
        along = as_double(self.components_[:kept, :]) * P[:, :kept].T
        signs = xp.where(xp.sum(along, axis=1) < 0, -1.0, like(np.ones(kept), P))
        cross_fitted = embedding.held_out[:, :kept] * (signs * like(scale, P))
        self.cross_fitted_ = xp.astype(cross_fitted, dtype)
        self.n_discriminant_ = embedding.values.shape[0]
        self.background_ = weight
        self.ridge_ = state.ridge
        self.expert_weights_ = state.expert_weights
        self.label_confidence_ = xp.astype(state.F, dtype, copy=False)
        self.objective_ = like(np.asarray(state.objective), P)
        self.n_iter_ = len(state.objective)
        self.stray_rate_ = None if rule is None else rule.rate
        return self

    def _directions(
        self,
        basis: LinearBasis,
        embedding: Embedding,
        state: Iterations,
        search: NeighborSearch,
        order: Indices,
    ) -> tuple[Array, Array, float]:
        """Return directions (d, p), discriminant factors, background weight."""
        wanted = None if self.n_components == "auto" else self.n_components
        # A direction without signal is the only one left if none has any.
        kept = max(count_directions(at_least(embedding.values, 0.0), wanted), 1)
        size = background_size(basis.s, basis.total, state.L.shape[1])
        if wanted is not None:
            whole = isinstance(wanted, Integral)
            room = int(wanted) - embedding.values.shape[0] if whole else 0
            size = min(size, max(room, 0))
        P = basis.directions(embedding.weights[:, :kept])
        if not size or self.background in ("none", 0):
            return P, np.ones(kept), 0.0
        leading = like(np.eye(basis.s.shape[0], size), basis.s)
        G = basis.embedded(leading)
        if self.background == "auto":
            w = background_weight(
                embedding.held_out, G, state.F, state.L, search, order
            )
        else:
            w = float(self.background)
        if w == 0:
            return P, np.ones(kept), w
        # Rows keep their mean squared length, on which penalties of classifiers depend.
        length = mean_norm(basis.embedded(embedding.weights[:, :kept]))
        V = basis.directions(leading) * (length / mean_norm(G))
        if w == 1:
            return V, np.ones(0), w
        factor = sqrt(1 - w)
        both = namespace(P, V).concat([factor * P, sqrt(w) * V], axis=1)
        return both, np.full(kept, factor), w
