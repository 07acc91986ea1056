"""Experts of several geometries, pooled: on the training rows, and on new ones."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils import check_random_state

from partlearn._array_api import namespace, row_dots, take
from partlearn._math.blocks import Rows, refuse_blocks
from partlearn._math.crossfit._embedding import (
    Embedding,
    choose_ridge,
    class_means,
    embed,
)
from partlearn._math.crossfit._experts import (
    gaussian_belief,
    gaussian_expert,
    label_share,
    log_linear_weights,
    mixture_weights,
    pooled_belief,
    rank_vote,
    regression_belief,
    unit_rows,
)
from partlearn._math.crossfit._folds import make_folds
from partlearn._math.crossfit._geometries import Geometry, GeometryName, make_geometries
from partlearn._math.crossfit._kernels import KernelMap
from partlearn._math.crossfit._order import in_data_order
from partlearn._math.crossfit._rounds import N_SEARCH, NeighborSearch, StoppingRule
from partlearn._math.crossfit._rounds import STEADY as CAREFUL
from partlearn._math.crossfit._scores import targets
from partlearn._math.crossfit._space import InputSpace, LinearMap, input_space
from partlearn._math.neighbors import query_neighbors, reference_rows
from partlearn._progress import iterations
from partlearn._typing import Array, Indices
from partlearn.candidates import labels_settled

NO_WEIGHT = 0.05  # log-linear weight up to which a sample goes on voting at the end
STEADY = 0.02  # share of rows whose label changes in an iteration that decides little


@dataclass(frozen=True)
class PooledGeometry:
    """What is kept of one geometry.

    Attributes
    ----------
    name : {"linear", "rbf", "laplacian"}
        The geometry.
    map : LinearMap or KernelMap
        Scores (q columns) and embedding of new rows.
    held_out : ndarray of shape (m, p)
        Cross-fitted embedding of the training rows.
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
    """A finished fit: what it believes of the training rows, and of new ones.

    Attributes
    ----------
    space : InputSpace
        Standardisation of new rows.
    geometries : list of PooledGeometry
        The geometries.
    F : ndarray of shape (m, q)
        Confidences.
    linear, log_linear : ndarray of shape (n_experts,)
        Weights of the experts in the two pools.
    objective : list of float
        Mean log-likelihood of the evidence, after each iteration.
    converged : bool
        Whether the iterations settled, the labels at least.
    n_neighbors : int
        Neighbours that vote.
    reference : ndarray of int or None
        Rows among which neighbours are searched; None for all.
    rows : ndarray or None
        These rows in the input space; None where nobody votes.
    held_out : ndarray of shape (m, q)
        What the features say of each training row, by experts that did not see it.
    order : ndarray of int or None
        Place in the data of each training row kept here; None for the order of the
        data.
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
    order: Indices | None = None

    def in_data_order(self, A: Array) -> Array:
        """Rows of an array of this model, `F` for example, as they are in the data."""
        return A if self.order is None else in_data_order(A, self.order)

    def mapped(self, X: Any, rows: Array) -> list[Array]:
        """Scores and embedding in each geometry, of rows in the input space, too."""
        return [
            g.map(X if isinstance(g.map, LinearMap) else rows) for g in self.geometries
        ]

    def positions(self, X: Any) -> list[Array]:
        """Embedding of new rows in each geometry."""
        q = self.F.shape[1]
        return [both[:, q:] for both in self.mapped(X, self.space(X))]

    def belief(self, X: Any, *, search: Any = None, n_jobs: int | None = None) -> Array:
        """Belief in each label of new rows, (n, q).

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            New rows.
        search, n_jobs
            Of the neighbour search.

        Returns
        -------
        M : ndarray of shape (n, q)
            Rows sum to one.
        """
        q, share = self.F.shape[1], label_share(self.F)
        voters = self._part(self.F)

        def vote(known: Array, Z: Array) -> Array:
            k = self.n_neighbors
            _, neighbors = query_neighbors(known, Z, k, search=search, n_jobs=n_jobs)
            return rank_vote(voters, neighbors)

        rows = self.space.within_range(X)
        experts = []
        for g, both in zip(self.geometries, self.mapped(X, rows), strict=True):
            Z = both[:, q:]
            if self.rows is not None:
                known = self._part(g.held_out)
                experts.append(vote(known, Z))
                experts.append(vote(unit_rows(known), unit_rows(Z)))
            experts.append(gaussian_belief(Z, g.means, share))
            experts.append(regression_belief(both[:, :q], share))
        if self.rows is not None:
            experts.append(vote(self.rows, rows))
        return pooled_belief(experts, self.linear, self.log_linear)

    def _part(self, A: Array) -> Array:
        return A if self.reference is None else take(A, self.reference)


def expert_names(names: Sequence[str], *, votes: bool) -> list[str]:
    """Names of the experts, in the order of their weights.

    Parameters
    ----------
    names : sequence of str
        Geometries.
    votes : bool
        Whether neighbours vote.

    Returns
    -------
    experts : list of str
        For example ``"rbf gaussian"``.

    Examples
    --------
    >>> from partlearn._math.crossfit._pooled import expert_names
    >>> expert_names(["rbf"], votes=False)
    ['rbf gaussian', 'rbf regression']
    """
    kinds = ["euclidean vote", "cosine vote"] if votes else []
    kinds += ["gaussian", "regression"]
    each = [f"{name} {kind}" for name in names for kind in kinds]
    return [*each, "input vote"] if votes else each


def fit_pooled(
    estimator: Any,
    X: Any,
    L: Array,
    F: Array,
    *,
    geometries: Sequence[GeometryName],
    update: Callable[[Array], Array],
    groups: Indices | None,
) -> PooledModel:
    """Alternate between scoring the rows in all geometries and pooling the experts.

    Parameters
    ----------
    estimator : CRISPClassifier or KernelCRISP
        Whose parameters count. Its random state draws folds, rows that choose
        bandwidths, landmarks and reference rows.
    X : ndarray, CSR matrix or Rows, of shape (m, d)
        Training rows; in blocks where nobody votes.
    L : ndarray of shape (m, q)
        Evidence: the candidate matrix, or non-negative weights.
    F : ndarray of shape (m, q)
        First confidences.
    geometries : sequence of {"linear", "rbf", "laplacian"}
        The geometries.
    update : callable
        Gives the evidence anew from the confidences after each iteration: the hook of
        votes, which are weighed by how well annotators agree with the confidences.
    groups : ndarray of int, shape (m,), or None
        Numbers of groups whose rows are held out together.

    Returns
    -------
    model : PooledModel
        The finished fit.
    """
    m, xp, search = F.shape[0], namespace(F), estimator.search
    k, n_jobs, votes = estimator.n_neighbors, estimator.n_jobs, bool(estimator.votes)
    rng = check_random_state(estimator.random_state)
    folds = make_folds(m, estimator.n_folds, rng, groups)
    if votes:
        refuse_blocks(X, "neighbours in the space of the input vote", "votes=False")
    space, rows, linear = input_space(X, rng, linear="linear" in geometries)
    del X  # another copy of the rows
    spaces = make_geometries(
        geometries,
        space,
        rows,
        linear,
        F,
        folds,
        n_landmarks=estimator.n_landmarks,
        rng=rng,
        groups=groups,
    )
    reference: Indices | None = None
    if votes and search is None:
        reference = reference_rows(m, estimator.n_reference, rng)
    find = NeighborSearch(search, n_jobs, reference) if votes else None
    voters: Array | None = None
    if votes and not isinstance(rows, Rows):  # which were refused above
        voters = rows if reference is None else take(rows, reference)
    rounds = _Rounds(spaces, rows, find, k)
    # Without votes an iteration costs little, and the labels settle more slowly.
    steady = STEADY if votes else CAREFUL
    stop = StoppingRule(estimator.tol, steady, watch_objective=votes)
    converged = False
    for t in iterations("pool of experts", estimator.max_iter):
        M = rounds.pool(F, L, search=t < N_SEARCH)
        objective = float(xp.mean(xp.log(row_dots(M, L))))
        before, F = F, normalized(L * M)
        L = update(F)
        converged = stop(F, before, objective)
        if converged:
            break
    converged = converged or labels_settled(F, before)
    if reference is not None:
        M = rounds.pool_among_all(F, L, n_jobs)
        F = normalized(L * M)
    return PooledModel(
        space,
        rounds.finished(F),
        F,
        rounds.linear,
        rounds.log_linear,
        stop.objective,
        converged,
        k,
        reference,
        voters,
        M,
    )


class _Rounds:
    """State that carries over from round to round: ridges, weights, neighbours."""

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
        self.rows = rows
        self.ridges: dict[str, float] = {}
        self._start: Array | None = None
        self._neighbors: dict[str, Indices] = {}
        self._fixed: set[str] = set()  # votes whose neighbours stay what they were

    def embed(self, g: Geometry, F: Array, *, search: bool) -> Embedding:
        """Blocks A to D; with `search` the ridge is chosen anew."""
        Y = targets(F)
        C = g.model.project(Y)
        if search:
            near = None if g.near is None else self.ridges.get(g.name, g.near)
            self.ridges[g.name] = choose_ridge(g.model, Y, C, near)
        return embed(g.model, F, self.ridges[g.name], C)

    def pool(self, F: Array, L: Array, *, search: bool) -> Array:
        """Belief in each label of each row by all experts, none of which saw it."""
        share = label_share(F)
        experts = []
        for g in self.geometries:
            embedding = self.embed(g, F, search=search)
            Z = embedding.held_out
            if self.find is not None:
                experts.append(self.vote(F, Z, f"{g.name} euclidean vote"))
                experts.append(self.vote(F, unit_rows(Z), f"{g.name} cosine vote"))
            experts.append(gaussian_expert(Z, F))
            experts.append(regression_belief(embedding.scores, share))
        if self.find is not None:
            experts.append(self.vote(F, self.rows, "input vote"))
            self._fixed.add("input vote")
        self.linear, _ = mixture_weights(experts, L)
        self._start = self.log_linear = log_linear_weights(experts, L, self._start)
        return pooled_belief(experts, self.linear, self.log_linear)

    def vote(self, F: Array, Z: Any, name: str) -> Array:
        """What the neighbours of each row say of it."""
        assert self.find is not None
        if name not in self._fixed:
            self._neighbors[name] = self.find(Z, self.k, name)
        return rank_vote(F, self._neighbors[name])

    def pool_among_all(self, F: Array, L: Array, n_jobs: int | None) -> Array:
        """Pool with votes of all rows; what is kept for new rows stays as it was.

        Votes that the log-linear pool passes over are left to the sample.
        """
        kept = self.linear, self.log_linear
        names = expert_names([g.name for g in self.geometries], votes=True)
        weights = zip(names, self.log_linear, strict=True)
        self._fixed = {name for name, weight in weights if weight <= NO_WEIGHT}
        self.find = NeighborSearch(None, n_jobs, cells=True)
        M = self.pool(F, L, search=False)
        self.linear, self.log_linear = kept
        return M

    def finished(self, F: Array) -> list[PooledGeometry]:
        """What to keep of each geometry, with the final confidences."""
        kept = []
        for g in self.geometries:
            embedding = self.embed(g, F, search=False)
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


def normalized(A: Array) -> Array:
    """Divide the rows by their sums."""
    return A / namespace(A).sum(A, axis=1, keepdims=True)
