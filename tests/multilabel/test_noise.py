"""Noise generators: counts, true labels kept, no row favoured."""

from functools import partial

import numpy as np
import pytest

from partlearn.multilabel import add_noise_labels

KINDS = ["add", "average", "rate", "similarity"]


@pytest.fixture
def Y(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    Y = rng.uniform(size=(200, 7)) < rng.uniform(size=(200, 1))
    Y[0], Y[1] = False, True
    return Y


@pytest.mark.parametrize("kind", KINDS)
def test_true_labels_stay_and_the_seed_decides(kind, Y):
    make = partial(add_noise_labels, kind=kind)
    C = make(Y, 2, random_state=5)
    assert C.dtype == bool
    assert (C >= Y).all()
    np.testing.assert_array_equal(C, make(Y.astype(int), 2, random_state=5))
    np.testing.assert_array_equal(make(Y, 0, random_state=0), Y)


def test_fixed_number(Y):
    C = add_noise_labels(Y, 3, random_state=0)
    size = Y.sum(axis=1)
    np.testing.assert_array_equal(C.sum(axis=1), np.minimum(size + 3, 7))


def test_top_up(Y):
    C = add_noise_labels(Y, 4, kind="average", random_state=0)
    np.testing.assert_array_equal(C.sum(axis=1), np.maximum(Y.sum(axis=1), 4))


@pytest.mark.parametrize("kind", ["rate", "similarity"])
@pytest.mark.parametrize("r", [0.5, 1, 1.5, 2])
def test_rate(kind, r, Y):
    C = add_noise_labels(Y, r, kind=kind, random_state=0)
    size = Y.sum(axis=1)
    wanted = np.floor(r * size + 0.5)
    np.testing.assert_array_equal(C.sum(axis=1), np.minimum(size + wanted, 7))


@pytest.mark.parametrize("kind", ["add", "rate"])
def test_noise_is_uniform_over_wrong_labels(kind):
    Y = np.zeros((6000, 4), dtype=bool)
    Y[:, 2] = True
    share = add_noise_labels(Y, 1, kind=kind, random_state=0).mean(axis=0)
    assert share[2] == 1
    # 6000 draws of 1/3: standard deviation 0.006.
    np.testing.assert_allclose(share[[0, 1, 3]], 1 / 3, atol=0.03)


def test_similar_labels_come_first():
    # Labels 0 and 1 always go together, except in the last row.
    Y = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1], [1, 0, 0, 0]])
    C = add_noise_labels(Y, 1, kind="similarity", random_state=0)
    assert C[4].tolist() == [True, True, False, False]


def test_every_row_uses_its_own_order():
    Y = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 1, 0]])
    C = add_noise_labels(Y, 1, kind="similarity", random_state=0)
    assert C[2:].astype(int).tolist() == [[1, 1, 0, 0], [0, 0, 1, 1]]


def test_equal_similarity_is_drawn():
    Y = np.eye(5, dtype=int)
    make = partial(add_noise_labels, Y, 1, kind="similarity")
    seen = {tuple(np.flatnonzero(make(random_state=s)[0])) for s in range(40)}
    assert seen == {(0, 1), (0, 2), (0, 3), (0, 4)}


def test_sets_are_read():
    C = add_noise_labels([{"a"}, {"b", "c"}, set()], 1, random_state=0)
    assert C.sum(axis=1).tolist() == [2, 3, 1]


@pytest.mark.parametrize(
    ("kind", "value", "match"),
    [
        ("add", -1, "`r` must be a number of labels"),
        ("add", 1.5, "`r` must be a number of labels"),
        ("add", float("nan"), "`r` must be a number of labels"),
        ("average", -2, "`r` must be a number of labels"),
        ("rate", -0.1, "`r` must be a number, 0 or more"),
        ("similarity", float("nan"), "`r` must be a number, 0 or more"),
        ("other", 1, '"rate" or "similarity"'),
    ],
)
def test_bad_amounts(kind, value, match):
    with pytest.raises(ValueError, match=match):
        add_noise_labels([[1, 0], [0, 1]], value, kind=kind)
