"""PL-AGGD: its graph step, its confidence step, its options."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.preprocessing import normalize

from partlearn._math.graphs import (
    difference_grams,
    lift,
    neighbor_grams,
    neighbor_graph,
)
from partlearn._math.neighbors import query_neighbors, self_neighbors
from partlearn._math.simplex import reconstruction_weights_from_gram
from partlearn.candidates import uniform_confidence
from partlearn.classification import PLAGGD
from partlearn.classification._pl_aggd import smooth_confidence


def test_graph_step(noise, global_random_seed):
    """Weights minimise the joint error of features and confidences, on the simplex."""
    X, S = noise
    F = np.random.default_rng(global_random_seed).random(S.shape) * S
    F /= F.sum(axis=1, keepdims=True)
    neighbors = self_neighbors(X, 5)
    G = 2.0 * difference_grams(X, neighbors) + 0.7 * difference_grams(F, neighbors)
    W = reconstruction_weights_from_gram(G)

    def error(w, i):
        features = X[i] - w @ X[neighbors[i]]
        beliefs = F[i] - w @ F[neighbors[i]]
        return 2.0 * features @ features + 0.7 * beliefs @ beliefs

    for i in range(0, 40, 5):
        best = minimize(
            error,
            np.full(5, 0.2),
            args=(i,),
            bounds=[(0, 1)] * 5,
            constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1}],
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert error(W[i], i) <= best.fun + 1e-9
        assert W[i].sum() == pytest.approx(1)
        assert (W[i] >= 0).all()


@pytest.mark.parametrize("share", [0.1, 0.8])  # on the candidates alone, and dense
@pytest.mark.parametrize("pulled", [False, True])
def test_confidence_step(share, pulled, global_random_seed):
    """No feasible direction lowers the objective: the conditions of optimality."""
    rng = np.random.default_rng(global_random_seed)
    S = rng.random((25, 9)) < share
    S[np.arange(25), rng.integers(0, 9, 25)] = True
    neighbors = self_neighbors(rng.standard_normal((25, 3)), 4)
    W = neighbor_graph(neighbors, rng.dirichlet(np.ones(4), 25))
    target = rng.normal(0.2, 0.5, S.shape) if pulled else None
    F = smooth_confidence(W, S, uniform_confidence(S), target, mu=0.5)
    assert not F[~S].any()
    np.testing.assert_allclose(F.sum(axis=1), 1)
    A = np.eye(25) - W.toarray()
    slope = A.T @ A @ F + (2.0 * (F - target) if pulled else 0)
    inside = np.where(S, slope, np.inf)
    # Wherever there is belief, its slope is the least of the row.
    used = F > 1e-6
    excess = (slope - inside.min(axis=1, keepdims=True))[used]
    assert np.abs(excess).max() < 1e-5


@pytest.mark.parametrize("inside", [False, True])
def test_lifted_graph(noise, inside):
    X, S = noise
    F = np.random.default_rng(0).random(S.shape) * S
    W = neighbor_graph(self_neighbors(X, 3), np.random.default_rng(1).random((40, 3)))
    product, lifted = W @ F, lift(W, S, inside=inside) @ F[S]
    if inside:
        np.testing.assert_allclose(lifted, product[S], atol=1e-14)
    else:
        reached = (abs(W) @ S.astype(float)) > 0
        np.testing.assert_allclose(lifted, product[reached], atol=1e-14)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_grams(noise, form):
    X, _ = noise
    near = query_neighbors(X, X[:7] + 0.1, 3)[1]
    G, b = neighbor_grams(form(X[:7] + 0.1), form(X), near)
    for i in range(7):
        np.testing.assert_allclose(G[i], X[near[i]] @ X[near[i]].T)
        np.testing.assert_allclose(b[i], X[near[i]] @ (X[i] + 0.1))
    near = self_neighbors(X, 3)
    D = X[:, None] - X[near]
    np.testing.assert_allclose(
        difference_grams(form(X), near), D @ D.transpose(0, 2, 1), atol=1e-12
    )


def test_rounds_by_hand(noise):
    """Three rounds, written out with dense matrices and one solve each."""
    X, S = noise
    unit = normalize(X)
    neighbors = self_neighbors(unit, 6)
    E = unit[:, None] - unit[neighbors]
    G = E @ E.transpose(0, 2, 1)
    model = PLAGGD(6, lam=1.0, mu=2.0, gamma=0.1, max_iter=3).fit(X, S)
    squared = np.square(X[:, None] - X[None]).sum(axis=2)
    K = np.exp(-squared / (2 * model.sigma_**2))
    u = np.linalg.solve(K + 0.1 * np.eye(40), np.ones(40))

    def regress(F):
        b = (u @ F) / u.sum()
        return K @ np.linalg.solve(K + 0.1 * np.eye(40), F - b) + b

    W = neighbor_graph(neighbors, reconstruction_weights_from_gram(G))
    F = smooth_confidence(W, S, uniform_confidence(S))
    O = regress(F)
    for _ in range(3):
        D = F[:, None] - F[neighbors]
        both = G + 2.0 * D @ D.transpose(0, 2, 1)
        W = neighbor_graph(neighbors, reconstruction_weights_from_gram(both))
        F = smooth_confidence(W, S, F, O, mu=2.0)
        O = regress(F)
    np.testing.assert_allclose(model.label_confidence_, F, atol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), O, atol=1e-6)
    np.testing.assert_allclose(model.graph_.toarray(), W.toarray(), atol=1e-6)


def test_learns(blobs):
    X, S, y = blobs
    model = PLAGGD().fit(X, S)
    assert model.n_iter_ == 10
    assert np.mean(model.label_confidence_.argmax(axis=1) == y) > 0.9
    assert model.score(X, y) > 0.9
    np.testing.assert_array_equal(
        model.predict_proba(X).argmax(axis=1), model.predict(X)
    )


def test_stops_early_when_asked(blobs):
    X, S, _ = blobs
    assert PLAGGD(tol=1e9).fit(X, S).n_iter_ == 1
    assert PLAGGD(tol=1e-4, max_iter=50).fit(X, S).n_iter_ < 50


def test_starts_from_confidences(blobs):
    X, S, y = blobs
    model = PLAGGD(max_iter=1).fit(X, S, confidence=np.eye(4)[y])
    assert np.mean(model.label_confidence_.argmax(axis=1) == y) > 0.95


def test_landmarks_and_memory(blobs):
    X, S, y = blobs
    with pytest.raises(MemoryError, match="n_landmarks"):
        PLAGGD(memory_limit=1e-6).fit(X, S)
    model = PLAGGD(memory_limit=1e-6, n_landmarks=25, random_state=0).fit(X, S)
    assert model.score(X, y) > 0.9


def test_duplicates_and_too_many_neighbours():
    X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 3, axis=0)
    S = [[1, 0], [1, 1], [1, 0], [0, 1], [1, 1], [0, 1]]
    F = PLAGGD(50).fit(X, S).label_confidence_
    np.testing.assert_allclose(F[[0, 3]], np.eye(2))
    assert F[1].argmax() == 0
    assert F[4].argmax() == 1
