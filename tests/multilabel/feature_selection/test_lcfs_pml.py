"""LCFS-PML: the authors' program, the minimum of its objective, the edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.multilabel.oracles import load, run

from partlearn.multilabel import LCFSPML, add_noise_labels
from partlearn.multilabel.feature_selection import _lcfs_pml as module


def problem(seed, n=60, d=8):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    return X, add_noise_labels(X[:, :4] > 0.6, 1, random_state=seed)


def literal_confidence(X, rows, k, lam):
    """Confidences of one label, one row after the other."""
    D = np.array([[np.linalg.norm(X[i] - X[j]) for j in rows] for i in rows])
    n = len(rows)
    a = np.array([np.mean(sorted(d for d in D[i] if d > 0)[:k]) for i in range(n)])
    width = np.sort(D.ravel())[int(0.02 * n * (n - 1)) + n]
    r = np.array([sum(np.exp(-((d / width) ** 2)) for d in D[i]) - 1 for i in range(n)])
    delta = np.array(
        [min([D[i, j] for j in range(n) if r[j] > r[i]], default=-1) for i in range(n)]
    )
    delta[delta < 0] = delta.max()
    centers = np.flatnonzero(
        (r >= (r.min() + r.max()) / 2) & (delta > (delta.min() + delta.max()) / 2)
    )
    if not centers.size:
        centers = [r.argmax()]
    c = np.array([min(D[i, j] for j in centers) for i in range(n)])
    a, c = a / a.max(), c / c.max()
    return np.exp(-(1 + lam) * a * c / (lam * a + c))


def test_literal_confidence(global_random_seed):
    X, C = problem(global_random_seed)
    T = module.confidences(X, C, 3, 0.7)
    for j in range(4):
        rows = np.flatnonzero(C[:, j])
        expected = literal_confidence(X, rows, 3, 0.7)
        np.testing.assert_allclose(T[rows, j], expected, atol=1e-12)
    assert (T[~C] == 1).all()
    assert T.min() >= np.exp(-1) - 1e-12


def test_balance_of_the_two_distances():
    """Where `lam` vanishes near rows count alone, where it is huge centres do."""
    X, C = problem(0)
    rows = np.flatnonzero(C[:, 0])
    D = np.linalg.norm(X[rows][:, None] - X[rows][None], axis=2)
    a = module.near_distances(D, 5)
    c = D[:, module.density_peaks(D)].min(axis=1)
    low = module.confidences(X, C, 5, 1e-12)[rows, 0]
    high = module.confidences(X, C, 5, 1e12)[rows, 0]
    inside = c > 0  # at a centre both limits are one
    np.testing.assert_allclose(low[inside], np.exp(-a / a.max())[inside], atol=1e-9)
    np.testing.assert_allclose(high, np.exp(-c / c.max()), atol=1e-9)


@pytest.mark.shared
@pytest.mark.parametrize("letter", ["a", "b"])
@pytest.mark.parametrize("prefix", ["em", "ye"])
def test_the_authors_program(shared_dir, prefix, letter):
    oracle = load(shared_dir, "lcfs-pml", prefix)
    out = run(oracle, letter)
    names = ["alpha", "beta", "gamma", "lam", "theta", "n_neighbors"]
    params = dict(zip(names, out["params"].tolist(), strict=True))
    params["n_neighbors"] = int(params["n_neighbors"])
    X, C = oracle["Xtr"], oracle["Str"].astype(bool)
    T = module.confidences(X, C, params["n_neighbors"], params["lam"])
    np.testing.assert_allclose(T, out["T0"], atol=1e-12)
    np.testing.assert_array_equal(C & (params["theta"] < T), out["keep0"])
    init = {"W": out["W0"], "Q": out["S0"]}
    model = LCFSPML(None, solver="release", init=init, **params).fit(X, C)
    np.testing.assert_allclose(model.objective_, out["objective"], rtol=1e-8)
    np.testing.assert_allclose(model.weights_, out["W"], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.rest_, out["S"], rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(np.argsort(model.ranking_), out["rank"])
    exact = LCFSPML(None, **params).fit(X, C)
    p = module.LCFSProblem(X, C.astype(float), *out["params"][:3])
    reached = module.lcfs_objective(p, exact.kept_, exact.weights_, exact.rest_)
    released = module.lcfs_objective(p, exact.kept_, model.weights_, model.rest_)
    assert reached <= released


@pytest.mark.parametrize("shape", [(60, 8), (20, 40)], ids=["tall", "wide"])
def test_minimum(shape, global_random_seed):
    """Zero is a subgradient, and the start does not matter."""
    X, C = problem(global_random_seed, *shape)
    L, kept = C.astype(float), (C & (X[:, :4] > 0.5)).astype(float)
    p = module.LCFSProblem(X, L, 0.7, 1.5, 0.4)
    zero = np.zeros((shape[1], 4))
    start = np.random.default_rng(0).normal(size=(2, shape[1], 4))
    W, Q, settled = module.lcfs_minimum(p, kept, zero, zero)
    V, R, _ = module.lcfs_minimum(p, kept, *start)
    assert settled
    value = module.lcfs_objective(p, kept, W, Q)
    assert module.lcfs_objective(p, kept, V, R) == pytest.approx(value, rel=1e-6)
    common = 2 * X.T @ (X @ (W + Q) - L)
    slope = common + 2 * 0.7 * X.T @ (X @ W - kept)
    length = np.linalg.norm(W, axis=1)
    used = length > 1e-6
    np.testing.assert_allclose(
        slope[used], -1.5 * W[used] / length[used, None], atol=2e-2
    )
    assert (np.linalg.norm(slope[~used], axis=1) <= 1.5 + 2e-2).all()
    assert (np.abs(common) <= 0.4 + 2e-2).all()


def test_theta_from_all_to_none():
    X, C = problem(0)
    every = LCFSPML(None, theta=0.3).fit(X, C)
    np.testing.assert_array_equal(every.kept_, C)
    none = LCFSPML(None, theta=1.0, alpha=0.1).fit(X, C)
    assert not none.kept_.any()
    stronger = LCFSPML(None, theta=1.0, alpha=1.0).fit(X, C)
    assert np.abs(stronger.weights_).sum() < np.abs(none.weights_).sum()
    part = LCFSPML(None, theta="quantile").fit(X, C)
    share = part.kept_.sum(axis=0) / C.sum(axis=0)
    assert ((share >= 0.55) & (share <= 0.75)).all()


@pytest.mark.parametrize("solver", ["exact", "release"])
@pytest.mark.parametrize("count", [0, 1, 2, "equal rows", "duplicates"])
def test_edges_stay_finite(count, solver):
    X, C = problem(0)
    if count == "equal rows":
        X[C[:, 1]] = 0.5
    elif count == "duplicates":
        X = np.repeat(X[:20], 3, axis=0)
    else:
        C[:, 1] = False
        C[:count, 1] = True
    model = LCFSPML(3, solver=solver, random_state=0).fit(X, C)
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.labels_).all()


def test_sparse_rows_and_features_that_do_not_vary():
    X, C = problem(0)
    a, b = LCFSPML(3).fit(X, C), LCFSPML(3).fit(sp.csr_array(X), C)
    np.testing.assert_allclose(b.scores_, a.scores_, atol=1e-6)
    with pytest.raises(ValueError, match="there is no ranking"):
        LCFSPML(3).fit(np.zeros((20, 3)), C[:20])
