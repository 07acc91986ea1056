"""TRACE: closed forms against loops, optimality of the path, planted features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, MultiTaskLasso, Ridge

from partlearn._sizes import SIZES
from partlearn.multilabel import TRACE, add_noise_labels
from partlearn.multilabel.feature_selection._trace import (
    _RIDGES,
    DecomposedData,
    _solve,
    leave_one_out,
    posterior_labels,
    row_sparse_path,
    trace_data,
)


def problem(seed, n=200, d=40, l=5, k=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    relevant = rng.permutation(d)[:k]
    W = rng.choice([-1.0, 1.0], size=(k, l))
    S = X[:, relevant] @ W + rng.normal(size=(n, l))
    Y = np.quantile(S, 0.7, axis=0) < S
    return X, Y, add_noise_labels(Y, 2, random_state=seed), relevant


def centred(X):
    U, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return U, s, Vt.T


def identity(d):
    """Orthonormal features."""
    return DecomposedData(np.eye(d), np.ones(d), np.eye(d))


@pytest.mark.parametrize("n", [25, 8])
def test_leave_one_out_is_that_of_a_loop(n, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, C = rng.normal(size=(n, 10)), rng.normal(size=(n, 3))
    U, s, _ = centred(X)
    keep = s > 1e-10 * s[0]
    scores, ridge = leave_one_out(U[:, keep], s[keep], C)
    assert ridge in n * _RIDGES
    others = ~np.eye(n, dtype=bool)
    errors = {}
    for penalty in n * _RIDGES:
        loop = np.vstack(
            [
                Ridge(penalty).fit(X[o], C[o]).predict(X[i : i + 1])
                for i, o in enumerate(others)
            ]
        )
        errors[penalty] = np.sum((loop - C) ** 2)
        if penalty == ridge:
            # The fit centres on the remaining rows; penalised exactly like the loop.
            np.testing.assert_allclose(scores, loop, rtol=1e-6, atol=1e-8)
    assert errors[ridge] == min(errors.values())


def test_leave_one_out_without_features_is_the_mean_of_the_others():
    C = np.array([[1.0], [0.0], [0.0]])
    scores, _ = leave_one_out(np.empty((3, 0)), np.empty(0), C)
    np.testing.assert_allclose(scores.ravel(), [0, 0.5, 0.5])


def test_posterior_by_hand():
    c = np.array([[0.5, 1.0, 0.1, 0.5]])
    C = np.array([[True, True, True, False]])
    p = posterior_labels(c, C, np.full(4, 0.25))
    np.testing.assert_allclose(p, [[(1 - 0.5) / 0.75, 1, 0, 0]])


def test_posterior_is_the_share_of_true_candidates():
    rng = np.random.default_rng(0)
    p, r = rng.uniform(size=20000), 0.3
    true = rng.uniform(size=p.shape) < p
    candidate = true | (rng.uniform(size=p.shape) < r)
    found = posterior_labels(
        (p + (1 - p) * r)[:, None], candidate[:, None], np.array([r])
    )
    found = found.ravel()
    assert found[candidate].mean() == pytest.approx(true[candidate].mean(), abs=0.01)


def test_subspace_of_columns():
    X = np.random.default_rng(0).normal(size=(20, 6))
    X[:, 5] = X[:, 4]
    X -= X.mean(axis=0)
    U, s, V = centred(X)
    u, sizes = DecomposedData(U, s, V).subspace([1, 4, 5])
    assert len(sizes) == 2
    np.testing.assert_allclose(sizes, np.linalg.svd(X[:, [1, 4, 5]])[1][:2])
    Q = np.linalg.qr(X[:, [1, 4]])[0]
    np.testing.assert_allclose(u @ (u.T @ Q), Q, atol=1e-10)


def test_path_solves_the_convex_problem(global_random_seed):
    X, _, C, _ = problem(global_random_seed, n=60, d=12)
    Z = X - X.mean(axis=0)
    T = C - C.mean(axis=0)
    U, s, V = centred(X)
    path = row_sparse_path(
        DecomposedData(U, s, V),
        Z.T @ T,
        n_wanted=12,
        n_penalties=12,
        tol=1e-10,
        max_iter=5000,
    )
    for lam, value in zip(path.penalties, path.objective, strict=True):
        reference = MultiTaskLasso(
            alpha=lam / len(X), fit_intercept=False, tol=1e-12, max_iter=100000
        ).fit(Z, T)
        W = reference.coef_.T
        expected = 0.5 * np.sum((T - Z @ W) ** 2) + lam * np.sqrt((W**2).sum(1)).sum()
        assert value + 0.5 * np.sum(T**2) == pytest.approx(expected, rel=1e-8)
    # The value falls with the penalty.
    assert (np.diff(path.objective) <= 0).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("exclude", [None, [2, 5]])
def test_large_data_are_not_decomposed(monkeypatch, sparse, exclude):
    X, _, C, _ = problem(3, n=60, d=30)
    X = X * (np.abs(X) > 0.8)
    X[:, 7] = 1.0
    settings = {"tol": 1e-10, "max_iter": 5000, "denoise_with": 6, "exclude": exclude}
    whole = TRACE(12, **settings).fit(X, C)
    monkeypatch.setattr(SIZES, "full_svd", 20)

    def refuse(*_):
        raise AssertionError("decomposed")

    module = "partlearn.multilabel.feature_selection._trace"
    monkeypatch.setattr(f"{module}.thin_svd", refuse)
    found = TRACE(12, **settings).fit(sp.csr_array(X) if sparse else X, C)
    np.testing.assert_allclose(found.labels_, whole.labels_, atol=1e-9)
    np.testing.assert_allclose(found.scores_, whole.scores_, atol=1e-7)
    np.testing.assert_allclose(found.objective_, whole.objective_, rtol=1e-9)
    np.testing.assert_array_equal(found.selected_, whole.selected_)
    assert found.scores_[7] == 0
    if exclude:
        assert not found.support_[exclude].any()
        assert not found.scores_[exclude].any()


def test_products_with_the_data_are_those_of_its_decomposition(monkeypatch):
    X, _, C, _ = problem(4, n=50, d=30)
    decomposed = trace_data(X, np.array([3]))
    monkeypatch.setattr(SIZES, "full_svd", 20)
    columns, W = np.array([0, 3, 8, 20]), np.ones((4, 2))
    for data in (X, sp.csr_array(X)):
        multiplied = trace_data(data, np.array([3]))
        for name, args in (
            ("correlations", (columns, W)),
            ("transposed_matmul", (C - C.mean(axis=0),)),
        ):
            expected = getattr(decomposed, name)(*args)
            np.testing.assert_allclose(
                getattr(multiplied, name)(*args), expected, atol=1e-10
            )
        product, largest = multiplied.gram(columns)
        expected, exact = decomposed.gram(columns)
        np.testing.assert_allclose(product(W), expected(W), atol=1e-10)
        assert exact <= largest < 1.03 * exact
        U, s = multiplied.subspace(columns)
        expected, sizes = decomposed.subspace(columns)
        np.testing.assert_allclose(s, sizes, atol=1e-10)
        np.testing.assert_allclose(U @ U.T, expected @ expected.T, atol=1e-9)


def test_scores_are_penalties_of_entry():
    """Orthonormal features enter where their own correlation equals the penalty."""
    B = np.diag([5.0, 4.0, 3.0, 0.01, 0.0])
    path = row_sparse_path(identity(5), B, n_wanted=5, n_penalties=200, ratio=0.1)
    np.testing.assert_allclose(path.scores, [1, 0.8, 0.6, 0.002, 0], rtol=1e-12)


def test_rows_left_out_by_mistake_are_taken_in():
    B = np.diag([5.0, 4.0, 3.0])
    W, explained, _ = _solve(
        identity(3),
        B,
        np.zeros((3, 3)),
        np.array([5.0, 0.0, 0.0]),  # as if the others had no slope
        2.0,
        2.0,
        100,
        1e-8,
    )
    np.testing.assert_allclose(np.diag(W), [3, 2, 1])
    np.testing.assert_allclose(np.diag(B - explained), 2)


def test_a_path_stops_when_enough_have_entered():
    B = np.diag([5.0, 4.0, 3.0, 2.0])
    path = row_sparse_path(identity(4), B, n_wanted=2)
    assert path.penalties[-1] > 3
    assert np.argsort(-path.scores).tolist() == [0, 1, 2, 3]


def test_nothing_to_follow():
    path = row_sparse_path(identity(3), np.zeros((3, 2)), n_wanted=2)
    assert not path.scores.any()
    with pytest.raises(ValueError, match="no ranking"):
        TRACE(1).fit(np.eye(4), np.ones((4, 2)))


def test_planted_features_are_found(global_random_seed):
    X, Y, C, relevant = problem(global_random_seed)
    selector = TRACE(6).fit(X, C)
    assert len(set(selector.selected_) & set(relevant)) >= 5
    labels = selector.labels_
    assert not labels[~C].any()
    assert labels[Y].mean() > labels[C & ~Y].mean() + 0.05


def test_redundant_copies_wait():
    """A copy of a strong feature brings nothing new; a weak one that is new does."""
    rng = np.random.default_rng(0)
    n = 400
    a, b = rng.normal(size=(2, n))
    X = np.column_stack([a, a + 0.05 * rng.normal(size=n), b, rng.normal(size=(n, 5))])
    Y = np.column_stack([a > 0, a > 0.5, 0.7 * b + rng.normal(size=n) > 0])
    ranking = TRACE(2).fit(X, Y).ranking_
    assert min(ranking[:2]) == 1
    assert ranking[2] == 2


def test_an_infinite_anchor_leaves_the_candidates():
    X, _, C, _ = problem(3)
    np.testing.assert_array_equal(TRACE(6, mu=np.inf).fit(X, C).labels_, C)
    loose = TRACE(6, mu=0.0).fit(X, C).labels_
    tight = TRACE(6, mu=1.0).fit(X, C).labels_
    np.testing.assert_allclose(tight, (loose + C) / 2 * C)


def test_scale_and_storage_do_not_matter():
    X, _, C, _ = problem(4)
    X[np.abs(X) < 0.5] = 0
    plain = TRACE(6).fit(X, C)
    other = TRACE(6).fit(X * np.geomspace(1e-3, 1e3, X.shape[1]), C)
    np.testing.assert_allclose(plain.scores_, other.scores_, rtol=1e-6)
    sparse = TRACE(6).fit(sp.csr_array(X), C)
    np.testing.assert_allclose(plain.scores_, sparse.scores_, rtol=1e-6)


def test_more_features_than_rows():
    X, _, C, relevant = problem(5, n=60, d=200)
    selector = TRACE(20).fit(X, C)
    assert len(set(selector.selected_) & set(relevant)) >= 3
    assert np.isfinite(selector.scores_).all()


def test_excluded_columns_take_no_part():
    X, _, C, _ = problem(6)
    best = int(TRACE(6).fit(X, C).selected_[0])
    without = TRACE(6, exclude=[best], must_keep=[0 if best else 1]).fit(X, C)
    assert without.ranking_[best] == X.shape[1]
    assert without.scores_[best] == 0
    assert without.selected_[0] == (0 if best else 1)


def test_constant_columns_come_last_in_random_order():
    X, _, C, _ = problem(7)
    X[:, :4] = 2.0
    orders = {tuple(TRACE(6, random_state=s).fit(X, C).ranking_[:4]) for s in range(10)}
    assert len(orders) > 2
    assert all(min(order) == 37 for order in orders)


def test_convergence_is_reported():
    X, _, C, _ = problem(8)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        TRACE(6, max_iter=1, tol=0.0).fit(X, C)


def test_the_number_of_features_to_denoise_with():
    X, _, C, _ = problem(9)
    few = TRACE(6, denoise_with=1).fit(X, C)
    many = TRACE(6, denoise_with=1.0).fit(X, C)
    assert not np.allclose(few.labels_, many.labels_)
    # In all features: what leave-one-out on the whole data says.
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    U, s, _ = centred(Z)
    c, _ = leave_one_out(U, s, C.astype(float))
    noise = np.clip(np.quantile(c, 0.1, axis=0), 0, 0.99)
    expected = C * (1 + posterior_labels(c, C, noise)) / 2
    np.testing.assert_allclose(many.labels_, expected, rtol=1e-6, atol=1e-9)


def test_least_squares_is_the_end_of_the_path():
    X, _, C, _ = problem(10, n=80, d=6)
    U, s, V = centred(X)
    Z, T = X - X.mean(axis=0), C - C.mean(axis=0)
    path = row_sparse_path(
        DecomposedData(U, s, V),
        Z.T @ T,
        n_wanted=7,
        ratio=1e-7,
        tol=1e-9,
        max_iter=5000,
    )
    best = np.sum((T - LinearRegression().fit(Z, T).predict(Z)) ** 2) / 2
    assert path.objective[-1] + np.sum(T**2) / 2 == pytest.approx(best, rel=1e-4)
