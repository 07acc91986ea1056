"""Products with the factors of the thin decomposition."""

import numpy as np
import pytest
import scipy.sparse as sp

from partlearn.linalg import ThinBasis, _svd, standardize, thin_svd


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
    monkeypatch.setattr(_svd, "MAX_FACTOR", 4)
    matrix, _, _ = standardize(np.eye(6))
    with pytest.raises(ValueError, match="6 rows and 6 columns"):
        ThinBasis(matrix)
