"""PL-ECOC against literal transcriptions of its four parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs
from sklearn.preprocessing import scale
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from partlearn.candidates import make_candidates
from partlearn.classification import PLECOC
from partlearn.classification._pl_ecoc import (
    column_sides,
    decoding_loss,
    draw_code,
    nearest_similarity,
    performance,
)


@pytest.fixture
def problem(global_random_seed):
    X, y = make_blobs(
        120, n_features=5, centers=6, cluster_std=0.8, random_state=global_random_seed
    )
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, make_candidates(y, 1, random_state=global_random_seed), y


def test_sides(noise):
    _, S = noise
    code = np.random.default_rng(0).choice([-1, 1], (6, 9)).astype(np.int8)
    for i, row in enumerate(S):
        for l in range(9):
            sides = set(code[row, l])
            expected = sides.pop() if len(sides) == 1 else 0
            assert column_sides(S, code)[i, l] == expected


def test_code_is_valid_and_has_no_complements(global_random_seed):
    rng = np.random.RandomState(global_random_seed)
    S = make_candidates(rng.randint(0, 9, 200), 1, random_state=global_random_seed)
    code = draw_code(S, 30, 20, 10_000, rng)
    assert code.shape == (9, 30)
    assert set(np.unique(code)) == {-1, 1}
    assert len({column.tobytes() for column in np.hstack([code, -code]).T}) == 60
    sides = column_sides(S, code)
    assert ((sides != 0).sum(axis=0) >= 20).all()
    assert (sides == 1).any(axis=0).all()
    assert (sides == -1).any(axis=0).all()


def test_few_classes_are_enumerated():
    S = np.eye(4, dtype=bool)
    code = draw_code(S, 30, 1, 1, np.random.RandomState(0))
    assert code.shape == (4, 7)  # all divisions of four labels in two
    assert len({column.tobytes() for column in np.hstack([code, -code]).T}) == 14


def test_a_tight_search_ends():
    S = np.eye(40, dtype=bool)
    code = draw_code(S, 50, 1, 20, np.random.RandomState(0))
    assert 0 < code.shape[1] <= 20


def test_performance_and_decoding(noise, global_random_seed):
    _, S = noise
    S = np.insert(S, 3, False, axis=1)  # a label without rows
    rng = np.random.default_rng(global_random_seed)
    code = rng.choice([-1, 1], (7, 5)).astype(np.int8)
    f = rng.standard_normal((40, 5))
    f[0, 0] = 0.0  # counts as positive
    H = np.empty((7, 5))
    for j in range(7):
        rows = np.flatnonzero(S[:, j])
        for l in range(5):
            right = [(1 if f[i, l] >= 0 else -1) == code[j, l] for i in rows]
            H[j, l] = np.mean(right) if len(rows) else 0.0
        total = H[j].sum()
        H[j] = H[j] / total if total else 1 / 5
    np.testing.assert_allclose(performance(f, code, S), H, atol=1e-14)
    loss = np.empty((40, 7))
    for i in range(40):
        for j in range(7):
            loss[i, j] = sum(H[j, l] * np.exp(-f[i, l] * code[j, l]) for l in range(5))
    np.testing.assert_allclose(decoding_loss(f, code, H), loss, rtol=1e-12)


def test_steep_outputs_do_not_overflow():
    code = np.array([[1], [-1]], dtype=np.int8)
    loss = decoding_loss(np.array([[1e6], [-1e6]]), code, np.ones((2, 1)))
    assert np.isfinite(loss).all()
    np.testing.assert_array_equal(loss.argmin(axis=1), [0, 1])


def test_machines_are_those_of_the_svm(problem):
    X, S, y = problem
    model = PLECOC(random_state=0).fit(X, S)
    assert model.code_.shape == (6, 25)  # all that a set of two does not forbid
    sides = column_sides(S, model.code_)
    outputs = model._outputs(X)
    for l in (0, 7, 24):
        rows = np.flatnonzero(sides[:, l])
        svm = SVC(C=1.0, gamma=1 / 5).fit(X[rows], sides[rows, l])
        # Two runs of the same solver on the same kernel, rounded differently.
        np.testing.assert_allclose(outputs[:, l], svm.decision_function(X), atol=1e-3)
    assert model.score(X, y) > 0.9
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(X))


def test_rows_beyond_the_bound_are_not_learnt_from(problem):
    X, S, _ = problem
    rng = np.random.RandomState(0)
    rows = np.sort(rng.permutation(len(X))[:50])
    bounded = PLECOC(max_samples=50, random_state=0).fit(X, S)
    by_hand = PLECOC(random_state=rng).fit(X[rows], S[rows])
    np.testing.assert_array_equal(bounded.code_, by_hand.code_)
    np.testing.assert_array_equal(bounded.predict_proba(X), by_hand.predict_proba(X))
    for max_samples in (len(X), None):
        model = PLECOC(max_samples=max_samples, random_state=0).fit(X, S)
        expected = PLECOC(random_state=0).fit(X, S).predict_proba(X)
        np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_beyond_the_memory_limit_the_result_is_the_same(problem):
    X, S, _ = problem
    once = PLECOC(random_state=0).fit(X, S)
    each = PLECOC(random_state=0, memory_limit=1e-9).fit(X, S)
    np.testing.assert_allclose(
        once.decision_function(X), each.decision_function(X), atol=1e-3
    )
    sparse = PLECOC(random_state=0, memory_limit=1e-9).fit(sp.csr_array(X), S)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(X)), each.decision_function(X), atol=1e-3
    )


@pytest.mark.parametrize(
    "estimator",
    [LinearSVC(), DecisionTreeClassifier(max_depth=4)],
)
def test_other_machines(problem, estimator):
    X, S, y = problem
    model = PLECOC(estimator=estimator, random_state=0).fit(X, S)
    assert len(model.estimators_) == 25
    assert model.score(X, y) > 0.8


def test_a_machine_without_outputs(problem):
    X, S, _ = problem

    class Mute(DecisionTreeClassifier):
        predict_proba = property()

    with pytest.raises(TypeError, match="decision_function or predict_proba"):
        PLECOC(estimator=Mute(), random_state=0).fit(X, S)


def test_unused_label_takes_no_part(problem):
    X, S, _ = problem
    plain = PLECOC(random_state=0).fit(X, S)
    wider = PLECOC(random_state=0).fit(X, np.insert(S, 2, False, axis=1))
    others = [0, 1, 3, 4, 5, 6]
    np.testing.assert_array_equal(plain.code_, wider.code_[others])
    np.testing.assert_allclose(
        plain.decision_function(X), wider.decision_function(X)[:, others]
    )
    assert np.isneginf(wider.decision_function(X)[:, 2]).all()


def test_messages(problem):
    X, S, _ = problem
    with pytest.raises(ValueError, match=r"No division of the 6 classes.*min_size=121"):
        PLECOC(min_size=121).fit(X, S)
    with pytest.raises(ValueError, match="at least two classes; y has 1 class"):
        PLECOC().fit(X[:3], ["a", "a", "a"])
    many = make_candidates(np.arange(120) % 20, 1, random_state=0)
    with pytest.warns(UserWarning, match=r"Only \d+ of 50 columns.* in 40 draws"):
        PLECOC(50, max_tries=40, random_state=0).fit(X, many)
    with pytest.warns(UserWarning, match="same code and cannot be distinguished"):
        PLECOC(1, random_state=0).fit(X, S)


def test_rows_too_far_apart_are_reported():
    X, y = load_digits(return_X_y=True)
    X, S = X[:300], make_candidates(y[:300], n_false=1, random_state=0)
    with pytest.warns(UserWarning, match="Standardize the features, or lower `gamma`"):
        PLECOC(random_state=0).fit(X, S)
    scaled = PLECOC(random_state=0).fit(scale(X), S)
    assert scaled.score(scale(X), y[:300]) > 0.9
    assert nearest_similarity(np.array([[0.0], [1.0]]), 2.0) == pytest.approx(
        np.exp(-2)
    )
