"""Costs of pairs of labels: all pairs literally, by hand, in blocks, at the minimum."""

import numpy as np
import pytest

from partlearn._math.linalg import standardize
from partlearn._sizes import SIZES
from partlearn.multilabel import add_noise_labels
from partlearn.multilabel._row_basis import row_basis
from partlearn.multilabel.classification._confidence_ranker import (
    PairCosts,
    descend,
    fit_scorer,
    pair_loss,
    pair_weights,
    project_confidences,
    ranking_costs,
)


def problem(seed, n=60, d=5, l=4, r=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.2, 5, size=d) + 3
    Y = (X - 3) / X.std(axis=0) @ rng.normal(size=(d, l)) > 0.8
    Y[~Y.any(axis=1), 0] = True
    return X, Y, add_noise_labels(Y, r, random_state=seed)


def random_scores(seed, n=30, l=6):
    rng = np.random.default_rng(seed)
    F = 2 * rng.normal(size=(n, l))
    C = rng.uniform(size=(n, l)) < 0.5
    C[np.arange(n), rng.integers(l, size=n)] = True
    C[0], C[1] = True, np.eye(l, dtype=bool)[0]
    return F, C, rng.uniform(size=(n, l)) * C


def literal_costs(F, C, loss):
    """One pair of labels at a time."""
    c = np.zeros(F.shape)
    for i in range(len(F)):
        others = np.flatnonzero(~C[i])
        for j in np.flatnonzero(C[i]):
            for m in others:
                z = 1 - F[i, j] + F[i, m]
                if loss == "hinge":  # rounded off over 0.01
                    e = 0 if z < 0 else z**2 / 0.02 if z < 0.01 else z - 0.005
                else:
                    e = max(0, z) ** 2
                c[i, j] += e / len(others)
    return c


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("way", ["direct", "sorted"])
def test_costs_of_pairs(loss, way, monkeypatch, global_random_seed):
    F, C, P = random_scores(global_random_seed)
    monkeypatch.setattr(SIZES, "ranker_few", 99 if way == "direct" else 0)
    weights = pair_weights(P, C)
    costs, gradient = ranking_costs(F, weights, C, loss)
    np.testing.assert_allclose(costs, literal_costs(F, C, loss), atol=1e-11)
    numeric = np.empty(F.shape)
    for i, j in np.ndindex(*F.shape):
        step = np.zeros(F.shape)
        step[i, j] = 1e-6
        up = np.vdot(P, ranking_costs(F + step, weights, C, loss)[0])
        down = np.vdot(P, ranking_costs(F - step, weights, C, loss)[0])
        numeric[i, j] = (up - down) / 2e-6
    np.testing.assert_allclose(gradient, numeric, atol=2e-4)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_costs_of_all_pairs(loss, global_random_seed):
    F, C, P = random_scores(global_random_seed)
    l = F.shape[1]
    H = pair_loss(1 - F[:, :, None] + F[:, None, :], loss)
    H[:, range(l), range(l)] = 0
    costs, gradient = ranking_costs(F, pair_weights(P, C, "all"), None, loss)
    expected = np.einsum("ijm,im->ij", H, 1 - P) / (l - 1)
    np.testing.assert_allclose(costs, expected, atol=1e-10)
    assert np.abs(gradient.sum(axis=1)).max() < 1e-10  # a shift changes nothing
    pairs = PairCosts(F, C, "all", loss)
    assert pairs.value(P) == pytest.approx(np.vdot(P, expected), rel=1e-10)

    def value(p):
        return pairs.value(p.reshape(P.shape))

    def slope(p):
        return pairs.gradient(p.reshape(P.shape)).ravel() * C.ravel()

    rng = np.random.default_rng(0)
    for direction in rng.normal(size=(3, *P.shape)) * C:
        numeric = (value(P + 1e-5 * direction) - value(P - 1e-5 * direction)) / 2e-5
        assert numeric == pytest.approx(np.vdot(slope(P), direction.ravel()), rel=1e-5)
    sub = [
        np.abs(np.linalg.eigvalsh((h + h.T)[np.ix_(c, c)])).max()
        for h, c in zip(H, C, strict=True)
    ]
    assert max(sub) / (l - 1) <= pairs.lipschitz() + 1e-12


def test_costs_by_hand():
    # Label 0 should be one above labels 1 and 2, and is 0.5 above one, 1 below another.
    F = np.array([[1.0, 0.5, 2.0]])
    C = np.array([[True, False, False]])
    costs, gradient = ranking_costs(F, pair_weights(C.astype(float), C), C)
    assert costs[0, 0] == pytest.approx((0.5**2 + 2**2) / 2)
    np.testing.assert_allclose(gradient, [[-2.5, 0.5, 2.0]])


def test_blocks_do_not_matter(monkeypatch):
    F, C, P = random_scores(0)
    for A, mode in ((C, "candidates"), (None, "all")):
        weights = pair_weights(P, C, mode)
        whole = ranking_costs(F, weights, A)
        monkeypatch.setattr(SIZES, "ranker_block", 20)
        np.testing.assert_allclose(ranking_costs(F, weights, A), whole, atol=1e-12)
        monkeypatch.undo()


def test_scorer_is_at_its_minimum(global_random_seed):
    X, _, C = problem(global_random_seed)
    Z, _, _ = standardize(X)
    weights = pair_weights(C.astype(float), C)
    basis = row_basis(Z, SIZES.ranker_direct)
    V, b = fit_scorer(
        basis, C, weights, np.zeros((5, 4)), np.zeros(4), 20.0, max_iter=2000, tol=0
    )
    W = basis.weights(V)
    _, gradient = ranking_costs(Z.dense @ W + b, weights, C)
    gradient *= 20 / len(X)
    np.testing.assert_allclose(W, -Z.dense.T @ gradient, atol=1e-4)
    np.testing.assert_allclose(gradient.sum(axis=0), 0, atol=1e-4)


def test_one_step_is_exact_where_the_cost_is_linear():
    F, C, P = random_scores(0)
    q = np.abs(F) * 3
    exact = project_confidences(1 - q / 4, C)
    found = descend(P, C, lambda P: q - 4 * (1 - P), 4.0)
    np.testing.assert_allclose(found, exact, atol=1e-12)
