"""Base class of selectors: number of features, forced columns, selection."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from math import ceil
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from partlearn._array_api import is_numpy, namespace, same_namespace, take, where_true
from partlearn._math.blocks import lazy_rows
from partlearn._typing import Array, Indices, Mask
from partlearn.base._mixins import CandidateMixin, MemoryEstimateMixin
from partlearn.candidates import FLOATS, check_candidates

Columns = Sequence[Any] | NDArray[Any] | None


def count_features(wanted: float | int | None, d: int) -> int:
    """Count the features to keep.

    Parameters
    ----------
    wanted : int, float or None
        A number, a fraction (rounded up), or all.
    d : int
        Number of features.

    Returns
    -------
    n : int
        At least one, at most `d`.
    """
    if wanted is None:
        return d
    if isinstance(wanted, Integral):
        return min(int(wanted), d)
    # 0.35 * 20 is 7.000000000000001: do not round that up.
    return min(max(1, ceil(float(wanted) * d - 1e-9)), d)


def find_columns(
    wanted: Columns, d: int, names: NDArray[Any] | None, parameter: str
) -> Indices:
    """Return the indices of columns given by index, by name or as a mask.

    Parameters
    ----------
    wanted : sequence of int, str or bool, or None
        The columns.
    d : int
        Number of columns.
    names : ndarray of str or None
        Their names.
    parameter : str
        For messages.

    Returns
    -------
    indices : ndarray of int
        Distinct, in the order given.
    """
    if wanted is None or len(wanted) == 0:
        return np.empty(0, dtype=np.intp)
    array = np.asarray(wanted)
    if array.ndim != 1:
        raise ValueError(f"`{parameter}` must be a flat list of columns.")
    if array.dtype == bool:
        if len(array) != d:
            raise ValueError(
                f"`{parameter}` as a mask must have {d} entries, one per feature; got "
                f"{len(array)}."
            )
        return np.flatnonzero(array)
    if array.dtype.kind in "UO":
        if names is None:
            raise ValueError(
                f"`{parameter}` names columns, but X came without feature names; give "
                "indices."
            )
        position = {name: j for j, name in enumerate(names.tolist())}
        unknown = [name for name in array.tolist() if name not in position]
        if unknown:
            raise ValueError(
                f"`{parameter}` names {unknown[0]!r}, which is not a feature of X."
            )
        array = np.array([position[name] for name in array.tolist()])
    elif array.dtype.kind not in "iu":
        raise TypeError(
            f"`{parameter}` must hold indices, names or booleans; got "
            f"{array[0].item()!r}."
        )
    outside = array[(array < -d) | (array >= d)]
    if outside.size:
        raise ValueError(
            f"`{parameter}` has column {outside[0]}, but X has {d} features."
        )
    array = np.where(array < 0, array + d, array)
    _, first = np.unique(array, return_index=True)
    return array[np.sort(first)].astype(np.intp)


@lazy_rows
class BaseSelector(CandidateMixin, MemoryEstimateMixin, SelectorMixin, BaseEstimator):
    """Base class of feature selectors for candidate labels."""

    def _validate_unlabeled(self, X: Any, y: Any, **check_params: Any) -> Any:
        """Check rows, and the number of labels, which are not used."""
        with np.errstate(over="ignore", invalid="ignore"):  # in the sum of all values
            X = validate_data(
                self, X, accept_sparse="csr", dtype=FLOATS, **check_params
            )
        if y is not None:
            check_consistent_length(X, check_candidates(y)[1])
        return X

    def _limits(self) -> tuple[Indices, Indices, int]:
        """Return columns to keep, columns to leave out, and the number to select."""
        d, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
        keep = find_columns(self.must_keep, d, names, "must_keep")
        exclude = find_columns(self.exclude, d, names, "exclude")
        both = np.intersect1d(keep, exclude)
        if both.size:
            raise ValueError(f"Column {both[0]} is in both `must_keep` and `exclude`.")
        if len(exclude) == d:
            raise ValueError("`exclude` leaves no feature to select.")
        return keep, exclude, d - len(exclude)

    def _count(self, keep: Indices, available: int) -> int:
        n = min(
            count_features(self.n_features_to_select, self.n_features_in_), available
        )
        if len(keep) > n:
            raise ValueError(
                f"`must_keep` has {len(keep)} columns, more than the {n} that "
                f"n_features_to_select={self.n_features_to_select!r} allows."
            )
        return n

    def _select(self, order: Indices, scores: Array, exclude: Indices) -> None:
        """Store the selection: `order` best first, `scores` one per feature."""
        # The others follow by score, what was excluded comes last.
        excluded = np.zeros(len(scores), dtype=bool)
        excluded[exclude] = True
        rest = np.setdiff1d(np.arange(len(scores)), order)
        rest = rest[np.lexsort((rest, -scores[rest], excluded[rest]))]
        self._set_ranking(np.concatenate([order, rest]), len(order), scores)

    def _rank_all(self, scores: Array, ties: Indices) -> None:
        """Select by score; ties are broken by the least `ties`."""
        keep, exclude, available = self._limits()
        n = self._count(keep, available)
        group = np.zeros(len(scores), dtype=int)
        group[keep], group[exclude] = -1, 1
        self._set_ranking(np.lexsort((ties, -scores, group)), n, scores)

    def _set_ranking(self, order: Indices, n: int, scores: Array) -> None:
        """Store the ranking `order` and the selection of its first `n` features."""
        self.scores_, self.selected_ = scores, order[:n]
        self.support_ = np.zeros(len(order), dtype=bool)
        self.support_[self.selected_] = True
        self.ranking_ = np.empty(len(order), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(order) + 1)

    def _transform(self, X: Any) -> Any:
        """Select the columns of checked rows."""
        check_is_fitted(self)
        same_namespace(self, X, self.support_, "transform")
        if is_numpy(X):
            return super()._transform(X)
        return where_true(X, self.support_, axis=1)

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected columns back into their places, with zeros elsewhere.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_selected)
            Selected columns.

        Returns
        -------
        X : array of shape (n_samples, n_features)
            All columns.
        """
        support = self._get_support_mask()
        if is_numpy(support):
            return super().inverse_transform(X)
        xp = namespace(support)
        place = xp.cumulative_sum(xp.astype(support, xp.int64)) - 1
        columns = take(X, xp.where(support, place, 0), axis=1)
        return xp.where(support, columns, xp.zeros_like(columns))

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        mask: Mask = self.support_
        return mask
