"""Principal components before a reducer, with a number chosen without true labels."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from partlearn._math.blocks import refuse_blocks
from partlearn._math.crossfit import linear_basis
from partlearn._math.graphs import TiedNeighbors
from partlearn._math.linalg import fix_signs, leading_rank, settled_orders
from partlearn._progress import iterations
from partlearn._sizes import SIZES
from partlearn._sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from partlearn._typing import Array, Indices, Mask
from partlearn.base import PARAMETERS, BaseReducer, check_two_classes, validate_evidence
from partlearn.candidates import Evidence, refine
from partlearn.model_selection import held_out_hits

_GRID = 8  # numbers of components that "auto" tries


class TunedPCA(BaseReducer):
    """Principal component analysis before a reducer, with a tuned number of components.

    Published reducers overfit when there are few rows per feature. Leading principal
    components regularize them. The number of components is chosen by the candidate hits
    of nearest neighbors of held-out training rows in the reduced space. Neither true
    labels nor test rows are used.

    Parameters
    ----------
    reducer : linear reducer or None, default=None
        Reducer after the components, for example ``PLDA()``. None keeps the components
        themselves.
    n_components : "auto", int or sequence of int, default="auto"
        Number of principal components, or the numbers to choose from. "auto" tries
        eight, from half the number of classes up to all, evenly on a log scale.
    cv : int, default=3
        Number of folds. With more than 4000 rows and columns, only as many folds are
        used as hold out 5000 rows.
    n_neighbors : int, default=10
        Number of neighbors that classify a held-out row.
    standardize : bool, default=True
        Whether to scale the columns to variance one; they are always centered.
    random_state : int, RandomState instance or None, default=0
        Draws the folds.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Principal components and reducer as one map of the standardized data.
    n_principal_ : int
        Number of principal components chosen.
    grid_ : ndarray of int
        Numbers that were tried.
    hit_rates_ : ndarray of shape (len(grid_),)
        Weighted candidate hit rate of held-out rows for each number; empty for a single
        number.
    reducer_ : reducer or None
        The reducer, fitted on the components.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidences of the reducer; without one, of an update from the neighbors in the
        components.
    n_components_ : int
        Number of directions.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and scale of the training rows.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    CRISP : Regularized by leave-one-out scores instead.

    Notes
    -----
    A hit counts 1/(number of candidates), since large sets are hit by chance. The best
    rate is taken, and the smaller number of a tie. The smallest number within a
    standard error of the best cost up to .08 accuracy. The reducer is fitted ``cv``
    times for each number tried, and once more. Sparse data stay sparse up to the
    components.

    Folds depend on the content of the rows, not on their order.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.decomposition import CENDA, TunedPCA
    >>> X, y = make_blobs(120, n_features=30, centers=4, random_state=0)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> reducer = TunedPCA(CENDA(tol=0.01), n_components=[2, 5, 10])
    >>> reducer.fit(X, candidates).grid_
    array([ 2,  5, 10])
    >>> reducer.n_principal_  # two components part these classes as well as more
    2
    >>> reducer.transform(X).shape
    (120, 2)
    """

    _parameter_constraints = PARAMETERS | {
        "reducer": [HasMethods(["fit", "transform"]), None],
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto"}),
            "array-like",
        ],
    }

    def __init__(
        self,
        reducer: Any = None,
        *,
        n_components: Literal["auto"] | int | Sequence[int] = "auto",
        cv: int = 3,
        n_neighbors: int = 10,
        standardize: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.reducer = reducer
        self.n_components = n_components
        self.cv = cv
        self.n_neighbors = n_neighbors
        self.standardize = standardize
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Choose the number of components, then fit the reducer on them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes; see
            :func:`partlearn.candidates.check_evidence`.

        Returns
        -------
        self : TunedPCA
            The fitted reducer.
        """
        X, labels = validate_evidence(self, X, y, ensure_min_samples=2, blocks=True)
        S = labels.candidates
        check_two_classes(self.classes_, "TunedPCA")
        rng = check_random_state(self.random_state)
        basis, self.mean_, self.scale_ = linear_basis(
            X, scale=self.standardize, rank=None, rng=rng
        )
        self.grid_ = self._grid(len(basis.s), S.shape[1])
        self.hit_rates_ = np.empty(0)
        p = int(self.grid_[0])
        if len(self.grid_) > 1:
            refuse_blocks(
                X,
                "the number of components is chosen by neighbors of rows held out",
                "n_components to one number",
            )
            hits, held_out = self._held_out_hits(X, labels, rng)
            weight = held_out / S.sum(axis=1)
            self.hit_rates_ = hits @ weight / weight.sum()
            p = int(self.grid_[np.argmax(self.hit_rates_)])
        self.n_principal_ = p
        Z = basis.embedded(np.eye(len(basis.s), p))
        V = basis.directions(np.eye(len(basis.s), p))
        self.reducer_, self.label_confidence_ = None, None
        if self.reducer is None:
            F = labels.first_confidence(X.dtype)
            votes = TiedNeighbors(Z, self.n_neighbors)
            self.label_confidence_ = refine(F, votes(F), S)
            P = fix_signs(V).T
        else:
            Z = Z.astype(X.dtype, copy=False)
            self.reducer_ = clone(self.reducer).fit(Z, labels)
            if not hasattr(self.reducer_, "label_confidence_"):
                raise TypeError(
                    "TunedPCA needs a reducer that learns from candidate labels and "
                    f"keeps its `label_confidence_`; {type(self.reducer).__name__} "
                    "does not. Without a reducer TunedPCA is PCA alone."
                )
            self.label_confidence_ = self.reducer_.label_confidence_
            P = composed(self.reducer_, V)
        self.components_ = np.ascontiguousarray(P, dtype=X.dtype)
        self.n_components_ = len(self.components_)
        return self

    def _grid(self, rank: int, n_classes: int) -> Indices:
        wanted = self.n_components
        if isinstance(wanted, str):
            return dimension_grid(rank, n_classes)
        grid = np.unique(np.atleast_1d(np.asarray(wanted, dtype=int)))
        if grid.size == 0 or grid[0] < 1:
            raise ValueError(
                "`n_components` must hold one or more numbers of at least 1; got "
                f"{wanted!r}."
            )
        return np.unique(np.minimum(grid, rank))

    def _held_out_hits(
        self, X: Any, labels: Evidence, rng: np.random.RandomState
    ) -> tuple[Array, Mask]:
        """Return candidate hits by neighbors, (grid, m), and held-out rows, (m,)."""
        m = X.shape[0]
        hits = np.zeros((len(self.grid_), m))
        held_out = np.zeros(m, dtype=bool)
        enough = m if leading_rank(X.shape) is None else SIZES.tuned_pca_rows
        fold = np.empty(m, dtype=np.intp)
        order, _ = settled_orders(X, labels.weights)
        fold[order] = rng.permutation(m) % min(self.cv, m)
        for b in iterations("folds to choose n_components", int(fold.max()) + 1):
            held, kept = np.flatnonzero(fold == b), np.flatnonzero(fold != b)
            basis, mean, scale = linear_basis(
                X[kept], scale=self.standardize, rank=None, rng=rng
            )
            V = basis.directions(np.eye(len(basis.s)))
            # Test rows get the training rows' standardization.
            Q = X[held] @ (V / scale[:, None]) - mean @ (V / scale[:, None])
            Z = basis.rows
            for g, p in enumerate(self.grid_):
                hits[g, held] = self._hits(
                    Z[:, :p], Q[:, :p], labels[kept], labels[held].candidates
                )
            held_out[held] = True
            if np.count_nonzero(held_out) >= enough:
                break
        return hits, held_out

    def _hits(self, Z: Array, Q: Array, labels: Evidence, held: Mask) -> Array:
        F = labels.first_confidence()
        if self.reducer is not None:
            with warnings.catch_warnings():
                # The fit on all rows, which follows, reports what there is to report.
                warnings.simplefilter("ignore")
                reducer = clone(self.reducer).fit(Z, labels)
            Z, Q = reducer.transform(Z), reducer.transform(Q)
            F = reducer.label_confidence_
        return held_out_hits([(Z, Q)], F, held, self.n_neighbors)[0]


def dimension_grid(rank: int, n_classes: int) -> Indices:
    """Return numbers of components to try, evenly on a log scale up to all."""
    least = max(1, min(rank, max(2, (n_classes - 1) // 2)))
    return np.unique(np.round(np.geomspace(least, rank, _GRID)).astype(np.intp))


def composed(reducer: Any, V: Array) -> Array:
    """Compose projection on `V` (d, p) and reducer to directions (r, d)."""
    if getattr(reducer, "components_", np.empty((0, 0))).shape[1] != V.shape[1]:
        raise TypeError(
            f"TunedPCA needs a linear reducer with `components_`; "
            f"{type(reducer).__name__} has none for its {V.shape[1]} features."
        )
    return np.asarray((reducer.components_ / reducer.scale_) @ V.T)
