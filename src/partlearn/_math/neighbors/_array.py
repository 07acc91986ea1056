"""Exact search on arrays of other libraries: a blocked product and the top k.

The array stays on its device. As in NumPy, a shortlist from rounded products is ranked
by true differences in double precision. Rows whose shortlist may lack a neighbor are
searched again, in double precision and then with longer shortlists.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

from partlearn._array_api import (
    array_device,
    as_double,
    namespace,
    on_host,
    replaced,
    take,
    top_k,
)

_SLACK = 7  # places of the shortlist beyond the neighbors that are asked for
_LONGER = 8  # factor by which a shortlist grows that was too short
_LONGEST = 4096  # places; more rows at one distance are taken as they come
_HOST_ENTRIES = 1 << 22  # products held at once in the memory of the host
_DEVICE_ENTRIES = 1 << 28  # and on a device


def array_neighbors(
    Z: Any, Q: Any, k: int, *, exclude_self: bool, rows: Any = None
) -> tuple[Any, Any]:
    """Return distances (float64) and indices (int64) of the `k` nearest rows of `Z`.

    For all queries, or those at `rows`. Results are ordered by (distance, index) as in
    NumPy, but the library may sum in another order: distances that differ by rounding
    may change places.
    """
    xp = namespace(Z, Q)
    device = array_device(Q)
    if rows is None:
        rows = xp.arange(Q.shape[0], dtype=xp.int64, device=device)
    if k == 0:
        shape = (rows.shape[0], 0)
        distances = xp.zeros(shape, dtype=xp.float64, device=device)
        return distances, xp.zeros(shape, dtype=xp.int64, device=device)
    search = _Search(xp, Z, Q, k, exclude_self)
    squared, indices = search.run(rows, k + exclude_self + _SLACK, xp.float32)
    return xp.sqrt(squared), indices


class _Search:
    """One search: points and queries, with error bounds of their products."""

    def __init__(self, xp: Any, Z: Any, Q: Any, k: int, exclude_self: bool) -> None:
        self.xp, self.k, self.exclude_self = xp, k, exclude_self
        self.Z = as_double(Z)
        self.Q = self.Z if Q is Z else as_double(Q)
        # Products are taken around the mean and in a unit whose squares stay finite.
        self.mean = xp.mean(self.Z, axis=0)
        most = [xp.max(xp.abs(A - self.mean)) for A in (self.Z, self.Q)]
        self.unit = max(*(float(value) for value in most)) or 1.0
        self.entries = _HOST_ENTRIES if on_host(Z) else _DEVICE_ENTRIES

    def run(self, rows: Any, size: int, dtype: Any) -> tuple[Any, Any]:
        """Return squared distances and indices for some queries by shortlists."""
        xp, (m, d) = self.xp, self.Z.shape
        size = min(size, m)
        points = self.rounded(self.Z, dtype)
        norms = xp.sum(points**2, axis=1)
        # Of a product of d terms, and of the numbers that were rounded before it.
        error = float(xp.finfo(dtype).eps) * (d + 8)
        n, step = rows.shape[0], max(1, self.entries // max(m, size * d))
        parts = [
            self.block(rows[start : min(start + step, n)], size, points, norms, error)
            for start in range(0, n, step)
        ]
        squared, indices, doubtful = (
            xp.concat(part, axis=0) for part in zip(*parts, strict=True)
        )
        last = dtype == xp.float64 and size >= min(_LONGEST, m)
        if last or not bool(xp.any(doubtful)):
            return squared, indices
        which = xp.nonzero(doubtful)[0]
        longer = min(size * _LONGER, _LONGEST) if dtype == xp.float64 else size
        again = self.run(take(rows, which), longer, xp.float64)
        return (
            replaced(squared, again[0], doubtful),
            replaced(indices, again[1], doubtful),
        )

    def rounded(self, A: Any, dtype: Any) -> Any:
        """Round rows to the precision of the products."""
        return self.xp.astype((A - self.mean) / self.unit, dtype, copy=False)

    def block(
        self, rows: Any, size: int, points: Any, norms: Any, error: float
    ) -> tuple[Any, Any, Any]:
        """Search a block of queries; a mask marks those that may lack a neighbor."""
        xp, k = self.xp, self.k
        queries = take(self.Q, rows)
        rounded = self.rounded(queries, points.dtype)
        values, columns = top_k(norms - 2 * (rounded @ points.T), size)
        columns = xp.sort(columns, axis=1)
        near = xp.reshape(
            take(self.Z, xp.reshape(columns, (-1,))), (*columns.shape, -1)
        )
        squared = xp.sum((queries[:, None, :] - near) ** 2, axis=2)
        if self.exclude_self:
            squared = xp.where(columns == rows[:, None], xp.inf, squared)
        order = xp.argsort(squared, axis=1, stable=True)[:, :k]
        squared = xp.take_along_axis(squared, order, axis=1)
        indices = xp.take_along_axis(columns, order, axis=1)
        # What was left out is no nearer than the last of the shortlist, less rounding.
        own = xp.sum(as_double(rounded) ** 2, axis=1)
        margin = 2 * error * (own + as_double(xp.max(norms)))
        left_out = as_double(values[:, -1]) + own - margin
        doubtful = ~(squared[:, -1] / self.unit**2 < left_out)
        if size == points.shape[0]:
            doubtful = xp.zeros_like(doubtful)
        return squared, indices, doubtful
