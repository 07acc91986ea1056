"""Many small non-negative least squares problems at once."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn._typing import Array, Mask
from partlearn.simplex._pivoting import (
    DEPENDENT,
    MAX_ENTRIES,
    noise_of_slopes,
    pivot_all,
)

__all__ = ["compiled_solver", "nnls_from_gram", "solve_all", "solve_carefully"]

_WORTH_COMPILING = 1e6  # matrix entries from which compiled loops are asked for


def nnls_from_gram(G: ArrayLike, b: ArrayLike) -> Array:
    """Minimise ``w' G w - 2 b' w`` over ``w >= 0``, one problem per row.

    With ``G = A' A`` and ``b = A' y`` this is non-negative least squares.

    Parameters
    ----------
    G : array-like of shape (n_problems, k, k)
        Symmetric positive semi-definite matrices.
    b : array-like of shape (n_problems, k)
        Linear terms, each in the range of its matrix.

    Returns
    -------
    w : ndarray of shape (n_problems, k), float64
        Minimisers.

    Notes
    -----
    A primal active-set method. The passive matrix stays well conditioned, because a
    column which depends on the passive ones (duplicates, more columns than
    dimensions) enters only by replacing one of them. The optimality conditions hold
    to rounding error. Memory is O(n_problems * k**2).

    References
    ----------
    .. [1] C. L. Lawson, R. J. Hanson. Solving Least Squares Problems. Chapter 23.
       SIAM, 1995. https://doi.org/10.1137/1.9781611971217

    Examples
    --------
    >>> from partlearn.simplex import nnls_from_gram
    >>> nnls_from_gram([[[2.0, 1.0], [1.0, 2.0]]], [[2.0, -1.0]])
    array([[1., 0.]])
    """
    G = np.asarray(G, dtype=np.float64)
    b = np.asarray(b, dtype=np.float64)
    if G.ndim != 3 or G.shape[1] != G.shape[2] or b.shape != G.shape[:2]:
        raise ValueError(
            "`G` must have shape (n_problems, k, k) and `b` (n_problems, k); got "
            f"{G.shape} and {b.shape}."
        )
    solve = compiled_solver() if G.size >= _WORTH_COMPILING else solve_all
    return solve(G, b)


@cache
def compiled_solver() -> Callable[..., Array]:
    """Solver compiled by numba, or the one in NumPy where numba is not installed."""
    try:
        from partlearn.simplex import _nnls_numba
    except ImportError:
        return solve_all
    return _nnls_numba.solve_all


def solve_all(G: Array, b: Array) -> Array:
    """Pivot, and solve again what rounding error has spoilt."""
    w, good = pivot_all(G, b)
    w[~good] = solve_carefully(G[~good], b[~good])
    return w


def solve_carefully(G: Array, b: Array) -> Array:
    """Active-set steps that solve each passive system anew."""
    m, k = b.shape
    w = np.zeros((m, k))
    todo = np.arange(m)
    diagonal = np.einsum("ijj->ij", G)
    passive = np.zeros((m, k), dtype=bool)
    blocked = diagonal <= 0
    for _ in range(MAX_ENTRIES * (k + 1)):
        if not todo.size:
            break
        entering = _entering(G[todo], b[todo], w[todo], passive[todo] | blocked[todo])
        todo, entering = todo[entering >= 0], entering[entering >= 0]
        _enter(G, b, w, passive, blocked, todo, entering)
    return w


def _entering(G: Array, b: Array, w: Array, closed: Mask) -> NDArray[np.int64]:
    """Column that would lower the objective most on its own; -1 at the optimum."""
    slope = b - np.einsum("ijk,ik->ij", G, w)
    lengths = np.sqrt(np.maximum(np.einsum("ijj->ij", G), 0))
    noise = noise_of_slopes(b, lengths, w)
    gain = np.where(~closed & (slope > noise), slope / np.where(closed, 1, lengths), -1)
    best = gain.argmax(axis=1)
    return np.where(gain[np.arange(len(b)), best] > 0, best, -1)


def _enter(
    G: Array,
    b: Array,
    w: Array,
    passive: Mask,
    blocked: Mask,
    rows: NDArray[np.int64],
    entering: NDArray[np.int64],
) -> None:
    """Let one column per problem grow until its slope is zero, in place.

    Moving along it keeps the slopes of the passive columns at zero; a passive weight
    that reaches zero on the way leaves.
    """
    k = b.shape[1]
    identity = np.eye(k, dtype=bool)
    while rows.size:
        here = np.arange(rows.size)
        Gr, wr, pr = G[rows], w[rows], passive[rows]
        column = np.where(pr, Gr[here, :, entering], 0.0)
        masked = np.where(pr[:, :, None] & pr[:, None, :], Gr, identity)
        change = np.linalg.solve(masked, column[:, :, None])[:, :, 0]
        own = Gr[here, entering, entering]
        curvature = own - np.einsum("ij,ij->i", column, change)
        slope = b[rows, entering] - np.einsum("ij,ij->i", Gr[here, entering], wr)
        independent = curvature > DEPENDENT * own
        full = np.where(
            independent, slope / np.where(independent, curvature, 1), np.inf
        )
        full = np.maximum(full, 0)
        with np.errstate(divide="ignore"):
            limits = np.where(change > 0, wr / np.where(change > 0, change, 1), np.inf)
        leaving = limits.argmin(axis=1)
        limit = limits[here, leaving]
        # A flat direction without an end is rounding error: leave the column out.
        stuck = np.isinf(full) & np.isinf(limit)
        step = np.where(stuck, 0, np.minimum(full, limit))
        wr = np.maximum(wr - step[:, None] * change, 0)
        wr[here, entering] += step
        done = (full <= limit) & ~stuck
        pr[here[done], entering[done]] = True
        drop = here[~done & ~stuck]
        pr[drop, leaving[drop]] = False
        wr[drop, leaving[drop]] = 0
        w[rows], passive[rows] = wr, pr
        blocked[rows[stuck], entering[stuck]] = True
        again = ~done & ~stuck
        rows, entering = rows[again], entering[again]
