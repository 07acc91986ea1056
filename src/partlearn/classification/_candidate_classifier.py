"""Cross-fitted classifiers of other packages on candidate labels."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from partlearn._arguments import argument, check_one_per_row
from partlearn._math.blocks import lazy_rows
from partlearn._progress import iterations
from partlearn._sklearn_compat import (
    HasMethods,
    StrOptions,
    fit_context,
    num_samples,
    safe_indexing,
)
from partlearn._typing import Array, Indices, Mask
from partlearn.base import (
    PARAMETERS,
    BaseCandidateClassifier,
    check_same_length,
    check_two_classes,
)
from partlearn.candidates import (
    VOTE_STATE,
    BagRule,
    Votes,
    check_evidence,
    summarize_votes,
)
from partlearn.classification._soft_labels import (
    Constant,
    SoftModel,
    by_column,
    fit_soft,
)
from partlearn.model_selection import StratifiedCandidateKFold

_SMOOTHING = 1e-3  # confidence that every class keeps

Fold = tuple[Indices, Indices]


@lazy_rows
class CandidateClassifier(BaseCandidateClassifier):
    r"""Learn from candidate labels with a classifier of your choice.

    Two steps alternate: the classifier is fitted on all candidates weighted by their
    confidence, and its held-out probabilities give new confidences. Probabilities are
    held out because a flexible classifier reproduces the labels of its own training
    rows.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        Any classifier of scikit-learn, LightGBM or XGBoost, or a Pipeline that ends in
        one; a regressor for several targets is fitted on the confidences. None stands
        for a random forest.
    cross_fit : bool or "oob", default=True
        Whether the confidences of a row come from a classifier fitted without it, by
        the folds of `cv`. "oob" takes the out-of-bag predictions of a forest or of
        bagging instead, which need no folds. False takes predictions of the training
        rows themselves (plain EM), for comparison only.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; every row must be in some test part. An integer makes shuffled folds that
        spread rare labels, and keep groups together where `groups` are given.
    max_iter : int, default=5
        Number of iterations.
    bag_rule : {"cover", "distinct", "match"}, default="cover"
        How often a label of the list of a bag occurs among its rows, where `bags` are
        given: at least once, at most once, or exactly once.
    stray_rate : float or "auto", default="auto"
        Chance that a label of no row of a bag is on its list. "auto" estimates it; the
        rule "distinct" does not use it.
    random_state : int, RandomState or None, default=None
        Draws the folds, and seeds estimators that have no seed of their own.
    n_jobs : int or None, default=None
        Folds in parallel; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    feature_confidence_ : ndarray of shape (n_samples, n_classes)
        Probabilities of each training row by its features, in the last iteration; held
        out unless `cross_fit` is False. Rows sum to one.
    estimator_ : estimator
        The clone fitted on all rows, if there is only one.
    estimators_ : list of estimators
        Clones fitted on all rows: one, or several on drawn labels if the estimator
        takes no weights.
    vote_summary_ : VoteSummary or None
        If `y` are votes: the annotators, and the disagreement of features and votes.
    stray_rate_ : float or None
        Given or estimated stray rate; None without `bags`, and for rules that do not
        use it.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    partlearn.candidates.from_votes : Labels of several annotators.
    partlearn.candidates.bag_confidence : Labels of new rows that share a list.

    Notes
    -----
    With evidence :math:`L` (for sets the candidate matrix), confidences start at
    :math:`L` with rows scaled to sum to one. An iteration fits the classifier on every
    row once per label of confidence at least 0.001, with the confidence as weight, and
    sets :math:`F_{ij} \propto L_{ij} (P_{ij} + 0.001)`, where :math:`P` are the
    probabilities of held-out rows. Votes are weighted again by :math:`P` after every
    iteration. With bags, these confidences are shared among the rows of each bag by the
    rule `bag_rule` of :func:`~partlearn.candidates.bag_confidence`; the stray rate is
    estimated again in every iteration. Folds are drawn over rows, not over bags.

    An estimator without ``predict_proba`` needs ``decision_function``; probabilities
    are its softmax. If its `fit` has no ``sample_weight``, it is fitted five times on
    one label per row, drawn by the confidences, and the predictions are averaged. The
    same holds for forests and bagging with ``cross_fit="oob"``, since a repeated row
    would be in the bootstrap sample of almost every tree.

    Cost: ``max_iter * cv + 1`` fits on as many rows as there are candidates.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import CandidateClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> model = CandidateClassifier(LogisticRegression(max_iter=1000), random_state=0)
    >>> model.fit(X, candidates).score(X, y) > 0.9
    True
    """

    _parameter_constraints = PARAMETERS | {
        "estimator": [HasMethods(["fit"]), None],
        "cross_fit": ["boolean", StrOptions({"oob"})],
        "cv": ["cv_object"],
    }
    # Folds are drawn over the rows, filed under the first of equally rare labels; the
    # default forest draws columns.
    _order_matters = ("rows", "classes", "columns")
    __state_types__ = (Constant, SoftModel, *VOTE_STATE)

    def __init__(
        self,
        estimator: Any = None,
        *,
        cross_fit: bool | Literal["oob"] = True,
        cv: Any = 5,
        max_iter: int = 5,
        bag_rule: Literal["cover", "distinct", "match"] = "cover",
        stray_rate: float | Literal["auto"] = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cross_fit = cross_fit
        self.cv = cv
        self.max_iter = max_iter
        self.bag_rule = bag_rule
        self.stray_rate = stray_rate
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        bags: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit the classifier and refine the confidences alternately.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training rows, as the estimator takes them.
        y : Evidence or candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes from the constructors of
            :mod:`partlearn.candidates`.
        bags : array-like of shape (n_samples,), default=None
            Bag of each row, such as the photograph of a face: rows of a bag share one
            list of labels, each of which belongs to at least one of them. The list is
            the union of their candidates. A row without a bag (None, NaN) is a bag of
            its own.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows that belong together, such as pictures of one person. They
            are passed to `cv`, so that rows of a group are held out together.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : CandidateClassifier
            The fitted classifier.
        """
        X = self._checked_rows(X, reset=True)
        labels = check_evidence(y)
        self.classes_ = labels.classes
        check_two_classes(self.classes_, type(self).__name__)
        check_same_length(num_samples(X), len(labels))
        weight = _checked_weight(sample_weight, len(labels))
        rule = BagRule.of(self, bags, labels)
        rng = check_random_state(self.random_state)
        estimator = by_column(self._estimator(), self.classes_)
        folds = self._folds(X, labels.candidates, groups, rng)
        F = np.asarray(labels.confidence())
        for _ in iterations("CandidateClassifier", self.max_iter):
            P = self._confidences(estimator, X, F, weight, folds, rng)
            F = labels.updated(P + _SMOOTHING) * (P + _SMOOTHING)
            F /= F.sum(axis=1, keepdims=True)
            F = F if rule is None else rule(F)
        self.stray_rate_ = None if rule is None else rule.rate
        self._model = fit_soft(estimator, X, F, weight, _seed(rng))
        self.label_confidence_, self.feature_confidence_ = F, P
        self.vote_summary_ = None
        if isinstance(labels, Votes):
            self.vote_summary_ = summarize_votes(labels, F, features=P)
        self.n_iter_ = self.max_iter
        return self

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        """Return rows that can be indexed, otherwise unchecked."""
        if _are_texts(X):
            return X
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if get_tags(self._given()).input_tags.sparse else False,
            dtype=None,
            ensure_all_finite=False,
        )

    def _given(self) -> Any:
        return RandomForestClassifier() if self.estimator is None else self.estimator

    def _estimator(self) -> Any:
        """Return the estimator to fit, with out-of-bag predictions if required."""
        estimator = self._given()
        last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if isinstance(last, (CalibratedClassifierCV, StackingClassifier)):
            # Measured: .17 and .22 right where logistic regression alone has .79.
            name = type(last).__name__
            raise ValueError(
                f"{name} scores its members against single labels, which are not "
                "known while confidences are estimated. Use PooledClassifier, its "
                "counterpart for candidate sets: "
                "PooledClassifier([CandidateClassifier(estimator), ...])."
            )
        if self.cross_fit != "oob":
            return estimator
        names = estimator.get_params()
        if "oob_score" not in names:
            raise ValueError(
                f'cross_fit="oob" needs out-of-bag predictions, which '
                f"{type(estimator).__name__} does not provide; use a random forest, "
                "extra trees or bagging, or cross_fit=True."
            )
        wanted = {"oob_score": True, "bootstrap": True}
        return clone(estimator).set_params(
            **{n: wanted[n] for n in wanted if n in names}
        )

    def _folds(self, X: Any, S: Mask, groups: Any, rng: RandomState) -> list[Fold]:
        if self.cross_fit is not True:
            return []
        cv = self.cv
        if isinstance(cv, Integral):
            cv = StratifiedCandidateKFold(int(cv), random_state=_seed(rng))
        folds = list(cv.split(X, S, groups) if hasattr(cv, "split") else cv)
        met = np.zeros(len(S), dtype=bool)
        for _, test in folds:
            met[test] = True
        if not met.all():
            rows = np.flatnonzero(~met)
            raise ValueError(
                f"{len(rows)} rows, such as row {rows[0]}, are in no test part of "
                "`cv`; every row must be held out once."
            )
        return folds

    def _confidences(
        self,
        estimator: Any,
        X: Any,
        F: Array,
        weight: Array | None,
        folds: list[Fold],
        rng: RandomState,
    ) -> Array:
        """Return the held-out probabilities of each row."""
        if self.cross_fit == "oob":
            model = fit_soft(estimator, X, F, weight, _seed(rng), draw=True)
            return model.out_of_bag()
        if not self.cross_fit:
            return fit_soft(estimator, X, F, weight, _seed(rng)).predict_proba(X)
        seeds = [_seed(rng) for _ in folds]
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(_held_out)(estimator, X, F, weight, fold, seed)
            for fold, seed in zip(folds, seeds, strict=True)
        )
        P, times = np.zeros_like(F), np.zeros(len(F))
        for (_, test), part in zip(folds, parts, strict=True):
            P[test] += part
            times[test] += 1
        return P / times[:, None]

    @property
    def estimators_(self) -> list[Any]:
        """Clones fitted on all rows."""
        check_is_fitted(self)
        return [model for model, _ in self._model.members]

    @property
    def estimator_(self) -> Any:
        """The clone that was fitted on all rows, with the confidences as weights."""
        fitted = self.estimators_
        if len(fitted) > 1:
            raise AttributeError(
                f"{len(fitted)} clones were fitted on drawn labels, since `fit` of "
                f"{type(self._given()).__name__} takes no weights; see `estimators_`."
            )
        return fitted[0]

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Rows sum to one; columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self._model.predict_proba(self._checked_rows(X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._given()).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        return tags


def _are_texts(X: Any) -> bool:
    """Whether the rows are documents, for a pipeline with a vectorizer."""
    flat = isinstance(X, (list, tuple)) or getattr(X, "ndim", 2) == 1
    return flat and isinstance(next(iter(X), None), str)


def _held_out(
    estimator: Any, X: Any, F: Array, weight: Array | None, fold: Fold, seed: int
) -> Array:
    """Return confidences of the test rows by a model fitted on the training rows.

    Source: CandidateClassifier, out-of-fold probabilities.
    """
    train, test = fold
    part = None if weight is None else weight[train]
    model = fit_soft(estimator, safe_indexing(X, train), F[train], part, seed)
    return model.predict_proba(safe_indexing(X, test))


def _seed(rng: RandomState) -> int:
    return int(rng.randint(np.iinfo(np.int32).max))


def _checked_weight(sample_weight: Any, m: int) -> Array | None:
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    check_one_per_row("sample_weight", weight.shape, m)
    if not np.isfinite(weight).all() or (weight < 0).any():
        i = int(np.argmax(~(np.isfinite(weight) & (weight >= 0))))
        raise ValueError(
            f"{argument('sample_weight')} must be finite and not negative; row {i} has "
            f"{weight[i]}."
        )
    return weight
