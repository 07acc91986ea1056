"""Votes of several annotators."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn._typing import Array, Indices, Mask
from partlearn.candidates._dawid_skene import VoteTable, dawid_skene
from partlearn.candidates._evidence import Evidence, certain_rows
from partlearn.candidates._fitted import restrict_confidence

__all__ = ["Votes"]


class Votes(Evidence):
    """Labels that several annotators gave, some of them wrong.

    Made by :func:`from_votes` and :func:`from_annotators`. As evidence, votes count by
    the estimated skill of the annotators, which a method estimates again after every
    iteration; see :func:`aggregate_votes`. Methods that know candidate sets only take
    the labels somebody voted for as the candidates of a row.

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
    Evidence : What all labels with weights share.

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
        self.rows = (
            np.arange(table.n_rows) if rows is None else np.asarray(rows, np.intp)
        )
        self.known = np.full(table.n_rows, -1, dtype=np.intp)
        self._belief: Array | None = None

    @property
    def weights(self) -> NDArray[Any]:
        """Probability of each row's votes for every label, row maxima one."""
        return self.updated(self.confidence())

    @property
    def candidates(self) -> Mask:
        """Labels somebody voted for; every label where nobody voted."""
        voted = self.table.counts > 0
        return self.certain(voted | ~voted.any(axis=1, keepdims=True))

    @property
    def weighted(self) -> bool:
        """Votes always say more than which labels are possible."""
        return True

    def confidence(self, dtype: Any = np.float64) -> NDArray[np.floating[Any]]:
        """Belief in every label from the votes alone; see :func:`aggregate_votes`."""
        if self._belief is None:
            self._belief = self.certain(dawid_skene(self.table))
        return self._belief.astype(dtype)

    def first_confidence(self, dtype: Any = np.float64) -> NDArray[np.floating[Any]]:
        """Belief from the votes, inside the labels somebody voted for."""
        return restrict_confidence(self.confidence(), self.candidates).astype(dtype)

    def updated(self, F: NDArray[Any]) -> NDArray[Any]:
        """Weigh the votes by how well each annotator agrees with beliefs `F`."""
        F = self.certain(np.asarray(F, dtype=np.float64))
        return self.certain(self.table.evidence(F))

    def certain(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Matrix of rows by classes in which the `known` rows are certain."""
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
        """Votes estimate the shares of the classes themselves."""
        raise ValueError(
            "Votes estimate how common the classes are; a prior would count twice."
        )

    def with_miss_rate(self, miss_rate: float) -> Self:
        """Votes may miss the truth anyway: only a rate of 0 makes sense."""
        if miss_rate != 0:
            raise ValueError(
                "`miss_rate` is for candidate sets. Errors of annotators are estimated "
                "from their votes; leave it at 0."
            )
        return self

    def to_frame(self) -> Any:
        """Votes as a pandas data frame with columns row, annotator and label.

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
        return [
            ", ".join(
                f"{self.classes[j]} {int(row[j])}"
                for j in np.argsort(-row, kind="stable")
                if row[j] > 0
            )
            or "no vote"
            for row in self.table.counts
        ]


def _sorted_votes(table: VoteTable) -> Indices:
    """Votes in one order, (3, n_votes): it carries no information."""
    votes = np.stack([table.row, table.annotator, table.label])
    return votes[:, np.lexsort(votes)]
