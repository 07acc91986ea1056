"""Searches that the caller brings along, and how good they are."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.random_projection import GaussianRandomProjection

from partlearn._math.neighbors import neighbors_recall, query_neighbors, self_neighbors


@pytest.fixture
def points():
    return np.random.default_rng(0).standard_normal((80, 6))


class Fixed(BaseEstimator):
    """Returns whatever graph it was given."""

    def __init__(self, graph=None):
        self.graph = graph

    def fit_transform(self, X):
        return self.graph


def test_an_exact_search_gives_the_exact_answer(points):
    search = KNeighborsTransformer(n_neighbors=5)
    distances, indices = self_neighbors(points, 5, search=search, return_distance=True)
    expected = self_neighbors(points, 5, return_distance=True)
    assert_array_equal(indices, expected[1])
    np.testing.assert_allclose(distances, expected[0], rtol=1e-12)
    assert not hasattr(search, "n_features_in_")  # a clone was fitted
    queries = points[:7] + 0.1
    distances, indices = query_neighbors(points, queries, 4, search=search)
    expected = query_neighbors(points, queries, 4)
    assert_array_equal(indices, expected[1])
    np.testing.assert_allclose(distances, expected[0], rtol=1e-12)


def test_self_is_dropped_by_index_and_zero_distances_stay():
    # Row 0 is listed without itself, row 1 with itself, all at distance zero.
    graph = csr_array((np.zeros(6), [2, 1, 1, 2, 1, 0], [0, 2, 4, 6]), shape=(3, 3))
    indices = self_neighbors(np.ones((3, 1)), 1, search=Fixed(graph))
    assert_array_equal(indices, [[1], [2], [0]])


def test_equal_distances_are_ordered_by_index():
    graph = csr_array(([2.0, 1, 1, 1, 1, 1], [2, 1, 2, 0, 1, 0], [0, 2, 4, 6]))
    indices = self_neighbors(np.ones((3, 1)), 2, search=Fixed(graph))
    assert_array_equal(indices, [[1, 2], [0, 2], [0, 1]])


def test_too_few_neighbors_are_an_error(points):
    with pytest.raises(ValueError, match=r"row 0 \(80 of 80 rows.*at least 6"):
        self_neighbors(points, 5, search=KNeighborsTransformer(n_neighbors=4))
    with pytest.raises(ValueError, match="larger n_neighbors"):
        query_neighbors(points, points, 7, search=KNeighborsTransformer(n_neighbors=5))
    with pytest.raises(ValueError, match="found 0 neighbors"):
        self_neighbors(points, 3, search=RadiusNeighborsTransformer(radius=1e-9))


def test_what_is_not_a_distance_graph_is_an_error(points):
    with pytest.raises(ValueError, match=r"shape \(80, 80\).*got ndarray"):
        self_neighbors(points, 3, search=Fixed(np.ones((80, 80))))
    with pytest.raises(ValueError, match=r"got \(3, 3\)"):
        self_neighbors(points, 3, search=Fixed(csr_array(np.ones((3, 3)))))
    search = KNeighborsTransformer(n_neighbors=9, mode="connectivity")
    with pytest.raises(ValueError, match="mode='distance'"):
        self_neighbors(points, 3, search=search)


def test_recall_of_exact_approximate_and_wrong_neighbors(points):
    Z = np.repeat(points, 2, axis=0)
    exact = self_neighbors(Z, 3)
    assert neighbors_recall(Z, exact) == 1
    assert neighbors_recall(csr_array(Z), exact, n_samples=50) == 1
    assert neighbors_recall(Z, exact, n_samples=50, n_jobs=2, random_state=7) == 1
    far = np.argsort(-np.linalg.norm(Z[:, None] - Z, axis=2), axis=1)[:, :3]
    assert neighbors_recall(Z, far) == 0
    assert neighbors_recall(Z, np.c_[exact[:, :2], far[:, :1]]) == pytest.approx(2 / 3)
    rough = make_pipeline(
        GaussianRandomProjection(3, random_state=0),
        KNeighborsTransformer(n_neighbors=4),
    )
    assert 0.2 < neighbors_recall(Z, self_neighbors(Z, 3, search=rough)) < 1
    with pytest.raises(ValueError, match=r"160 rows.*got shape \(80, 3\)"):
        neighbors_recall(Z, exact[:80])


@pytest.mark.parametrize(
    ("indices", "wrong"),
    [
        ([[1, 1], [0, 2], [0, 1]], r"Row 0 of `indices` must hold 2 different"),
        ([[1], [1], [0]], r"Row 1 .* without 1 itself; got \[1\]"),
        ([[1], [-1], [0]], "Row 1 of `indices`"),
        ([[1], [3], [0]], "Row 1 of `indices`"),
        ([1, 0, 0], r"3 rows and at least 1 columns; got shape \(3,\)"),
        (np.empty((3, 0), dtype=int), "at least 1 columns"),
    ],
)
def test_recall_of_what_are_no_neighbors(indices, wrong):
    with pytest.raises(ValueError, match=wrong):
        neighbors_recall([[0.0], [1.0], [3.0]], indices)
    with pytest.raises(ValueError, match="`n_samples` must be at least 1; got 0"):
        neighbors_recall([[0.0], [1.0], [3.0]], [[1], [0], [1]], n_samples=0)


def test_recall_counts_equally_near_points_as_found():
    Z = np.zeros((6, 1))  # the point itself may be hidden among the duplicates
    wrapped = (np.arange(6)[:, None] + [1, 2]) % 6
    assert neighbors_recall(Z, wrapped) == 1
