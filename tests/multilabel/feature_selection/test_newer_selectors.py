"""PMFS-LRS and PML-FSMIR: literal formulas, hand-computed cases, monotone values."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import mutual_info_score
from tests.settling import fit_briefly

from partlearn._math.graphs import heat_graph, laplacian
from partlearn.multilabel import PMFSLRS, PMLFSMIR, add_noise_labels
from partlearn.multilabel.feature_selection import _pmfs_lrs as lrs
from partlearn.multilabel.feature_selection import _pml_fsmir as fsmir

SELECTORS = [PMFSLRS, PMLFSMIR]


@pytest.fixture
def problem(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.uniform(size=(30, 9))
    C = rng.uniform(size=(30, 5)) < 0.4
    return X, C, rng


@pytest.fixture
def planted(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.uniform(size=(300, 12))
    return X, add_noise_labels(X[:, :3] > 0.5, 1, random_state=global_random_seed)


class TestLowRankAndSparse:
    def transcription(self, X, Y, L, alpha, beta, lam, mu, rounds, *, package):
        """The rounds with every matrix written down."""
        n, d = X.shape
        H = np.eye(n) - np.ones((n, n)) / n
        operator = 2 * H + 2 * L + mu * np.eye(n)
        if package:
            c = np.linalg.norm(operator)
        else:
            c = 2 + 2 * np.linalg.eigvalsh(L).max() + mu
        F, N, D = Y.copy(), np.zeros_like(Y), np.eye(d)
        for _ in range(rounds):
            W = np.linalg.solve(X.T @ H @ X + lam * D, X.T @ H @ F)
            D = np.diag(1 / (2 * np.sqrt((W**2).sum(axis=1) + 1e-12)))
            slope = 2 * H @ (F - X @ W) + 2 * L @ F + mu * (F + N - Y)
            U, s, V = np.linalg.svd(F - slope / c, full_matrices=False)
            F = U @ np.diag(np.maximum(s - alpha / c, 0)) @ V
            for i, j in np.ndindex(Y.shape):
                rest = Y[i, j] - F[i, j]
                size = rest if package else abs(rest)
                N[i, j] = np.sign(rest) * max(size - beta / mu, 0)
        return W, F, N

    @pytest.mark.parametrize("package", [False, True])
    def test_equals_the_transcription(self, problem, package):
        X, C, _ = problem
        L = laplacian(heat_graph(X, 4))
        weights = (0.3, 0.2, 0.5, 2.0)
        W, F, N = self.transcription(
            X, C.astype(float), L.toarray(), *weights, 6, package=package
        )
        p = lrs.LRSProblem(X, C.astype(float), L, *weights)
        *_, ((ours, labels), value) = islice(lrs.lrs_sweeps(p, package=package), 6)
        np.testing.assert_allclose(ours, W, atol=1e-6)
        np.testing.assert_allclose(labels, F, atol=1e-6)
        assert value == pytest.approx(lrs.lrs_objective(p, W, F, N), rel=1e-6)
        assert np.abs(W).max() > 1e-3

    def test_objective_by_its_definition(self, problem):
        X, C, rng = problem
        L = laplacian(heat_graph(X, 4))
        p = lrs.LRSProblem(X, C.astype(float), L, 0.3, 0.2, 0.5, 2.0)
        W, F, N = (rng.normal(size=s) for s in [(9, 5), (30, 5), (30, 5)])
        H = np.eye(30) - np.ones((30, 30)) / 30
        value = np.linalg.norm(H @ (X @ W - F)) ** 2 + np.trace(F.T @ L.toarray() @ F)
        value += 0.3 * np.linalg.svd(F, compute_uv=False).sum()
        value += 0.2 * np.abs(N).sum() + 0.5 * np.linalg.norm(W, axis=1).sum()
        value += np.linalg.norm(C - F - N) ** 2
        assert lrs.lrs_objective(p, W, F, N) == pytest.approx(value, rel=1e-6)

    def test_objective_falls(self, planted):
        X, C = planted
        selector = PMFSLRS(3, tol=0, max_iter=40)
        with pytest.warns(ConvergenceWarning, match="max_iter=40"):
            selector.fit(X, C)
        assert np.diff(selector.objective_).max() < 1e-8

    def test_thresholds_by_hand(self):
        np.testing.assert_allclose(
            lrs.soft_threshold(np.array([[3.0, -3.0, 0.5]]), 1), [[2, -2, 0]]
        )
        np.testing.assert_allclose(
            lrs.singular_threshold(np.diag([3.0, 1.0]), 1.5), np.diag([1.5, 0])
        )

    @pytest.mark.parametrize("n", [12, 40])
    def test_bound_of_the_steps(self, n, global_random_seed):
        X = np.random.default_rng(global_random_seed).uniform(size=(n, 4))
        L = laplacian(heat_graph(X, 4))
        p = lrs.LRSProblem(X, np.ones((n, 2)), L, 1, 1, 1, 3.0)
        H = np.eye(n) - np.ones((n, n)) / n
        operator = 2 * H + 2 * L.toarray() + 3.0 * np.eye(n)
        assert lrs.step_bound(p, package=True) == pytest.approx(
            np.linalg.norm(operator), rel=1e-10
        )
        largest = np.linalg.eigvalsh(operator)[-1]
        bound = lrs.step_bound(p, package=False)
        assert largest <= bound * (1 + 1e-9) <= 2 * largest

    def test_labels_of_the_package_hardly_move(self, planted):
        X, C = planted
        ours = PMFSLRS(3).fit(X, C)
        package = PMFSLRS(3, variant="package").fit(X, C)
        assert np.abs(package.labels_ - C).max() < 1e-4
        assert np.abs(ours.labels_ - C).max() > 0.1


class TestMutualInformation:
    def test_equals_scikit_learn(self, problem):
        rng = problem[2]
        codes = rng.integers(0, 3, size=(30, 4))
        ours = fsmir.pairwise_information(codes, 3)
        expected = [[mutual_info_score(a, b) for a in codes.T] for b in codes.T]
        np.testing.assert_allclose(ours, expected, atol=1e-12)

    def test_labels_by_hand(self):
        # The first two columns are alike (log 2), the third tells nothing of them.
        C = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
        T = fsmir.rebuilt_labels(C)
        # Products: 2 log 2 for the pair, log 2 (its own) for the third.
        np.testing.assert_allclose(T, [[1, 1, 0.5], [1, 1, 0], [0, 0, 0.5], [0, 0, 0]])
        same = np.ones((3, 2), dtype=bool)
        np.testing.assert_array_equal(fsmir.rebuilt_labels(same), same)

    def test_sweep_is_its_formula(self, problem):
        X, C, rng = problem
        T = fsmir.rebuilt_labels(C)
        S = fsmir.label_graph(T)
        A = np.diag(S.sum(axis=1))
        p = fsmir.FSMIRProblem(X, T, S, S.sum(axis=1), 0.7, 0.4, 0.2)
        U, V, W = (rng.uniform(size=s) for s in [(30, 3), (3, 9), (9, 5)])
        ours, value = next(fsmir.fsmir_sweeps(p, U, V, W))
        up = X @ V.T + 0.7 * T @ W.T @ V.T
        U = U * up / (U @ V @ V.T + 0.7 * U @ V @ W @ W.T @ V.T)
        up = U.T @ X + 0.7 * U.T @ T @ W.T
        V = V * up / (U.T @ U @ V + 0.7 * U.T @ U @ V @ W @ W.T)
        D = np.diag(1 / (2 * np.linalg.norm(W, axis=1)))
        down = 0.7 * V.T @ U.T @ U @ V @ W + 0.4 * W @ A + 0.2 * D @ W
        W = W * (0.7 * V.T @ U.T @ T + 0.4 * W @ S) / down
        np.testing.assert_allclose(ours, W, rtol=1e-10)
        assert value == pytest.approx(fsmir.fsmir_objective(p, U, V, W))

    def test_objective_by_its_definition_and_falls(self, problem):
        X, C, rng = problem
        T = fsmir.rebuilt_labels(C)
        S = fsmir.label_graph(T)
        p = fsmir.FSMIRProblem(X, T, S, S.sum(axis=1), 0.7, 0.4, 0.2)
        U, V, W = (rng.uniform(size=s) for s in [(30, 3), (3, 9), (9, 5)])
        value = np.linalg.norm(X - U @ V) ** 2
        value += 0.7 * np.linalg.norm(U @ V @ W - T) ** 2
        value += 0.4 * np.trace(W @ (np.diag(S.sum(axis=1)) - S) @ W.T)
        value += 0.2 * np.linalg.norm(W, axis=1).sum()
        assert fsmir.fsmir_objective(p, U, V, W) == pytest.approx(value, rel=1e-10)
        sparse = p._replace(X=sp.csr_array(X))
        assert fsmir.fsmir_objective(sparse, U, V, W) == pytest.approx(value, rel=1e-10)
        values = [v for _, v in islice(fsmir.fsmir_sweeps(p, U, V, W), 60)]
        assert np.diff(values).max() < 1e-8


def test_finds_planted_features(planted):
    X, C = planted
    selector = PMFSLRS(3).fit(X, C)
    assert set(selector.selected_.tolist()) == {0, 1, 2}


def test_the_best_start_is_kept(planted):
    X, C = planted
    values = [
        PMLFSMIR(3, n_init=n, random_state=0).fit(X, C).objective_[-1] for n in (1, 4)
    ]
    assert values[1] <= values[0]


def test_starts_that_are_not_kept_do_not_warn(planted):
    X, C = planted
    with pytest.warns(ConvergenceWarning, match="max_iter=3") as caught:
        PMLFSMIR(3, n_init=4, max_iter=3, random_state=0).fit(X, C)
    assert len(caught) == 1


@pytest.mark.parametrize("cls", SELECTORS)
@pytest.mark.parametrize("d", [9, 50])
def test_sparse_rows(cls, d, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.uniform(size=(30, d)) * (rng.uniform(size=(30, d)) < 0.5)
    C = rng.uniform(size=(30, 4)) < 0.4
    dense = fit_briefly(cls(3, max_iter=20), X, C)
    sparse = fit_briefly(cls(3, max_iter=20), sp.csr_array(X), C)
    np.testing.assert_allclose(sparse.scores_, dense.scores_, rtol=1e-6, atol=1e-9)


def test_features_of_fsmir_have_no_sign(problem):
    X, C, _ = problem
    with pytest.raises(ValueError, match="scale=True"):
        PMLFSMIR().fit(X - 0.5, C)
    assert PMLFSMIR(scale=True).fit(X - 0.5, C).n_latent_ == 3


def test_rows_without_neighbours_are_regressed_alone():
    X = 1000 * np.random.default_rng(0).uniform(size=(60, 5))
    with pytest.warns(UserWarning, match="Nearly all weights of the graph are zero"):
        selector = PMFSLRS(2).fit(X, X[:, :3] > 500)
    assert np.isfinite(selector.objective_).all()
    L = sp.csr_array((60, 60))
    problem = lrs.LRSProblem(X, np.ones((60, 2)), L, 1, 1, 1, 3.0)
    assert lrs.step_bound(problem, package=False) == 5
