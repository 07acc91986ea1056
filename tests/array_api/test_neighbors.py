"""Neighbours on arrays of other libraries are those of the search in NumPy."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsTransformer

from partlearn._array_api import namespace, to_numpy
from partlearn._math.graphs import TiedNeighbors
from partlearn._math.neighbors import query_neighbors, self_neighbors

rng = np.random.default_rng(0)
SETS = {
    "plain": rng.normal(size=(300, 7)),
    "float32": rng.normal(size=(300, 40)).astype(np.float32),
    "far away": 1e6 + rng.normal(size=(200, 3)),
    "tiny": 1e-30 * rng.normal(size=(100, 4)),
    "huge": 1e60 * rng.normal(size=(100, 4)),
    "grid": rng.integers(0, 3, size=(250, 3)).astype(float),
    "equal": np.ones((60, 2)),
    "two rows": np.array([[0.0], [1.0]]),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("k", [1, 10])
def test_neighbors_are_those_of_numpy(name, k, library):
    Z = SETS[name]
    A = library.asarray(Z)
    expected = self_neighbors(Z, k, return_distance=True)
    found = self_neighbors(A, k, return_distance=True)
    assert all(namespace(part) is namespace(A) for part in found)
    np.testing.assert_allclose(to_numpy(found[0]), expected[0], rtol=1e-12)
    np.testing.assert_array_equal(to_numpy(found[1]), expected[1])
    Q = Z[: len(Z) // 2] * 0.5  # differences of whole numbers stay exact
    expected = query_neighbors(Z, Q, k)
    found = query_neighbors(A, library.asarray(Q), k)
    np.testing.assert_allclose(to_numpy(found[0]), expected[0], rtol=1e-12)
    np.testing.assert_array_equal(to_numpy(found[1]), expected[1])


def test_one_row_has_no_neighbors(library):
    assert self_neighbors(library.asarray(np.zeros((1, 2))), 3).shape == (1, 0)


def test_blocks_do_not_change_the_answer(library, monkeypatch):
    Z = SETS["grid"]
    expected = self_neighbors(Z, 5)
    for name in ("_HOST_ENTRIES", "_DEVICE_ENTRIES"):
        monkeypatch.setattr(f"partlearn._math.neighbors._array.{name}", 1000)
    np.testing.assert_array_equal(
        to_numpy(self_neighbors(library.asarray(Z), 5)), expected
    )


def test_injected_search_needs_numpy(library):
    A = library.asarray(SETS["plain"])
    with pytest.raises(ValueError, match="works on NumPy arrays"):
        self_neighbors(A, 3, search=KNeighborsTransformer(n_neighbors=5))


@pytest.mark.parametrize("name", ["plain", "grid", "equal", "two rows", "float32"])
@pytest.mark.parametrize("kind", ["rank", "uniform"])
def test_equally_near_rows_share_their_votes(name, kind, library):
    Z = SETS[name]
    F = np.random.default_rng(1).uniform(size=(len(Z), 4)).astype(Z.dtype)
    expected = TiedNeighbors(Z, 6)(F, kind)
    found = TiedNeighbors(library.asarray(Z), 6)(library.asarray(F), kind)
    assert to_numpy(found).dtype == expected.dtype
    np.testing.assert_allclose(
        to_numpy(found), expected, atol=1e-5 if name == "float32" else 1e-11
    )
