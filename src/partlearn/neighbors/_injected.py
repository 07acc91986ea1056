"""Neighbours found by an injected scikit-learn style transformer."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import clone

from partlearn._typing import Array


def injected_neighbors(
    search: Any, Z: Any, Q: Any, n_neighbors: int
) -> tuple[Array, NDArray[np.int64]]:
    """Ask a neighbour transformer; ``Q=None`` asks for the training points.

    The transformer is cloned, so the caller's object stays as it was. Distances
    are the transformer's own: whoever injects a search also chooses its metric.
    """
    search = clone(search, safe=False)
    if getattr(search, "mode", "distance") == "connectivity":
        raise ValueError(
            "`search` must give distances to order neighbours by; build it with "
            "mode='distance' instead of 'connectivity'."
        )
    graph = search.fit_transform(Z) if Q is None else search.fit(Z).transform(Q)
    n_rows = Z.shape[0] if Q is None else Q.shape[0]
    if not issparse(graph) or graph.shape != (n_rows, Z.shape[0]):
        kind = type(graph).__name__ if not issparse(graph) else graph.shape
        raise ValueError(
            f"`search` must return a sparse graph of shape ({n_rows}, {Z.shape[0]}) "
            f"whose entries are distances; got {kind}."
        )
    # Explicit zeros are neighbours at distance zero (duplicates), not gaps.
    graph = csr_array(graph)
    rows = np.repeat(np.arange(n_rows), np.diff(graph.indptr))
    columns = graph.indices.astype(np.int64)
    distances = graph.data.astype(np.float64)
    if Q is None:
        others = rows != columns
        rows, columns, distances = rows[others], columns[others], distances[others]
    counts = np.bincount(rows, minlength=n_rows)
    short = np.flatnonzero(counts < n_neighbors)
    if short.size:
        raise ValueError(
            f"`search` found {counts[short[0]]} neighbours for row {short[0]} "
            f"({short.size} of {n_rows} rows have too few), but {n_neighbors} are "
            "needed"
            + (" besides the point itself" if Q is None else "")
            + f"; build it with a larger n_neighbors (at least {n_neighbors + 1})."
        )
    order = np.lexsort((columns, distances, rows))
    starts = np.cumsum(counts) - counts
    first = order[starts[:, None] + np.arange(n_neighbors)]
    return distances[first], columns[first]
