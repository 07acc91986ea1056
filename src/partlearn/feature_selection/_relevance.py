"""Relevance of single features to the latent label: minus the conditional entropy.

Each class is a Gaussian over the rows that still favor it; Bayes' rule turns a value
of a feature into a distribution over the classes, and the mean entropy of that
distribution over the rows estimates H(c | f). All features are done in one pass over
blocks of columns; no array of size m x d x q exists.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray

from partlearn._extras import compiled_loops
from partlearn._sizes import SIZES, spans
from partlearn._typing import Array, Indices, Mask
from partlearn.feature_selection._columns import (
    DenseColumns,
    Parameters,
    Points,
    SparseColumns,
)

_ROUGHEST = 0.5  # floor of the spread from which single precision is enough
SINGLE_ERROR = 1e-6  # bound on the error of an entropy in single precision: 1.4e-7 seen


def membership(F: NDArray[Any], S: Mask) -> Mask:
    """Return the rows that favor a class: candidates with ``F >= 1 / |S_i|``.

    Source: SAUTE, rows that fit the density of a class.

    Parameters
    ----------
    F : ndarray of shape (m, q)
        Confidences, float64.
    S : ndarray of bool, shape (m, q)
        Candidates.

    Returns
    -------
    D : ndarray of bool, shape (m, q)
        A row may favor several classes, and favors at least one.
    """
    # Equality holds at the start and has to survive normalization.
    least = 1 / S.sum(axis=1, keepdims=True) - 1e-12
    return S & (least <= F)


def class_gaussians(
    count: Array, sums: Array, squares: Array, var_floor: float
) -> tuple[Array, Array]:
    """Mean and spread of standardized features inside the classes.

    Parameters
    ----------
    count : ndarray of shape (q,)
        Members of each class, all positive.
    sums, squares : ndarray of shape (b, q)
        Sums over the members.
    var_floor : float
        Least spread, as a share of the spread over all rows (which is one).

    Returns
    -------
    mean, std : ndarray of shape (b, q)
        Moments, ddof 1; a class of one member has the least spread.
    """
    mean = sums / count
    var = squares - sums * mean
    var[var <= 8 * np.finfo(np.float64).eps * squares] = 0.0  # round-off
    var /= np.maximum(count - 1, 1)
    var[:, count == 1] = 0.0
    return mean, np.maximum(np.sqrt(var), var_floor)


def posterior_entropy(x: Array, mean: Array, inverse: Array, offset: Array) -> Array:
    """Entropy, in nats, of the classes given a value, in the log domain.

    Source: SAUTE, Eq. (10).

    Parameters
    ----------
    x : ndarray
        Values.
    mean, inverse, offset : ndarray with one more leading axis of length q
        ``mu_l``, ``1 / (sqrt(2) sigma_l)`` and ``ln p(l) - ln sigma_l``.

    Returns
    -------
    entropy : ndarray, shape of `x`
        ``ln Z - sum_l e_l a_l / Z`` with ``a_l = offset_l - ((x - mu_l) inverse_l)^2``
        less its maximum, ``e_l = exp(a_l)`` and ``Z = sum_l e_l``.
    """
    a = x - mean
    a *= inverse
    a *= a
    np.subtract(offset, a, out=a)
    a -= a.max(axis=0)
    e = np.exp(a)
    Z = e.sum(axis=0)
    e *= a
    return np.log(Z) - e.sum(axis=0) / Z


def entropy_sums(
    values: Array, indptr: Indices, mean: Array, inverse: Array, offset: Array
) -> Array:
    """Sum of the posterior entropies over the points of each column: the NumPy path.

    Parameters
    ----------
    values, indptr : ndarray
        Points of the columns, see :class:`Points`.
    mean, inverse, offset : ndarray of shape (b, q)
        As in :func:`posterior_entropy`, one row per column.

    Returns
    -------
    sums : ndarray of shape (b,)
        Zero for a column without points.
    """
    b, q = mean.shape
    lengths = np.diff(indptr)
    step = max(1, SIZES.relevance_block // q)
    sums = np.zeros(b)
    if b and lengths[0] >= step and (lengths == lengths[0]).all():
        for j in range(b):  # long columns: the parameters need no gathering
            for start in range(indptr[j], indptr[j + 1], step):
                x = values[start : min(start + step, indptr[j + 1])]
                parameters = (p[j, :, None] for p in (mean, inverse, offset))
                sums[j] += posterior_entropy(x, *parameters).sum()
        return sums
    column = np.repeat(np.arange(b), lengths)
    transposed = [np.ascontiguousarray(p.T) for p in (mean, inverse, offset)]
    for some in spans(len(values), step):
        x, c = values[some], column[some]
        h = posterior_entropy(x, *(np.take(p, c, axis=1) for p in transposed))
        sums += np.bincount(c, weights=h, minlength=b)
    return sums


class Relevance:
    """Relevance of all features under one set of confidences.

    Parameters
    ----------
    columns : DenseColumns, SparseColumns, BlockColumns or ArrayColumns
        The data.
    F : ndarray of shape (m, q)
        Confidences, float64.
    S : ndarray of bool, shape (m, q)
        Candidates.
    var_floor : float
        Least spread of a class, as a share of the feature's spread.
    n_jobs : int, default=None
        Threads; the values do not depend on it.
    use_compiled : bool, default=None
        Whether to use the compiled loop. By default with numba, for large data.

    Attributes
    ----------
    values : ndarray of shape (d,)
        ``-H(c | f)`` in nats, none positive.
    error : float
        Bound on the error of `values`: zero in double precision.
    prior_entropy : float
        Entropy of the label without any feature.
    """

    def __init__(
        self,
        columns: Any,
        F: Array,
        S: Mask,
        *,
        var_floor: float,
        n_jobs: int | None = None,
        use_compiled: bool | None = None,
    ) -> None:
        D = membership(F, S)
        prior = F.mean(axis=0)
        active = D.any(axis=0) & (prior > 0)
        D, prior = D[:, active], prior[active]
        self._var_floor = var_floor
        self._log_prior = np.log(prior)
        self.prior_entropy = float(-(prior * self._log_prior).sum())
        self._count = D.sum(axis=0).astype(np.float64)
        if not isinstance(columns, (DenseColumns, SparseColumns)):  # rows are elsewhere
            parameters = self._parameters(*columns.class_sums(D))
            sums = columns.entropy_sums(parameters)
            self.error, self.values = 0.0, -sums / columns.shape[0]
            return
        self._columns = columns
        self._member_rows = sp.csr_array(D)
        points = columns.n_points
        if use_compiled is None:
            use_compiled = points * len(prior) > SIZES.relevance_compiled
        kernels = compiled_loops(__name__) if use_compiled else None
        self._kernels: Any = kernels
        # Few points per column of sparse data: double precision costs little there.
        single = kernels is not None and not columns.sparse and var_floor >= _ROUGHEST
        self.error = SINGLE_ERROR if single else 0.0
        self._n_jobs = n_jobs
        self.values = self._by_blocks(self._single if single else self.exact)

    values: Array

    @cached_property
    def _members(self) -> Any:
        """Return the membership as a (q, m) matrix, sparse if products are cheaper."""
        rows = self._member_rows
        few = rows.nnz < 0.25 * rows.shape[0] * rows.shape[1]
        members = rows.T.astype(np.float64)
        return sp.csr_array(members) if few else members.toarray()

    def refine(self) -> None:
        """Compute all values once more, in double precision."""
        self.error, self.values = 0.0, self._by_blocks(self.exact)

    def _by_blocks(self, compute: Callable[[Any], Array]) -> Array:
        parts = Parallel(n_jobs=self._n_jobs, prefer="threads")(
            delayed(compute)(block) for block in self._columns.blocks()
        )
        return np.concatenate(parts)

    def exact(self, which: Indices | slice) -> Array:
        """Give the values of some features in double precision."""
        points, sums, squares = self._columns.points_and_sums(which, self._members)
        parameters = self._parameters(sums, squares)
        total = entropies(points, parameters, self._kernels)
        return -total / self._columns.shape[0]

    def _single(self, block: slice) -> Array:
        at, kernels = self._columns, self._kernels
        points, sums, squares = kernels.points_and_sums(
            at.X,
            block.start,
            at.mean[block],
            at.inverse[block],
            self._member_rows.indptr,
            self._member_rows.indices,
            len(self._count),
        )
        parameters = self._parameters(sums.T, squares.T)
        indptr = np.arange(points.shape[0] + 1) * points.shape[1]
        total = kernels.entropy_sums_single(points.ravel(), indptr, *parameters)
        return -total / at.shape[0]

    def _parameters(self, sums: Array, squares: Array) -> Parameters:
        """Mean, inverse and offset of :func:`posterior_entropy`, each (b, q)."""
        mean, std = class_gaussians(self._count, sums, squares, self._var_floor)
        mean, std = np.ascontiguousarray(mean), np.ascontiguousarray(std)
        return mean, np.sqrt(0.5) / std, self._log_prior - np.log(std)


def entropies(points: Points, parameters: Parameters, kernels: Any = None) -> Array:
    """Sum of the posterior entropies over all points of columns, zeros included.

    Parameters
    ----------
    points : Points
        Of b columns.
    parameters : tuple of ndarray of shape (b, q)
        Mean, inverse and offset of :func:`entropy_sums`.
    kernels : module, default=None
        Compiled loops; without them NumPy's.

    Returns
    -------
    sums : ndarray of shape (b,)
        The sums.
    """
    kernel = entropy_sums if kernels is None else kernels.entropy_sums
    sums: Array = kernel(points.values, points.indptr, *parameters)
    if points.zeros is not None:
        assert points.zero is not None
        if kernels is None:
            at_zero = posterior_entropy(points.zero, *(p.T for p in parameters))
        else:  # one point a column
            at_zero = kernel(points.zero, np.arange(len(sums) + 1), *parameters)
        sums = sums + points.zeros * at_zero
    return sums


def block_entropies(points: Points, parameters: Parameters) -> Array:
    """Compute :func:`entropies` in double precision, compiled for large data."""
    worth = len(points.values) * parameters[0].shape[1] > SIZES.relevance_compiled
    kernels = compiled_loops(__name__) if worth else None
    return entropies(points, parameters, kernels)
