"""Dawid-Skene with shrunk confusion matrices.

The votes are grouped by (annotator, label); a group has one count per true label. So
nothing larger than (votes x classes) is held, however many annotators there are.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from partlearn._typing import Array, Indices

ROUNDS = 30
JUDGED = 10  # iterations in which votes are judged one by one
# Votes that a prior counts for: of a row of an annotator's confusions, of the
# accuracy of an annotator, of the confusions of all annotators together.
CONFUSION, ACCURACY, COMMON = 5.0, 5.0, 10.0

_AT_ONCE = 1 << 22  # numbers in the confidences of votes that are held at once
_TINY = 1e-12  # probability of what annotators that all agree never did


@dataclass(frozen=True)
class VoteTable:
    """Votes as aligned arrays of codes.

    Attributes
    ----------
    row, annotator, label : ndarray of int, shape (n_votes,)
        Who gave which label to which row.
    n_rows, n_annotators, n_classes : int
        Sizes.
    """

    row: Indices
    annotator: Indices
    label: Indices
    n_rows: int
    n_annotators: int
    n_classes: int

    @cached_property
    def counts(self) -> Array:
        """Number of votes for each label of each row, (n_rows, n_classes)."""
        flat = self.row * self.n_classes + self.label
        size = self.n_rows * self.n_classes
        counts = np.bincount(flat, minlength=size).astype(np.float64)
        return counts.reshape(self.n_rows, self.n_classes)

    @cached_property
    def vote_groups(self) -> tuple[Indices, Indices, sp.csr_array]:
        """Annotator and label of each group, and votes of rows in groups."""
        code = self.annotator * self.n_classes + self.label
        groups, group = np.unique(code, return_inverse=True)
        ones = np.ones(len(code))
        # Equal entries add up: an annotator may vote twice.
        votes = sp.csr_array(
            sp.coo_array((ones, (self.row, group)), (self.n_rows, len(groups)))
        )
        return groups // self.n_classes, groups % self.n_classes, votes

    def shares(self) -> Array:
        """Return the vote shares of each row, uniform for rows without votes."""
        voted = self.counts.any(axis=1, keepdims=True)
        counts = np.where(voted, self.counts, 1.0)
        return counts / counts.sum(axis=1, keepdims=True)

    def confusions(self, F: Array) -> Confusions:
        """Estimate the confusions of all annotators from label confidences `F`."""
        return self._confusions(np.asarray(self.vote_groups[2].T @ F))

    def _confusions(self, count: Array) -> Confusions:
        annotator, label, _ = self.vote_groups
        total = np.zeros((self.n_annotators, self.n_classes))
        np.add.at(total, annotator, count)
        own = np.take_along_axis(count, label[:, None], axis=1)[:, 0]
        right = np.bincount(annotator, own, minlength=self.n_annotators)
        all_votes = count.sum()
        common_accuracy = float(right.sum() / all_votes) if all_votes else 1.0
        n = np.bincount(self.annotator, minlength=self.n_annotators)
        accuracy = (right + ACCURACY * common_accuracy) / (n + ACCURACY)
        G = np.zeros((self.n_classes, self.n_classes))
        np.add.at(G.T, label, count)
        prior = _one_coin(common_accuracy, self.n_classes)
        common = (G + COMMON * prior) / (G.sum(axis=1, keepdims=True) + COMMON)
        return Confusions(annotator, label, count, total, accuracy, common)

    def judged(self, F: Array, M: Array) -> Confusions:
        """Estimate confusions from features: each vote is judged without the others.

        Source: CRISPClassifier, annotators judged by features.

        Parameters
        ----------
        F : ndarray of shape (n_rows, n_classes)
            Confidences that give the confusions to start from.
        M : ndarray of shape (n_rows, n_classes)
            Probabilities of the labels by models that did not see the row's votes.

        Returns
        -------
        confusions : Confusions
            After some iterations of EM, for which each vote is a row of its own: votes
            of a row that share an error do not confirm each other.
        """
        votes = self.vote_groups[2].tocoo()
        step = max(_AT_ONCE // self.n_classes, 1)
        found = self.confusions(F)
        for _ in range(JUDGED):
            p = np.maximum(found.probability, _TINY)
            count = np.zeros_like(p)
            for start in range(0, votes.nnz, step):
                part = slice(start, start + step)
                row, group, n = votes.row[part], votes.col[part], votes.data[part]
                W = M[row] * p[group]
                W *= (n / W.sum(axis=1))[:, None]
                own = (np.ones(len(n)), (group, np.arange(len(n))))
                count += sp.csr_array(own, shape=(len(p), len(n))) @ W
            found = self._confusions(count)
        return found

    def evidence(self, confusions: Confusions) -> Array:
        """Return the likelihood of each row's votes under each label, maximum 1."""
        probability = np.maximum(confusions.probability, _TINY)
        log = np.asarray(self.vote_groups[2] @ np.log(probability))
        log -= log.max(axis=1, keepdims=True)
        likelihood: Array = np.exp(log)
        return likelihood


@dataclass(frozen=True)
class Confusions:
    """Expected confusions of annotators: votes by true label.

    Attributes
    ----------
    annotator, label : ndarray of int, shape (n_groups,)
        Annotator and label of each group of votes; pairs that never occur are left out.
    count : ndarray of shape (n_groups, n_classes)
        Expected number of votes of a group, by true label.
    total : ndarray of shape (n_annotators, n_classes)
        Expected number of votes of an annotator, by true label.
    accuracy : ndarray of shape (n_annotators,)
        Accuracy of each annotator, shrunk to the common one.
    common : ndarray of shape (n_classes, n_classes)
        Confusion of all annotators together, (true label, vote).
    """

    annotator: Indices
    label: Indices
    count: Array
    total: Array
    accuracy: Array
    common: Array

    @property
    def probability(self) -> Array:
        """Probability of each group's vote, by true label, (n_groups, n_classes)."""
        q = len(self.common)
        acc = self.accuracy[self.annotator, None]
        own = np.arange(q) == self.label[:, None]
        coin = np.where(own, acc, (1 - acc) / max(q - 1, 1))
        prior = 0.5 * self.common[:, self.label].T + 0.5 * coin
        shrunk: Array = (self.count + CONFUSION * prior) / (
            self.total[self.annotator] + CONFUSION
        )
        return shrunk

    def of(self, annotator: int) -> Array:
        """Return the confusion matrix of one annotator, (true label, vote)."""
        C = np.zeros_like(self.common)
        mine = self.annotator == annotator
        C[:, self.label[mine]] = self.count[mine].T
        prior = 0.5 * self.common + 0.5 * _one_coin(self.accuracy[annotator], len(C))
        shrunk: Array = (C + CONFUSION * prior) / (
            C.sum(axis=1, keepdims=True) + CONFUSION
        )
        return shrunk


def _one_coin(accuracy: float, q: int) -> Array:
    """Return a confusion matrix with uniform errors."""
    matrix = np.full((q, q), (1 - accuracy) / max(q - 1, 1))
    np.fill_diagonal(matrix, accuracy)
    return matrix


def dawid_skene(
    table: VoteTable,
    max_iter: int = ROUNDS,
    certain: Callable[[Array], Array] = lambda F: F,
) -> Array:
    """Estimate label confidences from votes alone.

    Parameters
    ----------
    table : VoteTable
        The votes.
    max_iter : int, default=30
        Number of iterations.
    certain : callable, default=identity
        Sets rows with a known true label to that label. The votes on these rows then
        inform the accuracy of their annotators.

    Returns
    -------
    F : ndarray of shape (n_rows, n_classes)
        Rows sum to one.
    """
    F = certain(table.shares())
    for _ in range(max_iter):
        # No row may end without confidence, even if no annotator is right any more.
        F = table.evidence(table.confusions(F)) * np.maximum(
            F.mean(axis=0), np.finfo(float).tiny
        )
        F = certain(F / F.sum(axis=1, keepdims=True))
    return F
