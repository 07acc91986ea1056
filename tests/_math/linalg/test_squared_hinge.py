"""The primal support vector machine: optimality, hand cases, early stops."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from partlearn._math.linalg import squared_hinge
from partlearn._sizes import SIZES


@pytest.mark.parametrize("shape", [(40, 5), (15, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "gradients", "sparse gradients"])
def test_machine_is_at_its_minimum(shape, kind, monkeypatch, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = np.where(rng.uniform(size=shape) < 0.5, 0, rng.normal(size=shape))
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, 1.0, -1.0)
    if "gradients" in kind:
        monkeypatch.setattr(SIZES, "hinge_direct", 1)
    A = sp.csr_array(X) if "sparse" in kind else X
    w, b = squared_hinge(A, y, 0.7)
    pull = 2 * 0.7 * np.maximum(1 - y * (X @ w + b), 0) * y
    np.testing.assert_allclose(w, X.T @ pull, atol=1e-7)
    assert pull.sum() == pytest.approx(0, abs=1e-7)


def test_machine_where_nothing_separates():
    w, b = squared_hinge(np.zeros((4, 2)), np.array([1.0, 1.0, 1.0, -1.0]))
    assert not w.any()
    assert b == pytest.approx(0.5)  # the mean of the signs minimises the squares
    # A huge weight of the loss separates what can be separated.
    X = np.array([[0.0], [1.0], [5.0]])
    w, b = squared_hinge(X, np.array([-1.0, -1.0, 1.0]), 1e6)
    np.testing.assert_allclose(X @ w + b, [-1.5, -1, 1], atol=1e-5)


def test_machine_says_when_it_stops_early(monkeypatch):
    monkeypatch.setattr(SIZES, "hinge_newton", 1)
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1.0, -1.0)
    with pytest.warns(ConvergenceWarning, match="after 1 Newton steps"):
        squared_hinge(X, y)


def test_features_too_large_for_the_penalty_are_explained():
    # Beside 1e200 the penalty of one is lost, and two equal columns are singular.
    X = 1e100 * np.array([[1.0, 1.0], [-1.0, -1.0]])
    with pytest.raises(ValueError, match="Standardize the features"):
        squared_hinge(X, np.array([1.0, -1.0]))
