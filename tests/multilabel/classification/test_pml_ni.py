"""PML-NI: the released program, a transcription, both solvers, the edges."""

import inspect
import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from tests.multilabel.oracles import load, run
from tests.settling import few_iterations, fit_briefly

from partlearn.multilabel import PMLNI, add_noise_labels
from partlearn.multilabel._scaled_rows import scaled_rows, spectrum
from partlearn.multilabel.classification import _pml_ni as module


def problem(seed, n=50, d=6, l=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, add_noise_labels(X[:, :l] > 0.3, 1, random_state=seed)


def literal(Phi, C, lam, beta, gamma, max_iter):
    """The released iterations with every inverse written down."""
    p = Phi.shape[1]
    U = V = Lam = np.zeros((C.shape[1], p))
    mu = 1e-4
    t = 0
    while t < max_iter:
        t += 1
        inverse = np.linalg.inv(Phi.T @ Phi + (lam + mu) * np.eye(p))
        W = (C.T @ Phi + mu * U + mu * V + Lam) @ inverse
        old = U
        M, s, N = np.linalg.svd(W - V - Lam / mu, full_matrices=False)
        U = M @ np.diag(np.maximum(s - beta / mu, 0)) @ N
        R = W - U - Lam / mu
        V = np.sign(R) * np.maximum(np.abs(R) - gamma / mu, 0)
        size = np.linalg.norm(W)
        c2 = mu * np.linalg.norm(U - old) / size < 1e-5
        c1 = np.linalg.norm(W - U - V) / size < 1e-7
        if c2:
            mu = min(1.1 * mu, 1e10)
        Lam = Lam + mu * (U + V - W)
        if c1 and c2:
            break
    return W, U, V, t


@pytest.mark.parametrize("shape", [(50, 6), (10, 14)], ids=["tall", "wide"])
def test_literal_transcription(shape, global_random_seed):
    X, C = problem(global_random_seed, *shape)
    model = fit_briefly(PMLNI(1.0, beta=0.6, gamma=0.2, scale=False), X, C)
    Phi = np.column_stack([X, np.ones(len(X))])
    W, U, V, t = literal(Phi, C.astype(float), 1.0, 0.6, 0.2, 500)
    assert model.n_iter_ == t
    assert np.abs(V).max() > 1e-3
    for ours, theirs in [(model.W_, W), (model.U_, U), (model.V_, V)]:
        np.testing.assert_allclose(ours, theirs, atol=1e-8)
    value = np.sum((C.T - (U + V) @ Phi.T) ** 2) / 2 + np.sum((U + V) ** 2) / 2
    value += 0.6 * np.linalg.svd(U, compute_uv=False).sum() + 0.2 * np.abs(V).sum()
    assert model.objective_ == pytest.approx(value, rel=1e-8)


@pytest.mark.shared
@pytest.mark.parametrize("letter", ["a", "b"])
@pytest.mark.parametrize("prefix", ["em", "ye"])
def test_the_released_program(shared_dir, prefix, letter):
    oracle = load(shared_dir, "pml-ni", prefix)
    out = run(oracle, letter)
    lam, beta, gamma, max_iter = out["params"]
    weights = {"beta": beta, "gamma": gamma, "max_iter": int(max_iter)}
    quirks = {"threshold": "clean", "threshold_bias": "release"}
    model = PMLNI(lam, **weights, **quirks)
    train = oracle["Xtr"], oracle["Str"]
    if letter == "a":
        said = pytest.warns(UserWarning, match="no noise can be identified")
        with said, few_iterations():
            model.fit(*train, oracle["Ytr"])
        assert not model.V_.any()
    else:
        with few_iterations():
            model.fit(*train, oracle["Ytr"])
    assert model.n_iter_ == out["n_iter"]
    np.testing.assert_allclose(model.mu_, out["mu_trace"], rtol=1e-12)
    for name in "WUV":
        np.testing.assert_allclose(getattr(model, f"{name}_"), out[name], atol=1e-10)
    scores = oracle["Xte"] @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(scores, out["scores"], atol=1e-10)
    np.testing.assert_allclose(model.threshold_coef_, out["thr_coef"], atol=1e-8)
    np.testing.assert_allclose(
        model._row_threshold(scores)[:, 0], out["threshold"], atol=1e-8
    )
    np.testing.assert_array_equal(model.predict(oracle["Xte"]), out["pred"])


@pytest.mark.filterwarnings("ignore:beta=1 is too large")  # where U is zero
@pytest.mark.parametrize("v_norm", ["l1", "l21"])
def test_both_solvers_find_the_optimum(v_norm, global_random_seed):
    X, C = problem(global_random_seed)
    params = {"beta": 1.0, "gamma": 0.5, "v_norm": v_norm, "scale": False}
    alm = fit_briefly(PMLNI(1.0, max_iter=3000, **params), X, C)
    prox = PMLNI(1.0, solver="prox", max_iter=20_000, **params).fit(X, C)
    assert alm.objective_ == pytest.approx(prox.objective_, rel=1e-6)
    assert prox.mu_.size == 0
    Phi = np.column_stack([X, np.ones(len(X))])
    Z = C.T @ Phi - prox.W_ @ (Phi.T @ Phi + np.eye(7))
    assert np.linalg.norm(Z, 2) <= 1.0 * (1 + 1e-3)
    largest = np.abs(Z).max() if v_norm == "l1" else np.linalg.norm(Z, axis=1).max()
    assert largest <= 0.5 * (1 + 1e-3)


def test_weights_so_large_that_nothing_is_left():
    X, C = problem(0)
    with pytest.warns(UserWarning, match="beta=10000 is too large") as caught:
        model = PMLNI(beta=1e4, gamma=1e3).fit(X, C)
    assert "and `gamma` below that." in str(caught[0].message)
    assert not model.U_.any()
    assert not model.V_.any()
    assert np.isfinite(model.decision_function(X)).all()


def test_the_warning_names_a_weight_that_works(global_random_seed):
    """With the published defaults the scores of small data are zero."""
    X, C = problem(global_random_seed)
    with pytest.warns(UserWarning, match="beta=5 is too large") as caught:
        model = PMLNI().fit(X, C)
    assert not model.scores_.any()
    least = float(re.search(r"`beta` below ([\d.]+)\.$", str(caught[0].message))[1])
    assert least > model.gamma
    assert PMLNI(beta=0.95 * least).fit(X, C).U_.any()
    with pytest.warns(UserWarning, match="is too large"):
        assert not PMLNI(beta=1.05 * least).fit(X, C).U_.any()


def test_no_candidate_at_all():
    X, C = problem(0)
    model = PMLNI().fit(X, np.zeros_like(C))
    assert not model.W_.any()
    assert model.converged_
    assert not model.predict(X).any()


def test_permuted_labels():
    X, C = problem(0)
    order = [2, 0, 3, 1]
    a, b = PMLNI(beta=1.0, gamma=0.3), PMLNI(beta=1.0, gamma=0.3)
    fit_briefly(a, X, C)
    fit_briefly(b, X, C[:, order])
    np.testing.assert_allclose(b.U_, a.U_[order], atol=1e-9)
    np.testing.assert_allclose(b.V_, a.V_[order], atol=1e-9)


def test_sparse_rows_of_either_shape(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for shape in [(60, 8), (12, 30)]:
        X = rng.poisson(0.4, size=shape).astype(float)
        C = rng.uniform(size=(shape[0], 4)) < 0.4
        a = fit_briefly(PMLNI(beta=1.0, gamma=0.3), X, C)
        b = fit_briefly(PMLNI(beta=1.0, gamma=0.3), sp.csr_array(X), C)
        np.testing.assert_allclose(b.coef_, a.coef_, atol=1e-8)


def test_rows_and_their_spectrum(global_random_seed):
    """Scaled rows, dense and sparse, are the matrix they stand for."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.poisson(0.5, size=(9, 12)) * rng.uniform(1, 3, size=12)
    X[:, 3] = 2.0
    low, high = X.min(axis=0), X.max(axis=0)
    expected = (2 * X - low - high) / np.where(high > low, high - low, 1)
    constant = high == low
    expected[:, constant] = X[:, constant]
    expected = np.column_stack([expected, np.ones(9)])
    for given in (X, sp.csr_array(X)):
        rows, shift, factor = scaled_rows(given)
        np.testing.assert_allclose(rows.dense(), expected, atol=1e-12)
        np.testing.assert_allclose(rows.gram(), expected @ expected.T, atol=1e-10)
        np.testing.assert_allclose(rows.scatter(), expected.T @ expected, atol=1e-10)
        np.testing.assert_allclose((X - shift) / factor, expected[:, :-1], atol=1e-12)
        basis = spectrum(rows)
        B = rng.normal(size=(2, 13))
        inverse = np.linalg.inv(expected.T @ expected + 0.7 * np.eye(13))
        np.testing.assert_allclose(basis.ridge(B, 0.7), B @ inverse, atol=1e-6)


def test_cuts_by_hand():
    scores = np.array([[0.1, 0.7, 0.3], [0.1, 0.7, 0.3], [0.1, 0.7, 0.3]])
    target = np.array([[0, 1, 0], [1, 1, 1], [0, 0, 0]], dtype=bool)
    np.testing.assert_allclose(module.best_cuts(scores, target), [0.5, 0.0, 0.8])
    # The cut above all scores has one error, and yet one label stays above.
    four = np.array([[0.1, 0.3, 0.5, 0.7]])
    second = np.array([[False, True, False, False]])
    np.testing.assert_allclose(module.best_cuts(four, second), [0.2])
    exact = module.border_weights(np.eye(2), np.array([1.0, 3.0]))
    np.testing.assert_allclose(np.eye(2) @ exact[:2] + exact[2], [1, 3])


def test_shrinking_by_hand():
    R = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(module.shrink_rows(R, 1.0), [[2.4, 3.2], [0, 0]])
    np.testing.assert_allclose(module.soft_threshold(R, 3.5), [[0, 0.5], [0, 0]])


def test_truth_is_read_only_on_demand():
    X, C = problem(0)
    truth = X[:, :4] > 0.3
    assert inspect.signature(PMLNI.fit).parameters["y_true"].default is None
    quiet = {"beta": 1.0, "gamma": 0.3}
    with_truth = fit_briefly(PMLNI(**quiet), X, C, y_true=truth)
    without = fit_briefly(PMLNI(**quiet), X, C)
    np.testing.assert_array_equal(with_truth.predict(X), without.predict(X))
    clean = fit_briefly(PMLNI(threshold="clean", **quiet), X, C, y_true=truth)
    assert (clean.threshold_coef_ != without.threshold_coef_).any()
    with pytest.raises(ValueError, match="pass `y_true` to `fit`"):
        PMLNI(threshold="clean").fit(X, C)


def test_number_as_threshold():
    X, C = problem(0)
    model = PMLNI(threshold=0.4, beta=0.5, gamma=0.3).fit(X, C)
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_array_equal(model.predict(X), scores >= 0.4)


def test_settling_is_reported():
    X, C = problem(0)
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        assert not PMLNI(max_iter=3).fit(X, C).converged_


def test_release_preset():
    X, C = problem(0)
    with pytest.warns(UserWarning, match="Lower gamma or raise beta"):
        a = PMLNI(preset="release").fit(X, C)
    with pytest.warns(UserWarning, match="gamma"):
        b = PMLNI(10.0, beta=0.5, gamma=0.5).fit(X, C)
    np.testing.assert_array_equal(a.U_, b.U_)


def test_rows_that_overflow():
    X, C = problem(0)
    with pytest.raises(ValueError, match="rescale the features"):
        PMLNI(scale=False).fit(X * 1e200, C)
