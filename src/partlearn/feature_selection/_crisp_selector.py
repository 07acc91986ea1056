"""CRISPSelector: features that explain cross-fitted confidences together."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from partlearn._math.crossfit import (
    Iterations,
    LeaveOneOut,
    NeighborSearch,
    crisp_iterations,
    linear_basis,
    make_labels,
    targets,
)
from partlearn._math.linalg import (
    Standardized,
    column_moments,
    drawn_order,
    standardize,
)
from partlearn._sklearn_compat import StrOptions, fit_context
from partlearn._typing import Array, Indices
from partlearn.base import (
    COUNT,
    PARAMETERS,
    BaseSelector,
    check_informative,
    validate_evidence,
)
from partlearn.candidates import Evidence, warn_at_max_iter
from partlearn.feature_selection._columns import columns
from partlearn.feature_selection._confidence_selector import sizes_to_try, try_sizes
from partlearn.model_selection import one_standard_error_rule

_DAMPING = 0.01  # added to the mean square of a column: little is left, little is won
_EXPLAINED = 1e-9  # mean square below which a column repeats the selected ones
_HELD_OUT = 0.25  # share of the rows by which "auto" chooses


class CRISPSelector(BaseSelector):
    """Select the features that together explain the confidences of CRISP best.

    The confidences come from :class:`~partlearn.decomposition.CRISP`, whose held-out
    scores do not depend on the row's own candidates. Features are then selected one by
    one. Each step takes the feature that explains most of the residual of all labels,
    after projecting out the selected features.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=0.15
        Number of features, or their fraction (rounded up), or all. "auto" holds out a
        quarter of the rows and tries up to three fifths of the features. It takes the
        smallest number whose candidate hit rate, by neighbors, is close to the best
        one.
    n_neighbors : int, default=8
        Number of neighbors.
    standardize : bool, default=True
        Whether to scale the columns to variance one; they are always centered.
    max_iter : int, default=20
        Maximum number of iterations.
    tol : float, default=1e-3
        Stop when no confidence changes by more, or earlier, when two iterations in a
        row change the most likely label of at most one row in two hundred. With 0 all
        iterations are run.
    random_state : int, RandomState instance or None, default=0
        Draws the rows held out by "auto", and the reference rows of large data.
    must_keep : sequence of int, str or bool, default=None
        Columns that are selected before any other, by index, name or as a mask.
    exclude : sequence of int, str or bool, default=None
        Columns that are never selected; the confidences still use them.
    search : neighbor transformer, default=None
        Neighbor search; see :class:`~partlearn.decomposition.CRISP`.
    n_jobs : int or None, default=None
        Threads of the neighbor search; the result does not depend on it.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns, in the order of their selection.
    support_ : ndarray of bool, shape (n_features,)
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Gain of each feature when it was selected; for the others, the gain at the end.
    ranking_ : ndarray of int, shape (n_features,)
        Rank of each feature; 1 was selected first. Other features follow by score.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    n_iter_ : int
        Number of iterations for the confidences.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    partlearn.decomposition.CRISP : Projection by the same confidences.

    Notes
    -----
    A method of this library, without a paper. A feature that is explained by the
    selected ones is selected only if no other has a gain; constant features come last.
    Once the confidences are known, each selection costs one pass over the data. Sparse
    data stay sparse. Of more than 25,000 rows, 4,000 drawn at random are those among
    which neighbors are searched, as in :class:`~partlearn.decomposition.CRISP`.

    The result does not depend on the order of the rows.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.feature_selection import CRISPSelector
    >>> X, y = make_blobs(120, n_features=6, centers=4, random_state=0)
    >>> X[:, 1] = X[:, 0]  # repeats another feature
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> selector = CRISPSelector(3).fit(X, candidates)
    >>> 1 in selector.selected_
    False
    >>> selector.transform(X).shape
    (120, 3)
    """

    _parameter_constraints = PARAMETERS | {
        "n_features_to_select": [*COUNT, StrOptions({"auto"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = 0.15,
        *,
        n_neighbors: int = 8,
        standardize: bool = True,
        max_iter: int = 20,
        tol: float = 1e-3,
        random_state: Any = 0,
        must_keep: Any = None,
        exclude: Any = None,
        search: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.must_keep = must_keep
        self.exclude = exclude
        self.search = search
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the confidences, then pick features.

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
        self : CRISPSelector
            The fitted selector.
        """
        X, labels = validate_evidence(self, X, y, ensure_min_samples=2)
        check_informative(labels.weights, self.classes_, type(self).__name__)
        keep, exclude, available = self._limits()
        if self.n_features_to_select == "auto":
            n = self._choose(X, labels, keep, exclude, available)
        else:
            n = self._count(keep, available)
        state, pursuit = self._path(X, labels, n, keep, exclude)
        if not state.converged:
            warn_at_max_iter(self.max_iter)
        self.label_confidence_ = state.F
        self.n_iter_ = len(state.objective)
        self._select(pursuit.order, pursuit.gains, exclude)
        return self

    def _path(
        self, X: Any, labels: Evidence, n: int, keep: Indices, exclude: Indices
    ) -> tuple[Iterations, Pursuit]:
        """Return confidences of some rows, and the first `n` selected features."""
        rng = check_random_state(self.random_state)
        basis, _, _ = linear_basis(X, scale=self.standardize, rank=None, rng=rng)
        order = drawn_order(X, labels.weights, rng)
        state = crisp_iterations(
            LeaveOneOut(basis),
            make_labels(labels, X),
            NeighborSearch.among(order, "auto", self.search, self.n_jobs),
            n_neighbors=self.n_neighbors,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        state = replace(state, F=state.F.astype(X.dtype, copy=False))
        X = X.astype(np.float64, copy=False)
        matrix, _, scale = standardize(X, center=True, scale=self.standardize)
        squares = (X.shape[0] - 1) * np.square(column_moments(X)[1] / scale)
        Y = targets(state.F.astype(np.float64)) / np.sqrt(X.shape[0])
        return state, matching_pursuit(
            matrix, squares, Y, n, first=keep, exclude=exclude
        )

    def _choose(
        self, X: Any, labels: Evidence, keep: Indices, exclude: Indices, available: int
    ) -> int:
        """Choose a size by the candidate hit rate of neighbors on held-out rows."""
        sizes = sizes_to_try(X.shape[1], len(keep), available)
        if len(labels) < 4:  # too few to hold any out
            return int(sizes[0])
        rng = check_random_state(self.random_state)
        order = drawn_order(X, labels.weights, rng)
        n_held = round(_HELD_OUT * len(labels))
        held, rest = np.sort(order[:n_held]), np.sort(order[n_held:])
        state, pursuit = self._path(
            X[rest], labels[rest], int(sizes[-1]), keep, exclude
        )
        S = labels[held].candidates
        data, scaled = columns(X[rest]), self.standardize
        hits = try_sizes(data, state.F, pursuit.order, sizes, scaled, X[held], S)
        return int(sizes[one_standard_error_rule(hits, 1.0 / S.sum(axis=1))])


class Pursuit(NamedTuple):
    """Columns in the order of selection, and the gain of every column.

    The gain of a selected column is from its step, other gains are from the end.
    """

    order: Indices
    gains: Array


def matching_pursuit(
    X: Standardized,
    squares: Array,
    Y: Array,
    n_features: int,
    *,
    first: Indices | None = None,
    exclude: Indices | None = None,
) -> Pursuit:
    """Select the columns that together explain all targets, one after the other.

    Source: CRISPSelector, matching pursuit.

    Parameters
    ----------
    X : Standardized
        Centered data, m x d, float64.
    squares : ndarray of shape (d,)
        Sum of squares of each column.
    Y : ndarray of shape (m, q)
        Centered targets.
    n_features : int
        Number of columns to pick.
    first : ndarray of int, default=None
        Columns to pick before any other, in this order.
    exclude : ndarray of int, default=None
        Columns never to pick.

    Returns
    -------
    pursuit : Pursuit
        The order and the gains. Columns without a gain follow by their relevance alone,
        constant ones last.

    Notes
    -----
    The gain of a column is ``||x'Y||^2 / (||x||^2 + 0.01 m)``, where x is the residual
    of the column after projection on the selected ones. The part of the targets along
    the selected columns is orthogonal to it, so that neither data nor targets are
    deflated: ``x'Y`` and ``||x||^2`` of all columns are updated by one product of the
    data with the new direction. Sparse data stay sparse. A step costs a pass over the
    data and O(d q + m n_features).
    """
    m, d = X.shape
    inner = X.transposed_matmul(Y)
    left = squares.astype(np.float64, copy=True)
    alone = np.square(inner).sum(axis=1) / (left + _DAMPING * m)
    gains = np.zeros(d)
    free = np.ones(d, dtype=bool)
    if exclude is not None:
        free[exclude] = False
    forced = [] if first is None else list(first)
    directions = np.empty((m, min(n_features, m)))
    n_directions = 0
    order: list[int] = []
    while len(order) < n_features:
        current = np.square(inner).sum(axis=1) / (left + _DAMPING * m)
        useful = free & (left > _EXPLAINED * m)
        if forced:
            f = forced.pop(0)
        elif useful.any():
            f = int(np.argmax(np.where(useful, current, -np.inf)))
        else:
            break
        order.append(f)
        gains[f] = current[f] if useful[f] else 0.0
        free[f] = False
        v = _column(X, f)
        known = directions[:, :n_directions]
        for _ in range(2):  # twice is enough for orthogonality to round-off
            v = v - known @ (known.T @ v)
        length = np.linalg.norm(v)
        if length**2 <= _EXPLAINED * m:
            continue  # a column that had to be picked, and adds nothing
        v /= length
        directions[:, n_directions] = v
        n_directions += 1
        shares = X.transposed_matmul(v[:, None])[:, 0]
        inner -= np.outer(shares, v @ Y)
        left = np.maximum(left - shares**2, 0.0)
    rest = np.flatnonzero(free)
    useful = free & (left > _EXPLAINED * m)
    current = np.square(inner).sum(axis=1) / (left + _DAMPING * m)
    gains[useful] = current[useful]
    # Nothing adds anything any more: by relevance alone, then by index.
    rest = rest[np.lexsort((rest, -alone[rest], squares[rest] == 0))]
    order += rest[: n_features - len(order)].tolist()
    return Pursuit(np.asarray(order, dtype=np.intp), gains)


def _column(X: Standardized, f: int) -> Array:
    if X.dense is not None:
        return np.array(X.dense[:, f], dtype=np.float64)
    unit = np.zeros((X.shape[1], 1))
    unit[f] = 1.0
    return np.asarray((X @ unit)[:, 0])
