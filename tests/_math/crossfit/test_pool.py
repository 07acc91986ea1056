"""Both pools of experts against definitions and finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from partlearn._math.crossfit import log_linear_pool, log_linear_weights
from partlearn._math.crossfit._experts import (
    linear_pool,
    log_linear_objective,
    mixture_weights,
    pooled_confidence,
    smooth,
)
from partlearn._sizes import SIZES


def problem(seed, m=60, q=4, E=5):
    rng = np.random.RandomState(seed)
    y = rng.randint(q, size=m)
    L = np.eye(q)[y]
    L[np.arange(m), rng.randint(q, size=m)] = 1
    # Experts from useless to good.
    experts = [
        smooth((1 - e / E) * rng.dirichlet(np.ones(q), m) + e / E * np.eye(q)[y])
        for e in range(E)
    ]
    return experts, L


def literal(w, experts, L):
    """The objective as it is written."""
    total = 0.0
    for i in range(len(L)):
        p = np.ones(L.shape[1])
        for e, P in enumerate(experts):
            p = p * P[i] ** w[e]
        p = p / p.sum()
        total += np.log((L[i] * p).sum())
    return total / len(L) - 1e-3 * ((w - 1 / len(w)) ** 2).sum()


def logs_of(experts):
    return np.log(np.stack([P.ravel() for P in experts]))


def test_objective_and_gradient(global_random_seed):
    experts, L = problem(global_random_seed)
    L = L * np.random.RandomState(7).uniform(0.2, 1, L.shape)  # weights, not only sets
    logs = logs_of(experts)
    for w in (np.full(5, 0.2), np.array([0.0, 2.0, 0.5, 4.0, 1.0])):
        value, gradient = log_linear_objective(w, logs, L)
        assert_allclose(value, literal(w, experts, L), rtol=1e-10)
        numeric = approx_fprime(w, lambda v: literal(v, experts, L), 1e-6)
        assert_allclose(gradient, numeric, atol=1e-5)


def test_maximum_is_at_least_that_of_every_single_expert(global_random_seed):
    experts, L = problem(global_random_seed)
    logs = logs_of(experts)
    w = log_linear_weights(experts, L)
    assert ((w >= 0) & (w <= 5)).all()
    best, gradient = log_linear_objective(w, logs, L)
    for e in range(5):
        alone = np.eye(5)[e]
        assert best >= log_linear_objective(alone, logs, L)[0]
    inside = (w > 1e-6) & (w < 5 - 1e-6)
    assert np.abs(gradient[inside]).max(initial=0) < 1e-3
    assert (gradient[w <= 1e-6] < 1e-3).all()


def test_a_warm_start_ends_at_the_same_place():
    experts, L = problem(0)
    cold = log_linear_weights(experts, L)
    warm = log_linear_weights(experts, L, cold)
    logs = logs_of(experts)
    values = [log_linear_objective(w, logs, L)[0] for w in (cold, warm)]
    assert_allclose(*values, atol=1e-6)
    assert_allclose(cold, warm, atol=0.05)


def test_some_of_many_rows_find_the_weights(monkeypatch):
    experts, L = problem(0)
    all_rows = log_linear_weights(experts, L)
    monkeypatch.setattr(SIZES, "pool_rows", len(L) // 2)
    some = np.sort(np.random.RandomState(0).permutation(len(L))[: len(L) // 2])
    found = log_linear_weights(experts, L)
    monkeypatch.undo()
    expected = log_linear_weights([P[some] for P in experts], L[some])
    assert_allclose(found, expected)
    assert np.abs(found - all_rows).max() > 1e-6


def test_pools_by_definition():
    experts, L = problem(0)
    a, w = mixture_weights(experts, L)[0], np.array([0.1, 0.0, 0.7, 1.0, 2.0])
    M1 = sum(x * P for x, P in zip(a, experts, strict=True))
    M2 = np.prod([P**x for x, P in zip(w, experts, strict=True)], axis=0)
    M2 /= M2.sum(axis=1, keepdims=True)
    assert_allclose(linear_pool(experts, a), M1)
    assert_allclose(log_linear_pool(experts, w), M2)
    M = np.sqrt(M1 * M2)
    assert_allclose(pooled_confidence(experts, a, w), M / M.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("scale", [0.01, 7.0])
def test_only_ratios_of_the_evidence_of_a_row_count(scale):
    experts, L = problem(0)
    factor = np.where(np.arange(len(L)) % 2, scale, 1.0)[:, None]
    assert_allclose(
        mixture_weights(experts, L)[0], mixture_weights(experts, L * factor)[0]
    )
    assert_allclose(
        log_linear_weights(experts, L),
        log_linear_weights(experts, L * factor),
        atol=1e-3,
    )
