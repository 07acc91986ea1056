"""A number of directions chosen without the truth, on held-out rows."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from partlearn._progress import iterations
from partlearn._typing import Mask
from partlearn.candidates import Evidence
from partlearn.model_selection import held_out_hits, one_standard_error_rule

# With a whole standard error the smallest number lost up to 0.03 accuracy on Lost.
_ERRORS = 0.5
_FOLDS, _NEIGHBORS = 5, 10


def most_directions(X: Any, S: Mask) -> int:
    """Directions that can depend on the labels: one per class less one, at most d."""
    return min(S.shape[1] - 1, X.shape[1])


def choose_dimension(reducer: Any, X: Any, labels: Evidence) -> int:
    """Choose a number of directions for `reducer` by cross-validation.

    The split does not depend on any state; neighbours vote on the held-out rows.

    Parameters
    ----------
    reducer : estimator
        Its clones are fitted with as many directions as there are classes minus one,
        of which the first r are tried. The reducer itself should then do the same:
        learn all, keep the first r.
    X : ndarray or CSR matrix of shape (m, d)
        Training rows.
    labels : Evidence of shape (m, q)
        Labels.

    Returns
    -------
    r : int
        The number of directions.
    """
    S = labels.candidates
    m = len(S)
    most = most_directions(X, S)
    n_folds = min(_FOLDS, m)
    if most == 1 or m < 4:
        return 1
    fold = np.random.RandomState(0).permutation(m) % n_folds
    hits = np.zeros((most, m))
    for k in iterations("folds to choose n_components", n_folds):
        held, kept = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        inner = clone(reducer).set_params(n_components=most)
        inner.set_output(transform="default")  # a clone may have been told to frame
        with warnings.catch_warnings():
            # The fit on all rows, which follows, reports what there is to report.
            warnings.simplefilter("ignore")
            inner.fit(X[kept], labels[kept])
        Z, Q = inner.transform(X[kept]), inner.transform(X[held])
        hit_rates = held_out_hits(
            ((Z[:, :r], Q[:, :r]) for r in range(1, Z.shape[1] + 1)),
            inner.label_confidence_,
            S[held],
            _NEIGHBORS,
        )
        hits[: len(hit_rates), held] = hit_rates
        hits[len(hit_rates) :, held] = hit_rates[-1]
    return one_standard_error_rule(hits, 1.0 / S.sum(axis=1), n_errors=_ERRORS) + 1
