"""Euclidean projection of rows onto the probability simplex."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["project_simplex"]


def project_simplex(Q: ArrayLike, S: ArrayLike | None = None) -> NDArray:
    """Project each row onto the simplex spanned by its candidates.

    Row ``i`` of the result is the nearest point to ``Q[i]`` with non-negative
    entries that sum to one and are zero wherever ``S[i]`` is False.

    Parameters
    ----------
    Q : array-like of shape (n_rows, n_classes)
        Points to project; float32 stays float32.
    S : array-like of bool of shape (n_rows, n_classes), default=None
        Candidates; every row needs at least one. None allows every class.

    Returns
    -------
    P : ndarray of shape (n_rows, n_classes)
        Projected rows.

    Notes
    -----
    Sort-based method [1]_, all rows at once, in O(n_rows * n_classes) memory.

    References
    ----------
    .. [1] J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra. Efficient projections
       onto the l1-ball for learning in high dimensions. ICML 2008.
       :doi:`10.1145/1390156.1390191`

    Examples
    --------
    >>> from partlearn.simplex import project_simplex
    >>> project_simplex([[0.5, 1.0, 9.0]], [[True, True, False]])
    array([[0.25, 0.75, 0.  ]])
    """
    Q = np.asarray(Q)
    if Q.dtype != np.float32:
        Q = Q.astype(np.float64)
    if S is None:
        V = Q
    else:
        S = np.asarray(S, dtype=bool)
        if S.shape != Q.shape:
            raise ValueError(
                f"`S` must have the shape of `Q`, {Q.shape}; got {S.shape}."
            )
        empty = np.flatnonzero(~S.any(axis=1))
        if empty.size:
            raise ValueError(f"Rows without a candidate: {empty[:5].tolist()}.")
        V = np.where(S, Q, -np.inf)
    return _project(V)


def _project(V: NDArray) -> NDArray:
    """Project rows in which forbidden entries are minus infinity."""
    # The projection ignores a shift of the row; with the largest entry at zero the
    # sums below do not cancel.
    V = V - V.max(axis=1, keepdims=True)
    U = -np.sort(-V, axis=1)
    sums = np.cumsum(np.where(np.isneginf(U), 0, U), axis=1)
    counts = np.arange(1, V.shape[1] + 1, dtype=V.dtype)
    thresholds = (sums - 1) / counts
    rho = np.count_nonzero(thresholds < U, axis=1)
    theta = np.take_along_axis(thresholds, rho[:, None] - 1, axis=1)
    return np.maximum(V - theta, 0)
