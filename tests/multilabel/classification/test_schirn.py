"""Schirn: the authors' program, a transcription, convergence, the edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from tests.multilabel.oracles import load, run

from partlearn.multilabel import Schirn, add_noise_labels
from partlearn.multilabel.classification import _schirn as module


def problem(seed, n=40, d=6, l=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, add_noise_labels(X[:, :l] > 0.3, 1, random_state=seed)


def literal(X, S, alpha, beta, lam, rounds):
    """The rounds as printed, with every inverse written down."""
    d = X.shape[1]
    N, Z, M, mu = np.zeros_like(S), np.ones_like(S), np.ones_like(S), 1e-4
    for _ in range(rounds):
        W = np.linalg.inv(mu * X.T @ X + 2 * lam * np.eye(d)) @ X.T @ (mu * Z - M)
        T = S - Z
        soft = np.sign(T) * np.maximum(np.abs(T) - alpha / 2, 0)
        N = (np.clip(soft, 0, S) > 0.5).astype(float)
        B = (2 * S - 2 * N + M + mu * X @ W) / (2 + mu)
        P, s, Q = np.linalg.svd(B, full_matrices=False)
        Z = P @ np.diag(s + 2 * beta / (2 + mu)) @ Q
        M = M + mu * (X @ W - Z)
        mu = min(1.1 * mu, 10)
    return W, N, Z


@pytest.mark.parametrize("shape", [(40, 6), (12, 30)], ids=["tall", "wide"])
def test_literal_transcription(shape, global_random_seed):
    X, C = problem(global_random_seed, *shape)
    model = Schirn(0.2, beta=0.1, lam=2.0, n_rounds=130, scale=False).fit(X, C)
    W, N, Z = literal(X, C.astype(float), 0.2, 0.1, 2.0, 130)
    np.testing.assert_allclose(model.W_, W, atol=1e-9)
    np.testing.assert_array_equal(model.noise_, N)
    np.testing.assert_allclose(model.label_confidence_, np.clip(Z, 0, 1) * C, atol=1e-9)


@pytest.mark.shared
@pytest.mark.parametrize("letter", ["a", "b"])
@pytest.mark.parametrize("prefix", ["em", "ye"])
def test_the_authors_program(shared_dir, prefix, letter):
    oracle = load(shared_dir, "schirn", prefix)
    out = run(oracle, letter)
    alpha, beta, lam, rounds = out["params"]
    train = oracle["Xtr"], oracle["Str"]
    model = Schirn(alpha, beta=beta, lam=lam, n_rounds=int(rounds)).fit(*train)
    np.testing.assert_allclose(model.W_, out["W"], atol=1e-9)
    np.testing.assert_array_equal(model.noise_, out["N"])
    confidence = np.clip(out["C"], 0, 1) * oracle["Str"]
    np.testing.assert_allclose(model.label_confidence_, confidence, atol=1e-9)
    scores = oracle["Xte"] @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(scores, out["scores"], atol=1e-9)
    np.testing.assert_array_equal(model.predict(oracle["Xte"]), out["pred"])
    long = Schirn(alpha, beta=beta, lam=lam, n_rounds=300).fit(*train)
    np.testing.assert_allclose(long.W_, out["W_300"], atol=1e-9)
    settled = Schirn(alpha, beta=beta, lam=lam).fit(*train)
    assert settled.converged_
    np.testing.assert_allclose(settled.W_, out["W_300"], atol=1e-6)
    np.testing.assert_array_equal(settled.noise_, out["N_300"])


def test_rule_for_false_candidates(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for alpha in (0.0, 0.5, 1.0, 1.5):
        Z = rng.normal(size=(50, 4))
        Z[0] = 0.5 - alpha / 2  # exactly on the border: kept
        S = rng.uniform(size=Z.shape) < 0.6
        S[0] = True
        T = S - Z
        soft = np.sign(T) * np.maximum(np.abs(T) - alpha / 2, 0)
        expected = np.clip(soft, 0, S) > 0.5 + 1e-12
        found = module.false_candidates(Z, S, alpha)
        np.testing.assert_array_equal(found, expected)
        assert not found[0].any()


def test_singular_values_by_hand():
    B = np.diag([3.0, 1.0, 0.0])
    np.testing.assert_allclose(
        module.raise_singular_values(B, 0.5), np.diag([3.5, 1.5, 0.0]), atol=1e-12
    )
    P, s, Q = np.linalg.svd(np.random.default_rng(0).normal(size=(5, 3)))
    flipped = (-P[:, :3] * s) @ -Q
    np.testing.assert_allclose(
        module.raise_singular_values(flipped, 0.3), (P[:, :3] * (s + 0.3)) @ Q
    )


def test_without_the_reward_it_is_ridge_regression(global_random_seed):
    X, C = problem(global_random_seed)
    model = Schirn(0.2, beta=0.0, lam=2.0, scale=False).fit(X, C)
    target = X.T @ (C.astype(float) - model.noise_)
    W = np.linalg.solve(X.T @ X + 2.0 * np.eye(6), target)
    np.testing.assert_allclose(model.W_, W, atol=1e-6)


def test_half_the_shift_is_half_of_beta():
    X, C = problem(0)
    a = Schirn(beta=0.1, shift="derived", n_rounds=50).fit(X, C)
    b = Schirn(beta=0.05, n_rounds=50).fit(X, C)
    np.testing.assert_array_equal(a.W_, b.W_)


def test_edges_stay_finite():
    X, C = problem(0)
    C[0], C[1], C[:, 2], C[:, 3] = False, True, False, C[:, 0]
    model = Schirn(0.2, beta=0.1, lam=5.0, n_rounds=200).fit(X, C)
    assert np.isfinite(model.W_).all()
    assert not model.noise_[~C].any()
    assert not model.label_confidence_[~C].any()
    assert model.last_change_ < model.n_iter_
    assert len(model.residuals_) == model.n_iter_


def test_permuted_rows():
    X, C = problem(0)
    order = np.random.default_rng(0).permutation(len(X))
    a = Schirn(0.2, lam=5.0, n_rounds=150).fit(X, C)
    b = Schirn(0.2, lam=5.0, n_rounds=150).fit(X[order], C[order])
    np.testing.assert_allclose(b.W_, a.W_, atol=1e-10)
    np.testing.assert_array_equal(b.noise_, a.noise_[order])


def test_intercept_is_a_constant_column():
    X, C = problem(0)
    a = Schirn(fit_intercept=True, n_rounds=60, scale=False).fit(X, C)
    ones = np.column_stack([X, np.ones(len(X))])
    b = Schirn(n_rounds=60, scale=False).fit(ones, C)
    np.testing.assert_allclose(
        a.decision_function(X), b.decision_function(ones), atol=1e-10
    )


def test_sparse_features(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for shape in [(60, 8), (12, 30)]:
        X = rng.poisson(0.4, size=shape).astype(float)
        C = rng.uniform(size=(shape[0], 4)) < 0.4
        a = Schirn(lam=1.0, n_rounds=80).fit(X, C)
        b = Schirn(lam=1.0, n_rounds=80).fit(sp.csr_array(X), C)
        np.testing.assert_allclose(b.coef_, a.coef_, atol=1e-7)


def test_settling_is_reported():
    X, C = problem(0)
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        assert not Schirn(max_iter=5).fit(X, C).converged_
