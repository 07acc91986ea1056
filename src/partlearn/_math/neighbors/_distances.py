"""Squared distances of given pairs, computed from differences."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from partlearn._sizes import SIZES, spans
from partlearn._typing import Array, Indices

# Dense and sparse rows add the squares in this one order, so that their distances are
# equal to the last bit and ties fall alike: feature j belongs to lane j % 8, lanes are
# summed by ascending j, then added as a tree.
_LANES = 8


def pair_distances(Q: Any, rows: Indices, Z: Any, columns: Indices) -> Array:
    """Return squared distances of the pairs ``Q[rows[p]]``, ``Z[columns[p]]``."""
    out = np.empty(rows.size)
    if issparse(Z):
        width = max(1, int(Z.nnz // max(1, Z.shape[0])) + 1)
        part = _sparse_block
    else:
        width = max(1, Z.shape[1])
        part = _dense_block
    for some in spans(rows.size, max(64, SIZES.difference_block // width)):
        out[some] = part(Q, rows[some], Z, columns[some])
    return out


def _dense_block(Q: NDArray, rows: Indices, Z: NDArray, columns: Indices) -> Array:
    d = Z.shape[1]
    difference = np.take(Q, rows, axis=0).astype(np.float64, copy=False)
    difference -= np.take(Z, columns, axis=0)
    difference *= difference
    whole = d - d % _LANES
    lanes = difference[:, :_LANES].copy() if whole else np.zeros((rows.size, _LANES))
    for start in range(_LANES, whole, _LANES):
        lanes += difference[:, start : start + _LANES]
    if whole < d:
        lanes[:, : d - whole] += difference[:, whole:]
    return _add_lanes(lanes)


def _sparse_block(Q: csr_array, rows: Indices, Z: csr_array, columns: Indices) -> Array:
    difference = Q[rows] - Z[columns]  # float64, canonical: columns ascend
    row = np.repeat(np.arange(rows.size), np.diff(difference.indptr))
    lanes: NDArray = np.bincount(
        row * _LANES + difference.indices % _LANES,
        weights=difference.data**2,
        minlength=rows.size * _LANES,
    )
    return _add_lanes(lanes.reshape(rows.size, _LANES))


def _add_lanes(lanes: Array) -> Array:
    lanes = lanes[:, :4] + lanes[:, 4:]
    lanes = lanes[:, :2] + lanes[:, 2:]
    return lanes[:, 0] + lanes[:, 1]
