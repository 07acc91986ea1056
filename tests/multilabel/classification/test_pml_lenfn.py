"""PML-LENFN: the authors' program, a transcription, stationarity, the edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import solve_sylvester
from scipy.special import expit
from tests.multilabel.oracles import load, run
from tests.settling import fit_briefly

from partlearn._sizes import SIZES
from partlearn.multilabel import PMLLENFN, add_noise_labels
from partlearn.multilabel._scaled_rows import scaled_rows
from partlearn.multilabel.classification import _pml_lenfn as module


def problem(seed, n=40, d=6, l=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, add_noise_labels(X[:, :l] > 0.3, 1, random_state=seed)


def soft_labels(X, C, alpha, beta, mu):
    """The enhancement row by row, a row's own similarity left out."""
    n = len(X)
    D = np.array([[np.linalg.norm(a - b) for b in X] for a in X])
    sigma = np.mean([min(D[i, j] for j in range(n) if j != i) for i in range(n)])
    J = np.zeros(C.shape)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        K = {j: np.exp(-D[i, j] / (2 * sigma**2)) for j in others}
        hi, lo = max(K.values()), min(K.values())
        near = [C[j] for j in others if K[j] >= hi - mu * (hi - lo)]
        far = [1 - C[j] for j in others if K[j] <= lo + mu * (hi - lo)]
        a, b = np.mean(near, axis=0), np.mean(far, axis=0)
        J[i] = alpha * C[i] + (1 - alpha - beta) * a + beta * b
    return J * C


def literal(X, J, U, V, l1, l2, l3, l4, rounds):
    """The rounds as released, by a general solver of Sylvester equations."""
    Phi = np.column_stack([X, np.ones(len(X))])
    l, k = J.shape[1], V.shape[1]
    P = np.array([[J[:, i] @ J[:, j] / (J[:, i] @ J[:, i]) for j in range(l)]
                  for i in range(l)])  # fmt: skip
    L = np.diag(P.sum(axis=1)) - P
    S = (L + L.T) / 2
    losses = []
    for _ in range(rounds):
        H = expit(Phi @ V)
        W = solve_sylvester(
            2 * Phi.T @ Phi, l1 * np.eye(l) + l2 * S, Phi.T @ (H @ U + J)
        )
        U = np.linalg.inv(H.T @ H + l3 * np.eye(k)) @ H.T @ Phi @ W
        V = V - 1e-3 * (Phi.T @ (H * (1 - H) * ((H @ U - Phi @ W) @ U.T)) + l4 * V)
        F, G = Phi @ W, expit(Phi @ V) @ U
        losses.append(
            np.sum((F - J) ** 2) + np.sum((F - G) ** 2) + l1 * np.sum(W**2)
            + l2 * np.trace(W @ L @ W.T) + l3 * np.sum(U**2) + l4 * np.sum(V**2)
        )  # fmt: skip
    return W, U, V, losses


def test_literal_transcription(global_random_seed):
    X, C = problem(global_random_seed)
    model = PMLLENFN(
        3.0, l2=0.5, l3=0.1, l4=2.0, k=3, alpha=0.5, beta=0.2, mu=0.4,
        scale=False, max_iter=5, random_state=7,
    )  # fmt: skip
    fit_briefly(model, X, C)
    J = soft_labels(X, C.astype(float), 0.5, 0.2, 0.4)
    np.testing.assert_allclose(model.soft_labels_, J, atol=1e-12)
    rng = np.random.RandomState(7)
    U, V = rng.normal(size=(3, 4)), rng.normal(size=(7, 3))
    W, U, V, losses = literal(X, J, U, V, 3.0, 0.5, 0.1, 2.0, 5)
    np.testing.assert_allclose(model.W_, W, atol=1e-10)
    np.testing.assert_allclose(model.U_, U, atol=1e-10)
    np.testing.assert_allclose(model.V_, V, atol=1e-10)
    np.testing.assert_allclose(model.loss_, losses, rtol=1e-10)


@pytest.mark.shared
@pytest.mark.parametrize("letter", ["a", "b"])
@pytest.mark.parametrize("prefix", ["em", "ye"])
def test_the_authors_program(shared_dir, prefix, letter):
    oracle = load(shared_dir, "pml-lenfn", prefix)
    out = run(oracle, letter)
    names = ["l1", "l2", "l3", "l4", "alpha", "beta", "mu", "k"]
    params = dict(zip(names, out["params"].tolist(), strict=True))
    params |= {"k": int(params["k"]), "U_init": out["U0"], "V_init": out["V0"]}
    train = oracle["Xtr"], oracle["Str"]
    model = fit_briefly(PMLLENFN(neighbors="release", **params), *train)
    np.testing.assert_allclose(model.soft_labels_, out["J"], atol=1e-14)
    np.testing.assert_allclose(model.L_, out["L"], atol=1e-12)
    np.testing.assert_allclose(model.W_, out["W"], atol=1e-9)
    np.testing.assert_allclose(model.U_, out["U"], atol=1e-9)
    np.testing.assert_allclose(model.V_, out["V"], atol=1e-9)
    np.testing.assert_allclose(model.loss_, out["loss"], rtol=1e-9)
    scores = oracle["Xte"] @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(scores, out["scores"], atol=1e-9)
    np.testing.assert_array_equal(model.predict(oracle["Xte"]), out["pred"])
    params["max_iter"] = 1
    ours = fit_briefly(PMLLENFN(**params), *train)
    np.testing.assert_allclose(ours.soft_labels_, out["J_self_excluded"], atol=1e-12)


def test_steps_are_stationary(global_random_seed):
    X, C = problem(global_random_seed)
    rows, _, _ = scaled_rows(X)
    J = module.enhanced_labels(rows, C, (0.7, 0.1, 0.2)) * C
    L = module.label_laplacian(J)
    p = module.lenfn_problem(rows, J, L, (10.0, 1.0, 0.01, 10.0))
    rng = np.random.default_rng(0)
    U0, V0 = rng.normal(size=(4, 4)), rng.normal(size=(7, 4))
    W, U, _, _ = module.lenfn_iteration(p, U0, V0, True)
    Phi, H = rows.dense(), expit(rows.dense() @ V0)
    in_W = Phi.T @ (2 * Phi @ W - J - H @ U0) + 10 * W + W @ (L + L.T) / 2
    in_U = H.T @ (H @ U - Phi @ W) + 0.01 * U
    assert np.abs(in_W).max() < 1e-8 * np.abs(Phi.T @ J).max()
    assert np.abs(in_U).max() < 1e-8 * np.abs(H.T @ H @ U).max()


def test_soft_labels_stay_within_the_candidates(global_random_seed):
    X, C = problem(global_random_seed)
    model = fit_briefly(PMLLENFN(max_iter=1, random_state=0), X, C)
    J = model.soft_labels_
    assert not J[~C].any()
    assert J[C].min() >= 0
    assert J.max() <= 1 + 1e-12
    rows, _, _ = scaled_rows(X)
    np.testing.assert_allclose(module.enhanced_labels(rows, C, (1.0, 0.0, 0.2)), C)
    # With the whole range near and far are all other rows.
    everyone = module.enhanced_labels(rows, C, (0.0, 0.0, 1.0))
    mean = (C.sum(axis=0) - C) / (len(C) - 1)
    np.testing.assert_allclose(everyone, mean, atol=1e-12)
    free = fit_briefly(PMLLENFN(max_iter=1, enhance_all=True, random_state=0), X, C)
    assert free.soft_labels_[~C].any()
    assert not free.label_confidence_[~C].any()


def test_permuted_rows_and_blocks(monkeypatch):
    X, C = problem(0)
    order = np.random.default_rng(1).permutation(len(X))
    rows, moved = scaled_rows(X)[0], scaled_rows(X[order])[0]
    weights = (0.5, 0.2, 0.3)
    J = module.enhanced_labels(rows, C, weights)
    np.testing.assert_allclose(
        module.enhanced_labels(moved, C[order], weights), J[order], atol=1e-12
    )
    release = module.enhanced_labels(rows, C, weights, True)
    other = module.enhanced_labels(moved, C[order], weights, True)
    assert np.abs(other - release[order]).max() > 1e-6  # the first row is left out
    monkeypatch.setattr(SIZES, "lenfn_block", 1)
    np.testing.assert_array_equal(module.enhanced_labels(rows, C, weights), J)


def test_the_start_matters_less_when_settled():
    X, C = problem(0)

    def apart(**params):
        a, b = (
            fit_briefly(PMLLENFN(random_state=seed, **params), X, C) for seed in (0, 1)
        )
        return np.abs(a.W_ - b.W_).max()

    assert 0 < apart(v_step="backtracking", max_iter=500) < apart() / 2


def test_backtracking_never_raises_the_loss():
    X, C = problem(1)
    model = fit_briefly(PMLLENFN(v_step="backtracking", random_state=0), X, C)
    assert (np.diff(model.loss_) <= 1e-9 * model.loss_[0]).all()
    assert model.converged_


def test_no_minimum_is_an_error():
    rng = np.random.default_rng(0)
    # Label 0 goes with each other label, and they not with it: an indefinite graph.
    C = np.zeros((12, 4), dtype=bool)
    C[:, 0], C[0, 1], C[1, 2], C[2, 3] = True, True, True, True
    with pytest.raises(ValueError, match="Raise `l1`"):
        PMLLENFN(1e-5, l2=1.0).fit(rng.normal(size=(12, 30)), C)


@pytest.mark.parametrize(
    "case", ["duplicates", "one row", "label of nobody", "empty rows", "two alike"]
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
        C[:, 1] = C[:, 0]
    model = fit_briefly(PMLLENFN(random_state=0, max_iter=20), X, C)
    assert np.isfinite(model.W_).all()
    assert np.isfinite(model.predict_proba(X)).all()


def test_release_with_one_row():
    X, C = problem(0)
    model = PMLLENFN(neighbors="release", random_state=0, max_iter=8)
    fit_briefly(model, X[:1], C[:1])
    assert np.isfinite(model.soft_labels_).all()


def test_number_as_threshold():
    X, C = problem(0)
    model = fit_briefly(PMLLENFN(threshold=0.4, random_state=0, max_iter=20), X, C)
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_array_equal(model.predict(X), scores >= 0.4)
    every = fit_briefly(PMLLENFN(random_state=0, max_iter=20), X, C)
    assert every.predict(X).any(axis=1).all()


def test_sparse_features(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for shape in [(60, 8), (12, 30)]:
        X = rng.poisson(0.4, size=shape).astype(float)
        C = rng.uniform(size=(shape[0], 4)) < 0.4
        a = fit_briefly(PMLLENFN(max_iter=20, random_state=0), X, C)
        b = fit_briefly(PMLLENFN(max_iter=20, random_state=0), sp.csr_array(X), C)
        np.testing.assert_allclose(b.coef_, a.coef_, atol=1e-7)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"alpha": 0.8, "beta": 0.3}, "at most 1"),
        ({"U_init": np.zeros((2, 2))}, r"`U_init` must have shape \(4, 4\)"),
        ({"mu": 2.0}, "mu"),
    ],
)
def test_bad_parameters(params, match):
    X, C = problem(0)
    with pytest.raises(ValueError, match=match):
        PMLLENFN(**params).fit(X, C)
