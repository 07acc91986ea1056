"""Relevance of columns by what each tells about the candidates."""

from functools import partial

import numpy as np
import pytest
from tests.settling import fit_briefly

from partlearn._math.crossfit import _fit
from partlearn._math.crossfit._relevance import (
    POWERS,
    Relevance,
    explained_shares,
    relevance_weights,
    same_power,
    whole_bags,
)
from partlearn._math.linalg import drawn_order
from partlearn.classification import CRISPClassifier
from partlearn.decomposition import CRISP

BAGS = np.array([0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 6, 7, 7, 7])


def rows(seed, n=200, noise=6):
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 3
    X = np.hstack([2 * np.eye(3)[y], np.zeros((n, noise))])
    return X + rng.standard_normal(X.shape), np.eye(3)[y]


def test_a_share_is_the_variance_between_bins_by_hand():
    X = np.arange(16.0)[:, None]
    F = np.eye(2)[np.repeat([0, 1], 8)]
    assert explained_shares(X, F)[0] == 1
    # Two columns: one tells all, the other is the same in both classes.
    X = np.column_stack([X[:, 0], np.tile([0.0, 1.0], 8)])
    np.testing.assert_allclose(explained_shares(X, F), [1, 0])


def test_bins_hold_equal_cells_together_and_know_no_order(global_random_seed):
    rng = np.random.RandomState(global_random_seed)
    X, F = rows(global_random_seed)
    X = np.hstack([X, rng.randint(3, size=(200, 2)), np.ones((200, 1))])
    v = explained_shares(X, F)
    order, columns = rng.permutation(200), rng.permutation(X.shape[1])
    again = explained_shares(X[order][:, columns], F[order])
    np.testing.assert_allclose(again, v[columns], atol=1e-12)
    # Monotone changes of a column do not matter either.
    np.testing.assert_allclose(explained_shares(np.exp(X), F), v, atol=1e-12)
    assert v[-1] == 0
    assert v[:3].min() > v[3:].max()


def test_nothing_explained_is_all_alike():
    X, F = np.ones((6, 2)), np.eye(2)[[0, 1, 0, 1, 0, 1]]
    np.testing.assert_array_equal(explained_shares(X, F), [0.5, 0.5])
    np.testing.assert_array_equal(explained_shares(X + F, np.ones((6, 2))), [0.5, 0.5])


def test_weights_of_kernels_are_those_beside_the_shared_ones():
    v = np.array([0.64, 0.36, 0.0])
    auto = Relevance(v, POWERS)
    assert auto.weights is None
    assert set(auto.kernel_weights) == {"rbf", "laplacian"}
    np.testing.assert_allclose(auto.kernel_weights["rbf"], [1, 0.75, 0.02])
    np.testing.assert_allclose(auto.kernel_weights["laplacian"], [1, 0.5625, 0.02])
    same = Relevance(v, same_power(0.5))
    assert same.kernel_weights == {}
    np.testing.assert_allclose(same.weights, [1, 0.75, 0.02])


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_powers_of_auto_are_those_of_one_geometry(kernel, global_random_seed):
    """A kernel on its own is the same with its power given for all geometries."""
    X, F = rows(global_random_seed)
    S = F.astype(bool) | np.roll(F.astype(bool), 1, axis=0)
    make = partial(CRISPClassifier, [kernel], use_neighbors=False)
    auto = fit_briefly(make(), X, S)
    given = fit_briefly(make(relevance=POWERS[kernel]), X, S)
    assert auto.relevance_ == {kernel: POWERS[kernel]}
    confidence = given.label_confidence_
    np.testing.assert_allclose(auto.label_confidence_, confidence, atol=1e-9)
    Z = rows(global_random_seed + 1)[0]
    P = given.predict_proba(Z)
    np.testing.assert_allclose(auto.predict_proba(Z), P, atol=1e-8)


@pytest.mark.parametrize("Method", [CRISP, CRISPClassifier])
def test_importances_come_from_a_first_fit_with_all_columns_alike(Method):
    X, F = rows(0)
    S = F.astype(bool) | np.roll(F.astype(bool), 1, axis=0)
    order = drawn_order(X, S.astype(float), np.random.RandomState(0))
    options = {"n_neighbors": 8} if Method is CRISPClassifier else {}
    model = fit_briefly(Method(**options), X, S)
    first = CRISPClassifier(relevance=0.0, n_neighbors=8)
    if Method is CRISP:
        first.set_params(geometries=["linear"], max_iter=20, tol=1e-3)
        first.set_params(normal_scores=False)
    G = fit_briefly(first, X[order], S[order]).label_confidence_
    v = explained_shares(X[order], G)
    np.testing.assert_allclose(model.feature_importances_, v, atol=1e-6)


@pytest.mark.parametrize("power", [0.0, 0.5, "auto"])
def test_few_rows_weight_nothing(power):
    X, F = rows(0, n=19)
    model = fit_briefly(CRISPClassifier(relevance=power), X, F)
    assert set(model.relevance_.values()) == {0.0}
    np.testing.assert_allclose(model.feature_importances_, 1 / 9)


def test_first_rows_with_the_same_candidates(monkeypatch):
    monkeypatch.setattr(_fit, "_FIRST_ROWS", 30)
    monkeypatch.setattr(_fit, "drawn_order", lambda X, L, rng: np.arange(len(X)))
    X, F = rows(0)
    F[:30] = 1
    model = fit_briefly(CRISPClassifier(), X, F)
    np.testing.assert_allclose(model.feature_importances_, 1 / 9)


def test_first_rows_without_variance():
    """Of 1,000 rows in bags of which the first fit sees those without variance."""
    X = np.zeros((60, 2))
    X[50:] = np.random.RandomState(0).standard_normal((10, 2))
    y = np.arange(60) % 2
    bags = np.concatenate([np.arange(50) // 5, np.full(10, 10)])
    whole = partial(_fit.whole_bags, n=50)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_fit, "whole_bags", lambda codes, n: whole(np.sort(codes)))
        patch.setattr(_fit, "drawn_order", lambda X, L, rng: np.arange(60))
        model = fit_briefly(CRISPClassifier(), X, np.eye(2, dtype=bool)[y], bags=bags)
    np.testing.assert_array_equal(model.feature_importances_, 0.5)


def test_weights_have_a_floor():
    weights = relevance_weights(np.array([1.0, 0.25, 0.0]), 0.5)
    np.testing.assert_allclose(weights, [1, 0.5, 0.02])
    np.testing.assert_array_equal(relevance_weights(np.array([0.3, 0.7]), 0), [1, 1])


def test_whole_bags_up_to_a_size():
    assert whole_bags(BAGS, 20).tolist() == list(range(20))
    # Bags of more than half the rows are left out.
    assert whole_bags(BAGS, 6).tolist() == [0, 1, 2, 3, 4, 5]
    assert whole_bags(BAGS, 5).tolist() == [3, 4, 5, 10, 11]
    assert whole_bags(BAGS[::-1], 4).tolist() == [6, 7, 8, 9]
    assert whole_bags(BAGS, 2).tolist() == [3]
    assert whole_bags(np.zeros(9, dtype=int), 5).tolist() == []


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


@pytest.mark.filterwarnings("ignore:Many labels still change")
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
    plain, auto = (CRISPClassifier(relevance=g) for g in (0.0, "auto"))
    right = [
        np.mean(m.fit(X, L).label_confidence_.argmax(1) == y) for m in (plain, auto)
    ]
    assert right[1] >= right[0]
    v = auto.feature_importances_
    assert v[:6].min() > v[6:].max()


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
