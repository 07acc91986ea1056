"""Scores of one multi-label prediction, and thresholds for it."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from partlearn._typing import Array, Mask
from partlearn.metrics import ranking_scores as rows_ranked
from partlearn.metrics import scored_rows

__all__ = ["f1_scores", "ranking_scores", "tuned_thresholds"]


def ranking_scores(Y: Mask, S: Array) -> dict[str, float]:
    """Average precision, ranking loss and coverage from one comparison of scores.

    The same numbers as the functions in :mod:`partlearn.metrics`, which compare anew
    for each.

    Parameters
    ----------
    Y : ndarray of bool, shape (n_samples, n_labels)
        True labels.
    S : ndarray of shape (n_samples, n_labels)
        Real-valued scores.

    Returns
    -------
    dict
        One number each.
    """
    Y, S = scored_rows(Y, S, full=True)
    full = Y.all(axis=1)
    if full.all():
        raise ValueError("No row has a true and a false label; nothing can be ranked.")
    rows = rows_ranked(Y, S)
    return {
        "average_precision": float(rows["average_precision"][~full].mean()),
        "ranking_loss": float(rows["ranking_loss"][~full].mean()),
        "coverage": float(rows["coverage"].mean()),
    }


def f1_scores(Y: Mask, P: Mask) -> dict[str, float]:
    """Macro and micro F1; a label neither true nor predicted counts 0.

    Parameters
    ----------
    Y, P : ndarray of bool, shape (n_samples, n_labels)
        True and predicted labels.

    Returns
    -------
    dict
        One number each.
    """
    hit = (Y & P).sum(axis=0)
    total = Y.sum(axis=0) + P.sum(axis=0)
    per_label = np.divide(2 * hit, total, out=np.zeros(len(hit)), where=total > 0)
    micro = 2 * hit.sum() / total.sum() if total.sum() else 0.0
    return {"macro_f1": float(per_label.mean()), "micro_f1": float(micro)}


def tuned_thresholds(Y: Mask, S: Array) -> Array:
    """Per label, the lowest score to predict it at which F1 is highest.

    Parameters
    ----------
    Y : ndarray of bool, shape (n_samples, n_labels)
        Training labels.
    S : ndarray of shape (n_samples, n_labels)
        Scores of the same rows, from models that have not seen them.

    Returns
    -------
    ndarray of shape (n_labels,)
        Infinite for a label that no row has. Of equal F1 the highest threshold.
    """
    order = np.argsort(-S, axis=0, kind="stable")
    scores = np.take_along_axis(S, order, axis=0)
    hits = np.cumsum(np.take_along_axis(Y, order, axis=0), axis=0)
    count = np.arange(1, len(S) + 1)[:, None]
    f1 = 2 * hits / (count + Y.sum(axis=0))
    # A threshold takes all rows of equal score or none.
    f1[:-1][scores[:-1] == scores[1:]] = -1.0
    best = scores[f1.argmax(axis=0), np.arange(S.shape[1])]
    return np.where(Y.any(axis=0), best, np.inf)
