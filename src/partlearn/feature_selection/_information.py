"""Mutual information of binned features from counts of pairs of bins, in nats."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array, Indices


def counts_log_counts(n: NDArray[Any]) -> Array:
    """``n ln n``, zero where `n` is zero."""
    n = np.asarray(n, dtype=np.float64)
    return n * np.log(np.where(n > 0, n, 1.0))


def information(joint: NDArray[Any], m: float) -> Array:
    """Mutual information of tables of counts.

    Source: SAUTE, mutual information in Eq. (6).

    Parameters
    ----------
    joint : ndarray of shape (..., 5, 5)
        Counts of pairs of bins.
    m : float
        What the counts of a table sum to.

    Returns
    -------
    information : ndarray of shape (...)
        ``H(f) + H(g) - H(f, g)`` in nats, never negative.
    """
    total = counts_log_counts(joint).sum(axis=(-2, -1))
    for axis in (-2, -1):
        total = total - counts_log_counts(joint.sum(axis=axis)).sum(axis=-1)
    return np.asarray(np.maximum(total / m + np.log(m), 0.0))


def complete(
    joint: NDArray[np.int64],
    of_f: NDArray[np.int64],
    counts: NDArray[np.int64],
    f_rest: int,
    rest: Indices | int = 2,
) -> NDArray[np.int64]:
    """Fill in the row and the column of the bins that were not counted, in place."""
    every = np.arange(len(joint))
    joint[every, :, rest] = 0
    joint[every, :, rest] = of_f - joint.sum(axis=2)
    joint[:, f_rest, :] = 0
    joint[:, f_rest, :] = counts - joint.sum(axis=1)
    return joint
