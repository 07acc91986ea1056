"""Displays draw what they were given, where they were told, and never nothing."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.dummy import DummyClassifier

from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN, SURE
from partlearn.decomposition import CENDA, CRISP
from partlearn.feature_selection import (
    CRISPSelector,
    MaxRelevance,
    RandomSelection,
    selection_curve,
)
from partlearn.inspection import (
    CalibrationDisplay,
    CandidateConfusionDisplay,
    ConfidenceDisplay,
    ConvergenceDisplay,
    EmbeddingDisplay,
    RiskCoverageDisplay,
    SelectionPathDisplay,
    candidate_confusion,
)
from partlearn.metrics import calibration_bins

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, make_candidates(y, n_false=1, random_state=0), y


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def displays(wine, ax=None):
    """One of each kind, from an estimator and from predictions."""
    X, S, y = wine
    reducer = CRISP().fit(X, S)
    F = reducer.label_confidence_
    selector = MaxRelevance(5).fit(X, S)
    curves = {"MR": selection_curve(selector, PLKNN(), X, S, y, sizes=[2, 5], cv=3)}
    learner = SURE().fit((X - X.mean(axis=0)) / X.std(axis=0), S)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return [
        EmbeddingDisplay.from_estimator(reducer, X, ax=ax),
        EmbeddingDisplay.from_predictions(reducer.transform(X), y, ax=ax),
        ConfidenceDisplay.from_estimator(reducer, S, ax=ax),
        ConfidenceDisplay.from_predictions(F, S, ax=ax),
        CandidateConfusionDisplay.from_estimator(reducer, S, ax=ax),
        CandidateConfusionDisplay.from_predictions(F, S, ax=ax),
        RiskCoverageDisplay.from_estimator(learner, Z, y, ax=ax),
        RiskCoverageDisplay.from_predictions(
            F.max(axis=1), F.argmax(axis=1) == y, ax=ax
        ),
        CalibrationDisplay.from_estimator(learner, Z, y, ax=ax),
        CalibrationDisplay.from_predictions(
            F.max(axis=1), F.argmax(axis=1) == y, ax=ax
        ),
        SelectionPathDisplay.from_estimator(selector, ax=ax),
        SelectionPathDisplay.from_predictions(curves, ax=ax),
        ConvergenceDisplay.from_estimator(CENDA(max_iter=3, tol=1.0).fit(X, S), ax=ax),
        ConvergenceDisplay.from_predictions([3.0, 2.0, 1.5], name="mine", ax=ax),
    ]


def test_every_display_draws_something(wine):
    for display in displays(wine):
        name = type(display).__name__
        assert display.ax_.has_data(), name
        assert display.figure_ is display.ax_.figure, name
        assert display.ax_.get_xlabel() or display.ax_.get_title(), name
        plt.close(display.figure_)
        assert display.plot() is display, name
        plt.close(display.figure_)


def test_axes_can_be_given(wine):
    _, ax = plt.subplots()
    assert all(display.ax_ is ax for display in displays(wine, ax))


def test_embedding_shows_labels_and_doubt():
    Z = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    display = EmbeddingDisplay.from_predictions(Z, ["b", "a", "b"], [0.5, 1.0, 0.01])
    a, b = display.points_
    assert_allclose(a.get_offsets(), [[2.0, 3.0]])
    assert_allclose(b.get_offsets(), [[0.0, 1.0], [4.0, 5.0]])
    assert_allclose(b.get_facecolors()[:, 3], [0.5, 0.1])
    flat = EmbeddingDisplay.from_predictions(Z[:, :1], [0, 1, 1])
    assert flat.ax_.get_ylabel() == "label"
    many = EmbeddingDisplay.from_predictions(np.eye(30)[:, :2], np.arange(30))
    assert many.ax_.get_legend() is None
    with pytest.raises(ValueError, match="one row of coordinates per label"):
        EmbeddingDisplay(Z, [1, 2])


def test_sparse_rows_are_drawn_as_dense_ones(wine):
    X, S, _ = wine
    selector = CRISPSelector(2).fit(csr_array(X), S)
    dense, sparse = (
        EmbeddingDisplay.from_estimator(selector, rows) for rows in (X, csr_array(X))
    )
    assert_array_equal(sparse.Z, dense.Z)
    with pytest.raises(ValueError, match="`confidence` one number"):
        EmbeddingDisplay(X, np.zeros(len(X)), [1.0])


def test_shapes_that_do_not_fit(wine):
    X, S, _ = wine
    message = r"shape of the candidate matrix, \(178, 2\); got \(178, 3\)"
    with pytest.raises(ValueError, match=message):
        candidate_confusion(S / 2, S[:, :2])
    # One label would be compared with every row.
    with pytest.raises(ValueError, match="`truth` must hold 178 values"):
        CalibrationDisplay.from_estimator(PLKNN().fit(X, S), X, ["a"])
    assert CalibrationDisplay.from_predictions([], []).ax_.get_title()


def test_confidence_counts_ambiguous_rows():
    F = [[0.9, 0.1, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    display = ConfidenceDisplay.from_predictions(F, [{0, 1}, {0, 1}, {2}], bins=10)
    before, after = ([bar.get_height() for bar in bars] for bars in display.bars_)
    assert before[5] == 2
    assert after[5] == 1
    assert after[9] == 1
    assert sum(before) == sum(after) == 2
    with pytest.raises(ValueError, match="shape of the candidate matrix"):
        ConfidenceDisplay.from_predictions(np.ones((2, 3)), [{0, 1}, {0, 1}, {2}])


def test_confusion_by_hand():
    F = np.array([[0.5, 0.5, 0.0], [0.75, 0.25, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    S = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1], [0, 0, 1]])
    together, doubt = candidate_confusion(F, S)
    assert_array_equal(together, [[0, 3, 1], [3, 0, 1], [1, 1, 0]])
    # 4 p (1 - p): 1 and 3/4; where neither is believed in, the row does not count.
    assert doubt[0, 1] == pytest.approx((1 + 0.75) / 2)
    assert_allclose(doubt, doubt.T)
    assert doubt[0, 2] == 0


def test_rows_settled_on_a_third_label_say_nothing_about_the_other_two():
    F = np.array([[0.98, 0.01, 0.01]] * 9 + [[0.0, 0.9, 0.1]])
    doubt = candidate_confusion(F, np.ones((10, 3))).doubt
    # Nine rows with 0.02 of belief in both and no idea which; one that knows better.
    assert doubt[1, 2] == pytest.approx((9 * 0.02 + 4 * 0.9 * 0.1) / (9 * 0.02 + 1))


def test_confusion_of_many_classes_has_no_numbers():
    F = np.full((30, 15), 1 / 15)
    S = np.ones_like(F, dtype=bool)
    S[0, 1:] = False
    display = CandidateConfusionDisplay.from_predictions(F, S)
    assert not display.ax_.texts
    assert display.im_.get_array().count() == 15 * 14


def test_calibration_by_hand():
    bins = calibration_bins([0.05, 0.95, 0.97, 1.0], [True, True, False, True])
    assert_allclose(bins.confidence, [0.05, (0.95 + 0.97 + 1.0) / 3])
    assert_allclose(bins.accuracy, [1, 2 / 3])
    assert_array_equal(bins.n_rows, [1, 3])
    with pytest.raises(ValueError, match="one value per row"):
        calibration_bins([0.5], [True, False])
    with pytest.raises(ValueError, match="at least 1"):
        calibration_bins([0.5], [True], n_bins=0)
    for wrong, match in [
        (np.nan, "must be finite; row 1 has nan"),
        (-3.0, r"between 0 and 1; row 1 has -3\.0"),
        (1.5, r"between 0 and 1; row 1 has 1\.5"),
    ]:
        with pytest.raises(ValueError, match=match):
            calibration_bins([0.5, wrong], [True, False])


@pytest.mark.parametrize(
    "call",
    [
        lambda X, S, fitted: EmbeddingDisplay.from_estimator(fitted, X),
        lambda X, S, fitted: ConfidenceDisplay.from_estimator(fitted, S),
        lambda X, S, fitted: CandidateConfusionDisplay.from_estimator(fitted, S),
    ],
)
def test_says_what_an_estimator_lacks(wine, call):
    X, S, _ = wine
    fitted = DummyClassifier().fit(X, S)
    with pytest.raises(ValueError, match="from_predictions"):
        call(X, S, fitted)


def test_says_when_nothing_iterates(wine):
    X, S, _ = wine
    with pytest.raises(ValueError, match="does not iterate"):
        ConvergenceDisplay.from_estimator(RandomSelection().fit(X, S))


def test_matplotlib_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"partlearn\[plot\]"):
        ConvergenceDisplay([1.0]).plot()


def test_risk_coverage_draws_the_curve():
    display = RiskCoverageDisplay.from_predictions(
        [0.2, 0.9, 0.8, 0.4], [False, True, False, True], name="mine"
    )
    assert_allclose(display.line_.get_xdata(), [0.25, 0.5, 0.75, 1])
    assert_allclose(display.line_.get_ydata(), [0, 1 / 2, 1 / 3, 1 / 2])
    best = display.ax_.lines[1]
    assert_allclose(best.get_ydata(), [0, 0, 1 / 3, 1 / 2])
    assert display.line_.get_label() == "mine (area 0.333)"
