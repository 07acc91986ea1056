"""Orders of rows and columns that follow from their content."""

import numpy as np
import pytest
import scipy.sparse as sp

from partlearn._math.linalg import settled_orders


def make(kind, rng):
    X, S = rng.normal(size=(40, 7)), rng.random((40, 3)) < 0.5
    if kind == "binary":
        X = (X > 0) + 0.0
    if kind == "far":  # from zero
        X += 1e4
    if kind == "tiny":
        X *= 1e-200
    if kind == "constant":
        X[:, 2] = 5
    S[np.arange(40), rng.integers(3, size=40)] = True
    return X, S


@pytest.mark.parametrize("kind", ["plain", "binary", "far", "tiny", "constant"])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_order_of_the_data_does_not_matter(kind, sparse, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, S = make(kind, rng)
    store = sp.csr_array if sparse else np.asarray
    p, c, l = (rng.permutation(n) for n in (*X.shape, 3))
    found = []
    for A, L in ((X, S), (X[p][:, c], S[p][:, l])):
        rows, columns = settled_orders(store(A), L)
        assert sorted(rows) == list(range(40))
        assert sorted(columns) == list(range(7))
        found.append((A[rows][:, columns], L[rows]))
    (A, L), (B, M) = found
    np.testing.assert_array_equal(A, B)
    # Labels keep their own order.
    np.testing.assert_array_equal(L[:, l], M)


def test_sparse_rows_are_ordered_as_dense_ones(global_random_seed):
    X, S = make("plain", np.random.default_rng(global_random_seed))
    for one, two in zip(
        settled_orders(X, S), settled_orders(sp.csr_array(X), S), strict=True
    ):
        np.testing.assert_array_equal(one, two)


def test_equal_rows_are_ordered_by_their_labels():
    X = np.zeros((4, 2))
    X[:2] = 1
    S = np.array([[1, 1], [1, 0], [1, 0], [1, 1]], dtype=bool)
    turned = [3, 2, 1, 0]
    one, _ = settled_orders(X, S)
    two, _ = settled_orders(X[turned], S[turned])
    np.testing.assert_array_equal(X[one], X[turned][two])
    np.testing.assert_array_equal(S[one], S[turned][two])
