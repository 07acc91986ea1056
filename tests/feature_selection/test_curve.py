"""Curves of selections, and their pictures."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN
from partlearn.feature_selection import (
    SAUTE,
    MaxRelevance,
    RandomSelection,
    selection_curve,
)
from partlearn.inspection import SelectionPathDisplay


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, make_candidates(y, n_false=1, random_state=0), y


def test_path_shows_relevance_and_redundancy(wine):
    pytest.importorskip("matplotlib")
    X, S, _ = wine
    selector = SAUTE(6).fit(X, S)
    ax = SelectionPathDisplay.from_estimator(selector).ax_
    entropy, redundancy = ax.get_lines()
    assert_array_equal(entropy.get_xdata(), np.arange(1, 7))
    assert_allclose(entropy.get_ydata(), -selector.relevance_)
    assert_allclose(redundancy.get_ydata(), selector.redundancy_)
    assert ax.get_ylabel() == "nats"
    assert len(ax.get_legend().get_texts()) == 2
    assert len(ax.figure.axes) == 1


def test_automatic_sizes_are_shown(wine):
    pytest.importorskip("matplotlib")
    X, S, _ = wine
    selector = SAUTE("auto", random_state=0).fit(X, S)
    ax = SelectionPathDisplay.from_estimator(selector).ax_
    other = ax.figure.axes[1]
    assert_allclose(other.get_lines()[0].get_ydata(), selector.hit_rates_)


def test_curves_are_drawn_where_asked(wine):
    figure = pytest.importorskip("matplotlib.figure")
    X, S, y = wine
    curves = {
        name: selection_curve(s, PLKNN(), X, S, y, sizes=[0.1, 2, 5], cv=3)
        for name, s in [
            ("MR", MaxRelevance(alpha=0)),
            ("RS", RandomSelection(random_state=0)),
        ]
    }
    assert_array_equal(curves["MR"].sizes, [2, 5])  # 0.1 of 13 is 2 as well
    assert curves["MR"].mean.shape == curves["MR"].std.shape == (2,)
    assert (curves["MR"].mean > 0.5).all()
    ax = figure.Figure().add_subplot()
    assert SelectionPathDisplay.from_predictions(curves, ax=ax).ax_ is ax
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["MR", "RS"]
    assert ax.get_ylabel() == "accuracy"


def test_curve_of_lists(wine):
    X, S, y = wine
    curve = selection_curve(
        MaxRelevance(alpha=0), PLKNN(), X.tolist(), S, y, sizes=[3], cv=2
    )
    assert_array_equal(curve.sizes, [3])


def test_what_cannot_be_drawn(wine):
    X, S, _ = wine
    with pytest.raises(ValueError, match="either a fitted `selector` or `curves`"):
        SelectionPathDisplay().plot()
    with pytest.raises(NotFittedError):
        SelectionPathDisplay.from_estimator(SAUTE())
    with pytest.raises(TypeError, match="no path of relevances"):
        SelectionPathDisplay.from_estimator(RandomSelection(2).fit(X, S))


def test_without_matplotlib(wine, monkeypatch):
    X, S, _ = wine
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"partlearn\[plot\]"):
        SelectionPathDisplay.from_estimator(MaxRelevance(3, alpha=0).fit(X, S))
