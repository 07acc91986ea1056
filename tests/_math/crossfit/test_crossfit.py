"""Blocks A to F of CRISP against explicit refits and definitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import svds

from partlearn._math.crossfit import (
    LeaveOneOut,
    NeighborSearch,
    StoppingRule,
    background_size,
    targets,
)
from partlearn._math.crossfit._background import (
    BACKGROUND_GRID,
    background_weight,
    mixed,
)
from partlearn._math.crossfit._bases import Basis, decompose
from partlearn._math.crossfit._embedding import (
    class_means,
    rotation,
    within_scatter,
)
from partlearn._math.crossfit._experts import (
    gaussian_expert,
    mixture_weights,
    neighbor_expert,
    unit_rows,
)
from partlearn._math.crossfit._scores import RIDGE_GRID
from partlearn._math.linalg import content_order, standardize
from partlearn._math.linalg._svd import randomized_left
from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates, uniform_confidence


def problem(seed, m, d, q=4):
    rng = np.random.RandomState(seed)
    y = rng.randint(q, size=m)
    X = rng.standard_normal((m, d)) + 0.8 * rng.standard_normal((q, d))[y]
    S = make_candidates(y, n_false=1, random_state=seed)
    return X, y, S


def basis_of(X, rank=None):
    matrix, _, _ = standardize(X)
    total = (matrix.dense**2).sum() if matrix.dense is not None else np.nan
    return decompose(matrix, total, rank, np.random.RandomState(0))


def refit(X, Y, lam):
    """Ridge regression with an unpenalised intercept, straight from its definition."""
    mean = X.mean(axis=0)
    A = X - mean
    B = np.linalg.solve(A.T @ A + lam * np.eye(A.shape[1]), A.T @ (Y - Y.mean(axis=0)))
    return mean, Y.mean(axis=0), B


# Fewer features than rows, and more.
SHAPES = [(90, 4), (60, 12), (40, 70)]


@pytest.mark.parametrize(("m", "d"), SHAPES)
@pytest.mark.parametrize("ridge", RIDGE_GRID[::3])
def test_held_out_scores_equal_explicit_refits(m, d, ridge, global_random_seed):
    X, _, S = problem(global_random_seed, m, d)
    basis = basis_of(X)
    X = standardize(X)[0].dense
    model = LeaveOneOut(basis)
    Y = targets(uniform_confidence(S))
    C = model.project(Y)
    scores = model.held_out(Y, C, ridge)
    lam = ridge * (basis.s**2).mean()
    errors = np.empty(m)
    for i in range(m):
        rest = np.arange(m) != i
        mean, intercept, B = refit(X[rest], Y[rest], lam)
        assert_allclose(scores[i], (X[i] - mean) @ B, atol=1e-8)
        errors[i] = ((Y[i] - intercept - (X[i] - mean) @ B) ** 2).sum()
    assert_allclose(model.press(Y, C, [ridge]), [errors.sum()], rtol=1e-8)
    some = LeaveOneOut(basis, np.arange(0, m, 3))
    assert_allclose(some.press(Y, C, [ridge]), [errors[::3].sum()], rtol=1e-8)
    mean, _, B = refit(X, Y, lam)
    assert_allclose(model.in_sample(C, ridge), X @ B, atol=1e-9)


def test_targets_weigh_labels_alike():
    F = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    Y = targets(F)
    assert_allclose(Y.sum(axis=0), 0, atol=1e-12)
    assert_array_equal(Y[:, 2], 0)  # nobody believes in the third label
    assert_allclose(np.ptp(Y[:, 0]), np.sqrt(4 / 3))
    assert_allclose(np.ptp(Y[:, 1]), 2.0)


def test_decomposition_on_either_side_dense_or_sparse():
    rng = np.random.RandomState(0)
    for m, d in [(30, 8), (8, 30)]:
        X = rng.standard_normal((m, d)) * (rng.random((m, d)) < 0.4)
        X[:, 3] = 5.0  # constant
        X[:, 4] = X[:, 5]  # repeated
        dense, sparse = basis_of(X), None
        matrix, _, _ = standardize(sp.csr_array(X))
        expected = standardize(X)[0].dense
        total = (expected**2).sum()
        sparse = decompose(matrix, total, None, rng)
        assert len(dense.s) == np.linalg.matrix_rank(expected)
        assert_allclose(dense.s, sparse.s)
        assert_allclose(dense.mean_square, (dense.s**2).mean())
        for basis in (dense, sparse):
            assert_allclose(basis.U.T @ basis.U, np.eye(len(basis.s)), atol=1e-9)
            V = basis.directions(np.eye(len(basis.s)))
            assert_allclose(basis.U * basis.s @ V.T, expected, atol=1e-9)


def test_randomised_decomposition_agrees_with_lanczos(monkeypatch):
    rng = np.random.RandomState(0)
    factors = rng.standard_normal((300, 12)) * np.geomspace(30, 1, 12)
    X = factors @ rng.standard_normal((12, 150)) + rng.standard_normal((300, 150))
    matrix, _, _ = standardize(X)
    U, s = randomized_left(matrix, 10, rng)
    left, values, _ = svds(matrix.dense, k=10, random_state=0)
    assert_allclose(s, values[::-1], rtol=1e-6)
    cosine = np.abs(np.einsum("ij,ij->j", U, left[:, ::-1]))
    assert_allclose(cosine, 1, atol=1e-6)
    # The decomposition takes this way above a size, and knows the whole variance.
    total = (matrix.dense**2).sum()
    monkeypatch.setattr(SIZES, "full_svd", 100)
    monkeypatch.setattr(SIZES, "truncated_rank", 10)
    basis = decompose(matrix, total, None, rng)
    assert_allclose(basis.s, values[::-1], rtol=1e-6)
    assert_allclose(basis.mean_square, total / 150)


def leave_one_out(seed, m=150, d=60, q=30):
    """Labels of which only the first five have anything to do with the data."""
    rng = np.random.RandomState(seed)
    y = rng.randint(q, size=m)
    centers = np.zeros((q, d))
    centers[:5, :5] = 4 * np.eye(5)
    X = rng.standard_normal((m, d)) + centers[y]
    F = np.eye(q)[y]
    Y = targets(F)
    basis = basis_of(X)
    model = LeaveOneOut(basis)
    C = model.project(Y)
    ridge = 0.03
    held_out = model.held_out(Y, C, ridge)
    shrunk = model.shrinkage(ridge)[:, None] * C
    return Y, F, held_out, shrunk.T @ shrunk / m


def test_directions_without_held_out_signal_are_dropped(global_random_seed):
    Y, F, held_out, second = leave_one_out(global_random_seed)
    R, values = rotation(Y, F, held_out, second)
    signal = np.einsum("ij,ij->j", Y @ R, held_out @ R) / len(Y)
    assert (signal > 0).all()
    assert len(values) < 29  # of q - 1 = 29 that have in-sample signal
    assert (np.diff(values) <= 0).all()
    assert_allclose(signal, values, rtol=1e-8)


def test_squared_signal_would_choose_directions_that_deny_the_own_label(
    global_random_seed,
):
    """Why the signal is signed: ordinary discriminants of held-out scores deceive."""
    Y, F, held_out, second = leave_one_out(global_random_seed)
    means = class_means(held_out - held_out.mean(axis=0), F)
    between = (means.T * F.sum(axis=0)) @ means / len(F)
    within = within_scatter(held_out, F)
    within += 1e-2 * np.trace(within) / len(within) * np.eye(len(within))
    C = (Y.T @ held_out + held_out.T @ Y) / (2 * len(Y))
    unsigned = np.linalg.eig(np.linalg.solve(within, between))
    order = np.argsort(unsigned.eigenvalues.real)[::-1][:10]
    chosen = unsigned.eigenvectors.real[:, order]
    assert (np.einsum("ij,ik,kj->j", chosen, C, chosen) < 0).any()
    R, _ = rotation(Y, F, held_out, second)
    assert (np.einsum("ij,ik,kj->j", R, C, R) > 0).all()


def test_rotation_keeps_one_direction_where_none_has_signal():
    rng = np.random.RandomState(0)
    Y = rng.standard_normal((40, 3))
    Y -= Y.mean(axis=0)
    F = uniform_confidence(np.ones((40, 3), dtype=bool))
    R, values = rotation(Y, F, -0.1 * Y, np.eye(3))
    assert R.shape == (3, 1)
    assert values[0] < 0


def test_rotation_refuses_scores_without_any_variance():
    F = np.eye(2)[[0, 1, 0, 1]]
    with pytest.raises(ValueError, match="No direction of the data depends"):
        rotation(targets(F), F, np.zeros((4, 2)), np.zeros((2, 2)))


def test_within_scatter_by_definition():
    rng = np.random.RandomState(0)
    Z, F = rng.standard_normal((20, 3)), rng.dirichlet(np.ones(4), 20)
    W = np.zeros((3, 3))
    for j in range(4):
        mean = F[:, j] @ Z / F[:, j].sum()
        for i in range(20):
            W += F[i, j] * np.outer(Z[i] - mean, Z[i] - mean) / 20
    assert_allclose(within_scatter(Z, F), W, atol=1e-12)


def test_gaussian_expert_leaves_the_row_out_of_the_means():
    rng = np.random.RandomState(0)
    Z, y = rng.standard_normal((12, 2)), np.arange(12) % 3
    F = np.hstack([np.eye(3)[y], np.zeros((12, 1))])
    P = gaussian_expert(Z, F)
    for i in range(12):
        rest = np.arange(12) != i
        logits = []
        for j in range(3):
            members = rest & (y == j) if y[i] == j else y == j
            distance = ((Z[i] - Z[members].mean(axis=0)) ** 2).sum()
            logits.append(-distance / 2 + np.log(4 / 12))
        expected = np.exp(logits) / np.exp(logits).sum()
        assert_allclose(P[i, :3], 0.99 * expected + 0.01 / 4, atol=1e-6)
    assert_allclose(P.sum(axis=1), 1)
    assert_allclose(P[:, 3], 0.01 / 4, atol=1e-6)  # nobody believes in the last label


def test_rank_vote_is_a_distribution_over_all_labels():
    P = neighbor_expert(np.eye(3), np.array([[1, 2], [2, 0], [0, 1]]))
    assert_allclose(P.sum(axis=1), 1)
    assert_allclose(P[0], 0.99 * np.array([0, 2, 1]) / 3 + 0.01 / 3)


def test_unit_rows_leave_zero_rows_alone():
    assert_allclose(unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0, 0]])


def test_mixture_trusts_the_expert_that_expects_the_candidates():
    S = np.eye(3, dtype=bool)[[0, 1, 2, 0]]
    right, wrong = 0.9 * S + 0.1 / 3, np.full((4, 3), 1 / 3)
    weights, likelihood = mixture_weights([right, wrong], S)
    assert_allclose(weights.sum(), 1)
    assert weights[0] > 0.99
    assert likelihood > np.log(0.9)


def test_mixed_distances_are_the_weighted_sum():
    rng = np.random.RandomState(0)
    Z, G = rng.standard_normal((9, 2)), rng.standard_normal((9, 3))
    A, w = mixed(Z, G, 0.3), 0.3
    zeta, gamma = (Z**2).sum(axis=1).mean(), (G**2).sum(axis=1).mean()
    expected = (1 - w) * ((Z[0] - Z[1]) ** 2).sum() / zeta
    expected += w * ((G[0] - G[1]) ** 2).sum() / gamma
    assert_allclose(((A[0] - A[1]) ** 2).sum(), expected)
    assert mixed(Z, G, 0.0).shape == (9, 2)
    assert mixed(Z, G, 1.0).shape == (9, 3)


def test_background_is_chosen_only_where_it_helps(global_random_seed):
    rng = np.random.RandomState(global_random_seed)
    y = rng.randint(4, size=200)
    S = make_candidates(y, n_false=1, random_state=global_random_seed)
    F, noise = np.eye(4)[y], rng.standard_normal((200, 2))
    signal = 12 * np.eye(4)[y] + rng.standard_normal((200, 4))

    def chosen(Z, G):
        search, order = NeighborSearch(None, None), rng.permutation(200)
        return background_weight(Z, G, F, S, search, order)

    assert chosen(signal, noise) == 0
    assert chosen(noise, signal) > 0.5
    assert chosen(noise, signal) in BACKGROUND_GRID


def test_background_size():
    s = np.sqrt([60.0, 30.0, 6.0, 4.0])
    assert background_size(s, 100.0, 10) == 3
    assert background_size(s, 100.0, 3) == 2
    assert background_size(s, 100.0, 2) == 2
    assert background_size(s[:1], 100.0, 9) == 1


def test_basis_is_a_plain_record():
    X = np.random.RandomState(0).standard_normal((9, 3))
    basis = basis_of(X, rank=2)
    assert isinstance(basis, Basis)
    assert basis.U.shape == (9, 2)
    assert_allclose(basis.mean_square, (standardize(X)[0].dense ** 2).sum() / 3)


def changed(F, n):
    """Confidences in which the first `n` rows have changed their minds."""
    F = F.copy()
    F[:n] = F[:n, ::-1]
    return F


def test_two_steady_iterations_end_the_fit():
    F = np.tile([0.9, 0.1], (1000, 1))
    stop = StoppingRule(1e-3, 0.02)
    assert not stop(changed(F, 20), F, -1.0)
    assert not stop(changed(F, 21), F, -0.9)
    assert not stop(changed(F, 20), F, -0.8)
    assert stop(changed(F, 20), F, -0.7)
    assert stop.objective == [-1.0, -0.9, -0.8, -0.7]


def test_nothing_that_changes_ends_the_fit():
    F = np.tile([0.9, 0.1], (1000, 1))
    assert StoppingRule(1e-3, 0.0)(F + 1e-4, F, -1.0)
    assert not any(
        StoppingRule(1e-3, None)(changed(F, 0), F + 0.01, -1.0) for _ in "ab"
    )
    never = StoppingRule(0, 1.0, watch_objective=True)
    assert not any(never(F, F, -1.0) for _ in range(5))


@pytest.mark.parametrize("watch", [True, False])
def test_an_objective_that_no_longer_rises(watch):
    F = np.tile([0.9, 0.1], (1000, 1))
    stop = StoppingRule(1e-3, 0.0, watch_objective=watch)
    assert not stop(changed(F, 50), F, -0.5)
    assert not stop(changed(F, 50), F, -0.6)  # the iteration before does not count
    assert stop(changed(F, 50), F, -0.5) == watch
    assert not stop(changed(F, 51), F, -0.5)  # too many labels on the move


def test_order_of_content(global_random_seed):
    rng = np.random.RandomState(global_random_seed)
    X = rng.randint(4, size=(200, 3)).astype(float) * [1.0, 1e6, 0.0]  # many equal rows
    S = rng.uniform(size=(200, 4)) < 0.5
    first = content_order(X, S)
    new = rng.permutation(200)
    for rows in (X[new], sp.csr_array(X[new]), X[new].astype(np.float32)):
        second = content_order(rows, S[new])
        np.testing.assert_array_equal(X[new][second], X[first])
        np.testing.assert_array_equal(S[new][second], S[first])
    turned = content_order(X, S[:, ::-1])
    np.testing.assert_array_equal(S[turned], S[first])


@pytest.mark.parametrize("kind", ["normal", "binary", "one-hot", "far"])
def test_order_of_content_whatever_the_order_of_the_columns(kind, global_random_seed):
    rng = np.random.RandomState(global_random_seed)
    X = rng.standard_normal((300, 20))
    if kind == "binary":
        X = (X > 0.5).astype(float)
    if kind == "one-hot":
        X = np.hstack([np.eye(5)[rng.randint(5, size=300)] for _ in range(4)])
    if kind == "far":
        X += 1e4
    S = rng.uniform(size=(300, 4)) < 0.5
    first = content_order(X, S)
    columns, rows = rng.permutation(20), rng.permutation(300)
    second = content_order(X[rows][:, columns], S[rows])
    np.testing.assert_array_equal(X[rows][second], X[first])
    np.testing.assert_array_equal(S[rows][second], S[first])
