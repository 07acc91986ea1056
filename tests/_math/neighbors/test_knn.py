"""Exact neighbours: the definition, ties, precision, blocks, arguments."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix, random_array
from sklearn.neighbors import NearestNeighbors

from partlearn._math.neighbors import (
    _distances,
    _exact,
    _scan,
    query_neighbors,
    self_neighbors,
)
from partlearn._math.neighbors._exact import exact_neighbors
from partlearn._sizes import SIZES

# Whole numbers: squared distances are exact in any order of summation, so ties are
# true ties and any correct program gives the same order.
GRIDS = arrays(
    np.float64,
    st.tuples(st.integers(2, 30), st.integers(1, 10)),
    elements=st.integers(-2, 2).map(float),
)


def test_hand_computed_line():
    distances, indices = self_neighbors(
        [[0.0], [1.0], [3.0], [7.0]], 2, return_distance=True
    )
    assert_array_equal(indices, [[1, 2], [0, 2], [1, 0], [2, 1]])
    assert_array_equal(distances, [[1, 3], [1, 2], [2, 3], [4, 6]])
    assert indices.dtype == np.int64
    assert distances.dtype == np.float64


def test_duplicates_are_neighbours_by_index_but_a_point_is_not_its_own():
    Z = np.full((5, 3), 0.1)
    assert_array_equal(self_neighbors(Z, 2), [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1]])
    distances, indices = query_neighbors(Z, Z, 2)
    assert_array_equal(indices, [[0, 1]] * 5)
    assert_array_equal(distances, np.zeros((5, 2)))


@given(
    Z=GRIDS,
    k=st.integers(1, 12),
    offset=st.sampled_from([0.0, 2.0**20]),
    single=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_ties_go_to_the_lowest_index(oracle, Z, k, offset, single):
    Z = (Z + offset).astype(np.float32 if single else np.float64)
    k_self = min(k, len(Z) - 1)
    distances, indices = self_neighbors(Z, k, return_distance=True)
    expected = oracle(Z, Z, k_self, True)
    assert_array_equal(indices, expected[1])
    assert_allclose(distances, expected[0], rtol=1e-15)
    assert_array_equal(self_neighbors(csr_array(Z), k), expected[1])


HARD = [
    "plain",
    "offset",
    "clusters",
    "scaled",
    "outlier",
    "tiny",
    "near duplicates",
]


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("d", [3, 17])
def test_hard_data_are_ranked_exactly(
    kind, d, hard_data, oracle, small_tiles, global_dtype
):
    rng = np.random.default_rng(d)
    Z = hard_data(kind, 120, d, rng).astype(global_dtype)
    expected = oracle(Z, Z, 6, True)
    stale = np.array(
        [rng.permutation(np.delete(np.arange(120), i)) for i in range(120)]
    )
    for warm_start in (None, expected[1], stale[:, :6]):
        distances, indices = exact_neighbors(
            Z, Z, 6, exclude_self=True, warm_start=warm_start, tree=False
        )
        assert_array_equal(indices, expected[1])
        # Sums of float64 squares in another order than the oracle's.
        assert_allclose(distances, expected[0], rtol=1e-14)


@pytest.mark.parametrize("kind", HARD)
def test_queries_far_from_the_data(kind, hard_data, oracle, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    Z, Q = hard_data(kind, 60, 5, rng), hard_data("plain", 20, 5, rng) * 1e3
    expected = oracle(Z, Q, 4, False)
    distances, indices = query_neighbors(Z, Q, 4)
    assert_array_equal(indices, expected[1])
    assert_allclose(distances, expected[0], rtol=1e-14)


def test_same_neighbours_as_scikit_learn(global_random_seed, global_dtype):
    rng = np.random.default_rng(global_random_seed)
    Z = rng.standard_normal((900, 30)).astype(global_dtype)
    Q = rng.standard_normal((50, 30)).astype(global_dtype)
    reference = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(Z)
    distances, indices = self_neighbors(Z, 10, return_distance=True)
    expected = reference.kneighbors()
    assert_array_equal(indices, expected[1])
    # scikit-learn's float32 distances come from the rounded product.
    assert_allclose(distances, expected[0], rtol=1e-4)
    assert_array_equal(query_neighbors(Z, Q, 10)[1], reference.kneighbors(Q)[1])


def test_answers_are_bitwise_equal_on_every_path(small_tiles, global_random_seed):
    # Features in permuted order give distances that are equal but for rounding.
    rng = np.random.default_rng(global_random_seed)
    Z = np.array([rng.permutation([0.1, 0.7, 1.3, 2.9] * 3) for _ in range(200)])
    Z[rng.random(Z.shape) < 0.3] = 0
    first = self_neighbors(Z, 9, return_distance=True)
    sparse = self_neighbors(csr_matrix(Z), 9, return_distance=True)
    threads = self_neighbors(Z, 9, return_distance=True, n_jobs=2)
    single = self_neighbors(csr_array(Z), 9, n_jobs=3)
    for other in (sparse, threads):
        assert_array_equal(other[0], first[0])
        assert_array_equal(other[1], first[1])
    assert_array_equal(single, first[1])


def test_translation_does_not_change_the_neighbours():
    rng = np.random.default_rng(0)
    Z = rng.integers(-50, 50, size=(150, 4)).astype(np.float64)
    assert_array_equal(self_neighbors(Z, 7), self_neighbors(Z + 2.0**40, 7))


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("power", [-1000, -530, 500])
def test_units_do_not_change_the_neighbours(form, power):
    Z = np.random.default_rng(0).normal(size=(60, 4))
    distances, indices = self_neighbors(form(Z), 5, return_distance=True)
    found = self_neighbors(form(Z * 2.0**power), 5, return_distance=True)
    np.testing.assert_array_equal(found[1], indices)
    np.testing.assert_array_equal(found[0], distances * 2.0**power)
    found = query_neighbors(form(Z * 2.0**power), form(Z[:9] * 2.0**power), 3)
    np.testing.assert_array_equal(found[1][:, 1:], indices[:9, :2])


def test_float32_gives_way_to_float64_products(hard_data, oracle):
    rng = np.random.default_rng(0)
    Z = hard_data("clusters", 600, 3, rng)
    search = _exact.Search(Z, Z, 2, True, None)
    assert search.dtype is np.float32
    search.run(search.blocks)
    assert search.dtype is np.float64
    assert_array_equal(search.indices, oracle(Z, Z, 2, True)[1])


def test_mass_duplicates_need_few_distances(small_tiles, monkeypatch):
    Z = np.ones((2000, 2))
    monkeypatch.setattr(SIZES, "tile_columns", 1000)
    counted = []
    pairs = _distances.pair_distances

    def counting(Q, rows, Z, columns):
        counted.append(rows.size)
        return pairs(Q, rows, Z, columns)

    monkeypatch.setattr(_distances, "pair_distances", counting)
    _, indices = exact_neighbors(Z, Z, 2, exclude_self=True, tree=False)
    assert_array_equal(indices[:3], [[1, 2], [0, 2], [0, 1]])
    assert_array_equal(indices[3:], np.tile([0, 1], (1997, 1)))
    assert 0 < sum(counted) < 0.1 * 2000**2


def test_earlier_neighbours_do_not_change_the_answer():
    rng = np.random.default_rng(0)
    Z = rng.integers(0, 5, size=(90, 3)).astype(float)
    earlier = self_neighbors(Z + rng.standard_normal(Z.shape), 6)
    expected = self_neighbors(Z, 4)
    assert (earlier[:, :4] != expected).any()
    assert_array_equal(self_neighbors(Z, 4, warm_start=earlier), expected)
    assert_array_equal(self_neighbors(csr_array(Z), 4, warm_start=earlier), expected)


def test_a_stale_warm_start_does_not_flood_the_search(monkeypatch):
    Z = np.random.default_rng(0).standard_normal((1500, 5))
    far = np.argsort(-((Z[:, None, :2] - Z[:, :2]) ** 2).sum(axis=2), axis=1)[:, :4]
    collected = []
    scan = _scan.scan

    def counting(*arguments):
        found = scan(*arguments)
        collected.append(found[0].size)
        return found

    monkeypatch.setattr(_scan, "scan", counting)
    _, indices = exact_neighbors(Z, Z, 4, exclude_self=True, warm_start=far, tree=False)
    n_collected = sum(collected)
    assert_array_equal(indices, self_neighbors(Z, 4))
    assert 1500 < n_collected < 10 * 1500


def test_counts_are_clamped():
    Z = [[0.0], [2.0], [3.0]]
    assert_array_equal(self_neighbors(Z, 9), [[1, 2], [2, 0], [1, 0]])
    assert query_neighbors(Z, [[0.0]], 9)[1].shape == (1, 3)
    distances, indices = self_neighbors([[1.0, 2.0]], 3, return_distance=True)
    assert distances.shape == indices.shape == (1, 0)


@pytest.mark.parametrize("k", [40, 100, 199])
def test_many_neighbours(k, oracle, small_tiles):
    Z = np.random.default_rng(k).standard_normal((200, 4))
    expected = oracle(Z, Z, k, True)[1]
    answer = exact_neighbors(Z, Z, k, exclude_self=True, tree=False)
    assert_array_equal(answer[1], expected)


def test_sparse_data_stay_sparse():
    X = random_array((300, 400_000), density=1e-4, rng=np.random.default_rng(0)).tocsr()
    tracemalloc.start()
    indices = self_neighbors(X, 5)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6  # dense: 960 MB
    rows = X[:20].toarray()
    squared = (rows**2).sum(1)[:, None] + X.multiply(X).sum(axis=1) - 2 * (X @ rows.T).T
    squared[np.arange(20), np.arange(20)] = np.inf
    assert_array_equal(indices[:20], np.argsort(squared, axis=1)[:, :5])


def test_mixed_sparse_and_dense_queries(oracle):
    rng = np.random.default_rng(3)
    Z = rng.integers(0, 3, size=(40, 6)).astype(float)
    Q = rng.integers(0, 3, size=(9, 6)).astype(float)
    expected = oracle(Z, Q, 5, False)
    for pair in [(csr_array(Z), Q), (Z, csr_matrix(Q)), (csr_array(Z), csr_array(Q))]:
        distances, indices = query_neighbors(*pair, 5)
        assert_array_equal(indices, expected[1])
        assert_allclose(distances, expected[0], rtol=1e-15)


def test_duplicate_entries_of_a_sparse_matrix_are_added():
    X = csr_array(
        (np.array([1.0, 1.0, 2.0, 5.0]), [0, 0, 0, 0], [0, 2, 3, 4]), shape=(3, 1)
    )
    before = X.data.copy()
    assert_array_equal(self_neighbors(X, 1), [[1], [0], [0]])
    assert_array_equal(X.data, before)


def test_the_matrix_of_all_pairs_is_never_held():
    Z = np.random.default_rng(0).standard_normal((6000, 3)).astype(np.float32)
    tracemalloc.start()
    exact_neighbors(Z, Z, 3, exclude_self=True, tree=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6000**2 * 4 / 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda known: known[:, :1], "at least 2 columns"),
        (lambda known: known[:-1], "must have 6 rows"),
        (lambda known: known[0], "must have 6 rows"),
        (lambda known: np.c_[known[:, :1], known[:, :1]], "2 different indices"),
        (lambda known: np.c_[np.arange(6), known[:, 0]], "without 0 itself"),
        (lambda known: known + 3, "indices below 6"),
        (lambda known: known - 3, "indices below 6"),
    ],
)
def test_a_wrong_warm_start_is_named(change, message):
    Z = np.arange(6.0)[:, None]
    known = self_neighbors(Z, 2)
    with pytest.raises(ValueError, match=message):
        self_neighbors(Z, 2, warm_start=change(known))


def test_other_wrong_arguments_are_named():
    Z = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match="at least 1; got 0"):
        self_neighbors(Z, 0)
    with pytest.raises(TypeError):
        self_neighbors(Z, 2.5)
    with pytest.raises(TypeError, match="row indices; got float64"):
        self_neighbors(Z, 1, warm_start=np.ones((6, 1)))
    with pytest.raises(ValueError, match="1 features like `Z`; got 2"):
        query_neighbors(Z, [[1.0, 2.0]], 1)
    for far in (1e154, 1e200, 1e308):
        points = np.full((4, 1), far)
        points[0] *= -1
        for Z in (points, csr_array(points)):
            with pytest.raises(ValueError, match="overflow float64"):
                self_neighbors(Z, 1)
    Z = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match="NaN"):
        self_neighbors([[np.nan], [1.0]], 1)
