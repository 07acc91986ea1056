"""Pool of experts of several geometries, on training rows and on new rows."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from partlearn._array_api import namespace, row_dots, take
from partlearn._math.blocks import Rows
from partlearn._math.blocks import take as take_rows
from partlearn._math.crossfit._embedding import class_means, embed
from partlearn._math.crossfit._experts import (
    gaussian_confidence,
    gaussian_expert,
    label_share,
    log_linear_weights,
    mixture_weights,
    neighbor_expert,
    pooled_confidence,
    regression_confidence,
    unit_rows,
    vote_expert,
)
from partlearn._math.crossfit._geometries import Geometry, GeometryName, make_geometries
from partlearn._math.crossfit._iterations import (
    STEADY,
    STEADY_NEIGHBORS,
    Labels,
    NeighborSearch,
    StoppingRule,
    alternate,
)
from partlearn._math.crossfit._kernels import KernelMap
from partlearn._math.crossfit._relevance import Relevance
from partlearn._math.crossfit._space import InputSpace, LinearMap, input_space
from partlearn._math.graphs import TiedNeighbors, query_votes
from partlearn._math.linalg import NormalScores
from partlearn._typing import Array, Indices

NO_WEIGHT = 0.05  # log-linear weight up to which a sample is not searched again
_INPUTS = "input neighbors"


@dataclass(frozen=True)
class PoolOptions:
    """Parameters of CRISPClassifier and KernelCRISP for the iterations."""

    geometries: Sequence[GeometryName]
    use_neighbors: bool | Literal["auto"]
    n_neighbors: int
    n_reference: int | Literal["auto"] | None
    max_iter: int
    tol: float
    n_landmarks: int | Literal["auto"] | None
    search: Any
    n_jobs: int | None


@dataclass(frozen=True)
class PooledGeometry:
    """Fitted state of one geometry.

    Attributes
    ----------
    name : {"linear", "rbf", "laplacian"}
        The geometry.
    map : LinearMap or KernelMap
        Scores (q columns) and embedding of new rows.
    held_out : ndarray of shape (m, p)
        Held-out embedding of the training rows.
    means : ndarray of shape (q, p)
        Class means of it.
    values : ndarray of shape (p,)
        Held-out signal of its columns.
    ridge : float
        Chosen ridge.
    bandwidth : float or None
        Width of the kernel.
    """

    name: GeometryName
    map: LinearMap | KernelMap
    held_out: Array
    means: Array
    values: Array
    ridge: float
    bandwidth: float | None


@dataclass(frozen=True)
class PooledModel:
    """Fitted pool: confidences of the training rows, and probabilities of new rows.

    Attributes
    ----------
    space : InputSpace
        Standardization of new rows.
    geometries : list of PooledGeometry
        The geometries.
    F : ndarray of shape (m, q)
        Confidences.
    linear, log_linear : ndarray of shape (n_experts,)
        Weights of the experts in the two pools.
    objective : list of float
        Mean log-likelihood of the evidence, after each iteration.
    converged : bool
        Whether the labels settled.
    n_neighbors : int
        Number of neighbors.
    reference : ndarray of int or None
        Rows among which neighbors are searched; None for all.
    rows : ndarray or None
        These rows in the input space; None without neighbors.
    held_out : ndarray of shape (m, q)
        Held-out probabilities of the training rows.
    columns : NormalScores or None
        Map of the columns of new rows, before all else.
    """

    space: InputSpace
    geometries: list[PooledGeometry]
    F: Array
    linear: Array
    log_linear: Array
    objective: list[float]
    converged: bool
    n_neighbors: int
    reference: Indices | None
    rows: Array | None
    held_out: Array
    columns: NormalScores | None

    def mapped(self, X: Any) -> tuple[Array, list[Array]]:
        """Return rows in the input space; scores and embedding in each geometry."""
        X = X if self.columns is None else self.columns(X)
        rows = self.space.within_range(X)
        return rows, [
            g.map(X if isinstance(g.map, LinearMap) else rows) for g in self.geometries
        ]

    def positions(self, X: Any) -> list[Array]:
        """Embedding of new rows in each geometry."""
        q = self.F.shape[1]
        return [both[:, q:] for both in self.mapped(X)[1]]

    def confidence(
        self, X: Any, *, search: Any = None, n_jobs: int | None = None
    ) -> Array:
        """Confidence in each label of new rows, (n, q).

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            New rows.
        search, n_jobs
            Of the neighbor search.

        Returns
        -------
        M : ndarray of shape (n, q)
            Rows sum to one.
        """
        q, share = self.F.shape[1], label_share(self.F)
        F = self._part(self.F)

        def expert(known: Array, Z: Array) -> Array:
            k, options = self.n_neighbors, {"search": search, "n_jobs": n_jobs}
            return vote_expert(query_votes(known, Z, F, k, **options))

        rows, mapped = self.mapped(X)
        experts = []
        for g, both in zip(self.geometries, mapped, strict=True):
            Z = both[:, q:]
            if self.rows is not None:
                known = self._part(g.held_out)
                experts.append(expert(known, Z))
                experts.append(expert(unit_rows(known), unit_rows(Z)))
            experts.append(gaussian_confidence(Z, g.means, share))
            experts.append(regression_confidence(both[:, :q], share))
        if self.rows is not None:
            experts.append(expert(self.rows, rows))
        return pooled_confidence(experts, self.linear, self.log_linear)

    def _part(self, A: Array) -> Array:
        return A if self.reference is None else take(A, self.reference)


def expert_names(names: Sequence[str], *, neighbors: bool) -> list[str]:
    """Names of the experts, in the order of their weights.

    Parameters
    ----------
    names : sequence of str
        Geometries.
    neighbors : bool
        Whether neighbors are among the experts.

    Returns
    -------
    experts : list of str
        For example ``"rbf gaussian"``.

    Examples
    --------
    >>> from partlearn._math.crossfit._pooled import expert_names
    >>> expert_names(["rbf"], neighbors=False)
    ['rbf gaussian', 'rbf regression']
    """
    kinds = ["euclidean neighbors", "cosine neighbors"] if neighbors else []
    kinds += ["gaussian", "regression"]
    each = [f"{name} {kind}" for name in names for kind in kinds]
    return [*each, _INPUTS] if neighbors else each


def fit_pooled(
    X: Any,
    labels: Labels,
    order: Indices,
    options: PoolOptions,
    columns: NormalScores | None = None,
    relevance: Relevance | None = None,
    *,
    rng: np.random.RandomState,
) -> PooledModel:
    """Alternate between scoring the rows in all geometries and pooling the experts.

    Parameters
    ----------
    X : ndarray, CSR matrix or Rows, of shape (m, d)
        Training rows.
    labels : Labels
        Evidence on their labels.
    order : ndarray of int, shape (m,)
        Rows in random order, from which all samples are taken.
    options : PoolOptions
        Geometries, neighbors and stopping rule.
    columns : NormalScores, default=None
        Map of the columns.
    relevance : Relevance, default=None
        Weights of the standardized columns; equal by default.
    rng : RandomState
        Starts a truncated decomposition.

    Returns
    -------
    model : PooledModel
        The finished fit.
    """
    k, n_jobs, geometries = options.n_neighbors, options.n_jobs, options.geometries
    search = options.search
    neighbors = bool(options.use_neighbors)
    weights = None if relevance is None else relevance.weights
    X = X if columns is None else columns.of_rows(X)
    space, rows, linear = input_space(
        X, rng, linear="linear" in geometries, weights=weights
    )
    wide = space.projection is not None  # its columns are directions
    del X  # another copy of the rows
    spaces = make_geometries(
        geometries,
        space,
        rows,
        linear,
        labels.F,
        order,
        n_landmarks=options.n_landmarks,
        weights={} if relevance is None or wide else relevance.kernel_weights,
    )
    find: NeighborSearch | None = None
    reference: Indices | None = None
    known: Any = None
    if neighbors:
        find = NeighborSearch.among(order, options.n_reference, search, n_jobs)
        reference = find.reference
        every = np.arange(len(order)) if isinstance(rows, Rows) else None
        places = every if reference is None else reference
        known = rows if places is None else take_rows(rows, places)
    state = _Iterations(spaces, rows, find, k)
    steady = STEADY_NEIGHBORS if neighbors else STEADY
    stop = StoppingRule(options.tol, steady, watch_objective=neighbors)
    name, most = "pool of experts", options.max_iter
    F, L, M, converged = alternate(labels, state.pool, restricted, stop, most, name)
    if reference is not None:
        M = state.pool_among_all(F, L, n_jobs)
        F = labels.rule(restricted(F, M, L))
    return PooledModel(
        space,
        state.finished(F),
        F,
        state.linear,
        state.log_linear,
        stop.objective,
        converged,
        k,
        reference,
        known,
        M,
        columns,
    )


class _Iterations:
    """State between iterations: ridges, weights, neighbors."""

    linear: Array
    log_linear: Array

    def __init__(
        self,
        geometries: Sequence[Geometry],
        rows: Array | Rows,
        find: NeighborSearch | None,
        n_neighbors: int,
    ) -> None:
        self.geometries, self.find, self.k = geometries, find, n_neighbors
        self.ridges: dict[str, float] = {}
        self._start: Array | None = None
        self._neighbors: dict[str, Indices | TiedNeighbors] = {}
        self._fixed: set[str] = set()  # experts whose neighbors are not searched again
        if find is not None:
            self._neighbors[_INPUTS] = find.among_inputs(rows, n_neighbors)

    def pool(self, F: Array, L: Array, choose: bool = False) -> tuple[Array, float]:
        """Probability of each label of each row by experts that did not see it.

        And its mean log-likelihood; with `choose` each ridge is chosen anew.
        """
        share, xp = label_share(F), namespace(F)
        experts = []
        for g in self.geometries:
            embedding = embed(g.model, F, None if choose else self.ridges[g.name])
            self.ridges[g.name], Z = embedding.ridge, embedding.held_out
            if self.find is not None:
                experts += self.neighbor_experts(F, Z, g.name)
            experts.append(gaussian_expert(Z, F))
            experts.append(regression_confidence(embedding.scores, share))
        if self.find is not None:
            experts.append(neighbor_expert(F, self._neighbors[_INPUTS]))
        self.linear, _ = mixture_weights(experts, L)
        self._start = self.log_linear = log_linear_weights(experts, L, self._start)
        if self.find is not None and self.find.reference is not None:
            names = expert_names([g.name for g in self.geometries], neighbors=True)
            weights = zip(names, self.log_linear, strict=True)
            self._fixed = {name for name, weight in weights if weight <= NO_WEIGHT}
        M = pooled_confidence(experts, self.linear, self.log_linear)
        return M, float(xp.mean(xp.log(row_dots(M, L))))

    def neighbor_experts(self, F: Array, Z: Array, geometry: str) -> list[Array]:
        """Return the experts of the neighbors of each row in an embedding."""
        assert self.find is not None
        find: dict[str, Any] = {
            "euclidean": self.find,
            "cosine": self.find.on_sphere,
        }
        experts = []
        for kind, among in find.items():
            name = f"{geometry} {kind} neighbors"
            if name not in self._fixed:
                self._neighbors[name] = among(Z, self.k, name)
            experts.append(neighbor_expert(F, self._neighbors[name]))
        return experts

    def pool_among_all(self, F: Array, L: Array, n_jobs: int | None) -> Array:
        """Pool with neighbors among all rows; the state for new rows does not change.

        Neighbors in the input space remain neighbors among the sample, and so do those
        of experts with little weight in the log-linear pool.
        """
        kept = self.linear, self.log_linear
        self.find = NeighborSearch(None, n_jobs, cells=True)
        M, _ = self.pool(F, L)
        self.linear, self.log_linear = kept
        return M

    def finished(self, F: Array) -> list[PooledGeometry]:
        """Return the fitted state of each geometry for the final confidences."""
        kept = []
        for g in self.geometries:
            embedding = embed(g.model, F, self.ridges[g.name])
            kept.append(
                PooledGeometry(
                    g.name,
                    g.map(embedding),
                    embedding.held_out,
                    class_means(embedding.held_out, F),
                    embedding.values,
                    self.ridges[g.name],
                    g.bandwidth,
                )
            )
        return kept


def restricted(F: Array, M: Array, L: Array) -> Array:
    """Return the pooled probabilities, given the evidence."""
    A = L * M
    return A / namespace(A).sum(A, axis=1, keepdims=True)
