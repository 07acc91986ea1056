"""Several classifiers pooled by the likelihood of held-out candidates."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed

from partlearn._math.blocks import lazy_rows
from partlearn._math.crossfit import log_linear_pool, log_linear_weights
from partlearn._sklearn_compat import StrOptions, fit_context
from partlearn._typing import Array, Indices
from partlearn.base import (
    PARAMETERS,
    BaseCandidateClassifier,
    check_two_classes,
    recoded,
    validate_evidence,
)
from partlearn.classification._candidate_classifier import CandidateClassifier
from partlearn.model_selection import StratifiedCandidateKFold

_SMOOTHING = 1e-3  # confidence that every class keeps


def for_candidates(estimator: Any, random_state: Any = None) -> Any:
    """Wrap a classifier of single labels in a CandidateClassifier.

    Parameters
    ----------
    estimator : classifier
        Of this library or of another one.
    random_state : int, RandomState or None, default=None
        Seed of the CandidateClassifier.

    Returns
    -------
    classifier : classifier
        Its `fit` takes candidate labels.
    """
    last = estimator
    while isinstance(last, Pipeline):  # its own tag is for one label
        last = last.steps[-1][1]
    if get_tags(last).target_tags.two_d_labels:
        return estimator
    return CandidateClassifier(estimator, random_state=random_state)


@lazy_rows
class PooledClassifier(BaseCandidateClassifier):
    r"""Pool the probabilities of several classifiers, or calibrate those of one.

    Counterpart of VotingClassifier, StackingClassifier and CalibratedClassifierCV of
    scikit-learn for candidate labels.

    Parameters
    ----------
    estimators : list of classifiers
        Classifiers for candidate labels. Other classifiers are wrapped in a
        :class:`CandidateClassifier`.
    weights : {"held-out", "equal"}, default="held-out"
        "held-out" (stacking) chooses the weights of the classifiers by the likelihood
        of the candidates of held-out rows. With a single classifier this is
        calibration. "equal" (soft voting) takes the mean of the probabilities, without
        folds.
    cv : int, default=5
        Number of folds, which spread rare labels.
    random_state : int, RandomState or None, default=None
        Draws the folds, also those of every :class:`CandidateClassifier`.
    n_jobs : int or None, default=None
        Fits in parallel; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimators_ : list of classifiers
        Classifiers fitted on all rows; their classes are column numbers.
    weights_ : ndarray of shape (n_estimators,) or None
        Exponents of the probabilities, which need not sum to one; None with equal
        weights. An exponent below one makes a single classifier less certain, one
        above makes it more certain.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Held-out confidence in each candidate of each training row. Only with
        ``weights="held-out"``.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    CandidateClassifier : Takes BaggingClassifier and VotingClassifier of other
        classifiers as its `estimator`.

    Notes
    -----
    With evidence :math:`L` and held-out probabilities :math:`P^e` of classifier
    :math:`e`, the pool is :math:`P \propto \prod_e (P^e)^{w_e}`. The weights, between 0
    and 5, maximize the mean of :math:`\log \sum_j L_{ij} P_{ij}` less a small penalty
    that keeps them near equal weights, as in CRISPClassifier. With a single classifier
    :math:`1/w` is the temperature of temperature scaling. Probabilities are mixed with
    0.001 of uniform ones first, so that none is zero.

    Cost: ``cv + 1`` fits of each classifier.

    References
    ----------
    Geoffrey Hinton. Training products of experts by minimizing contrastive divergence.
    Neural Computation 14, 1771-1800, 2002.

    Chuan Guo, Geoff Pleiss, Yu Sun and Kilian Weinberger. On calibration of modern
    neural networks. ICML 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLKNN, SURE, PooledClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> model = PooledClassifier([PLKNN(), SURE()], random_state=0)
    >>> model.fit(X, candidates).score(X, y) > 0.9
    True
    """

    _parameter_constraints = PARAMETERS | {
        "estimators": [list, tuple],
        "weights": [StrOptions({"held-out", "equal"})],
    }
    # Folds are drawn over the rows, filed under the first of equally rare labels.
    _order_matters = ("rows", "classes")

    def __init__(
        self,
        estimators: Any,
        *,
        weights: Literal["held-out", "equal"] = "held-out",
        cv: int = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Fit the classifiers, and choose how to pool them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes; see
            :func:`partlearn.candidates.check_evidence`.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as pictures of one person: held out
            together.

        Returns
        -------
        self : PooledClassifier
            The fitted classifier.
        """
        if not self.estimators:
            raise ValueError("`estimators` must hold one classifier or more; got none.")
        X, labels = validate_evidence(self, X, y, ensure_min_samples=2)
        check_two_classes(self.classes_, type(self).__name__)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        classifiers = [for_candidates(estimator, seed) for estimator in self.estimators]
        columns = recoded(labels)
        parallel = Parallel(n_jobs=self.n_jobs)
        self.weights_: Array | None = None
        self._forget("label_confidence_")
        if self.weights == "held-out":
            splitter = StratifiedCandidateKFold(
                min(self.cv, len(labels)), random_state=seed
            )
            folds = list(splitter.split(X, labels.candidates, groups))
            parts = parallel(
                delayed(_held_out)(classifier, X, columns, train, test)
                for classifier in classifiers
                for train, test in folds
            )
            experts = np.empty((len(classifiers), *labels.shape))
            for k, part in enumerate(parts):
                experts[k // len(folds), folds[k % len(folds)][1]] = part
            L = np.asarray(labels.weights, dtype=np.float64)
            self.weights_ = log_linear_weights(list(experts), L)
            F = L * self._pooled(list(experts))
            self.label_confidence_ = F / F.sum(axis=1, keepdims=True)
        self.estimators_ = parallel(
            delayed(_fit)(classifier, X, columns) for classifier in classifiers
        )
        return self

    def _pooled(self, experts: list[Array]) -> Array:
        if self.weights_ is None:
            return np.asarray(np.mean(experts, axis=0))
        return log_linear_pool(experts, self.weights_)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Predict the probabilities of the pooled classifiers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Rows sum to one; columns in the order of ``classes_``.
        """
        X = self._validate_predict(X)
        return self._pooled(
            [_confidences(classifier, X) for classifier in self.estimators_]
        )


def _fit(classifier: Any, X: Any, columns: Any) -> Any:
    return clone(classifier).fit(X, columns)


def _confidences(classifier: Any, X: Any) -> Array:
    P = np.asarray(classifier.predict_proba(X), dtype=np.float64)
    return (P + _SMOOTHING / P.shape[1]) / (1 + _SMOOTHING)


def _held_out(
    classifier: Any, X: Any, columns: Any, train: Indices, test: Indices
) -> Array:
    return _confidences(_fit(classifier, X[train], columns[train]), X[test])
