"""Products with the factors of the thin decomposition."""

import numpy as np
import pytest
import scipy.sparse as sp

from partlearn._math.linalg import (
    ThinBasis,
    leading_directions,
    leading_rank,
    standardize,
    thin_svd,
)
from partlearn._sizes import SIZES


@pytest.mark.parametrize("shape", [(50, 6), (6, 50)], ids=["tall", "wide"])
@pytest.mark.parametrize("sparse", [False, True])
def test_products_are_those_of_the_factors(shape, sparse, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=shape) * (rng.random(shape) < 0.6)
    matrix, _, _ = standardize(sp.csr_array(X) if sparse else X)
    basis = ThinBasis(matrix)
    U, s, V = thin_svd(matrix)
    A, C = rng.normal(size=(basis.rank, 3)), rng.normal(size=(shape[0], 2))
    np.testing.assert_allclose(basis.left(A), U @ A, atol=1e-8)
    np.testing.assert_allclose(basis.right(A), V @ A, atol=1e-8)
    np.testing.assert_allclose(basis.left_transposed(C), U.T @ C, atol=1e-8)
    np.testing.assert_array_equal(basis.s, s)
    if sparse:  # only the factor of the smaller side is kept
        assert (basis.U is None) == (shape[0] > shape[1])
        assert (basis.V is None) == (shape[0] < shape[1])


def test_large_sides_are_refused(monkeypatch):
    monkeypatch.setattr(SIZES, "largest_factor", 4)
    matrix, _, _ = standardize(np.eye(6))
    with pytest.raises(ValueError, match="6 rows and 6 columns"):
        ThinBasis(matrix)


def test_leading_directions_are_those_of_the_whole_decomposition():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(60, 5)) * [30, 20, 10, 5, 3]
    X = hidden @ rng.normal(size=(5, 40)) + 0.01 * rng.normal(size=(60, 40))
    wanted = thin_svd(standardize(X)[0]).V[:, :5]
    for data in (X, sp.csr_array(X), X.astype(np.float32)):
        V = leading_directions(standardize(data)[0], 5)
        assert V.dtype == data.dtype
        np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-5)
        np.testing.assert_allclose(np.abs((V * wanted).sum(axis=0)), 1, atol=1e-6)


def test_directions_in_which_nothing_varies_are_left_out():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(50, 3)) @ rng.normal(size=(3, 30))).astype(np.float32)
    assert leading_directions(standardize(X)[0], 9).shape == (30, 3)
    assert leading_directions(standardize(np.ones((50, 30)))[0], 9).shape == (30, 0)


def test_all_directions_are_used_where_one_side_is_small(monkeypatch):
    matrix, _, _ = standardize(np.random.default_rng(0).normal(size=(9, 6)))
    assert leading_directions(matrix) is None
    assert leading_directions(matrix, 6) is None
    assert leading_rank((4000, 10**6)) is None
    assert leading_rank((4001, 4001)) == 500
    monkeypatch.setattr(SIZES, "full_svd", 5)
    monkeypatch.setattr(SIZES, "truncated_rank", 2)
    assert leading_directions(matrix).shape == (6, 2)
