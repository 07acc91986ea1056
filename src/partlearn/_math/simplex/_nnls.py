"""Many small non-negative least squares problems at once, and convex weights.

The active-set method pivots all problems together, which is fast. Solutions are
checked, and inaccurate ones are solved again one by one.
"""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numpy.typing import ArrayLike

from partlearn._extras import compiled_twin
from partlearn._sizes import SIZES, spans
from partlearn._typing import Array, Indices, Mask

EPS = float(np.finfo(np.float64).eps)
# A column whose remainder after projection on the passive ones is below this part of
# its squared length counts as dependent: its pivot would be rounding error.
DEPENDENT = 1e-13
_BLOCK = 1 << 17  # matrix entries worked on at once: they should stay in the cache


def nnls_from_gram(G: ArrayLike, b: ArrayLike) -> Array:
    """Minimize ``w' G w - 2 b' w`` over ``w >= 0``, one problem per row.

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
        Minimizers.

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
    >>> from partlearn._math.simplex import nnls_from_gram
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
    large = G.size >= SIZES.nnls_compiled
    return (compiled_twin(solve_all) if large else solve_all)(G, b)


def reconstruction_weights(E: ArrayLike) -> Array:
    """Convex weights that make each weighted sum of differences shortest.

    Row ``i`` minimizes ``||sum_a s_a E[i, a]||^2`` over ``s >= 0, sum(s) = 1``.

    Parameters
    ----------
    E : array-like of shape (n_points, k, n_features)
        Difference vectors, such as a point minus each of its `k` neighbors.

    Returns
    -------
    weights : ndarray of shape (n_points, k), float64
        Minimizers; rows sum to one. Where the minimizer is not unique (more
        neighbors than dimensions, duplicates), one of them.

    Examples
    --------
    >>> from partlearn._math.simplex import reconstruction_weights
    >>> reconstruction_weights([[[1.0], [-3.0]]])
    array([[0.75, 0.25]])
    """
    E = np.asarray(E, dtype=np.float64)
    if E.ndim != 3:
        raise ValueError(f"`E` must have three dimensions; got {E.ndim}.")
    return reconstruction_weights_from_gram(E @ E.transpose(0, 2, 1))


def reconstruction_weights_from_gram(G: ArrayLike) -> Array:
    """Minimize ``s' G s`` over the probability simplex, one problem per row.

    Source: WPLDR, Eq. (9).

    Parameters
    ----------
    G : array-like of shape (n_points, k, k)
        Gram matrices of the difference vectors.

    Returns
    -------
    weights : ndarray of shape (n_points, k), float64
        Minimizers; rows sum to one.

    Notes
    -----
    ``min ||E's||^2`` on the simplex is the non-negative least squares problem
    ``min ||E'w||^2 + g^2 (sum(w) - 1)^2`` followed by ``s = w / sum(w)``, for any
    ``g > 0``: for a fixed direction of value ``v`` the best scale leaves
    ``g^2 v / (g^2 + v)``, which grows with ``v``. ``g`` is the length of the shortest
    difference, so that far neighbors do not add rounding errors to near ones. If a
    difference is zero the objective is zero, and the zero differences share the weight.

    Examples
    --------
    >>> from partlearn._math.simplex import reconstruction_weights_from_gram
    >>> reconstruction_weights_from_gram([[[1.0, 0.0], [0.0, 3.0]]])
    array([[0.75, 0.25]])
    """
    G = np.asarray(G, dtype=np.float64)
    if G.ndim != 3 or G.shape[1] != G.shape[2]:
        raise ValueError(f"`G` must have shape (n_points, k, k); got {G.shape}.")
    squared = np.einsum("ijj->ij", G)
    # Squares whose ratio is no number count as zero.
    zero = squared <= np.finfo(np.float64).tiny * squared.max(axis=1, keepdims=True)
    exact = zero.any(axis=1)
    smallest = np.where(exact, 1, squared.min(axis=1))
    scaled = G / smallest[:, None, None] + 1
    w = nnls_from_gram(scaled, np.ones(squared.shape))
    w[exact] = zero[exact]
    return w / w.sum(axis=1, keepdims=True)


def solve_all(G: Array, b: Array) -> Array:
    """Pivot, and solve inaccurate problems again."""
    w, good = pivot_all(G, b)
    w[~good] = solve_carefully(G[~good], b[~good])
    return w


def solve_carefully(G: Array, b: Array) -> Array:
    """Solve the remaining problems one by one."""
    w = np.zeros(b.shape)
    for i in range(len(b)):
        w[i] = _solve_one(G[i], b[i])
    return w


def _solve_one(G: Array, b: Array) -> Array:
    """Active-set steps that solve each passive system anew."""
    k = len(b)
    w, passive = np.zeros(k), np.zeros(k, dtype=bool)
    lengths = np.sqrt(np.maximum(np.diag(G), 0))
    blocked = lengths == 0
    for _ in range(SIZES.nnls_entries * (k + 1)):
        slope = b - G @ w
        noise = noise_of_slopes(b[None], lengths[None], w[None])[0]
        helpful = ~passive & ~blocked & (slope > noise)
        gain = np.divide(slope, lengths, out=np.zeros(k), where=helpful)
        if not gain.any():
            break
        _enter(G, b, w, passive, blocked, int(gain.argmax()))
    return w


def _enter(
    G: Array, b: Array, w: Array, passive: Mask, blocked: Mask, entering: int
) -> None:
    """Let one column grow until its slope is zero, in place.

    Moving along it keeps the slopes of the passive columns at zero. A column whose
    weight falls to zero on the way leaves, and the growth continues without it.
    """
    column, own = G[entering], G[entering, entering]
    while True:
        inside = np.flatnonzero(passive)
        change = np.linalg.solve(G[np.ix_(inside, inside)], column[inside])
        curvature = own - column[inside] @ change
        full = np.inf
        if curvature > DEPENDENT * own:
            full = max((b[entering] - column @ w) / curvature, 0.0)
        falling = change > 0
        limits = np.where(falling, w[inside] / np.where(falling, change, 1), np.inf)
        limit = limits.min(initial=np.inf)
        if np.isinf(full) and np.isinf(limit):
            # A flat direction without an end is rounding error: leave the column out.
            blocked[entering] = True
            return
        w[inside] = np.maximum(w[inside] - min(full, limit) * change, 0)
        w[entering] += min(full, limit)
        if full <= limit:
            passive[entering] = True
            return
        leaving = inside[limits.argmin()]
        passive[leaving], w[leaving] = False, 0.0


def noise_of_slopes(b: Array, lengths: Array, w: Array) -> Array:
    """Rounding error of ``b - G w``, with ``|G[j, l]| <= lengths[j] * lengths[l]``."""
    total = np.einsum("ij,ij->i", lengths, w)[:, None]
    return 4 * b.shape[1] * EPS * (np.abs(b) + lengths * total)


def pivot_all(G: Array, b: Array) -> tuple[Array, Mask]:
    """Return candidates for the minimizers, and whether each is optimal.

    Errors accumulate in the pivoted matrices if columns nearly depend on each other.
    Such problems fail the check with the given matrices, and are left to a slower
    solver.
    """
    m, k = b.shape
    w = np.empty((m, k))
    for part in spans(m, _BLOCK // (k * k)):
        w[part] = _pivot(G[part], b[part])
    lengths = np.sqrt(np.maximum(np.einsum("ijj->ij", G), 0))
    slope = b - np.matmul(G, w[:, :, None])[:, :, 0]
    slope = np.where(w > 0, np.abs(slope), np.where(lengths > 0, slope, 0))
    wrong = slope > 4 * noise_of_slopes(b, lengths, w)
    return w, np.count_nonzero(wrong, axis=1) == 0


def _pivot(G: Array, b: Array) -> Array:
    """Pivot all problems together: in each, one column enters or leaves per step.

    ``T`` is ``G`` swept on the passive columns P: it holds ``inv(G_PP) G_PN`` and the
    remainder ``G_NN - G_NP inv(G_PP) G_PN``, so that a column of it says how passive
    weights and other slopes change when its own weight grows.
    """
    n, k = b.shape
    answer = np.zeros((n, k))
    rows = np.arange(n)
    T, slope, w = G.copy(), b.copy(), np.zeros((n, k))
    diagonal = np.einsum("ijj->ij", G).copy()
    closed = diagonal <= 0  # passive, or of no use
    passive = np.zeros((n, k), dtype=bool)
    lengths = np.sqrt(np.where(closed, 1, diagonal))
    pending = np.full(n, -1)  # columns on their way in
    for _ in range(SIZES.nnls_entries * (k + 1)):
        noise = noise_of_slopes(b, lengths, w)
        gain = np.where(~closed & (slope > noise), slope / lengths, -1)
        here = np.arange(rows.size)
        best = gain.argmax(axis=1)
        best = np.where(gain[here, best] > 0, best, -1)
        entering = np.where(pending >= 0, pending, best)
        active = entering >= 0
        if not active.all():
            answer[rows[~active]] = w[~active]
            if not active.any():
                return answer
            rows, T, slope, w = rows[active], T[active], slope[active], w[active]
            b, diagonal, lengths = b[active], diagonal[active], lengths[active]
            closed, passive = closed[active], passive[active]
            entering = entering[active]
            here = np.arange(rows.size)
        column = T[here, :, entering]
        remainder = column[here, entering]
        independent = remainder > DEPENDENT * diagonal[here, entering]
        full = slope[here, entering] / np.where(independent, remainder, 1)
        full = np.where(independent, np.maximum(full, 0), np.inf)
        falling = passive & (column > 0)
        limits = np.where(falling, w / np.where(falling, column, 1), np.inf)
        leaving = limits.argmin(axis=1)
        limit = limits[here, leaving]
        enters = full <= limit
        stuck = enters & np.isinf(full)
        enters &= ~stuck
        step = np.where(stuck, 0, np.minimum(full, limit))[:, None]
        w = np.maximum(w - step * np.where(passive, column, 0), 0)
        slope -= step * np.where(passive, 0, column)
        w[here, entering] += step[:, 0]
        leaves = ~enters & ~stuck
        w[here[leaves], leaving[leaves]] = 0
        slope[here[enters], entering[enters]] = 0
        pivot = np.where(leaves, leaving, entering)
        _sweep(T, here, pivot, enters, stuck)
        passive[here, pivot] = enters
        closed[here, pivot] = enters | stuck
        pending = np.where(leaves, entering, -1)
    answer[rows] = w
    return answer


def _sweep(T: Array, here: Indices, pivot: Indices, enters: Mask, stuck: Mask) -> None:
    """Pivot each matrix on one diagonal entry, in place, but not the stuck ones."""
    column = T[here, :, pivot]
    inverse = np.where(stuck, 0, 1 / np.where(stuck, 1, column[here, pivot]))
    scaled = column * inverse[:, None]
    T -= scaled[:, :, None] * column[:, None, :]
    new = np.where(stuck[:, None], column, np.where(enters, 1, -1)[:, None] * scaled)
    new[here, pivot] = np.where(stuck, column[here, pivot], -inverse)
    T[here, :, pivot] = new
    T[here, pivot, :] = new
