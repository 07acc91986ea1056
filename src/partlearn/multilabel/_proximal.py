"""Proximal maps, and accelerated proximal gradients."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterable

import numpy as np
from sklearn.utils.extmath import row_norms

from partlearn._typing import Array


def soft_threshold(A: Array, t: float, *, one_sided: bool = False) -> Array:
    """Shrink every entry towards zero by `t`; negative ones to zero if one-sided.

    Source: PMLNI, update of V.
    """
    size = A if one_sided else np.abs(A)
    return np.asarray(np.sign(A) * np.maximum(size - t, 0))


def shrink_rows(A: Array, t: float) -> Array:
    """Shorten the rows by `t`, at most to zero.

    Source: PMLNI, update of V by label rows.
    """
    length = row_norms(A)[:, None]
    left = np.maximum(length - t, 0)
    return np.divide(A * left, length, out=np.zeros_like(A), where=length > 0)


def singular_threshold(A: Array, t: float) -> Array:
    """Shrink the singular values by `t`: the proximal map of the nuclear norm.

    Source: PMLNI, update of U.
    """
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return np.asarray((U * np.maximum(s - t, 0)) @ Vt)


def accelerated(
    step: Callable[[Array], Array], start: Array, numbers: Iterable[int], tol: float
) -> tuple[Array, int, bool]:
    """Repeat proximal gradient steps with momentum and restarts.

    Parameters
    ----------
    step : callable
        A proximal gradient step from a point.
    start : ndarray
        Where to start.
    numbers : iterable of int
        Numbers of the iterations, from 1 on.
    tol : float
        Relative change at which to stop.

    Returns
    -------
    point : ndarray
        The last point.
    n_iter : int
        Iterations made.
    converged : bool
        Whether the change fell to `tol`.
    """
    now = ahead = start
    t, n_iter = 1.0, 0
    for n_iter in numbers:
        new = step(ahead)
        moved = new - now
        if np.linalg.norm(moved) <= tol * np.linalg.norm(new):
            return new, n_iter, True
        if np.vdot(ahead - new, moved) > 0:  # momentum points uphill
            t = 1.0
        faster = (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead, now, t = new + (t - 1) / faster * moved, new, faster
    return now, n_iter, False
