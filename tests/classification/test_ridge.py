"""The regression of SURE and PL-AGGD against the formulas of the papers."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist

from partlearn._math.linalg import _memory
from partlearn.classification import SURE
from partlearn.classification._ridge import gaussian_kernel


def make_ridge(X, beta, *, rng=None, **options):
    return SURE(random_state=rng, **options)._ridge(X, beta)


@pytest.fixture
def data(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    return rng.standard_normal((30, 4)), rng.dirichlet(np.ones(3), 30)


def literal(X, P, Q, beta):
    """``(K + beta I - 11'K/m) A = P - mean P`` and ``b = mean(P - K A)``, by LU."""
    m = len(X)
    sigma = pdist(X).mean()
    K = np.exp(-(cdist(X, X) ** 2) / (2 * sigma**2))
    left = K + beta * np.eye(m) - np.ones((m, m)) @ K / m
    A = np.linalg.solve(left, P - P.mean(axis=0))
    b = (P - K @ A).mean(axis=0)
    new = np.exp(-(cdist(Q, X) ** 2) / (2 * sigma**2)) @ A + b
    return K @ A + b, new, beta * np.trace(A.T @ K @ A)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_exact_kernel(data, form):
    X, P = data
    train, new, penalty = literal(X[:20], P[:20], X[20:], 0.05)
    ridge = make_ridge(form(X[:20]), 0.05)
    solution = ridge.solve(P[:20])
    np.testing.assert_allclose(solution.outputs, train, atol=1e-11)
    np.testing.assert_allclose(ridge.predictor(solution)(form(X[20:])), new, atol=1e-11)
    assert solution.penalty == pytest.approx(penalty, rel=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("d", [4, 25])  # primal and dual route
def test_linear_kernel(d, form, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, P = rng.standard_normal((20, d)), rng.dirichlet(np.ones(3), 20)
    m, one = 20, np.ones((20, 1))
    left = X.T @ X + 0.1 * np.eye(d) - X.T @ one @ one.T @ X / m
    W = np.linalg.solve(left, X.T @ P - X.T @ one @ one.T @ P / m)
    b = (P - X @ W).mean(axis=0)
    ridge = make_ridge(form(X), 0.1, kernel="linear")
    solution = ridge.solve(P)
    np.testing.assert_allclose(solution.outputs, X @ W + b, atol=1e-11)
    predictor = ridge.predictor(solution)
    np.testing.assert_allclose(predictor.coef, W, atol=1e-11)
    np.testing.assert_allclose(predictor(form(X)), X @ W + b, atol=1e-11)
    assert solution.penalty == pytest.approx(0.1 * (W**2).sum(), rel=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_landmarks_are_the_regression_of_the_approximate_kernel(data, form):
    X, P = data
    rng = np.random.RandomState(0)
    ridge = make_ridge(form(X), 0.05, n_landmarks=8, rng=rng, sigma=2.0)
    solution = ridge.solve(P)
    Z = X[np.sort(np.random.RandomState(0).choice(30, 8, replace=False))]

    def kernel(A, B):
        return np.exp(-(cdist(A, B) ** 2) / 8)

    K = kernel(X, Z) @ np.linalg.solve(kernel(Z, Z), kernel(Z, X))
    left = K + 0.05 * np.eye(30) - K.mean(axis=0)
    A = np.linalg.solve(left, P - P.mean(axis=0))
    np.testing.assert_allclose(
        solution.outputs, K @ A + (P - K @ A).mean(axis=0), atol=1e-9
    )
    np.testing.assert_allclose(
        ridge.predictor(solution)(form(X)), solution.outputs, atol=1e-9
    )


def test_as_many_landmarks_as_rows_is_exact(data):
    X, P = data
    exact = make_ridge(X, 0.05)
    same = make_ridge(X, 0.05, n_landmarks=30, rng=np.random.RandomState(0))
    np.testing.assert_array_equal(exact.solve(P).coef, same.solve(P).coef)


def test_width_of_landmarks_estimates_the_mean_distance(global_random_seed):
    X = np.random.default_rng(global_random_seed).standard_normal((400, 5))
    rng = np.random.RandomState(global_random_seed)
    sigma = make_ridge(X, 0.05, n_landmarks=100, rng=rng).sigma
    assert sigma == pytest.approx(pdist(X).mean(), rel=0.05)


@pytest.mark.parametrize("n_landmarks", [None, 3])
def test_identical_rows_have_width_one(n_landmarks):
    rng = np.random.RandomState(0)
    ridge = make_ridge(np.ones((5, 2)), 0.05, n_landmarks=n_landmarks, rng=rng)
    assert ridge.sigma == 1.0
    P = np.eye(5, 2)
    np.testing.assert_allclose(ridge.solve(P).outputs, np.tile(P.mean(0), (5, 1)))


@pytest.mark.parametrize("n_landmarks", [None, 12])
def test_a_common_offset_changes_nothing(data, n_landmarks):
    X, P = data
    X = X.round(3)  # so that adding the offset loses little
    predictions = []
    for rows in (X, X + 1e9):
        ridge = make_ridge(
            rows, 0.05, n_landmarks=n_landmarks, rng=np.random.RandomState(0)
        )
        predictions.append(ridge.predictor(ridge.solve(P))(rows[:9]))
    np.testing.assert_allclose(*predictions, atol=1e-5)


def test_rows_too_far_apart_are_named(data):
    X, _ = data
    for rows in (X * 1e200, sp.csr_array(X * 1e200)):
        with pytest.raises(ValueError, match="overflow float64; rescale"):
            make_ridge(rows, 0.05)
    with pytest.raises(ValueError, match="overflow float32; rescale"):
        make_ridge((X * 1e30).astype(np.float32), 0.05)


def test_rows_equal_as_far_as_squares_tell_have_width_one(data):
    X, P = data
    for n_landmarks in (None, 12):
        rng = np.random.RandomState(0)
        ridge = make_ridge(X * 1e-160, 0.05, n_landmarks=n_landmarks, rng=rng)
        assert ridge.sigma == 1
        assert np.isfinite(ridge.solve(P).outputs).all()


def test_widths_beyond_all_numbers(global_dtype):
    X = np.arange(4, dtype=global_dtype)[:, None]
    np.testing.assert_array_equal(gaussian_kernel(X, 1e-200), np.eye(4))
    np.testing.assert_array_equal(gaussian_kernel(X, 1e200), np.ones((4, 4)))


def test_a_penalty_below_precision(global_random_seed):
    X = np.random.default_rng(global_random_seed).standard_normal((300, 2))
    with pytest.raises(np.linalg.LinAlgError, match="too small for its precision"):
        make_ridge(X.astype(np.float32), 1e-12)


def test_the_error_comes_before_the_memory_is_taken():
    X = np.zeros((40_000, 1))
    with pytest.raises(MemoryError) as caught:
        make_ridge(X, 0.05)
    text = str(caught.value)
    for part in ("40000 rows", "11.9 GiB", "memory_limit=4 GiB", "n_landmarks", "f"):
        assert part in text
    with pytest.raises(MemoryError, match=r"6\.0 GiB \(4 bytes") as caught:
        make_ridge(X.astype(np.float32), 0.05)
    assert "float32" not in str(caught.value)


def test_the_machine_has_the_last_word(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 2**20)
    with pytest.raises(MemoryError, match=r"the 0\.0 GiB that this machine has free"):
        make_ridge(np.zeros((1000, 1)), 0.05)
    monkeypatch.setattr(_memory, "available_memory", lambda: None)
    assert make_ridge(np.zeros((10, 1)), 0.05).sigma == 1.0


@pytest.mark.parametrize(("limit", "free"), [("1048576", 2**20), ("max", 2**31)])
def test_a_container_has_no_more_than_it_may(limit, free, tmp_path, monkeypatch):
    texts = "MemTotal: 9 kB\nMemAvailable:  2097152 kB\n", f"{limit}\n"
    sources = []
    for text, (_, pattern, unit) in zip(texts, _memory._SOURCES, strict=False):
        file = tmp_path / str(len(sources))
        file.write_text(text)
        sources.append((str(file), pattern, unit))
    monkeypatch.setattr(_memory, "_SOURCES", sources)
    assert _memory.available_memory() == free


def test_available_memory(monkeypatch):
    assert _memory.available_memory() > 0

    def absent(*args, **kwargs):
        raise OSError

    sources = [
        ("/no/such/file", pattern, unit) for _, pattern, unit in _memory._SOURCES
    ]
    monkeypatch.setattr(_memory, "_SOURCES", sources)
    pages = _memory.available_memory()
    assert pages is None or pages > 0
    monkeypatch.setattr(_memory.os, "sysconf", absent)
    assert _memory.available_memory() is None
