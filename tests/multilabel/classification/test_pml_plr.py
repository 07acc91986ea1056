"""PML-PLR: the authors' program, the formulas written down, the edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.multilabel.oracles import load, run
from tests.settling import fit_briefly

from partlearn._sizes import SIZES
from partlearn.multilabel import PMLPLR, add_noise_labels
from partlearn.multilabel.classification import _pml_plr as module


def problem(seed, n=40, d=5, l=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, add_noise_labels(X[:, :l] > 0.3, 1, random_state=seed)


def simplex(v):
    """Project one vector on the probability simplex by bisection."""
    low, high = v.min() - 1, v.max()
    for _ in range(100):
        t = (low + high) / 2
        low, high = (t, high) if np.maximum(v - t, 0).sum() > 1 else (low, t)
    return np.maximum(v - low, 0)


def literal(X, Y, H, anchors, alpha, beta, lam, rounds, mu=1000.0):
    """The rounds as released, with every matrix of all pairs of rows written down."""
    n = len(X)
    D = np.array([[np.sum((a - b) ** 2) for b in X] for a in X])
    K = np.exp(-D[:, anchors] / (2 * D[:, anchors].mean()))
    phi = np.vstack([(K - K.mean(axis=0)).T, np.ones(n)])
    others = D + np.diag(np.full(n, np.inf))
    sigma = others.min(axis=1).mean()
    R = np.eye(n)
    for i in range(n):
        for j in np.argsort(others[i])[:5]:
            R[i, j] = np.exp(-D[i, j] / (2 * sigma**2))
    R = (R + R.T) / 2
    L = np.diag(R.sum(axis=1)) - R
    F, E, C, losses = Y.copy(), np.zeros_like(Y), np.eye(n), []
    for _ in range(rounds):
        W = np.linalg.pinv(phi @ phi.T + lam * np.eye(len(phi))) @ phi @ F.T
        M, s, N = np.linalg.svd(Y.T @ F)
        Q = M[:, s > 1e-9] @ N[s > 1e-9]
        U, _, V = np.linalg.svd(
            2 * Y @ C.T @ H.T + mu * (Y - E) @ H.T, full_matrices=False
        )
        P = V.T @ U.T
        inverse = np.linalg.pinv(2 * C @ C.T - mu * np.eye(n))
        H = (2 * P @ Y @ C.T - mu * P @ (Y - E)) @ inverse
        target = 2 * H.T @ P @ Y + 2 * beta * F.T @ F @ L - D
        free = np.linalg.pinv(2 * H.T @ P @ P.T @ H, rcond=1e-10) @ target
        C = np.column_stack([simplex(column) for column in free.T])
        T = Y - P.T @ H
        E = np.sign(T) * np.maximum(T - alpha / mu, 0)
        down = 2 * F + beta * F @ C.T @ L + beta * F @ L.T @ C + 2.2e-16
        F = F * (W.T @ phi + Y @ Q) / down - np.maximum(F - Y, 0) * Y / down
        losses.append(
            np.sum((W.T @ phi - F) ** 2) + np.sum((Y @ Q - F) ** 2)
            + np.sum((Y - P.T @ H @ C) ** 2) + np.sum(D * C)
            + alpha * np.abs(Y - P.T @ H).sum()
            + beta * np.trace(F @ L @ C @ F.T) + lam * np.sum(W**2)
        )  # fmt: skip
    return W, F, E, C, losses


def test_literal_transcription(global_random_seed):
    X, C = problem(global_random_seed)
    model = PMLPLR(
        0.3, beta=0.05, lam=0.5, ratio=0.7, max_iter=3, scale=False, random_state=4
    )
    fit_briefly(model, X, C)
    rng = np.random.RandomState(4)
    anchors, H = rng.permutation(40)[:25], rng.normal(size=(3, 40))
    np.testing.assert_array_equal(model.landmarks_, anchors)
    Y = C.T.astype(float)
    W, F, E, weights, losses = literal(X, Y, H, anchors, 0.3, 0.05, 0.5, 3)
    np.testing.assert_allclose(model.W_, W, atol=1e-7)
    np.testing.assert_allclose(model.pseudo_labels_, F.T, atol=1e-7)
    np.testing.assert_allclose(model.noise_, E.T, atol=1e-8)
    np.testing.assert_allclose(model.reconstruction_, weights, atol=1e-7)
    np.testing.assert_allclose(model.loss_, losses, rtol=1e-8)


@pytest.mark.shared
@pytest.mark.parametrize("letter", ["a", "b"])
@pytest.mark.parametrize("prefix", ["em", "ye"])
def test_the_authors_program(shared_dir, prefix, letter):
    oracle = load(shared_dir, "pml-plr", prefix)
    out = run(oracle, letter)
    alpha, beta, lam, ratio, rounds = out["params"]
    model = PMLPLR(
        alpha, beta=beta, lam=lam, ratio=ratio, max_iter=int(rounds),
        H_init=out["H0"], landmarks=out["anchors"],
    )  # fmt: skip
    model.fit(oracle["Xtr"], oracle["Str"])
    assert model.n_iter_ == len(out["loss"])
    np.testing.assert_allclose(model.loss_, out["loss"], rtol=1e-7)
    np.testing.assert_allclose(model.W_, out["W"], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(model.pseudo_labels_, out["F"], atol=1e-6)
    np.testing.assert_allclose(model.noise_, out["E"], atol=1e-6)
    np.testing.assert_allclose(model.low_rank_, out["PH"], atol=1e-6)
    np.testing.assert_allclose(model.rotated_, out["YQ"], atol=1e-6)
    diagonal = np.diag(model.reconstruction_)
    np.testing.assert_allclose(diagonal, out["C_diag"], atol=1e-6)
    scores = model.decision_function(oracle["Xte"]) + 0.5
    np.testing.assert_allclose(scores, out["scores"], rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(model.predict(oracle["Xte"]), out["pred"])


def test_blocks_keep_their_constraints(global_random_seed):
    X, C = problem(global_random_seed)
    model = fit_briefly(PMLPLR(random_state=0), X, C)
    assert not model.pseudo_labels_[~C].any()
    assert (model.noise_ >= 0).all()
    weights = model.reconstruction_
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(axis=0), 1, atol=1e-9)
    assert ((model.label_confidence_ >= 0) & (model.label_confidence_ <= 1)).all()
    assert np.linalg.matrix_rank(model.low_rank_) <= 4  # ceil(0.8 * 4)


def test_thin_rotation_is_the_full_one(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    Y = (rng.uniform(size=(3, 12)) < 0.5).astype(float)
    F = rng.normal(size=(3, 12))
    M, s, N = np.linalg.svd(Y.T @ F)
    keep = s > 1e-9
    full = Y @ M[:, keep] @ N[keep]
    np.testing.assert_allclose(module.rotate(Y, F), full, atol=1e-10)


def test_inverse_of_the_reconstruction(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    H, target = rng.normal(size=(3, 9)), rng.normal(size=(9, 9))
    inverse = np.linalg.inv(H @ H.T)
    thin = H.T @ (inverse @ (inverse @ (H @ target))) / 2
    np.testing.assert_allclose(
        np.linalg.pinv(2 * H.T @ H, rcond=1e-10) @ target, thin, atol=1e-9
    )


@pytest.mark.parametrize(
    "case", ["duplicates", "one row", "label of nobody", "empty rows", "full rows"]
)
def test_edges_stay_finite(case):
    X, C = problem(0)
    if case == "duplicates":
        X = np.repeat(X[:10], 4, axis=0)
    elif case == "one row":
        X, C = X[:1], C[:1]
    elif case == "label of nobody":
        C[:, 1] = False
    elif case == "empty rows":
        C[:10] = False
    else:
        C[:10] = True
    model = fit_briefly(PMLPLR(random_state=0, max_iter=10), X, C)
    assert np.isfinite(model.W_).all()
    assert np.isfinite(model.predict_proba(X)).all()


def test_sparse_features():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.6, size=(40, 8)).astype(float)
    C = rng.uniform(size=(40, 4)) < 0.4
    a = fit_briefly(PMLPLR(random_state=0), X, C)
    b = fit_briefly(PMLPLR(random_state=0), sp.csr_array(X), C)
    np.testing.assert_allclose(b.W_, a.W_, atol=1e-8)
    np.testing.assert_allclose(
        b.decision_function(sp.csr_array(X)), a.decision_function(X), atol=1e-8
    )


def test_bad_parameters(monkeypatch):
    X, C = problem(0)
    with pytest.raises(ValueError, match=r"`H_init` must have shape \(4, 40\)"):
        PMLPLR(H_init=np.zeros((2, 2))).fit(X, C)
    with pytest.raises(ValueError, match="row numbers from 0 to 39"):
        PMLPLR(landmarks=[40]).fit(X, C)
    monkeypatch.setattr(SIZES, "plr_rows", 10)
    with pytest.raises(ValueError, match="40 rows are more than 10"):
        PMLPLR().fit(X, C)
