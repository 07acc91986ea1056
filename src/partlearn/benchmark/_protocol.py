"""Steps of a multi-label comparison: split, add noise, scale, rank, score."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices, Mask
from partlearn.benchmark._results import Control
from partlearn.metrics import one_error, scored_rows
from partlearn.metrics import ranking_scores as rows_ranked
from partlearn.multilabel import add_noise_labels


def _number(*parts: int) -> int:
    """Combine several numbers into one seed."""
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def split_rows(
    n: int, folds: int, fold_seed: int, noise_seed: int
) -> list[tuple[Indices, Indices]]:
    """Split rows into folds, with other folds for each noise seed.

    Parameters
    ----------
    n, folds : int
        Numbers of rows and folds.
    fold_seed, noise_seed : int
        Seeds.

    Returns
    -------
    list of (train, test)
        Row numbers.
    """
    seed = _number(fold_seed, noise_seed)
    return list(KFold(folds, shuffle=True, random_state=seed).split(np.empty(n)))


def draw_candidates(Y: Mask, noise: Any, r: float, noise_seed: int, fold: int) -> Mask:
    """Add false candidates to the true labels of training rows.

    Parameters
    ----------
    Y : ndarray of bool, shape (n_samples, n_labels)
        True labels of the training rows.
    noise : {"add", "average", "rate", "similarity"}
        How false candidates are drawn.
    r : float
        Amount of noise.
    noise_seed, fold : int
        Seeds of the draw.

    Returns
    -------
    ndarray of bool, shape (n_samples, n_labels)
        Candidates.
    """
    seed = _number(noise_seed, fold)
    return add_noise_labels(Y, r, kind=noise, random_state=seed)


def unit_scaled(X: Any, train: Indices) -> Array:
    """Scale each column to [0, 1] by its range in the training rows.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        All rows.
    train : ndarray of int
        Rows that define the range.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Other rows may be above 1, not below 0. Columns constant in training are 0.
    """
    if X.shape[0] * X.shape[1] * 8 > SIZES.dense_bytes:
        raise ValueError(
            f"{X.shape[0]} rows of {X.shape[1]} features do not fit into "
            f"{SIZES.dense_bytes // 2**20} MiB; set `max_rows` in the plan."
        )
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    low = dense[train].min(axis=0)
    spread = dense[train].max(axis=0) - low
    scaled = (dense - low) / np.where(spread > 0, spread, 1.0)
    scaled[:, spread <= 0] = 0.0
    return np.maximum(scaled, 0.0)


def n_selected(percentage: float, d: int) -> int:
    """Number of features at a percentage, at least one.

    Parameters
    ----------
    percentage : float
        Between 0 and 100.
    d : int
        Number of features.

    Returns
    -------
    int
        Rounded, halves to even.
    """
    return max(1, round(percentage * d / 100))


def _ridge(X: Array, C: Mask) -> Array:
    W = Ridge(1.0).fit(X, C.astype(np.float64)).coef_
    return np.asarray(np.linalg.norm(np.atleast_2d(W), axis=0))


# Scores of features by the controls that rank them.
RANKINGS: dict[str, Callable[[Array, Mask], Array]] = {
    Control.RANDOM.value: lambda X, C: np.zeros(X.shape[1]),
    Control.NORM.value: lambda X, C: np.linalg.norm(X, axis=0),
    Control.RIDGE.value: _ridge,
}


def ordered(scores: Array, seed: int) -> Indices:
    """Order features by decreasing score; ties are shuffled.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        One score per feature.
    seed : int
        Seed of the shuffle.

    Returns
    -------
    ndarray of int, shape (n_features,)
        Best first.
    """
    tie = np.random.default_rng(seed).permutation(len(scores))
    return np.lexsort((tie, -scores))


def order_of(method: Any, seed: int) -> Indices:
    """Order features by the ranking of a fitted method.

    Parameters
    ----------
    method : estimator
        Fitted, with ``ranking_``: one rank per feature, 1 is best.
    seed : int
        Seed that breaks ties.

    Returns
    -------
    ndarray of int, shape (n_features,)
        Best first.
    """
    name = type(method).__name__
    ranking = getattr(method, "ranking_", None)
    if ranking is None:
        raise TypeError(
            f"{name} has no `ranking_` after fit, so it cannot rank features; list it "
            "under [[classifiers]]."
        )
    scores = getattr(method, "scores_", None)
    if scores is not None and np.ptp(scores) == 0:
        raise ValueError(f"All feature scores of {name} are equal: no ranking.")
    return ordered(-np.asarray(ranking, dtype=np.float64), seed)


def ranking_scores(Y: Mask, S: Array) -> dict[str, float]:
    """Compute all ranking metrics from one comparison of scores.

    The values equal those of the functions in :mod:`partlearn.metrics`. Macro AUC is
    the mean area under the ROC curve over labels that are true for some rows and false
    for others; without such a label it is left out.

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
    both = Y.any(axis=0) & ~Y.all(axis=0)
    area = {}
    if both.any():
        area["macro_auc"] = float(roc_auc_score(Y[:, both], S[:, both]))
    Y, S = scored_rows(Y, S, full=True)
    full = Y.all(axis=1)
    if full.all():
        raise ValueError("No row has a true and a false label; nothing can be ranked.")
    rows = rows_ranked(Y, S)
    return {
        "average_precision": float(rows["average_precision"][~full].mean()),
        "ranking_loss": float(rows["ranking_loss"][~full].mean()),
        "coverage": float(rows["coverage"].mean()),
        "one_error": one_error(Y, S),
        **area,
    }


def f1_scores(Y: Mask, P: Mask) -> dict[str, float]:
    """Compute macro and micro F1; labels neither true nor predicted count as 0.

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
    """Find the threshold of each label with the highest F1.

    Parameters
    ----------
    Y : ndarray of bool, shape (n_samples, n_labels)
        Training labels.
    S : ndarray of shape (n_samples, n_labels)
        Scores of the same rows, from models that have not seen them.

    Returns
    -------
    ndarray of shape (n_labels,)
        Infinite for a label that no row has. Ties take the highest threshold.
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
