"""Nearest neighbors among the rows of nearby cells: an inverted file."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

from partlearn._math.neighbors import _scan
from partlearn._math.neighbors._exact import (
    Block,
    Search,
    enlarged,
    run_search,
)
from partlearn._math.neighbors._knn import check_count
from partlearn._sizes import SIZES
from partlearn._typing import Indices

__all__ = ["cell_neighbors"]

_LEAST_SIZE = 64  # rows of a cell by default, where there are few cells
_LEAST_PROBES = 24  # cells searched by default, where they are large
_COMPARED = 2560  # rows of the cells searched by default, where cells are small
_SAMPLE = 8  # rows per cell that place the centers
_STEPS = 2  # iterations of k-means: cells need not be the best ones
_LARGEST = 4  # times the wanted size at which a cell is cut
_BLOCK = 1 << 19  # distances to centers held at once: in the cache
_AROUND = 4  # one cell in so many that are searched is near most rows of a cell
_GROUP = 64  # cells of a group: those near each other are answered together
_OFFSET = 100  # means, in deviations, from which float32 would lose the differences
_SPREAD_ROWS = 10_000  # rows that tell means and deviations well enough

Array = NDArray[np.floating[Any]]


class _Cells(NamedTuple):
    """Rows of each cell, ``order[starts[c]:starts[c + 1]]``, and cells of each row.

    The cells near row ``i`` are ``probes[ends[i - 1]:ends[i]]``.
    """

    centers: Array
    order: Indices
    starts: Indices
    probes: NDArray[np.int32]
    ends: Indices


def cell_neighbors(
    Z: Any,
    n_neighbors: int,
    *,
    cell_size: int | None = None,
    n_probes: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Find the nearest other rows of every row in the nearest cells only.

    k-means divides the rows into cells. The neighbors of a row are searched, exactly,
    among the rows of the cells with the nearest centers, and of a quarter as many cells
    that are nearest to most rows of its own cell. Finally, each row that was found as a
    neighbor considers the row that found it.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_features)
        Points, dense, float32 or float64.
    n_neighbors : int
        Neighbors per point, at most ``n_samples - 1`` (clamped).
    cell_size : int, default=None
        Mean number of rows in a cell. By default 64 for up to 100,000 rows, and a fifth
        of the square root of the number of rows above.
    n_probes : int, default=None
        Cells to search, or a few more. By default 2,560 rows in at least 24 cells. The
        search is exact if all cells are searched.
    random_state : int, RandomState instance or None, default=0
        Draws the rows that determine the centers.
    n_jobs : int, default=None
        Threads; the result does not depend on it.

    Returns
    -------
    distances : ndarray of shape (n_samples, n_neighbors), float64
        Euclidean distances, ascending.
    indices : ndarray of shape (n_samples, n_neighbors), int64
        Nearest first; equal distances are ordered by index.

    See Also
    --------
    self_neighbors : The exact search.
    neighbors_recall : Share of the neighbors that were found.

    Notes
    -----
    A row is compared with the centers of all cells and with the rows of some of them,
    some 3,000 of 100,000 rows. The recall of eight neighbors of 100,000 rows in 19
    dimensions is .998 with twenty groups, and .89 in a single round cloud. Measure it
    on other data by :func:`neighbors_recall`.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.neighbors import cell_neighbors
    >>> Z = np.array([[0.0], [1.0], [3.0], [3.5]])
    >>> cell_neighbors(Z, 1, cell_size=2, n_probes=1)[1].ravel()
    array([1, 0, 3, 2])
    """
    Z = check_array(Z, dtype=[np.float64, np.float32])
    k = min(check_count("n_neighbors", n_neighbors), len(Z) - 1)
    if k == 0:
        return np.empty((len(Z), 0)), np.empty((len(Z), 0), dtype=np.int64)
    if cell_size is None:
        cell_size = max(_LEAST_SIZE, int(np.sqrt(len(Z)) / 5))
    size = check_count("cell_size", cell_size)
    if n_probes is None:
        n_probes = max(_LEAST_PROBES, _COMPARED // size)
    wanted = check_count("n_probes", n_probes)
    Z, _, unit, largest = enlarged(Z, Z)
    rng = check_random_state(random_state)
    cells = _divide(_in_float32(Z, largest / unit), size, wanted, rng)
    search = _CellSearch(Z, cells, k, wanted)
    run_search(search, n_jobs)
    squared, indices = np.empty_like(search.squared), np.empty_like(search.indices)
    squared[cells.order], indices[cells.order] = search.squared, search.indices
    _answer_back(squared, indices)
    return np.sqrt(squared) * unit, indices


def _answer_back(squared: Array, indices: Indices) -> None:
    """Add to the neighbors of each row the rows that have it as a neighbor, in place.

    A search in cells may find only one of two such neighbors.
    """
    m, k = indices.shape
    near, by, apart = indices.ravel(), np.repeat(np.arange(m), k), squared.ravel()
    nearer = apart < squared[near, -1]
    near, by, apart = near[nearer], by[nearer], apart[nearer]
    new = np.ones(len(near), dtype=bool)
    for column in indices.T:  # one after the other: all at once would be large
        new &= column[near] != by
    if not new.any():
        return
    rows, place = np.unique(near[new], return_inverse=True)
    best, nearest = squared[rows], indices[rows]
    _scan.keep_nearest(best, nearest, place, by[new], apart[new])
    squared[rows], indices[rows] = best, nearest


class _CellSearch(Search):
    """Search among the rows of cells, with queries in the order of the cells."""

    def __init__(self, Z: Array, cells: _Cells, k: int, n_probes: int) -> None:
        super().__init__(Z, Z[cells.order], k, False, None)
        self.cells, self.near = cells, max(1, n_probes // _AROUND)
        self.sizes = np.diff(cells.starts)
        self.tiles = [cells.order[a:b] for a, b in pairwise(cells.starts)]
        self.width = max(len(tile) for tile in self.tiles)
        self.groups = 1  # bounds come from the cells around
        edges = np.searchsorted(cells.starts, np.arange(0, len(Z), SIZES.cell_rows))
        ends = np.append(cells.starts[np.unique(edges)], len(Z))
        self.blocks = [slice(a, b) for a, b in pairwise(np.unique(ends).tolist())]
        self.height = max(block.stop - block.start for block in self.blocks)

    def answer(self, rows: slice, buffer: NDArray[Any]) -> bool:
        """Find the neighbors of whole cells; False if float32 is not precise enough."""
        products = self.products(buffer.dtype.type)
        block = Block(self, rows, products)
        left = products.left(rows)
        starts = self.cells.starts
        first, last = np.searchsorted(starts, [rows.start, rows.stop])
        asking, asked = self._probes(rows)
        edges = np.searchsorted(asking, starts[first : last + 1] - rows.start)
        around = np.zeros((last - first, len(self.tiles)), dtype=bool)
        for i, (start, stop) in enumerate(pairwise(edges)):
            near = self._cells_around(first + i, asked[start:stop])
            around[i, near] = True
            self._bound(block, left, first + i, near)
        new = ~around[np.repeat(np.arange(last - first), np.diff(edges)), asked]
        limit = _scan.round_up(block.limit(), buffer.dtype)
        for cell, some in _by_cell(asking[new], asked[new], len(self.tiles)):
            H = buffer[: len(some) * len(self.tiles[cell])].reshape(len(some), -1)
            products.fill(left[some], cell, H)
            _collect(block, H, limit[some], some, self.tiles[cell])
            if block.n_pending > SIZES.pending:
                if not block.settle(0):
                    return False
                limit = _scan.round_up(block.limit(), buffer.dtype)
        if block.pending and not block.settle(0):
            return False
        self.squared[rows], self.indices[rows] = block.best, block.nearest
        return True

    def _probes(self, rows: slice) -> tuple[Indices, NDArray[np.int32]]:
        """Return the positions of a block's rows, and the cells near them."""
        here = self.cells.order[rows]
        counts = np.diff(self.cells.ends, prepend=0)[here]
        asked = self.cells.probes[_places(self.cells.ends[here], counts)]
        return np.repeat(np.arange(len(here)), counts), asked

    def _cells_around(self, cell: int, asked: NDArray[np.int32]) -> Indices:
        """Return a cell and those near most of its rows, over k rows in all."""
        others, times = np.unique(asked[asked != cell], return_counts=True)
        near = np.append(cell, others[np.argsort(-times, kind="stable")])
        held = np.cumsum(self.sizes[near])
        if held[-1] <= self.k:
            return np.append(cell, np.delete(np.arange(len(self.sizes)), cell))
        return near[: max(self.near, int(np.searchsorted(held, self.k, "right")) + 1)]

    def _bound(self, block: Block, left: Any, cell: int, near: Indices) -> None:
        """Search the rows of a cell in the cells around it for a first bound."""
        starts = self.cells.starts
        own = np.arange(starts[cell], starts[cell + 1]) - block.rows.start
        points = np.concatenate([self.tiles[c] for c in near])
        H = np.empty((len(own), len(points)), dtype=block.products.dtype)
        stop = 0
        for c in near:
            start, stop = stop, stop + len(self.tiles[c])
            block.products.fill(left[own], c, H[:, start:stop])
        H[np.arange(len(own)), np.arange(len(own))] = np.inf  # itself comes first
        block.bound[own] = _scan.kth_smallest(H, self.k, 16 * self.k)
        limit = _scan.round_up(block.limit(own), H.dtype)
        _collect(block, H, limit, own, points)


def _by_cell(
    asking: Indices, asked: NDArray[np.int32], n_cells: int
) -> Iterator[tuple[int, Indices]]:
    """Yield cells, and the rows to search in them."""
    small = asked.astype(np.int16) if n_cells < 1 << 15 else asked
    order = np.argsort(small, kind="stable")  # 16 bits are sorted in linear time
    edges = np.append(0, np.cumsum(np.bincount(asked, minlength=n_cells)))
    for cell in np.flatnonzero(np.diff(edges)):
        yield int(cell), asking[order[edges[cell] : edges[cell + 1]]]


def _collect(
    block: Block, H: NDArray[Any], limit: NDArray[Any], rows: Indices, points: Indices
) -> None:
    """Collect the pairs of rows and points within the bounds."""
    row, column, values = _scan.near_enough(H, limit)
    block.pending.append((rows[row], points[column], values))
    block.n_pending += len(values)


def _in_float32(Z: Array, largest: float) -> NDArray[np.float32]:
    """Return centered and scaled rows, for single precision.

    A power of two keeps their squares finite; without centering, products of rows far
    from zero would lose digits.
    """
    scale = np.ldexp(1.0, -int(np.frexp(largest)[1]))
    some = Z[:: max(1, len(Z) // _SPREAD_ROWS)] * scale
    mean = some.mean(axis=0)
    mean[np.abs(mean) <= _OFFSET * some.std(axis=0)] = 0.0
    return (Z * scale - mean).astype(np.float32)


def _divide(
    Z: Array, cell_size: int, n_probes: int, rng: np.random.RandomState
) -> _Cells:
    """Divide rows into cells of similar size, with cells of a group side by side."""
    n_cells = max(1, len(Z) // cell_size)
    centers = _centers(Z[rng.permutation(len(Z))[: _SAMPLE * n_cells]], n_cells)
    heads = centers[::_GROUP]
    centers = centers[np.argsort(_nearest_cells(centers, heads, 0)[0], kind="stable")]
    label, probes, ends = _nearest_cells(Z, centers, n_probes)
    sizes = np.bincount(label, minlength=len(centers))
    order = np.argsort(label, kind="stable")
    starts = np.cumsum(sizes) - sizes
    # Equal rows fill a cell however many they are: a large one is cut in pieces.
    pieces = -(-sizes // (_LARGEST * cell_size))
    if (pieces != 1).any():
        owner = np.repeat(np.arange(len(centers)), pieces)
        number = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        starts = starts[owner] + sizes[owner] * number // pieces[owner]
        centers = centers[owner]
        _, probes, ends = _nearest_cells(Z, centers, n_probes)
    return _Cells(centers, order, np.append(starts, len(Z)), probes, ends)


def _centers(sample: Array, count: int) -> Array:
    """Compute centers by a few iterations of k-means, started at the first rows."""
    centers = sample[:count]
    for _ in range(_STEPS):
        label = _nearest_cells(sample, centers, 0)[0]
        sizes = np.bincount(label, minlength=len(centers))
        ones, rows = np.ones(len(label)), np.arange(len(label) + 1)
        members = sp.csr_array((ones, label, rows), (len(label), len(centers)))
        sums = members.T @ sample
        centers = (sums[sizes > 0] / sizes[sizes > 0, None]).astype(np.float32)
    return centers


def _nearest_cells(
    Z: Array, centers: Array, count: int
) -> tuple[Indices, NDArray[np.int32], Indices]:
    """Return the nearest center of each row, and about `count` of the nearest."""
    # |c|^2 - 2 z.c as one product: of rows with a one behind them.
    squared = np.einsum("ij,ij->i", centers, centers)
    factor = np.vstack([-2 * centers.T, squared]).astype(np.float32)
    label = np.empty(len(Z), dtype=np.intp)
    counts = np.zeros(len(Z), dtype=np.intp)
    probes: list[NDArray[np.int32]] = []
    step = max(1, _BLOCK // len(centers))
    rows = np.ones((step, Z.shape[1] + 1), dtype=np.float32)
    for start in range(0, len(Z), step):
        n = min(step, len(Z) - start)
        rows[:n, :-1] = Z[start : start + n]
        D = rows[:n] @ factor
        label[start : start + n] = np.argmin(D, axis=1)
        if count:
            limit = _scan.kth_smallest(D, min(count, len(centers)), 8 * count)
            row, cell = np.divmod(np.flatnonzero(limit[:, None] >= D), len(centers))
            counts[start : start + n] = np.bincount(row, minlength=n)
            probes.append(cell.astype(np.int32))
    cells = np.concatenate(probes) if probes else np.empty(0, dtype=np.int32)
    return label, cells, np.cumsum(counts)


def _places(ends: Indices, counts: Indices) -> Indices:
    """Return the positions of runs that end at `ends`, one run after the other."""
    return np.arange(counts.sum()) + np.repeat(ends - np.cumsum(counts), counts)
