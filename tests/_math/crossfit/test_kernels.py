"""Kernels by blocks, their bases, and what the bases make of new rows."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from tests.settling import fit_briefly

from partlearn._extras import compiled_loops, compiled_twin
from partlearn._math.blocks import Rows, in_blocks
from partlearn._math.crossfit import LeaveOneOut, embed, linear_basis, targets
from partlearn._math.crossfit import _geometries as geometries
from partlearn._math.crossfit import _kernels as kernels
from partlearn._math.crossfit._kernels import (
    exact_kernel_basis,
    kernel_block,
    kernel_matrix,
    kernel_product,
    median_distance,
    nystroem_basis,
)
from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates, uniform_confidence
from partlearn.classification import CRISPClassifier

KERNELS = ["rbf", "laplacian"]


def literal(kernel, X, Z, width):
    if kernel == "rbf":
        return np.exp(-cdist(X, Z, "sqeuclidean") / (2 * width**2))
    return np.exp(-np.abs(X[:, None] - Z[None]).sum(axis=2) / width)


def problem(seed, m=80, d=5, q=4):
    rng = np.random.RandomState(seed)
    y = rng.randint(q, size=m)
    X = rng.standard_normal((m, d)) + rng.standard_normal((q, d))[y]
    return X - X.mean(axis=0), make_candidates(y, n_false=1, random_state=seed)


@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_are_the_definition(kernel, monkeypatch, global_random_seed):
    rng = np.random.RandomState(global_random_seed)
    X, Z = rng.standard_normal((37, 6)), rng.standard_normal((700, 6))
    expected = literal(kernel, X, Z, 1.7)
    assert_allclose(kernel_block(kernel, X, Z, 1.7), expected, atol=1e-13)
    monkeypatch.setattr(SIZES, "kernel_rows", 16)
    K = kernel_matrix(kernel, X, 0.9)
    assert_array_equal(K, K.T)
    assert_array_equal(np.diag(K), 1)
    assert_allclose(K, literal(kernel, X, X, 0.9), atol=1e-13)
    monkeypatch.setattr(SIZES, "kernel_entries", 5 * 700)
    M = rng.standard_normal((700, 3))
    assert_allclose(kernel_product(kernel, X, Z, 1.7, M), expected @ M, atol=1e-11)


def test_numba_and_scipy_add_alike(global_random_seed):
    compiled = pytest.importorskip("partlearn._math.crossfit._kernels_numba")
    rng = np.random.RandomState(global_random_seed)
    X, Z = rng.standard_normal((9, 13)), rng.standard_normal((1100, 13))
    ours = compiled.city_block(X, np.asfortranarray(Z))
    assert_allclose(ours, kernels.city_block(X, Z), rtol=1e-14)


def test_without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "partlearn._math.crossfit._kernels_numba", None)
    monkeypatch.delattr("partlearn._math.crossfit._kernels_numba", raising=False)
    compiled_loops.cache_clear()
    try:
        assert compiled_twin(kernels.city_block) is kernels.city_block
        X, _ = problem(0)
        assert_allclose(
            kernel_matrix("laplacian", X, 2.0), literal("laplacian", X, X, 2.0)
        )
    finally:
        compiled_loops.cache_clear()


def test_median_distance_of_rows_that_are_mostly_equal():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert median_distance("rbf", X) == 5
    assert median_distance("laplacian", X) == 7
    assert median_distance("rbf", np.repeat(X, [5, 1], axis=0)) == 5
    assert median_distance("rbf", np.zeros((4, 2))) == 1
    assert median_distance("rbf", np.zeros((1, 2))) == 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_exact_basis_decomposes_the_centred_kernel(kernel):
    X, _ = problem(0)
    basis = exact_kernel_basis(kernel, X, 2.0)
    H = np.eye(80) - 1 / 80
    centred = H @ literal(kernel, X, X, 2.0) @ H
    assert_allclose((basis.U * basis.s**2) @ basis.U.T, centred, atol=1e-9)
    assert_allclose(basis.A.T @ basis.A, np.eye(len(basis.s) + 1), atol=1e-10)
    assert_allclose(basis.total, np.trace(centred))
    assert_allclose(basis.mean_square, np.trace(centred) / len(basis.s))
    assert basis.s[-1] ** 2 > 1e-10 * basis.s[0] ** 2
    # New rows: k_c(x)' U / s with the kernel centred by the training means.
    Q = X[:7] + 0.3
    K = literal(kernel, X, X, 2.0)
    k = literal(kernel, Q, X, 2.0)
    k_c = k - k.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    eye = np.eye(len(basis.s), 5)
    expected = k_c @ basis.U[:, :5] / basis.s[:5]
    assert_allclose(basis.map(eye)(Q), expected, atol=1e-8)
    assert_allclose(basis.map(eye)(X), basis.rows[:, :5], atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
def test_held_out_scores_equal_kernel_ridge_refits(kernel, ridge, global_random_seed):
    """Kernel ridge regression with an intercept, refitted without each row."""
    X, S = problem(global_random_seed)
    m = len(X)
    basis = exact_kernel_basis(kernel, X, 1.5)
    model = LeaveOneOut(basis)
    Y = targets(uniform_confidence(S))
    scores = model.held_out(Y, model.project(Y), ridge)
    K, lam = literal(kernel, X, X, 1.5), ridge * basis.mean_square
    error = 0.0
    for i in range(m):
        rows, rest = [i], np.delete(np.arange(m), i)
        n = len(rest)
        H = np.eye(n) - 1 / n
        inner = H @ K[np.ix_(rest, rest)] @ H
        dual = np.linalg.solve(inner + lam * np.eye(n), H @ Y[rest])
        k = K[np.ix_(rows, rest)] - K[np.ix_(rest, rest)].mean(axis=0)
        predicted = k @ H @ dual
        assert_allclose(scores[rows], predicted, atol=1e-6)
        error += ((Y[rows] - Y[rest].mean(axis=0) - predicted) ** 2).sum()
    assert_allclose(model.press(Y, model.project(Y), [ridge]), [error], rtol=1e-6)


def test_held_out_scores_do_not_depend_on_the_confidences_of_the_row():
    """The scaling of the targets, which uses the label masses, held fixed."""
    X, S = problem(0)
    rng = np.random.RandomState(1)
    for basis in (
        exact_kernel_basis("rbf", X, 1.5),
        exact_kernel_basis("laplacian", X, 4.0),
        linear_basis(X, scale=True, rank=None, rng=rng)[0],
        nystroem_basis("rbf", X, 1.5, X[::3]),
    ):
        model = LeaveOneOut(basis)
        Y = targets(uniform_confidence(S))
        before = model.held_out(Y, model.project(Y), 0.1)
        changed = Y.copy()
        changed[3] = rng.standard_normal(Y.shape[1])
        changed -= changed.mean(axis=0)
        after = model.held_out(changed, model.project(changed), 0.1)
        assert_allclose(after[3], before[3], atol=1e-9)
        assert np.abs(np.delete(after - before, 3, axis=0)).max() > 1e-3


@pytest.mark.parametrize("kernel", KERNELS)
def test_all_rows_as_landmarks_are_the_exact_kernel(kernel, global_random_seed):
    X, S = problem(global_random_seed)
    width = 0.8 * median_distance(kernel, X) / 2  # no eigenvalue is dropped
    exact = exact_kernel_basis(kernel, X, width)
    landmarks = nystroem_basis(kernel, X, width, X)
    assert len(exact.s) == len(landmarks.s) == len(X) - 1
    assert_allclose(landmarks.s, exact.s, rtol=1e-6)
    F = uniform_confidence(S)
    a, b = (embed(LeaveOneOut(basis), F, 0.1) for basis in (exact, landmarks))
    assert_allclose(a.scores, b.scores, atol=1e-6)
    assert_allclose(a.held_out @ a.held_out.T, b.held_out @ b.held_out.T, atol=1e-6)
    new = X[:5] - 0.2
    za, zb = exact.map(a.score_weights)(new), landmarks.map(b.score_weights)(new)
    assert_allclose(za, zb, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [2, 12])
def test_features_of_blocks_are_those_of_all_rows(kernel, d, global_random_seed):
    X, S = problem(global_random_seed, m=700, d=d)
    width = median_distance(kernel, X)
    whole = nystroem_basis(kernel, X, width, X[::12])
    parts = nystroem_basis(kernel, in_blocks(X, 60), width, X[::12])
    kept = nystroem_basis(kernel, in_blocks(X, 60), width, X[::12], keep=True)
    assert_allclose(parts.s, whole.s, rtol=1e-8)
    F = uniform_confidence(S)
    expected = embed(LeaveOneOut(whole), F, 1e-3)
    Y = targets(F)
    C = whole.design.project(Y)
    press = LeaveOneOut(whole, np.arange(0, 700, 7)).press(Y, C)
    for basis in (parts, kept):
        model = LeaveOneOut(basis, np.arange(0, 700, 7))
        assert_allclose(model.press(Y, model.project(Y)), press, rtol=1e-8)
        found = embed(model, F, 1e-3)
        assert_allclose(found.scores, expected.scores, atol=1e-8)
        assert_allclose(found.held_out, expected.held_out, atol=1e-8)
        new = basis.map(found.weights)(X[:9] - 0.1)
        assert_allclose(new, whole.map(expected.weights)(X[:9] - 0.1), atol=1e-8)


def test_many_rows_in_memory_have_their_features_by_blocks(monkeypatch):
    X, S = problem(0, m=900, d=5)
    expected = fit_briefly(CRISPClassifier(n_landmarks=40, max_iter=2), X, S)
    monkeypatch.setattr(SIZES, "exact_rows", 800)
    monkeypatch.setattr(SIZES, "kernel_block_rows", 250)
    passes = []
    monkeypatch.setattr(Rows, "_log_pass", lambda *of: passes.append(of))
    model = fit_briefly(CRISPClassifier(n_landmarks=40, max_iter=2), X, S)
    monkeypatch.setattr(SIZES, "kernel_features", 0)
    anew = fit_briefly(CRISPClassifier(n_landmarks=40, max_iter=2), X, S)
    assert passes
    assert_array_equal(model.label_confidence_, anew.label_confidence_)
    assert_allclose(model.label_confidence_, expected.label_confidence_, atol=1e-8)
    proba = expected.predict_proba(X[:50])
    assert_allclose(model.predict_proba(X[:50]), proba, atol=1e-8)


def test_few_landmarks_come_close_and_map_their_own_training_rows():
    X, S = problem(0, m=300, d=3)
    F = uniform_confidence(S)
    basis = nystroem_basis("rbf", X, 2.0, X[:60])
    model = LeaveOneOut(basis)
    exact = LeaveOneOut(exact_kernel_basis("rbf", X, 2.0))
    Y = targets(F)
    a = model.press(Y, model.project(Y)).min()
    b = exact.press(Y, exact.project(Y)).min()
    assert_allclose(a, b, rtol=0.01)
    found = embed(model, F, 0.1)
    assert_allclose(basis.map(found.weights)(X), basis.rows @ found.weights, atol=1e-8)


def test_width_is_that_of_the_least_held_out_error(global_random_seed):
    X, S = problem(global_random_seed, m=90)
    F = uniform_confidence(S)
    width, basis = geometries.choose_bandwidth("rbf", X, targets(F))
    Y, errors = targets(F), []
    widths = [c * median_distance("rbf", X) for c in (0.25, 0.5, 1, 2)]
    for h in widths:
        other = LeaveOneOut(exact_kernel_basis("rbf", X, h))
        errors.append(other.press(Y, other.project(Y)).min())
    assert width == widths[int(np.argmin(errors))]
    assert basis.width == width


def test_memory_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(
        "partlearn._math.linalg._memory.available_memory", lambda: 2**31
    )
    names = geometries.GEOMETRIES

    def check(m, n_landmarks):
        numbers = geometries.pool_numbers(m, 20, names, n_landmarks)
        geometries.check_memory(numbers, m, names, n_landmarks)

    check(4000, None)
    with pytest.raises(MemoryError, match=r"Exact kernels of 20000 rows.*n_landmarks"):
        check(20_000, None)
    with pytest.raises(MemoryError, match=r"4000 landmarks.*smaller n_landmarks"):
        check(20_000, 4000)
    check(100_000, 500)
    with pytest.raises(MemoryError, match=r"500 landmarks.*Fit fewer rows"):
        check(1_000_000, 500)


@pytest.mark.parametrize(
    ("m", "wanted", "count"),
    [
        (3000, "auto", None),
        (3001, "auto", 1000),
        (25_000, "auto", 1000),
        (1_000_000, "auto", 1000),
        (50_000, None, None),
        (100, 40, 40),
        (100, 100, None),
    ],
)
def test_number_of_landmarks(m, wanted, count):
    assert geometries.landmark_count(m, wanted) == count
