"""The thin solver against SciPy's dense generalised eigenproblem."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from partlearn._math.linalg import (
    ThinEigenSolver,
    conjugate_gradients,
    fix_signs,
    standardize,
)
from partlearn._sizes import SIZES


def problem(m, d, q, seed=0, sparse=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    if sparse:
        X = sp.csr_array(X * (rng.random((m, d)) < 0.3))
    C = rng.random((m, q))
    return standardize(X)[0], C - C.mean(axis=0)


def dense_solution(X, C, mu, nu, r):
    Z = X @ np.eye(X.shape[1])
    A = Z.T @ C
    values, vectors = scipy.linalg.eigh(A @ A.T, mu * Z.T @ Z + nu * np.eye(X.shape[1]))
    return values[::-1][:r], vectors[:, ::-1][:, :r]


@pytest.mark.parametrize("route", ["primal", "dual", "iterative", None])
@pytest.mark.parametrize("shape", [(40, 7), (12, 30)])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_route_equals_the_dense_solution(route, shape, sparse):
    X, C = problem(*shape, 4, sparse=sparse)
    solver = ThinEigenSolver(X, 0.3, 0.7, route=route)
    eigen = solver.solve(C)
    values, vectors = dense_solution(X, C, 0.3, 0.7, 4)
    np.testing.assert_allclose(eigen.values[:4], values, rtol=1e-9)
    P = solver.directions(eigen, 4)
    np.testing.assert_allclose(fix_signs(P), fix_signs(vectors), atol=1e-8)
    np.testing.assert_allclose(solver.embedding(eigen, 4), X @ P, atol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
def test_directions_within_a_span_solve_the_problem_there(sparse):
    X, C = problem(40, 30, 4, sparse=sparse)
    V = np.linalg.qr(np.random.default_rng(1).normal(size=(30, 8)))[0]
    solver = ThinEigenSolver(X, 0.3, 0.7, within=V)
    eigen = solver.solve(C)
    Y = X @ V
    values, vectors = scipy.linalg.eigh(
        Y.T @ C @ C.T @ Y, 0.3 * Y.T @ Y + 0.7 * np.eye(8)
    )
    np.testing.assert_allclose(eigen.values, values[::-1][:4], rtol=1e-9)
    P = solver.directions(eigen, 4)
    np.testing.assert_allclose(
        fix_signs(P), fix_signs(V @ vectors[:, ::-1][:, :4]), atol=1e-8
    )
    np.testing.assert_allclose(solver.embedding(eigen, 4), X @ P, atol=1e-12)


def test_the_small_side_is_factored():
    for shape, route in (((40, 7), "primal"), ((7, 40), "dual")):
        assert ThinEigenSolver(problem(*shape, 2)[0], 0.5, 0.5).route == route


def test_nothing_large_is_factored(monkeypatch):
    monkeypatch.setattr(SIZES, "largest_factor", 5)
    X, C = problem(30, 12, 3, sparse=True)
    solver = ThinEigenSolver(X, 0.5, 0.5)
    assert solver.route == "iterative"
    first = solver.solve(C)
    again = solver.solve(C)  # starts from the first solution
    np.testing.assert_allclose(first.values, again.values, rtol=1e-9)
    np.testing.assert_allclose(
        first.values[:3], dense_solution(X, C, 0.5, 0.5, 3)[0], rtol=1e-8
    )


@given(st.integers(0, 10**6), st.integers(3, 15), st.integers(1, 15), st.integers(2, 5))
def test_directions_satisfy_the_constraint(seed, m, d, q):
    X, C = problem(m, d, q, seed)
    mu, nu = 0.4, 0.6
    solver = ThinEigenSolver(X, mu, nu)
    eigen = solver.solve(C)
    assert (eigen.values >= 0).all()
    r = int(np.sum(eigen.values > 1e-9 * max(eigen.values[0], 1e-300)))
    P = solver.directions(eigen, r)
    Z = X @ P
    np.testing.assert_allclose(mu * Z.T @ Z + nu * P.T @ P, np.eye(r), atol=1e-6)


def test_labels_without_signal_give_zeros():
    X, C = problem(20, 5, 3)
    eigen = ThinEigenSolver(X, 0.5, 0.5).solve(np.zeros_like(C))
    assert not eigen.values.any()
    assert np.isfinite(eigen.vectors).all()


def test_single_precision_is_kept():
    rng = np.random.default_rng(0)
    for shape in ((30, 5), (5, 30)):
        X = standardize(rng.normal(size=shape).astype(np.float32))[0]
        C = rng.random((shape[0], 3)).astype(np.float32)
        solver = ThinEigenSolver(X, 0.5, 0.5)
        eigen = solver.solve(C - C.mean(axis=0))
        assert solver.directions(eigen, 2).dtype == np.float32
        assert solver.embedding(eigen, 2).dtype == np.float32


def test_conjugate_gradients_stop_at_their_limit():
    A = np.diag([1.0, 1e3, 1e6])
    b = np.ones((3, 1))
    exact = conjugate_gradients(lambda W: A @ W, b)
    np.testing.assert_allclose(A @ exact, b, atol=1e-8)
    with pytest.warns(ConvergenceWarning, match="after max_iter=1"):
        early = conjugate_gradients(lambda W: A @ W, b, max_iter=1)
    assert np.abs(A @ early - b).max() > 1e-3


def test_fix_signs_is_idempotent_and_harmless():
    P = np.array([[0.1, -3.0], [-0.5, 2.0]])
    fixed = fix_signs(P)
    np.testing.assert_array_equal(fixed, [[-0.1, 3.0], [0.5, -2.0]])
    np.testing.assert_array_equal(fix_signs(fixed), fixed)
