"""The implicit standardised matrix equals the one written down."""

import numpy as np
import pytest
import scipy.sparse as sp

from partlearn._math.linalg import column_moments, standardize, thin_svd, z_scores
from partlearn._sizes import SIZES


def sparse_data(m=30, d=8, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(2.0, 3.0, size=(m, d)) * (rng.random((m, d)) < 0.4)
    X[:, 3] = 0.0  # constant
    return X.astype(dtype)


def literal(X, center, scale):
    mean, std = X.mean(axis=0), X.std(axis=0, ddof=1)
    Z = X - mean if center else X
    return Z / np.where(std == 0, 1, std) if scale else Z


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_products(center, scale, form):
    X = sparse_data()
    Z = literal(X, center, scale)
    matrix, mean, std = standardize(form(X), center=center, scale=scale)
    rng = np.random.default_rng(1)
    P, A = rng.normal(size=(8, 3)), rng.normal(size=(30, 4))
    np.testing.assert_allclose(matrix @ P, Z @ P, atol=1e-12)
    np.testing.assert_allclose(matrix.transposed_matmul(A), Z.T @ A, atol=1e-12)
    np.testing.assert_allclose(matrix.scatter(), Z.T @ Z, atol=1e-10)
    np.testing.assert_allclose(matrix.gram(), Z @ Z.T, atol=1e-10)
    assert matrix.squared_norm() == pytest.approx((Z**2).sum(), rel=1e-12)
    np.testing.assert_allclose((X - mean) / std, Z, atol=1e-12)
    assert (matrix.dense is None) == sp.issparse(form(X))


def test_blocks_of_a_sparse_product(monkeypatch):
    X = sp.csr_array(sparse_data())
    whole = standardize(X)[0].gram()
    monkeypatch.setattr(SIZES, "standardized_block", 70)
    np.testing.assert_array_equal(standardize(X)[0].gram(), whole)


@pytest.mark.parametrize("value", [0.1, 1e6 + 0.1, -3.3, 0.0])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_constant_column_is_zero_in_spite_of_round_off(value, form, global_dtype):
    X = np.random.default_rng(0).normal(size=(999, 2)).astype(global_dtype)
    X[:, 1] = value
    matrix, _, scale = standardize(form(X))
    assert scale[1] == 1
    assert not (matrix @ np.array([[0.0], [1.0]], dtype=global_dtype)).any()


def test_small_spread_around_a_large_mean_is_no_constant():
    X = (1e6 + np.random.default_rng(0).normal(size=(500, 1))) * np.ones((1, 1))
    _, std = column_moments(X)
    np.testing.assert_allclose(std, 1, rtol=0.2)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("offset", [1e2, 1e4, 1e7])
def test_an_offset_changes_nothing(form, offset, global_dtype):
    """Whole numbers, so that float32 and float64 hold the same data."""
    rng = np.random.default_rng(0)
    X = rng.integers(-8, 8, size=(12, 30)).astype(float)
    X[:, 20:] *= rng.random((12, 10)) < 0.3
    Z = literal(X, True, True)
    X[:, :20] += min(offset, 1e6) if global_dtype == np.float32 else offset
    X[0, 0] = 0.0  # a full column need not be quite full
    Z[:, 0] = literal(X, True, True)[:, 0]
    matrix, _, _ = standardize(form(X.astype(global_dtype)))
    eps = np.finfo(global_dtype).eps
    np.testing.assert_allclose(matrix.gram(), Z @ Z.T, atol=1e3 * eps)
    np.testing.assert_allclose(matrix.scatter(), Z.T @ Z, atol=1e3 * eps)
    P = rng.normal(size=(30, 2)).astype(global_dtype)
    np.testing.assert_allclose(matrix @ P, Z @ P, atol=1e3 * eps)
    # Centred rows have one direction less than there are rows.
    assert thin_svd(matrix).s.shape == (11,)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array])
def test_units_do_not_matter_however_large_or_small(form):
    X = sparse_data()
    units = 2.0 ** np.array([-900, -520, -30, 0, 1, 30, 520, 1000])
    mean, std = column_moments(form(X))
    far_mean, far_std = column_moments(form(X * units))
    np.testing.assert_array_equal(far_mean, mean * units)
    np.testing.assert_array_equal(far_std, std * units)


def test_spread_that_cannot_be_divided_by_is_none():
    X = np.array([[1.0, 1.0], [2.0, 2.0]])
    matrix, _, scale = standardize((X * [1e-42, 1.0]).astype(np.float32))
    assert scale[0] == 1
    np.testing.assert_allclose(matrix.dense, [[0, -(0.5**0.5)], [0, 0.5**0.5]])


def test_dtype_is_kept(global_dtype):
    X = sparse_data(dtype=global_dtype)
    for form in (X, sp.csr_matrix(X)):
        matrix, mean, _ = standardize(form)
        assert (matrix @ np.ones((8, 1), dtype=global_dtype)).dtype == global_dtype
        ones = np.ones((30, 1), dtype=global_dtype)
        assert matrix.transposed_matmul(ones).dtype == global_dtype
        assert mean.dtype == np.float64  # statistics do not lose digits


def test_two_rows():
    matrix, _, _ = standardize(np.array([[1.0], [3.0]]))
    np.testing.assert_allclose(matrix.dense.ravel(), [-np.sqrt(0.5), np.sqrt(0.5)])


def test_z_scores_take_the_moments_of_some_rows():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1, 1e-14, 1e6] + [3, 0, 9]
    rows = np.arange(20)
    Z = z_scores(X, rows)
    part = X[rows]
    expected = (X - part.mean(axis=0)) / part.std(axis=0, ddof=1)
    np.testing.assert_allclose(Z, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(Z[rows].std(axis=0, ddof=1), 1)  # tiny units as well


def test_z_scores_of_constant_columns_are_zero_where_they_are_constant():
    X = np.array([[0.1, 1], [0.1, 2], [0.1, 4], [0.7, 3]])
    Z = z_scores(X, np.arange(3))
    np.testing.assert_array_equal(Z[:3, 0], 0)
    assert Z[3, 0] == 0.7 - 0.1


def test_z_scores_of_sparse_rows_stay_sparse_unless_small():
    X = sp.csr_array(np.array([[0.0, 2, 1], [3, 0, 1], [0, 4, 1]]))
    before = X.copy()
    Z = z_scores(X)
    assert sp.issparse(Z)
    assert Z.nnz == X.nnz
    np.testing.assert_allclose(Z.toarray()[:, :2].std(axis=0, ddof=1), 1)
    np.testing.assert_array_equal(Z.toarray()[:, 2], 1)
    np.testing.assert_array_equal(X.toarray(), before.toarray())
    dense = z_scores(X, max_dense_bytes=72)
    np.testing.assert_allclose(dense, z_scores(X.toarray()))


def test_z_scores_of_whole_numbers_and_single_precision():
    X = np.array([[1, 2], [3, 5]])
    np.testing.assert_allclose(z_scores(X), [[-(0.5**0.5)] * 2, [0.5**0.5] * 2])
    assert z_scores(X.astype(np.float32)).dtype == np.float32
