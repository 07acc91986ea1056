"""Shuffled splitters for candidate labels.

scikit-learn falls back to unshuffled folds for a two-dimensional target; these never
do.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from partlearn._sklearn_compat import num_samples
from partlearn._typing import Indices
from partlearn.candidates import check_candidates
from partlearn.model_selection._groups import deal_groups, group_codes


class CandidateKFold:
    """K folds of shuffled rows, whatever the form of the labels.

    Parameters
    ----------
    n_splits : int, default=10
        Number of folds, at least 2.
    random_state : int, RandomState or None, default=0
        Seed of the shuffle.

    Examples
    --------
    >>> from partlearn.model_selection import CandidateKFold
    >>> for train, test in CandidateKFold(2).split(range(4)):
    ...     print(train, test)
    [0 3] [1 2]
    [1 2] [0 3]
    """

    def __init__(self, n_splits: int = 10, *, random_state: Any = 0) -> None:
        if n_splits < 2:
            raise ValueError(f"`n_splits` must be at least 2; got {n_splits}.")
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Indices, Indices]]:
        """Yield the training and the test rows of each fold.

        Parameters
        ----------
        X : array-like of length n_samples
            The data, of which only the length matters.
        y : candidate labels, default=None
            Used by stratified folds only.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as pictures of one person: those of a group
            are all in one fold.

        Yields
        ------
        train, test : ndarray of int
            Sorted row indices.
        """
        m = num_samples(X)
        strata = self._strata(m, y)
        rng = check_random_state(self.random_state)
        if groups is None:
            self._check_enough(m, "rows")
            order = rng.permutation(m)
            order = order[np.argsort(strata[order], kind="stable")]
            fold = np.empty(m, dtype=np.intp)
            fold[order] = np.arange(m) % self.n_splits  # dealt out like cards
        else:
            codes = group_codes(groups, m)
            self._check_enough(int(codes.max()) + 1, "groups")
            fold = deal_groups(codes, self.n_splits, rng, strata)
        for i in range(self.n_splits):
            yield np.flatnonzero(fold != i), np.flatnonzero(fold == i)

    def _strata(self, m: int, y: Any) -> Indices:
        """Return the stratum of each row."""
        return np.zeros(m, dtype=np.intp)

    def _check_enough(self, n: int, what: str) -> None:
        if n < self.n_splits:
            raise ValueError(
                f"Cannot make {self.n_splits} folds of {n} {what}; use fewer folds."
            )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.n_splits}, random_state={self.random_state})"
        )


class StratifiedCandidateKFold(CandidateKFold):
    """K shuffled folds that spread the rows of rare labels evenly.

    The stratum of a row is the rarest of its candidates by the summed uniform
    confidence. The rows of each stratum are spread evenly over the folds.

    Parameters
    ----------
    n_splits : int, default=10
        Number of folds, at least 2.
    random_state : int, RandomState or None, default=0
        Seed of the shuffle.

    Examples
    --------
    >>> from partlearn.model_selection import StratifiedCandidateKFold
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"a", "b"}]
    >>> for train, test in StratifiedCandidateKFold(2).split(range(4), y):
    ...     print([sorted(y[i]) for i in test])
    [['a'], ['a', 'b']]
    [['a'], ['a', 'b']]
    """

    def _strata(self, m: int, y: Any) -> Indices:
        _, S = check_candidates(y)
        if len(S) != m:
            raise ValueError(f"X has {m} rows, y has {len(S)}.")
        mass = (S / S.sum(axis=1, keepdims=True)).sum(axis=0)
        return np.where(S, mass, np.inf).argmin(axis=1)
