"""Map of rows in two dimensions that separates labels."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.metrics.pairwise import euclidean_distances

from partlearn._typing import Array

_DIRECTIONS = 30
_ROWS_PER_DIRECTION = 10  # with fewer rows, labels separate by chance
_LABELS = 500  # largest number of labels whose distances are computed
_FLOOR = 1e-3  # of the variance of a direction, within labels
_ROUNDS = 100


def label_map(Z: Any, label_confidence: ArrayLike) -> Array:
    """Place rows in two dimensions by the distances between their labels.

    Two principal directions separate the most different labels and crowd the others.
    Here the labels are placed first, by multidimensional scaling of the square root of
    the distances between their mean rows, in units of the spread within labels. The
    rows follow by one linear map, the least-squares fit of these places to the leading
    principal directions (at most 30). Rows with random labels stay together.

    Parameters
    ----------
    Z : array-like or sparse matrix of shape (n_samples, n_features)
        Rows in the space of a fitted reducer or in the input space.
    label_confidence : array-like of shape (n_samples, n_classes)
        Confidence in every label; rows sum to one.

    Returns
    -------
    places : ndarray of shape (n_samples, 2)
        The two leading principal directions where there are fewer than three labels or
        directions, or fewer than ten rows per direction.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from partlearn.inspection import label_map
    >>> X, y = load_digits(return_X_y=True)
    >>> label_map(X, np.eye(10)[y]).shape
    (1797, 2)
    """
    F = np.asarray(label_confidence, dtype=np.float64)
    F = F[:, F.sum(axis=0) > 0]
    P = _principal(Z if issparse(Z) else np.asarray(Z))
    if len(P) != len(F):
        raise ValueError(
            "`Z` and `label_confidence` must have a row for every sample; got "
            f"{len(P)} and {len(F)} rows."
        )
    few = min(P.shape[1], len(P) // _ROWS_PER_DIRECTION)
    if min(few, F.shape[1]) < 3 or F.shape[1] > _LABELS:
        return P[:, :2]
    P = P[:, :few] / P[:, :few].std(axis=0)
    T = F @ _layout(np.sqrt(_distances(P, F)))  # so that far labels crowd no others
    # Directions of sparse rows are not quite uncorrelated.
    return P @ (np.linalg.pinv(P.T @ P, hermitian=True) @ (P.T @ (T - T.mean(axis=0))))


def _principal(Z: Any) -> Array:
    """Leading principal directions with positive variance, at least two."""
    k = min(_DIRECTIONS, *Z.shape)
    if k == 1:
        flat = (Z.toarray() if issparse(Z) else Z).astype(np.float64)
        return np.column_stack([flat[:, 0], np.zeros(len(flat))])
    reducer = (TruncatedSVD if issparse(Z) else PCA)(k, random_state=0)
    with np.errstate(invalid="ignore"):  # shares of the variance, where there is none
        P = reducer.fit_transform(Z).astype(np.float64)
    P -= P.mean(axis=0)
    spread = P.std(axis=0)
    vary = spread > 1e-6 * spread.max()
    vary[:2] = True
    return np.asarray(P[:, vary])


def _distances(P: Array, F: Array) -> Array:
    """Distances between the mean rows of labels, in units of the spread within them."""
    weight = F.sum(axis=0)
    M = F.T @ P / weight[:, None]
    within = P.T @ P / len(P) - (M * weight[:, None]).T @ M / len(P)
    values, vectors = np.linalg.eigh(within)
    M = M @ (vectors / np.sqrt(np.maximum(values, _FLOOR)))
    return euclidean_distances(M)


def _layout(D: Array) -> Array:
    """Multidimensional scaling to two dimensions, from the classical solution."""
    from sklearn.manifold import smacof  # slow to import, and rarely needed

    center = np.eye(len(D)) - 1 / len(D)
    values, vectors = np.linalg.eigh(-0.5 * center @ D**2 @ center)
    start = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    return smacof(D, init=start, n_init=1, max_iter=_ROUNDS, eps=0)[0]
