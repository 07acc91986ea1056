"""Bayesian comparison over data sets: better, worse, or practically the same."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from partlearn.benchmark._stats._paired import paired_differences

__all__ = ["Posterior", "bayesian_signed_rank"]


@dataclass(frozen=True)
class Posterior:
    """Probabilities of three statements about scores ``a`` and ``b``.

    Attributes
    ----------
    better : float
        That ``a`` is higher by more than the region of practical equivalence.
    equivalent : float
        That they differ by no more than it.
    worse : float
        That ``a`` is lower by more than it.
    """

    better: float
    equivalent: float
    worse: float


def bayesian_signed_rank(
    a: Any,
    b: Any,
    *,
    rope: float = 0.01,
    prior_strength: float = 0.5,
    n_draws: int = 20_000,
    random_state: int = 0,
) -> Posterior:
    """Bayesian signed-rank test with a region of practical equivalence.

    Parameters
    ----------
    a, b : array-like of shape (n_datasets,)
        Scores of two methods, one pair per data set; higher is better.
    rope : float, default=0.01
        Differences up to this size count as none.
    prior_strength : float, default=0.5
        Weight of the prior's single pseudo-observation, a difference of zero.
    n_draws : int, default=20000
        Draws from the posterior.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    Posterior
        Probabilities that sum to 1.

    Notes
    -----
    The differences with the pseudo-observation get weights from a Dirichlet
    distribution. A draw is a vote for the region (above, inside or below) that holds
    the largest weighted share of the pairwise means ``(z_i + z_j) / 2``; equal shares
    split the vote.

    References
    ----------
    A. Benavoli, G. Corani, J. Demsar and M. Zaffalon, "Time for a change: a tutorial
    for comparing multiple classifiers through Bayesian analysis", JMLR 18, 2017.

    Examples
    --------
    >>> from partlearn.benchmark import bayesian_signed_rank
    >>> a = [0.90, 0.85, 0.80, 0.95, 0.70, 0.88]
    >>> b = [0.80, 0.80, 0.70, 0.90, 0.60, 0.80]
    >>> bayesian_signed_rank(a, b).better > 0.95
    True
    """
    if rope < 0 or prior_strength <= 0:
        raise ValueError(
            "`rope` must not be negative and `prior_strength` must be positive; got "
            f"{rope} and {prior_strength}."
        )
    z = np.append(0.0, paired_differences(a, b))
    # A mean on the edge of the region is inside, whatever rounding made of it.
    means = np.round((z[:, None] + z) / 2, 12)
    weights = _weights(z.size - 1, prior_strength, n_draws, random_state)
    above, below = (
        np.einsum("si,ij,sj->s", weights, region.astype(float), weights, optimize=True)
        for region in (means > rope, means < -rope)
    )
    shares = np.stack([above, 1.0 - above - below, below])
    # Rounding of the sums must not decide between equal shares.
    votes = shares >= shares.max(axis=0) - 1e-12
    better, equivalent, worse = (votes / votes.sum(axis=0)).mean(axis=1)
    return Posterior(float(better), float(equivalent), float(worse))


@lru_cache(maxsize=8)
def _weights(n: int, strength: float, n_draws: int, seed: int) -> np.ndarray:
    """Draws that all comparisons of one table share."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.append(strength, np.ones(n)), size=n_draws)
