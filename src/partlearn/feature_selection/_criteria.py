"""What the next feature should be: criteria over relevance and redundancy.

A criterion is a function of a :class:`PathState` that returns one score per feature;
the feature with the largest is selected next. It has to grow with the relevance. A
function whose attribute ``conditional`` is true also gets the redundancy given the
label, which is much more expensive.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from partlearn._typing import Array


@dataclass
class PathState:
    """What is known when a feature is to be selected; all in nats.

    Parameters
    ----------
    relevance : ndarray of shape (d,)
        ``-H(c | f)``.
    prior_entropy : float
        ``H(c)``, so that ``relevance + prior_entropy`` is the information about the
        label.
    entropy : ndarray of shape (d,)
        Entropy of each binned feature.
    redundancy : ndarray of shape (d,)
        Sum of the mutual information with the features selected so far.
    conditional : ndarray of shape (d,)
        The same given the label; zeros unless the criterion asks for it.
    n_selected : int
        How many features have been selected.
    """

    relevance: Array
    prior_entropy: float
    entropy: Array
    redundancy: Array
    conditional: Array
    n_selected: int = 0

    @property
    def mean_redundancy(self) -> Array:
        """Redundancy per selected feature; zero before the first."""
        return self.redundancy / max(self.n_selected, 1)


Criterion = Callable[[PathState], Any]


def difference(state: PathState) -> Array:
    """Relevance minus mean redundancy: SAUTE as published.

    Source: SAUTE, Eq. (6) and (7).

    Parameters
    ----------
    state : PathState
        What is known.

    Returns
    -------
    scores : ndarray of shape (d,)
        ``-H(c | f) - sum_{s in A} I(f; s) / |A|``.
    """
    return state.relevance - state.mean_redundancy


def relevance_only(state: PathState) -> Array:
    """Give ``-H(c | f)``: maximum relevance.

    Source: SAUTE, Eq. (5).
    """
    return state.relevance


def quotient(state: PathState) -> Array:
    """Information about the label over mean redundancy.

    Parameters
    ----------
    state : PathState
        What is known.

    Returns
    -------
    scores : ndarray of shape (d,)
        ``(H(c) - H(c | f)) / (mean redundancy + 0.01)``; the first feature is chosen by
        information alone.
    """
    information = state.relevance + state.prior_entropy
    if state.n_selected == 0:
        return information
    return information / (state.mean_redundancy + 0.01)


def joint_information(state: PathState) -> Array:
    """Joint mutual information (JMI): redundancy that the label explains is forgiven.

    Parameters
    ----------
    state : PathState
        What is known.

    Returns
    -------
    scores : ndarray of shape (d,)
        ``-H(c | f) - sum_{s in A} (I(f; s) - I(f; s | c)) / |A|``.
    """
    return difference(state) + state.conditional / max(state.n_selected, 1)


joint_information.conditional = True  # type: ignore[attr-defined]

CRITERIA: dict[str, Criterion] = {
    "difference": difference,
    "quotient": quotient,
    "jmi": joint_information,
}
