"""Partial multi-label data from true labels: irrelevant labels become candidates."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils import check_random_state

from partlearn._arguments import check_choice
from partlearn._typing import Mask
from partlearn.candidates import check_candidates

Kind = Literal["add", "average", "rate", "similarity"]


def add_noise_labels(
    Y: Any, r: float = 1, *, kind: Kind = "add", random_state: Any = None
) -> Mask:
    """Add false labels to every row, drawn without replacement.

    Parameters
    ----------
    Y : binary matrix of shape (n_samples, n_classes) or sequence of sets of labels
        True labels; rows may be without any.
    r : int or float, default=1
        Amount of noise; a row gets all wrong labels where there are fewer.
    kind : {"add", "average", "rate", "similarity"}, default="add"
        What `r` is, and which labels are added:

        * "add": the number of false labels of every row, drawn uniformly;
        * "average": the number of candidates up to which every row is filled, drawn
          uniformly;
        * "rate": false labels per true label of the row, rounded, halves upwards,
          drawn uniformly;
        * "similarity": as many, but those of largest summed cosine, over the columns
          of `Y`, with the row's true labels. The false candidates look plausible,
          which is harder than noise at random.
    random_state : int, RandomState or None, default=None
        Seed of the draw; of "similarity", it decides between equally similar labels.

    Returns
    -------
    C : ndarray of bool, shape (n_samples, n_classes)
        Candidates; every true label is one.

    Examples
    --------
    >>> from partlearn.multilabel import add_noise_labels
    >>> Y = [[1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]]
    >>> add_noise_labels(Y, 2, random_state=0).sum(axis=1)
    array([3, 4, 2])
    >>> add_noise_labels(Y, 3, kind="average", random_state=0).sum(axis=1)
    array([3, 3, 3])
    """
    check_choice("kind", kind, get_args(Kind))
    _, truth = check_candidates(Y, empty="keep")
    by_rate = kind in ("rate", "similarity")
    if not r >= 0 or not (by_rate or int(r) == r):
        what = "a number" if by_rate else "a number of labels"
        raise ValueError(f"`r` must be {what}, 0 or more; got {r}.")
    size = truth.sum(axis=1)
    n_false = np.full(len(truth), int(r) if not by_rate else 0)
    if kind == "average":
        n_false = np.maximum(n_false - size, 0)
    elif by_rate:
        n_false = np.floor(float(r) * size + 0.5).astype(np.intp)
    keys = check_random_state(random_state).uniform(size=truth.shape)
    if kind == "similarity":
        F = truth.astype(np.float64)
        norm = np.sqrt(F.sum(axis=0))
        cosine = F.T @ F / np.maximum(np.outer(norm, norm), 1)
        # Round-off must not decide between equals; the draw is smaller than any step.
        keys = -np.round(F @ cosine, 9) + 1e-10 * keys
    place = np.argsort(np.where(truth, np.inf, keys), axis=1, kind="stable")
    n_wrong = truth.shape[1] - size
    chosen = np.arange(truth.shape[1]) < np.minimum(n_false, n_wrong)[:, None]
    noise = np.zeros_like(truth)
    np.put_along_axis(noise, place, chosen, axis=1)
    return np.asarray(truth | noise)
