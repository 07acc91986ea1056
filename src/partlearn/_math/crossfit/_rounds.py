"""Iterations of CRISP: score the rows, ask experts for their labels, score again."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from partlearn._array_api import namespace
from partlearn._math.crossfit._embedding import choose_ridge, embed
from partlearn._math.crossfit._experts import (
    gaussian_expert,
    label_share,
    linear_pool,
    mixture_weights,
    rank_vote,
    regression_belief,
    unit_rows,
)
from partlearn._math.crossfit._scores import CrossFit, targets
from partlearn._math.neighbors import (
    many_neighbors,
    reference_neighbors,
    self_neighbors,
)
from partlearn._progress import iterations
from partlearn._typing import Array, Indices
from partlearn.candidates import Evidence, labels_settled, move_evidence, refine

N_SEARCH = 4  # iterations in which the ridge is chosen anew
STEADY = 0.005  # share of rows whose label changes in an iteration that decides little
OWN_WEIGHT = 0.03  # weight of a row's own confidence beside the experts


@dataclass(frozen=True)
class Rounds:
    """What the iterations of scoring and voting ended with."""

    F: Array
    ridge: float
    expert_weights: Array
    objective: list[float]
    converged: bool


class StoppingRule:
    """Tells after each iteration whether the decisions have settled.

    They have when no confidence changes by `tol`, or when two iterations in a row leave
    the most likely label of nearly all rows as it was. Where labels go round in circles
    a likelihood that no longer rises can tell, too.

    Parameters
    ----------
    tol : float
        Change of a confidence; 0 never stops.
    steady : float or None
        Share of the rows whose most likely label may change in each of two iterations;
        None goes by the confidences alone.
    watch_objective : bool, default=False
        Whether to stop as well when the objective is no higher than two iterations
        before or earlier, while at most one row in twenty changes its label.

    Attributes
    ----------
    objective : list of float
        The objective, after each iteration.
    """

    def __init__(
        self, tol: float, steady: float | None, *, watch_objective: bool = False
    ) -> None:
        self.tol, self.steady, self.watch = tol, steady, watch_objective
        self.objective: list[float] = []
        self._steady = False

    def __call__(self, F: NDArray[Any], before: NDArray[Any], objective: float) -> bool:
        """Whether to stop after `before` became `F` with this objective."""
        self.objective.append(objective)
        was_steady = self._steady
        self._steady = self.steady is not None and labels_settled(
            F, before, self.steady
        )
        if self.tol == 0:
            return False
        xp = namespace(F)
        still = bool(xp.max(xp.abs(F - before)) < self.tol)
        if still or (self._steady and was_steady):
            return True
        earlier = self.objective[:-2]
        no_gain = self.watch and bool(earlier) and objective <= max(earlier)
        return no_gain and labels_settled(F, before)


class NeighborSearch:
    """Neighbour search that starts from what the same question was answered last.

    Parameters
    ----------
    search : transformer or None
        As in :func:`~partlearn._math.neighbors.self_neighbors`.
    n_jobs : int or None
        Threads.
    reference : ndarray of int, default=None
        Rows among which neighbours are searched; all by default.
    cells : bool, default=False
        Whether to search all rows in cells.
    """

    def __init__(
        self,
        search: Any,
        n_jobs: int | None,
        reference: Indices | None = None,
        *,
        cells: bool = False,
    ) -> None:
        self.search, self.n_jobs, self.reference = search, n_jobs, reference
        self.cells = cells
        self._known: dict[str, Indices] = {}

    def __call__(
        self, Z: Array, k: int, name: str, rows: Indices | None = None
    ) -> Indices:
        """Find the `k` nearest other rows of each row of `Z`, or of some of them."""
        if self.cells:
            return many_neighbors(Z, k, self.n_jobs)
        options = {"search": self.search, "n_jobs": self.n_jobs}
        if self.reference is not None or rows is not None:
            return reference_neighbors(Z, self.reference, k, rows=rows, **options)
        known = self._known.get(name)
        self._known[name] = self_neighbors(Z, k, warm_start=known, **options)
        return self._known[name]


def crisp_rounds(
    model: CrossFit,
    labels: Evidence,
    search: NeighborSearch | None,
    *,
    n_neighbors: int,
    max_iter: int,
    tol: float,
) -> Rounds:
    """Alternate between scoring the rows and asking experts for their labels.

    Without `search` nobody votes: the Gaussian classes and the regression are asked.
    """
    L, F, update = move_evidence(labels, model.basis.s)
    if search is not None:
        raw = search(model.basis.rows, n_neighbors, "raw")
    stop, converged = StoppingRule(tol, STEADY), False
    for t in iterations("CRISP", max_iter):
        Y = targets(F)
        C = model.project(Y)
        if t < N_SEARCH:
            ridge = choose_ridge(model, Y, C)
        embedding = embed(model, F, ridge, C)
        Z = embedding.held_out
        if search is None:
            regression = regression_belief(embedding.scores, label_share(F))
            experts = [gaussian_expert(Z, F), regression]
        else:
            experts = _experts(F, Z, raw, search, n_neighbors)
        weights, likelihood = mixture_weights(experts, L)
        before = F
        F = refine(F, linear_pool(experts, weights), L, own=OWN_WEIGHT)
        L = update(F)
        converged = stop(F, before, likelihood)
        if converged:
            break
    converged = converged or labels_settled(F, before)
    return Rounds(F, ridge, weights, stop.objective, converged)


def vote_among_all(
    model: CrossFit,
    labels: Evidence,
    rounds: Rounds,
    n_neighbors: int,
    n_jobs: int | None,
) -> Rounds:
    """One more iteration, in which all rows vote instead of a sample.

    Parameters
    ----------
    model, labels, n_neighbors
        As in :func:`crisp_rounds`.
    rounds : Rounds
        What they ended with.
    n_jobs : int or None
        Threads.

    Returns
    -------
    rounds : Rounds
        With new confidences; all else stays.
    """
    F: Any = rounds.F
    L = move_evidence(labels, F)[2](F)
    search = NeighborSearch(None, n_jobs, cells=True)
    Z = embed(model, F, rounds.ridge).held_out
    raw = search(model.basis.rows, n_neighbors, "raw")
    experts = _experts(F, Z, raw, search, n_neighbors)
    weights, _ = mixture_weights(experts, L)
    F = refine(F, linear_pool(experts, weights), L, own=OWN_WEIGHT)
    return replace(rounds, F=F)


def _experts(
    F: Array, Z: Array, raw: Indices, search: NeighborSearch, k: int
) -> list[Array]:
    """Beliefs of the four experts; `raw` are the neighbours among the data."""
    return [
        rank_vote(F, search(Z, k, "euclidean")),
        rank_vote(F, search(unit_rows(Z), k, "cosine")),
        gaussian_expert(Z, F),
        rank_vote(F, raw),
    ]
