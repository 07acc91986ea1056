"""The thin decomposition, dense and sparse, tall and wide."""

import numpy as np
import pytest
import scipy.sparse as sp

from partlearn._math.linalg import standardize, thin_svd


@pytest.mark.parametrize("shape", [(50, 6), (6, 50), (12, 10)])
@pytest.mark.parametrize("sparse", [False, True])
def test_decomposition(shape, sparse, global_dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=shape) * (rng.random(shape) < 0.6)).astype(global_dtype)
    matrix, _, _ = standardize(sp.csr_array(X) if sparse else X)
    Z = matrix @ np.eye(shape[1], dtype=global_dtype)
    U, s, V = thin_svd(matrix)
    atol = 1e-4 if global_dtype is np.float32 else 1e-8  # Gram route halves the digits
    np.testing.assert_allclose(U * s @ V.T, Z, atol=atol)
    np.testing.assert_allclose(U.T @ U, np.eye(len(s)), atol=atol)
    np.testing.assert_allclose(V.T @ V, np.eye(len(s)), atol=atol)
    assert (np.diff(s) <= 0).all()
    assert U.dtype == s.dtype == V.dtype == global_dtype


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("shape", [(30, 5), (5, 30)])
def test_rank_is_cut(sparse, shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1]))
    matrix, _, _ = standardize(sp.csr_array(X) if sparse else X)
    assert len(thin_svd(matrix).s) == 2


@pytest.mark.parametrize("sparse", [False, True])
def test_constant_data_have_rank_zero(sparse):
    X = np.ones((6, 3))
    matrix, _, _ = standardize(sp.csr_array(X) if sparse else X)
    U, s, V = thin_svd(matrix)
    assert U.shape == (6, 0)
    assert s.shape == (0,)
    assert V.shape == (3, 0)
