"""How many latent directions the data suggest: clusters that OPTICS finds."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import cluster_optics_xi
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms

from partlearn._typing import Array, Indices

_MIN_SAMPLES = 5
_DECIMALS = int(np.finfo(np.float64).precision)


def optics_clusters(
    X: Any,
    rng: np.random.RandomState,
    *,
    max_samples: int | None = 2000,
) -> int:
    """Number of clusters that OPTICS finds, noise not counted.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Features.
    rng : RandomState
        Draws the points where there are more than `max_samples`.
    max_samples : int or None, default=2000
        Most points; the cost grows with their square.

    Returns
    -------
    k : int
        Number of clusters, 0 where all points are noise.
    """
    n = X.shape[0]
    if n < _MIN_SAMPLES:
        return 0
    if max_samples is not None and n > max_samples:
        X = X[np.sort(rng.choice(n, max_samples, replace=False))]
    ordering, reachability, predecessor = _optics_graph(X)
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        # Duplicates divide by a distance of zero, which is fine here: fewer clusters.
        warnings.simplefilter("ignore", RuntimeWarning)
        labels, _ = cluster_optics_xi(
            ordering=ordering,
            reachability=reachability,
            predecessor=predecessor,
            min_samples=_MIN_SAMPLES,
            min_cluster_size=0.01,
            xi=0.05,
        )
    return len(np.setdiff1d(labels, [-1]))


def _optics_graph(X: Any) -> tuple[Indices, Array, Indices]:
    """Order of the points, how far each is reached, and from which point.

    What :func:`sklearn.cluster.compute_optics_graph` gives without a largest distance:
    then every point left is a neighbour, and none has to be searched for.
    """
    n = X.shape[0]
    metric = "euclidean" if sp.issparse(X) else "minkowski"
    search = NearestNeighbors(n_neighbors=_MIN_SAMPLES, metric=metric).fit(X)
    core = np.around(search.kneighbors(X)[0][:, -1], _DECIMALS)
    distances = _sparse_distances(X) if sp.issparse(X) else _dense_distances(X)
    left = np.arange(n)
    ordering = np.empty(n, dtype=np.intp)
    reachability, predecessor = np.full(n, np.inf), np.full(n, -1)
    for step in range(n):
        point = ordering[step] = left[np.argmin(reachability[left])]
        left = left[left != point]
        reach = np.around(np.maximum(distances(point)[left], core[point]), _DECIMALS)
        nearer = reach < reachability[left]
        reachability[left[nearer]] = reach[nearer]
        predecessor[left[nearer]] = point
    return ordering, reachability, predecessor


def _dense_distances(X: NDArray[Any]) -> Any:
    return lambda point: cdist(X[point : point + 1], X)[0]


def _sparse_distances(X: Any) -> Any:
    squared = row_norms(X, squared=True)

    def distances(point: int) -> Array:
        products = X @ X[[point]].toarray()[0]
        apart = -2 * products + squared[point] + squared
        return np.asarray(np.sqrt(np.maximum(apart, 0)))

    return distances
