"""The kernel variant of DELIN against its definition."""

import numpy as np
import pytest
import scipy.linalg
from scipy.linalg import subspace_angles
from sklearn.datasets import make_circles
from sklearn.metrics.pairwise import rbf_kernel
from tests.settling import fit_briefly

from partlearn._math.graphs import vote
from partlearn.candidates import make_candidates
from partlearn.decomposition import DELIN
from partlearn.decomposition._delin import KernelSpace, gram, kernel_update


def literal_directions(K, F, r):
    m, q = F.shape
    mean = K.mean(axis=1)
    between, within = np.zeros((m, m)), np.zeros((m, m))
    for j in range(q):
        centre = K @ F[:, j] / F[:, j].sum()
        between += np.outer(centre - mean, centre - mean)
        for i in range(m):
            within += F[i, j] * np.outer(K[:, i] - centre, K[:, i] - centre)
    within += 1e-6 * np.trace(within) / m * np.eye(m)
    values, vectors = scipy.linalg.eigh(between, within)
    return values[::-1][:r], vectors[:, ::-1][:, :r]


def test_directions_equal_the_definition(problem):
    X, S, _ = problem
    X, S = X[:40], S[:40]
    K = rbf_kernel(X / 20)
    F = S / S.sum(axis=1, keepdims=True)
    values, Theta = literal_directions(K, F, 3)
    space = KernelSpace(K)
    space.solve(F)
    np.testing.assert_allclose(space.values[:3], values, rtol=1e-6)
    assert subspace_angles(space.directions(3), Theta).max() < 1e-5
    np.testing.assert_allclose(space.embedding(3), K @ space.directions(3))


def test_update_equals_the_definition():
    S = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 0]], dtype=bool)
    F = S / S.sum(axis=1, keepdims=True)
    neighbors = np.array([[3, 1], [2, 3], [0, 1], [0, 1]])

    def votes(F, kind):
        return vote(F, neighbors, kind)

    new = kernel_update(F, votes, 2, S, np.random.RandomState(0))
    # Row 0: 2 F_3 + F_1 votes for class 0, which both neighbours hold: 2 / (2 + 1).
    # Row 1: 2 F_2 + F_3 votes for class 2, which one neighbour holds: 1 / 3.
    expected = [[2 / 3, 1 / 3, 0], [1 / 3, 1 / 3, 1 / 3], [0, 0, 1], [1, 0, 0]]
    np.testing.assert_allclose(new, expected)


def test_separates_what_no_line_separates():
    X, y = make_circles(120, factor=0.3, noise=0.05, random_state=0)
    y = y + 2 * (X[:, 0] > 0)  # rings, cut in half: four classes
    S = make_candidates(y, 1, random_state=0)
    ours = DELIN(3, kernel="rbf").fit(X, S)
    assert (ours.label_confidence_.argmax(axis=1) == y).mean() > 0.9
    assert ours.components_.shape == (3, 120)
    assert ours.get_feature_names_out().tolist() == ["delin0", "delin1", "delin2"]


def test_transform_compares_with_training_rows(problem):
    X, S, _ = problem

    def kernel(A, B):
        return rbf_kernel(A, B, gamma=0.05)

    ours = fit_briefly(DELIN(2, kernel=kernel, max_iter=3), X, S)
    Xs = (X - ours.mean_) / ours.scale_
    np.testing.assert_allclose(
        ours.transform(X[:5]), kernel(Xs[:5], Xs) @ ours.components_.T
    )
    named = DELIN(2, kernel="rbf", max_iter=3, standardize=False)
    fit_briefly(named, X, S)
    np.testing.assert_allclose(
        named.transform(X[:5]), rbf_kernel(X[:5], X) @ named.components_.T
    )
    assert not hasattr(ours, "inverse_transform")
    assert hasattr(DELIN(), "inverse_transform")


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_no_order_matters(problem, kernel):
    X, S, _ = problem
    plain = fit_briefly(DELIN(2, kernel=kernel, max_iter=5), X, S)
    rng = np.random.default_rng(0)
    rows, labels = rng.permutation(len(X)), rng.permutation(S.shape[1])
    other = fit_briefly(
        DELIN(2, kernel=kernel, max_iter=5), X[rows], S[rows][:, labels]
    )
    np.testing.assert_allclose(
        other.label_confidence_, plain.label_confidence_[rows][:, labels], atol=1e-12
    )
    # Small eigenvalues of the kernel matrix carry rounding into the directions.
    np.testing.assert_allclose(
        np.abs(other.transform(X)), np.abs(plain.transform(X)), atol=1e-6
    )


def test_wrong_kernel_shape_is_named(problem):
    X, S, _ = problem
    with pytest.raises(ValueError, match=r"`kernel` must return.*\(90, 90\).*\(2, 2\)"):
        DELIN(kernel=lambda A, B: np.eye(2)).fit(X, S)


def test_constant_kernel_has_no_direction():
    space = KernelSpace(np.ones((4, 4)))
    space.solve(np.eye(2)[[0, 1, 0, 1]])
    np.testing.assert_array_equal(space.values, 0)


def test_all_rows_alike_is_no_direction():
    with pytest.raises(ValueError, match="No direction depends on the labels"):
        DELIN(kernel="rbf").fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])


def test_gram_is_double_precision():
    K = gram(np.ones((2, 2), np.float32), np.ones((3, 2), np.float32), "linear")
    assert K.dtype == np.float64
    assert K.shape == (2, 3)
