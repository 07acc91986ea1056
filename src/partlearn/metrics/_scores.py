"""Scores for partial-label problems, with and without the truth, and their scorers.

Scores without truth choose models and parameters on real data, whose true labels are
unknown. scikit-learn passes the target of `fit`, here the candidate labels, to a
scorer.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.metrics import accuracy_score, make_scorer

from partlearn._arguments import check_one_per_row
from partlearn._typing import Array, Indices, Mask
from partlearn.candidates import check_candidates, check_evidence

_TINY = 1e-12  # probability of what a model holds for impossible


def class_recalls(truth: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[Any], Array]:
    """Share of the rows of each true class that are predicted right.

    Parameters
    ----------
    truth : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.

    Returns
    -------
    classes : ndarray of shape (n_present,)
        Classes that occur among the true labels.
    recalls : ndarray of shape (n_present,)
        Their shares. The mean is the balanced accuracy.

    Examples
    --------
    >>> from partlearn.metrics import class_recalls
    >>> classes, recalls = class_recalls(["a", "a", "b"], ["a", "b", "b"])
    >>> classes.tolist(), recalls.tolist()
    (['a', 'b'], [0.5, 1.0])
    """
    y, predicted = np.asarray(truth), np.asarray(y_pred)
    if y.ndim != 1 or y.shape != predicted.shape or not len(y):
        raise ValueError(
            "Expected one true and one predicted label per row, of at least one row; "
            f"got shapes {y.shape} and {predicted.shape}."
        )
    classes, codes = np.unique(y, return_inverse=True)
    return classes, np.bincount(codes, y == predicted) / np.bincount(codes)


def worst_class_recall(truth: ArrayLike, y_pred: ArrayLike) -> float:
    """Smallest share of right predictions among the true classes.

    Parameters
    ----------
    truth : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.

    Returns
    -------
    recall : float
        Between 0 and 1.

    Examples
    --------
    >>> from partlearn.metrics import worst_class_recall
    >>> worst_class_recall(["a", "a", "b"], ["a", "b", "b"])
    0.5
    """
    return float(class_recalls(truth, y_pred)[1].min())


def disambiguation_accuracy(
    truth: ArrayLike, confidence: ArrayLike, *, classes: ArrayLike | None = None
) -> float:
    """Share of training rows whose most confident candidate is the true label.

    Parameters
    ----------
    truth : array-like of shape (n_samples,)
        True labels.
    confidence : array-like of shape (n_samples, n_classes)
        Labeling confidences, such as ``label_confidence_`` of a fitted estimator.
    classes : array-like of shape (n_classes,), default=None
        Classes of the columns, such as ``classes_``; ``0 .. n_classes - 1`` by default.

    Returns
    -------
    accuracy : float
        Between 0 and 1; the first of equally confident candidates counts.

    Examples
    --------
    >>> from partlearn.metrics import disambiguation_accuracy
    >>> disambiguation_accuracy([0, 1], [[0.9, 0.1], [0.6, 0.4]])
    0.5
    """
    y, F = np.asarray(truth), np.asarray(confidence, dtype=np.float64)
    if y.ndim != 1 or F.ndim != 2 or len(y) != len(F):
        raise ValueError(
            "Expected true labels of shape (n_samples,) and confidences of shape "
            f"(n_samples, n_classes); got {y.shape} and {F.shape}."
        )
    if np.isnan(F).any():
        row = int(np.argmax(np.isnan(F).any(axis=1)))
        raise ValueError(f"The confidences of row {row} hold NaN.")
    names = np.arange(F.shape[1]) if classes is None else np.asarray(classes)
    if len(names) != F.shape[1]:
        raise ValueError(
            f"There are {len(names)} classes but {F.shape[1]} columns of confidence."
        )
    if len(y) and not set(names.tolist()) & set(y.tolist()):
        raise ValueError(
            f"No true label is one of the classes {names.tolist()[:10]}; pass "
            "`classes`, the labels of the columns, such as `classes_`."
        )
    return float(np.mean(names[F.argmax(axis=1)] == y))


def candidate_hit_rate(
    candidates: Any,
    y_pred: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    weighted: bool = True,
) -> float:
    """Share of predictions that are candidates of their row, weighted by set size.

    This score needs no truth, so it can choose parameters on real data. By default a
    row counts with weight one over the number of its candidates, since large sets are
    easy to hit.

    Parameters
    ----------
    candidates : candidate labels
        In any form that :func:`partlearn.candidates.check_candidates` reads.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    classes : array-like of shape (n_classes,), default=None
        Classes of the columns where `candidates` is a matrix without names.
    weighted : bool, default=True
        Whether small candidate sets count more.

    Returns
    -------
    rate : float
        Between 0 and 1.

    Examples
    --------
    >>> from partlearn.metrics import candidate_hit_rate
    >>> candidate_hit_rate([{"a"}, {"a", "b"}, {"c"}], ["a", "b", "a"])
    0.6
    >>> candidate_hit_rate([{"a"}, {"a", "b"}], ["a", "c"], weighted=False)
    0.5
    """
    names, S = check_candidates(candidates, classes=classes)
    hits = prediction_hits(S, np.asarray(names), np.asarray(y_pred))
    w = 1.0 / S.sum(axis=1) if weighted else np.ones(len(S))
    return float(np.average(hits, weights=w))


def prediction_hits(S: Mask, names: NDArray[Any], y_pred: NDArray[Any]) -> Mask:
    """Return whether each prediction is one of the candidates of its row.

    Parameters
    ----------
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidates.
    names : ndarray of shape (n_classes,)
        Classes of the columns.
    y_pred : ndarray of shape (n_samples,)
        Predicted labels.

    Returns
    -------
    hits : ndarray of bool, shape (n_samples,)
        One entry per row.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.metrics import prediction_hits
    >>> S = np.array([[True, False], [True, True]])
    >>> prediction_hits(S, np.array(["a", "b"]), np.array(["b", "b"]))
    array([False,  True])
    """
    check_one_per_row("y_pred", y_pred.shape, len(S))
    column = {label: j for j, label in enumerate(names.tolist())}
    codes = np.array([column.get(label, -1) for label in y_pred.tolist()], dtype=int)
    return (codes >= 0) & S[np.arange(len(S)), codes]


def covering_rate(
    candidates: Any, y_pred: ArrayLike, *, classes: ArrayLike | None = None
) -> float:
    """Share of predictions that are candidates of their row, all rows counting alike.

    The same as :func:`candidate_hit_rate` with ``weighted=False``.

    Parameters
    ----------
    candidates : Evidence or candidate labels
        In any form that :func:`partlearn.candidates.check_candidates` reads.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    classes : array-like of shape (n_classes,), default=None
        Classes of the columns where `candidates` is a matrix without names.

    Returns
    -------
    rate : float
        Between 0 and 1.

    References
    ----------
    W. Wang, D.-D. Wu, J. Wang, G. Niu, M.-L. Zhang, M. Sugiyama (2025). Realistic
    evaluation of deep partial-label learning algorithms (PLENCH). ICLR.

    Examples
    --------
    >>> from partlearn.metrics import covering_rate
    >>> covering_rate([{"a"}, {"a", "b"}], ["a", "c"])
    0.5
    """
    return candidate_hit_rate(candidates, y_pred, classes=classes, weighted=False)


def approximated_accuracy(
    candidates: Any,
    proba: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    y_pred: ArrayLike | None = None,
) -> float:
    """Mean probability of the predicted class, renormalized over the candidates.

    If the probabilities are calibrated, this is the expected accuracy given the
    candidates. A prediction outside the candidates counts 0.

    Parameters
    ----------
    candidates : Evidence or candidate labels
        In any form that :func:`partlearn.candidates.check_evidence` reads. Weights
        multiply the probabilities.
    proba : array-like of shape (n_samples, n_classes)
        Predicted probabilities.
    classes : array-like of shape (n_classes,), default=None
        Classes of the columns of `proba`, such as ``classes_``; those of `candidates`
        by default.
    y_pred : array-like of int, shape (n_samples,), default=None
        Predicted columns of `proba`; the most likely ones by default.

    Returns
    -------
    accuracy : float
        Between 0 and 1.

    References
    ----------
    W. Wang, D.-D. Wu, J. Wang, G. Niu, M.-L. Zhang, M. Sugiyama (2025). Realistic
    evaluation of deep partial-label learning algorithms (PLENCH). ICLR.

    Examples
    --------
    >>> from partlearn.metrics import approximated_accuracy
    >>> P = [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]
    >>> approximated_accuracy([{"a", "b"}, {"b", "c"}], P, classes=["a", "b", "c"])
    0.333...
    """
    L, P, place = _aligned(candidates, proba, classes)
    inside = L * P
    chosen = P.argmax(axis=1) if y_pred is None else place[np.asarray(y_pred)]
    best = inside[np.arange(len(P)), chosen]
    return float(np.mean(best / np.maximum(inside.sum(axis=1), _TINY)))


def candidate_log_likelihood(
    candidates: Any, proba: ArrayLike, *, classes: ArrayLike | None = None
) -> float:
    """Mean logarithm of the probability of the candidates.

    Parameters
    ----------
    candidates : Evidence or candidate labels
        In any form that :func:`partlearn.candidates.check_evidence` reads. With
        evidence ``L`` the mean of ``log(sum_j L_ij P_ij)``.
    proba : array-like of shape (n_samples, n_classes)
        Predicted probabilities.
    classes : array-like of shape (n_classes,), default=None
        Classes of the columns of `proba`, such as ``classes_``; those of `candidates`
        by default.

    Returns
    -------
    likelihood : float
        At most 0; larger is better. Use held-out rows to compare models: on training
        rows a model that reproduces its training labels scores best.

    Examples
    --------
    >>> from partlearn.metrics import candidate_log_likelihood
    >>> P = [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]
    >>> candidate_log_likelihood([{0}, {1, 2}], P)
    -0.693...
    """
    L, P, _ = _aligned(candidates, proba, classes)
    return float(np.mean(np.log(np.maximum((L * P).sum(axis=1), _TINY))))


def _aligned(
    candidates: Any, proba: ArrayLike, classes: ArrayLike | None
) -> tuple[Array, Array, Indices]:
    """Return evidence and probabilities of the same classes, and the column of each."""
    labels = check_evidence(candidates)
    given = np.asarray(proba, dtype=np.float64)
    known = labels.classes if classes is None else np.asarray(classes)
    if given.shape != (len(labels), len(known)):
        raise ValueError(
            f"Expected probabilities of {len(labels)} rows and {len(known)} classes; "
            f"got shape {given.shape}."
        )
    if not np.isfinite(given).all() or (given < 0).any():
        raise ValueError("Probabilities must be finite and not negative.")
    if not set(known.tolist()) & set(labels.classes.tolist()):
        raise ValueError(
            f"None of the candidates is one of the classes {known.tolist()[:10]}."
        )
    # A class that is only in one of both is there impossible, or never a candidate.
    names = list(dict.fromkeys([*labels.classes.tolist(), *known.tolist()]))
    P, L = np.zeros((len(given), len(names))), np.zeros((len(given), len(names)))
    place = np.array([names.index(label) for label in known.tolist()])
    P[:, place] = given
    L[:, : len(labels.classes)] = labels.weights
    return L, P, place


candidate_hit_scorer = make_scorer(candidate_hit_rate)
covering_scorer = make_scorer(covering_rate)


def approximated_accuracy_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Score of a fitted classifier: :func:`approximated_accuracy` on given rows.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        The fitted classifier.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : Evidence or candidate labels
        Labels of the rows.

    Returns
    -------
    score : float
        Larger is better.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.metrics import approximated_accuracy_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = GridSearchCV(
    ...     PLKNN(), {"n_neighbors": [3, 10]}, scoring=approximated_accuracy_scorer
    ... )
    >>> bool(grid.fit(X, make_candidates(y, random_state=0)).best_score_ > 0.5)
    True
    """
    P = estimator.predict_proba(X)
    return approximated_accuracy(y, P, classes=estimator.classes_)


def candidate_log_likelihood_scorer(estimator: Any, X: Any, y: Any) -> float:
    """Score of a fitted classifier: :func:`candidate_log_likelihood` on given rows.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        The fitted classifier.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : Evidence or candidate labels
        Labels of the rows.

    Returns
    -------
    score : float
        Larger is better.

    Examples
    --------
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.metrics import candidate_log_likelihood_scorer
    >>> X, y = [[0.0], [0.1], [1.0], [1.1]], [{0}, {0, 1}, {1}, {1}]
    >>> candidate_log_likelihood_scorer(PLKNN(3).fit(X, y), X, y) < 0
    True
    """
    P = estimator.predict_proba(X)
    return candidate_log_likelihood(y, P, classes=estimator.classes_)


def _truth_accuracy(candidates: Any, y_pred: Any, *, truth: Any) -> float:
    return float(accuracy_score(np.asarray(truth), y_pred))


def truth_scorer() -> Any:
    """Make a scorer of the accuracy against true labels passed as metadata.

    The metadata is named ``truth``. Metadata routing of scikit-learn must be enabled.
    :func:`partlearn.model_selection.cross_validate` does the same without routing.

    Returns
    -------
    scorer : callable
        For the `scoring` parameter of scikit-learn's functions.

    Examples
    --------
    >>> import sklearn
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.metrics import truth_scorer
    >>> from partlearn.model_selection import CandidateKFold
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = make_candidates(y, random_state=0)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scores = cross_val_score(
    ...         PLKNN(), X, candidates, cv=CandidateKFold(5),
    ...         scoring=truth_scorer(), params={"truth": y},
    ...     )
    >>> bool(scores.mean() > 0.9)
    True
    """
    with config_context(enable_metadata_routing=True):
        return make_scorer(_truth_accuracy).set_score_request(truth=True)
