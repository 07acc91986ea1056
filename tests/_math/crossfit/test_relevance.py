"""Relevance of columns by what each tells about the candidates."""

import numpy as np
import pytest

from partlearn._math.crossfit._relevance import (
    choose_power,
    explained_shares,
    learn_relevance,
    relevance_weights,
)


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


def test_noise_is_weighed_down_and_few_rows_choose_nothing(global_random_seed):
    X, F = rows(global_random_seed, noise=20)
    X /= X.std(axis=0)
    assert choose_power(X, F, F, ("linear", "rbf")) > 0
    assert choose_power(X[:19], F[:19], F[:19], ("linear",)) == 0


def test_a_half_without_variance_does_not_judge():
    X, F = rows(0, n=40)
    X[:20] = 0
    assert choose_power(X, F, F, ("linear", "rbf")) in (0.0, 0.5, 1.0)


@pytest.mark.parametrize("power", [0.0, 0.5, "auto"])
def test_labels_that_say_nothing(power):
    X, _ = rows(0)
    learned = learn_relevance(
        X,
        np.full((200, 3), 1 / 3),
        np.ones((200, 3)),
        np.arange(200),
        geometries=("linear",),
        power=power,
    )
    assert learned.power == 0
    assert learned.weights is None
    np.testing.assert_allclose(learned.importances, 1 / 9)


def test_weights_have_a_floor():
    weights = relevance_weights(np.array([1.0, 0.25, 0.0]), 0.5)
    np.testing.assert_allclose(weights, [1, 0.5, 0.02])
    np.testing.assert_array_equal(relevance_weights(np.array([0.3, 0.7]), 0), [1, 1])
