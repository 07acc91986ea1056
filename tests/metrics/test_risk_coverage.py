"""Risk and coverage by hand, over orders of equal rows, and its bounds."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from partlearn.metrics import (
    area_under_risk_coverage,
    class_recalls,
    risk_coverage_curve,
    worst_class_recall,
)


def test_by_hand():
    curve = risk_coverage_curve([0.2, 0.9, 0.8, 0.4], [False, True, False, True])
    assert_allclose(curve.coverage, [0.25, 0.5, 0.75, 1])
    assert_allclose(curve.risk, [0, 1 / 2, 1 / 3, 2 / 4])
    assert_allclose(curve.threshold, [0.9, 0.8, 0.4, 0.2])
    area = area_under_risk_coverage([0.2, 0.9, 0.8, 0.4], [0, 1, 0, 1])
    assert area == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)


def test_equal_rows_are_averaged_over_their_orders():
    sure, right = [0.9, 0.5, 0.5, 0.5], [True, False, True, True]
    risks = []
    for order in permutations([1, 2, 3]):
        wrong = np.array([not right[i] for i in (0, *order)])
        risks.append(np.cumsum(wrong) / np.arange(1, 5))
    assert_allclose(risk_coverage_curve(sure, right).risk, np.mean(risks, axis=0))


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30),
    st.randoms(),
)
def test_bounds_and_order(rows, random):
    sure, right = (np.array(v) for v in zip(*rows, strict=True))
    area = area_under_risk_coverage(sure, right)
    wrong = np.sort(~right)
    steps = np.arange(1, len(rows) + 1)
    best, worst = (np.mean(np.cumsum(w) / steps) for w in (wrong, wrong[::-1]))
    assert best - 1e-12 <= area <= worst + 1e-12
    assert risk_coverage_curve(sure, right).risk[-1] == pytest.approx(wrong.mean())
    order = list(range(len(rows)))
    random.shuffle(order)
    assert area_under_risk_coverage(sure[order], right[order]) == pytest.approx(area)


def test_confidence_that_says_nothing():
    right = [True, False, False, True, True]
    assert area_under_risk_coverage(np.ones(5), right) == pytest.approx(0.4)


def test_bad_input():
    with pytest.raises(ValueError, match="one value per row"):
        risk_coverage_curve([0.5], [True, False])
    with pytest.raises(ValueError, match="at least one row"):
        risk_coverage_curve([], [])
    with pytest.raises(ValueError, match="must be finite; row 1 has nan"):
        risk_coverage_curve([0.5, np.nan], [True, False])


def test_class_recalls():
    truth, predicted = ["a", "a", "b", "c", "c"], ["a", "d", "b", "a", "b"]
    classes, recalls = class_recalls(truth, predicted)
    assert classes.tolist() == ["a", "b", "c"]
    assert_allclose(recalls, [0.5, 1, 0])
    assert worst_class_recall(truth, predicted) == 0
    with pytest.raises(ValueError, match="one true and one predicted label"):
        class_recalls([0, 1], [0])
