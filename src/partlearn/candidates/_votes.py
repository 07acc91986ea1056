"""Votes of annotators, aggregated labels and annotator accuracy."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn._arguments import argument
from partlearn._typing import Array, Indices, Mask
from partlearn.candidates._confidence import restrict_confidence
from partlearn.candidates._dawid_skene import (
    ROUNDS,
    Confusions,
    VoteTable,
    dawid_skene,
)
from partlearn.candidates._evidence import Evidence, certain_rows
from partlearn.candidates._gold import GoldQuality, judge_by_gold, known_labels
from partlearn.candidates._messages import check_known

_SEVERAL = 1.25  # labels per row and annotator from which votes are lists


class Votes(Evidence):
    """Labels given by several annotators.

    Made by :func:`from_votes` and :func:`from_annotators`. As evidence, votes are
    weighted by the estimated accuracy of the annotators, which methods update after
    every iteration; see :func:`aggregate_votes`. Methods for candidate sets use the
    labels with at least one vote as the candidates of a row.

    Attributes
    ----------
    table : VoteTable
        Codes of rows, annotators and labels, one entry per vote.
    annotators : ndarray of shape (n_annotators,)
        Names of the annotators.
    classes : ndarray of shape (n_classes,)
        The classes.
    rows : ndarray of int, shape (n_samples,)
        Rows of the caller's table.
    known : ndarray of int, shape (n_samples,)
        Code of a row's true label where :meth:`Evidence.with_known` gave it, else -1.

    See Also
    --------
    Evidence : Base class of labels with weights.

    Examples
    --------
    >>> from partlearn.candidates import from_votes
    >>> votes = from_votes([0, 0, 1], ["ann", "bob", "ann"], ["cat", "dog", "dog"])
    >>> votes
    Votes(2 rows, 2 classes, 3 votes of 2 annotators)
    >>> votes[[0]].candidates
    array([[ True,  True]])
    """

    def __init__(
        self,
        table: VoteTable,
        classes: ArrayLike,
        annotators: ArrayLike,
        *,
        rows: ArrayLike | None = None,
    ) -> None:
        self.table = table
        self.classes = np.asarray(classes)
        self.annotators: NDArray[Any] = np.asarray(annotators)
        rows = np.arange(table.n_rows) if rows is None else rows
        self.rows = np.asarray(rows, dtype=np.intp)
        self.known = np.full(table.n_rows, -1, dtype=np.intp)
        self._belief: Array | None = None

    @property
    def several(self) -> bool:
        """Whether annotators usually give several labels to a row."""
        codes = np.stack([self.table.row, self.table.annotator, self.table.label])
        distinct = np.unique(codes, axis=1)
        pairs = np.unique(distinct[:2], axis=1).shape[1]
        return distinct.shape[1] > _SEVERAL * max(pairs, 1)

    @property
    def weights(self) -> NDArray[Any]:
        """Likelihood of each row's votes under each label, row maxima one."""
        F = np.asarray(self.confidence(), dtype=np.float64)
        skill = self.table.confusions(F)
        return self.certain(self.table.evidence(skill))

    @property
    def candidates(self) -> Mask:
        """Labels with at least one vote; all labels of rows without votes."""
        voted = self.table.counts > 0
        return self.certain(voted | ~voted.any(axis=1, keepdims=True))

    @property
    def listed(self) -> Mask:
        """Labels with at least one vote, regardless of corrections.

        The list of a bag holds all labels that any annotator gave to any of its rows.
        """
        return np.asarray(self.table.counts > 0)

    @property
    def weighted(self) -> bool:
        """Always true: votes differ from candidate sets."""
        return True

    def confidence(self, dtype: Any = np.float64) -> NDArray[np.floating[Any]]:
        """Return confidences from the votes alone; see :func:`aggregate_votes`."""
        if self._belief is None:
            self._belief = dawid_skene(self.table, certain=self.certain)
        return self._belief.astype(dtype)

    def first_confidence(self, dtype: Any = np.float64) -> NDArray[np.floating[Any]]:
        """Return confidences from the votes, restricted to labels with a vote."""
        return restrict_confidence(self.confidence(), self.candidates).astype(dtype)

    def updated(self, M: NDArray[Any]) -> NDArray[Any]:
        """Weight votes by the agreement of each annotator with `M`."""
        M = self.certain(np.asarray(M, dtype=np.float64))
        F = np.asarray(self.confidence(), dtype=np.float64)
        skill = self.table.judged(F, M)
        return self.certain(self.table.evidence(skill))

    def certain(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Set the `known` rows of a matrix to their true label."""
        places = np.flatnonzero(self.known >= 0)
        if not places.size:
            return matrix
        return certain_rows(matrix, places, self.known[places])

    def _certain(self, places: Indices, codes: Indices) -> Self:
        other = self._copy()
        other.known, other._belief = self.known.copy(), None
        other.known[places] = codes
        return other

    def with_prior(self, prior: ArrayLike) -> Evidence:
        """Raise; class priors are estimated from the votes."""
        raise ValueError(
            "Class priors are estimated from the votes; do not pass a prior."
        )

    def with_miss_rate(self, miss_rate: float) -> Self:
        """Raise unless the rate is 0; votes include the errors of annotators."""
        if miss_rate != 0:
            raise ValueError(
                f"{argument('miss_rate')} is for candidate sets. Errors of annotators "
                "are estimated "
                "from their votes; leave it at 0."
            )
        return self

    def to_frame(self) -> Any:
        """Return the votes as a pandas data frame: row, annotator, label.

        Returns
        -------
        frame : DataFrame
            A long table whose columns :func:`from_votes` reads.
        """
        import pandas

        t = self.table
        return pandas.DataFrame(
            {
                "row": self.rows[t.row],
                "annotator": self.annotators[t.annotator],
                "label": self.classes[t.label],
            }
        )

    def _take(self, places: Indices) -> Self:
        t = self.table
        order = np.argsort(t.row, kind="stable")
        ends = np.searchsorted(t.row[order], np.arange(t.n_rows + 1))
        size = (ends[1:] - ends[:-1])[places]
        row = np.repeat(np.arange(len(places)), size)
        first = np.repeat(ends[places] - np.cumsum(size) + size, size)
        vote = order[first + np.arange(len(row))]
        other = self._copy()
        other.table = replace(
            t,
            row=row,
            annotator=t.annotator[vote],
            label=t.label[vote],
            n_rows=len(places),
        )
        other.rows, other._belief = self.rows[places], None
        other.known = self.known[places]
        return other

    def update(self, votes: "Votes") -> Self:
        """Add further votes: on the same rows, on new ones, of new annotators.

        Parameters
        ----------
        votes : Votes
            The further votes; ``votes.rows`` are rows of the same table.

        Returns
        -------
        votes : Votes
            The same as reading all votes at once: rows, annotators and classes are
            sorted, and estimates use all votes. Known rows stay known.

        Examples
        --------
        >>> from partlearn.candidates import from_votes
        >>> votes = from_votes([0, 1], ["ann", "ann"], ["cat", "dog"])
        >>> more = from_votes([1, 2], ["bob"] * 2, ["dog", "cow"], empty="drop")
        >>> votes.update(more)
        Votes(3 rows, 3 classes, 4 votes of 2 annotators)
        """
        if not isinstance(votes, Votes):
            raise TypeError(
                "`votes` must come from from_votes or from_annotators; got "
                f"{type(votes).__name__}."
            )
        parts = (self, votes)
        rows = np.unique(np.concatenate([p.rows for p in parts]))
        names = np.unique(np.concatenate([p.annotators for p in parts]))
        classes = np.unique(np.concatenate([p.classes for p in parts]))

        def places(known: NDArray[Any], of: str, code: str) -> Indices:
            """Return the codes of all votes in the joint order."""
            return np.concatenate(
                [
                    np.searchsorted(known, getattr(p, of))[getattr(p.table, code)]
                    for p in parts
                ]
            )

        table = VoteTable(
            places(rows, "rows", "row"),
            places(names, "annotators", "annotator"),
            places(classes, "classes", "label"),
            len(rows),
            len(names),
            len(classes),
        )
        joined = type(self)(table, classes, names, rows=rows)
        for p in parts:
            known = p.known >= 0
            here = np.searchsorted(rows, p.rows[known])
            codes = np.searchsorted(classes, p.classes)[p.known[known]]
            wrong = (joined.known[here] >= 0) & (joined.known[here] != codes)
            if wrong.any():
                row = p.rows[known][wrong][0]
                raise ValueError(f"Row {row} is known to have two different labels.")
            joined.known[here] = codes
        return joined

    def with_answers(self, answers: Mapping[int, Any], annotator: Any) -> Self:
        """Add one vote of an annotator to some of the rows.

        Parameters
        ----------
        answers : mapping of int to label
            Places of rows, and the labels that the annotator gave.
        annotator : str
            Name of the annotator, who may have voted before or not.

        Returns
        -------
        votes : Votes
            All votes on the same rows.

        Examples
        --------
        >>> from partlearn.candidates import from_votes
        >>> votes = from_votes([0, 1], ["ann", "ann"], ["cat", "dog"])
        >>> votes.with_answers({1: "cat"}, "bob")
        Votes(2 rows, 2 classes, 3 votes of 2 annotators)
        """
        t, places = self.table, np.fromiter(answers, dtype=np.intp, count=len(answers))
        label = self.with_known(answers).known[places]
        names, code = np.unique(
            np.append(self.annotators, annotator), return_inverse=True
        )
        other = self._copy()
        other.annotators, other._belief = names, None
        other.table = VoteTable(
            np.append(t.row, places),
            np.append(code[t.annotator], np.full(len(places), code[-1])),
            np.append(t.label, label),
            t.n_rows,
            len(names),
            t.n_classes,
        )
        return other

    def halves(self) -> "tuple[Votes, Votes]":
        """Split the votes by two halves of the annotators.

        Returns
        -------
        first, second : Votes
            Votes on the same rows. Annotators go to the half that has fewer votes, the
            busiest first. Known rows stay known in both.

        Examples
        --------
        >>> from partlearn.candidates import from_votes
        >>> votes = from_votes([0, 0, 1], ["ann", "bob", "ann"], ["cat", "dog", "dog"])
        >>> [half.table.row.tolist() for half in votes.halves()]
        [[0, 1], [0]]
        """
        t = self.table
        n_votes = np.bincount(t.annotator, minlength=t.n_annotators)
        second, total = np.zeros(t.n_annotators, dtype=bool), [0, 0]
        for a in np.argsort(-n_votes, kind="stable"):
            side = int(total[1] < total[0])
            second[a], total[side] = side, total[side] + n_votes[a]
        return self._of(~second), self._of(second)

    def _of(self, annotators: Mask) -> "Votes":
        """Return the votes of some annotators."""
        t = self.table
        mine = annotators[t.annotator]
        table = replace(
            t, row=t.row[mine], annotator=t.annotator[mine], label=t.label[mine]
        )
        half = type(self)(table, self.classes, self.annotators, rows=self.rows)
        half.known = self.known
        return half

    def _joined(self, parts: Sequence[Any]) -> Evidence:
        names = np.unique(np.concatenate([p.annotators for p in parts]))
        start = np.cumsum([0, *(len(p) for p in parts)])
        rows = [p.table.row + s for p, s in zip(parts, start, strict=False)]
        who = [np.searchsorted(names, p.annotators)[p.table.annotator] for p in parts]
        table = VoteTable(
            np.concatenate(rows),
            np.concatenate(who),
            np.concatenate([p.table.label for p in parts]),
            int(start[-1]),
            len(names),
            len(self.classes),
        )
        joined = Votes(table, self.classes, names)
        joined.known = np.concatenate([p.known for p in parts])
        return joined

    def _same(self, other: Any) -> bool:
        return (
            len(self) == len(other)
            and np.array_equal(self.annotators, other.annotators)
            and np.array_equal(self.known, other.known)
            and np.array_equal(_sorted_votes(self.table), _sorted_votes(other.table))
        )

    def _describe(self) -> str:
        n = len(self.table.row)
        return f"{n} votes of {len(self.annotators)} annotators"

    def _texts(self) -> list[str]:
        return [text or "no vote" for text in self._ranked(self.table.counts, ".0f")]


def _sorted_votes(table: VoteTable) -> Indices:
    """Return votes in canonical order, (3, n_votes)."""
    votes = np.stack([table.row, table.annotator, table.label])
    return votes[:, np.lexsort(votes)]


@dataclass(frozen=True)
class Annotators:
    """Accuracy and number of votes of each annotator.

    Attributes
    ----------
    name : ndarray of shape (n_annotators,)
        Names.
    accuracy : ndarray of shape (n_annotators,)
        Estimated share of right votes, shrunk toward the share of all annotators.
    n_votes : ndarray of int, shape (n_annotators,)
        Number of votes.
    """

    name: NDArray[Any]
    accuracy: Array
    n_votes: Indices

    def __getitem__(self, field: str) -> NDArray[Any]:
        """Return a field by name."""
        if field not in vars(self):
            raise KeyError(f"{field!r}; there are {', '.join(vars(self))}")
        column: NDArray[Any] = vars(self)[field]
        return column

    def to_frame(self) -> Any:
        """Return a pandas data frame, least accurate annotators first.

        Returns
        -------
        frame : DataFrame
            Columns name, accuracy and n_votes.
        """
        import pandas

        return pandas.DataFrame(vars(self)).sort_values("accuracy", ignore_index=True)


@dataclass(frozen=True)
class VoteSummary:
    """Labels, confidences and annotator accuracy estimated from votes.

    Attributes
    ----------
    label : ndarray of shape (n_samples,)
        The most likely label of every row.
    confidence : ndarray of shape (n_samples, n_classes)
        Confidence in every label; rows sum to one.
    disagreement : ndarray of shape (n_samples,)
        Share of the row's votes that are for another label than `label`.
    feature_disagreement : ndarray of shape (n_samples,) or None
        Distance between the confidences from the features and from the votes alone,
        between 0 (equal) and 1; None without features.
    annotators : Annotators
        Arrays ``name``, ``accuracy`` and ``n_votes`` with one entry per annotator.
    classes : ndarray of shape (n_classes,)
        The classes.
    confusions : Confusions
        Counts behind :meth:`confusion`.
    quality : GoldQuality or None
        With `gold`: estimated share of right labels, with an interval.
    """

    label: NDArray[Any]
    confidence: Array
    disagreement: Array
    feature_disagreement: Array | None
    annotators: Annotators
    classes: NDArray[Any]
    confusions: Confusions
    quality: GoldQuality | None = None

    def confusion(self, annotator: Any) -> Array:
        """Return the estimated confusion matrix of one annotator.

        Parameters
        ----------
        annotator : str or int
            Name of the annotator.

        Returns
        -------
        matrix : ndarray of shape (n_classes, n_classes)
            Probability of each vote (columns) by true label (rows), shrunk toward the
            common confusions and the annotator's accuracy.

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
    """Summarize votes given confidences `F` in the labels.

    Parameters
    ----------
    votes : Votes
        The votes.
    F : ndarray of shape (n_samples, n_classes)
        Confidences, from votes alone or from votes and features.
    features : ndarray of shape (n_samples, n_classes), default=None
        Confidences from the features alone; rows sum to one.

    Returns
    -------
    summary : VoteSummary
        Labels, confidences, annotators.
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


def aggregate_votes(
    votes: Votes, *, max_iter: int = ROUNDS, gold: Any = None
) -> VoteSummary:
    """Estimate labels and the skill of annotators from votes alone.

    A Dawid-Skene estimate with shrunk confusion matrices. The matrix of each annotator
    is shrunk to the accuracy of the annotator and to the common confusions, and the
    common confusions to the common accuracy. An annotator with few votes gets the
    average accuracy.

    Parameters
    ----------
    votes : Votes
        Made by :func:`from_votes` or :func:`from_annotators`.
    max_iter : int, default=30
        Number of iterations; 0 gives the shares of the votes.
    gold : mapping of int to label, or array-like of shape (n_samples,), default=None
        True labels of a random sample of rows: by the place of the row, or one per row,
        None where it is not known. These rows are certain, and the votes on them show
        how good their annotators are. Without them the labels are found once more,
        which gives ``quality`` and calibrates the confidences.

    Returns
    -------
    summary : VoteSummary
        ``label`` and ``confidence`` of every row, ``annotators`` with ``accuracy`` and
        ``n_votes``, ``confusion(name)`` of one annotator.

    See Also
    --------
    partlearn.classification.CandidateClassifier : Uses votes and features.

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
    F = dawid_skene(votes.table, int(max_iter), votes.certain)
    if gold is None:
        return summarize_votes(votes, F)
    known = votes.with_known(labels := known_labels(gold, len(votes)))
    places = np.fromiter(labels, dtype=np.intp)
    with_gold = dawid_skene(known.table, int(max_iter), known.certain)
    G, quality = judge_by_gold(with_gold, F, places, known.known[places])
    return replace(summarize_votes(known, G), quality=quality)
