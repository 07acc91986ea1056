"""CC, PRODEN and CLPL against their formulas, by hand and on Lost."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from tests.settling import fit_briefly

from partlearn.candidates import make_candidates
from partlearn.classification import CC, CLPL, PRODEN
from partlearn.classification._score_models import (
    Layers,
    average_hinge,
    candidate_loss,
    cross_entropy,
    fit_hidden_layer,
    forward,
    gradients,
    posterior,
)

LINEAR = [CC, PRODEN, CLPL]


@pytest.fixture
def rows(global_random_seed):
    """Scores, candidates and confidences."""
    rng = np.random.default_rng(global_random_seed)
    G = rng.normal(size=(7, 4))
    S = rng.random((7, 4)) < 0.4
    S[np.arange(7), rng.integers(0, 4, 7)] = True
    F = rng.random((7, 4)) * S
    return G, S.astype(float), F / F.sum(axis=1, keepdims=True)


@pytest.fixture
def problem(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y = rng.integers(0, 4, 120)
    X = rng.normal(size=(120, 6)) + 2.5 * rng.normal(size=(4, 6))[y]
    return 3 * X + 50, make_candidates(y, 1, random_state=global_random_seed), y


def literal_cc(G, S):
    total = 0
    for g, s in zip(G, S, strict=True):
        p = np.exp(g) / np.exp(g).sum()
        total -= np.log(sum(p[j] for j in range(len(g)) if s[j]))
    return total / len(G)


def literal_cross_entropy(G, F):
    total = 0
    for g, f in zip(G, F, strict=True):
        p = np.exp(g) / np.exp(g).sum()
        total -= sum(f[j] * np.log(p[j]) for j in range(len(g)))
    return total / len(G)


def literal_clpl(G, S):
    total = 0
    for g, s in zip(G, S, strict=True):
        total += max(0, 1 - np.mean([g[j] for j in range(len(g)) if s[j]])) ** 2
        total += sum(max(0, 1 + g[j]) ** 2 for j in range(len(g)) if not s[j])
    return total / len(G)


def test_losses_are_their_formulas(rows):
    G, S, F = rows
    uniform = S / S.sum(axis=1, keepdims=True)
    assert candidate_loss(G, S)[0] == pytest.approx(literal_cc(G, S))
    assert cross_entropy(G, F)[0] == pytest.approx(literal_cross_entropy(G, F))
    assert average_hinge(G, uniform)[0] == pytest.approx(literal_clpl(G, S))


@pytest.mark.parametrize("loss", [candidate_loss, cross_entropy, average_hinge])
def test_gradients_of_losses(rows, loss):
    G, _, F = rows
    numeric = approx_fprime(G.ravel(), lambda g: loss(g.reshape(G.shape), F)[0], 1e-7)
    np.testing.assert_allclose(loss(G, F)[1].ravel(), numeric, atol=1e-6)


def test_losses_by_hand():
    G, S = np.log([[1.0, 1.0, 2.0]]), np.array([[1.0, 1.0, 0.0]])
    # p = (1/4, 1/4, 1/2): the candidates have one half.
    value, slope = candidate_loss(G, S)
    assert value == pytest.approx(np.log(2))
    np.testing.assert_allclose(slope, [[-0.25, -0.25, 0.5]])
    np.testing.assert_allclose(posterior(G, S), [[0.5, 0.5, 0.0]])
    # Mean score of the candidates 1/2, the other label scores 0.
    value, slope = average_hinge(np.array([[1.0, 0.0, 0.0]]), S / 2)
    assert value == pytest.approx(0.25 + 1)
    np.testing.assert_allclose(slope, [[-0.5, -0.5, 2.0]])


def test_scores_far_apart_stay_finite():
    G, S = np.array([[1e3, -1e3, 0.0]]), np.array([[0.0, 1.0, 1.0]])
    value, slope = candidate_loss(G, S)
    assert value == pytest.approx(1e3)
    assert np.isfinite(slope).all()


def test_linear_model_reaches_the_minimum(problem):
    """A general optimiser on the literal loss finds nothing better."""
    X, S, _ = problem
    Z = StandardScaler().fit_transform(X) * np.sqrt((len(X) - 1) / len(X))
    d, q = X.shape[1], S.shape[1]

    def objective(flat):
        W, b = flat[:-q].reshape(d, q), flat[-q:]
        return literal_cc(Z @ W + b, S) + 0.05 / 2 * (W**2).sum()

    model = CC(0.05, tol=1e-7).fit(X, S)
    W = model.coef_.T * X.std(axis=0, ddof=1)[:, None]
    b = model.intercept_ + model.coef_ @ X.mean(axis=0)
    ours = np.r_[W.ravel(), b]
    assert objective(ours) == pytest.approx(model.objective_[-1], abs=1e-9)
    better = minimize(objective, ours, method="BFGS", options={"maxiter": 5})
    assert better.fun == pytest.approx(objective(ours), abs=1e-7)


def test_single_labels_are_logistic_regression(problem):
    X, _, y = problem
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    reference = LogisticRegression(C=1 / (0.1 * len(X)), tol=1e-8, max_iter=1000)
    expected = reference.fit(Z, y).predict_proba(Z)
    for model in (CC(0.1, tol=1e-7), PRODEN(0.1, tol=1e-9)):
        np.testing.assert_allclose(
            model.fit(X, y).predict_proba(X), expected, atol=1e-4
        )


def test_proden_ends_where_cc_does(problem):
    """Run to the end it is expectation-maximisation for the same likelihood."""
    X, S, _ = problem
    cc = CC(0.1, tol=1e-8).fit(X, S)
    proden = PRODEN(0.1, tol=1e-10, max_iter=2000).fit(X, S)
    np.testing.assert_allclose(proden.predict_proba(X), cc.predict_proba(X), atol=1e-3)
    assert (np.diff(proden.objective_) < 1e-9).all()


@pytest.mark.parametrize("cls", LINEAR)
def test_confidences(problem, cls):
    X, S, y = problem
    model = cls().fit(X, S)
    F = model.label_confidence_
    np.testing.assert_allclose(F.sum(axis=1), 1)
    assert (F[~S.astype(bool)] == 0).all()
    assert (F.argmax(axis=1) == y).mean() > 0.9
    # Confidences that know the truth help; equal ones change nothing.
    told = cls().fit(X, S, confidence=np.eye(4)[y])
    assert (told.label_confidence_.argmax(axis=1) == y).all()
    same = cls().fit(X, S, confidence=S / S.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(same.coef_, model.coef_)


@pytest.mark.parametrize("cls", LINEAR)
def test_sparse_rows(problem, cls):
    X, S, _ = problem
    X = np.where(X > 50, X, 0)
    dense, sparse = cls(0.1).fit(X, S), cls(0.1).fit(sp.csr_array(X), S)
    np.testing.assert_allclose(
        sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X), atol=1e-3
    )


@pytest.mark.parametrize("cls", LINEAR)
def test_penalty_by_held_out_sets(problem, cls):
    X, S, _ = problem
    model = cls("auto").fit(X, S)
    assert model.lam_ in (1e-4, 1e-3, 1e-2, 1e-1)
    np.testing.assert_array_equal(model.coef_, cls(model.lam_).fit(X, S).coef_)
    assert cls("auto").fit(X[:1], [0]).lam_ == 0.1


@pytest.mark.parametrize("cls", LINEAR)
def test_says_when_it_stops_early(problem, cls):
    X, S, _ = problem
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        cls(1e-4, max_iter=1).fit(X, S)


def test_gradient_of_the_hidden_layer(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, F = rng.normal(size=(5, 3)), np.eye(4)[rng.integers(0, 4, 5)]
    shapes = [(3, 6), (6, 4), (6,), (4,)]
    parts = [rng.normal(size=shape) for shape in shapes]

    def layers_of(flat):
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
        p = [
            flat[a:b].reshape(shape)
            for a, b, shape in zip(ends[:-1], ends[1:], shapes, strict=True)
        ]
        return Layers(p[:2], p[2:])

    def objective(flat):
        layers = layers_of(flat)
        penalty = sum((W**2).sum() for W in layers.weights)
        return candidate_loss(forward(X, layers)[-1], F)[0] + 0.3 / 2 * penalty

    flat = np.concatenate([p.ravel() for p in parts])
    layers = layers_of(flat)
    outputs = forward(X, layers)
    ours = gradients(X, layers, outputs, candidate_loss(outputs[-1], F)[1], 0.3)
    ours = np.concatenate([p.ravel() for p in [*ours.weights, *ours.intercepts]])
    np.testing.assert_allclose(ours, approx_fprime(flat, objective, 1e-7), atol=1e-5)


@pytest.mark.parametrize("cls", [CC, PRODEN])
def test_hidden_layer_learns_what_is_not_linear(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + 2 * (np.abs(X).sum(axis=1) > 1.5)
    S = make_candidates(y, 1, random_state=0)
    linear = cls(1e-4, max_iter=50, tol=1e-2).fit(X[:400], S[:400])
    model = cls(1e-4, hidden_layer_size=50, max_iter=200).fit(X[:400], S[:400])
    assert model.score(X[400:], y[400:]) > linear.score(X[400:], y[400:]) + 0.2
    assert model.n_iter_ == len(model.objective_) <= 200
    again = cls(1e-4, hidden_layer_size=50, max_iter=200).fit(X[:400], S[:400])
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    sparse = cls(1e-4, hidden_layer_size=50, max_iter=200).fit(
        sp.csr_array(X[:400]), S[:400]
    )
    np.testing.assert_allclose(
        sparse.predict_proba(sp.csr_array(X)), model.predict_proba(X), atol=1e-6
    )
    with pytest.raises(AttributeError, match="coefs_"):
        _ = model.coef_
    with pytest.raises(AttributeError, match="intercepts_"):
        _ = model.intercept_


def test_hidden_layer_keeps_the_best_epoch():
    """The held-out loss grows from the second epoch on: the first one is returned."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(5, 2))
    seen = []

    def held_out(G, index):
        seen.append(G.copy())
        return float(len(seen))

    layers, trace = fit_hidden_layer(
        lambda index: X[index],
        lambda G, index: (0.0, np.ones_like(G)),
        held_out,
        (5, 2, 3, 4),
        0.0,
        max_iter=100,
        rng=np.random.RandomState(1),
    )
    assert len(trace) == 21
    order = np.random.RandomState(1)
    order.normal(size=(2, 3)), order.normal(size=(3, 4))
    rows = order.permutation(5)  # too few rows to hold any out
    np.testing.assert_array_equal(forward(X[rows], layers)[-1], seen[0])


@pytest.mark.shared
@pytest.mark.parametrize(
    ("model", "accuracy"),
    [
        (CC(0.01), 0.772),
        (CC(0.001), 0.748),
        (PRODEN(0.01, max_iter=20), 0.750),
        (CLPL(0.01), 0.733),
        (CLPL(0.1), 0.724),
    ],
    ids=repr,
)
def test_lost(shared_dir, model, accuracy):
    """Specified figures of five honest folds."""
    with np.load(shared_dir / "data" / "pll" / "lost.npz") as file:
        X, S, y = file["X"].astype(float), file["S"], file["y"].astype(int)
    order = np.random.RandomState(0).permutation(len(y))
    right = 0
    for f in range(5):
        test = order[f::5]
        train = np.setdiff1d(order, test)
        fit_briefly(model, X[train], S[train])
        right += (model.predict(X[test]) == y[test]).sum()
    assert right / len(y) == pytest.approx(accuracy, abs=0.01)
