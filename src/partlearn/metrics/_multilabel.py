"""Scores for multi-label predictions, with stated rules for ties and empty rows.

The rules are those of scikit-learn where it has one: of tied labels each gets the worst
rank. Rows without a true or without a false label are left out where a score is not
defined for them, instead of counting as perfect.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import f1_score
from sklearn.metrics import hamming_loss as _hamming_loss

from partlearn._sizes import spans
from partlearn._typing import Array, Mask
from partlearn.candidates import check_candidates

_BLOCK = 2**22  # scores that are compared at once


def _mean(name: str, Y: Mask, S: Array) -> float:
    return float(ranking_scores(Y, S)[name].mean())


def scored_rows(
    Y_true: Any, scores: ArrayLike, *, full: bool = False
) -> tuple[Mask, Array]:
    """Return the rows with a true label and, unless `full`, a false one."""
    _, Y = check_candidates(Y_true, empty="keep")
    S = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(S).all():
        raise ValueError("The scores hold NaN or infinity.")
    if S.shape != Y.shape:
        raise ValueError(
            f"Expected one score per row and label, shape {Y.shape}; got {S.shape}. "
            "Where no row has some label, give the true labels as a binary matrix."
        )
    if np.isin(S, (0.0, 1.0)).all():
        raise ValueError(
            "These scores are all 0 or 1, so nearly every pair of labels is tied and a "
            "ranking measures noise. Pass probabilities or decision values, or score "
            "the predictions with macro_f1, micro_f1 or hamming_loss."
        )
    keep = Y.any(axis=1) if full else Y.any(axis=1) & ~Y.all(axis=1)
    if not keep.any():
        missing = "true label" if full else "true and a false label"
        raise ValueError(f"No row has a {missing}, so nothing can be ranked.")
    return Y[keep], S[keep]


def ranking_scores(Y: Mask, S: Array) -> dict[str, Array]:
    """Compute the ranking scores of all rows at once.

    scikit-learn loops over the rows, which takes much longer.

    Parameters
    ----------
    Y : ndarray of bool, shape (n, q)
        True labels; every row has one.
    S : ndarray of shape (n, q)
        Scores.

    Returns
    -------
    dict of ndarray of shape (n,)
        ``average_precision``, ``ranking_loss`` (nan where no label is false) and
        ``coverage``. Of tied labels each has the worst rank.
    """
    n, q = Y.shape
    row, label = np.nonzero(Y)
    ahead = np.empty(row.size)
    true_ahead = np.empty(row.size)
    for part in spans(row.size, _BLOCK // q):
        above = S[row[part]] >= S[row[part], label[part]][:, None]
        ahead[part] = above.sum(axis=1)
        true_ahead[part] = (above & Y[row[part]]).sum(axis=1)
    n_true = np.bincount(row, minlength=n)
    worst = np.zeros(n)
    np.maximum.at(worst, row, ahead)
    wrong = np.bincount(row, ahead - true_ahead, minlength=n)
    pairs = (n_true * (q - n_true)).astype(np.float64)
    return {
        "average_precision": np.bincount(row, true_ahead / ahead, minlength=n) / n_true,
        "ranking_loss": np.divide(
            wrong, pairs, out=np.full(n, np.nan), where=pairs > 0
        ),
        "coverage": (worst - 1) / q,
    }


def ranking_loss(Y_true: Any, scores: ArrayLike) -> float:
    """Share of pairs of a true and a false label that are in the wrong order.

    Parameters
    ----------
    Y_true : binary matrix of shape (n_samples, n_classes) or sequence of sets of labels
        True labels.
    scores : array-like of shape (n_samples, n_classes)
        Real-valued scores; larger is more relevant.

    Returns
    -------
    loss : float
        Mean over the rows that have a true and a false label; a tie is an error.

    Examples
    --------
    >>> from partlearn.metrics import ranking_loss
    >>> ranking_loss([[1, 0, 0], [1, 1, 1]], [[0.5, 0.9, 0.1], [0.1, 0.2, 0.3]])
    0.5
    """
    return _mean("ranking_loss", *scored_rows(Y_true, scores))


def average_precision(Y_true: Any, scores: ArrayLike) -> float:
    """Mean share of true labels among those ranked at least as high as a true one.

    Parameters
    ----------
    Y_true : binary matrix of shape (n_samples, n_classes) or sequence of sets of labels
        True labels.
    scores : array-like of shape (n_samples, n_classes)
        Real-valued scores; larger is more relevant.

    Returns
    -------
    precision : float
        Mean over the rows that have a true and a false label; tied labels get the
        worst rank.

    Examples
    --------
    >>> from partlearn.metrics import average_precision
    >>> average_precision([[1, 0, 0], [0, 1, 1]], [[0.5, 0.9, 0.1], [0.1, 0.2, 0.3]])
    0.75
    """
    return _mean("average_precision", *scored_rows(Y_true, scores))


def coverage(Y_true: Any, scores: ArrayLike) -> float:
    """Depth of the ranking that covers all true labels, in [0, 1).

    Parameters
    ----------
    Y_true : binary matrix of shape (n_samples, n_classes) or sequence of sets of labels
        True labels.
    scores : array-like of shape (n_samples, n_classes)
        Real-valued scores; larger is more relevant.

    Returns
    -------
    coverage : float
        Mean of ``(worst rank of a true label - 1) / n_classes`` over the rows that have
        a true label; tied labels get the worst rank.

    Examples
    --------
    >>> from partlearn.metrics import coverage
    >>> coverage([[1, 0, 0, 0], [0, 1, 1, 0]], [[0.5, 0.9, 0.1, 0], [0.1, 0.2, 0.3, 0]])
    0.25
    """
    return _mean("coverage", *scored_rows(Y_true, scores, full=True))


def one_error(Y_true: Any, scores: ArrayLike) -> float:
    """Share of rows with a false label ranked first; ties take the worst order.

    Parameters
    ----------
    Y_true : binary matrix of shape (n_samples, n_classes) or sequence of sets of labels
        True labels.
    scores : array-like of shape (n_samples, n_classes)
        Real-valued scores; larger is more relevant.

    Returns
    -------
    error : float
        Mean over the rows that have a true and a false label.

    Examples
    --------
    >>> from partlearn.metrics import one_error
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[0.5, 0.9, 0.1], [0.1, 0.2, 0.3]])
    0.5
    """
    Y, S = scored_rows(Y_true, scores)
    top = S.max(axis=1, keepdims=True) == S
    return float(np.mean((top & ~Y).any(axis=1)))


def _predicted(Y_true: Any, Y_pred: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    classes, Y = check_candidates(Y_true, empty="keep")
    # Sets and frames name their labels, which need not stand in the same order.
    _, P = check_candidates(Y_pred, classes=classes, empty="keep")
    if Y.shape != P.shape:
        raise ValueError(
            f"True and predicted labels differ in shape: {Y.shape} and {P.shape}."
        )
    return Y.astype(int), P.astype(int)


def macro_f1(Y_true: Any, Y_pred: Any, *, zero_division: Any = "warn") -> float:
    """F1 of each label, averaged over the labels.

    Parameters
    ----------
    Y_true, Y_pred : binary matrices of shape (n_samples, n_classes)
        True and predicted labels.
    zero_division : {"warn", 0, 1, nan}, default="warn"
        Value of a label that is neither true nor predicted anywhere. "warn" is 0 with a
        warning; some programs of the field count 1.

    Returns
    -------
    f1 : float
        Between 0 and 1.

    Examples
    --------
    >>> from partlearn.metrics import macro_f1
    >>> macro_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.833...
    """
    Y, P = _predicted(Y_true, Y_pred)
    return float(f1_score(Y, P, average="macro", zero_division=zero_division))


def micro_f1(Y_true: Any, Y_pred: Any, *, zero_division: Any = "warn") -> float:
    """F1 over all pairs of a row and a label.

    Parameters
    ----------
    Y_true, Y_pred : binary matrices of shape (n_samples, n_classes)
        True and predicted labels.
    zero_division : {"warn", 0, 1, nan}, default="warn"
        Value if no label is true or predicted.

    Returns
    -------
    f1 : float
        Between 0 and 1.

    Examples
    --------
    >>> from partlearn.metrics import micro_f1
    >>> micro_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.8
    """
    Y, P = _predicted(Y_true, Y_pred)
    return float(f1_score(Y, P, average="micro", zero_division=zero_division))


def hamming_loss(Y_true: Any, Y_pred: Any) -> float:
    """Share of pairs of a row and a label that are predicted wrong.

    Parameters
    ----------
    Y_true, Y_pred : binary matrices of shape (n_samples, n_classes)
        True and predicted labels.

    Returns
    -------
    loss : float
        Between 0 and 1.

    Examples
    --------
    >>> from partlearn.metrics import hamming_loss
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.25
    """
    return float(_hamming_loss(*_predicted(Y_true, Y_pred)))
