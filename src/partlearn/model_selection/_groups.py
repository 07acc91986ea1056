"""Assign groups of rows to folds."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np

from partlearn._arguments import argument
from partlearn._typing import Indices
from partlearn.candidates import named_codes


def group_codes(groups: Any, m: int) -> Indices:
    """Number the groups of all rows; raise if a row has none.

    Parameters
    ----------
    groups : array-like of shape (m,)
        Group of each row.
    m : int
        Number of rows.

    Returns
    -------
    codes : ndarray of int, shape (m,)
        From zero, in the order in which groups appear.

    Examples
    --------
    >>> from partlearn.model_selection._groups import group_codes
    >>> group_codes(["ann", "bob", "ann"], 3)
    array([0, 1, 0])
    """
    codes, named = named_codes(groups, m, "groups")
    if not named.all():
        raise ValueError(
            f"{argument('groups')} has no value for row {np.argmin(named)}; give it a "
            "group."
        )
    return codes


def deal_groups(
    codes: Indices,
    cv: int,
    rng: np.random.RandomState,
    strata: Indices | None = None,
) -> Indices:
    """Assign groups to folds of similar size, the largest groups first.

    Parameters
    ----------
    codes : ndarray of int, shape (m,)
        Number of each row's group.
    cv : int
        Number of folds.
    rng : RandomState
        Draws the order of groups of the same size.
    strata : ndarray of int, shape (m,), default=None
        Strata to spread evenly over the folds.

    Returns
    -------
    fold : ndarray of int, shape (m,)
        Number of each row's fold.
    """
    strata = np.zeros_like(codes) if strata is None else strata
    _, strata = np.unique(strata, return_inverse=True)
    counts = np.zeros((codes.max() + 1, strata.max() + 1))
    np.add.at(counts, (codes, strata), 1)
    share = counts / counts.sum(axis=0)
    held = np.zeros((cv, share.shape[1]))
    rows = np.zeros(cv)
    place = np.empty(len(counts), dtype=np.intp)
    order = rng.permutation(len(counts))
    for g in order[np.argsort(-counts[order].sum(axis=1), kind="stable")]:
        # Squares grow least where little of the same is held already.
        cost = ((held + share[g]) ** 2 - held**2).sum(axis=1)
        best = int(np.lexsort((rows, cost.round(12)))[0])
        place[g] = best
        held[best] += share[g]
        rows[best] += counts[g].sum()
    return place[codes]
