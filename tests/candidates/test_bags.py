"""Bags: the rule as users call it, its edges, and bags made of true labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from partlearn.candidates import (
    BagRule,
    bag_codes,
    bag_confidence,
    bag_runs,
    make_bags,
    make_candidates,
)

FACES = np.array([[0.9, 0.1], [0.6, 0.4]])
BOTH = np.ones((2, 2), dtype=bool)


@pytest.mark.parametrize("rule", ["cover", "distinct", "match"])
def test_two_faces_and_two_names(rule):
    """By hand: .9 x .4 = .36 against .1 x .6 = .06, where each name has one face."""
    F = bag_confidence(FACES, ["p", "p"], BOTH, rule=rule, stray=0.0)
    assert np.allclose(F, [[6 / 7, 1 / 7], [1 / 7, 6 / 7]])


def test_cover_with_strays_by_hand():
    """A name without a face weighs .5: .54 + .04 on one name count half."""
    F = bag_confidence(FACES, [0, 0], BOTH, stray=0.5)
    total = 0.36 + 0.06 + 0.5 * (0.54 + 0.04)
    assert F[0, 0] == pytest.approx((0.36 + 0.5 * 0.54) / total)
    assert F[1, 0] == pytest.approx((0.06 + 0.5 * 0.54) / total)


def test_three_rows_may_share_a_label_under_cover():
    P = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]])
    F = bag_confidence(P, [1, 1, 1], np.ones((3, 2)), stray=0.0)
    # All of one label is impossible: .225 of label 0, .025 of label 1 are taken out.
    assert F[2, 0] == pytest.approx((0.9 - 0.225) / 0.75)


@pytest.mark.parametrize("rule", ["cover", "distinct", "match"])
@pytest.mark.parametrize("bags", [[0, 1], [None, None], ["", np.nan], ["a", None]])
def test_a_bag_of_one_row_keeps_its_confidences(rule, bags):
    assert np.allclose(bag_confidence(FACES, bags, BOTH, rule=rule), FACES)


def test_rows_of_one_bag_may_have_different_sets():
    """The list is their union; a row has no label outside its own set."""
    S = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    P = S / S.sum(axis=1, keepdims=True)
    F = bag_confidence(P, [0, 0, 0], S, stray=0.0)
    assert (F[~S] == 0).all()
    # Label 0 is left to row 0 alone, and then label 1 to row 1.
    assert np.allclose(F, [[1, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_labels_outside_the_list_follow_no_rule():
    """Evidence with a miss rate gives all labels some confidence."""
    P = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    S = np.array([[1, 1, 0], [1, 1, 0]], dtype=bool)
    F = bag_confidence(P, [0, 0], S, stray=0.0)
    assert np.allclose(F, [[0.5, 0.5, 0], [0.5, 0.5, 0]])
    F = bag_confidence(P, [0, 0], S, stray=0.5)
    a, b, o = 0.5, 0.3, 0.2
    total = 2 * a * b + 0.5 * (a * a + b * b + 2 * a * o + 2 * b * o) + 0.25 * o * o
    assert np.allclose(F[:, 2], (0.5 * (a * o + b * o) + 0.25 * o * o) / total)
    F = bag_confidence(P, [0, 0], S, rule="distinct")
    total = 2 * a * b + 2 * a * o + 2 * b * o + o * o
    assert np.allclose(F[:, 2], (a * o + b * o + o * o) / total)


def test_a_label_that_no_row_may_have_is_a_stray():
    """Both rows are certain of one label: with strays it stays, without it cannot."""
    P = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert np.allclose(bag_confidence(P, [0, 0], BOTH, stray=0.01), P, atol=1e-9)
    assert np.allclose(bag_confidence(P, [0, 0], BOTH, stray=0.0), 0.5)


def test_rows_without_confidence_start_from_their_candidates():
    F = bag_confidence(np.zeros((2, 2)), [0, 0], BOTH, stray=0.1)
    assert np.allclose(F, 0.5)


@pytest.mark.parametrize("rule", ["distinct", "match"])
def test_more_rows_than_labels(rule):
    P = np.array([[0.9, 0.1], [0.6, 0.4], [0.5, 0.5], [0.7, 0.3]])
    bags = ["a", "a", "a", "b"]
    with pytest.warns(UserWarning, match="1 bags have more rows than labels.*row 0"):
        F = bag_confidence(P, bags, np.ones((4, 2)), rule=rule)
    assert np.allclose(F, P)


@pytest.mark.parametrize("rule", ["distinct", "match"])
def test_more_rows_than_labels_of_a_long_list(rule):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(13), size=14)
    with pytest.warns(UserWarning, match="more rows than labels"):
        F = bag_confidence(P, np.zeros(14), np.ones((14, 13)), rule=rule)
    assert np.allclose(F, P)


def test_no_rows_and_other_types():
    empty = bag_confidence(np.empty((0, 3)), [], np.empty((0, 3), dtype=bool))
    assert empty.shape == (0, 3)
    F = bag_confidence(FACES.astype(np.float32), [0, 0], sp.csr_array(BOTH), stray=0.1)
    assert F.dtype == np.float32
    assert np.allclose(
        F, bag_confidence(10 * FACES, [3, 3], BOTH, stray=0.1), atol=1e-6
    )
    assert np.allclose(
        bag_confidence(np.ones((2, 2), dtype=int), [0, 0], BOTH, stray=0.1), 0.5
    )


@pytest.mark.parametrize("stray", [0.02, 0.1, 0.3])
def test_stray_rate_is_estimated(stray):
    """From confidences that are right on average, within a factor of two."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, size=4000)
    S, bags = make_bags(y, size=4, stray=stray, random_state=1)
    looks = rng.normal(size=(4000, 10))
    looks[np.arange(4000), y] += 2.0
    P = np.exp(2.0 * looks) * S  # the likelihood ratio of shifted normals
    rule = BagRule(bags, S)
    rule.settle(P)
    assert stray / 2 < rule.stray_ < stray * 2
    step = BagRule(bags, S)
    for _ in range(10):
        step(P)
    assert step.stray_ == pytest.approx(rule.stray_, rel=0.1)


@pytest.mark.parametrize("stray", [0.02, 0.1, 0.3])
def test_rows_without_a_bag_count_in_no_stray_rate(stray):
    """Their candidates are no list; beside them the rate stays what it was."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, size=800)
    S, bags = make_bags(y[:400], size=4, stray=stray, random_state=1)
    S = np.vstack([S, make_candidates(y[400:], n_false=3, random_state=0)])
    P = rng.random((800, 10)) * S
    P[np.arange(800), y] += 1
    alone, both = BagRule(bags, S[:400]), BagRule([*bags, *[None] * 400], S)
    F = both.settle(P)
    np.testing.assert_allclose(F[:400], alone.settle(P[:400]))
    np.testing.assert_allclose(F[400:], P[400:] / P[400:].sum(axis=1, keepdims=True))
    assert both.stray_ == pytest.approx(alone.stray_)


def test_match_estimates_strays_and_distinct_has_none():
    rng = np.random.default_rng(0)
    S = np.ones((400, 4), dtype=bool)
    bags = np.repeat(np.arange(200), 2)
    P = rng.dirichlet(np.ones(4), size=400)
    P[:, 3] += 0.3
    match = BagRule(bags, S, rule="match")
    match.settle(P)
    assert match.stray_ == 0.5  # two of four labels have no row
    distinct = BagRule(bags, S, rule="distinct")
    assert np.allclose(distinct(P), match(P))  # all rows are on the list


@pytest.mark.parametrize("stray", ["auto", 0.1])
def test_a_rule_among_some_rows_is_that_of_their_bags(stray):
    S, bags = make_bags([0, 1, 2, 3] * 10, size=3, stray=0.1, random_state=0)
    names = [None if b == 2 else b for b in bags]
    P = np.random.default_rng(0).random(S.shape) * S
    rows = np.flatnonzero(bags % 2 == 0)
    whole = BagRule(names, S, stray=stray)
    some = whole.among(rows)
    assert whole.shared
    assert some.shared
    assert not whole.among(rows[:1]).shared
    assert not BagRule([None] * 40, S).shared
    own = BagRule([names[i] for i in rows], S[rows], stray=stray)
    np.testing.assert_array_equal(some(P[rows]), own(P[rows]))
    assert some.stray_ == own.stray_


def test_a_rule_keeps_its_rate_between_calls():
    S, bags = make_bags([0, 1, 2] * 20, size=3, stray=0.3, random_state=0)
    rule = BagRule(bags, S)
    P = S / S.sum(axis=1, keepdims=True)
    first = rule(P)
    before = rule.stray_
    assert before != 0.03
    assert not np.array_equal(rule(P), first)
    fixed = BagRule(bags, S, stray=0.03)
    assert np.array_equal(fixed(P), fixed(P))
    assert fixed.stray_ == 0.03


def test_codes_of_bags():
    assert bag_codes(np.array([7, 3, 7]), 3).tolist() == [0, 1, 0]
    assert bag_codes(["x", "", "", "x", float("nan")], 5).tolist() == [0, 1, 2, 0, 3]
    assert bag_codes([" ", "x", " "], 3).tolist() == [0, 1, 2]
    assert bag_codes((3.5, 2.5, 3.5), 3).tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="must hold 3 values, one per row; got 2"):
        bag_codes([1, 2], 3)
    with pytest.raises(ValueError, match="must hold 3 values, one per row; got 2"):
        bag_codes(np.array([1, 2]), 3)
    assert bag_codes([1, 1.0, np.int64(1), True, "a"], 5).tolist() == [0, 0, 0, 0, 1]
    assert bag_codes([float("nan"), "nan"], 2).tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"names 7 as a number \(row 2\) and as text"):
        bag_codes(["7", "8", 7], 3)
    with pytest.raises(TypeError, match="row 1 has"):
        bag_codes(["a", ["b"]], 2)
    with pytest.raises(TypeError, match="one entry per row"):
        bag_codes("photo", 2)


def test_runs_of_equal_sets():
    S = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1], [1, 1, 0], [1, 1, 0]])
    assert bag_runs(S).tolist() == [0, 0, 1, 2, 2]
    assert bag_runs(np.empty((0, 3))).tolist() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rule": "all"}, '`rule` must be "cover"'),
        ({"stray": 1.5}, "`stray` must be"),
        ({"stray": True}, "`stray` must be"),
        ({"stray": "some"}, "`stray` must be"),
        ({"candidates": np.ones((2, 3))}, "they must be the same"),
        ({"candidates": np.ones(2)}, "`candidates` must be a matrix"),
        ({"confidence": [[np.nan, 1], [1, 0]]}, "finite numbers"),
        ({"confidence": [[-0.5, 1], [1, 0]]}, "finite numbers"),
        ({"bags": [1, 2, 3]}, "one per row"),
    ],
)
def test_bad_input(arguments, message):
    good = {"confidence": FACES, "bags": [0, 0], "candidates": BOTH}
    with pytest.raises(ValueError, match=message):
        bag_confidence(**(good | arguments))


def test_made_bags():
    y = np.random.default_rng(0).integers(0, 30, size=1002)
    S, bags = make_bags(y, size=5, random_state=0)
    assert np.bincount(bags).tolist() == [5] * 200 + [2]
    for b in range(201):
        rows = bags == b
        assert (S[rows] == np.isin(np.arange(30), y[rows])).all()
    wide, same = make_bags(y, size=5, stray=0.2, random_state=0)
    assert np.array_equal(bags, same)
    assert 0.17 < wide[~S].mean() < 0.23
    assert wide[S].all()
    with pytest.raises(ValueError, match="`size` must be an integer of at least 1"):
        make_bags(y, size=0)
    with pytest.raises(ValueError, match=r"of at least 1; got 2\.5"):
        make_bags(y, size=2.5)
    with pytest.raises(ValueError, match="`stray` must lie"):
        make_bags(y, stray=2)
    with pytest.raises(ValueError, match="Bags are made from true labels"):
        make_bags([{0, 1}, {1}])
