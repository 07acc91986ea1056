"""How much of the truth an approximate search found."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state

from partlearn.neighbors._distances import pair_distances
from partlearn.neighbors._knn import query_neighbors, same_kind


def neighbors_recall(
    Z: Any,
    indices: ArrayLike,
    *,
    n_samples: int = 1000,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float:
    """Share of given neighbours that an exact search confirms.

    Parameters
    ----------
    Z : array-like or sparse matrix of shape (n_samples, n_features)
        Points.
    indices : array-like of shape (n_samples, k)
        Neighbours of each point, as :func:`self_neighbors` returns them.
    n_samples : int, default=1000
        Points to check, drawn without replacement; all if there are fewer.
    random_state : int, RandomState instance or None, default=0
        Determines the points drawn.
    n_jobs : int, default=None
        Threads of the exact search.

    Returns
    -------
    recall : float
        Mean share of neighbours that are as near as the true k-th one, so that it
        does not matter which of several equally near points was given.

    Examples
    --------
    >>> from partlearn.neighbors import neighbors_recall
    >>> neighbors_recall([[0.0], [1.0], [3.0]], [[1], [0], [0]])
    0.666...
    """
    Z = check_array(Z, accept_sparse="csr", dtype=[np.float64, np.float32])
    indices = np.asarray(indices)
    m, k = indices.shape
    if m != Z.shape[0]:
        raise ValueError(f"`indices` must have {Z.shape[0]} rows like `Z`; got {m}.")
    rows = np.arange(m)
    if n_samples < m:
        rows = check_random_state(random_state).choice(m, n_samples, replace=False)
    exact, nearest = query_neighbors(Z, Z[rows], k + 1, n_jobs=n_jobs)
    # Without the point itself (or, if duplicates hid it, without the last one).
    itself = nearest == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    kth = exact[~itself].reshape(rows.size, -1)[:, -1]
    Z, _ = same_kind(Z, Z)
    given = pair_distances(Z, np.repeat(rows, k), Z, indices[rows].ravel())
    hits = np.sqrt(given).reshape(rows.size, k) <= kth[:, None]
    return float(hits.mean())
