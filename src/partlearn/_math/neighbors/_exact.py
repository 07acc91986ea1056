"""Exact search: a shortlist from rounded products, ranked by true differences.

In few dimensions a tree makes the shortlist; the result is the same.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms
from threadpoolctl import threadpool_limits

from partlearn._math.neighbors import _distances, _scan
from partlearn._math.neighbors._overlaps import Overlaps, overlap_rarely
from partlearn._math.neighbors._products import (
    DenseProducts,
    Products,
    SparseProducts,
    relative_error,
    threshold,
)
from partlearn._math.neighbors._tree import MOST_DIMENSIONS, tree_neighbors
from partlearn._progress import iterations
from partlearn._sizes import SIZES, spans
from partlearn._typing import Array, Indices

_TILE = 1 << 20  # values of h held at once by a worker: near the cache
_PROBES = 16  # rows of a block that show whether a warm start is of use
_TINY = 2.0**-300  # squares of numbers that are not much larger lose digits
_TREE_ROWS = 500  # points from which a tree is faster than a product
_FAR = 1e150  # squares of larger numbers overflow, which the products look for


def exact_neighbors(
    Z: Any,
    Q: Any,
    k: int,
    *,
    exclude_self: bool,
    warm_start: Indices | None = None,
    n_jobs: int | None = None,
    tree: bool = True,
) -> tuple[Array, Indices]:
    """Return distances and indices of the `k` nearest rows of `Z`.

    `Z` and `Q` are both dense or both CSR in float64 with sorted indices;
    `warm_start` holds `k` distinct allowed neighbors of each query; `tree` is whether
    a tree may make the shortlist.
    """
    if k == 0:
        empty = np.empty((Q.shape[0], 0))
        return empty, empty.astype(np.int64)
    Z, Q, unit, largest = enlarged(Z, Q)
    few = Z.shape[0] >= _TREE_ROWS and 0 < Z.shape[1] <= MOST_DIMENSIONS
    if tree and few and largest < _FAR and not issparse(Z):
        nearest = tree_neighbors(Z, Q, k, exclude_self=exclude_self, n_jobs=n_jobs)
        if nearest is not None:
            return np.sqrt(nearest[0]) * unit, nearest[1]
    search = Search(Z, Q, k, exclude_self, warm_start)
    run_search(search, n_jobs)
    return np.sqrt(search.squared) * unit, search.indices


def run_search(search: "Search", n_jobs: int | None) -> None:
    """Search all blocks, in this thread or in several."""
    workers = min(effective_n_jobs(n_jobs), len(search.blocks))
    if workers <= 1:
        numbers = iterations("nearest neighbors", len(search.blocks))
        search.run(search.blocks[i] for i in numbers)
    else:
        # One pool over row blocks: threads inside threads are slower, not faster.
        with threadpool_limits(1, user_api="blas"):
            Parallel(n_jobs=workers, prefer="threads")(
                delayed(search.run)(search.blocks[worker::workers])
                for worker in range(workers)
            )


def enlarged(Z: Any, Q: Any) -> tuple[Any, Any, float, float]:
    """Scale up points whose squares would underflow; return the scale too.

    Scales are powers of two, which keep all digits. The last result is the largest
    magnitude of an entry.
    """
    largest = _largest(Z) if Q is Z else max(_largest(Z), _largest(Q))
    if largest == 0 or largest > _TINY:
        return Z, Q, 1.0, largest
    unit = 2.0 ** max(int(np.frexp(largest)[1]), -1000)  # its inverse must be finite
    scaled = Z * (1 / unit)
    return scaled, scaled if Q is Z else Q * (1 / unit), unit, largest


def _largest(X: Any) -> float:
    """Largest magnitude of an entry."""
    data = X.data if issparse(X) else X
    return max(float(data.max(initial=0)), -float(data.min(initial=0)))


class Search:
    """One search: its data, products in each precision, and results."""

    def __init__(
        self, Z: Any, Q: Any, k: int, exclude_self: bool, warm_start: Indices | None
    ) -> None:
        m, n = Z.shape[0], Q.shape[0]
        self.Z, self.Q, self.k = Z, Q, k
        self.exclude_self, self.warm_start = exclude_self, warm_start
        self.overlaps: Overlaps | None = None
        if issparse(Z) and overlap_rarely(Z, Q):
            self.overlaps = Overlaps(Z, row_norms(Z, squared=True), k)
            self.warm_start = None  # there is nothing to save
        # A tile has room for twice the neighbors, so that it bounds the k-th.
        n_tiles = max(1, min(-(-m // SIZES.tile_columns), m // (2 * k)))
        edges = [m * t // n_tiles for t in range(n_tiles + 1)]
        self.tiles: list[Any] = [slice(a, b) for a, b in pairwise(edges)]
        self.width = max(b - a for a, b in pairwise(edges))
        self.groups = int(min(edges[1], max(128, 8 * k)))
        self.height = max(1, min(n, SIZES.tile_rows, _TILE // self.width))
        self.blocks = list(spans(n, self.height))
        self.squared = np.empty((n, k))
        self.indices = np.empty((n, k), dtype=np.int64)
        self._products: dict[type, Products] = {}
        self._lock = Lock()
        narrow = not issparse(Z) and relative_error(Z.shape[1], np.float32) < 0.01
        self.dtype: type[np.floating] = np.float32 if narrow else np.float64

    def products(self, dtype: type[np.floating]) -> Products:
        """Return the products in a precision, created on first use."""
        with self._lock:
            if dtype not in self._products:
                if issparse(self.Z):
                    made: Products = SparseProducts(self.Z, self.Q, self.tiles)
                else:
                    made = DenseProducts(self.Z, self.Q, self.tiles, dtype)
                self._products[dtype] = made
            return self._products[dtype]

    def run(self, blocks: Iterable[slice]) -> None:
        """Search these blocks of queries with one buffer."""
        buffer = np.empty(self.height * self.width, dtype=self.dtype)
        for rows in blocks:
            if buffer.dtype == self.dtype and self.answer(rows, buffer):
                continue
            # float32 cannot tell these points apart, and the other blocks are likely
            # of the same kind.
            self.dtype = np.float64
            buffer = np.empty(buffer.size, dtype=self.dtype)
            self.answer(rows, buffer)

    def answer(self, rows: slice, buffer: NDArray) -> bool:
        """Find the neighbors of a block; return False if float32 does not suffice."""
        products = self.products(buffer.dtype.type)
        n = rows.stop - rows.start
        block = Block(self, rows, products)
        left = products.left(rows)
        if self.overlaps is not None:
            own = np.arange(rows.start, rows.stop) if self.exclude_self else None
            near = self.overlaps.candidates(left, own, block.bound, block.limit)
            block.pending = [near]
            block.settle(self.Z.shape[0])  # in float64, which suffices
            if (block.limit() < self.overlaps.beyond).all():
                self.squared[rows], self.indices[rows] = block.best, block.nearest
                return True
            block = Block(self, rows, products)  # rows that are not light may be near
        for t, tile in enumerate(self.tiles):
            H = buffer[: n * (tile.stop - tile.start)].reshape(n, -1)
            products.fill(left, t, H)
            block.exclude(H, tile)
            block.add(H, tile)
            last = t == len(self.tiles) - 1
            full = last or block.n_pending > SIZES.pending
            if full and not block.settle(tile.stop):
                return False
        self.squared[rows], self.indices[rows] = block.best, block.nearest
        return True


class Block:
    """Block of queries: the nearest so far, and candidates not yet ranked."""

    def __init__(self, search: Search, rows: slice, products: Products) -> None:
        n, k = rows.stop - rows.start, search.k
        self.search, self.rows, self.products = search, rows, products
        self.norms = products.norms[rows]
        self.best = np.full((n, k), np.inf)
        self.nearest = np.full((n, k), search.Z.shape[0], dtype=np.int64)
        # A value of h that k points of the row do not exceed.
        self.bound = np.full(n, np.inf)
        self.minima: NDArray | None = None
        self.known: Indices | None = None
        self.pending: list[_scan.Candidates] = []
        self.n_pending = 0
        if search.warm_start is None:
            self.minima = self.no_minima()
        else:
            self.known = search.warm_start[rows]
            self.rank(np.repeat(np.arange(n), k), self.known.ravel())

    def exclude(self, H: NDArray, tile: slice) -> None:
        """Hide the queries themselves and what is already ranked."""
        if self.search.exclude_self:
            start = max(self.rows.start, tile.start)
            own = np.arange(start, max(start, min(self.rows.stop, tile.stop)))
            H[own - self.rows.start, own - tile.start] = np.inf
        if self.known is not None:
            inside = (self.known >= tile.start) & (self.known < tile.stop)
            H[np.nonzero(inside)[0], self.known[inside] - tile.start] = np.inf

    def limit(self, rows: Any = slice(None)) -> Array:
        """Return the largest value of h that a neighbor of these rows can have."""
        products = self.products
        return threshold(
            self.bound[rows], self.norms[rows], products.error, products.tiny
        )

    def no_minima(self) -> NDArray:
        """Return the initial minima of the column groups."""
        shape = (self.bound.size, self.search.groups)
        return np.full(shape, np.inf, dtype=self.products.dtype)

    def is_loose(self, H: NDArray) -> bool:
        """Whether the bounds from old neighbors are too loose for some rows."""
        some = slice(None, None, max(1, H.shape[0] // _PROBES))
        below = self.limit()[some, None] >= H[some]
        return bool(np.count_nonzero(below) > 2 * self.search.k * below.shape[0])

    def add(self, H: NDArray, tile: slice) -> None:
        """Collect the candidates of a tile, tightening the bound where possible."""
        if self.minima is None and self.is_loose(H):
            self.minima = self.no_minima()
        rows, columns, values = _scan.scan(
            H, self.search.k, self.bound, self.minima, self.limit
        )
        self.pending.append((rows, columns + tile.start, values))
        self.n_pending += rows.size

    def settle(self, seen: int) -> bool:
        """Rank the pending candidates; return False if float32 left too many of them.

        All columns before `seen` have been scanned.
        """
        rows, columns, values = (
            np.concatenate(part) for part in zip(*self.pending, strict=True)
        )
        self.pending, self.n_pending = [], 0
        n, k = self.best.shape
        # The bound has tightened since the first of them were collected.
        keep = values <= self.limit()[rows]
        if np.count_nonzero(keep) > 4 * k * n:
            self.tighten_by(rows[keep], values[keep])
            keep = values <= self.limit()[rows]
        rows, columns = rows[keep], columns[keep]
        many = 4 * k + 64
        if rows.size > many * n:
            if self.products.dtype == np.float32:
                return False
            # Mass duplicates: once k points at distance zero are known, points with
            # higher indices need no distance.
            order = np.lexsort((columns, rows))
            rows, columns = rows[order], columns[order]
            first = np.searchsorted(rows, np.arange(n))
            early = np.arange(rows.size) - first[rows] < many
            self.rank(rows[early], columns[early])
            late = ~early & (
                (self.best[rows, -1] > 0) | (columns < self.nearest[rows, -1])
            )
            rows, columns = rows[late], columns[late]
        self.rank(rows, columns)
        self.bound[(self.best[:, -1] == 0) & (self.nearest[:, -1] < seen)] = -np.inf
        return True

    def tighten_by(self, rows: Indices, values: Array) -> None:
        """Lower the bound to the k-th smallest of these values in each row."""
        n, k = self.best.shape
        order = _scan.by_row(rows, values)
        counts = np.bincount(rows, minlength=n)
        enough = np.flatnonzero(counts >= k)
        kth = values[order[(np.cumsum(counts) - counts)[enough] + k - 1]]
        self.bound[enough] = np.minimum(self.bound[enough], kth)

    def rank(self, rows: Indices, columns: Indices) -> None:
        """Merge these candidates by their true distances, and lower the bound."""
        search = self.search
        squared = _distances.pair_distances(
            search.Q, rows + self.rows.start, search.Z, columns
        )
        _scan.keep_nearest(self.best, self.nearest, rows, columns, squared)
        kth = self.best[:, -1] * self.products.scale**2 - self.norms**2
        np.minimum(self.bound, kth, out=self.bound)
