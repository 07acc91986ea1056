"""The protocol of multi-label comparisons: fit on training rows, test on clean ones."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold

from partlearn._typing import Array, Indices, Mask
from partlearn.multilabel import (
    add_noise_labels,
    noise_by_similarity,
    noise_rate,
    noise_to_average,
)

__all__ = ["NOISE", "draw_candidates", "n_selected", "split_rows", "unit_scaled"]

NOISE: dict[str, Callable[..., Mask]] = {
    "add": add_noise_labels,
    "average": noise_to_average,
    "rate": noise_rate,
    "similarity": noise_by_similarity,
}
# Above this size a data set is refused rather than made dense.
DENSE_BYTES = 2**30


def _number(*parts: int) -> int:
    """One seed out of several numbers, without chance collisions."""
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def split_rows(
    n: int, folds: int, fold_seed: int, noise_seed: int
) -> list[tuple[Indices, Indices]]:
    """Rows to train and to test on; the folds are drawn again for every noise seed.

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


def draw_candidates(Y: Mask, noise: str, r: float, noise_seed: int, fold: int) -> Mask:
    """Add false candidates to the true labels of training rows.

    Parameters
    ----------
    Y : ndarray of bool, shape (n_samples, n_labels)
        True labels of the training rows.
    noise : {"add", "average", "rate", "similarity"}
        How they are drawn.
    r : float
        How many.
    noise_seed, fold : int
        What the draw depends on.

    Returns
    -------
    ndarray of bool, shape (n_samples, n_labels)
        Candidates.
    """
    return NOISE[noise](Y, r, random_state=_number(noise_seed, fold))


def unit_scaled(X: Any, train: Indices) -> Array:
    """Bring every column to [0, 1] by its range in the training rows.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        All rows.
    train : ndarray of int
        Rows whose smallest and largest values count.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Other rows may be above 1, not below 0. Columns constant in training are 0.
    """
    if X.shape[0] * X.shape[1] * 8 > DENSE_BYTES:
        raise ValueError(
            f"{X.shape[0]} rows of {X.shape[1]} features do not fit into "
            f"{DENSE_BYTES // 2**20} MiB; set `max_rows` in the plan."
        )
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    low = dense[train].min(axis=0)
    spread = dense[train].max(axis=0) - low
    scaled = (dense - low) / np.where(spread > 0, spread, 1.0)
    scaled[:, spread <= 0] = 0.0
    return np.maximum(scaled, 0.0)


def n_selected(percentage: float, d: int) -> int:
    """Number of features at a percentage: at least one.

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
