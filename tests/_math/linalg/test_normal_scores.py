"""Normal scores of columns, and the map that averages columns with them."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from partlearn._math.blocks import in_blocks, take
from partlearn._math.linalg import NormalScores, equal_cells, normal_scores
from partlearn._sizes import SIZES


def test_scores_of_three_values():
    knots, scores = normal_scores(np.array([5.0, -2.0, 1e9]))
    assert_array_equal(knots, [-2.0, 5.0, 1e9])
    assert_allclose(scores, [-np.sqrt(1.5), 0, np.sqrt(1.5)], atol=1e-12)


def test_equal_values_share_the_mean_rank():
    x = np.array([1.0, 0.0, 1.0, 1.0, 2.0])
    knots, scores = normal_scores(x)
    expected = norm.ppf(np.array([0.5, 2.5, 2.5, 2.5, 4.5]) / 5)
    expected = (expected - expected.mean()) / expected.std()
    assert_array_equal(knots, [0.0, 1.0, 2.0])
    assert_allclose(scores, expected[[0, 1, 4]], atol=1e-12)


def test_values_that_differ_by_rounding_are_equal():
    x = np.array([0.3, 0.1 + 0.2, 1.0, 0.3])
    order, starts = equal_cells(x)
    assert_array_equal(x[order[starts]], [0.3, 1.0])
    knots, scores = normal_scores(x)
    assert len(knots) == 2
    assert_allclose(scores, [-1 / np.sqrt(3), np.sqrt(3)])


def test_a_constant_column_has_no_scores():
    X = np.column_stack([np.full(4, 7.0), np.arange(4.0)])
    Z = NormalScores.of(X, np.arange(len(X)))(X)
    assert_array_equal(Z[:, 0], 0)
    assert np.ptp(Z[:, 1]) > 1


def test_two_values_stay_what_they_are():
    """A column of two values is already a linear function of its scores."""
    x = np.random.RandomState(0).rand(50, 1) < 0.3
    Z = NormalScores.of(x.astype(float), np.arange(50))(x.astype(float))
    standard = (x - x.mean()) / x.std()
    assert_allclose(Z * (standard.std() / Z.std()), standard, atol=1e-12)


def test_outliers_are_drawn_in_and_new_rows_interpolated():
    X = np.random.RandomState(0).standard_normal((200, 2)) ** 5
    columns = NormalScores.of(X, np.arange(len(X)))
    Z = columns(X)
    mean, std = X.mean(axis=0), X.std(axis=0, ddof=1)
    for j in range(2):
        assert np.abs(Z[:, j]).max() < np.abs(X[:, j] - mean[j]).max() / std[j]
        assert_array_equal(np.argsort(Z[:, j]), np.argsort(X[:, j]))
    low, high = np.sort(X[:, 0])[[90, 91]]
    new = np.array([[low, 0.0], [(low + high) / 2, 0.0], [high, 0.0], [1e6, 0.0]])
    z = columns(new)[:, 0]
    assert_allclose(z[1], (z[0] + z[2]) / 2)
    # Beyond the largest value only the standardized half grows.
    assert_allclose(2 * z[3] - (1e6 - mean[0]) / std[0], columns.scores[0, -1])


@pytest.mark.parametrize("convert", [sp.csr_array, lambda X: in_blocks(X, 7)])
def test_forms_of_rows(convert):
    X = np.random.RandomState(0).poisson(0.7, size=(40, 3)).astype(float)
    X[:, 2] = np.arange(40)  # as many knots as rows, padded in the other columns
    plain = NormalScores.of(X, np.arange(len(X)))
    other = NormalScores.of(convert(X), np.arange(40))
    assert_allclose(other(X), plain(X), atol=1e-12)
    assert_allclose(take(plain.of_rows(convert(X)), np.arange(40)), plain(X))
    if sp.issparse(convert(X)):
        assert_allclose(other(convert(X)), plain(X), atol=1e-12)


def test_ranks_are_those_of_a_sample(monkeypatch):
    monkeypatch.setattr(SIZES, "ranked_rows", 3)
    X = np.array([[0.0], [1.0], [4.0], [9.0]])
    columns = NormalScores.of(X, np.array([3, 0, 1, 2]))
    standard = (X[:, 0] - X.mean()) / X.std(ddof=1)
    assert_allclose(columns.knots, standard[None, [0, 1, 3]])
