"""A graph over rows, lifted to the candidates of the rows.

Confidences are zero outside the candidate sets, which are small. They fit into a vector
``f`` with one entry per candidate, row after row, and products with a sparse graph use
these entries only.
"""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import scipy.sparse as sp

from partlearn._typing import Mask

# Above this share of candidates a plain product with the dense matrix is smaller.
_FEW = 0.25


def few_candidates(S: Mask) -> bool:
    """Whether products by candidate are faster."""
    return bool(np.count_nonzero(S) < _FEW * S.size)


def lift(W: sp.csr_array, S: Mask, *, inside: bool) -> sp.csr_array:
    """Return the matrix that applies a graph to confidences stored by candidate.

    Parameters
    ----------
    W : CSR array of shape (m, m)
        The graph.
    S : ndarray of bool, shape (m, q)
        Candidates; there are N in all, counted row after row.
    inside : bool
        Whether to keep only the products that fall on a candidate.

    Returns
    -------
    T : CSR array of shape (N, N) or (R, N)
        ``T @ F[S]`` equals ``(W @ F)[S]`` if `inside`; otherwise it holds the R
        entries of ``W @ F`` that can differ from zero.
    """
    m, q = S.shape
    rows, columns = np.nonzero(S)
    starts = np.searchsorted(rows, np.arange(m + 1))
    sizes = np.diff(starts)
    edges = sp.coo_array(W)
    count = sizes[edges.col]
    # Every edge i <- a reaches the candidates p of a: entry ((i, label of p), p).
    first = np.cumsum(count) - count
    p = np.arange(count.sum()) + np.repeat(starts[edges.col] - first, count)
    key = np.repeat(edges.row.astype(np.int64), count) * q + columns[p]
    value = np.repeat(edges.data, count)
    if inside:
        keys = rows * np.int64(q) + columns
        place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        hit = keys[place] == key
        place, p, value = place[hit], p[hit], value[hit]
    else:
        keys, place = np.unique(key, return_inverse=True)
    return sp.csr_array((value, (place, p)), shape=(len(keys), len(rows)))
