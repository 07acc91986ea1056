"""Leave-one-out ridge regressions in several geometries, pooled for each target."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed

from partlearn._array_api import (
    at_least,
    descending,
    eigh,
    is_numpy,
    like,
    namespace,
    softmax,
)
from partlearn._math.blocks import Rows, take
from partlearn._math.crossfit._bases import LinearBasis
from partlearn._math.crossfit._geometries import (
    GeometryName,
    fit_kernel,
    landmark_count,
    rows_of_kernels,
)
from partlearn._math.crossfit._kernels import KernelMap
from partlearn._math.crossfit._scores import LeaveOneOut
from partlearn._math.crossfit._space import InputSpace, LinearMap, input_space
from partlearn._sizes import SIZES
from partlearn._typing import Array

POWER = 4  # of the inverse held-out error: weight of a geometry for a target
_TINY = float(np.finfo(float).tiny)

Landmarks = int | Literal["auto"] | None


@dataclass(frozen=True)
class RidgeFit:
    """Regression of all targets in one geometry.

    Attributes
    ----------
    name : {"linear", "rbf", "laplacian"}
        The geometry.
    map : LinearMap or KernelMap
        Scores of new rows, without the means of the targets.
    held_out : ndarray of shape (m, q)
        Leave-one-out scores of the training rows, without the means.
    ridge : float
        Chosen ridge.
    bandwidth : float or None
        Width of the kernel.
    """

    name: GeometryName
    map: LinearMap | KernelMap
    held_out: Array
    ridge: float
    bandwidth: float | None


@dataclass(frozen=True)
class RidgePool:
    """Sum of regressions in several geometries, for new rows.

    Attributes
    ----------
    space : InputSpace
        Standardization of new rows.
    linear : LinearMap or None
        The linear geometry, weighted and projected to the leading directions.
    kernels : list of KernelMap
        The other geometries, likewise.
    means : ndarray of shape (q,)
        Means of the targets.
    """

    space: InputSpace
    linear: LinearMap | None
    kernels: list[KernelMap]
    means: Array

    def scores(self, X: Any) -> Array:
        """Scores of new rows, (n, q)."""
        rows = self.space.within_range(X)
        parts = [] if self.linear is None else [self.linear(X)]
        parts += [kernel(rows) for kernel in self.kernels]
        return sum(parts[1:], start=parts[0]) + self.means


def fit_ridges(
    X: Any,
    Y: Array,
    names: Sequence[GeometryName],
    *,
    n_landmarks: Landmarks,
    rng: np.random.RandomState,
    n_jobs: int | None = None,
) -> tuple[InputSpace, list[RidgeFit]]:
    """Regress centered targets on the rows in each geometry.

    Parameters
    ----------
    X : ndarray, CSR matrix or Rows, of shape (m, d)
        Training rows.
    Y : ndarray of shape (m, q)
        Targets; their columns sum to zero.
    names : sequence of {"linear", "rbf", "laplacian"}
        The geometries.
    n_landmarks : int, None or "auto"
        Landmarks of the kernels; None is exact.
    rng : RandomState
        Draws the landmarks and the rows that determine the bandwidths.
    n_jobs : int or None
        Threads, one geometry each; the result does not depend on it.

    Returns
    -------
    space : InputSpace
        Standardization of new rows.
    fits : list of RidgeFit
        In the order of the names.
    """
    space, rows, linear = input_space(X, rng, linear="linear" in names)
    m = rows.shape[0]
    count = landmark_count(m, n_landmarks)
    numbers = ridge_numbers(m, Y.shape[1], names, count, n_jobs)
    rows = rows_of_kernels(rows, names, count, numbers)
    sample = (
        rng.permutation(m)[: SIZES.width_rows] if m > SIZES.width_rows else np.arange(m)
    )
    landmarks = None if count is None else np.sort(rng.permutation(m)[:count])

    def fitted(name: GeometryName) -> RidgeFit:
        if name == "linear":
            assert linear is not None
            return _fit(name, linear, space, Y)
        width, basis = fit_kernel(name, rows, sample, take(Y, sample), landmarks)
        return _fit(name, basis, space, Y, width)

    parallel = Parallel(n_jobs=n_jobs, prefer="threads")
    return space, parallel(delayed(fitted)(name) for name in names)


def _fit(
    name: GeometryName,
    basis: Any,
    space: InputSpace,
    Y: Array,
    width: float | None = None,
) -> RidgeFit:
    """Choose the ridge of one geometry, and fit it."""
    model = LeaveOneOut(basis)
    C = model.project(Y)
    ridge = model.choose_ridge(Y, C)
    M = model.shrinkage(ridge)[1:, None] * C[1:, :] / basis.s[:, None]
    linear = isinstance(basis, LinearBasis)
    new = space.linear_map(basis.directions(M)) if linear else basis.map(M)
    return RidgeFit(name, new, Y - model.errors(Y, C, ridge), ridge, width)


def geometry_weights(errors: Array) -> Array:
    """Weights of the geometries for each target, from their held-out errors.

    Parameters
    ----------
    errors : ndarray of shape (n_geometries, q)
        Held-out squared errors.

    Returns
    -------
    weights : ndarray of shape (n_geometries, q)
        Proportional to ``errors^-4``; columns sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.crossfit._ridge_pool import geometry_weights
    >>> geometry_weights(np.array([[1.0, 0.0], [2.0, 0.0]])).round(3)
    array([[0.941, 0.5  ],
           [0.059, 0.5  ]])
    """
    logs = namespace(errors).log(at_least(errors, _TINY))
    return softmax(-POWER * logs.T).T


def leading_directions(G: Array, share: float) -> Array:
    """Return the fewest right singular vectors that hold a share of the squared sum.

    They are the columns of a (q, k) matrix; `G` (m, q) is measured from the means.
    """
    xp = namespace(G)
    if G.shape[0] < G.shape[1]:
        _, s, Vt = xp.linalg.svd(G, full_matrices=False)
        squares, V = s**2, Vt.T
    else:
        squares, V = descending(*eigh(G.T @ G))
        squares = at_least(squares, 0.0)
    held = xp.cumulative_sum(squares)
    k = int(xp.count_nonzero(held < share * held[-1])) + 1
    return V[:, : min(k, V.shape[1])]


def pool_ridges(
    space: InputSpace, fits: Sequence[RidgeFit], Y: Array, means: Array, rank: float
) -> tuple[RidgePool, Array, Array, int]:
    """Weight the geometries for each target, and keep the leading directions.

    Parameters
    ----------
    space, fits
        Of :func:`fit_ridges`.
    Y : ndarray of shape (m, q)
        Centered targets.
    means : ndarray of shape (q,)
        Their means.
    rank : float
        Share of the squared held-out scores in the kept directions; one keeps all.

    Returns
    -------
    pool : RidgePool
        Scores of new rows.
    scores : ndarray of shape (m, q)
        Held-out scores of the training rows.
    weights : ndarray of shape (n_geometries, q)
        Weights of the geometries.
    n_directions : int
        Directions kept.
    """
    xp = namespace(Y)
    errors = [xp.sum(xp.square(Y - fit.held_out), axis=0) for fit in fits]
    weights = geometry_weights(xp.stack(errors))
    each = [weights[g, :] for g in range(len(fits))]
    parts = [w * fit.held_out for w, fit in zip(each, fits, strict=True)]
    G = sum(parts[1:], start=parts[0])
    n_directions, project = G.shape[1], None
    if rank < 1:
        V = leading_directions(G, rank)
        n_directions, project = V.shape[1], V
        G = (G @ V) @ V.T
    maps = [_turned(fit.map, w, project) for w, fit in zip(each, fits, strict=True)]
    linear = [g for g in maps if isinstance(g, LinearMap)]
    kernels = [g for g in maps if isinstance(g, KernelMap)]
    pool = RidgePool(space, linear[0] if linear else None, kernels, means)
    return pool, G + means, weights, n_directions


def _turned(
    g: LinearMap | KernelMap, weights: Array, V: Array | None
) -> LinearMap | KernelMap:
    """Return a map whose values are weighted, then projected to directions."""

    def turn(A: Array) -> Array:
        return A * weights if V is None else ((A * weights) @ V) @ V.T

    if isinstance(g, LinearMap):
        return LinearMap(g.mean, turn(g.coef))
    return replace(g, coef=turn(g.coef), offset=turn(g.offset))


def ridge_numbers(
    m: int, q: int, names: Sequence[str], n_landmarks: int | None, n_jobs: int | None
) -> int:
    """Return the largest number of values that the kernels and scores hold at once."""
    kernels = sum(name != "linear" for name in names)
    at_once = min(kernels, max(n_jobs or 1, 1) if (n_jobs or 1) > 0 else kernels)
    if n_landmarks is None:
        each = 4 * m**2
    elif m > SIZES.exact_rows:
        kept = m * n_landmarks if m * n_landmarks <= SIZES.kernel_features else 0
        each = kept + 3 * SIZES.kernel_block_rows * n_landmarks + 4 * n_landmarks**2
    else:
        each = 3 * m * n_landmarks + 4 * n_landmarks**2
    return at_once * each + (len(names) + 4) * m * q


def centered(S: Array, reference: Any) -> tuple[Array, Array]:
    """Return targets where the rows are, centered, and their means."""
    means = S.mean(axis=0)
    Y = S - means
    if isinstance(reference, Rows) or is_numpy(reference):
        return Y, means
    return like(Y, reference), like(means, reference)
