"""Accelerated projected gradient and its step length."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from partlearn._math.simplex import (
    minimize_on_simplex,
    power_iteration,
    project_simplex,
)


def quadratic(m, q, rng, rank=None):
    A = rng.standard_normal((rank or 2 * m, m))
    return A.T @ A / m, rng.standard_normal((m, q)), rng.random((m, q)) < 0.6


def duality_gap(gradient, F, S):
    """Upper bound of the distance to the minimum of a convex function."""
    lowest = np.where(S, gradient, np.inf).min(axis=1)
    return np.sum(gradient * F) - lowest.sum()


@pytest.mark.parametrize("rank", [None, 4])
def test_reaches_the_minimum_of_a_quadratic(rank, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    H, C, S = quadratic(8, 5, rng, rank)
    S[:, 0] = True
    lipschitz = 1.02 * power_iteration(lambda v: H @ v, C.shape)
    F, n_iter = minimize_on_simplex(
        lambda F: H @ F - C, S / S.sum(axis=1, keepdims=True), S, lipschitz, tol=1e-9
    )
    start = project_simplex(C, S)
    assert duality_gap(H @ start - C, start, S) > 0.1
    assert duality_gap(H @ F - C, F, S) < 1e-7
    assert (F[~S] == 0).all()
    assert_allclose(F.sum(axis=1), 1, rtol=1e-13)
    assert 1 < n_iter < 2000


def test_a_plain_step_confirms_the_end():
    # From the solution one step is enough; from elsewhere more than one is needed.
    target = np.array([[0.7, 0.3, 0.0]])
    F, n_iter = minimize_on_simplex(lambda F: F - target, target, None, 1.0)
    assert_allclose(F, target, atol=1e-15)
    assert n_iter == 1
    F, n_iter = minimize_on_simplex(lambda F: F - target, [[0.0, 0.0, 1.0]], None, 2.0)
    assert_allclose(F, target, atol=1e-6)
    assert n_iter > 2


def test_momentum_is_forgotten_when_it_points_uphill():
    # A long valley: without restart the momentum swings for hundreds of steps.
    scales = np.array([[1.0, 1e-3, 1e-4]])
    target = np.array([[0.1, 0.5, 0.4]])
    F, n_iter = minimize_on_simplex(
        lambda F: scales * (F - target), [[1.0, 0.0, 0.0]], None, 1.0, tol=1e-10
    )
    assert_allclose(F, target, atol=1e-5)
    assert n_iter < 700


def test_a_linear_function_ends_in_a_corner():
    slope = np.array([[3.0, 1.0, 2.0]])
    F, _ = minimize_on_simplex(lambda F: slope, [[1.0, 0.0, 0.0]], None, 0.0)
    assert_array_equal(F, [[0, 1, 0]])


def test_float32_stays_float32():
    target = np.array([[0.7, 0.3]], dtype=np.float32)
    start = np.array([[0.0, 1.0]], dtype=np.float32)
    F, _ = minimize_on_simplex(lambda F: F - target, start, None, 1.0, tol=1e-5)
    assert F.dtype == np.float32
    assert_allclose(F, target, atol=1e-5)


def test_stopping_early_warns():
    target = np.array([[0.7, 0.3]])
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        F, n_iter = minimize_on_simplex(
            lambda F: F - target, [[0.0, 1.0]], None, 50.0, max_iter=2
        )
    assert n_iter == 2
    assert_allclose(F.sum(), 1)


@pytest.mark.parametrize("lipschitz", [-1.0, np.nan])
def test_a_wrong_lipschitz_constant_is_named(lipschitz):
    with pytest.raises(ValueError, match="must not be negative; got"):
        minimize_on_simplex(lambda F: F, [[1.0]], None, lipschitz)


def test_power_iteration_finds_the_largest_eigenvalue(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    A = rng.standard_normal((30, 12))
    H = A.T @ A
    largest = np.linalg.eigvalsh(H)[-1]
    estimate = power_iteration(lambda v: H @ v, (12, 3))
    assert largest / 1.02 <= estimate <= largest * (1 + 1e-12)
    assert estimate == power_iteration(lambda v: H @ v, (12, 3))
    assert power_iteration(lambda v: H @ v, (12, 3), n_iter=2) < estimate


def test_power_iteration_of_nothing_is_zero():
    assert power_iteration(lambda v: 0 * v, (3,)) == 0
