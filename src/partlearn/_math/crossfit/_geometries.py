"""Geometries in which rows are scored: linear, Gaussian and Laplacian."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from partlearn._array_api import is_numpy, namespace
from partlearn._math.blocks import Rows, in_blocks, refuse_blocks, take
from partlearn._math.crossfit._bases import LinearBasis
from partlearn._math.crossfit._embedding import Embedding
from partlearn._math.crossfit._folds import make_folds
from partlearn._math.crossfit._kernels import (
    ExactKernelBasis,
    Kernel,
    KernelMap,
    NystroemBasis,
    exact_kernel_basis,
    median_distance,
    nystroem_basis,
)
from partlearn._math.crossfit._scores import KEPT_FACTORS, RIDGE_GRID, CrossFit, targets
from partlearn._math.crossfit._space import InputSpace, LinearMap
from partlearn._math.linalg import GIB, too_large
from partlearn._math.neighbors import EXACT_ROWS
from partlearn._progress import iterations
from partlearn._typing import Array, Indices

GeometryName = Literal["linear", "rbf", "laplacian"]
GEOMETRIES: tuple[GeometryName, ...] = ("linear", "rbf", "laplacian")

EXACT_KERNELS = 3000  # rows up to which "auto" takes exact kernels
LANDMARKS = 2000  # landmarks that "auto" takes above
FEWER_LANDMARKS = 1000  # and at least, where rows are very many
FEATURES = 10**8  # numbers in the features of a kernel that are kept, 0.8 GB
WIDTHS = (0.25, 0.5, 1.0, 2.0)  # multiples of the median distance to choose from
WIDTH_ROWS, CITY_ROWS = 1000, 500  # rows that choose, and that the median is taken of
BLOCK_ROWS = 16_384  # rows whose features are held at once where rows are many
WORK_ARRAYS = 12  # arrays of rows x labels that a fit has beside the experts' beliefs
_WIDTH_FOLDS = 10

Folds = Sequence[Indices]


@dataclass(frozen=True)
class Geometry:
    """One geometry: its cross-fitted regressions and how new rows enter it.

    Attributes
    ----------
    name : {"linear", "rbf", "laplacian"}
        The geometry.
    model : CrossFit
        Regressions on its basis.
    space : InputSpace
        Standardisation of new rows.
    bandwidth : float or None
        Width of the kernel.
    near : float or None
        Ridge to search from, where the whole grid would cost too much.
    """

    name: GeometryName
    model: CrossFit
    space: InputSpace
    bandwidth: float | None = None
    near: float | None = None

    def map(self, embedding: Embedding) -> LinearMap | KernelMap:
        """Scores and embedding of new rows, side by side, as one map."""
        parts = [embedding.score_weights, embedding.weights]
        M = namespace(*parts).concat(parts, axis=1)
        basis = self.model.basis
        if isinstance(basis, LinearBasis):
            return self.space.linear_map(basis.directions(M))
        assert isinstance(basis, ExactKernelBasis | NystroemBasis)
        return basis.map(M)


def make_geometries(
    names: Sequence[GeometryName],
    space: InputSpace,
    rows: Array | Rows,
    linear: LinearBasis | None,
    F: Array,
    folds: Folds,
    *,
    n_landmarks: int | Literal["auto"] | None,
    rng: np.random.RandomState,
    groups: Indices | None = None,
) -> list[Geometry]:
    """Decompose the rows in each geometry.

    Parameters
    ----------
    names : sequence of {"linear", "rbf", "laplacian"}
        The geometries.
    space : InputSpace
        Standardisation.
    rows : ndarray or Rows of shape (m, p)
        Training rows in the input space.
    linear : LinearBasis or None
        Decomposition of the data, where the linear geometry is among the names.
    F : ndarray of shape (m, q)
        First confidences, by which the bandwidths are chosen.
    folds : sequence of ndarray of int
        The same folds for all geometries.
    n_landmarks : int, None or "auto"
        Landmarks of the kernels; None is exact.
    rng : RandomState
        Draws the rows that choose the bandwidth, and the landmarks.
    groups : ndarray of int, shape (m,), default=None
        Numbers of groups whose rows are held out together.

    Returns
    -------
    geometries : list of Geometry
        In the order of the names.
    """
    m = rows.shape[0]
    count = landmark_count(m, n_landmarks)
    kernels = [name for name in names if name != "linear"]
    if kernels and count is None:
        if isinstance(rows, Rows) and m <= EXACT_KERNELS:
            rows = take(rows, np.arange(m))
        refuse_blocks(rows, "exact kernels are of all pairs of rows", "n_landmarks")
    if kernels and not isinstance(rows, Rows) and is_numpy(rows):
        check_memory((m, F.shape[1]), names, count, len(folds))
    sample = rng.permutation(m)[:WIDTH_ROWS]
    parts: Folds = folds
    if m > WIDTH_ROWS:
        some = None if groups is None else groups[sample]
        if some is not None and (some == some[0]).all():
            some = None  # there is no other group to hold out
        parts = make_folds(len(sample), _WIDTH_FOLDS, rng, some)
    else:
        sample = np.arange(m)
    landmarks = None if count is None else np.sort(rng.permutation(m)[:count])
    features, kept = rows, False
    if isinstance(rows, np.ndarray) and count and by_block(m, count, len(folds)):
        features = in_blocks(rows, folds, BLOCK_ROWS)  # of one fold each
        kept = m * count <= FEATURES  # blocks of a caller may not fit into memory
    geometries = []
    for i in iterations("geometries", len(names)):
        name = names[i]
        if name == "linear":
            assert linear is not None
            geometries.append(Geometry(name, CrossFit(linear, folds), space))
            continue
        model, width, near = choose_width(
            name, take(rows, sample), take(F, sample), parts
        )
        if m > WIDTH_ROWS or landmarks is not None:
            del model
            basis: ExactKernelBasis | NystroemBasis
            if landmarks is not None:
                points = take(rows, landmarks)
                basis = nystroem_basis(name, features, width, points, folds, keep=kept)
            else:
                assert not isinstance(rows, Rows)  # refused above
                basis = exact_kernel_basis(name, rows, width)
            model = CrossFit(basis, folds)
        start = near if m > WIDTH_ROWS else None
        geometries.append(Geometry(name, model, space, width, start))
    return geometries


def choose_width(
    kernel: Kernel, X: Array, F: Array, folds: Folds
) -> tuple[CrossFit, float, float]:
    """Bandwidth of the least held-out error, the ridge chosen for each.

    Source: KernelCRISP, width of a kernel.

    Parameters
    ----------
    kernel : {"rbf", "laplacian"}
        The kernel.
    X : ndarray of shape (n, d)
        Some rows, in random order.
    F : ndarray of shape (n, q)
        Their confidences.
    folds : sequence of ndarray of int
        Folds of these rows.

    Returns
    -------
    model : CrossFit
        Regressions of these rows with the chosen width.
    width : float
        The width.
    ridge : float
        The ridge that came with it.
    """
    most = CITY_ROWS if kernel == "laplacian" else WIDTH_ROWS
    distance = median_distance(kernel, X[: min(most, X.shape[0]), :])
    Y = targets(F)

    def tried() -> Iterator[tuple[float, CrossFit, float, float]]:
        for factor in WIDTHS:
            width = factor * distance
            model = CrossFit(exact_kernel_basis(kernel, X, width), folds)
            errors = model.press(Y, model.project(Y))
            ridge = RIDGE_GRID[int(np.argmin(errors))]
            yield float(errors.min()), model, width, ridge

    _, model, width, ridge = min(tried(), key=lambda item: item[0])
    return model, width, ridge


def landmark_count(m: int, wanted: int | Literal["auto"] | None) -> int | None:
    """Landmarks to draw; None where the kernels are exact."""
    if wanted is None:
        return None
    if wanted == "auto" and m <= EXACT_KERNELS:
        return None
    if wanted == "auto":
        return min(LANDMARKS, max(FEATURES // m, FEWER_LANDMARKS))
    return None if wanted >= m else int(wanted)


def by_block(m: int, n_landmarks: int, n_folds: int) -> bool:
    """Whether features of rows in memory are computed by blocks.

    Above 25,000 rows they would take more memory than all the rest, so that beyond
    some size they are computed anew in each pass, which takes as long as a few products
    with them. Regressions must be of few columns.
    """
    return m > EXACT_ROWS and n_landmarks + 1 < m / n_folds


def check_memory(
    shape: tuple[int, int], names: Sequence[str], n_landmarks: int | None, n_folds: int
) -> None:
    """Refuse before the work starts what would not fit into memory.

    Parameters
    ----------
    shape : tuple of int
        Numbers of rows and labels.
    names : sequence of str
        Geometries.
    n_landmarks : int or None
        Landmarks; None for exact kernels.
    n_folds : int
        Number of folds.
    """
    m, q = shape
    n_kernels = sum(name != "linear" for name in names)
    beliefs = (4 * len(names) + 1 + WORK_ARRAYS) * m * q
    needed = 8 * (kernel_numbers(m, n_kernels, n_landmarks, n_folds) + beliefs)
    reason = too_large(needed, math.inf)
    if reason is None:
        return
    if n_landmarks is None:
        what, advice = "Exact kernels", "Set n_landmarks, for example 2000"
    else:
        what, advice = f"{n_landmarks} landmarks", "Set a smaller n_landmarks"
        if by_block(m, n_landmarks, n_folds):
            advice = "Fit fewer rows"
    raise MemoryError(
        f"{what} of {m} rows in {n_kernels} geometries need about "
        f"{needed / GIB:.1f} GiB, more than {reason}. {advice}, or leave the kernels "
        'out with geometries=("linear",).'
    )


def kernel_numbers(
    m: int, n_kernels: int, n_landmarks: int | None, n_folds: int
) -> int:
    """Maximum number of values that the kernels of a fit hold at once.

    Exact: a basis for each kernel, and for the last one the matrix and the workspace
    of LAPACK, twice its size. Landmarks: a basis for each and the features of the
    last, or of blocks of rows, and the Gram matrices of the folds, of which there are
    three while they are added up. Both: factors of the folds, of the size of a fold or
    of the landmarks, whichever is less.
    """
    side = -(-m // n_folds)
    if n_landmarks is not None:
        side = min(side, n_landmarks)
    factors = n_kernels * min(len(RIDGE_GRID) * n_folds * side**2, KEPT_FACTORS)
    if n_landmarks is None:
        return (n_kernels + 2) * m**2 + factors
    features = (n_kernels + 1) * m * n_landmarks
    if by_block(m, n_landmarks, n_folds):
        kept = n_kernels * m * n_landmarks if m * n_landmarks <= FEATURES else 0
        features = kept + 3 * BLOCK_ROWS * n_landmarks
    return features + (n_kernels + 2) * n_folds * n_landmarks**2 + factors
