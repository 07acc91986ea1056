"""PML-FSNF: the authors' program, formulas written down, the edges."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from scipy.stats import spearmanr
from tests.multilabel.oracles import load, run

from partlearn._math.simplex import project_simplex
from partlearn._sizes import SIZES
from partlearn.multilabel import PMLFSNF, add_noise_labels
from partlearn.multilabel.feature_selection import _pml_fsnf as module


def problem(seed, n=60, d=8):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    return X, add_noise_labels(X[:, :4] > 0.6, 1, random_state=seed)


def literal_distribution(Z, D, S):
    """Prototypes, cosines and projections, one entry after the other."""
    n, l = D.shape
    weight = np.array(
        [[D[i, j] ** 2 / D[i].sum() if D[i].sum() else 0 for j in range(l)]
         for i in range(n)]
    )  # fmt: skip
    c = np.zeros((n, l))
    for j in range(l):
        if weight[:, j].sum():
            prototype = weight[:, j] @ Z / weight[:, j].sum()
            for i in range(n):
                length = np.linalg.norm(Z[i]) * np.linalg.norm(prototype)
                c[i, j] = Z[i] @ prototype / length if length else 0
    P = project_simplex(c)
    for i in range(n):
        missing = np.flatnonzero(~S[i])
        if missing.size and S[i].any():
            P[i, missing] -= 1 / (l * missing.size)
    return project_simplex(P)


def test_literal_transcription(global_random_seed):
    X, C = problem(global_random_seed)
    C[3] = False
    model = PMLFSNF(None, alpha=2.0, n_neighbors=4, scale=False).fit(X, C)
    rows = np.column_stack([X, np.ones(len(X))])
    A = np.zeros((60, 60))
    for i, x in enumerate(rows):
        distance = np.linalg.norm(rows - x, axis=1)
        distance[i] = np.inf
        near = np.argsort(distance)[:4]
        w = nnls(rows[near].T, x)[0]
        A[i, near] = w / w.sum()
    np.testing.assert_allclose(model.graph_.toarray(), A, atol=1e-8)
    S = C.astype(float)
    D = literal_distribution(A @ rows, S, C) * S
    np.testing.assert_allclose(model.labels_, D, atol=1e-8)
    W = np.linalg.inv(rows.T @ rows + 2 * np.eye(9)) @ rows.T @ S
    for _ in range(10):
        R = np.diag(2.0 / np.maximum(np.linalg.norm(W, axis=1), 2.2e-16))
        W = np.linalg.inv(rows.T @ rows + R) @ rows.T @ D
    np.testing.assert_allclose(model.weights_, W, atol=1e-7)
    assert (np.diff(model.objective_) <= 1e-9).all()


@pytest.mark.shared
@pytest.mark.parametrize("letter", ["a", "b"])
@pytest.mark.parametrize("prefix", ["em", "ye"])
def test_the_authors_program(shared_dir, prefix, letter):
    oracle = load(shared_dir, "pml-fsnf", prefix)
    out = run(oracle, letter)
    names = ["alpha", "beta", "gamma", "delta", "eps", "max_iter", "tol", "n_neighbors"]
    params = dict(zip(names, out["params"].tolist(), strict=True))
    params |= {name: int(params[name]) for name in ("max_iter", "n_neighbors")}
    X, C = oracle["Xtr"], oracle["Str"].astype(bool)
    model = PMLFSNF(None, loop="release", **params).fit(X, C)
    A = np.zeros((len(X), len(X)))
    A[oracle["A0_row"], oracle["A0_col"]] = oracle["A0_val"]
    np.testing.assert_allclose(model.graph_.toarray(), A, atol=1e-10)
    rows = np.column_stack([X, np.ones(len(X))])
    start = module.label_distribution(A @ rows, C.astype(float), C)
    np.testing.assert_allclose(start, oracle["S0"], atol=1e-10)
    np.testing.assert_allclose(module.label_correlations(C), oracle["L"], atol=1e-10)
    np.testing.assert_allclose(model.labels_, out["D"], atol=1e-9)
    np.testing.assert_allclose(model.weights_, out["W"], atol=1e-9)
    np.testing.assert_allclose(model.loss_, out["Loss"], rtol=1e-9)
    used = np.linalg.norm(out["W"][:-1], axis=1) > 1e-8
    expected = [i for i in out["rank"].astype(int) if used[i]]
    np.testing.assert_array_equal(np.argsort(model.ranking_)[: used.sum()], expected)
    plain = PMLFSNF(None, **params).fit(X, C)
    order = -np.arange(len(expected))
    assert spearmanr(plain.scores_[expected], order).statistic > 0.99


def test_labels_by_hand():
    C = np.array([[1, 1, 0], [1, 0, 0]], dtype=bool)
    np.testing.assert_allclose(
        module.label_correlations(C), [[0, 0.5, 0], [1, 0, 0], [0, 0, 0]]
    )
    # Orthogonal prototypes: each row is its own label, and stays so.
    S = np.eye(2, dtype=bool)
    np.testing.assert_allclose(
        module.label_distribution(np.eye(2), S.astype(float), S), np.eye(2)
    )


@pytest.mark.parametrize("loop", ["none", "release"])
@pytest.mark.parametrize("case", ["empty row", "full row", "label of nobody", "twice"])
def test_edges_stay_finite(case, loop):
    X, C = problem(0)
    if case == "empty row":
        C[:5] = False
    elif case == "full row":
        C[:5] = True
    elif case == "label of nobody":
        C[:, 1] = False
    else:
        X = np.repeat(X[:20], 3, axis=0)
    model = PMLFSNF(3, alpha=1.0, loop=loop, random_state=0).fit(X, C)
    assert np.isfinite(model.weights_).all()
    assert not model.labels_[~C].any()


def test_permuted_features_and_sparse_rows():
    X, C = problem(1)
    order = np.random.default_rng(0).permutation(8)
    a = PMLFSNF(None, alpha=1.0).fit(X, C)
    b = PMLFSNF(None, alpha=1.0).fit(X[:, order], C)
    np.testing.assert_allclose(b.scores_, a.scores_[order], atol=1e-9)
    c = PMLFSNF(None, alpha=1.0).fit(sp.csr_array(X), C)
    np.testing.assert_allclose(c.scores_, a.scores_, atol=1e-9)
    ratio = PMLFSNF(None, final_weight="ratio").fit(X, C)
    same = PMLFSNF(None, alpha=60 / 9).fit(X, C)
    np.testing.assert_allclose(ratio.scores_, same.scores_, atol=1e-12)


def test_the_error_names_a_weight_that_works(global_random_seed):
    """The published default removes every feature of small data."""
    X, C = problem(global_random_seed)
    words = r"PML-FSNF removed every feature: .*`alpha` \(8 n / d, the published"
    with pytest.raises(ValueError, match=words) as caught:
        PMLFSNF().fit(X, C)
    bound = float(re.search(r"well below ([\d.]+)\.$", str(caught.value))[1])
    assert PMLFSNF(alpha=bound / 2).fit(X, C).scores_.any()
    with pytest.raises(ValueError, match=r"`alpha` \(given\)"):
        PMLFSNF(alpha=20 * bound).fit(X, C)
    # One feature that says nothing about the labels, at a weight of n / 2.
    unrelated = np.random.default_rng(global_random_seed + 9).uniform(size=(60, 1))
    with pytest.raises(ValueError, match='Set final_weight="alpha" and `alpha`'):
        PMLFSNF(final_weight="ratio").fit(unrelated, C)
    with pytest.raises(ValueError, match="vanished"):
        PMLFSNF().fit(X, np.ones((len(X), 3)))


def test_many_rows_of_the_released_loop(monkeypatch):
    X, C = problem(0)
    monkeypatch.setattr(SIZES, "fsnf_rows", 10)
    with pytest.raises(ValueError, match='Use loop="none"'):
        PMLFSNF(loop="release").fit(X, C)
