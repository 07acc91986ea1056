"""A reducer and a classifier in one object."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from partlearn._math.blocks import lazy_rows, takes_blocks
from partlearn._sklearn_compat import HasMethods, fit_context
from partlearn.base import (
    BaseCandidateClassifier,
    recoded,
    reduced_rows,
    validate_evidence,
)
from partlearn.candidates import FLOATS, fitted_confidence, require_confidence


def _has_decision_function(self: Any) -> bool:
    return hasattr(getattr(self, "classifier_", self.classifier), "decision_function")


@lazy_rows
class CoupledClassifier(BaseCandidateClassifier):
    """Reduce the features, then classify in the reduced space.

    Papers name such pairs PL-KNN-CENDA, for example. Unlike a pipeline, this estimator
    can pass the confidences of the reducer to the classifier.

    Parameters
    ----------
    reducer : transformer
        Reducer, selector or pipeline of transformers that learns from candidate labels.
    classifier : classifier
        Classifier for candidate labels.
    pass_confidence : bool, default=False
        Whether the classifier starts from the reducer's ``label_confidence_`` instead
        of uniform confidences. The `fit` of the classifier must take ``confidence``, as
        in PLKNN, PLSVM, IPAL, SURE and PLAGGD, but not PLECOC.

    Attributes
    ----------
    reducer_ : transformer
        The fitted reducer.
    classifier_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    sklearn.pipeline.Pipeline : Chains steps without passing confidences.

    Notes
    -----
    The reducer is fitted on the training rows only. The published tables were computed
    with reducers that saw all rows; see
    :func:`partlearn.model_selection.cross_validate` and its ``protocol``.

    The papers leave passing the confidences as future work. After CENDA it improves
    PLKNN and PLSVM, hardly changes IPAL, SURE and PLAGGD, and was never significantly
    worse; the user guide has the table. The default is the papers' method.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import IPAL, CoupledClassifier
    >>> from partlearn.decomposition import CENDA
    >>> X, y = make_blobs(120, n_features=6, centers=4, random_state=0)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> model = CoupledClassifier(CENDA(), IPAL(), pass_confidence=True)
    >>> model.fit(X, candidates).score(X, y) > 0.9
    True
    """

    _parameter_constraints = {  # noqa: RUF012
        "reducer": [HasMethods(["fit", "transform"])],
        "classifier": [HasMethods(["fit", "predict"])],
        "pass_confidence": ["boolean"],
    }

    def __init__(
        self, reducer: Any, classifier: Any, pass_confidence: bool = False
    ) -> None:
        self.reducer = reducer
        self.classifier = classifier
        self.pass_confidence = pass_confidence

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the reducer, then the classifier on the reduced rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes; see
            :func:`partlearn.candidates.check_evidence`.

        Returns
        -------
        self : CoupledClassifier
            The fitted classifier.
        """
        if self.pass_confidence and not has_fit_parameter(
            self.classifier, "confidence"
        ):
            raise ValueError(
                f"{type(self.classifier).__name__} cannot start from confidences: its "
                "fit takes no `confidence`. Set pass_confidence=False."
            )
        checked, labels = validate_evidence(self, X, y)
        X = _named(X, checked)
        columns = recoded(labels)
        self.reducer_ = clone(self.reducer).fit(X, columns)
        Z = reduced_rows(self.reducer_, X)
        given = {}
        if self.pass_confidence:
            given["confidence"] = require_confidence(
                self.reducer_, "There is nothing to pass on: set pass_confidence=False."
            )
        self.classifier_ = clone(self.classifier).fit(Z, columns, **given)
        return self

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Reduce rows and return the class probabilities of the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        Z = self._reduce(X)
        return self.classifier_.predict_proba(Z)

    @available_if(_has_decision_function)
    @takes_blocks
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Reduce rows and return the decision values of the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            As from the classifier.
        """
        Z = self._reduce(X)
        return self.classifier_.decision_function(Z)

    def predict(self, X: Any) -> NDArray[Any]:
        """Reduce rows and classify them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted labels.
        """
        Z = self._reduce(X)
        # The classifier was fitted on a matrix: it predicts columns.
        return self.classes_[self.classifier_.predict(Z)]

    @property
    def label_confidence_(self) -> NDArray[Any]:
        """Confidences of the training rows: the classifier's, or the reducer's."""
        check_is_fitted(self)
        F = getattr(self.classifier_, "label_confidence_", None)
        F = fitted_confidence(self.reducer_) if F is None else F
        if F is None:
            raise AttributeError(
                "Neither the classifier nor the reducer learns confidences of the "
                "training rows (`label_confidence_`)."
            )
        return F

    def _reduce(self, X: Any) -> Any:
        check_is_fitted(self)
        checked = validate_data(self, X, reset=False, accept_sparse="csr", dtype=FLOATS)
        return self.reducer_.transform(_named(X, checked))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.reducer).input_tags.sparse
        return tags


def _named(X: Any, checked: Any) -> Any:
    """Return the data frame itself, for a reducer that uses names, or checked rows."""
    return X if hasattr(X, "columns") else checked
