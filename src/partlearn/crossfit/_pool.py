"""Block F: experts weighed by how well they expect the candidate sets."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["mixture_weights"]

_EM_ROUNDS = 15

Array = NDArray[np.float64]


def mixture_weights(
    experts: Sequence[Array], S: NDArray[np.bool_]
) -> tuple[Array, float]:
    """Block F: weights under which the experts best expect the candidate sets.

    Source: CRISP, block F.

    Parameters
    ----------
    experts : sequence of ndarray of shape (m, q)
        Beliefs of each expert.
    S : ndarray of bool, shape (m, q)
        Candidates.

    Returns
    -------
    weights : ndarray of shape (n_experts,)
        Weights that sum to one, after a fixed number of EM rounds.
    likelihood : float
        Mean log-likelihood of the candidate sets under the mixture.
    """
    hits = np.stack([np.einsum("ij,ij->i", P, S) for P in experts])
    weights = np.full(len(hits), 1 / len(hits))
    for _ in range(_EM_ROUNDS):
        share = weights[:, None] * hits
        weights = (share / share.sum(axis=0)).mean(axis=1)
    return weights, float(np.log(weights @ hits).mean())
