"""Iterations of CRISP: score the rows, pool experts on their labels, score again."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._array_api import namespace
from partlearn._math.blocks import Rows
from partlearn._math.crossfit._embedding import embed
from partlearn._math.crossfit._experts import (
    gaussian_expert,
    label_share,
    linear_pool,
    mixture_weights,
    neighbor_expert,
    regression_confidence,
    unit_rows,
)
from partlearn._math.crossfit._scores import LeaveOneOut
from partlearn._math.graphs import TiedNeighbors
from partlearn._math.neighbors import (
    many_neighbors,
    query_neighbors,
    reference_neighbors,
    reference_rows,
    self_neighbors,
    without_own,
)
from partlearn._progress import iterations
from partlearn._typing import Array, Indices
from partlearn.candidates import labels_settled, refine

N_SEARCH = 4  # iterations in which the ridge is chosen anew
# Shares of rows whose label changes in an iteration that decides little. Without
# neighbors an iteration costs little, and the labels settle more slowly.
STEADY = 0.005
STEADY_NEIGHBORS = 0.02
OWN_WEIGHT = 0.03  # weight of a row's own confidence beside the experts


Update = Callable[[Array], Array]


@dataclass(frozen=True)
class Labels:
    """Evidence on the labels of all rows, and functions that refine it.

    Attributes
    ----------
    L : ndarray of shape (m, q)
        Evidence: the candidate matrix, or non-negative weights.
    F : ndarray of shape (m, q)
        First confidences.
    update : callable
        Computes the evidence from the probabilities of the experts after each
        iteration; annotators are weighted by the agreement of their votes with them.
    rule : callable
        Maps the confidences of single rows to confidences given the bags.
    """

    L: Array
    F: Array
    update: Update
    rule: Update = lambda F: F


@dataclass(frozen=True)
class Iterations:
    """State at the end of the iterations."""

    F: Array
    L: Array
    ridge: float
    expert_weights: Array
    objective: list[float]
    converged: bool


class StoppingRule:
    """Stopping rule of the iterations.

    Stop when no confidence changes by `tol`, or when two iterations in a row keep the
    most likely label of nearly all rows. If labels cycle, a likelihood that no longer
    rises can stop the iterations too.

    Parameters
    ----------
    tol : float
        Change of a confidence; 0 never stops.
    steady : float or None
        Share of the rows whose most likely label may change in each of two iterations;
        None uses the confidences alone.
    watch_objective : bool, default=False
        Whether to stop also if the objective is no higher than two or more iterations
        before, and at most one row in twenty changes its label.

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
    """Neighbor search, warm-started from the previous result of the same name.

    Parameters
    ----------
    search : transformer or None
        As in ``self_neighbors``.
    n_jobs : int or None
        Threads.
    reference : ndarray of int, default=None
        Rows among which neighbors are searched; all by default.
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
        self._known: dict[str, TiedNeighbors] = {}

    @classmethod
    def among(
        cls, order: Indices, n_reference: Any, search: Any, n_jobs: int | None
    ) -> "NeighborSearch":
        """Search the first reference rows of a random order; all for a given search."""
        reference = None
        if search is None:
            reference = reference_rows(len(order), n_reference, 0)
            reference = None if reference is None else np.sort(order[reference])
        return cls(search, n_jobs, reference)

    def __call__(
        self, Z: Any, k: int, name: str, rows: Indices | None = None
    ) -> Indices | TiedNeighbors:
        """Find the `k` nearest other rows of each row of `Z`, or of some of them.

        In a search among all rows, equally near ones share their ranks.
        """
        if self.cells:
            return many_neighbors(Z, k, self.n_jobs)
        options = {"search": self.search, "n_jobs": self.n_jobs}
        if self.reference is not None or rows is not None:
            return reference_neighbors(Z, self.reference, k, rows=rows, **options)
        if self.search is not None:
            return self_neighbors(Z, k, **options)
        last = self._known.get(name)
        self._known[name] = TiedNeighbors(
            Z,
            k,
            warm_start=None if last is None else last.neighbors,
            tied=last is not None and last.tied,
            n_jobs=self.n_jobs,
        )
        return self._known[name]

    def among_inputs(self, Z: Any, k: int) -> Indices | TiedNeighbors:
        """Find neighbors in the input space, whose rows may be equal or in blocks."""
        if isinstance(Z, Rows):
            if self.reference is not None:
                return Z.map(
                    block_neighbors,
                    np.arange(len(Z)),
                    points=Z.take(self.reference),
                    reference=self.reference,
                    k=k,
                )
            Z = Z.compute()  # few enough to be searched
        return self(Z, k, "inputs")

    def on_sphere(self, Z: Array, k: int, name: str) -> Indices | TiedNeighbors:
        """Find neighbors by cosine."""
        return self(unit_rows(Z), k, name)


def block_neighbors(
    block: Array, places: Indices, points: Array, reference: Indices, k: int
) -> Indices:
    """Find the nearest reference rows of the rows of a block, except the row itself."""
    k = min(k, len(reference) - 1)
    _, near = query_neighbors(points, block, k + 1)
    return without_own(reference[near], places)


def alternate(
    labels: Labels,
    pool: Callable[[Array, Array, bool], tuple[Array, float]],
    refined: Callable[[Array, Array, Array], Array],
    stop: StoppingRule,
    max_iter: int,
    name: str,
) -> tuple[Array, Array, Array, bool]:
    """Pool experts on the labels of the rows, and update the labels, in turn.

    `pool` gives probabilities and their objective from confidences, evidence, and
    whether ridges are chosen anew; `refined` gives confidences from the former ones,
    the pool and the evidence. Confidences, evidence, the last pool, and whether the
    labels settled are returned.
    """
    L, F = labels.L, labels.F
    for t in iterations(name, max_iter):
        M, objective = pool(F, L, t < N_SEARCH)
        before, F = F, labels.rule(refined(F, M, L))
        L = labels.update(M)
        if stop(F, before, objective):
            return F, L, M, True
    return F, L, M, labels_settled(F, before)


def crisp_iterations(
    model: LeaveOneOut,
    labels: Labels,
    search: NeighborSearch | None,
    *,
    n_neighbors: int,
    max_iter: int,
    tol: float,
) -> Iterations:
    """Alternate between scoring the rows and pooling experts on their labels.

    Without `search` there are no neighbors: the experts are the Gaussian classes and
    the regression.
    """
    among, ridge, weights = search, 0.0, labels.F
    if among is not None:
        inputs = among.among_inputs(model.basis.rows, n_neighbors)

    def pool(F: Array, L: Array, choose: bool) -> tuple[Array, float]:
        nonlocal ridge, weights
        embedding = embed(model, F, None if choose else ridge)
        ridge, Z = embedding.ridge, embedding.held_out
        if among is None:
            regression = regression_confidence(embedding.scores, label_share(F))
            experts = [gaussian_expert(Z, F), regression]
        else:
            experts = [
                neighbor_expert(F, among(Z, n_neighbors, "euclidean")),
                neighbor_expert(F, among.on_sphere(Z, n_neighbors, "cosine")),
                gaussian_expert(Z, F),
                neighbor_expert(F, inputs),
            ]
        weights, likelihood = mixture_weights(experts, L)
        return linear_pool(experts, weights), likelihood

    refined: Callable[..., Any] = partial(refine, own=OWN_WEIGHT)
    stop = StoppingRule(tol, STEADY)
    F, L, _, converged = alternate(labels, pool, refined, stop, max_iter, "CRISP")
    result = Iterations(F, L, ridge, weights, stop.objective, converged)
    if search is None or search.reference is None:
        return result
    # One more iteration, with neighbors among all rows in the embedding.
    among = NeighborSearch(None, search.n_jobs, cells=True)
    M, _ = pool(F, L, False)
    F = labels.rule(refined(F, M, L))
    return replace(result, F=F, L=labels.update(M))
