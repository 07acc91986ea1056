"""Group bags of similar shape into arrays of bounded size."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partlearn._math.bags._exact import EXACT_LABELS, exact_pass
from partlearn._math.bags._sweeps import sweeps
from partlearn._sizes import spans
from partlearn._typing import Array, Indices, Mask

_ENTRIES = 1 << 15  # entries that are swept at once: they stay in the cache
_STATES = 1 << 18  # entries of the forward pass over subsets
_FLOOR = 1e-12  # least confidence in a candidate; less outside a list is round-off


class Share(NamedTuple):
    """Result of one application of a rule.

    Attributes
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Confidences given the bags; rows sum to one.
    stray : float
        Next estimate of the stray rate.
    impossible : ndarray of int
        Numbers of the bags without an assignment that satisfies the rule.
    """

    F: Array
    stray: float
    impossible: Indices


class BagLayout:
    """Positions of the rows and labels of all bags.

    Parameters
    ----------
    codes : ndarray of int, shape (n_samples,)
        Number of the bag of each row; every number from zero is used.
    candidates : ndarray of bool, shape (n_samples, n_classes)
        Candidates. The list of a bag is the union of its rows' candidates.
    named : ndarray of bool, shape (n_samples,), default=None
        Whether a row has a bag. A row without one has a number of its own, and is left
        out of rules and of the stray rate. By default all rows have a bag.
    """

    def __init__(
        self, codes: Indices, candidates: Mask, named: Mask | None = None
    ) -> None:
        self.candidates = candidates
        m, self.n_classes = candidates.shape
        self.order = np.argsort(codes, kind="stable")
        self.sizes = np.bincount(codes)
        self.starts = np.cumsum(self.sizes) - self.sizes
        sorted_already = (self.order[1:] > self.order[:-1]).all()
        S = candidates if sorted_already else candidates[self.order]
        lists = np.logical_or.reduceat(S, self.starts, axis=0) if m else S
        self.counts = lists.sum(axis=1)
        self.columns = np.nonzero(lists)[1]
        self.first = np.cumsum(self.counts) - self.counts
        # Whether all rows of a bag have the whole list.
        entries = np.add.reduceat(S.sum(axis=1), self.starts) if m else self.counts
        self.equal = entries == self.sizes * self.counts
        self.ruled = (self.counts > 0) & (self.sizes > 0)
        if named is not None:
            self.ruled &= named[self.order[self.starts]]

    def apply(self, P: Array, rule: str, stray: float) -> Share:
        """Compute the confidences given the bags.

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_classes)
            Confidences without the bags, not negative.
        rule : {"cover", "distinct", "match"}
            How often a label of a list occurs in its bag.
        stray : float
            Chance that an absent label is on a list.

        Returns
        -------
        share : Share
            Confidences, and the stray rate that they suggest.
        """
        F = np.array(P, dtype=np.float64)
        total = F.sum(axis=1)
        if not total.all():
            F[total == 0] = self.candidates[total == 0]
            total = F.sum(axis=1)
            total[total == 0] = 1
        F /= total[:, None]
        absent = strays = 0.0
        impossible = []
        for bags, n, c in self._blocks(EXACT_LABELS[rule]):
            rows, there = _places(self.starts, self.sizes, bags, n)
            labels, listed = _places(self.first, self.counts, bags, c)
            rows, labels = self.order[rows], self.columns[labels]
            cell = rows[:, None], labels[None]
            real = there[:, None] & listed[None]
            inside = F[cell] * real
            allowed = real
            if not self.equal[bags].all():
                allowed = real & self.candidates[cell]
            rest = 1 - inside.sum(axis=1)
            rest[rest <= _FLOOR * self.n_classes] = 0
            np.maximum(inside, _FLOOR, out=inside, where=allowed)
            rest[~there] = 1  # a row that only fills up the array
            if c <= EXACT_LABELS[rule]:
                G, other, unused, possible = exact_pass(inside, rest, rule, stray)
            else:
                G, other, unused = sweeps(inside, rest, rule, stray)
                possible = np.ones(len(bags), dtype=bool)
                if rule != "cover":
                    free = (rest > 0).sum(axis=0) - (~there).sum(axis=0)
                    possible = self.sizes[bags] - free <= self.counts[bags]
                    G = np.where(possible, G, inside)
                    other = np.where(possible, other, rest)
            held = there & (rest > 0)
            if held.any():  # labels outside the list keep their proportions
                F[rows[held]] *= (other[held] / rest[held])[:, None]
            F[tuple(np.broadcast_to(k, real.shape)[real] for k in cell)] = G[real]
            impossible.append(bags[~possible])
            unused = (unused * listed)[:, possible]
            strays += unused.sum()
            present = listed[:, possible].sum() - unused.sum()
            absent += self.n_classes * int(possible.sum()) - present
        if rule != "distinct" and absent > 0:
            stray = strays / absent
        odd = np.concatenate(impossible) if impossible else np.empty(0, dtype=np.intp)
        return Share(F, float(stray), np.sort(odd))

    def _blocks(self, exact: int) -> Iterator[tuple[Indices, int, int]]:
        """Yield bags of similar shape, with their numbers of rows and labels."""
        n, c = _rounded(self.sizes), _rounded(self.counts)
        many = np.flatnonzero(self.ruled)
        order = many[np.lexsort((c[many], n[many]))]
        cuts = np.flatnonzero((np.diff(n[order]) != 0) | (np.diff(c[order]) != 0)) + 1
        for bags in np.split(order, cuts) if len(order) else []:
            rows, labels = int(n[bags[0]]), int(c[bags[0]])
            if labels <= exact:
                step = _STATES // (rows * 2**labels)
            else:
                step = _ENTRIES // (rows * labels)
            for some in spans(len(bags), step):
                yield bags[some], rows, labels


def _places(
    starts: Indices, sizes: Indices, bags: Indices, n: int
) -> tuple[Indices, Mask]:
    """Return positions (n, bags) of the members, and a mask of those that exist."""
    steps = np.arange(n)[:, None]
    there = steps < sizes[bags]
    return np.where(there, starts[bags] + steps, starts[bags]), there


def _rounded(counts: NDArray[np.intp]) -> Indices:
    """Round counts above 12 up to three binary digits.

    More digits would give too many arrays; fewer digits would fill arrays with padding.
    """
    shift = np.maximum(np.frexp(np.maximum(counts - 1, 0))[1] - 3, 0)
    up = ((np.maximum(counts - 1, 0) >> shift) + 1) << shift
    return np.where(counts <= 12, counts, up)
