"""One machine per label: its choice of C, constant labels, bad parameters."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC

from partlearn._sizes import SIZES
from partlearn.metrics import average_precision
from partlearn.multilabel import LinearSVM
from partlearn.multilabel.classification._svm_path import squared_hinge_path


def test_svm_decides_constant_labels_and_keeps_held_out_scores():
    rng = np.random.default_rng(0)
    X = rng.random((60, 5)) * (rng.random((60, 5)) < 0.15)
    Y = np.column_stack([X[:, 0] > 0, np.ones(60, bool), np.zeros(60, bool)])
    model = LinearSVM(C=(1.0, 10.0), cv=2, random_state=0).fit(X, Y)
    assert model.C_ in (1.0, 10.0)
    assert model.held_out_scores_.shape == Y.shape
    predicted = model.predict(X)
    assert predicted[:, 1].all()
    assert not predicted[:, 2].any()
    assert (predicted[:, 0] == Y[:, 0]).mean() > 0.9


def test_chooses_the_weight_of_best_held_out_precision():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 6))
    Y = X[:, :3] + rng.normal(size=(50, 3)) > 0.3
    model = LinearSVM(cv=4, random_state=3).fit(X, Y)
    precision = {}
    for C in (0.1, 1.0, 10.0):
        S = np.empty(Y.shape)
        for train, test in KFold(4, shuffle=True, random_state=3).split(X):
            part = LinearSVM(C).fit(X[train], Y[train])
            S[test] = part.decision_function(X[test])
        precision[C] = average_precision(Y, S)
        if model.C_ == C:
            np.testing.assert_allclose(model.held_out_scores_, S, atol=1e-6)
    assert max(precision, key=precision.get) == model.C_
    sparse = LinearSVM(cv=4, random_state=3).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.coef_, model.coef_, atol=1e-6)


def test_one_row_and_labels_that_rank_nothing():
    model = LinearSVM().fit([[1.0, 2.0]], np.array([[True, False]]))
    np.testing.assert_array_equal(model.predict([[5.0, 5.0]]), [[1, 0]])
    assert LinearSVM((2.0, 1.0)).fit(np.eye(4), np.ones((4, 2), bool)).C_ == 2.0


@pytest.mark.parametrize("C", [(), (1.0, -1.0), [[1.0]]])
def test_weights_are_positive(C):
    with pytest.raises(ValueError, match="`C` must hold positive numbers"):
        LinearSVM(C).fit(np.eye(4), np.eye(4, dtype=bool))


@pytest.mark.parametrize("shape", [(80, 12), (25, 60)], ids=["tall", "wide"])
def test_all_labels_at_once_are_the_machines_one_by_one(shape, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=shape) * (rng.uniform(size=shape) < 0.6)
    Y = X[:, :3] + 0.3 * rng.normal(size=(shape[0], 3)) > 0.2
    path = list(squared_hinge_path(X, Y, [0.1, 1.0, 10.0]))
    sparse = list(squared_hinge_path(sp.csr_array(X), Y, [0.1, 1.0, 10.0]))
    for C, (W, b), (V, _) in zip((0.1, 1.0, 10.0), path, sparse, strict=True):
        np.testing.assert_allclose(V, W, atol=1e-6)
        for j in range(3):
            machine = LinearSVC(C=C, dual=False, tol=1e-10, max_iter=10_000)
            machine.fit(X, Y[:, j])
            np.testing.assert_allclose(W[:, j], machine.coef_[0], atol=1e-5)
            assert b[j] == pytest.approx(machine.intercept_[0], abs=1e-5)


def test_where_no_decomposition_fits(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * (rng.uniform(size=(50, 6)) < 0.15)
    Y = X[:, :2] > 0
    fast = LinearSVM(1.0).fit(X, Y)
    monkeypatch.setattr(SIZES, "svm_direct", 0)
    # LinearSVC stops within 1e-4 of the smallest gradient.
    np.testing.assert_allclose(LinearSVM(1.0).fit(X, Y).coef_, fast.coef_, atol=5e-4)


def test_machines_are_stationary_on_separable_rows():
    X = np.array([[0.0], [1e6], [-1e6], [3.0]])
    Y = np.array([[1], [1], [0], [0]], dtype=bool)
    ((W, b),) = squared_hinge_path(X, Y, [100.0])
    y = np.where(Y, 1.0, -1.0)
    w, Z = np.vstack([W, b]), np.column_stack([X, np.ones(4)])
    slack = np.maximum(1 - y * (Z @ w), 0)
    gradient = w - 2 * 100 * Z.T @ (y * slack)
    assert np.abs(gradient).max() < 1e-3
