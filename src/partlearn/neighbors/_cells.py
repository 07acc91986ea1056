"""Nearest neighbours among the rows of nearby cells: an inverted file."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

from partlearn._typing import Indices
from partlearn.neighbors._exact import exact_neighbors

__all__ = ["cell_neighbors"]

_SAMPLE = 64  # rows per cell that place the centres
_STEPS = 6  # iterations of k-means: cells need not be the best ones
_LARGEST = 4  # times the wanted size at which a cell is cut
_BLOCK = 1 << 19  # distances to centres held at once: in the cache

Array = NDArray[np.floating[Any]]


class _Cells(NamedTuple):
    """Centres, and the rows of each cell: ``order[starts[c]:starts[c + 1]]``."""

    centers: Array
    order: Indices
    starts: Indices

    def rows(self, cells: Indices) -> Indices:
        """Rows of some cells, in the order of the data."""
        parts = [self.order[self.starts[c] : self.starts[c + 1]] for c in cells]
        return np.sort(np.concatenate(parts))


def cell_neighbors(
    Z: Any,
    n_neighbors: int,
    *,
    cell_size: int = 256,
    n_probes: int = 32,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Nearest other rows of every row, searched in the nearest cells only.

    The rows are divided into cells around centres that k-means finds. The neighbours
    of the rows of a cell are searched, exactly, among the rows of the cells whose
    centres are nearest to its own.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features)
        Points, dense, float32 or float64.
    n_neighbors : int
        Neighbours per point, at most ``n_samples - 1`` (clamped).
    cell_size : int, default=256
        Rows of a cell, on average.
    n_probes : int, default=32
        Cells that are searched, the row's own among them; more of them where they hold
        too few rows. With as many as there are cells the search is exact.
    random_state : int, RandomState instance or None, default=0
        Draws the rows by which centres are placed.
    n_jobs : int, default=None
        Threads; the answer is the same for any number.

    Returns
    -------
    distances : ndarray of shape (n_samples, n_neighbors), float64
        Euclidean distances, ascending.
    indices : ndarray of shape (n_samples, n_neighbors), int64
        Nearest first; equal distances are ordered by index.

    See Also
    --------
    self_neighbors : The exact search.
    neighbors_recall : Share of the neighbours that were found.

    Notes
    -----
    A row is compared with ``cell_size * n_probes`` others, however many there are, and
    with one centre for every `cell_size` rows. Most of what is missed lies across the
    border of a cell, and more of it in many dimensions and where rows form no groups.
    Of 100,000 rows in 19 dimensions, all neighbours are found where there are twenty
    groups, and two thirds in a single round cloud: ask :func:`neighbors_recall`.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.neighbors import cell_neighbors
    >>> Z = np.array([[0.0], [1.0], [3.0], [3.5]])
    >>> cell_neighbors(Z, 1, cell_size=2, n_probes=1)[1].ravel()
    array([1, 0, 3, 2])
    """
    Z = check_array(Z, dtype=[np.float64, np.float32])
    k = min(n_neighbors, len(Z) - 1)
    cells = _divide(Z, cell_size, check_random_state(random_state))
    distances = np.empty((len(Z), k))
    indices = np.empty((len(Z), k), dtype=np.int64)
    if k == 0:
        return distances, indices

    def answer(cell: int) -> None:
        queries = cells.rows(np.array([cell]))
        points = cells.rows(_nearest_cells(cells, cell, n_probes, k + 1))
        nearest = exact_neighbors(Z[points], Z[queries], k + 1, exclude_self=False)
        near = points[nearest[1]]
        own = near == queries[:, None]
        own[~own.any(axis=1), -1] = True  # duplicates hid it: drop the farthest
        distances[queries] = nearest[0][~own].reshape(-1, k)
        indices[queries] = near[~own].reshape(-1, k)

    work = (delayed(answer)(cell) for cell in range(len(cells.centers)))
    Parallel(n_jobs=n_jobs, prefer="threads")(work)
    return distances, indices


def _divide(Z: Array, cell_size: int, rng: np.random.RandomState) -> _Cells:
    """Cells of about the same number of rows."""
    n_cells = max(1, len(Z) // cell_size)
    sample = Z[rng.permutation(len(Z))[: _SAMPLE * n_cells]].astype(np.float32)
    centers = sample[:n_cells]
    for _ in range(_STEPS):
        label = _nearest_center(sample, centers)
        count = np.bincount(label, minlength=len(centers))
        ones, rows = np.ones(len(label)), np.arange(len(label) + 1)
        members = sp.csr_array((ones, label, rows), (len(label), len(centers)))
        sums = members.T @ sample
        centers = (sums[count > 0] / count[count > 0, None]).astype(np.float32)
    label = _nearest_center(Z, centers)
    order = np.argsort(label, kind="stable")
    sizes = np.bincount(label, minlength=len(centers))
    # Equal rows fill a cell however many they are: a large one is cut in pieces.
    pieces = np.maximum(-(-sizes // (_LARGEST * cell_size)), 1)
    owner = np.repeat(np.arange(len(centers)), pieces)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    first = (np.cumsum(sizes) - sizes)[owner]
    starts = first + sizes[owner] * number // pieces[owner]
    return _Cells(centers[owner], order, np.append(starts, len(Z)))


def _nearest_center(Z: Array, centers: Array) -> Indices:
    # |c|^2 - 2 z.c as one product: of rows with a one behind them.
    squared = np.einsum("ij,ij->i", centers, centers)
    factor = np.vstack([-2 * centers.T, squared]).astype(np.float32)
    label = np.empty(len(Z), dtype=np.intp)
    step = max(1, _BLOCK // len(centers))
    rows = np.ones((step, Z.shape[1] + 1), dtype=np.float32)
    for start in range(0, len(Z), step):
        n = min(step, len(Z) - start)
        rows[:n, :-1] = Z[start : start + n]
        label[start : start + n] = np.argmin(rows[:n] @ factor, axis=1)
    return label


def _nearest_cells(cells: _Cells, cell: int, n_probes: int, least: int) -> Indices:
    """Cells nearest to a cell, itself among them, with enough rows together."""
    apart = np.linalg.norm(cells.centers - cells.centers[cell], axis=1)
    apart[cell] = -1
    nearest = np.argsort(apart, kind="stable")
    held = np.cumsum(np.diff(cells.starts)[nearest])
    enough = int(np.searchsorted(held, least)) + 1
    return nearest[: max(n_probes, enough)]
