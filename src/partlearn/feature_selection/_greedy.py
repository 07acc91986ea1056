"""The greedy path: features one after the other, best first by some criterion.

A criterion is a function of a :class:`PathState` that returns one score per feature;
the feature with the largest score is selected next. The score must increase with the
relevance. A function whose attribute ``conditional`` is true also gets the redundancy
given the label, which is much more expensive.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np

from partlearn._progress import iterations
from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices, Mask
from partlearn.feature_selection._redundancy import Ledger, Redundancy
from partlearn.feature_selection._relevance import Relevance


@dataclass
class PathState:
    """State before the selection of a feature; all values are in nats.

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
        Number of selected features.
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
    """Joint mutual information (JMI), without redundancy that the label explains.

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


_TIE = 1e-10  # scores closer than this, relative to one, are equal


@dataclass
class SelectionPath:
    """Features in the order of their selection, with their scores.

    Parameters
    ----------
    order : ndarray of int, shape (n,)
        The selected features.
    relevance, redundancy : ndarray of shape (n,)
        ``-H(c | f)`` and mean redundancy of each feature when it was selected.
    scores : ndarray of shape (d,)
        Value of the criterion: of a selected feature when it was selected, of the
        others after the last selection.
    """

    order: Indices
    relevance: Array
    redundancy: Array
    scores: Array


def greedy_path(
    relevance: Relevance,
    redundancy: Redundancy | None,
    F: Array,
    n: int,
    *,
    criterion: Criterion,
    keep: Indices,
    exclude: Indices,
) -> SelectionPath:
    """Select `n` features greedily.

    Parameters
    ----------
    relevance : Relevance
        Relevance of the features.
    redundancy : Redundancy or None
        Redundancies of pairs; not used by ``relevance_only``.
    F : ndarray of shape (m, q)
        Confidences, for criteria that need the redundancy given the label.
    n : int
        Number of features, including `keep`.
    criterion : callable
        Scores of the features.
    keep : ndarray of int
        Features that come first, ordered by the criterion.
    exclude : ndarray of int
        Features that are never selected.

    Returns
    -------
    path : SelectionPath
        Ties are broken by the lowest index.
    """
    values = relevance.values.copy()
    d = len(values)
    error = np.full(d, relevance.error)
    state = PathState(
        relevance=values,
        prior_entropy=relevance.prior_entropy,
        entropy=np.zeros(d) if redundancy is None else redundancy.entropy,
        redundancy=np.zeros(d),
        conditional=np.zeros(d),
    )
    open_ = np.ones(d, dtype=bool)
    open_[exclude] = False
    kept = np.zeros(d, dtype=bool)
    kept[keep] = True
    if criterion is relevance_only and not relevance.error:
        parts = (kept & open_, open_ & ~kept)
        order = np.concatenate([_ranked(values, np.flatnonzero(p)) for p in parts])[:n]
        return SelectionPath(order, values[order], np.zeros(len(order)), values)
    if criterion is difference and redundancy is not None and not relevance.error:
        stages = [(kept & open_, min(len(keep), n)), (open_, n)]
        path = redundancy.greedy(values, stages, _TIE)
        if path is not None:
            order, on_path, mean = path
            final = values - mean
            final[order] = values[order] - on_path
            return SelectionPath(order, values[order], on_path, final)
    order = np.empty(n, dtype=np.intp)
    values_on_path = np.empty((2, n))
    final = np.empty(d)
    # A criterion that falls with redundancy needs it only for features in question.
    ledger = None
    if redundancy is not None and criterion is difference:
        ledger = redundancy.ledger(n)
    if ledger is not None:
        state.redundancy = ledger.redundancy
    for p in iterations("features", n):
        allowed = kept & open_ if p < len(keep) else open_
        if ledger is not None:
            allowed = _in_question(state, criterion, allowed, ledger, relevance.error)
        f, score = _best(state, criterion, allowed, error, relevance)
        order[p], final[f], open_[f] = f, score, False
        values_on_path[:, p] = values[f], state.mean_redundancy[f]
        if ledger is not None:
            ledger.select(f)
        elif criterion is not relevance_only and redundancy is not None:
            state.redundancy += redundancy.row(f)
            if getattr(criterion, "conditional", False):
                state.conditional += redundancy.conditional_row(f, F)
        state.n_selected = p + 1
    if ledger is not None:
        ledger.close()
    rest = np.ones(d, dtype=bool)
    rest[order] = False
    if rest.any():
        final[rest] = _scores(criterion, state)[rest]
    return SelectionPath(order, values_on_path[0], values_on_path[1], final)


def _ranked(scores: Array, which: Indices) -> Indices:
    """Rank features by fixed scores; ties are broken by the lowest index."""
    queue = which[np.argsort(-scores[which], kind="stable")].tolist()
    taken = np.zeros(len(scores), dtype=bool)
    equal: list[int] = []  # a heap of features as good as the best
    order: list[int] = []
    entered = 0
    for f in queue:
        least = scores[f] - _TIE * max(1.0, abs(scores[f]))
        while not taken[f]:  # those in front of it are as good, and it is the best left
            while entered < len(queue) and scores[queue[entered]] >= least:
                heappush(equal, queue[entered])
                entered += 1
            order.append(heappop(equal))
            taken[order[-1]] = True
    return np.array(order, dtype=np.intp)


def _in_question(
    state: PathState, criterion: Criterion, allowed: Mask, ledger: Ledger, error: float
) -> Mask:
    """Return features that may be the best, with updated redundancies.

    Missing entries make a score too high. Features that are still below the best
    complete score are left out.
    """
    while True:
        stale = ledger.stale()
        if not stale.any():
            return allowed
        scores = np.where(allowed, _scores(criterion, state), -np.inf)
        sure = scores[~stale].max(initial=-np.inf)
        margin = 2 * error + _TIE * max(1.0, abs(sure)) if np.isfinite(sure) else 0.0
        doubtful = np.flatnonzero(stale & (scores >= sure - margin) & allowed)
        if not doubtful.size:
            return allowed & ~stale
        if doubtful.size > SIZES.greedy_batch:
            top = np.argpartition(-scores[doubtful], SIZES.greedy_batch)[
                : SIZES.greedy_batch
            ]
            doubtful = doubtful[top]
        ledger.enter(doubtful)


def _best(
    state: PathState,
    criterion: Criterion,
    allowed: Mask,
    error: Array,
    relevance: Relevance,
) -> tuple[int, float]:
    """Return the best allowed feature and its score.

    With relevances in single precision, all features that might be the best are
    computed again in double precision, so that the choice is exact.
    """
    while True:
        scores = np.where(allowed, _scores(criterion, state), -np.inf)
        if not error.any():
            break
        if criterion in (difference, relevance_only):
            high, low = scores + error, scores - error
        else:
            high = _scores(criterion, replace(state, relevance=state.relevance + error))
            low = _scores(criterion, replace(state, relevance=state.relevance - error))
        near = allowed & (high >= np.where(allowed, low, -np.inf).max())
        which = np.flatnonzero(near & (error > 0))
        if np.count_nonzero(near) == 1 or not which.size:
            break
        state.relevance[which] = relevance.exact(which)
        error[which] = 0.0
    best = scores[allowed].max()
    margin = _TIE * max(1.0, abs(best)) if np.isfinite(best) else 0.0
    f = int(np.argmax(allowed & (scores >= best - margin)))
    return f, float(scores[f])


def _scores(criterion: Criterion, state: PathState) -> Array:
    scores: Any = np.asarray(criterion(state), dtype=np.float64)
    if scores.shape != state.relevance.shape or np.isnan(scores).any():
        raise ValueError(
            "`criterion` must return one score per feature and no NaN; got shape "
            f"{scores.shape} for {len(state.relevance)} features."
        )
    return scores
