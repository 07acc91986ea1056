"""The most likely label of every row."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import partlearn
from partlearn import Disambiguation, disambiguate
from partlearn.classification import IPAL, PLKNN, PLSVM

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize(
    "method",
    ["cenda", "PL-KNN", "ipal", "sure", "pl_aggd", PLSVM(0.01, random_state=0)],
    ids=str,
)
def test_finds_the_truth(blobs, method):
    X, S, y = blobs
    result = disambiguate(X, S, method)
    assert np.mean(result.label == y) > 0.9
    F = result.label_confidence
    np.testing.assert_allclose(F.sum(axis=1), 1)
    assert not F[~S].any()
    ordered = np.sort(F, axis=1)
    np.testing.assert_array_equal(result.confidence, ordered[:, -1])
    np.testing.assert_allclose(result.margin, ordered[:, -1] - ordered[:, -2])


def test_confidences_are_those_of_the_estimator(blobs):
    X, S, _ = blobs
    Z = StandardScaler().fit_transform(X)
    expected = IPAL(5).fit(Z, S).label_confidence_
    np.testing.assert_allclose(disambiguate(X, S, IPAL(5)).label_confidence, expected)
    plain = disambiguate(X, S, PLKNN(), standardize=False).label_confidence
    np.testing.assert_allclose(plain, PLKNN().fit(X, S).label_confidence_)
    piped = disambiguate(X, S, make_pipeline(StandardScaler(), IPAL(5)))
    np.testing.assert_allclose(piped.label_confidence, expected)


def test_label_names():
    result = disambiguate([[0.0], [0.1], [1.0]], [{"x"}, {"x", "y"}, {"y"}], "plknn")
    assert list(result.classes) == ["x", "y"]
    assert result.label[0] == "x"
    assert result.margin[0] == 1.0


def test_one_class_is_certain():
    result = disambiguate([[0.0], [1.0]], ["a", "a"], "ipal")
    assert list(result.label) == ["a", "a"]
    np.testing.assert_array_equal(result.margin, [1, 1])


def test_messages(blobs):
    X, S, _ = blobs
    with pytest.raises(ValueError, match="no method named 'magic'"):
        disambiguate(X, S, "magic")
    with pytest.raises(TypeError, match="name of a method or an estimator; got int"):
        disambiguate(X, S, 3)
    with pytest.raises(ValueError, match="neither `label_confidence_` nor"):
        disambiguate(X, S, PCA())


def result_of(confidence, label):
    F = np.column_stack([confidence, 1 - np.asarray(confidence)])
    confidence = np.asarray(confidence)
    classes = np.array([0, 1])
    return Disambiguation(np.asarray(label), confidence, confidence, classes, F)


def test_calibration_by_hand():
    result = result_of([0.55, 0.58, 0.91, 1.0], [0, 0, 0, 0])
    sure, right, count = result.calibration([0, 1, 0, 0])
    np.testing.assert_allclose(sure, [0.565, 0.955])
    np.testing.assert_allclose(right, [0.5, 1.0])
    np.testing.assert_array_equal(count, [2, 2])
    with pytest.raises(ValueError, match="must hold 4 labels"):
        result.calibration([0])
    with pytest.raises(ValueError, match="`n_bins` must be at least 1"):
        result.calibration([0, 1, 0, 0], n_bins=0)


def test_calibration_plot(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    result = result_of([0.55, 0.58, 0.91, 1.0], [0, 0, 0, 0])
    ax = result.plot_calibration([0, 1, 0, 0])
    np.testing.assert_allclose(ax.lines[1].get_xydata(), [[0.565, 0.5], [0.955, 1.0]])
    assert result.plot_calibration([0, 1, 0, 0], ax=ax) is ax
    plt.close(ax.figure)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"partlearn\[plot\]"):
        result.plot_calibration([0, 1, 0, 0])


def test_import_stays_light():
    code = "import sys, partlearn; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        partlearn.magic  # noqa: B018
