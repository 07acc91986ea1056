"""Relevance of columns by whole bags: literal refits, choices, and edges."""

import numpy as np
import pytest

from partlearn._math.crossfit import LeaveOneOut, relevance_weights, targets
from partlearn._math.crossfit._bag_relevance import (
    bag_relevance,
    whole_bags,
)
from partlearn._math.crossfit._bases import linear_basis
from partlearn._math.crossfit._relevance import choose_power, likelihood_without_bags
from partlearn.classification import CRISPClassifier
from partlearn.decomposition import CRISP

BAGS = np.array([0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 6, 7, 7, 7])


def problem(seed, n=20):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, 4))
    F = rng.dirichlet(np.ones(3), size=n)
    return X - X.mean(axis=0), F


def test_scores_without_bags_are_those_of_refits(global_random_seed):
    X, F = problem(global_random_seed)
    basis, _, _ = linear_basis(X, scale=False, rank=None, rng=None)
    model, Y = LeaveOneOut(basis), targets(F)
    ridge = 0.3
    penalty = ridge * basis.mean_square
    scores = model.held_out_bags(Y, model.project(Y), ridge, BAGS)
    for b in range(8):
        own, others = b == BAGS, b != BAGS
        # Ridge with a free intercept, fitted without the bag.
        A = np.hstack([np.ones((20, 1)), X])
        D = np.diag([0.0, *[penalty] * 4])
        W = np.linalg.solve(A[others].T @ A[others] + D, A[others].T @ Y[others])
        expected = A[own] @ W - Y[others].mean(axis=0)
        np.testing.assert_allclose(scores[own], expected, atol=1e-9)
    alone = model.held_out_bags(Y, model.project(Y), ridge, np.arange(20))
    expected = model.held_out(Y, model.project(Y), ridge)
    np.testing.assert_allclose(alone, expected, atol=1e-9)


def test_rows_of_a_bag_do_not_predict_its_list():
    """Bags of nearly equal rows whose lists have nothing to do with the rows."""
    rng = np.random.RandomState(0)
    bags = np.repeat(np.arange(40), 5)
    X = rng.standard_normal((40, 30))[bags] + rng.normal(scale=0.01, size=(200, 30))
    L = rng.dirichlet(np.ones(4), size=40)[bags]
    L = (np.sort(L, axis=1)[:, -2:-1] <= L).astype(float)
    F = L / 2
    basis, _, _ = linear_basis(X, scale=False, rank=None, rng=None)
    chance = np.log(L.mean(axis=0) @ L.T / 2).mean()
    alone = likelihood_without_bags(basis, F, L, np.arange(200)).mean()
    assert likelihood_without_bags(basis, F, L, bags).mean() < chance + 0.05
    assert alone > chance + 0.3


def test_whole_bags_up_to_a_size():
    assert whole_bags(BAGS, 20).tolist() == list(range(20))
    # Bags of more than half the rows are left out.
    assert whole_bags(BAGS, 6).tolist() == [0, 1, 2, 3, 4, 5]
    assert whole_bags(BAGS, 5).tolist() == [3, 4, 5, 10, 11]
    assert whole_bags(BAGS[::-1], 4).tolist() == [6, 7, 8, 9]
    assert whole_bags(BAGS, 2).tolist() == [3]
    assert whole_bags(np.zeros(9, dtype=int), 5).tolist() == []


def test_few_bags_choose_nothing_and_noise_is_weighed_down():
    rng = np.random.RandomState(0)
    y = np.arange(240) % 3
    X = np.hstack([2 * np.eye(3)[y], np.zeros((240, 20))])
    X = X + rng.standard_normal(X.shape)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    F = np.eye(3)[y]
    kwargs = {"geometries": ("linear", "rbf"), "power": "auto"}
    found = bag_relevance(X, F, F, np.arange(240) // 4, **kwargs)
    assert found.power > 0
    assert found.importances[:3].min() > found.importances[3:].max()
    few = bag_relevance(X, F, F, np.arange(240) // 80, **kwargs)
    assert few.power == 0
    fixed = bag_relevance(X, F, F, np.zeros(240, int), **kwargs | {"power": 0.5})
    assert fixed.power == 0.5


@pytest.mark.filterwarnings("ignore:Many labels still change")
@pytest.mark.parametrize("make", [CRISPClassifier, CRISP])
def test_importances_of_bags_come_from_a_first_fit(make):
    """Six of eight labels are on each list: alone, candidates say little."""
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.permutation(8)[:6] for _ in range(40)])
    bags = np.repeat(np.arange(40), 6)
    X = np.hstack([2.5 * rng.normal(size=(8, 4))[y], np.zeros((240, 12))])
    X += rng.normal(size=X.shape)
    lists = np.zeros((40, 8), dtype=bool)
    lists[bags, y] = True
    S = lists[bags]
    alone = make(relevance=0.5).fit(X, S).feature_importances_
    shared = make(relevance=0.5).fit(X, S, bags=bags)
    assert shared.feature_importances_[:4].sum() > alone[:4].sum()
    first = make(relevance=0.0).fit(X, S, bags=bags)
    np.testing.assert_array_equal(
        make(relevance=0.0).fit(X, S, bags=[*bags]).label_confidence_,
        first.label_confidence_,
    )
    assert relevance_weights(shared.feature_importances_, 0.5).min() >= 0.02
    # A part without variance or with too few rows leaves the importances as they are.
    few = make(relevance=0.5).fit(X[:18], S[:18], bags=bags[:18])
    plain = make(relevance=0.5).fit(X[:18], S[:18])
    np.testing.assert_allclose(few.feature_importances_, plain.feature_importances_)


def test_columns_that_name_the_picture_do_not_count(global_random_seed):
    """Rows of a picture share its list; four columns say which picture it is."""
    rng = np.random.RandomState(global_random_seed)
    y, picture = rng.randint(6, size=300), np.repeat(np.arange(100), 3)
    labels = 2 * np.eye(6)[y] + rng.standard_normal((300, 6))
    names = 2 * rng.standard_normal((100, 4))[picture]
    X = np.hstack([labels, names + 0.05 * rng.standard_normal((300, 4))])
    L = np.zeros((300, 6))
    for p in range(100):
        L[np.ix_(picture == p, y[picture == p])] = 1
    X, F = (X - X.mean(axis=0)) / X.std(axis=0), L / L.sum(axis=1, keepdims=True)
    assert choose_power(X, F, L, ("linear", "rbf")) == 0


@pytest.mark.filterwarnings("ignore:Many labels still change")
def test_a_bag_larger_than_the_first_fit():
    """1,100 rows with one label first: a fit of them alone has no direction."""
    rng = np.random.RandomState(0)
    y = np.concatenate([np.zeros(1100, dtype=int), rng.randint(3, size=120)])
    bags = np.concatenate([np.zeros(1100, dtype=int), 1 + np.arange(120) // 4])
    X = 2 * np.eye(3)[y] + rng.standard_normal((1220, 3))
    S = np.zeros((31, 3), dtype=bool)
    S[bags, y] = True
    model = CRISPClassifier(stray_rate=0.0).fit(X, S[bags], bags=bags)
    assert np.mean(model.predict(X[1100:]) == y[1100:]) > 0.6
    alone = CRISPClassifier(stray_rate=0.0, relevance=0.5)
    labels = np.append(y[:1100], [1, 2, 1])
    codes = np.append(bags[:1100], [1, 1, 1])
    alone.fit(X[:1103], np.eye(3, dtype=bool)[labels], bags=codes)
    assert np.isfinite(alone.feature_importances_).all()
