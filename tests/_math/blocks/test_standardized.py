"""Moments and products of standardised rows do not depend on the blocks."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from partlearn._math.blocks import Rows
from partlearn._math.linalg import column_moments, standardize

RNG = np.random.default_rng(0)


def in_blocks(A, sizes):
    ends = np.cumsum([0, *sizes])
    return Rows(
        [lambda a=a, b=b: A[a:b] for a, b in pairwise(ends)],
        sizes,
        A.shape[1],
        dtype=A.dtype,
    )


SIZES = [[40], [1] * 40, [7, 33], [1, 38, 1]]


def edge_columns(dtype=np.float64):
    """Ordinary, constant, constant in a block, huge, tiny, with a huge mean."""
    A = RNG.normal(size=(40, 6))
    A[:, 1] = 0.1
    A[:7, 2] = 0.1
    A[:, 3] *= 1e200
    A[:, 4] *= 1e-200
    A[:, 5] += 1e8
    return A


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_array])
def test_moments_of_blocks_are_merged(sizes, as_matrix):
    A = as_matrix(edge_columns())
    mean, std = column_moments(in_blocks(A, sizes))
    expected_mean, expected_std = column_moments(A)
    assert std[1] == 0
    assert_allclose(mean, expected_mean, rtol=1e-12)
    assert_allclose(std, expected_std, rtol=1e-8)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("center", [True, False])
def test_products_of_blocks_are_those_of_the_whole(sizes, as_matrix, center):
    A = as_matrix(RNG.normal(size=(40, 3)) * (RNG.uniform(size=(40, 3)) < 0.5))
    C, P = RNG.normal(size=(40, 2)), RNG.normal(size=(3, 2))
    whole, mean, scale = standardize(A, center=center)
    parts, mean_too, scale_too = standardize(in_blocks(A, sizes), center=center)
    assert_allclose(mean_too, mean, rtol=1e-12, atol=1e-14)
    assert_allclose(scale_too, scale, rtol=1e-12)
    assert_allclose(parts @ P, whole @ P, rtol=1e-9, atol=1e-12)
    expected = whole.transposed_matmul(C)
    assert_allclose(parts.transposed_matmul(C), expected, rtol=1e-9, atol=1e-12)
    assert_allclose(parts.scatter(), whole.scatter(), rtol=1e-9, atol=1e-12)
    assert_allclose(parts.squared_norm(), whole.squared_norm(), rtol=1e-9)
    assert parts.dense is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_rounding_leaves_of_a_huge_mean_is_that_of_all_rows(dtype):
    A = (1e6 + 10 * RNG.normal(size=(40, 2))).astype(dtype)
    whole, _, _ = standardize(A)
    parts, _, _ = standardize(in_blocks(A, [7, 33]))
    eye = np.eye(2, dtype=dtype)
    assert_allclose(
        parts @ eye, whole.dense, rtol=0, atol=1e-6 if dtype == np.float32 else 1e-10
    )
    assert (parts @ eye).dtype == dtype
    assert_array_equal(np.abs((parts @ eye).mean(axis=0)) < 1e-6, True)


def test_blocks_have_no_gram_matrix():
    matrix, _, _ = standardize(in_blocks(RNG.normal(size=(4, 9)), [2, 2]))
    with pytest.raises(ValueError, match="more rows than columns; there are 4 rows"):
        matrix.gram()
