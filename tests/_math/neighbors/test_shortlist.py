"""The parts of the search: error bound, scan, distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from partlearn._math.neighbors import (
    _distances,
    _scan,
)
from partlearn._math.neighbors._exact import exact_neighbors
from partlearn._math.neighbors._overlaps import Overlaps, overlap_rarely
from partlearn._math.neighbors._products import (
    DenseProducts,
    SparseProducts,
    relative_error,
    threshold,
)
from partlearn._sizes import SIZES


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.integers(-60, 60),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_products_keep_within_their_error_bound(seed, d, spread, dtype, sparse):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((12, d)) * 2.0 ** rng.integers(min(spread, 0), 60, (12, 1))
    Q = rng.standard_normal((5, d)) * 2.0 ** rng.integers(min(spread, 0), 60, (5, 1))
    tiles = [slice(0, 7), slice(7, 12)]
    if sparse:
        products = SparseProducts(csr_array(Z), csr_array(Q), tiles)
        centre = np.zeros(d)
    else:
        products = DenseProducts(Z, Q, tiles, dtype)
        centre = Z.mean(axis=0)
    H = np.empty((5, 12), dtype=products.dtype)
    left = products.left(slice(0, 5))
    for t, tile in enumerate(tiles):
        part = np.empty((5, tile.stop - tile.start), dtype=products.dtype)
        products.fill(left, t, part)
        H[:, tile] = part
    wide = np.longdouble
    rows, columns = np.divmod(np.arange(60), 12)
    squared = _distances.pair_distances(Q, rows, Z, columns).reshape(5, 12)
    scale = wide(products.scale) ** 2
    a = products.norms.astype(wide)[:, None]
    b = np.sqrt(((Z.astype(wide) - centre) ** 2).sum(axis=1)) * products.scale
    error = np.abs(H.astype(wide) - (squared * scale - a**2))
    assert (error <= products.error * (a + b) ** 2 + products.tiny).all()


@given(st.floats(0, 1), st.floats(0, 1), st.floats(-1, 3), st.floats(1e-12, 1e-3))
def test_threshold_allows_for_the_largest_errors(x, y, bound, error):
    # A point at the bound, and a nearer one whose value is as wrong as it can be.
    tiny = 1e-300
    limit = threshold(np.array([bound]), np.array([x]), error, tiny)[0]
    exact = y**2 - 2 * x * y  # smallest h of a point with norm y
    slack = error * (x + y) ** 2 + tiny
    if exact - slack <= bound:  # its rounded value can be at the bound
        kth = bound + slack
        reach = x + np.sqrt(max(x**2 + kth, 0))
        assert limit >= kth + error * (x + reach) ** 2 * (1 - 1e-12)


def test_float32_is_not_trusted_with_very_many_terms():
    assert relative_error(100, np.float32) < 1e-5
    assert relative_error(10**8, np.float32) == np.inf
    assert relative_error(10**8, np.float64) < 1e-6


def tile(rng, dtype, n=20, width=700):
    return rng.standard_normal((n, width)).astype(dtype)


@pytest.mark.parametrize("k", [1, 10, 40])
@pytest.mark.parametrize("warm", [False, True])
def test_a_scan_misses_nothing(k, warm, global_dtype, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    tiles = [tile(rng, global_dtype) for _ in range(3)]
    norms = rng.random(20)
    everything = np.concatenate(tiles, axis=1)
    kth = np.sort(everything, axis=1)[:, k - 1]
    bound = kth.astype(np.float64) if warm else np.full(20, np.inf)
    minima = None
    if not warm:
        groups = max(128, 8 * k)
        minima = np.full((20, groups), np.inf, dtype=global_dtype)
    for H in tiles:
        rows, columns, values = _scan.scan(
            H, k, bound, minima, lambda: threshold(bound, norms, 1e-6, 1e-30)
        )
        assert_array_equal(values, H[rows, columns])
        missed = kth[:, None] >= H
        missed[rows, columns] = False
        assert not missed.any()
    assert (bound >= kth).all()


def test_group_minima_leave_nothing_to_chance():
    # Ten values, four groups: the last two columns are outside the whole rounds.
    H = np.array([[5.0, 1, 2, 9, 4, 8, 7, 3, 0, 6]])
    bound, minima = np.array([np.inf]), np.full((1, 4), np.inf)
    _scan.scan(H, 2, bound, minima, lambda: bound)
    assert_array_equal(minima, [[4, 1, 2, 3]])
    assert_array_equal(bound, [2])


def test_round_up_never_goes_down():
    values = np.array([0.1, -0.1, 1.0, np.inf, -np.inf, 1e-50])
    rounded = _scan.round_up(values, np.dtype(np.float32))
    assert rounded.dtype == np.float32
    assert (rounded >= values).all()
    assert (np.nextafter(rounded, np.float32(-np.inf))[:3] < values[:3]).all()
    assert_array_equal(_scan.round_up(values, np.dtype(np.float64)), values)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_merging_is_sorting(seed, k, n_new):
    rng = np.random.default_rng(seed)
    rows, columns = np.divmod(rng.permutation(4 * 20)[:n_new], 20)
    squared = rng.integers(0, 4, n_new).astype(float)
    expected = []
    for i in range(4):
        mine = sorted(zip(squared[rows == i], columns[rows == i], strict=True))
        expected.append((mine + [(np.inf, 99)] * k)[:k])
    half = n_new // 2
    best, nearest = np.full((4, k), np.inf), np.full((4, k), 99)
    for part in (slice(0, half), slice(half, None)):
        _scan.keep_nearest(best, nearest, rows[part], columns[part], squared[part])
    assert_array_equal(best, [[value for value, _ in row] for row in expected])
    assert_array_equal(nearest, [[column for _, column in row] for row in expected])


@pytest.mark.parametrize("d", [1, 5, 8, 19, 64])
def test_pair_distances_agree_to_the_last_bit(d, global_dtype, monkeypatch):
    monkeypatch.setattr(SIZES, "difference_block", 500)
    rng = np.random.default_rng(d)
    Z = rng.standard_normal((30, d)).astype(global_dtype)
    Z[rng.random(Z.shape) < 0.4] = 0
    rows, columns = rng.integers(0, 30, 400), rng.integers(0, 30, 400)
    dense = _distances.pair_distances(Z, rows, Z, columns)
    S = csr_array(Z.astype(np.float64))
    assert_array_equal(_distances.pair_distances(S, rows, S, columns), dense)
    difference = Z[rows].astype(np.longdouble) - Z[columns]
    np.testing.assert_allclose(dense, (difference**2).sum(axis=1), rtol=1e-14)


def rare_words(seed, m, d, kind):
    """Sparse rows of which few have a column in common."""
    rng = np.random.default_rng(seed)
    Z = np.zeros((m, d))
    for row in Z:
        columns = rng.integers(Z.shape[1], size=rng.integers(0, 9))
        row[columns] = 1.0 if kind == "binary" else rng.standard_normal(columns.size)
        row[rng.integers(5, size=rng.integers(0, 2))] = 2.0
    if kind == "empty":
        Z[rng.permutation(m)[: m // 2]] = 0.0
    if kind == "copies":
        Z[m // 2 :] = Z[: m - m // 2]
    return Z


@pytest.mark.parametrize("kind", ["binary", "signed", "copies", "empty"])
@pytest.mark.parametrize(("m", "k"), [(200, 3), (300, 4), (300, 90)])
def test_rows_with_few_columns_in_common(kind, m, k, monkeypatch):
    Z = rare_words(m + k, m, 2000, kind)
    sparse = csr_array(Z)
    assert overlap_rarely(sparse, sparse)
    dense = exact_neighbors(Z, Z, k, exclude_self=True)
    asked = []
    candidates = Overlaps.candidates
    monkeypatch.setattr(
        Overlaps,
        "candidates",
        lambda self, left, *args: (
            asked.append(left.shape[0]) or candidates(self, left, *args)
        ),
    )
    for light in (512, 0):  # light rows are many, or hardly enough
        monkeypatch.setattr(SIZES, "light_rows", light)
        found = exact_neighbors(sparse, sparse, k, exclude_self=True)
        for got, wanted in zip(found, dense, strict=True):
            assert_array_equal(got, wanted)
        Q = rare_words(m, 20, 2000, kind)
        found = exact_neighbors(sparse, csr_array(Q), k, exclude_self=False)
        wanted = exact_neighbors(Z, Q, k, exclude_self=False)
        assert_array_equal(found[1], wanted[1])
        assert_array_equal(found[0], wanted[0])
    assert asked == [m, 20] * 2


def test_words_that_all_rows_have_are_no_rare_overlap():
    assert not overlap_rarely(csr_array(np.eye(9) + 1), csr_array(np.eye(9)))
