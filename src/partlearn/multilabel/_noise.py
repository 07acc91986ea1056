"""Partial multi-label data from true labels: irrelevant labels become candidates."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from partlearn._typing import Array, Indices, Mask
from partlearn.candidates import check_candidates


def _in_proportion(truth: Mask, p: float) -> Indices:
    """Wrong labels to add to each row: `p` times its true ones, rounded."""
    if not p >= 0:
        raise ValueError(f"`p` must not be negative; got {p}.")
    return np.floor(float(p) * truth.sum(axis=1) + 0.5).astype(np.intp)


def _add(Y: Mask, n_false: Indices, keys: Array) -> Mask:
    """Add to each row the `n_false` wrong labels of smallest key."""
    place = np.argsort(np.where(Y, np.inf, keys), axis=1, kind="stable")
    chosen = np.arange(Y.shape[1]) < np.minimum(n_false, (~Y).sum(axis=1))[:, None]
    noise = np.zeros_like(Y)
    np.put_along_axis(noise, place, chosen, axis=1)
    return Y | noise


def add_noise_labels(Y: Any, r: int = 1, *, random_state: Any = None) -> Mask:
    """Add `r` false labels to every row, drawn uniformly without replacement.

    Parameters
    ----------
    Y : binary matrix of shape (n_samples, n_classes) or sequence of sets of labels
        True labels; rows may be without any.
    r : int, default=1
        Number of false candidates per row; all wrong labels where there are fewer.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

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
    """
    _, truth = check_candidates(Y, empty="keep")
    if r < 0 or int(r) != r:
        raise ValueError(f"`r` must be a number of labels, 0 or more; got {r}.")
    keys = check_random_state(random_state).uniform(size=truth.shape)
    return _add(truth, np.full(len(truth), int(r), dtype=np.intp), keys)


def noise_to_average(Y: Any, a: int = 3, *, random_state: Any = None) -> Mask:
    """Top up every row with random irrelevant labels until it has `a` candidates.

    Parameters
    ----------
    Y : binary matrix of shape (n_samples, n_classes) or sequence of sets of labels
        True labels; rows may be without any.
    a : int, default=3
        Candidates to reach; rows with more true labels stay as they are.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    C : ndarray of bool, shape (n_samples, n_classes)
        Candidates; every true label is one.

    Examples
    --------
    >>> from partlearn.multilabel import noise_to_average
    >>> Y = [[1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]]
    >>> noise_to_average(Y, 2, random_state=0).sum(axis=1)
    array([2, 3, 2])
    """
    _, truth = check_candidates(Y, empty="keep")
    if a < 0 or int(a) != a:
        raise ValueError(f"`a` must be a number of labels, 0 or more; got {a}.")
    keys = check_random_state(random_state).uniform(size=truth.shape)
    return _add(truth, np.maximum(int(a) - truth.sum(axis=1), 0), keys)


def noise_rate(Y: Any, p: float = 1.0, *, random_state: Any = None) -> Mask:
    """Give every row irrelevant labels in proportion to its true ones.

    Parameters
    ----------
    Y : binary matrix of shape (n_samples, n_classes) or sequence of sets of labels
        True labels; rows without any get no noise.
    p : float, default=1.0
        False candidates per true label; their number is rounded, halves upwards.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    C : ndarray of bool, shape (n_samples, n_classes)
        Candidates; every true label is one.

    Examples
    --------
    >>> from partlearn.multilabel import noise_rate
    >>> Y = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]
    >>> noise_rate(Y, 1.5, random_state=0).sum(axis=1)
    array([3, 5, 0])
    """
    _, truth = check_candidates(Y, empty="keep")
    keys = check_random_state(random_state).uniform(size=truth.shape)
    return _add(truth, _in_proportion(truth, p), keys)


def noise_by_similarity(Y: Any, p: float = 1.0, *, random_state: Any = None) -> Mask:
    """Give every row the irrelevant labels most similar to its true ones.

    The labels are as many as in ``noise_rate``. They are those of largest summed
    cosine, over the columns of `Y`, with the row's true labels: such false candidates
    look plausible and are harder than random noise.

    Parameters
    ----------
    Y : binary matrix of shape (n_samples, n_classes) or sequence of sets of labels
        True labels; rows without any get no noise.
    p : float, default=1.0
        False candidates per true label; their number is rounded, halves upwards.
    random_state : int, RandomState or None, default=None
        Decides between equally similar labels.

    Returns
    -------
    C : ndarray of bool, shape (n_samples, n_classes)
        Candidates; every true label is one.

    Examples
    --------
    >>> from partlearn.multilabel import noise_by_similarity
    >>> Y = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]]
    >>> noise_by_similarity(Y, 1, random_state=0)[1:3].astype(int)
    array([[1, 1, 0, 0],
           [0, 0, 1, 1]])
    """
    _, truth = check_candidates(Y, empty="keep")
    F = truth.astype(np.float64)
    norm = np.sqrt(F.sum(axis=0))
    cosine = F.T @ F / np.maximum(np.outer(norm, norm), 1)
    similarity = F @ cosine
    ties = check_random_state(random_state).uniform(size=truth.shape)
    # Round-off must not decide between equals; the draw is smaller than any step.
    keys = -np.round(similarity, 9) + 1e-10 * ties
    return _add(truth, _in_proportion(truth, p), keys)
