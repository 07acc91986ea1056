"""Candidates as short lists: most classes are no candidates of a row."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from partlearn._typing import Indices, Mask

__all__ = ["padded_candidates"]


def padded_candidates(S: Mask) -> tuple[Indices, Mask]:
    """Columns of each row's candidates, padded to the largest set, and what is used.

    Parameters
    ----------
    S : ndarray of bool, shape (m, q)
        Candidates.

    Returns
    -------
    place : ndarray of int, shape (m, largest set)
        Columns, candidates first and in order.
    filled : ndarray of bool, shape (m, largest set)
        False where a row has fewer candidates.
    """
    size = S.sum(axis=1)
    # A stable sort of "is no candidate" lists the candidates first, in order.
    place = np.argsort(~S, axis=1, kind="stable")[:, : size.max()]
    return place, np.arange(size.max()) < size[:, None]
