"""CRISP: cross-fitted ridge scoring projection."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from partlearn._sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from partlearn.base import (
    N_COMPONENTS,
    BaseReducer,
    count_directions,
)
from partlearn.candidates import refine, uniform_confidence, validate_partial_data
from partlearn.decomposition._basis import Basis, principal
from partlearn.decomposition._crisp_background import (
    BACKGROUND_ROWS,
    background_size,
    choose_background,
    mean_norm,
    neighbors_of,
)
from partlearn.decomposition._crisp_experts import (
    gaussian_expert,
    mixture_weights,
    rank_vote,
    rotation,
    unit_rows,
)
from partlearn.decomposition._crisp_scores import (
    RIDGE_GRID,
    CrossFit,
    make_folds,
    targets,
)
from partlearn.linalg import fix_signs
from partlearn.neighbors import self_neighbors

__all__ = ["CRISP", "Embedding", "Rounds", "check_informative", "disambiguate", "embed"]

N_SEARCH = 4  # rounds in which the ridge is chosen anew
OWN = 0.03  # weight of a row's own confidence beside the experts
BACKGROUND_NEIGHBORS = 10

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Embedding:
    """Discriminant scores of the training rows, of one choice of confidences.

    ``weights`` (r, p) maps ``U diag(s)`` to the in-sample embedding; ``held_out``
    (m, p) is the cross-fitted one, ``values`` (p,) the held-out signal.
    """

    weights: Array
    held_out: Array
    values: Array


@dataclass(frozen=True)
class Rounds:
    """What the rounds of scoring and voting ended with."""

    F: Array
    ridge: float
    expert_weights: Array
    objective: list[float]
    converged: bool


class Searcher:
    """Neighbour search that starts from what the same question was answered last."""

    def __init__(self, search: Any, n_jobs: int | None) -> None:
        self.search, self.n_jobs = search, n_jobs
        self._known: dict[str, NDArray[np.int64]] = {}

    def __call__(self, Z: Array, k: int, name: str) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self_neighbors(
            Z,
            k,
            search=self.search,
            warm_start=self._known.get(name),
            n_jobs=self.n_jobs,
        )
        self._known[name] = found
        return found


def embed(model: CrossFit, F: Array, ridge: float) -> Embedding:
    """Blocks A to D for given confidences and ridge."""
    Y = targets(F)
    C = model.project(Y)
    f = model.shrinkage(ridge)[1:, None]
    shrunk = f * C[1:]
    held_out = model.held_out(Y, C, ridge)
    R, values = rotation(Y, F, held_out, shrunk.T @ shrunk / len(F))
    return Embedding(shrunk @ R / model.basis.s[:, None], held_out @ R, values)


def choose_ridge(model: CrossFit, F: Array) -> float:
    """Ridge of the smallest held-out error."""
    Y = targets(F)
    return RIDGE_GRID[int(np.argmin(model.press(Y, model.project(Y))))]


def disambiguate(
    model: CrossFit,
    S: NDArray[np.bool_],
    search: Searcher,
    *,
    n_neighbors: int,
    max_iter: int,
    tol: float,
) -> Rounds:
    """Alternate between scoring the rows and asking experts for their labels."""
    F: Array = np.asarray(uniform_confidence(S), dtype=np.float64)
    raw = search(model.basis.U * model.basis.s, n_neighbors, "raw")
    objective: list[float] = []
    converged = False
    for t in range(max_iter):
        if t < N_SEARCH:
            ridge = choose_ridge(model, F)
        Z = embed(model, F, ridge).held_out
        experts = [
            rank_vote(F, search(Z, n_neighbors, "euclidean")),
            rank_vote(F, search(unit_rows(Z), n_neighbors, "cosine")),
            gaussian_expert(Z, F),
            rank_vote(F, raw),
        ]
        weights, likelihood = mixture_weights(experts, S)
        objective.append(likelihood)
        before = F
        mixture = sum(w * P for w, P in zip(weights, experts, strict=True))
        F = np.asarray(refine(F, np.asarray(mixture), S, own=OWN), dtype=np.float64)
        if np.abs(F - before).max() < tol:
            converged = True
            break
    return Rounds(F, ridge, weights, objective, converged)


class CRISP(BaseReducer):
    """Reduce dimensions by ridge scores that never confirm a row's own candidates.

    The labelling confidences are regressed on the data with a ridge. Everything that
    then looks at a row (the strength of the ridge, the choice of directions, the votes
    that refine its confidences, the share of principal components) uses the score that
    the row gets from a regression fitted without it. With few rows per feature, where a
    projection can be found that repeats whatever labels it is given, this is what keeps
    a row from confirming its own candidate set.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default=None
        Number of directions. None or "auto" keeps all whose held-out signal is
        positive, and the background where it helps. An integer keeps that many of the
        discriminant directions, and appends background only if it is larger than their
        number; a float keeps the discriminant ones that reach that share of the signal.
    n_folds : int, default=10
        Folds of the cross-fitted scores.
    n_neighbors : int, default=8
        Number of neighbours that vote.
    background : {"auto", "none"} or float, default="auto"
        Weight, in [0, 1], of leading principal components beside the discriminant
        directions. "auto" takes the smallest weight whose neighbour votes expect the
        candidate sets as well as the best; "none" is 0 and gives at most as many
        components as there are classes, less one.
    standardize : bool, default=True
        Whether to bring all columns to variance one. They are centred in any case.
    max_iter : int, default=20
        Most rounds of scoring and voting.
    tol : float, default=1e-3
        Stop when no confidence changes by more.
    random_state : int, RandomState instance or None, default=None
        Draws the folds (and starts the truncated decomposition). None stands for 0:
        the same data give the same result.
    search : neighbour transformer, default=None
        Search for the votes, for example ``PyNNDescentTransformer``, for more rows than
        the exact search, which None stands for, can manage. It must offer eleven
        neighbours besides the row itself, or `n_neighbors` if that is more than ten.
    svd_rank : int or None, default=None
        Number of leading singular directions of the data that are used. None uses all,
        unless both sides of the data exceed 4000: then 500, found by a randomised
        iteration that leaves sparse data sparse.
    n_jobs : int or None, default=None
        Threads of the neighbour search; the result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Directions, in the space of the standardised data.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Belief in each candidate of each training row.
    ridge_ : float
        Chosen ridge, as a multiple of the mean squared singular value.
    background_ : float
        Weight of the principal components.
    n_discriminant_ : int
        Number of discriminant directions with positive held-out signal.
    expert_weights_ : ndarray of shape (4,)
        Trust in the Euclidean and the cosine vote in the embedding, in the Gaussian
        classes, and in the vote in the input space.
    eigenvalues_ : ndarray
        Held-out signal of each discriminant direction among the components; empty where
        only principal components are kept.
    cross_fitted_ : ndarray of shape (n_samples, n_kept)
        Where each training row would lie along these directions by regressions that
        were fitted without it: what `transform` says of the training rows, less the
        part that only repeats their own labels.
    objective_ : ndarray of shape (n_iter_,)
        Mean log-likelihood of the candidate sets under the experts, round by round.
    n_iter_ : int
        Number of rounds.
    n_components_ : int
        Number of components.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    mean_, scale_ : ndarray of shape (n_features,)
        Standardisation learnt from the training rows.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where `X` had any.

    See Also
    --------
    partlearn.feature_selection.CRISPSelector : Features chosen by the same confidences.
    partlearn.decomposition.TunedPCA : Regularises the published reducers.
    partlearn.classification.PLKNN : A learner to put behind it.

    Notes
    -----
    CRISP is a method of this library; it has no paper. The user guide gives its
    formulas and where it does not win. The embedding of the training rows is the
    in-sample one, so that ``fit_transform(X, y)`` equals ``fit(X, y).transform(X)``;
    learners that follow see training and new rows treated alike. The maths is done in
    float64 whatever the input; components and confidences have its precision.

    One decomposition of the data, O(m d min(m, d)), then O(m r q) a round with r the
    rank, ten times that in the first four, and two neighbour searches in at most q - 1
    dimensions. Memory is O(m (r + q)) besides the data and the smaller Gram matrix, and
    where the folds are smaller than the rank at most 512 MB of kept factors. Of more
    than 10,000 rows, 10,000 drawn at random choose the background.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.decomposition import CRISP
    >>> X, y = make_blobs(120, n_features=6, centers=4, random_state=0)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> reducer = CRISP(background="none").fit(X, candidates)
    >>> reducer.transform(X).shape
    (120, 3)
    >>> float((reducer.label_confidence_.argmax(axis=1) == y).mean())
    1.0
    """

    # The folds of the cross-fitted scores are drawn by row.
    _order_matters = ("rows",)
    _parameter_constraints = {  # noqa: RUF012
        "n_components": N_COMPONENTS,
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "background": [
            StrOptions({"auto", "none"}),
            Interval(Real, 0, 1, closed="both"),
        ],
        "standardize": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "search": [HasMethods(["fit", "transform"]), None],
        "svd_rank": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_components: int | float | Literal["auto"] | None = None,
        *,
        n_folds: int = 10,
        n_neighbors: int = 8,
        background: Literal["auto", "none"] | float = "auto",
        standardize: bool = True,
        max_iter: int = 20,
        tol: float = 1e-3,
        random_state: Any = None,
        search: Any = None,
        svd_rank: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_folds = n_folds
        self.n_neighbors = n_neighbors
        self.background = background
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.search = search
        self.svd_rank = svd_rank
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the projection and the confidences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes) or a sequence
            of label sets; see :func:`partlearn.candidates.check_candidates`.

        Returns
        -------
        self : CRISP
            The fitted reducer.
        """
        X, S = validate_partial_data(
            self, X, y, accept_sparse="csr", ensure_min_samples=2
        )
        check_informative(S, self.classes_, type(self).__name__)
        rng = self._rng()
        folds = make_folds(X.shape[0], self.n_folds, rng)
        basis, self.mean_, self.scale_ = principal(
            X, scale=self.standardize, rank=self.svd_rank, rng=rng
        )
        model = CrossFit(basis, folds)
        search = Searcher(self.search, self.n_jobs)
        rounds = disambiguate(
            model,
            S,
            search,
            n_neighbors=self.n_neighbors,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        if not rounds.converged:
            warnings.warn(
                f"The confidences still change after max_iter={self.max_iter} rounds. "
                "The directions are usable; raise `max_iter` or `tol` to let the "
                "rounds settle.",
                ConvergenceWarning,
                stacklevel=2,
            )
        embedding = embed(model, rounds.F, rounds.ridge)
        P, scale, weight = self._components(basis, embedding, rounds.F, S, search)
        kept = len(scale)
        self.components_ = np.ascontiguousarray(fix_signs(P).T, dtype=X.dtype)
        turned = np.einsum("ji,ij->j", self.components_[:kept], P[:, :kept]) < 0
        scale = np.where(turned, -scale, scale)
        self.cross_fitted_ = (embedding.held_out[:, :kept] * scale).astype(X.dtype)
        self.n_components_ = len(self.components_)
        self.n_discriminant_ = len(embedding.values)
        self.eigenvalues_ = embedding.values[:kept]
        self.background_ = weight
        self.ridge_ = rounds.ridge
        self.expert_weights_ = rounds.expert_weights
        self.label_confidence_ = rounds.F.astype(X.dtype, copy=False)
        self.objective_ = np.asarray(rounds.objective)
        self.n_iter_ = len(rounds.objective)
        return self

    def _components(
        self,
        basis: Basis,
        embedding: Embedding,
        F: Array,
        S: NDArray[np.bool_],
        search: Searcher,
    ) -> tuple[Array, Array, float]:
        """Directions (d, p), factors of the discriminant ones, background weight."""
        found = len(embedding.values)
        wanted = None if self.n_components == "auto" else self.n_components
        # A direction without signal is the only one left if none has any.
        kept = max(count_directions(np.maximum(embedding.values, 0), wanted), 1)
        size = background_size(basis.s, basis.total, S.shape[1])
        if wanted is not None:
            room = int(wanted) - found if isinstance(wanted, Integral) else 0
            size = min(size, max(room, 0))
        G = basis.U[:, :size] * basis.s[:size]
        w = self._background_weight(embedding.held_out, G, F, S, search)
        if isinstance(wanted, Integral) and kept + (w > 0) * size < wanted:
            self._warn_fewer(kept + (w > 0) * size)
        Z = (basis.U * basis.s) @ embedding.weights[:, :kept]
        P = basis.directions(embedding.weights[:, :kept])
        if w == 0:
            return P, np.ones(kept), w
        V = basis.directions(np.eye(len(basis.s), size)) / mean_norm(G)
        if w == 1:
            return V, np.ones(0), w
        factor = np.sqrt(1 - w) / mean_norm(Z)
        return np.hstack([factor * P, np.sqrt(w) * V]), np.full(kept, factor), w

    def _background_weight(
        self,
        Z: Array,
        G: Array,
        F: Array,
        S: NDArray[np.bool_],
        search: Searcher,
    ) -> float:
        if self.background == "none" or G.shape[1] == 0:
            return 0.0
        if self.background != "auto":
            return float(self.background)
        k, m = BACKGROUND_NEIGHBORS, len(Z)
        if m <= BACKGROUND_ROWS:
            return choose_background(Z, G, F, S, lambda A: search(A, k, "background"))
        rows = np.sort(self._rng().permutation(m)[:BACKGROUND_ROWS])

        def neighbors(A: Array) -> NDArray[np.int64]:
            return neighbors_of(A, rows, k, self.search, self.n_jobs)

        return choose_background(Z, G, F, S, neighbors, rows)

    def _rng(self) -> np.random.RandomState:
        """Draw always the same where no state is given."""
        state = 0 if self.random_state is None else self.random_state
        rng: np.random.RandomState = check_random_state(state)
        return rng

    def _warn_fewer(self, r: int) -> None:
        warnings.warn(
            f"Only {r} of n_components={self.n_components} directions carry held-out "
            f"signal or background; {r} are kept.",
            UserWarning,
            stacklevel=4,
        )


def check_informative(S: NDArray[np.bool_], classes: NDArray[Any], name: str) -> None:
    """Refuse candidate sets from which nothing can be learnt."""
    if S.shape[1] < 2:
        raise ValueError(
            f"{name} needs at least two classes; y has 1 class "
            f"({classes.tolist()[0]!r})."
        )
    if np.array_equal(S.all(axis=0), S.any(axis=0)):
        raise ValueError(
            "The candidate sets carry no information: all rows have the same one."
        )
