"""Iterations of selection and update, shared by SAUTE and maximum relevance."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from partlearn._array_api import is_numpy, like, namespace, to_numpy
from partlearn._math.blocks import Rows, refuse_blocks
from partlearn._math.graphs import TiedNeighbors, vote_weights
from partlearn._math.neighbors import reference_rows
from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, StrOptions, fit_context
from partlearn._typing import Array, Indices, Mask
from partlearn.base import (
    COUNT,
    PARAMETERS,
    BaseSelector,
    check_two_classes,
    count_features,
    validate_evidence,
)
from partlearn.candidates import Evidence, refine, warn_at_max_iter
from partlearn.feature_selection._columns import DenseColumns, SparseColumns, columns
from partlearn.feature_selection._distant_columns import ArrayColumns, BlockColumns
from partlearn.feature_selection._greedy import (
    CRITERIA,
    SelectionPath,
    greedy_path,
    relevance_only,
)
from partlearn.feature_selection._redundancy import AnyColumns, Redundancy
from partlearn.feature_selection._relevance import Relevance
from partlearn.model_selection import held_out_hits, one_standard_error_rule

FRACTIONS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)


class ConfidenceSelector(BaseSelector):
    """Selector that alternates between selection and update of the confidences."""

    _parameter_constraints = PARAMETERS | {
        "n_features_to_select": [*COUNT, StrOptions({"auto"})],
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "var_floor": [Interval(Real, 0, None, closed="neither")],
        "normalize_sums": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Select features and learn the confidences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes, which initialize the confidences; see
            :func:`partlearn.candidates.check_evidence`. Weights and votes are not part
            of the published method.

        Returns
        -------
        self : selector
            The fitted selector.
        """
        # Maximum relevance has nothing to choose from.
        given = getattr(self, "criterion", relevance_only)
        criterion = CRITERIA[given] if isinstance(given, str) else given
        X, labels = validate_evidence(self, X, y, ensure_min_samples=2, blocks=True)
        check_two_classes(labels.classes, type(self).__name__)
        keep, exclude, available = self._limits()
        limits = {"criterion": criterion, "keep": keep, "exclude": exclude}
        length = None
        self._forget("sizes_", "hit_rates_")
        if isinstance(self.n_features_to_select, str):
            refuse_blocks(
                X,
                'n_features_to_select="auto" tries sizes on rows held out',
                "n_features_to_select to a number or a share",
            )
            if not is_numpy(X):
                raise ValueError(
                    'n_features_to_select="auto" needs NumPy arrays; give a number or '
                    "a share, or move X to the host."
                )
            n = self._choose(X, labels, available, limits)
        elif self.n_features_to_select is None:
            n, length = self._usual(keep, available), available
        else:
            n = self._count(keep, available)
        data: Any
        if not is_numpy(X):
            data = ArrayColumns(X)
        else:
            data = BlockColumns(X) if isinstance(X, Rows) else columns(X)
        path, F, n_iter, settled = self._alternate(data, labels, n, length, limits)
        if not settled:
            warn_at_max_iter(
                self.max_iter,
                "The selection still changes",
                "the features are usable, as published; raise `max_iter` to let the "
                "iterations settle, or set alpha=0 to do without voting",
            )
        self._select(path.order, path.scores, exclude)
        self.relevance_, self.redundancy_ = path.relevance, path.redundancy
        self.label_confidence_ = namespace(F).astype(F, X.dtype, copy=False)
        self.n_iter_ = n_iter
        if not is_numpy(X):
            for name in ("selected", "support", "scores", "ranking"):
                setattr(self, f"{name}_", like(getattr(self, f"{name}_"), X))
            self.relevance_ = like(self.relevance_, X)
            self.redundancy_ = like(self.redundancy_, X)
        return self

    def _usual(self, keep: Indices, available: int) -> int:
        """Return the default number of features."""
        return min(max(count_features(0.15, self.n_features_in_), len(keep)), available)

    def _choose(
        self, X: Any, labels: Evidence, available: int, limits: dict[str, Any]
    ) -> int:
        """Choose the smallest size that is not clearly worse than the best."""
        sizes = sizes_to_try(self.n_features_in_, len(limits["keep"]), available)
        m = X.shape[0]
        order = check_random_state(self.random_state).permutation(m)
        n_held = min(max(1, round(self.validation_fraction * m)), m - 2)
        if n_held < 1 or len(sizes) == 1:
            self.sizes_, self.hit_rates_ = sizes[:1], np.full(1, np.nan)
            return int(sizes[0])
        held, kept = np.sort(order[:n_held]), np.sort(order[n_held:])
        data = columns(X[kept])
        longest = int(sizes[-1])
        start = min(self._usual(limits["keep"], available), longest)
        path, F, _, _ = self._alternate(data, labels[kept], start, longest, limits)
        S, scaled = labels[held].candidates, self.standardize
        hits = try_sizes(data, F, path.order, sizes, scaled, X[held], S)
        self.sizes_, weight = sizes, 1.0 / S.sum(axis=1)
        self.hit_rates_ = hits @ weight / weight.sum()
        return int(sizes[one_standard_error_rule(hits, weight)])

    def _alternate(
        self,
        data: AnyColumns,
        labels: Evidence,
        n: int,
        length: int | None,
        limits: dict[str, Any],
    ) -> tuple[SelectionPath, Any, int, bool]:
        """Alternate between selection and update until the selection stays the same.

        Source: SAUTE, pseudo-code in Table 1.

        One iteration is enough if `n` is the number of all features that may be
        selected. The path of the last iteration continues to `length` features. Returns
        the last path, by :func:`greedy_path` within `limits`, the confidences after it,
        the number of iterations, and whether they converged.
        """
        S: Any = labels.candidates
        F: Any = labels.first_confidence()
        if isinstance(data, ArrayColumns):
            S, F = like(S.astype(np.float64), data.X), like(F, data.X)
        alone = limits["criterion"] is relevance_only
        redundancy = None if alone else Redundancy(data)
        settled = n == data.shape[1] - len(limits["exclude"])
        chosen: Indices | None = None
        votes: Any = None
        reference = reference_rows(F.shape[0], self.n_reference)

        for n_iter in iterations("selection", self.max_iter, start=1):  # noqa: B007
            before, used = chosen, to_numpy(F)
            relevance = Relevance(
                data,
                used,
                labels.candidates,
                var_floor=self.var_floor,
                n_jobs=self.n_jobs,
            )
            path = greedy_path(relevance, redundancy, used, n, **limits)
            chosen = np.sort(path.order)
            if before is None or not np.array_equal(chosen, before):
                Z = data.scaled(chosen, self.standardize)
                votes = TiedNeighbors(
                    Z,
                    self.n_neighbors,
                    reference=reference,
                    warm_start=None if votes is None else votes.neighbors,
                    # Sparse rows that have ties in some columns have them in others.
                    tied=data.sparse and votes is not None and votes.tied,
                    share=getattr(self, "ties", "share") == "share",
                    n_jobs=self.n_jobs,
                )
            else:  # the same columns, hence the same neighbors
                settled = True
            F = self._voted(F, S, votes)
            if settled:
                break
        if reference is not None and not data.sparse:
            votes = TiedNeighbors(
                Z, self.n_neighbors, reference="cells", n_jobs=self.n_jobs
            )
            F = self._voted(F, S, votes)
        longest = max(n, length or 0)
        rough = bool(relevance.error)
        if rough:  # so that scores are those of blocks to the last digits
            relevance.refine()
        if rough or longest > n:
            path = greedy_path(relevance, redundancy, used, longest, **limits)
        return path, F, n_iter, settled

    def _voted(self, F: NDArray[Any], S: Mask, votes: TiedNeighbors) -> NDArray[Any]:
        """Mix confidences with sums over neighbors: ``(1 - alpha) F + alpha V``.

        Source: SAUTE, Eq. (14).
        """
        V = self.alpha * votes(F)
        if self.normalize_sums:
            V /= float(vote_weights(min(self.n_neighbors, F.shape[0] - 1)).sum())
        return refine(F, V, S, own=1 - self.alpha)


def sizes_to_try(d: int, least: int, most: int) -> Indices:
    """Return sizes from `least` to `most`, up to three fifths of the `d` features."""
    sizes = np.ceil(np.array(FRACTIONS) * d - 1e-9)
    return np.unique(np.clip(sizes, max(1, least), most).astype(np.intp))


def try_sizes(
    data: DenseColumns | SparseColumns,
    F: NDArray[Any],
    order: Indices,
    sizes: Indices,
    standardize: bool,
    X: Any,
    S: Mask,
) -> Array:
    """Return candidate hits by neighbors of held-out rows `X`, (n_sizes, len(X)).

    Neighbors are searched among the training rows `data` in the first features of
    `order`.
    """
    spaces = (
        (data.scaled(order[:n], standardize), data.scaled(order[:n], standardize, X))
        for n in sizes
    )
    return held_out_hits(spaces, F, S)
