"""Conditional entropy of the label given single features."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from partlearn._extras import compiled_loops
from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates, uniform_confidence
from partlearn.feature_selection import _relevance
from partlearn.feature_selection._columns import columns
from partlearn.feature_selection._relevance import (
    Relevance,
    class_gaussians,
    entropy_sums,
    membership,
    posterior_entropy,
)


def problem(rng, m=300, d=12, q=5):
    y = rng.integers(q, size=m)
    X = rng.normal(size=(m, d)) * 10.0 ** rng.integers(-3, 4, size=d)
    X += rng.normal(size=(q, d))[y] * X.std(axis=0) + 5.0
    S = make_candidates(y, n_false=2, random_state=0)
    return X, S, uniform_confidence(S)


def test_hand_computed_entropy():
    # Two singleton classes at -1 and 1, four rows. Standardised, the values are
    # -a, -a, a, a with a = sqrt(3)/2; both spreads are at the floor of 1, priors 1/2.
    X = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    S = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=bool)
    a = np.sqrt(3) / 2
    p = 1 / (1 + np.exp(-2 * a**2))  # odds of the nearer class: exp((2a)^2 / 2)
    expected = -(p * np.log(p) + (1 - p) * np.log(1 - p))
    found = Relevance(columns(X), S.astype(float), S, var_floor=1.0)
    assert_allclose(-found.values, [expected], rtol=1e-14)
    assert_allclose(found.prior_entropy, np.log(2))
    assert found.error == 0


def test_membership_survives_rounding():
    S = np.array([[1, 1, 1], [1, 1, 0], [0, 1, 0]], dtype=bool)
    F = uniform_confidence(S)
    F[0] *= 1 - 1e-15
    F[1] = [0.6, 0.4, 0.0]
    expected = np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0]], dtype=bool)
    assert_array_equal(membership(F, S), expected)


def test_class_moments_and_floor():
    count = np.array([3.0, 1.0])
    mean, std = class_gaussians(
        count, np.array([[6.0, 5.0]]), np.array([[14.0, 25.0]]), 0.5
    )
    assert_allclose(mean, [[2.0, 5.0]])
    assert_allclose(std, [[1.0, 0.5]])  # 1, 2, 3 has variance 1; one member the floor


def test_far_from_all_classes_is_finite():
    h = posterior_entropy(
        np.array([1e6]), np.zeros((2, 1)), np.array([[1.0], [0.5]]), np.zeros((2, 1))
    )
    assert_allclose(h, 0.0, atol=1e-12)


def test_constant_feature_has_the_entropy_of_the_prior(global_random_seed):
    X, S, F = problem(np.random.default_rng(global_random_seed))
    X[:, 3] = 7.3
    found = Relevance(columns(X), F, S, var_floor=0.6)
    assert_allclose(found.values[3], -found.prior_entropy, rtol=1e-12)
    assert found.values.argmin() == 3


def test_classes_without_members_are_left_out():
    X, S, F = problem(np.random.default_rng(0))
    wider = np.column_stack([S, np.zeros(len(S), dtype=bool)])
    a = Relevance(columns(X), F, S, var_floor=0.6).values
    b = Relevance(columns(X), uniform_confidence(wider), wider, var_floor=0.6).values
    assert_array_equal(a, b)


@pytest.mark.parametrize("chunk", [64, 1 << 19])
@pytest.mark.parametrize("block", [700, 1 << 21])
def test_chunks_do_not_matter(monkeypatch, chunk, block):
    X, S, F = problem(np.random.default_rng(3))
    whole = Relevance(columns(X), F, S, var_floor=0.6).values
    monkeypatch.setattr(SIZES, "relevance_block", chunk)
    monkeypatch.setattr(SIZES, "column_block", block)
    assert_allclose(
        Relevance(columns(X), F, S, var_floor=0.6, n_jobs=2).values, whole, rtol=1e-12
    )


@pytest.mark.parametrize("n_false", [1, 4])  # few members, and all of them
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_layout_and_density_do_not_matter(n_false, order):
    rng = np.random.default_rng(1)
    X, S, _ = problem(rng)
    S = make_candidates(np.arange(len(X)) % 5, n_false=n_false, random_state=0)
    F = uniform_confidence(S)
    before = X.copy()
    a = Relevance(columns(np.asarray(X, order=order)), F, S, var_floor=0.6).values
    by_hand = []
    for f in range(X.shape[1]):
        z = (X[:, f] - X[:, f].mean()) / X[:, f].std(ddof=1)
        groups = [z[S[:, j]] for j in range(S.shape[1])]
        mean = np.array([g.mean() for g in groups])[:, None]
        std = np.array([max(g.std(ddof=1), 0.6) for g in groups])[:, None]
        offset = np.log(F.mean(axis=0))[:, None] - np.log(std)
        h = posterior_entropy(z, mean, np.sqrt(0.5) / std, offset)
        by_hand.append(-h.mean())
    assert_allclose(a, by_hand, rtol=1e-10)
    assert_array_equal(X, before)


@pytest.mark.parametrize("var_floor", [0.6, 0.1, 1e-6])
def test_sparse_equals_dense(var_floor, global_random_seed, global_dtype):
    rng = np.random.default_rng(global_random_seed)
    X, S, F = problem(rng)
    X = (rng.poisson(0.3, X.shape) * (1 + rng.random(X.shape))).astype(global_dtype)
    X[:, 0] = 0
    X[:, 1] = rng.random(len(X))  # full
    dense = Relevance(columns(X), F, S, var_floor=var_floor)
    sparse = Relevance(columns(sp.csr_array(X)), F, S, var_floor=var_floor)
    # Moments of float32 data are taken in different orders of summation.
    tol = 1e-10 if global_dtype == np.float64 else 1e-4
    assert_allclose(sparse.values, dense.values, atol=tol)
    assert np.ptp(dense.values) > 1e-3
    some = np.array([4, 1])
    assert_allclose(sparse.exact(some), sparse.values[some], rtol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("var_floor", [0.6, 1e-6])
def test_compiled_agrees(kind, var_floor, global_random_seed, global_dtype):
    pytest.importorskip("numba")
    rng = np.random.default_rng(global_random_seed)
    X, S, F = problem(rng, m=700)
    X[:5] *= 50  # far from all classes
    X = X.astype(global_dtype)
    if kind == "sparse":
        X = sp.csr_array(X * (rng.random(X.shape) < 0.2))
    data = columns(X)
    plain = Relevance(data, F, S, var_floor=var_floor, use_compiled=False)
    fast = Relevance(data, F, S, var_floor=var_floor, use_compiled=True)
    assert (fast.error > 0) == (kind == "dense" and var_floor == 0.6)
    assert_allclose(fast.values, plain.values, atol=1e-6 if fast.error else 1e-12)
    assert np.isfinite(plain.values).all()
    assert (plain.values < 0).all()
    every = np.arange(X.shape[1])
    assert_allclose(fast.exact(every), plain.values, rtol=1e-10, atol=1e-12)


def test_compiled_exponential_is_accurate():
    numba_twin = pytest.importorskip("partlearn.feature_selection._relevance_numba")
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=900), rng.normal(size=100) * 30, [0.0, 1e4]])
    mean, spread = rng.normal(size=(2, 7)), 0.6 + rng.random((2, 7))
    inverse, offset = np.sqrt(0.5) / spread, rng.normal(size=(2, 7))
    indptr = np.array([0, 600, len(x)])
    expected = entropy_sums(x, indptr, mean, inverse, offset)
    assert_allclose(
        numba_twin.entropy_sums(x, indptr, mean, inverse, offset), expected, rtol=1e-12
    )
    single = numba_twin.entropy_sums_single(
        x.astype(np.float32), indptr, mean, inverse, offset
    )
    assert_allclose(single, expected, rtol=1e-5)
    assert (expected > 1).all()


def test_no_points_no_entropy():
    empty = entropy_sums(np.empty(0), np.zeros(3, int), *(np.ones((2, 4)),) * 3)
    assert_array_equal(empty, [0.0, 0.0])


def test_without_numba(monkeypatch):
    monkeypatch.setitem(
        sys.modules, "partlearn.feature_selection._relevance_numba", None
    )
    monkeypatch.delattr("partlearn.feature_selection._relevance_numba", raising=False)
    compiled_loops.cache_clear()
    try:
        assert compiled_loops(_relevance.__name__) is None
        X, S, F = problem(np.random.default_rng(0))
        found = Relevance(columns(X), F, S, var_floor=0.6, use_compiled=True)
        assert found.error == 0
    finally:
        compiled_loops.cache_clear()
