"""An independent exact search, and data on which rounding decides."""

import numpy as np
import pytest
from scipy.sparse import issparse

from partlearn._sizes import SIZES


def brute_force(Z, Q, k, exclude_self):
    """All pairs, from differences in float64, by (distance, index)."""
    Z = (Z.toarray() if issparse(Z) else np.asarray(Z)).astype(np.float64)
    Q = (Q.toarray() if issparse(Q) else np.asarray(Q)).astype(np.float64)
    distances = np.empty((len(Q), k))
    indices = np.empty((len(Q), k), dtype=np.int64)
    for i, q in enumerate(Q):
        squared = ((Z - q).astype(np.longdouble) ** 2).sum(axis=1)
        others = [j for j in range(len(Z)) if not (exclude_self and j == i)]
        order = sorted(others, key=lambda j: (squared[j], j))[:k]
        indices[i] = order
        distances[i] = np.sqrt(squared[order])
    return distances, indices


def make_hard_data(kind, m, d, rng):
    """Points of a kind on which rounding decides."""
    X = rng.standard_normal((m, d))
    if kind == "offset":
        X += 1e6
    elif kind == "clusters":
        X += rng.integers(0, 3, size=(m, 1)) * 1e9
    elif kind == "scaled":
        X *= 10.0 ** rng.integers(-8, 8, d)
    elif kind == "outlier":
        X[0] = 1e5
    elif kind == "tiny":
        X *= 1e-30
        X[1] = 1.0
    elif kind == "near duplicates":
        X = X[rng.integers(0, 5, m)] + 1e-9 * X
    return X


@pytest.fixture(scope="session")
def hard_data():
    return make_hard_data


@pytest.fixture(scope="session")
def oracle():
    return brute_force


@pytest.fixture
def small_tiles(monkeypatch):
    """Many blocks and tiles, and few pending candidates, on small data."""
    from partlearn._math.neighbors import _exact

    monkeypatch.setattr(SIZES, "tile_columns", 40)
    monkeypatch.setattr(SIZES, "tile_rows", 7)
    monkeypatch.setattr(SIZES, "pending", 50)
    return _exact
