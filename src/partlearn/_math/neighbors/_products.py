"""One rounded matrix product that orders points by distance, tile by tile.

With the data centered, ``h = |y|^2 - 2 x.y`` orders the points ``y`` by their distance
to ``x``. Its rounding error is bounded, which gives a threshold that no neighbor
exceeds.
"""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.extmath import row_norms

from partlearn._sizes import spans
from partlearn._typing import Array

_ROWS = 4096  # rows centered at once


class DenseProducts:
    """Products of dense data, centered and scaled, in float32 or float64.

    `error` times ``(|x| + |y|)^2``, plus `tiny`, bounds the error of ``h`` against
    the distances that decide in the end; `norms` are those of the queries, and
    ``scale**2`` takes squared distances to the units of ``h``.
    """

    def __init__(
        self,
        Z: NDArray,
        Q: NDArray,
        tiles: list[slice],
        dtype: type[np.floating],
    ) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # infinities are looked for
            center = Z.mean(axis=0, dtype=np.float64)
            norms = _centered_norms(Z, center)
            query_norms = norms if Q is Z else _centered_norms(Q, center)
        _check_range(norms, query_norms)
        largest = max(norms.max(), query_norms.max())
        # A power of two changes no digit and keeps float32 from overflowing.
        self.scale = float(2.0 ** -np.ceil(np.log2(largest))) if largest > 0 else 1.0
        self.dtype = np.dtype(dtype)
        self.norms = query_norms * self.scale
        self.error = relative_error(Z.shape[1], dtype)
        self.tiny = absolute_error(Z.shape[1], dtype)
        reference = _augmented(Z, center, self.scale, norms, dtype)
        self._tiles = [reference[tile].T for tile in tiles]
        self._queries = reference
        if Q is not Z:
            self._queries = _augmented(Q, center, self.scale, query_norms, dtype)

    def left(self, rows: slice) -> NDArray:
        """Multiply queries by -2 and append a one that picks the squared norm."""
        factor = self._queries[rows] * self.dtype.type(-2)
        factor[:, -1] = 1
        return factor

    def fill(self, left: NDArray, tile: int, out: NDArray) -> None:
        """Write ``h`` for a tile of reference points."""
        np.matmul(left, self._tiles[tile], out=out)


class SparseProducts:
    """Products of CSR data in float64; they are not centered, which would fill them."""

    def __init__(self, Z: csr_array, Q: csr_array, tiles: list[slice]) -> None:
        with np.errstate(over="ignore"):
            squared, query_squared = (row_norms(X, squared=True) for X in (Z, Q))
        _check_range(np.sqrt(squared), np.sqrt(query_squared))
        terms = max(int(np.diff(X.indptr).max(initial=0)) for X in (Z, Q))
        self.scale = 1.0
        self.dtype = np.dtype(np.float64)
        self.norms = np.sqrt(query_squared)
        self.error = relative_error(terms, np.float64)
        self.tiny = absolute_error(terms, np.float64)
        self._squared = [squared[tile] for tile in tiles]
        self._tiles = [Z[tile].T.tocsr() for tile in tiles]
        self._queries = Q

    def left(self, rows: slice) -> csr_array:
        """Take queries as they are."""
        return self._queries[rows]

    def fill(self, left: csr_array, tile: int, out: NDArray) -> None:
        """Write ``h`` for a tile of reference points."""
        np.multiply((left @ self._tiles[tile]).toarray(), -2, out=out)
        out += self._squared[tile]


Products = DenseProducts | SparseProducts


def _check_range(norms: Array, others: Array) -> None:
    """Raise if squared distances overflow."""
    with np.errstate(over="ignore"):
        furthest = (norms.max() + others.max()) ** 2
    if not np.isfinite(furthest):
        raise ValueError(
            "Squared distances between these points overflow float64; rescale the "
            "features."
        )


def threshold(bound: Array, norms: Array, error: float, tiny: float) -> Array:
    """Return the largest rounded ``h`` that a neighbor can have.

    `bound` is a value that the rounded ``h`` of at least ``k`` points do not exceed.
    Such a point has ``|y|^2 - 2|x||y| <= h``, which limits ``|y|`` and with it the
    error of ``h`` (first step). So the k-th distance is at most `bound` plus that
    error, and any point as near again has a bounded norm and error (second step).
    """
    # First step: (1 - error) |y|^2 - 2 (1 + error) |x||y| <= bound + error |x|^2.
    half = (1 + error) * norms
    root = half**2 + (1 - error) * (bound + error * norms**2 + tiny)
    reach = (half + np.sqrt(np.maximum(root, 0))) / (1 - error)
    bound = bound + error * (norms + reach) ** 2 + tiny
    # Second step, with exact values: |y| <= |x| + distance.
    reach = norms + np.sqrt(np.maximum(norms**2 + bound, 0))
    return bound + error * (norms + reach) ** 2 + tiny


def relative_error(terms: int, dtype: type[np.floating]) -> float:
    """Bound the rounding error of ``h`` relative to ``(|x| + |y|)^2``.

    A sum of n products is off by at most ``n u / (1 - n u)`` of the sum of their
    sizes, in any order [1]_. The rounding errors of its factors, of the norms, of the
    centering and of the final distances are added; the last three are in float64 for
    any precision of the product.

    References
    ----------
    .. [1] N. Higham. Accuracy and Stability of Numerical Algorithms, section 3.1.
       SIAM, 2002. https://doi.org/10.1137/1.9780898718027
    """
    product = (terms + 8) * float(np.finfo(dtype).eps) / 2
    rest = (3 * terms + 32) * float(np.finfo(np.float64).eps) / 2
    total = product + rest
    return total / (1 - total) if total < 0.25 else np.inf


def absolute_error(terms: int, dtype: type[np.floating]) -> float:
    """Bound the error of underflow, for data scaled into the unit ball."""
    return 8.0 * (terms + 4) * float(np.finfo(dtype).tiny)


def _centered_norms(X: NDArray, center: Array) -> Array:
    norms = np.empty(X.shape[0])
    for rows in spans(X.shape[0], _ROWS):
        part = X[rows] - center
        norms[rows] = np.sqrt(np.einsum("ij,ij->i", part, part))
    return norms


def _augmented(
    X: NDArray, center: Array, scale: float, norms: Array, dtype: type[np.floating]
) -> NDArray:
    """Centered and scaled rows followed by their squared norm."""
    out = np.empty((X.shape[0], X.shape[1] + 1), dtype=dtype)
    for rows in spans(X.shape[0], _ROWS):
        out[rows, :-1] = (X[rows] - center) * scale
    out[:, -1] = (norms * scale) ** 2
    return out
