"""Rows and labels that `partial_fit` keeps in the model."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._typing import Array, Indices
from partlearn.candidates import Evidence, Votes, VoteTable


@dataclass(frozen=True)
class SeenRows:
    """Rows of all calls of `partial_fit`, in the form of a model file.

    Attributes
    ----------
    rows : ndarray or CSR matrix of shape (n_seen, n_features)
        Features.
    weights : ndarray of shape (n_seen, n_classes)
        Evidence on the labels.
    known : ndarray of int, shape (n_seen,)
        Columns of known labels beside votes, otherwise -1.
    annotators : ndarray of shape (n_annotators,)
        Names of the annotators; empty without votes.
    vote_row, vote_annotator, vote_label : ndarray of int, shape (n_votes,)
        Codes of the votes.
    """

    rows: Any
    weights: Array
    known: Indices
    annotators: NDArray[Any]
    vote_row: Indices
    vote_annotator: Indices
    vote_label: Indices

    @classmethod
    def of(cls, rows: Any, labels: Evidence) -> Self:
        """Keep checked rows with their labels."""
        weights = np.asarray(labels.weights, dtype=np.float64)
        if isinstance(labels, Votes):
            t = labels.table
            codes = (labels.annotators, t.row, t.annotator, t.label)
            return cls(rows, weights, labels.known, *codes)
        none = np.zeros(0, dtype=np.intp)
        return cls(rows, weights, np.full(len(weights), -1), none, none, none, none)

    def joined(
        self, classes: NDArray[Any], rows: Any, labels: Evidence
    ) -> tuple[Any, Evidence]:
        """Join further rows, whose classes and annotators may be new."""
        if bool(len(self.annotators)) != isinstance(labels, Votes):
            raise TypeError(
                "`partial_fit` got votes in one call and other labels in another; pass "
                "one kind."
            )
        both: Any
        if sp.issparse(self.rows) or sp.issparse(rows):
            both = sp.vstack([self.rows, rows], format="csr")
        else:
            both = np.concatenate([self.rows, rows])
        m = len(self.weights)
        if isinstance(labels, Votes):
            further = labels[np.arange(len(labels))]
            further.rows = m + np.arange(len(labels))
            return both, self._votes(classes).update(further)
        names = np.unique(np.concatenate([classes, labels.classes]))
        L = np.zeros((m + len(labels), len(names)))
        L[:m, np.searchsorted(names, classes)] = self.weights
        L[m:, np.searchsorted(names, labels.classes)] = labels.weights
        return both, Evidence(L, names)

    def _votes(self, classes: NDArray[Any]) -> Votes:
        sizes = (len(self.weights), len(self.annotators), len(classes))
        codes = (self.vote_row, self.vote_annotator, self.vote_label)
        votes = Votes(VoteTable(*codes, *sizes), classes, self.annotators)
        votes.known = self.known
        return votes
