"""Synthetic annotators: votes on rows of known truth."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from partlearn._typing import Array
from partlearn.candidates._dawid_skene import VoteTable
from partlearn.candidates._generate import true_codes
from partlearn.candidates._votes import Votes

__all__ = ["make_votes"]


def make_votes(
    y: ArrayLike,
    n_annotators: int = 5,
    *,
    accuracy: ArrayLike = 0.7,
    confusion: ArrayLike | None = None,
    coverage: ArrayLike = 1.0,
    random_state: Any = None,
) -> Votes:
    """Let annotators of known skill vote on rows of known truth.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    n_annotators : int, default=5
        Number of annotators.
    accuracy : float or array-like of shape (n_annotators,), default=0.7
        Probability of a right vote; wrong labels are voted for alike.
    confusion : array-like, default=None
        Probability of each vote (columns) by true class (rows), of shape (n_classes,
        n_classes) for all annotators or (n_annotators, n_classes, n_classes). Takes the
        place of `accuracy`. Classes are sorted.
    coverage : float or array-like of shape (n_annotators,), default=1.0
        Probability that an annotator votes on a row. A row that nobody would vote on
        gets the vote of one annotator, drawn in proportion to these.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    votes : Votes
        Of annotators 0, 1, 2 ..., as :func:`from_votes` reads them.

    See Also
    --------
    aggregate_votes : Labels and the skill of annotators, from votes.
    instance_candidates : Candidate sets by the confusion of a classifier.

    Examples
    --------
    >>> from partlearn.candidates import aggregate_votes, make_votes
    >>> votes = make_votes(["a", "b"] * 200, accuracy=[0.9, 0.8, 0.6], random_state=0,
    ...                    n_annotators=3)
    >>> votes
    Votes(400 rows, 2 classes, 1200 votes of 3 annotators)
    >>> aggregate_votes(votes).annotators.accuracy.argmax()
    np.int64(0)
    """
    classes, truth = true_codes(y, "Votes")
    q = len(classes)
    if n_annotators < 1:
        raise ValueError(f"`n_annotators` must be at least 1; got {n_annotators}.")
    rng = check_random_state(random_state)
    P = _confusions(accuracy, confusion, n_annotators, q)
    share = _per_annotator("coverage", coverage, n_annotators)
    if not share.any():
        raise ValueError("`coverage` must be above 0 for at least one annotator.")
    seen = rng.uniform(size=(len(truth), n_annotators)) < share
    alone = np.flatnonzero(~seen.any(axis=1))
    seen[alone, rng.choice(n_annotators, size=len(alone), p=share / share.sum())] = True
    row, annotator = np.nonzero(seen)
    steps = P[annotator, truth[row]].cumsum(axis=1)
    steps[:, -1] = 1.0  # sums fall short of one by rounding
    label = (rng.uniform(size=(len(row), 1)) >= steps).sum(axis=1)
    table = VoteTable(row, annotator, label, len(truth), n_annotators, q)
    return Votes(table, classes, np.arange(n_annotators))


def _per_annotator(name: str, value: ArrayLike, n: int) -> Array:
    values = np.asarray(value, dtype=np.float64)
    if values.shape not in ((), (n,)):
        raise ValueError(
            f"`{name}` must be one number or {n}, one per annotator; got shape "
            f"{values.shape}."
        )
    values = np.broadcast_to(values, n)
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if bad.size:
        raise ValueError(
            f"`{name}` must lie between 0 and 1; annotator {bad[0]} has "
            f"{values[bad[0]]}."
        )
    return values


def _confusions(
    accuracy: ArrayLike, confusion: ArrayLike | None, n: int, q: int
) -> Array:
    """Probability of each vote, by annotator and true class."""
    if confusion is None:
        right = _per_annotator("accuracy", accuracy, n)[:, None, None]
        return np.where(np.eye(q, dtype=bool), right, (1 - right) / (q - 1))
    P = np.asarray(confusion, dtype=np.float64)
    if P.shape not in ((q, q), (n, q, q)):
        raise ValueError(
            f"`confusion` must have shape {(q, q)} or {(n, q, q)}; got {P.shape}."
        )
    P = np.broadcast_to(P, (n, q, q))
    bad = np.argwhere(~((P >= 0).all(axis=2) & np.isclose(P.sum(axis=2), 1)))
    if bad.size:
        who, label = bad[0]
        raise ValueError(
            "Rows of `confusion` must be probabilities that sum to one; those of "
            f"annotator {who} for class {label} are {P[who, label].tolist()}."
        )
    return P
