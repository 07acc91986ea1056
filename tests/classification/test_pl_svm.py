"""PL-SVM against a literal transcription, and the choice of its parameter."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from partlearn.candidates import make_candidates
from partlearn.classification import PLSVM, PLSVMCV
from partlearn.classification._pl_svm import fit_margin, uneven_units
from partlearn.metrics import candidate_hit_rate


def literal_descent(X, S, W, lam, steps):
    """Sub-gradient steps row by row; returns coefficients and objectives."""
    m = len(X)
    radius = 1 / np.sqrt(lam)
    if np.linalg.norm(W) > radius:
        W = W * radius / np.linalg.norm(W)
    values = []
    for t in range(1, steps + 1):
        gradient = lam * W
        loss = 0.0
        for x, s in zip(X, S, strict=True):
            inside, outside = np.flatnonzero(s), np.flatnonzero(~s)
            if not len(outside):
                continue
            v = W @ x
            p, n = inside[v[inside].argmax()], outside[v[outside].argmax()]
            hinge = 1 - v[p] + v[n]
            if hinge > 0:
                loss += hinge / m
                gradient[p] -= x / m
                gradient[n] += x / m
        values.append(lam / 2 * np.square(W).sum() + loss)
        W = W - gradient / (lam * t)
        if np.linalg.norm(W) > radius:
            W = W * radius / np.linalg.norm(W)
    return W, values


@pytest.mark.parametrize("lam", [0.05, 1.0])
def test_equals_the_transcription(noise, lam, global_random_seed):
    X, S = noise
    S[0] = True  # no rival
    W0 = np.random.default_rng(global_random_seed).random((6, 5))
    expected, values = literal_descent(X, S, W0.copy(), lam, 15)
    W, trace, settled = fit_margin(X, S, W0, lam, max_iter=15, tol=0.0)
    assert not settled
    np.testing.assert_allclose(W, expected, atol=1e-12)
    np.testing.assert_allclose(trace, values, atol=1e-12)


def test_learns(blobs):
    X, S, y = blobs
    model = PLSVM(0.01, random_state=0).fit(X, S)
    assert model.score(X, y) > 0.9
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    np.testing.assert_allclose(model.decision_function(X), Z @ model.coef_.T)
    given = PLSVM(0.01, standardize=False, random_state=0).fit(Z, S)
    np.testing.assert_allclose(given.coef_, model.coef_)
    np.testing.assert_allclose(given.decision_function(Z), Z @ given.coef_.T)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(X))


@pytest.mark.parametrize("variant", ["clean", "lab"])
def test_sparse_features(blobs, variant):
    X, S, _ = blobs
    X = X * (np.abs(X) > 2)  # columns with zeros, and far from the origin
    dense = PLSVM(0.1, variant=variant, random_state=0).fit(X, S)
    sparse = PLSVM(0.1, variant=variant, random_state=0).fit(sp.csr_matrix(X), S)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-9)
    scores = sparse.decision_function(sp.csr_matrix(X))
    np.testing.assert_allclose(scores, dense.decision_function(X), atol=1e-9)


def test_what_means_the_features_as_they_are(blobs):
    X, S, _ = blobs
    W0 = np.random.default_rng(0).random((4, 6))
    for model in (
        PLSVM(variant="lab", random_state=0),
        PLSVM(init=W0),
        PLSVM(standardize=False, random_state=0),
    ):
        model.fit(X, S)
        np.testing.assert_array_equal(model.mean_, 0)
        np.testing.assert_array_equal(model.scale_, 1)
    given = PLSVM(init=W0, standardize=True).fit(X, S)
    np.testing.assert_allclose(given.mean_, X.mean(axis=0))
    np.testing.assert_allclose(given.scale_, X.std(axis=0, ddof=1))


def test_pixels_as_they_are():
    """Neither the units of a feature nor its distance from zero decide the start."""
    X, y = load_digits(return_X_y=True)
    S = make_candidates(y, n_false=3, random_state=0)
    train, test = slice(0, 600), slice(600, 1200)
    scores = [
        PLSVM(random_state=seed).fit(X[train], S[train]).score(X[test], y[test])
        for seed in range(3)
    ]
    assert min(scores) > 0.75  # .616 to .776 without
    other = PLSVM(random_state=0).fit(1e6 + 1e3 * X[train], S[train])
    assert other.score(1e6 + 1e3 * X[test], y[test]) == pytest.approx(scores[0])


def test_confidences_weight_the_candidates(blobs):
    X, S, y = blobs
    plain = PLSVM(0.01, random_state=0).fit(X, S)
    uniform = PLSVM(0.01, random_state=0).fit(X, S, confidence=S.astype(float))
    np.testing.assert_allclose(plain.coef_, uniform.coef_)
    # Certainty is the same as a set of one whose other candidates are no rivals.
    sure = PLSVM(0.01, random_state=0).fit(X, S, confidence=np.eye(4)[y])
    assert sure.score(X, y) >= plain.score(X, y) - 0.05
    assert not np.allclose(sure.coef_, plain.coef_)


def test_zero_coefficients_are_reported():
    with pytest.warns(UserWarning, match="All coefficients are zero"):
        model = PLSVM(random_state=0).fit([[1.0], [2.0]], [[1, 1], [1, 1]])
    np.testing.assert_array_equal(model.predict([[3.0]]), [0])


def test_unused_label_is_never_predicted():
    X = [[-1.0], [1.0], [-2.0], [2.0]]
    model = PLSVM(random_state=0).fit(X, [[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1]])
    scores = model.decision_function([[0.0], [5.0]])
    assert np.isneginf(scores[:, 1]).all()
    np.testing.assert_array_equal(model.predict([[-3.0], [0.0], [5.0]]), [0, 0, 2])
    assert (model.predict_proba([[0.0]])[:, 1] == 0).all()


def test_start(blobs):
    X, S, _ = blobs
    with pytest.raises(ValueError, match=r"shape \(4, 6\).*got \(6, 4\)"):
        PLSVM(init=np.zeros((6, 4))).fit(X, S)
    with pytest.raises(ValueError, match="must be finite"):
        PLSVM(init=np.full((4, 6), np.nan)).fit(X, S)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 "):
        model = PLSVM(init=np.zeros((4, 6)), max_iter=2).fit(X, S)
    assert model.n_iter_ == 2


def test_choice_of_lam(blobs):
    X, S, y = blobs
    model = PLSVMCV((1e-3, 1e-1, 1e3), cv=3, max_iter=200, random_state=0).fit(X, S)
    assert model.hit_rates_.shape == (3,)
    assert model.lam_ in (1e-3, 1e-1, 1e3)
    best = np.flatnonzero(model.hit_rates_ == model.hit_rates_.max())
    assert model.lam_ == (1e-3, 1e-1, 1e3)[best[-1]]
    assert model.score(X, y) > 0.9
    again = PLSVM(
        model.lam_, max_iter=200, random_state=model.estimator_.random_state
    ).fit(X, S)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(
        again.decision_function(X), model.decision_function(X)
    )
    rate = candidate_hit_rate(S, model.predict(X))
    assert rate > 0.9


def test_ties_take_the_larger_lam():
    X = [[-1.0], [1.0]] * 6
    model = PLSVMCV((0.1, 0.2), cv=2, random_state=0).fit(X, ["a", "b"] * 6)
    np.testing.assert_array_equal(model.hit_rates_, [1, 1])
    assert model.lam_ == 0.2


def test_choice_takes_confidences(blobs):
    X, S, y = blobs
    model = PLSVMCV((0.1,), cv=2, max_iter=50, random_state=0)
    plain = model.fit(X, S).coef_
    assert not np.allclose(plain, model.fit(X, S, confidence=np.eye(4)[y]).coef_)


@pytest.mark.parametrize("lams", [(), (0.0, 1.0), [[1.0]]])
def test_bad_pool(lams):
    with pytest.raises(ValueError, match="`lams` must be positive numbers"):
        PLSVMCV(lams).fit([[0.0], [1.0]], ["a", "b"])


def test_one_class():
    assert PLSVM(random_state=0).fit([[1.0], [2.0]], ["a", "a"]).predict([[3.0]]) == [
        "a"
    ]
    model = PLSVMCV((1.0,), cv=2, random_state=0).fit([[1.0], [2.0]], ["a", "a"])
    assert model.predict([[3.0]]) == ["a"]


def test_uneven_units_are_reported():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    y = np.where(X[:, 0] > 0, "a", "b")
    large = X * [1, 1, 1, 1, 1e4]
    with (
        pytest.warns(ConvergenceWarning, match="max_iter=1000"),
        pytest.warns(UserWarning, match="times the size .* set standardize=True"),
    ):
        PLSVM(standardize=False, random_state=0).fit(large, y)
    PLSVM(standardize=False, random_state=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter=1000"):
        PLSVM(standardize=False, random_state=0).fit(sp.csr_array(large), y)
    PLSVM(random_state=0).fit(large, y)
    assert uneven_units(np.zeros((3, 2))) == 1
    assert uneven_units(np.array([[3.0, 1.0, 1.0]] * 4)) == 3


def test_confidences_of_another_shape_are_refused_before_the_folds():
    X, S = np.eye(6), np.ones((6, 2), dtype=bool)
    for rows in (4, 9):
        with pytest.raises(ValueError, match=rf"\(6, 2\); got \({rows}, 2\)"):
            PLSVMCV(cv=2).fit(X, S, np.ones((rows, 2)))
