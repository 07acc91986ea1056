"""Exact confidences of bags with few labels, by a pass over subsets of the list."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from partlearn._typing import Array, Mask

# Labels of a list up to which the rules take this pass: where a label may have several
# rows it costs as much as the sweeps at six; the sweeps of the others are too far off.
EXACT_LABELS = {"cover": 6, "distinct": 12, "match": 12}
_NEVER = 1e-20  # least weight of an unused label, so that some assignment remains
_TINY = np.finfo(np.float64).tiny


def exact_pass(
    P: Array, rest: Array, rule: str, stray: float
) -> tuple[Array, Array, Array, Mask]:
    """Compute confidences given the rule by a forward and a backward pass.

    A state is the set of labels that are used. Cost: rows x labels x 2^labels.

    Parameters
    ----------
    P : ndarray of shape (n_rows, n_labels, n_bags)
        Confidences in the labels of the list.
    rest : ndarray of shape (n_rows, n_bags)
        Confidence in all other labels, which any number of rows may have.
    rule : {"cover", "distinct", "match"}
        Every label at least once, at most once, or exactly once.
    stray : float
        Weight of each label that no row has; "distinct" does not use it.

    Returns
    -------
    F, other, unused : ndarray
        As those of :func:`sweeps`.
    possible : ndarray of bool, shape (n_bags,)
        Whether some assignment of labels to rows satisfies the rule. For other bags,
        `F` and `other` are `P` and `rest`.
    """
    n, c, B = P.shape
    again = rule == "cover"  # whether a used label may be taken once more
    forward = np.zeros((n, 2**c, B))
    state = np.zeros((2**c, B))
    state[0] = 1.0
    for i in range(n):
        forward[i] = state
        state = state * rest[i]
        for j in range(c):
            old, new = _split(forward[i], j), _split(state, j)
            new[:, 1] += (old.sum(axis=1) if again else old[:, 0]) * P[i, j]
        state /= np.maximum(state.max(axis=0), _TINY)
    used = np.bitwise_count(np.arange(2**c))
    weight = 1.0 if rule == "distinct" else max(stray, _NEVER)
    left = np.maximum(min(n, c) - used, 0)  # unused though there are rows for it
    backward = np.repeat(np.power(weight, left)[:, None], B, axis=1)
    state *= backward
    unused = np.stack([_split(state, j)[:, 0].sum(axis=(0, 1)) for j in range(c)])
    unused /= np.maximum(state.sum(axis=0), _TINY)
    F, other = np.empty_like(P), np.empty_like(rest)
    for i in range(n)[::-1]:
        after = backward
        backward = after * rest[i]
        other[i] = (forward[i] * backward).sum(axis=0)
        for j in range(c):
            taken = _split(after, j)[:, 1] * P[i, j]
            old = _split(forward[i], j)
            F[i, j] = ((old.sum(axis=1) if again else old[:, 0]) * taken).sum(
                axis=(0, 1)
            )
            _split(backward, j)[:, 0] += taken
            if again:
                _split(backward, j)[:, 1] += taken
        backward /= np.maximum(backward.max(axis=0), _TINY)
    total = F.sum(axis=1) + other
    possible = (total > 0).all(axis=0)
    scale = np.where(total > 0, total, 1)
    F = np.where(possible, F / scale[:, None], P)
    other = np.where(possible, other / scale, rest)
    return F, other, unused, possible


def _split(state: Array, j: int) -> Array:
    """Return a view of states as (others, without or with label j, others, bags)."""
    return state.reshape(-1, 2, 2**j, state.shape[-1])
