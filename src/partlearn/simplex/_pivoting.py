"""The active-set method by pivoting: fast, and checked afterwards."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from partlearn._typing import Array, Indices, Mask

EPS = float(np.finfo(np.float64).eps)
# A column whose remainder after projection on the passive ones is below this part of
# its squared length counts as dependent: its pivot would be rounding error.
DEPENDENT = 1e-13
MAX_ENTRIES = 20  # entries per column; far more than are ever seen
_CHUNK = 1 << 17  # matrix entries worked on at once: they should stay in the cache


def noise_of_slopes(b: Array, lengths: Array, w: Array) -> Array:
    """Rounding error of ``b - G w``, with ``|G[j, l]| <= lengths[j] * lengths[l]``."""
    total = np.einsum("ij,ij->i", lengths, w)[:, None]
    return 4 * b.shape[1] * EPS * (np.abs(b) + lengths * total)


def pivot_all(G: Array, b: Array) -> tuple[Array, Mask]:
    """Candidates for the minimisers, and whether each meets the conditions.

    Errors pile up in the pivoted matrices where columns nearly depend on each other;
    such problems fail the check, made with the matrices as given, and are left to a
    slower solver.
    """
    m, k = b.shape
    w = np.empty((m, k))
    size = max(1, _CHUNK // (k * k))
    for start in range(0, m, size):
        part = slice(start, start + size)
        w[part] = _pivot(G[part], b[part])
    lengths = np.sqrt(np.maximum(np.einsum("ijj->ij", G), 0))
    slope = b - np.matmul(G, w[:, :, None])[:, :, 0]
    slope = np.where(w > 0, np.abs(slope), np.where(lengths > 0, slope, 0))
    wrong = slope > 4 * noise_of_slopes(b, lengths, w)
    return w, np.count_nonzero(wrong, axis=1) == 0


def _pivot(G: Array, b: Array) -> Array:
    """All problems in step: each lets a column enter or leave at the same time.

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
    for _ in range(MAX_ENTRIES * (k + 1)):
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
