"""Scores that need no truth: how well predictions agree with the labels there are.

They choose models and parameters on real data, where nobody knows the truth.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn._typing import Array
from partlearn.candidates import check_evidence
from partlearn.metrics._scores import candidate_hit_rate

__all__ = ["approximated_accuracy", "candidate_log_likelihood", "covering_rate"]

_TINY = 1e-12  # probability of what a model holds for impossible


def covering_rate(
    candidates: Any, y_pred: ArrayLike, *, classes: ArrayLike | None = None
) -> float:
    """Share of rows whose prediction is one of their candidates.

    Every row counts alike: :func:`candidate_hit_rate` with ``weighted=False``.

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
    """Mean probability of the predicted class, renormalised over the candidates.

    If the probabilities are right, this is the accuracy to be expected given the
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
        Columns of the predicted classes, where not the most likely ones are predicted.

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
    L, P = _aligned(candidates, proba, classes)
    inside = L * P
    chosen = P.argmax(axis=1) if y_pred is None else np.asarray(y_pred)
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
        At most 0; larger is better. Of held-out rows it chooses models: on training
        rows it is largest for those that repeat what they were told.

    Examples
    --------
    >>> from partlearn.metrics import candidate_log_likelihood
    >>> P = [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]
    >>> candidate_log_likelihood([{0}, {1, 2}], P)
    -0.693...
    """
    L, P = _aligned(candidates, proba, classes)
    return float(np.mean(np.log(np.maximum((L * P).sum(axis=1), _TINY))))


def _aligned(
    candidates: Any, proba: ArrayLike, classes: ArrayLike | None
) -> tuple[NDArray[Any], Array]:
    """Evidence and probabilities of the same classes, those of the evidence."""
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
    place = {label: j for j, label in enumerate(known.tolist())}
    if not set(place) & set(labels.classes.tolist()):
        raise ValueError(
            f"None of the candidates is one of the classes {known.tolist()[:10]}."
        )
    # A class that is only in one of both is there impossible, or never a candidate.
    names = list(dict.fromkeys([*labels.classes.tolist(), *known.tolist()]))
    P, L = np.zeros((len(given), len(names))), np.zeros((len(given), len(names)))
    P[:, [names.index(label) for label in known.tolist()]] = given
    L[:, : len(labels.classes)] = labels.weights
    return L, P
