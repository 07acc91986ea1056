"""A number of directions chosen without the truth.

Rows are held out; each of them is labelled by its nearest training rows in the reduced
space, and the label counts as a hit when it is one of the row's candidates. A label
drawn at random hits a large set easily, so a row counts 1/|S_i|. Of the numbers of
directions that are not clearly worse than the best, the smallest is taken.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from partlearn.candidates import vote
from partlearn.metrics._smallest import smallest_good
from partlearn.neighbors import query_neighbors

__all__ = ["choose_dimension", "held_out_hits", "most_directions"]

# With a whole standard error the smallest number lost up to 0.03 accuracy on Lost.
_ERRORS = 0.5


def most_directions(X: Any, S: NDArray[np.bool_]) -> int:
    """Directions that can depend on the labels: one per class less one, at most d."""
    return min(S.shape[1] - 1, X.shape[1])


def choose_dimension(
    reducer: Any,
    X: Any,
    S: NDArray[np.bool_],
    *,
    n_folds: int = 5,
    n_neighbors: int = 10,
) -> int:
    """Choose a number of directions for `reducer` by cross-validation.

    Parameters
    ----------
    reducer : estimator
        Its clones are fitted with as many directions as there are classes minus one,
        of which the first r are tried. The reducer itself should then do the same:
        learn all, keep the first r.
    X : ndarray or CSR matrix of shape (m, d)
        Training rows.
    S : ndarray of bool, shape (m, q)
        Candidates.
    n_folds : int, default=5
        Parts into which the rows are split; the split does not depend on any state.
    n_neighbors : int, default=10
        Neighbours that vote on a held-out row.

    Returns
    -------
    r : int
        The number of directions.
    """
    m = len(S)
    most = most_directions(X, S)
    n_folds = min(n_folds, m)
    if most == 1 or m < 4:
        return 1
    fold = np.random.RandomState(0).permutation(m) % n_folds
    hits = np.zeros((most, m))
    for k in range(n_folds):
        held, kept = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        inner = clone(reducer).set_params(n_components=most)
        inner.set_output(transform="default")  # a clone may have been told to frame
        with warnings.catch_warnings():
            # The fit on all rows, which follows, reports what there is to report.
            warnings.simplefilter("ignore")
            inner.fit(X[kept], S[kept].astype(np.int8))
        found = held_out_hits(
            inner.transform(X[kept]),
            inner.transform(X[held]),
            inner.label_confidence_,
            S[held],
            n_neighbors,
        )
        hits[: len(found), held] = found
        hits[len(found) :, held] = found[-1]
    return smallest_good(hits, 1.0 / S.sum(axis=1), errors=_ERRORS) + 1


def held_out_hits(
    Z: NDArray[Any],
    Q: NDArray[Any],
    F: NDArray[Any],
    S: NDArray[np.bool_],
    n_neighbors: int,
) -> NDArray[np.bool_]:
    """Whether neighbours name a candidate, by number of directions: (r, n_held)."""
    hits = np.empty((Z.shape[1], Q.shape[0]), dtype=bool)
    rows = np.arange(Q.shape[0])
    for r in range(1, Z.shape[1] + 1):
        _, neighbors = query_neighbors(Z[:, :r], Q[:, :r], n_neighbors)
        hits[r - 1] = S[rows, vote(F, neighbors).argmax(axis=1)]
    return hits
