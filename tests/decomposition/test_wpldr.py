"""WPLDR against its pseudo-code, and the properties of its steps."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from scipy.optimize import nnls

from partlearn._math.graphs import reconstruction_graph, residual_operator
from partlearn._math.linalg import standardize
from partlearn._math.neighbors import self_neighbors
from partlearn._sizes import SIZES
from partlearn.candidates import uniform_confidence
from partlearn.decomposition import CENDA, WPLDR
from partlearn.decomposition._wpldr import (
    WhitenedSpace,
    confidence_step,
    objective,
    restricted_quadratic,
)


def simplex_weights(E):
    g = np.sqrt((E**2).sum(axis=1).mean())
    w, _ = nnls(np.vstack([E.T, g * np.ones(len(E))]), np.r_[np.zeros(E.shape[1]), g])
    return w / w.sum()


def quadratic_program(H, g, S):
    """Minimise 1/2 x'Hx - g'x over the candidate simplices, by an interior point."""
    piqp = pytest.importorskip("piqp")
    m, q = S.shape
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    solver.setup(
        H + 1e-12 * np.eye(m * q),
        -g,
        np.kron(np.eye(m), np.ones(q)),
        np.ones(m),
        x_l=np.zeros(m * q),
        x_u=S.ravel().astype(float),
    )
    solver.solve()
    return np.asarray(solver.result.x).reshape(m, q)


def transcription(X, S, *, r, k, alpha, beta, mu, rounds, cccp):
    """The paper's algorithm with full matrices and a general solver."""
    m, d = X.shape
    q = S.shape[1]
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    H = np.eye(m) - np.ones((m, m)) / m
    B = mu * X.T @ X + (1 - mu) * np.eye(d)
    F = S / S.sum(axis=1, keepdims=True)
    P = scipy.linalg.eigh(X.T @ H @ F @ F.T @ H @ X, B)[1][:, ::-1][:, :r]
    trace = []
    for _ in range(rounds):
        Z = X @ P
        W = np.zeros((m, m))
        for j in range(m):
            distance = ((Z - Z[j]) ** 2).sum(axis=1)
            distance[j] = np.inf
            nearest = np.argsort(distance, kind="stable")[:k]
            E = np.hstack(
                [
                    np.sqrt(alpha) * (Z[j] - Z[nearest]),
                    np.sqrt(beta) * (F[j] - F[nearest]),
                ]
            )
            W[j, nearest] = simplex_weights(E)
        A = np.eye(m) - W
        K = H @ Z @ Z.T @ H
        for _ in range(cccp):
            G = K @ F
            new = quadratic_program(beta * np.kron(A.T @ A, np.eye(q)), G.ravel(), S)
            change, F = np.abs(new - F).max(), new
            if change < 1e-4:
                break
        M = X.T @ H @ F @ F.T @ H @ X - alpha * X.T @ A.T @ A @ X
        values, vectors = scipy.linalg.eigh(M, B)
        P = vectors[:, ::-1][:, :r]
        Z = X @ P
        trace.append(
            0.5 * np.linalg.norm((H @ Z).T @ F) ** 2
            - alpha / 2 * np.linalg.norm(A @ Z) ** 2
            - beta / 2 * np.linalg.norm(A @ F) ** 2
        )
    return P, F, np.array(trace), values[::-1][:r]


def test_equals_the_pseudo_code(problem):
    X, S, _ = problem
    X, S = X[:45], S[:45]
    options = {"alpha": 0.05, "beta": 2.0, "mu": 0.4}
    # No more neighbours than dimensions: the weights of the graph are then unique.
    P, F, trace, values = transcription(X, S, r=4, k=4, rounds=3, cccp=4, **options)
    ours = WPLDR(4, n_neighbors=4, max_iter=3, cccp_max_iter=4, **options).fit(X, S)
    np.testing.assert_allclose(ours.objective_, trace[: ours.n_iter_], rtol=1e-6)
    np.testing.assert_allclose(ours.label_confidence_, F, atol=1e-5)
    assert subspace_angles(ours.components_.T, P).max() < 1e-4
    np.testing.assert_allclose(ours.eigenvalues_, values, rtol=1e-4)


@pytest.mark.shared
def test_reference_behaviour_on_lost(lost):
    X, S, y = lost
    ours = WPLDR(13).fit(X, S)
    assert ours.n_iter_ <= 15
    accuracy = (ours.label_confidence_.argmax(axis=1) == y).mean()
    assert accuracy == pytest.approx(0.881, abs=0.01)
    expected = [505.8, 535.9, 542.5, 544.4, 544.9]
    np.testing.assert_allclose(ours.objective_[:5], expected, atol=0.06)


def state(X, S, *, r=3, k=6, beta=0.5):
    """A projection, a graph and confidences in the middle of a fit."""
    matrix, _, _ = standardize(X)
    space = WhitenedSpace(matrix, 0.5)
    F = uniform_confidence(S)
    _, vectors = space.dependence(F)
    Z = space.embedding(vectors[:, :r])
    neighbors = self_neighbors(Z, k)
    A = residual_operator(
        reconstruction_graph(np.hstack([0.1 * Z, beta**0.5 * F]), neighbors)
    )
    return space, F, Z, A, vectors


@pytest.mark.parametrize("alpha", [0.0, 0.01, 5.0])
@pytest.mark.parametrize("beta", [0.0, 0.01, 1.0, 20.0])
def test_no_step_lowers_the_objective(problem, alpha, beta):
    """With the graph fixed: first the confidences, then the projection, each alone."""
    X, S, _ = problem
    space, F, Z, A, vectors = state(X, S)
    for _ in range(3):
        before = objective(Z, F, A, alpha, beta)
        for rounds in (1, 5):
            new = confidence_step(F, S, Z, A, beta, max_iter=rounds)
            assert objective(Z, new, A, alpha, beta) >= before - 1e-7 * abs(before)
        F = new
        np.testing.assert_allclose(F.sum(axis=1), 1)
        assert not F[~S].any()
        middle = objective(Z, F, A, alpha, beta)
        _, vectors = space.solve(F, A, alpha, 3, vectors)
        Z = space.embedding(vectors)
        assert objective(Z, F, A, alpha, beta) >= middle - 1e-9 * abs(middle)


def test_projection_step_solves_the_full_eigenproblem(problem):
    X, S, _ = problem
    space, F, _, A, vectors = state(X, S)
    Xs = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    C = Xs.T @ (F - F.mean(axis=0))
    AX = A @ Xs
    B = 0.5 * Xs.T @ Xs + 0.5 * np.eye(X.shape[1])
    values, _ = scipy.linalg.eigh(C @ C.T - 0.1 * AX.T @ AX, B)
    found, vectors = space.solve(F, A, 0.1, 6, vectors)
    np.testing.assert_allclose(found, values[::-1][:6], rtol=1e-8, atol=1e-10)
    P = space.directions(vectors)
    np.testing.assert_allclose(P.T @ B @ P, np.eye(6), atol=1e-9)


def test_iterated_projection_equals_the_direct_one(global_random_seed, monkeypatch):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(120, 60))
    S = rng.random((120, 5)) < 0.4
    S[np.arange(120), rng.integers(5, size=120)] = True
    space, F, _, A, vectors = state(X, S, r=4)
    direct, P = space.solve(F, A, 0.01, 4, vectors)
    calls = []
    original = WhitenedSpace._iterate

    def spy(self, *args):
        calls.append(original(self, *args))
        return calls[-1]

    monkeypatch.setattr(SIZES, "wpldr_dense", 10)
    monkeypatch.setattr(WhitenedSpace, "_iterate", spy)
    iterated, Q = space.solve(F, A, 0.01, 4, vectors)
    assert calls[0] is not None  # it settled
    np.testing.assert_allclose(iterated, direct, rtol=1e-8)
    assert subspace_angles(P, Q).max() < 1e-5
    # Too many directions for a block iteration: the direct way is taken.
    more, _ = space.solve(F, A, 0.01, 20, vectors)
    assert calls[1] is None
    assert len(more) == 20


def test_restricted_form_is_the_full_one_on_candidates(problem, global_random_seed):
    X, S, _ = problem
    _, _, _, A, _ = state(X, S)
    H = restricted_quadratic(A, S)
    x = np.random.default_rng(global_random_seed).normal(size=S.sum())
    F = np.zeros(S.shape)
    F[S] = x
    np.testing.assert_allclose(H @ x, (A.T @ (A @ F))[S], atol=1e-12)


def test_few_and_many_candidates_give_the_same_step(problem, monkeypatch):
    X, S, _ = problem
    _, F, Z, A, _ = state(X, S)
    found = []
    for share in (0.0, 1.1):
        monkeypatch.setattr(SIZES, "wpldr_few", share)
        found.append(confidence_step(F, S, Z, A, 0.5))
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    assert np.abs(found[0] - F).max() > 0.1


def test_without_beta_confidence_is_one_hot(problem):
    X, S, _ = problem
    F = WPLDR(beta=0.0).fit(X, S).label_confidence_
    assert set(np.unique(F)) == {0.0, 1.0}
    np.testing.assert_array_equal(F.sum(axis=1), 1)


def test_ties_without_beta_go_to_the_first_candidate():
    S = np.array([[False, True, True], [True, False, False]])
    F = confidence_step(S / 1.0, S, np.zeros((2, 1)), sp.eye_array(2).tocsr(), 0.0)
    np.testing.assert_array_equal(F, [[0, 1, 0], [1, 0, 0]])


def test_without_alpha_the_projection_is_that_of_cenda(problem):
    X, _, y = problem
    ours = WPLDR(4, alpha=0.0).fit(X, y)
    cenda = CENDA(4).fit(X, y)
    np.testing.assert_allclose(ours.components_, cenda.components_, atol=1e-9)
    np.testing.assert_allclose(ours.eigenvalues_, cenda.eigenvalues_)


def test_more_directions_than_classes_and_than_rank(problem):
    X, S, _ = problem
    ours = WPLDR(7).fit(X, S)
    assert ours.components_.shape == (7, 8)
    assert (np.diff(ours.eigenvalues_) <= 0).all()
    assert WPLDR(7, alpha=0.0).fit(X, S).n_components_ == 7
    fewer = "Only 8 of n_components=12 directions exist in data of rank 8"
    with pytest.warns(UserWarning, match=fewer):
        assert WPLDR(12).fit(X, S).n_components_ == 8


def test_fraction_counts_positive_eigenvalues(problem):
    X, S, _ = problem
    full = WPLDR().fit(X, S)
    ours = WPLDR(0.7).fit(X, S)
    assert 1 <= ours.n_components_ < full.n_components_


def test_sparse_equals_dense(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = sp.random_array((80, 30), density=0.2, rng=rng, format="csr")
    S = rng.random((80, 4)) < 0.4
    S[np.arange(80), rng.integers(4, size=80)] = True
    dense = WPLDR(max_iter=3).fit(X.toarray(), S)
    sparse = WPLDR(max_iter=3).fit(X, S)
    np.testing.assert_allclose(dense.objective_, sparse.objective_, rtol=1e-6)
    np.testing.assert_allclose(dense.transform(X), sparse.transform(X), atol=1e-5)
