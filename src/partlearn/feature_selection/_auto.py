"""A number of features chosen without the truth.

Some rows are held out. Each is labelled by its nearest training rows in the first
features of one greedy path, and the label counts as a hit when it is one of the row's
candidates; a row counts 1/|S_i|, since a large set is hit easily.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn.candidates import vote
from partlearn.feature_selection._columns import DenseColumns, SparseColumns
from partlearn.neighbors import query_neighbors

__all__ = ["held_out_hits", "sizes_to_try"]

FRACTIONS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
_VOTERS = 10


def sizes_to_try(d: int, least: int, most: int) -> NDArray[np.intp]:
    """Sizes between `least` and `most`, up to three fifths of the `d` features."""
    sizes = np.ceil(np.array(FRACTIONS) * d - 1e-9)
    return np.unique(np.clip(sizes, max(1, least), most).astype(np.intp))


def held_out_hits(
    data: DenseColumns | SparseColumns,
    X: Any,
    F: NDArray[np.float64],
    S: NDArray[np.bool_],
    order: NDArray[np.intp],
    sizes: NDArray[np.intp],
    standardize: bool,
) -> NDArray[np.bool_]:
    """Whether neighbours in the first features name a candidate.

    Parameters
    ----------
    data : DenseColumns or SparseColumns
        Training rows.
    X : ndarray or CSR matrix
        Held-out rows.
    F : ndarray
        Confidences of the training rows.
    S : ndarray of bool
        Candidates of the held-out rows.
    order : ndarray of int
        Features, best first.
    sizes : ndarray of int
        How many of them to use.
    standardize : bool
        Whether distances are between standardised columns.

    Returns
    -------
    hits : ndarray of bool, shape (len(sizes), n_held)
        One row per size.
    """
    hits = np.empty((len(sizes), len(S)), dtype=bool)
    for i, n in enumerate(sizes):
        Z = data.scaled(order[:n], standardize)
        Q = data.scaled(order[:n], standardize, X)
        _, neighbors = query_neighbors(Z, Q, _VOTERS)
        hits[i] = S[np.arange(len(S)), vote(F, neighbors).argmax(axis=1)]
    return hits
