"""Euclidean projection of rows onto the probability simplex."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn._array_api import array_device, at_least, is_numpy, namespace
from partlearn._extras import compiled_twin
from partlearn._sizes import SIZES
from partlearn._typing import Mask

_FEW_CLASSES = 8  # up to which a bubble sort of whole rows beats a sort of each column


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
       https://doi.org/10.1145/1390156.1390191

    Examples
    --------
    >>> from partlearn._math.simplex import project_simplex
    >>> project_simplex([[0.5, 1.0, 9.0]], [[True, True, False]])
    array([[0.25, 0.75, 0.  ]])
    """
    if not is_numpy(Q):
        return _project_array(Q, S)
    Q = np.asarray(Q)
    if Q.dtype != np.float32:
        Q = Q.astype(np.float64)
    project = projector(Q.shape, S)
    wrong = np.flatnonzero(~(np.inf > Q).all(axis=1))
    if wrong.size:
        raise ValueError(f"Rows of `Q` with NaN or infinity: {wrong[:5].tolist()}.")
    return project(Q)


def projector(
    shape: tuple[int, ...], S: ArrayLike | None
) -> Callable[[NDArray], NDArray]:
    """Check the candidates once, for many projections."""
    if len(shape) != 2 or shape[1] == 0:
        raise ValueError(f"`Q` must have two dimensions and a column; got {shape}.")
    mask = np.empty((0, 0), dtype=bool)
    if S is not None:
        mask = np.asarray(S, dtype=bool)
        if mask.shape != shape:
            raise ValueError(
                f"`S` must have the shape of `Q`, {shape}; got {mask.shape}."
            )
        empty = np.flatnonzero(~mask.any(axis=1))
        if empty.size:
            raise ValueError(f"Rows without a candidate: {empty[:5].tolist()}.")
    large = shape[0] * shape[1] >= SIZES.projection_compiled
    return partial(compiled_twin(project_rows) if large else project_rows, S=mask)


def project_rows(Q: NDArray, S: Mask) -> NDArray:
    """Project each row on its candidates; an empty `S` allows every class."""
    # Classes by rows: rows are many and classes few, and NumPy is fast along the long
    # axis.
    V = np.ascontiguousarray((np.where(S, Q, -np.inf) if S.size else Q).T)
    # The projection ignores a shift of the row; with the largest entry at zero the
    # sums below do not cancel.
    V = V - V.max(axis=0)
    U = _descending(V)
    sums = np.cumsum(np.where(np.isneginf(U), 0, U), axis=0)
    counts = np.arange(1, len(V) + 1, dtype=V.dtype)[:, None]
    thresholds = (sums - 1) / counts
    rho = np.count_nonzero(thresholds < U, axis=0)
    theta = thresholds[rho - 1, np.arange(V.shape[1])]
    return np.ascontiguousarray(np.maximum(V - theta, 0).T)


def _project_array(Q: Any, S: Any) -> Any:
    """Project the rows of an array of another library than NumPy."""
    xp = namespace(Q)
    V = Q if S is None else xp.where(S, Q, -xp.inf)
    V = V - xp.max(V, axis=1, keepdims=True)
    U = xp.sort(V, axis=1, descending=True)
    sums = xp.cumulative_sum(xp.where(xp.isinf(U), 0.0, U), axis=1)
    n = V.shape[1]
    counts = xp.arange(1, n + 1, dtype=V.dtype, device=array_device(V))
    thresholds = (sums - 1) / counts
    rho = xp.count_nonzero(thresholds < U, axis=1)[:, None]
    return at_least(V - xp.take_along_axis(thresholds, rho - 1, axis=1), 0.0)


def _descending(V: NDArray) -> NDArray:
    """Sort every column; a few entries by exchanges of whole rows."""
    if len(V) > _FEW_CLASSES:
        return -np.sort(-V, axis=0)
    rows = list(V)
    for last in range(len(rows) - 1, 0, -1):
        for i in range(last):
            pair = rows[i], rows[i + 1]
            rows[i], rows[i + 1] = np.maximum(*pair), np.minimum(*pair)
    return np.stack(rows)
