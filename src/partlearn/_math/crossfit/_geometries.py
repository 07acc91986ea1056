"""Geometries in which rows are scored: linear, Gaussian and Laplacian."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from partlearn._array_api import is_numpy, like, namespace
from partlearn._math.blocks import Rows, in_blocks, refuse_blocks, take
from partlearn._math.crossfit._bases import LinearBasis
from partlearn._math.crossfit._embedding import Embedding
from partlearn._math.crossfit._kernels import (
    ExactKernelBasis,
    Kernel,
    KernelMap,
    NystroemBasis,
    exact_kernel_basis,
    median_distance,
    nystroem_basis,
)
from partlearn._math.crossfit._scores import PRESS_ROWS, LeaveOneOut, targets
from partlearn._math.crossfit._space import InputSpace, LinearMap
from partlearn._math.linalg import GIB, too_large
from partlearn._progress import iterations
from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices

GeometryName = Literal["linear", "rbf", "laplacian"]
GEOMETRIES: tuple[GeometryName, ...] = ("linear", "rbf", "laplacian")

LANDMARKS = 1000  # landmarks that "auto" takes above
WIDTHS = (0.25, 0.5, 1.0, 2.0)  # multiples of the median distance to choose from
WORK_ARRAYS = 12  # arrays of rows x labels that a fit has beside the experts' beliefs


@dataclass(frozen=True)
class Geometry:
    """One geometry: its leave-one-out regressions and its map of new rows.

    Attributes
    ----------
    name : {"linear", "rbf", "laplacian"}
        The geometry.
    model : LeaveOneOut
        Regressions on its basis.
    space : InputSpace
        Standardization of new rows.
    bandwidth : float or None
        Width of the kernel.
    weights : ndarray of shape (p,) or None
        Weights of the columns in the kernel.
    """

    name: GeometryName
    model: LeaveOneOut
    space: InputSpace
    bandwidth: float | None = None
    weights: Array | None = None

    def map(self, embedding: Embedding) -> LinearMap | KernelMap:
        """Return one map for the scores and the embedding of new rows."""
        parts = [embedding.score_weights, embedding.weights]
        M = namespace(*parts).concat(parts, axis=1)
        basis = self.model.basis
        if isinstance(basis, LinearBasis):
            return self.space.linear_map(basis.directions(M))
        assert isinstance(basis, ExactKernelBasis | NystroemBasis)
        return replace(basis.map(M), weights=self.weights)


def make_geometries(
    names: Sequence[GeometryName],
    space: InputSpace,
    rows: Array | Rows,
    linear: LinearBasis | None,
    F: Array,
    order: Indices,
    *,
    n_landmarks: int | Literal["auto"] | None,
    weights: Mapping[GeometryName, Array | None] = MappingProxyType({}),
) -> list[Geometry]:
    """Decompose the rows in each geometry.

    Parameters
    ----------
    names : sequence of {"linear", "rbf", "laplacian"}
        The geometries.
    space : InputSpace
        Standardization.
    rows : ndarray or Rows of shape (m, p)
        Training rows in the input space.
    linear : LinearBasis or None
        Decomposition of the data, if the linear geometry is among the names.
    F : ndarray of shape (m, q)
        First confidences, by which the bandwidths are chosen.
    order : ndarray of int, shape (m,)
        Rows in random order: the first choose the bandwidth and are landmarks, the
        last choose the ridge.
    n_landmarks : int, None or "auto"
        Landmarks of the kernels; None is exact.
    weights : mapping of name to ndarray of shape (p,) or None, optional
        Further weights of the columns in each kernel.

    Returns
    -------
    geometries : list of Geometry
        In the order of the names.
    """
    m = rows.shape[0]
    count = landmark_count(m, n_landmarks)
    numbers = pool_numbers(m, F.shape[1], names, count)
    rows = rows_of_kernels(rows, names, count, numbers)
    sample = order[: SIZES.width_rows] if m > SIZES.width_rows else np.arange(m)
    Y = targets(take(F, sample))
    chosen_by = None if m <= PRESS_ROWS else np.sort(order[-PRESS_ROWS:])
    landmarks = None if count is None else np.sort(order[:count])
    geometries = []
    for i in iterations("geometries", len(names)):
        name = names[i]
        if name == "linear":
            assert linear is not None
            geometries.append(Geometry(name, LeaveOneOut(linear, chosen_by), space))
            continue
        own = weights.get(name)
        width, basis = fit_kernel(name, rows, sample, Y, landmarks, weights=own)
        model = LeaveOneOut(basis, chosen_by)
        geometries.append(Geometry(name, model, space, width, own))
    return geometries


def rows_of_kernels(
    rows: Array | Rows, names: Sequence[str], n_landmarks: int | None, numbers: int
) -> Array | Rows:
    """Return the rows of kernels, if any: in memory where the kernels are exact.

    A fit that would not fit into memory is refused by its `numbers`.
    """
    if all(name == "linear" for name in names):
        return rows
    if isinstance(rows, Rows) and n_landmarks is None:
        if rows.shape[0] > SIZES.exact_kernel_rows:
            refuse_blocks(rows, "exact kernels are of all pairs of rows", "n_landmarks")
        rows = take(rows, np.arange(rows.shape[0]))
    if not isinstance(rows, Rows) and is_numpy(rows):
        check_memory(numbers, rows.shape[0], names, n_landmarks)
    return rows


def fit_kernel(
    kernel: Kernel,
    rows: Array | Rows,
    sample: Indices,
    Y: Array,
    landmarks: Indices | None,
    *,
    weights: Array | None = None,
) -> tuple[float, ExactKernelBasis | NystroemBasis]:
    """Choose the bandwidth by some rows, then decompose all of them.

    Parameters
    ----------
    kernel : {"rbf", "laplacian"}
        The kernel.
    rows : ndarray or Rows of shape (m, p)
        Training rows in the input space.
    sample : ndarray of int, shape (n,)
        Rows that choose.
    Y : ndarray of shape (n, q)
        Their targets.
    landmarks : ndarray of int or None
        Landmarks; None for an exact kernel.
    weights : ndarray of shape (p,), default=None
        Weights of the columns.

    Returns
    -------
    width : float
        The bandwidth.
    basis : ExactKernelBasis or NystroemBasis
        The basis; features of many rows in memory are computed block by block.
    """
    m = rows.shape[0]
    chosen = _weighted(take(rows, sample), weights)
    width, basis = choose_bandwidth(kernel, chosen, Y)
    if landmarks is not None:
        marks, kept = _weighted(take(rows, landmarks), weights), False
        if isinstance(rows, np.ndarray) and by_block(m):
            rows = in_blocks(rows, SIZES.kernel_block_rows)
            kept = keeps_features(m, len(landmarks))
        rows = _weighted(rows, weights)
        return width, nystroem_basis(kernel, rows, width, marks, keep=kept)
    if m > len(sample):
        assert not isinstance(rows, Rows)  # refused before
        return width, exact_kernel_basis(kernel, _weighted(rows, weights), width)
    return width, basis


def _weighted(rows: Any, weights: Array | None) -> Any:
    """Multiply the columns by their weights."""
    if weights is None:
        return rows
    if isinstance(rows, Rows):
        return rows.apply(partial(np.multiply, weights), n_features=len(weights))
    return rows * like(weights, rows)


def choose_bandwidth(
    kernel: Kernel, X: Array, Y: Array
) -> tuple[float, ExactKernelBasis]:
    """Return the bandwidth of the least leave-one-out error, and the basis with it.

    Source: KernelCRISP, width of a kernel.

    Multiples of the median distance between two of the rows `X` are tried; their
    targets are `Y`, and the ridge is chosen for each width.
    """
    distance = median_distance(kernel, X)
    Y = Y - namespace(Y).mean(Y, axis=0)

    def tried() -> Iterator[tuple[float, float, ExactKernelBasis]]:
        for factor in WIDTHS:
            basis = exact_kernel_basis(kernel, X, factor * distance)
            model = LeaveOneOut(basis)
            error = float(model.press(Y, model.project(Y)).min())
            yield error, factor * distance, basis

    _, width, basis = min(tried(), key=lambda item: item[0])
    return width, basis


def landmark_count(m: int, wanted: int | Literal["auto"] | None) -> int | None:
    """Return the number of landmarks to draw; None for exact kernels."""
    if wanted is None:
        return None
    if wanted == "auto" and m <= SIZES.exact_kernel_rows:
        return None
    if wanted == "auto":
        return LANDMARKS
    return None if wanted >= m else int(wanted)


def by_block(m: int) -> bool:
    """Whether kernel features of rows in memory are computed by blocks.

    Above 25,000 rows they would take more memory than everything else. Beyond some size
    they are computed anew in each pass, which takes as long as a few products with
    them.
    """
    return m > SIZES.exact_rows


def keeps_features(m: int, n_landmarks: int) -> bool:
    """Whether kernel features that are computed by blocks are kept."""
    return m * n_landmarks <= SIZES.kernel_features


def check_memory(
    numbers: int, m: int, names: Sequence[str], n_landmarks: int | None
) -> None:
    """Raise before a fit whose `numbers` of float64 would not fit into memory."""
    reason = too_large(8 * numbers, math.inf)
    if reason is None:
        return
    if n_landmarks is None:
        what, advice = "Exact kernels", "Set n_landmarks, for example 2000"
    else:
        what, advice = f"{n_landmarks} landmarks", "Set a smaller n_landmarks"
        if by_block(m):
            advice = "Fit fewer rows"
    n_kernels = sum(name != "linear" for name in names)
    raise MemoryError(
        f"{what} of {m} rows in {n_kernels} geometries need about "
        f"{8 * numbers / GIB:.1f} GiB, more than {reason}. {advice}, or leave the "
        'kernels out with geometries=("linear",).'
    )


def pool_numbers(m: int, q: int, names: Sequence[str], n_landmarks: int | None) -> int:
    """Return the largest number of values that a fit of the pool holds at once."""
    kernels = kernel_numbers(m, sum(name != "linear" for name in names), n_landmarks)
    return kernels + (4 * len(names) + 1 + WORK_ARRAYS) * m * q


def kernel_numbers(m: int, n_kernels: int, n_landmarks: int | None) -> int:
    """Return the largest number of values that the kernels of a fit hold at once.

    Exact: a basis for each kernel, and for the last one the matrix and the workspace
    of LAPACK, twice its size. Landmarks: a basis for each, the rows of it that choose
    the ridge, and the features and Gram matrices of the last, or of blocks of rows.
    """
    if n_landmarks is None:
        return (n_kernels + 2) * m**2
    features = (n_kernels + 1) * m * n_landmarks
    if by_block(m):
        features = 3 * SIZES.kernel_block_rows * n_landmarks
        if keeps_features(m, n_landmarks):
            features += n_kernels * m * n_landmarks
    choosing = n_kernels * min(m, PRESS_ROWS) * n_landmarks
    return features + choosing + (n_kernels + 2) * n_landmarks**2
