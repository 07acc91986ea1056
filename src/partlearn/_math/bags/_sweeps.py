"""Belief propagation between the rows of bags and the labels of their lists.

Arrays are (rows, labels, bags): the sums and products below run over the first two
axes, so that NumPy works on long contiguous vectors of bags.
"""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array

N_SWEEPS = 10
_SURE = 1 - 1e-9  # largest probability that a message starts from
_TINY = 1e-12  # smallest denominator of a message


def sweeps(
    P: Array, rest: Array, rule: str, stray: float, n_sweeps: int = N_SWEEPS
) -> tuple[Array, Array, Array]:
    """Compute confidences given the lists of the bags by damped messages.

    Parameters
    ----------
    P : ndarray of shape (n_rows, n_labels, n_bags)
        Confidences in the labels of the list.
    rest : ndarray of shape (n_rows, n_bags)
        Confidence in all other labels, which the rule does not change.
    rule : {"cover", "distinct", "match"}
        Every label at least once, at most once, or exactly once.
    stray : float
        Weight of a label that no row has, beside a weight of 1; "distinct" does not
        use it.
    n_sweeps : int
        Number of sweeps.

    Returns
    -------
    F : ndarray of shape (n_rows, n_labels, n_bags)
        Confidences in the labels of the list.
    other : ndarray of shape (n_rows, n_bags)
        Confidence in all other labels; the sum of a row over both is one.
    unused : ndarray of shape (n_labels, n_bags)
        Probability that no row has the label.
    """
    w = np.ones_like(P)
    for _ in range(n_sweeps):
        m = _cavity(P, w, rest)
        w *= _message(m, rule, stray)
        np.sqrt(w, out=w)
    F = P * w
    total = F.sum(axis=1) + rest
    return F / total[:, None], rest / total, _unused(_cavity(P, w, rest), rule, stray)


def _cavity(P: Array, w: Array, rest: Array) -> Array:
    """Return the probability of each label without the message of this label."""
    others = _without_own(P * w, axis=1)
    others += rest[:, None]
    others += P
    m = np.divide(P, others, out=others)
    return np.minimum(m, _SURE, out=m)


def _message(m: Array, rule: str, stray: float) -> Array:
    """Return the odds of each label by the rule, from all other rows."""
    if rule == "cover":
        np.subtract(1, m, out=m)
        nobody = m.prod(axis=0) / m  # 1 - m is never zero
        nobody *= stray - 1
        nobody += 1
    else:
        nobody = _without_own(m / (1 - m), axis=0)
        nobody += 1 if rule == "distinct" else stray
    np.maximum(nobody, _TINY, out=nobody)
    return np.divide(1, nobody, out=nobody)


def _unused(m: Array, rule: str, stray: float) -> Array:
    """Return the probability that no row of the bag has a label."""
    if rule == "cover":
        nobody = (1 - m).prod(axis=0)
        return stray * nobody / np.maximum(1 - (1 - stray) * nobody, _TINY)
    weight = 1.0 if rule == "distinct" else stray
    return weight / np.maximum(weight + (m / (1 - m)).sum(axis=0), _TINY)


def _without_own(A: NDArray[np.float64], axis: int) -> Array:
    """Sum all other entries along an axis, without subtraction."""
    A = np.moveaxis(A, axis, 0)
    out = np.zeros_like(A)
    before, after = np.zeros_like(A[0]), np.zeros_like(A[0])
    last = len(A) - 1
    for k in range(last):
        before += A[k]
        out[k + 1] += before
        after += A[last - k]
        out[last - k - 1] += after
    return np.moveaxis(out, 0, axis)
