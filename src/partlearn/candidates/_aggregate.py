"""Labels and the skill of annotators, from votes."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array, Indices
from partlearn.candidates._dawid_skene import ROUNDS, Confusions, dawid_skene
from partlearn.candidates._messages import check_known
from partlearn.candidates._votes import Votes

__all__ = [
    "VOTE_STATE",
    "Annotators",
    "VoteSummary",
    "aggregate_votes",
    "summarize_votes",
]


@dataclass(frozen=True)
class Annotators:
    """How good annotators are; arrays with one entry each.

    Attributes
    ----------
    name : ndarray of shape (n_annotators,)
        Names.
    accuracy : ndarray of shape (n_annotators,)
        Estimated share of right votes, shrunk to that of all annotators.
    n_votes : ndarray of int, shape (n_annotators,)
        Number of votes.
    """

    name: NDArray[Any]
    accuracy: Array
    n_votes: Indices

    def __getitem__(self, field: str) -> NDArray[Any]:
        """Field by its name, as of a table."""
        if field not in vars(self):
            raise KeyError(f"{field!r}; there are {', '.join(vars(self))}")
        column: NDArray[Any] = vars(self)[field]
        return column

    def to_frame(self) -> Any:
        """Give a pandas data frame, the least accurate annotators first.

        Returns
        -------
        frame : DataFrame
            Columns name, accuracy and n_votes.
        """
        import pandas

        return pandas.DataFrame(vars(self)).sort_values("accuracy", ignore_index=True)


@dataclass(frozen=True)
class VoteSummary:
    """What votes say of rows and of annotators.

    Attributes
    ----------
    label : ndarray of shape (n_samples,)
        The most likely label of every row.
    confidence : ndarray of shape (n_samples, n_classes)
        Belief in every label; rows sum to one.
    disagreement : ndarray of shape (n_samples,)
        Share of the row's votes that are for another label than `label`.
    feature_disagreement : ndarray of shape (n_samples,) or None
        How far the belief from the features lies from that of the votes alone, between
        0 (the same) and 1; None where no feature was seen.
    annotators : Annotators
        Arrays ``name``, ``accuracy`` and ``n_votes`` with one entry per annotator.
    classes : ndarray of shape (n_classes,)
        The classes.
    confusions : Confusions
        Counts behind :meth:`confusion`.
    """

    label: NDArray[Any]
    confidence: Array
    disagreement: Array
    feature_disagreement: Array | None
    annotators: Annotators
    classes: NDArray[Any]
    confusions: Confusions

    def confusion(self, annotator: Any) -> Array:
        """Give the estimated confusion of one annotator.

        Parameters
        ----------
        annotator : str or int
            Name of the annotator.

        Returns
        -------
        matrix : ndarray of shape (n_classes, n_classes)
            Probability of each vote (columns) by true label (rows), shrunk to what all
            annotators do and to the annotator's accuracy.

        Examples
        --------
        >>> from partlearn.candidates import aggregate_votes, from_annotators
        >>> table = {"ann": ["a", "b", "a"], "bob": ["a", "b", "a"]}
        >>> summary = aggregate_votes(from_annotators(table))
        >>> summary.confusion("ann").sum(axis=1)
        array([1., 1.])
        """
        names = self.annotators.name.tolist()
        check_known(annotator, names, f"There is no annotator {annotator!r}.")
        return self.confusions.of(names.index(annotator))


# What the fitted state of a method that was given votes holds.
VOTE_STATE = (Annotators, Confusions, VoteSummary)


def summarize_votes(
    votes: Votes, F: NDArray[Any], *, features: NDArray[Any] | None = None
) -> VoteSummary:
    """Describe rows and annotators, if `F` are the beliefs in the labels.

    Parameters
    ----------
    votes : Votes
        The votes.
    F : ndarray of shape (n_samples, n_classes)
        Beliefs, from votes alone or from votes and features.
    features : ndarray of shape (n_samples, n_classes), default=None
        Beliefs from the features alone; rows sum to one.

    Returns
    -------
    summary : VoteSummary
        Labels, beliefs, annotators.
    """
    table, F = votes.table, np.asarray(F, dtype=np.float64)
    confusions = table.confusions(F)
    best = F.argmax(axis=1)
    total = table.counts.sum(axis=1)
    agreeing = table.counts[np.arange(len(F)), best]
    n_votes = np.bincount(table.annotator, minlength=table.n_annotators)
    annotators = Annotators(votes.annotators, confusions.accuracy, n_votes)
    apart = None
    if features is not None:
        apart = np.abs(features - votes.confidence()).sum(axis=1) / 2
    return VoteSummary(
        label=votes.classes[best],
        confidence=F,
        disagreement=np.where(total > 0, 1 - agreeing / np.maximum(total, 1), 0.0),
        feature_disagreement=apart,
        annotators=annotators,
        classes=votes.classes,
        confusions=confusions,
    )


def aggregate_votes(votes: Votes, *, max_iter: int = ROUNDS) -> VoteSummary:
    """Estimate labels and the skill of annotators from votes alone.

    A Dawid-Skene estimate whose confusions are shrunk: of every annotator to their
    accuracy and to what all annotators confuse, and these to the common accuracy. So an
    annotator with few votes is trusted as the average one.

    Parameters
    ----------
    votes : Votes
        Made by :func:`from_votes` or :func:`from_annotators`.
    max_iter : int, default=30
        Number of iterations; 0 gives the shares of the votes.

    Returns
    -------
    summary : VoteSummary
        ``label`` and ``confidence`` of every row, ``annotators`` with ``accuracy`` and
        ``n_votes``, ``confusion(name)`` of one annotator.

    See Also
    --------
    partlearn.classification.CandidateClassifier : Uses the features besides.

    References
    ----------
    A. P. Dawid and A. M. Skene (1979). Maximum likelihood estimation of observer
    error-rates using the EM algorithm. Applied Statistics 28(1), 20-28.
    https://doi.org/10.2307/2346806

    Examples
    --------
    >>> from partlearn.candidates import aggregate_votes, from_annotators
    >>> table = {"ann": list("aabb"), "bob": list("aabb"), "cyd": list("abab")}
    >>> summary = aggregate_votes(from_annotators(table))
    >>> summary.label
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    >>> summary.annotators.name
    array(['ann', 'bob', 'cyd'], dtype='<U3')
    >>> summary.annotators.accuracy.round(2)
    array([0.9 , 0.9 , 0.69])
    """
    if not isinstance(votes, Votes):
        raise TypeError(
            "`votes` must come from from_votes or from_annotators; got "
            f"{type(votes).__name__}."
        )
    if not isinstance(max_iter, (int, np.integer)) or max_iter < 0:
        raise ValueError(f"`max_iter` must not be negative; got {max_iter}.")
    F = votes.certain(dawid_skene(votes.table, int(max_iter)))
    return summarize_votes(votes, F)
