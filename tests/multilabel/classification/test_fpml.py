"""FPML: a literal transcription, a case by hand, descent, the edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from tests.settling import fit_briefly

from partlearn._math.linalg import standardize
from partlearn._sizes import SIZES
from partlearn.multilabel import FPML, add_noise_labels
from partlearn.multilabel.classification._fpml import (
    FPMLFactors,
    fpml_sweep,
    ridge_solver,
)

ROUND = 1e-11  # sums of squares that nearly cancel


def problem(seed, n=60, d=7, l=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 20, size=d) + rng.normal(size=d)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = Z @ rng.normal(size=(d, 2)) @ rng.normal(size=(2, l)) > 1
    return X, Y, add_noise_labels(Y, 1, random_state=seed)


def literal(X, C, G, S, l1, l2, l3, sweeps):
    """The blocks as they are printed, with their small ridge."""
    d, k, r = X.shape[1], G.shape[1], 1e-8
    values = []
    for _ in range(sweeps):
        W = np.linalg.inv(X.T @ X + l3 / l2 * np.eye(d)) @ X.T @ G @ S.T
        S = (C + l2 * X @ W).T @ G @ np.linalg.inv(G.T @ G + r * np.eye(k)) / (1 + l2)
        F = X.T @ G @ np.linalg.inv(G.T @ G + r * np.eye(k))
        inner = (1 + l2) * S.T @ S + l1 * F.T @ F + r * np.eye(k)
        G = (C @ S + l1 * X @ F + l2 * X @ W @ S) @ np.linalg.inv(inner)
        values.append(
            np.sum((C - G @ S.T) ** 2)
            + l1 * np.sum((X - G @ F.T) ** 2)
            + l2 * np.sum((X @ W - G @ S.T) ** 2)
            + l3 * np.sum(W**2)
        )
    W = np.linalg.inv(X.T @ X + l3 / l2 * np.eye(d)) @ X.T @ G @ S.T
    return W, G @ S.T, values


@pytest.mark.parametrize("shape", [(60, 7), (12, 30)], ids=["tall", "wide"])
def test_literal_transcription(shape, global_random_seed):
    n, d = shape
    X, _, C = problem(global_random_seed, n, d)
    model = FPML(3, lam1=2.0, lam2=0.5, lam3=4.0, random_state=5, tol=0, max_iter=8)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, C)
    rng = np.random.RandomState(5)
    G, S = rng.uniform(size=(n, 3)), rng.uniform(size=(6, 3))
    mean, std = X.mean(axis=0), X.std(axis=0, ddof=1)
    prior = C.mean(axis=0)
    W, L, values = literal((X - mean) / std, C - prior, G, S, 2 / d, 0.5, 4.0, 8)
    close = {"rtol": 1e-5, "atol": 1e-5}  # the literal form has a ridge of 1e-8
    np.testing.assert_allclose(model.objective_, values, rtol=1e-6)
    np.testing.assert_allclose(
        model.decision_function(X) + 0.5, (X - mean) / std @ W + prior, **close
    )
    np.testing.assert_allclose(model.labels_, np.clip(L + prior, 0, 1) * C, **close)
    np.testing.assert_allclose(model.scores_, np.linalg.norm(W, axis=1), **close)


def test_published_form_has_no_intercept():
    X, _, C = problem(0)
    model = FPML(
        2,
        intercept=False,
        balance=False,
        standardize=False,
        random_state=1,
        tol=0,
        max_iter=5,
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(X, C)
    rng = np.random.RandomState(1)
    W, _, _ = literal(
        X, C, rng.uniform(size=(60, 2)), rng.uniform(size=(6, 2)), 1, 1, 10, 5
    )
    assert not model.intercept_.any()
    np.testing.assert_allclose(model.coef_, W.T, rtol=1e-4, atol=1e-8)


def test_by_hand():
    # One row of one feature x = 2 and one label c = 1, G = 1, all weights 1:
    # W = 2 / (4 + 1) * S with S = 1, so XW = 0.8; S = (1 + 0.8) / 2; F = 2;
    # G = (S + 4 + 0.8 S) / (2 S² + 4).
    X, C = sp.csr_array([[2.0]]), np.array([[1.0]])
    Z, _, _ = standardize(X, center=False, scale=False)
    T, _, _ = standardize(C, center=False, scale=False)
    weights = (1.0, 1.0, 1.0)
    start = FPMLFactors(np.array([[1.0]]), np.array([[1.0]]))
    new, value = fpml_sweep(Z, T, start, weights, ridge_solver(Z, 1.0), (4.0, 1.0))
    S, W = 0.9, 0.4
    G = (S + 4 + 0.8 * S) / (2 * S**2 + 4)
    assert abs(new.G[0, 0]) == pytest.approx(G, rel=1e-14)
    assert new.G[0, 0] * new.S[0, 0] == pytest.approx(G * S, rel=1e-14)
    expected = (1 - G * S) ** 2 + (2 - 2 * G) ** 2 + (0.8 - G * S) ** 2 + W**2
    assert value == pytest.approx(expected, rel=1e-12)


DEGENERATE = {
    "noise": lambda rng: (rng.normal(size=(40, 6)), rng.uniform(size=(40, 5)) < 0.4),
    "constant features": lambda rng: (
        np.ones((20, 3)),
        rng.uniform(size=(20, 4)) < 0.5,
    ),
    "one constant feature": lambda rng: (
        np.c_[rng.normal(size=(30, 3)), np.full(30, 0.1)],
        rng.uniform(size=(30, 4)) < 0.5,
    ),
    "one label": lambda rng: (rng.normal(size=(20, 3)), rng.uniform(size=(20, 2)) < 2),
    "full rows": lambda rng: (rng.normal(size=(20, 3)), np.ones((20, 5), dtype=bool)),
    "empty rows": lambda rng: (rng.normal(size=(20, 3)), np.zeros((20, 5), dtype=bool)),
    "duplicate rows": lambda rng: (
        np.repeat(rng.normal(size=(5, 4)), 6, axis=0),
        rng.uniform(size=(30, 6)) < 0.4,
    ),
    "duplicate features": lambda rng: (
        np.repeat(rng.normal(size=(30, 2)), 4, axis=1),
        rng.uniform(size=(30, 6)) < 0.4,
    ),
    "equal labels": lambda rng: (
        rng.normal(size=(30, 4)),
        np.repeat(rng.uniform(size=(30, 1)) < 0.4, 6, axis=1),
    ),
    "few rows": lambda rng: (rng.normal(size=(3, 9)), rng.uniform(size=(3, 8)) < 0.6),
    "one row": lambda rng: (rng.normal(size=(1, 4)), np.ones((1, 3), dtype=bool)),
    "huge scale": lambda rng: (
        rng.normal(size=(40, 3)) * [1e-9, 1, 1e9],
        rng.uniform(size=(40, 4)) < 0.4,
    ),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize(
    "params",
    [{}, {"lam1": 0.0}, {"lam2": 0.0}, {"lam2": 50.0, "lam3": 1e-3}, {"n_latent": 1}],
    ids=str,
)
# One label leaves nothing to denoise, which is told.
@pytest.mark.filterwarnings("ignore:n_latent:UserWarning")
def test_the_objective_never_rises(case, params, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, C = DEGENERATE[case](rng)
    model = FPML(**params, tol=0, max_iter=15, random_state=global_random_seed)
    fit_briefly(model, X, C)
    J = model.objective_
    scale = C.sum() + X.size
    assert (np.diff(J) <= ROUND * scale).all()
    assert J.min() >= -ROUND * scale
    P = model.predict_proba(X)
    assert np.isfinite(P).all()
    assert np.isfinite(model.scores_).all()
    assert sorted(model.ranking_) == list(range(1, X.shape[1] + 1))
    assert not model.labels_[~C].any()


def test_constant_features_leave_the_frequencies():
    C = np.random.default_rng(0).uniform(size=(50, 4)) < [0.2, 0.4, 0.6, 0.9]
    model = FPML(random_state=0).fit(np.ones((50, 2)), C)
    np.testing.assert_allclose(
        model.decision_function(np.ones((1, 2)))[0] + 0.5, C.mean(axis=0), atol=1e-9
    )
    assert not model.scores_.any()


def test_it_denoises():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    Y = X @ rng.normal(size=(10, 2)) @ rng.normal(size=(2, 8)) > 2
    C = add_noise_labels(Y, 2, random_state=0)
    T = FPML(3, random_state=0).fit(X, C).labels_
    assert T[Y].mean() > T[C & ~Y].mean() + 0.2


def test_without_the_linear_term_it_is_fitted_afterwards():
    X, _, C = problem(0)
    model = FPML(2, lam2=0.0, lam3=3.0, random_state=0, tol=0, max_iter=6)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, C)
    Z, _, _ = standardize(X)
    T, prior, _ = standardize(C.astype(float), scale=False)
    rng = np.random.RandomState(0)
    factors = FPMLFactors(rng.uniform(size=(60, 2)), rng.uniform(size=(6, 2)))
    norms = Z.squared_norm(), T.squared_norm()
    for _ in range(6):
        factors, _ = fpml_sweep(
            Z, T, factors, (1 / 7, 0.0, 3.0), ridge_solver(Z, 1.0), norms
        )
    ridge = Ridge(3.0, fit_intercept=False).fit(Z.dense, factors.G @ factors.S.T)
    found = model.decision_function(X) + 0.5
    np.testing.assert_allclose(found, ridge.predict(Z.dense) + prior, atol=1e-9)


def test_number_of_labels():
    X, _, C = problem(1)
    model = FPML(threshold="count", random_state=0).fit(X, C)
    assert model.n_labels_ == round(C.sum(axis=1).mean())
    assert (model.predict(X).sum(axis=1) == model.n_labels_).all()
    scores = FPML(random_state=0).fit(X, C)
    D, E = model.decision_function(X), scores.decision_function(X)
    np.testing.assert_array_equal(D.argsort(axis=1), E.argsort(axis=1))


def test_threshold_separates_scores():
    X, _, C = problem(1)
    low = FPML(threshold=0.2, random_state=0).fit(X, C)
    high = FPML(threshold=0.7, random_state=0).fit(X, C)
    np.testing.assert_allclose(
        low.decision_function(X) + 0.2, high.decision_function(X) + 0.7
    )
    assert low.predict(X).sum() > high.predict(X).sum()
    np.testing.assert_array_equal(low.predict(X), low.decision_function(X) > 0)


@pytest.mark.parametrize(("l", "k"), [(1, 1), (2, 2), (3, 2), (8, 4), (9, 5)])
def test_latent_size(l, k):
    rng = np.random.default_rng(0)
    C = rng.uniform(size=(30, max(l, 2))) < 0.5
    y = C if l > 1 else np.zeros(30, dtype=int)
    assert FPML(random_state=0).fit(rng.normal(size=(30, 3)), y).n_latent_ == k


def test_full_rank_is_warned_of():
    X, _, C = problem(0)
    with pytest.warns(UserWarning, match="n_latent=6 is not less than .* 6"):
        assert FPML(6, random_state=0).fit(X, C).n_latent_ == 6


@pytest.mark.parametrize("shape", [(40, 8), (8, 40)])
def test_conjugate_gradients_solve_the_same(shape, monkeypatch):
    X = np.random.default_rng(0).normal(size=shape)
    Z, _, _ = standardize(X)
    G = np.random.default_rng(1).normal(size=(shape[0], 3))
    direct = ridge_solver(Z, 2.0)(G)
    monkeypatch.setattr(SIZES, "fpml_direct", 1)
    np.testing.assert_allclose(ridge_solver(Z, 2.0)(G), direct, atol=1e-9)


def test_units_of_columns_do_not_matter():
    X, _, C = problem(0)
    units = 2.0 ** np.linspace(-700, 700, X.shape[1]).astype(int)
    plain = FPML(2, random_state=0).fit(X, C)
    far = FPML(2, random_state=0).fit(X * units, C)
    np.testing.assert_array_equal(far.scores_, plain.scores_)
    np.testing.assert_array_equal(far.objective_, plain.objective_)


def test_sparse_features_and_few_candidates(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.poisson(0.3, size=(80, 12)).astype(float)
    C = rng.uniform(size=(80, 30)) < 0.05
    a = FPML(4, random_state=0).fit(X, C)
    b = FPML(4, random_state=0).fit(sp.csr_matrix(X), sp.csr_matrix(C.astype(int)))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"n_latent": 0}, "n_latent"),
        ({"lam3": 0.0}, "lam3"),
        ({"lam1": -1.0}, "lam1"),
        ({"threshold": "mean"}, "threshold"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters(params, match):
    X, _, C = problem(0)
    with pytest.raises(ValueError, match=match):
        FPML(**params).fit(X, C)
