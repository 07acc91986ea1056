"""SURE: its row problem, its objective, its options."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from partlearn.classification import SURE
from partlearn.classification._sure import guided_confidence


def literal_row(q, s, lam):
    """The quadratic problem of a row, by a general solver."""
    allowed = np.flatnonzero(s)
    j = allowed[np.argmax(q[allowed])]
    bounds = [(0, 1 if ok else 0) for ok in s]
    constraints = [{"type": "eq", "fun": lambda p: p.sum() - 1}]
    constraints += [
        {"type": "ineq", "fun": lambda p, a=a: p[j] - p[a]} for a in allowed if a != j
    ]
    found = minimize(
        lambda p: np.square(p - q).sum() - lam * p[j],
        s / s.sum(),
        jac=lambda p: 2 * (p - q) - lam * (np.arange(len(q)) == j),
        bounds=bounds,
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.success
    return found.x


@pytest.mark.parametrize("lam", [0.0, 0.3, 1.5])
def test_row_problem(lam, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    Q = rng.normal(0.3, 0.5, (20, 5))
    S = rng.random((20, 5)) < 0.6
    S[:, 2] = True
    expected = [literal_row(q, s, lam) for q, s in zip(Q, S, strict=True)]
    # The general solver is accurate to about half its digits.
    np.testing.assert_allclose(guided_confidence(Q, S, lam), expected, atol=1e-6)


def test_leader_is_the_first_of_equal_scores():
    P = guided_confidence(np.full((1, 3), 0.4), np.array([[False, True, True]]), 0.3)
    np.testing.assert_allclose(P, [[0, 0.575, 0.425]])


@pytest.mark.parametrize("init", ["raw", "uniform"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_objective_never_rises(noise, init, kernel):
    X, S = noise
    model = SURE(init=init, kernel=kernel, max_iter=200).fit(X, S)
    assert model.n_iter_ == len(model.objective_) > 1
    assert (np.diff(model.objective_) <= 1e-9).all()


def test_learns(blobs):
    X, S, y = blobs
    model = SURE().fit(X, S)
    assert np.mean(model.label_confidence_.argmax(axis=1) == y) > 0.9
    assert model.score(X, y) > 0.9
    P = model.predict_proba(X)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(X))


def test_both_starts_reach_nearly_the_same(blobs):
    X, S, _ = blobs
    raw, uniform = SURE().fit(X, S), SURE(init="uniform").fit(X, S)
    assert np.mean(raw.predict(X) == uniform.predict(X)) > 0.97


def test_starts_from_confidences(blobs):
    X, S, y = blobs
    given = SURE().fit(X, S, confidence=np.eye(4)[y])
    np.testing.assert_array_equal(given.label_confidence_.argmax(axis=1), y)
    uniform = SURE(init="uniform").fit(X, S)
    same = SURE().fit(X, S, confidence=S / 2.0)
    np.testing.assert_allclose(uniform.decision_function(X), same.decision_function(X))


def test_linear_scores(blobs):
    X, S, _ = blobs
    model = SURE(kernel="linear").fit(X, S)
    assert model.coef_.shape == (4, 6)
    np.testing.assert_allclose(
        model.decision_function(X), X @ model.coef_.T + model.intercept_, atol=1e-10
    )


def test_refit_uses_the_last_confidences(blobs):
    X, S, _ = blobs
    last = SURE(max_iter=2, refit=True).fit(X, S)
    before = SURE(max_iter=2, refit=False).fit(X, S)
    np.testing.assert_array_equal(last.label_confidence_, before.label_confidence_)
    assert not np.allclose(last.decision_function(X), before.decision_function(X))


def test_warns_while_labels_change(noise):
    X, S = noise
    with pytest.warns(ConvergenceWarning, match="Many labels .* max_iter=1 iterations"):
        SURE(max_iter=1).fit(X, S)


def test_landmarks(blobs):
    X, S, y = blobs
    model = SURE(n_landmarks=25, random_state=0).fit(X, S)
    assert model.score(X, y) > 0.9
    again = SURE(n_landmarks=25, random_state=0).fit(sp.csr_array(X), S)
    np.testing.assert_allclose(
        model.decision_function(X), again.decision_function(sp.csr_array(X)), atol=1e-6
    )


def test_memory_limit(blobs):
    X, S, _ = blobs
    with pytest.raises(MemoryError, match="exact kernel of 100 rows"):
        SURE(memory_limit=1e-6).fit(X, S)
    SURE(memory_limit=1e-6, n_landmarks=5, random_state=0).fit(X, S)
    SURE(memory_limit=1e-6, kernel="linear").fit(X, S)


def test_two_classes_have_one_score(blobs):
    X, _, y = blobs
    model = SURE().fit(X, y > 1)
    scores = model.decision_function(X)
    assert scores.shape == (100,)
    np.testing.assert_array_equal(scores > 0, model.predict(X))


def test_one_class_and_one_row():
    model = SURE().fit([[0.0], [1.0]], ["a", "a"])
    assert list(model.predict([[5.0]])) == ["a"]
    lonely = SURE().fit([[1.0]], [{"a", "b"}])
    np.testing.assert_allclose(lonely.predict_proba([[1.0]]).sum(), 1)


def test_float32_stays(blobs):
    X, S, _ = blobs
    model = SURE().fit(X.astype(np.float32), S)
    assert model.label_confidence_.dtype == np.float32
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32
