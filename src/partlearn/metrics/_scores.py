"""Scores for partial-label problems, with and without the truth."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score

from partlearn._typing import Array, Mask
from partlearn.candidates import check_candidates

__all__ = [
    "accuracy_score",
    "candidate_hit_rate",
    "class_recalls",
    "disambiguation_accuracy",
    "worst_class_recall",
]


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
        Labelling confidences, such as ``label_confidence_`` of a fitted estimator.
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
    y, F = np.asarray(truth), np.asarray(confidence)
    if y.ndim != 1 or F.ndim != 2 or len(y) != len(F):
        raise ValueError(
            "Expected true labels of shape (n_samples,) and confidences of shape "
            f"(n_samples, n_classes); got {y.shape} and {F.shape}."
        )
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
    """Share of rows whose prediction is one of their candidates.

    This score needs no truth, so it can choose parameters on real data. By default a
    row counts with weight one over the number of its candidates, since hitting a large
    set says little.

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
    """Whether each prediction lies in its candidate set; unknown labels never do.

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
    if y_pred.shape != (len(S),):
        raise ValueError(
            f"Expected {len(S)} predicted labels, one per row; got shape "
            f"{y_pred.shape}."
        )
    column = {label: j for j, label in enumerate(names.tolist())}
    codes = np.array([column.get(label, -1) for label in y_pred.tolist()], dtype=int)
    return (codes >= 0) & S[np.arange(len(S)), codes]
