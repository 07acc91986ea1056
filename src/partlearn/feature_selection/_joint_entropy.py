"""Select features of maximal joint entropy."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partlearn._math.linalg import standardize
from partlearn._progress import iterations
from partlearn._sklearn_compat import StrOptions, fit_context
from partlearn._typing import Array, Indices
from partlearn.base import PARAMETERS, BaseSelector, Columns
from partlearn.feature_selection._columns import (
    N_BINS,
    DenseColumns,
    SparseColumns,
    columns,
    counts_log_counts,
)

_TIE = 1e-12


class MaxJointEntropy(BaseSelector):
    """Select features of maximal joint entropy, without labels.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=0.15
        Number of features, or their fraction (rounded up), or all.
    entropy : {"bins", "gaussian"}, default="bins"
        "bins" counts the joint cells of five bins per feature; "gaussian" takes the
        determinant of the correlation matrix.
    must_keep, exclude : sequence of int, str or bool, default=None
        Columns to select in any case, and columns never to select.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Indices of the selected features, best first.
    support_ : ndarray of bool, shape (n_features_in_,)
        Mask of the selected features.
    scores_ : ndarray of shape (n_features_in_,)
        "bins": entropy of each feature alone, in nats; "gaussian": unexplained variance
        of each standardized feature, given the features selected before it, or all
        selected ones.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    joint_entropy_ : ndarray of shape (n_selected,)
        Entropy of the first 1, 2, ... selected features, in nats; for "gaussian" up to
        a constant per feature.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    SAUTE : Selects by the information of features about the labels.

    Notes
    -----
    The paper states the criterion but no estimator. Binned entropy saturates at the
    logarithm of the number of rows when every row has a cell of its own, after few
    features. Then, as for all ties, the feature with the larger own entropy is taken,
    then the one with the lowest index.

    The gain of a feature never increases, so that most features are not evaluated in
    most steps. An evaluation costs O(m).

    References
    ----------
    Wei-Xuan Bao, Jun-Yi Hang and Min-Ling Zhang. Submodular Feature Selection for
    Partial Label Learning. KDD 2022, 26-34. https://doi.org/10.1145/3534678.3539292

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partlearn.feature_selection import MaxJointEntropy
    >>> X, _ = load_wine(return_X_y=True)
    >>> MaxJointEntropy(3).fit(X).selected_
    array([5, 3, 9])
    """

    _needs_labels = False
    # Of features with equal entropy the first is taken.
    _ties_follow = ("columns",)
    _parameter_constraints = PARAMETERS | {
        "entropy": [StrOptions({"bins", "gaussian"})],
    }

    def __init__(
        self,
        n_features_to_select: float | int | None = 0.15,
        *,
        entropy: str = "bins",
        must_keep: Columns = None,
        exclude: Columns = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.entropy = entropy
        self.must_keep = must_keep
        self.exclude = exclude

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Select the features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels, default=None
            Not used, but checked as the other selectors do.

        Returns
        -------
        self : MaxJointEntropy
            The fitted selector.
        """
        X = self._validate_unlabeled(X, y, ensure_min_samples=2)
        keep, exclude, available = self._limits()
        n = self._count(keep, available)
        if self.entropy == "bins":
            order, entropy, scores = binned_path(columns(X), n, keep, exclude)
        else:
            order, entropy, scores = gaussian_path(X, n, keep, exclude)
        self._select(order, scores, exclude)
        self.joint_entropy_ = entropy
        return self


Selection = tuple[Indices, Array, Array]


def binned_path(
    data: DenseColumns | SparseColumns, n: int, keep: Indices, exclude: Indices
) -> Selection:
    """Greedily maximize the entropy of the joint cells of binned features.

    Parameters
    ----------
    data : DenseColumns or SparseColumns
        The data.
    n : int
        Features to select.
    keep, exclude : ndarray of int
        Features to select first, and features to leave out.

    Returns
    -------
    order : ndarray of int, shape (n,)
        The features.
    joint : ndarray of shape (n,)
        Entropy of the first 1, 2, ... of them.
    own : ndarray of shape (d,)
        Entropy of each feature alone.
    """
    cells: DenseCells | SparseCells
    cells = DenseCells(data) if isinstance(data, DenseColumns) else SparseCells(data)
    own, most = cells.own, np.log(data.shape[0])
    alone = np.round(own, 12).tolist()  # ties shall not hang on the last digit
    others = np.ones(data.shape[1], dtype=bool)
    others[keep], others[exclude] = False, False
    order: list[int] = []
    joint: list[float] = []
    reached = 0.0
    steps = iterations("features", n)
    for group in (keep, np.flatnonzero(others)):
        queue = [(-float(own[f]), int(f)) for f in group]  # what it adds at most
        heapify(queue)
        while queue and len(order) < n:
            next(steps)
            fresh = {} if reached >= most - _TIE else _freshened(cells, queue)
            best = max(fresh.values(), default=0.0)
            if best <= _TIE:  # only ties are left, now and later
                rest = [*fresh, *(f for _, f in queue)]
                order += sorted(rest, key=lambda f: (-alone[f], f))
                joint += [reached] * len(rest)
                break
            tied = [f for f, gain in fresh.items() if gain >= best - _TIE]
            f = max(tied, key=lambda f: (alone[f], -f))
            reached += fresh[f]
            cells.split(f, fresh.pop(f))
            order.append(f)
            joint.append(reached)
            for other, gain in fresh.items():
                heappush(queue, (-gain, other))
    return np.array(order[:n], dtype=np.intp), np.array(joint[:n]), own


def _freshened(
    cells: DenseCells | SparseCells, queue: list[tuple[float, int]]
) -> dict[int, float]:
    """Yield features from the queue by decreasing upper bound, with their current gain.

    The queue holds the negative gains of their last evaluation.
    """
    best, fresh = -np.inf, {}
    while queue and -queue[0][0] >= best - 1e-9:  # bounds only fall
        bound, f = heappop(queue)
        fresh[f] = cells.gain(f) if bound < 0 else 0.0
        best = max(best, fresh[f])
    return fresh


def gaussian_path(X: Any, n: int, keep: Indices, exclude: Indices) -> Selection:
    """Greedily maximize the determinant of the correlations: pivoted Cholesky.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (m, d)
        The data.
    n : int
        Features to select.
    keep, exclude : ndarray of int
        Features to select first, and features to leave out.

    Returns
    -------
    order : ndarray of int, shape (n,)
        The features.
    joint : ndarray of shape (n,)
        Half the logarithm of the determinant of the first 1, 2, ... of them.
    left : ndarray of shape (d,)
        Variance of each feature not explained by those before it.
    """
    matrix, _, _ = standardize(X)
    m, d = matrix.shape
    unit = np.zeros((d, 1), dtype=matrix.dtype)

    def correlations(f: int) -> Array:
        unit[f] = 1
        column = matrix @ unit
        unit[f] = 0
        return matrix.transposed_matmul(column)[:, 0].astype(np.float64) / (m - 1)

    left = (columns(X).std > 0).astype(np.float64)
    factor = np.empty((n, d))
    open_ = np.ones(d, dtype=bool)
    open_[exclude] = False
    kept = np.zeros(d, dtype=bool)
    kept[keep] = True
    order, joint, total = np.empty(n, dtype=np.intp), np.empty(n), 0.0
    for p in iterations("features", n):
        allowed = np.where(kept & open_ if p < len(keep) else open_, left, -np.inf)
        f = int(np.argmax(allowed >= allowed.max() - 1e-10))
        order[p], open_[f] = f, False
        variance = max(left[f], 1e-12)
        row = correlations(f) - factor[:p].T @ factor[:p, f]
        factor[p] = row / np.sqrt(variance) if left[f] > 1e-10 else 0.0
        total += 0.5 * np.log(variance)
        joint[p] = total
        # Those already selected keep what they had when they were selected.
        left[open_] = np.maximum(left[open_] - factor[p, open_] ** 2, 0.0)
    return order, joint, left


def cell_entropy(keys: NDArray[np.int64]) -> float:
    """Return the entropy of the cells given by `keys`, in nats."""
    n = np.bincount(keys)
    return float(np.log(len(keys)) - counts_log_counts(n[n > 0]).sum() / len(keys))


class DenseCells:
    """Cells of the rows of dense data under the selected features.

    Parameters
    ----------
    data : DenseColumns
        The data.

    Attributes
    ----------
    own : ndarray of shape (d,)
        Entropy of each feature alone.
    """

    def __init__(self, data: DenseColumns) -> None:
        self._data = data
        self._cells = np.zeros(data.shape[0], dtype=np.int64)
        self._entropy = 0.0
        self.own = np.array([cell_entropy(self._keys(f)) for f in range(data.shape[1])])

    def _keys(self, f: int) -> NDArray[np.int64]:
        return self._cells * N_BINS + self._data.codes(np.array([f]))[0]

    def gain(self, f: int) -> float:
        """Entropy that a feature adds, never negative."""
        return max(cell_entropy(self._keys(f)) - self._entropy, 0.0)

    def split(self, f: int, gain: float, /) -> None:
        """Take a feature, which adds that much."""
        self._cells = np.unique(self._keys(f), return_inverse=True)[1]
        self._entropy += gain


class SparseCells:
    """Sparse `DenseCells`; only rows outside the bin of zero are moved."""

    def __init__(self, data: SparseColumns) -> None:
        m, d = data.shape
        self._rows, column, codes, _, counts = data.away()
        self._m, self._codes = m, codes.astype(np.int64)
        self._starts = np.append(0, np.cumsum(np.bincount(column, minlength=d)))
        self._cells = np.zeros(m, dtype=np.int64)
        self._sizes = np.zeros(m + 1, dtype=np.int64)
        self._sizes[0], self._n_cells = m, 1
        self.own: Array = np.log(m) - counts_log_counts(counts).sum(axis=1) / m

    def _parts(self, f: int) -> tuple[NDArray[np.int64], ...]:
        """Return rows that leave their cell, their parts, part sizes, and cells left.

        The last result is the number of rows that leave each of these cells.
        """
        entries = slice(self._starts[f], self._starts[f + 1])
        rows = self._rows[entries]
        cells = self._cells[rows]
        keys, part, sizes = np.unique(
            cells * N_BINS + self._codes[entries],
            return_inverse=True,
            return_counts=True,
        )
        left, owner = np.unique(keys // N_BINS, return_inverse=True)
        leaving = np.bincount(owner, weights=sizes).astype(np.int64)
        return rows, part, sizes, left, leaving

    def gain(self, f: int) -> float:
        """Entropy that a feature adds, never negative."""
        _, _, sizes, left, leaving = self._parts(f)
        before = self._sizes[left]
        change = counts_log_counts(before).sum() - counts_log_counts(sizes).sum()
        change -= counts_log_counts(before - leaving).sum()
        return max(float(change) / self._m, 0.0)

    def split(self, f: int, _gain: float, /) -> None:
        """Take a feature."""
        rows, part, sizes, left, leaving = self._parts(f)
        self._sizes[left] -= leaving
        end = self._n_cells + len(sizes)
        if end > len(self._sizes):
            more = np.zeros(max(len(self._sizes), len(sizes)), dtype=np.int64)
            self._sizes = np.append(self._sizes, more)
        self._sizes[self._n_cells : end] = sizes
        self._cells[rows] = self._n_cells + part
        self._n_cells = end
