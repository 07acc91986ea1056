"""PML-LC and PML-FP: literal transcriptions, descent, constraints, the edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from tests.settling import fit_briefly

from partlearn._math.linalg import standardize
from partlearn._sizes import SIZES
from partlearn.metrics import average_precision
from partlearn.multilabel import PMLFP, PMLLC, add_noise_labels
from partlearn.multilabel._row_basis import RowBasis
from partlearn.multilabel.classification._confidence_ranker import (
    fit_scorer,
    pair_weights,
)
from partlearn.multilabel.classification._pml_fp import Prototypes
from partlearn.multilabel.classification._pml_lc import (
    Correlations,
    correlation_laplacian,
)

BOTH = [PMLLC, PMLFP]
ROUND = 1e-10  # relative, of an objective that should not rise


def problem(seed, n=60, d=5, l=4, r=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.2, 5, size=d) + 3
    Y = (X - 3) / X.std(axis=0) @ rng.normal(size=(d, l)) > 0.8
    Y[~Y.any(axis=1), 0] = True
    return X, Y, add_noise_labels(Y, r, random_state=seed)


# ------------------------------------------------------------------ pairs of labels


def literal_costs(F, C, loss):
    """One pair of labels at a time."""
    c = np.zeros(F.shape)
    for i in range(len(F)):
        others = np.flatnonzero(~C[i])
        for j in np.flatnonzero(C[i]):
            for m in others:
                z = 1 - F[i, j] + F[i, m]
                if loss == "hinge":  # rounded off over 0.01
                    e = 0 if z < 0 else z**2 / 0.02 if z < 0.01 else z - 0.005
                else:
                    e = max(0, z) ** 2
                c[i, j] += e / len(others)
    return c


# ------------------------------------------------------------------ confidences


def test_correlations_by_hand():
    C = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [1, 1, 0]])
    s = 2 / np.sqrt(3 * 2)
    expected = [[s, -s, 0], [-s, s, 0], [0, 0, 0]]
    np.testing.assert_allclose(correlation_laplacian(C.astype(float)), expected)
    empty = correlation_laplacian(np.zeros((3, 2)))
    assert not empty.any()


def literal_lc(X, C, c1, c2, c3, rounds):
    """The alternation with general-purpose solvers."""
    n, d = X.shape
    l = C.shape[1]
    cosines = np.zeros((l, l))
    for j in range(l):
        for m in range(l):
            if j != m:
                a, b = C[:, j].astype(float), C[:, m].astype(float)
                cosines[j, m] = a @ b / np.sqrt((a @ a) * (b @ b))
    L = np.diag(cosines.sum(axis=1)) - cosines
    P, theta = C.astype(float), np.zeros((d + 1) * l)

    def objective(theta, P):
        W = theta.reshape(d + 1, l)
        c = literal_costs(X @ W[:d] + W[d], C, "squared_hinge")
        return (
            np.sum(W[:d] ** 2) / 2
            + c1 / n * np.sum(P * c)
            + c2 / n * np.sum((1 - P[C]) ** 2)
            + c3 / n * np.trace(P @ L @ P.T)
        )

    for _ in range(rounds):
        theta = minimize(objective, theta, args=(P,), options={"gtol": 1e-6}).x
        W = theta.reshape(d + 1, l)
        c = literal_costs(X @ W[:d] + W[d], C, "squared_hinge")
        P = P.copy()
        for i in range(n):
            S = np.flatnonzero(C[i])

            def row(p, i=i, S=S, c=c):
                return (
                    c1 * c[i, S] @ p
                    + c2 * np.sum((1 - p) ** 2)
                    + c3 * p @ L[np.ix_(S, S)] @ p
                )

            P[i, S] = minimize(
                row,
                P[i, S],
                bounds=[(0, 1)] * len(S),
                constraints={"type": "ineq", "fun": lambda p: p.sum() - 1},
                method="SLSQP",
                options={"ftol": 1e-12},
            ).x
    return theta.reshape(d + 1, l), P, objective(theta, P)


def test_literal_lc():
    X, _, C = problem(0, n=14, d=2, l=3)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    W, P, value = literal_lc(Z, C, 20.0, 2.0, 3.0, 2)
    model = fit_briefly(
        PMLLC(20.0, C2=2.0, C3=3.0, max_iter=2, tol=0, inner_iter=2000), X, C
    )
    assert model.objective_[-1] == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(model.labels_, P, atol=1e-4)
    scores = X @ model.coef_.T + model.intercept_
    expected = Z @ W[:2] + W[2]
    # A shift of all scores of a row changes no pair.
    scores -= scores.mean(axis=1, keepdims=True)
    expected -= expected.mean(axis=1, keepdims=True)
    # The objective is nearly flat in the intercepts here: 1e-6 of it is 0.04 of them.
    np.testing.assert_allclose(scores, expected, atol=0.05)
    np.testing.assert_allclose(model.scores_, np.linalg.norm(W[:2], axis=1), rtol=1e-3)


def literal_fp(X, C, c1, c2, c3, rounds, fit):
    """Prototypes, distances and water-filling with loops; the scorer is given."""
    n, l = C.shape
    P, W, b = C.astype(float), np.zeros((X.shape[1], l)), np.zeros(l)

    def prototypes(P):
        return [sum(P[i, j] * X[i] for i in range(n)) / P[:, j].sum() for j in range(l)]

    def squares(mu):
        return np.array([[np.sum((x - m) ** 2) for m in mu] for x in X])

    unit = squares(prototypes(P)).mean()
    for _ in range(rounds):
        W, b = fit(P, W, b)
        c = literal_costs(X @ W + b, C, "squared_hinge")
        D = squares(prototypes(P)) / unit
        for i in range(n):
            q = 1 - (c1 * c[i] + c3 * D[i]) / (2 * c2)
            low, high = 0.0, 1e6
            if np.clip(q, 0, 1)[C[i]].sum() >= 1:
                high = 0.0
            for _ in range(200):
                t = (low + high) / 2
                if np.clip(q + t, 0, 1)[C[i]].sum() < 1:
                    low = t
                else:
                    high = t
            P[i] = np.clip(q + high, 0, 1) * C[i]
    value = np.sum(W**2) / 2 + c1 / n * np.sum(P * c)
    value += c2 / n * np.sum((1 - P[C]) ** 2) + c3 / n * np.sum(P * D)
    return W, P, value


def test_literal_fp():
    X, _, C = problem(1, n=40, d=3, l=4)
    Z, _, _ = standardize(X)
    rows = RowBasis(Z, np.zeros(3), None)  # as they are

    def fit(P, W, b):
        weights = pair_weights(P, C)
        return fit_scorer(rows, C, weights, W, b, 20.0, max_iter=2000, tol=0)

    W, P, value = literal_fp(Z.dense, C, 20.0, 2.0, 3.0, 3, fit)
    model = fit_briefly(
        PMLFP(20.0, C2=2.0, C3=3.0, max_iter=3, tol=0, inner_iter=2000), X, C
    )
    assert model.objective_[-1] == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.labels_, P, atol=1e-4)
    scaled = model.coef_.T * X.std(axis=0, ddof=1)[:, None]
    np.testing.assert_allclose(scaled, W, atol=1e-4)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("shape", [(60, 6), (20, 40)], ids=["tall", "wide"])
def test_turned_rows_have_the_same_minimum(cls, shape, monkeypatch):
    X, _, C = problem(0, n=shape[0], d=shape[1])
    params = {"max_iter": 3, "tol": 0, "inner_iter": 3000, "random_state": 0}
    turned = fit_briefly(cls(10.0, **params), X, C)
    monkeypatch.setattr(SIZES, "ranker_direct", 0)
    plain = fit_briefly(cls(10.0, **params), X, C)
    assert turned.objective_[-1] == pytest.approx(plain.objective_[-1], rel=1e-6)
    np.testing.assert_allclose(turned.coef_, plain.coef_, atol=2e-4)


# ------------------------------------------------------------------ descent


def assert_descends(model, seed):
    X, _, C = problem(seed, n=25, r=2)
    fit_briefly(model.set_params(random_state=seed, max_iter=4, tol=1e-6), X, C)
    J = model.objective_
    assert len(J) == 3 * model.n_iter_
    assert (np.diff(J) <= ROUND * J[:-1]).all()
    P = model.labels_
    assert not P[~C].any()
    assert P.min() >= 0
    assert P.max() <= 1
    assert (P.sum(axis=1) >= 1 - 1e-9).all()
    np.testing.assert_allclose(P[C.sum(axis=1) == 1].max(axis=1, initial=1), 1)


@pytest.mark.parametrize(
    "model",
    [
        PMLLC(),
        PMLLC(10.0, C2=1.0, C3=30.0),
        PMLLC(loss="hinge"),
        PMLLC(pairs="all"),
        PMLLC(pairs="all", loss="hinge"),
        PMLFP(),
        PMLFP(10.0, C2=1.0, C3=20.0),
        PMLFP(prototypes=3),
        PMLFP(metric="cosine"),
        PMLFP(metric="cosine", prototypes=2),
        PMLFP(pairs="all"),
    ],
    ids=str,
)
def test_no_step_raises_the_objective(model):
    assert_descends(model, 0)


@pytest.mark.parametrize("cls", BOTH)
def test_no_step_raises_the_objective_on_other_data(cls, global_random_seed):
    assert_descends(cls(), global_random_seed + 1)


@pytest.mark.parametrize("cls", BOTH)
def test_single_candidates_are_certain(cls):
    X, _, C = problem(0)
    C[:20] = np.eye(4, dtype=bool)[np.arange(20) % 4]
    P = cls(random_state=0).fit(X, C).labels_
    np.testing.assert_array_equal(P[:20], C[:20])


@pytest.mark.parametrize("cls", BOTH)
def test_true_candidates_keep_more_confidence(cls, global_random_seed):
    # Two clusters of rows per label, 30 % of the rows with a false candidate.
    rng = np.random.default_rng(global_random_seed)
    centers = rng.normal(size=(4, 2, 6)) * 3
    label, side = rng.integers(4, size=200), rng.integers(2, size=200)
    X = centers[label, side] + rng.normal(size=(200, 6))
    Y = np.eye(4, dtype=bool)[label]
    C = Y.copy()
    noisy = rng.permutation(200)[:60]
    C[noisy, (label[noisy] + rng.integers(1, 4, size=60)) % 4] = True
    P = cls(random_state=0).fit(X, C).labels_
    assert P[Y].mean() > P[C & ~Y].mean() + 0.2


@pytest.mark.parametrize("cls", BOTH)
def test_it_ranks_better_than_chance(cls, global_random_seed):
    X, Y, C = problem(global_random_seed, n=300, d=8, l=6, r=2)
    model = fit_briefly(cls(random_state=0), X[:200], C[:200])
    prior = np.tile(C[:200].mean(axis=0), (100, 1))
    found = average_precision(Y[200:], model.decision_function(X[200:]))
    assert found > average_precision(Y[200:], prior) + 0.05


def test_correlations_may_follow_the_confidences():
    X, _, C = problem(0, r=2)
    structure = Correlations(C, 1.0, True)
    before = structure.L
    structure.refresh(C * 0.5)
    np.testing.assert_allclose(structure.L, before)  # a common factor drops out
    structure.refresh(np.where(X[:, :1] > 3, C, 0.1 * C))
    assert not np.allclose(structure.L, before)
    fixed = PMLLC(C3=50.0).fit(X, C).labels_
    moving = PMLLC(C3=50.0, refresh_correlation=True).fit(X, C).labels_
    assert not np.allclose(fixed, moving)


# ------------------------------------------------------------------ prototypes


def test_prototypes_by_hand():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 4.0]])
    C = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0]], dtype=bool)
    rng = np.random.RandomState(0)
    found = Prototypes(X, C, 2.0, 1, "euclidean", rng)
    np.testing.assert_allclose(found.centers[0], [[1, 0]])
    np.testing.assert_allclose(found.centers[1], [[2, 2]])
    assert found.centers[2] is None
    unit = np.mean([1, 1, 25, 8, 4, 8])
    assert found.unit == pytest.approx(unit)
    expected = np.array([[1, 8, 0], [1, 0, 0], [0, 8, 0]]) / unit
    np.testing.assert_allclose(found.D, expected)
    P = np.array([[1, 0.5, 0], [0.25, 0, 0], [0, 0.5, 0]])
    found.refresh(P)
    np.testing.assert_allclose(found.centers[0], [[0.4, 0]])
    np.testing.assert_allclose(found.centers[1], [[2, 2]])
    assert found.value(P) == pytest.approx(2 * np.sum(P * found.D))
    # A label that has lost all confidence keeps its prototype.
    found.refresh(np.array([[0, 0.5, 0], [0, 0, 0], [0, 0.5, 0]]))
    np.testing.assert_allclose(found.centers[0], [[0.4, 0]])


def test_cosine_prototypes_by_hand():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    C = np.array([[1, 0], [1, 0], [0, 1]], dtype=bool)
    found = Prototypes(X, C, 1.0, 1, "cosine", None)
    assert found.unit == 1
    half = 1 - np.sqrt(0.5)
    np.testing.assert_allclose(found.D, [[half, 0], [half, 0], [0, 0]], atol=1e-15)


def test_several_prototypes_take_the_nearest():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 50]
    C = np.ones((60, 2), dtype=bool)
    C[:10, 1] = False
    one = Prototypes(X, C, 1.0, 1, "euclidean", np.random.RandomState(0))
    two = Prototypes(X, C, 1.0, 2, "euclidean", np.random.RandomState(0))
    assert (two.D * two.unit).max() < 30 < (one.D * one.unit)[C].min()
    few = Prototypes(X[:2], C[10:12], 1.0, 5, "euclidean", np.random.RandomState(0))
    assert len(few.centers[0]) == 2
    same = Prototypes(
        np.ones((4, 2)), C[10:14], 1.0, 3, "euclidean", np.random.RandomState(0)
    )
    assert not same.D.any()


def test_equal_prototypes_are_warned_of():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.warns(UserWarning, match="prototypes of all labels nearly coincide"):
        PMLFP(random_state=0).fit(X, np.ones((40, 3), dtype=int))


# ------------------------------------------------------------------ border


@pytest.mark.parametrize("cls", BOTH)
def test_thresholds(cls):
    X, _, C = problem(0, r=2)
    f1 = cls(random_state=0).fit(X, C)
    count = cls(threshold="count", random_state=0).fit(X, C)
    number = cls(threshold=0.3, random_state=0).fit(X, C)
    assert count.threshold_ is None
    assert count.n_labels_ == round(count.labels_.sum(axis=1).mean())
    assert (count.predict(X).sum(axis=1) == count.n_labels_).all()
    assert number.threshold_ == 0.3
    np.testing.assert_allclose(
        f1.decision_function(X) + f1.threshold_, number.decision_function(X) + 0.3
    )
    order = f1.decision_function(X).argsort(axis=1)
    np.testing.assert_array_equal(count.decision_function(X).argsort(axis=1), order)
    np.testing.assert_array_equal(f1.predict_proba(X).argsort(axis=1), order)
    np.testing.assert_array_equal(f1.predict(X), f1.decision_function(X) > 0)


# ------------------------------------------------------------------ edges


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("order", ["labels", "rows"])
def test_order_carries_no_information(cls, order):
    X, _, C = problem(0)
    params = {"tol": 1e-9, "max_iter": 5, "inner_iter": 1000}
    D = fit_briefly(cls(**params), X, C).decision_function(X)
    rng = np.random.default_rng(0)
    if order == "labels":
        new = rng.permutation(4)
        E = fit_briefly(cls(**params), X, C[:, new]).decision_function(X)
        np.testing.assert_allclose(E, D[:, new], atol=1e-3)
    else:
        new = rng.permutation(len(X))
        E = fit_briefly(cls(**params), X[new], C[new]).decision_function(X)
        np.testing.assert_allclose(E, D, atol=1e-3)


@pytest.mark.parametrize("cls", BOTH)
def test_rows_without_candidates_are_left_out(cls):
    X, _, C = problem(0)
    C[::6] = False
    with pytest.warns(UserWarning, match="10 rows without candidates are left out"):
        model = cls(random_state=0).fit(X, C)
    assert model.labels_.shape == C.shape
    assert not model.labels_[::6].any()
    some = np.arange(60) % 6 > 0
    other = cls(random_state=0).fit(X[some], C[some])
    np.testing.assert_array_equal(model.coef_, other.coef_)
    with pytest.raises(ValueError, match="Every candidate set is empty"):
        cls().fit(X, np.zeros_like(C))


# Of PML-FP, which is right.
@pytest.mark.filterwarnings("ignore:The prototypes of all labels:UserWarning")
@pytest.mark.parametrize("cls", BOTH)
def test_full_rows_say_nothing(cls):
    X, _, _ = problem(0)
    model = cls(random_state=0).fit(X, np.ones((60, 4)))
    assert model.predict(X).all()
    assert not model.coef_.any()
    assert sorted(model.ranking_) == [1, 2, 3, 4, 5]
    some = np.ones((60, 4), dtype=bool)
    some[::2, 1] = False
    assert np.isfinite(cls(random_state=0).fit(X, some).predict_proba(X)).all()


@pytest.mark.parametrize("cls", BOTH)
def test_one_label(cls):
    X, _, _ = problem(0)
    model = cls(random_state=0).fit(X, ["sea"] * 60)
    assert (model.predict(X) == "sea").all()
    np.testing.assert_array_equal(model.labels_, 1)


@pytest.mark.parametrize("cls", BOTH)
def test_constant_features(cls):
    _, _, C = problem(0)
    model = cls(random_state=0).fit(np.ones((60, 3)), C)
    D = model.decision_function(np.ones((2, 3)))
    np.testing.assert_array_equal(D[0], D[1])
    assert not model.scores_.any()


# Of PML-FP, which is right.
@pytest.mark.filterwarnings("ignore:The prototypes of all labels:UserWarning")
@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_rows(cls, n):
    X, _, C = problem(0)
    model = cls(random_state=0).fit(X[:n], C[:n])
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("cls", BOTH)
def test_duplicate_rows_of_other_sets(cls):
    X, _, C = problem(0)
    model = cls(random_state=0).fit(np.repeat(X[:10], 6, axis=0), C)
    J = model.objective_
    assert (np.diff(J) <= ROUND * J[:-1]).all()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    "model", [PMLLC(), PMLFP(), PMLFP(metric="cosine"), PMLFP(prototypes=2)], ids=str
)
def test_sparse_features(model, global_random_seed):
    X, _, C = problem(global_random_seed)
    X = np.where(X < 2.5, 0.0, X)
    model.set_params(random_state=0, max_iter=3)
    D = fit_briefly(model, X, C).decision_function(X)
    E = fit_briefly(model, sp.csr_matrix(X), C).decision_function(sp.csr_matrix(X))
    np.testing.assert_allclose(E, D, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("cls", BOTH)
def test_raw_features_give_unit_free_scores(cls):
    X, _, C = problem(0)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    scaled = cls(random_state=0).fit(X, C)
    raw = cls(random_state=0, standardize=False).fit(X, C)
    np.testing.assert_allclose(scaled.scores_, raw.scores_, rtol=1e-6)


def test_stopping_is_reported():
    X, _, C = problem(0, r=2)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations"):
        PMLLC(max_iter=1).fit(X, C)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"C1": 0.0}, "C1"),
        ({"C2": 0.0}, "C2"),
        ({"C3": -1.0}, "C3"),
        ({"loss": "log"}, "loss"),
        ({"pairs": "some"}, "pairs"),
        ({"threshold": "mean"}, "threshold"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters(cls, params, match):
    X, _, C = problem(0)
    with pytest.raises(ValueError, match=match):
        cls(**params).fit(X, C)


@pytest.mark.parametrize("params", [{"prototypes": 0}, {"metric": "manhattan"}])
def test_bad_parameters_of_fp(params):
    X, _, C = problem(0)
    with pytest.raises(ValueError, match=next(iter(params))):
        PMLFP(**params).fit(X, C)
