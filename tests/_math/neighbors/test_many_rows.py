"""Neighbours of many rows: cells, and samples of the rows."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs

from partlearn._math.neighbors import (
    cell_neighbors,
    neighbors_recall,
    reference_neighbors,
    reference_rows,
    self_neighbors,
)
from partlearn._math.neighbors._cells import _divide
from partlearn._sizes import SIZES


def nearest(Z, i, pool, k):
    """Definition: sort others by (distance, index)."""
    apart = [(float(((Z[i] - Z[j]) ** 2).sum()), j) for j in pool if j != i]
    return [j for _, j in sorted(apart)[:k]]


def literal_cells(Z, cells, n_probes, k):
    """Definition: search the cells near a row, and those near most rows of its own."""
    answer = np.empty((len(Z), k), dtype=int)
    members = np.split(cells.order, cells.starts[1:-1])
    for c, rows in enumerate(members):
        probed = {}
        for i in rows:
            apart = ((cells.centers - Z[i]) ** 2).sum(axis=1)
            probed[i] = np.argsort(apart)[:n_probes].tolist()
        times = Counter(b for near in probed.values() for b in near if b != c)
        around = [c, *sorted(times, key=lambda b: (-times[b], b))]
        near = max(1, n_probes // 4)
        while near < len(around) and sum(len(members[b]) for b in around[:near]) <= k:
            near += 1
        for i in rows:
            pool = [members[b] for b in {*probed[i], *around[:near]}]
            answer[i] = nearest(Z, i, np.concatenate(pool), k)
    back = [np.flatnonzero((answer == i).any(axis=1)) for i in range(len(Z))]
    pools = [{*ours, *theirs} for ours, theirs in zip(answer, back, strict=True)]
    return [nearest(Z, i, pool, k) for i, pool in enumerate(pools)]


@pytest.mark.parametrize("n_probes", [2, 3, 4])
def test_cells_search_the_nearest_cells(n_probes):
    Z = np.random.default_rng(0).standard_normal((300, 3))
    cells = _divide(Z, 20, n_probes, np.random.RandomState(0))
    assert_array_equal(np.sort(cells.order), np.arange(300))
    assert (np.diff(cells.starts) > 0).all()
    distances, indices = cell_neighbors(Z, 4, cell_size=20, n_probes=n_probes)
    assert_array_equal(indices, literal_cells(Z, cells, n_probes, 4))
    apart = np.linalg.norm(Z[:, None] - Z[indices], axis=2)
    assert_allclose(distances, apart, rtol=1e-12)
    assert 0.5 < neighbors_recall(Z, indices) < 1


def test_all_cells_are_the_exact_search(global_dtype):
    Z, _ = make_blobs(400, n_features=4, random_state=1)
    Z = Z.astype(global_dtype)
    _, indices = cell_neighbors(Z, 5, cell_size=30, n_probes=1000)
    assert_array_equal(indices, self_neighbors(Z, 5))
    _, threads = cell_neighbors(Z, 5, cell_size=30, n_probes=1000, n_jobs=2)
    assert_array_equal(threads, indices)


def test_cells_that_float32_cannot_tell_apart():
    """Far from zero beside one another: distances are found in float64."""
    Z = np.random.default_rng(0).standard_normal((400, 4))
    Z[200:] += 1e8
    _, indices = cell_neighbors(Z, 5, cell_size=20, n_probes=1000)
    assert_array_equal(indices, self_neighbors(Z, 5))
    tiny = cell_neighbors(Z[:200] * 1e-200, 5, cell_size=20)
    assert_array_equal(tiny[1], self_neighbors(Z[:200], 5))
    assert_allclose(tiny[0], cell_neighbors(Z[:200], 5)[0] * 1e-200)


def test_candidates_of_cells_are_ranked_before_they_fill_the_memory(monkeypatch):
    Z = np.random.default_rng(0).standard_normal((500, 6))
    once = cell_neighbors(Z, 5, cell_size=20, n_probes=10)
    monkeypatch.setattr(SIZES, "pending", 50)
    monkeypatch.setattr(SIZES, "cell_rows", 60)
    often = cell_neighbors(Z, 5, cell_size=20, n_probes=10)
    assert_array_equal(often[1], once[1])
    assert_array_equal(often[0], once[0])


def test_groups_are_found_in_their_cells():
    Z, _ = make_blobs(3000, n_features=10, centers=30, random_state=0)
    _, indices = cell_neighbors(Z, 8, cell_size=50, n_probes=8)
    assert neighbors_recall(Z, indices) > 0.95


def test_equal_rows_do_not_fill_a_cell():
    Z = np.zeros((500, 2))
    Z[:40] = np.random.default_rng(0).standard_normal((40, 2))
    cells = _divide(Z, 10, 2, np.random.RandomState(0))
    assert np.diff(cells.starts).max() <= 40
    distances, indices = cell_neighbors(Z, 3, cell_size=10, n_probes=2)
    assert_array_equal(distances[40:], 0)
    assert (indices != np.arange(500)[:, None]).all()
    assert (np.diff(np.sort(indices, axis=1), axis=1) > 0).all()


def test_small_cells_are_joined_until_they_hold_enough():
    Z = np.arange(12.0)[:, None]
    _, indices = cell_neighbors(Z, 7, cell_size=2, n_probes=1)
    assert indices.shape == (12, 7)
    assert cell_neighbors(Z[:1], 3)[1].shape == (1, 0)


@pytest.mark.parametrize("sparse", [False, True])
def test_neighbours_among_reference_rows(sparse):
    Z = np.random.default_rng(0).integers(0, 4, (40, 3)).astype(float)
    reference = np.arange(1, 40, 3)
    found = reference_neighbors(csr_array(Z) if sparse else Z, reference, 4)
    assert_array_equal(found, [nearest(Z, i, reference, 4) for i in range(40)])


def test_rows_are_sampled_above_a_size_only():
    rng = np.random.RandomState(0)
    state = rng.get_state()[1].copy()
    assert reference_rows(25_000, "auto", rng) is None
    assert reference_rows(10**7, None, rng) is None
    assert reference_rows(50, 50, rng) is None
    assert_array_equal(rng.get_state()[1], state)
    chosen = reference_rows(25_001, "auto", rng)
    assert len(np.unique(chosen)) == 4000
    assert (np.diff(chosen) > 0).all()
    assert len(reference_rows(50, 7, rng)) == 7


def test_neighbors_of_some_rows_equal_those_of_all():
    Z = np.random.RandomState(0).standard_normal((40, 3))
    rows = np.array([3, 17, 39])
    found = reference_neighbors(Z, None, 4, rows=rows)
    assert_array_equal(found, self_neighbors(Z, 4)[rows])
    same = reference_neighbors(np.zeros((30, 2)), None, 4, rows=np.array([20]))
    assert same.shape == (1, 4)
    assert 20 not in same


def test_recall_is_not_asked_of_the_rows_that_placed_the_cells():
    """Both draw by the same seed; neighbours of centres are found more often."""
    Z = np.random.default_rng(0).standard_normal((3000, 19))
    _, indices = cell_neighbors(Z, 8, cell_size=20, n_probes=15)
    every = neighbors_recall(Z, indices, n_samples=3000)
    assert abs(neighbors_recall(Z, indices, n_samples=150) - every) < 0.02


@pytest.mark.parametrize(
    ("scale", "offset"), [(1, 1e6), (1e30, 0), (1e-30, 0), (1e30, 1e36)]
)
def test_cells_of_rows_far_from_zero_or_in_another_unit(scale, offset):
    Z = np.random.default_rng(0).normal(size=(4000, 6))
    expected = cell_neighbors(Z, 5, n_probes=4)[1]
    found = cell_neighbors(Z * scale + offset, 5, n_probes=4)[1]
    assert np.mean(found == expected) > 0.99  # an offset takes digits from the rows


@pytest.mark.parametrize("name", ["n_neighbors", "cell_size", "n_probes"])
@pytest.mark.parametrize("value", [0, -1])
def test_cells_ask_for_counts_above_zero(name, value):
    options = {"n_neighbors": 1, name: value}
    with pytest.raises(ValueError, match=f"`{name}` must be at least 1; got {value}"):
        cell_neighbors(np.arange(6.0)[:, None], **options)
