"""The tree of few dimensions gives the answers of the blocked product, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from partlearn._math.neighbors import _exact, query_neighbors, self_neighbors
from partlearn._math.neighbors._exact import exact_neighbors
from partlearn._math.neighbors._tree import tree_neighbors
from partlearn._sizes import SIZES

KINDS = ["plain", "offset", "clusters", "scaled", "tiny", "near duplicates", "rounded"]


@pytest.fixture
def points(hard_data):
    def make(kind, m, d, seed, dtype=np.float64):
        X = hard_data(kind, m, d, np.random.default_rng(seed))
        return (X.round(2) if kind == "rounded" else X).astype(dtype)  # some ties

    return make


def by_products(Z, Q, k, exclude_self):
    return exact_neighbors(Z, Q, k, exclude_self=exclude_self, tree=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 6])
def test_same_answers_as_the_product(points, kind, d, global_random_seed, global_dtype):
    Z = points(kind, 600, d, global_random_seed, global_dtype)
    Q = points(kind, 100, d, global_random_seed + 9, global_dtype)
    for query, own in ((Z, True), (Q, False)):
        expected = by_products(Z, query, 7, own)
        found = exact_neighbors(Z, query, 7, exclude_self=own, n_jobs=2)
        assert_array_equal(found[0], expected[0])
        assert_array_equal(found[1], expected[1])


def test_a_tree_it_is(points, monkeypatch):
    monkeypatch.setattr(_exact, "Search", None)
    Z = points("plain", 600, 3, 0)
    assert self_neighbors(Z, 5).shape == (600, 5)
    assert query_neighbors(Z, Z[:9], 5)[1][:, 0].tolist() == list(range(9))
    for other in (Z[:400], np.hstack([Z, Z, Z]), csr_array(Z)):
        with pytest.raises(TypeError, match="NoneType"):
            self_neighbors(other, 5)


@given(
    Z=arrays(
        np.float64,
        st.tuples(st.integers(2, 40), st.integers(1, 6)),
        elements=st.integers(-3, 3).map(float),
    ),
    k=st.integers(1, 12),
)
@settings(max_examples=60)
def test_ties_go_to_the_lowest_index(oracle, monkeypatch, Z, k):
    monkeypatch.setattr(SIZES, "tree_ties", 10**6)
    for own in (True, False):
        most = min(k, len(Z) - own)
        squared, indices = tree_neighbors(Z, Z, most, exclude_self=own)
        expected = oracle(Z, Z, most, own)
        assert_array_equal(indices, expected[1])
        assert_array_equal(np.sqrt(squared), expected[0])


def test_a_few_ties_are_ranked_by_themselves(points):
    # Five rows at equal distances from row 0, of which the tree may name any two.
    Z = points("plain", 600, 2, 0) + 50
    Z[[0, 3, 599, 5, 77, 8]] = [[0, 0], [0, 1], [1, 0], [0, -1], [-1, 0], [0, 1]]
    squared, indices = tree_neighbors(Z, Z, 2, exclude_self=True)
    assert indices[0].tolist() == [3, 5]
    assert squared[0].tolist() == [1, 1]
    assert indices[3].tolist() == [8, 0]


def test_masses_of_equal_points_are_left_to_the_product():
    Z = np.zeros((600, 2))
    Z[300:] = 1
    assert tree_neighbors(Z, Z, 3, exclude_self=True) is None
    assert self_neighbors(Z, 3)[[0, 1, 599]].tolist() == [
        [1, 2, 3], [0, 2, 3], [300, 301, 302]
    ]  # fmt: skip


def test_distances_that_overflow_are_refused_as_elsewhere(points):
    Z = points("plain", 600, 2, 0) * 1e160
    with pytest.raises(ValueError, match="overflow float64; rescale"):
        self_neighbors(Z, 3)
