"""The map of rows: labels that differ lie apart, and chance draws nothing apart."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.decomposition import PCA

from partlearn.inspection import label_map
from partlearn.inspection._label_map import _distances, _layout


@pytest.fixture(scope="module")
def groups():
    """Eight groups of rows; two of them lie far from all others."""
    rng = np.random.RandomState(0)
    means = 6 * np.eye(8, 12)
    means[:2] *= 5
    y = np.repeat(np.arange(8), 60)
    return means[y] + rng.normal(size=(480, 12)), y


def apart(places, y):
    """Least distance between the middles of two labels, in spreads within a label."""
    names = np.unique(y)
    middle = np.array([places[y == k].mean(axis=0) for k in names])
    spread = np.mean([places[y == k].std(axis=0).max() for k in names])
    return pdist(middle).min() / spread


def test_labels_that_differ_lie_apart_where_principal_directions_crowd_them(groups):
    X, y = groups
    assert apart(PCA(2).fit_transform(X), y) < 1
    places = label_map(X, np.eye(8)[y])
    assert places.shape == (480, 2)
    assert apart(places, y) > 2.5


def test_labels_without_a_pattern_stay_in_one_heap(groups):
    X, y = groups
    shuffled = np.random.RandomState(1).permutation(y)
    assert apart(label_map(X, np.eye(8)[shuffled]), shuffled) < 0.5


def test_rows_follow_the_places_of_their_labels(groups):
    """A row lies nearest to the middle of its own label, most of the time."""
    X, y = groups
    places = label_map(X, np.eye(8)[y])
    middle = np.array([places[y == k].mean(axis=0) for k in range(8)])
    assert (cdist(places, middle).argmin(axis=1) == y).mean() > 0.9


def test_places_are_a_least_squares_fit(groups):
    X, y = groups
    F = np.eye(8)[y]
    P = PCA(12, whiten=True, svd_solver="full").fit_transform(X)
    P /= P.std(axis=0)
    T = F @ _layout(np.sqrt(_distances(P, F)))
    fit = P @ np.linalg.lstsq(P, T - T.mean(axis=0), rcond=None)[0]
    np.testing.assert_allclose(pdist(label_map(X, F)), pdist(fit), rtol=1e-6)


def test_distances_are_in_units_of_the_spread_within_labels(groups):
    X, y = groups
    F = 0.9 * np.eye(8)[y] + 0.1 / 8
    mean = [sum(F[i, k] * X[i] for i in range(480)) / F[:, k].sum() for k in range(8)]
    within = sum(
        F[i, k] * np.outer(X[i] - mean[k], X[i] - mean[k])
        for i in range(480)
        for k in range(8)
    )
    inverse = np.linalg.inv(within / 480)
    expected = cdist(mean, mean, "mahalanobis", VI=inverse)
    np.testing.assert_allclose(_distances(X, F), expected, rtol=1e-8, atol=1e-6)


def test_a_triangle_keeps_its_sides():
    sides = np.array([[0, 3, 4], [3, 0, 5], [4, 5, 0]], dtype=float)
    np.testing.assert_allclose(squareform(pdist(_layout(sides))), sides, atol=1e-8)


def test_labels_at_one_place_stay_there():
    sides = squareform(pdist([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [0.0, 5.0]]))
    np.testing.assert_allclose(squareform(pdist(_layout(sides))), sides, atol=1e-6)


def test_sparse_rows(groups):
    X, y = groups
    F = np.eye(8)[y]
    assert apart(label_map(csr_array(X), F), y) > 2.5


def test_labels_that_nobody_believes_in_have_no_place(groups):
    X, y = groups
    F = np.eye(8)[y]
    with_one_more = np.insert(F, 3, 0.0, axis=1)
    np.testing.assert_array_equal(label_map(X, with_one_more), label_map(X, F))


@pytest.mark.parametrize("case", ["two labels", "few rows", "two columns"])
def test_principal_directions_where_there_is_nothing_to_lay_out(groups, case):
    X, y = groups
    F = np.eye(8)[y]
    if case == "two labels":
        F = F[:, :2] + np.array([0.5, 0.5]) * (y > 1)[:, None]
    elif case == "few rows":
        X, F = X[::20], F[::20]
    else:
        X = X[:, :2]
    expected = PCA(2, svd_solver="full").fit_transform(X)
    np.testing.assert_allclose(np.abs(label_map(X, F)), np.abs(expected), atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_one_column_lies_on_a_line(form):
    x = np.array([[0.0], [1.0], [3.0]])
    np.testing.assert_array_equal(
        label_map(form(x), np.eye(3)), [[0, 0], [1, 0], [3, 0]]
    )


def test_lists_of_rows_and_lengths_that_differ(groups):
    X, y = groups
    F = np.eye(8)[y]
    np.testing.assert_array_equal(label_map(X.tolist(), F), label_map(X, F))
    with pytest.raises(ValueError, match="a row for every sample; got 20 and"):
        label_map(X[:20], F)


def test_rows_that_are_all_the_same_lie_at_one_place():
    """Without a warning about variances, which nobody asked for."""
    places = label_map(np.ones((40, 4)), np.eye(4)[np.arange(40) % 4])
    np.testing.assert_allclose(places, 0, atol=1e-12)
