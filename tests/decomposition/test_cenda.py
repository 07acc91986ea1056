"""CENDA against its pseudo-code, the authors' program and the published dimensions."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from sklearn.exceptions import ConvergenceWarning
from tests.settling import fit_briefly

from partlearn._math.linalg import ThinEigenSolver, standardize
from partlearn._sizes import SIZES
from partlearn.decomposition import CENDA


def transcription(X, S, *, mu, k, alpha, thr, weights, scaling, max_iter):
    """The paper's algorithm, literally: full matrices, loops, no shortcut."""
    m, d = X.shape
    q = S.shape[1]
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    H = np.eye(m) - np.ones((m, m)) / m
    F = S / S.sum(axis=1, keepdims=True)
    B = mu * X.T @ X + (1 - mu) * np.eye(d)
    for _ in range(max_iter):
        L = F @ F.T
        values, vectors = scipy.linalg.eigh(X.T @ H @ L @ H @ X, B)
        values, vectors = np.clip(values[::-1], 0, None), vectors[:, ::-1]
        total, r = 0.0, 0
        while total < thr * values.sum():
            total += values[r]
            r += 1
        P = vectors[:, :r].copy()
        if scaling == "maxabs":
            P /= np.abs(P).max(axis=0)
        Z = X @ P
        new = np.zeros_like(F)
        for i in range(m):
            distance = ((Z - Z[i]) ** 2).sum(axis=1)
            distance[i] = np.inf
            nearest = np.argsort(distance, kind="stable")[:k]
            for j in range(q):
                if S[i, j]:
                    votes = [
                        (k - a if weights == "rank" else 1) * F[n, j]
                        for a, n in enumerate(nearest)
                    ]
                    new[i, j] = alpha * F[i, j] + sum(votes)
            new[i] /= new[i].sum()
        F = new
    return P, F, values[:r]


@pytest.mark.parametrize("vote", ["rank", "uniform"])
@pytest.mark.parametrize("scaling", ["constraint", "maxabs"])
def test_equals_the_pseudo_code(problem, vote, scaling):
    X, S, _ = problem
    options = {"mu": 0.3, "alpha": 0.7, "weights": vote, "scaling": scaling}
    P, F, values = transcription(X, S, k=6, thr=0.9, max_iter=6, **options)
    ours = fit_briefly(CENDA(0.9, n_neighbors=6, max_iter=6, **options), X, S)
    assert ours.n_components_ == P.shape[1]
    assert subspace_angles(ours.components_.T, P).max() < 1e-8
    np.testing.assert_allclose(np.abs(ours.components_.T), np.abs(P), atol=1e-8)
    np.testing.assert_allclose(ours.label_confidence_, F, atol=1e-8)
    np.testing.assert_allclose(ours.eigenvalues_, values, rtol=1e-8)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "options"),
    [("cenda", {"max_iter": 10}), ("cenda1", {"n_components": 0.9, "max_iter": 1})],
)
def test_equals_the_authors_program(oracle, name, options):
    X, S = oracle["Xtr"], oracle["Str"]
    ours = fit_briefly(CENDA(scaling="maxabs", **options), X, S)
    P, F = oracle[f"ref_{name}_P"], oracle[f"ref_{name}_F"]
    signs = np.sign(np.sum(P * ours.components_.T, axis=0))
    np.testing.assert_allclose(ours.components_.T * signs, P, atol=1e-10)
    np.testing.assert_allclose(ours.label_confidence_, F, atol=1e-12)
    if name == "cenda":
        Z = oracle["ref_cenda_Z"]
        np.testing.assert_allclose(ours.transform(X) * signs, Z, atol=1e-10)


@pytest.mark.shared
@pytest.mark.parametrize("scaling", ["constraint", "maxabs"])
def test_published_dimensions_on_lost(lost, scaling):
    X, S, _ = lost
    found = [
        CENDA(thr, scaling=scaling).fit(X, S).n_components_
        for thr in (0.9, 0.99, 0.999)
    ]
    assert found == [6, 11, 13]


@pytest.mark.shared
def test_published_dimensions_on_fgnet(fgnet):
    X, S, _ = fgnet
    found = [
        CENDA(thr, scaling="maxabs").fit(X, S).n_components_
        for thr in (0.9, 0.99, 0.999)
    ]
    assert found == [15, 34, 40]


@pytest.mark.shared
def test_disambiguation_on_lost(lost):
    X, S, y = lost
    for scaling, expected in (("constraint", 0.898), ("maxabs", 0.872)):
        F = CENDA(scaling=scaling).fit(X, S).label_confidence_
        assert (F.argmax(axis=1) == y).mean() == pytest.approx(expected, abs=0.005)


def test_routes_agree(problem):
    X, S, _ = problem
    matrix, _, _ = standardize(X)
    C = S - S.mean(axis=0)
    found = []
    for route, whiten in (
        ("primal", False),
        ("primal", True),
        ("dual", False),
        ("iterative", False),
    ):
        solver = ThinEigenSolver(matrix, 0.5, 0.5, route=route, whiten=whiten)
        eigen = solver.solve(C)
        assert np.isfinite(eigen.values).all()
        assert eigen.values[0] > 0
        P = solver.directions(eigen, 3)
        np.testing.assert_allclose(solver.embedding(eigen, 3), matrix @ P, atol=1e-8)
        found.append((eigen.values, P))
    for values, P in found[1:]:
        np.testing.assert_allclose(values[:4], found[0][0][:4], rtol=1e-8)
        assert subspace_angles(P, found[0][1]).max() < 1e-7


@pytest.mark.parametrize("shape", [(80, 30), (30, 80)], ids=["tall", "wide"])
def test_sparse_equals_dense(shape, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = sp.random_array(shape, density=0.2, rng=rng, format="csr")
    S = rng.random((shape[0], 4)) < 0.4
    S[np.arange(shape[0]), rng.integers(4, size=shape[0])] = True
    dense = CENDA(max_iter=5).fit(X.toarray(), S)
    sparse = CENDA(max_iter=5).fit(X, S)
    np.testing.assert_allclose(dense.components_, sparse.components_, atol=1e-8)
    np.testing.assert_allclose(
        dense.label_confidence_, sparse.label_confidence_, atol=1e-8
    )
    np.testing.assert_allclose(dense.transform(X), sparse.transform(X), atol=1e-8)


def wide_problem(m=90, d=70, q=4, k=6):
    """Rows that vary in `k` strong directions and hardly in the others."""
    rng = np.random.default_rng(0)
    y = rng.integers(q, size=m)
    hidden = 2 * rng.normal(size=(q, k))[y] + rng.normal(size=(m, k))
    X = hidden @ rng.normal(size=(k, d)) + 0.01 * rng.normal(size=(m, d))
    S = rng.random((m, q)) < 0.3
    S[np.arange(m), y] = True
    return X, S


@pytest.mark.parametrize("scaling", ["constraint", "maxabs"])
def test_leading_directions_are_a_decomposition_in_front(scaling):
    X, S = wide_problem()
    options = {"scaling": scaling, "max_iter": 5, "tol": 0}
    ours = fit_briefly(CENDA(3, svd_rank=6, **options), X, S)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    V = np.linalg.svd(Z, full_matrices=False)[2][:6].T
    if scaling == "constraint":
        literal = fit_briefly(CENDA(3, standardize=False, **options), Z @ V, S)
        P = V @ literal.components_.T
        np.testing.assert_allclose(
            ours.label_confidence_, literal.label_confidence_, atol=1e-8
        )
        np.testing.assert_allclose(ours.transform(X), Z @ ours.components_.T)
        np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(Z @ P), atol=1e-6)
    else:
        np.testing.assert_allclose(np.abs(ours.components_).max(axis=1), 1)
        within = ours.components_ @ V @ V.T
        np.testing.assert_allclose(within, ours.components_, atol=1e-6)


def test_large_data_are_used_in_their_leading_directions(monkeypatch):
    X, S = wide_problem()
    asked = fit_briefly(CENDA(svd_rank=6), X, S)
    monkeypatch.setattr(SIZES, "full_svd", 60)
    monkeypatch.setattr(SIZES, "truncated_rank", 6)
    found = fit_briefly(CENDA(), X, S)
    np.testing.assert_array_equal(found.components_, asked.components_)
    sparse = fit_briefly(CENDA(), sp.csr_array(X), S)
    np.testing.assert_allclose(
        sparse.label_confidence_, found.label_confidence_, atol=1e-6
    )
    # All directions on request, as ever below this size.
    exact = fit_briefly(CENDA(svd_rank=70, max_iter=3), X, S)
    monkeypatch.undo()
    np.testing.assert_array_equal(
        fit_briefly(CENDA(max_iter=3), X, S).components_, exact.components_
    )


def test_in_leading_directions_labels_that_stay_are_enough():
    X, S = wide_problem()
    found = fit_briefly(CENDA(svd_rank=6), X, S)
    longer = fit_briefly(CENDA(svd_rank=6, tol=0), X, S)
    assert found.n_iter_ < longer.n_iter_ == 50
    same = found.label_confidence_.argmax(axis=1) == longer.label_confidence_.argmax(
        axis=1
    )
    assert same.mean() > 0.95


def test_singletons_settle_at_once(problem):
    X, _, y = problem
    ours = CENDA().fit(X, y)
    assert ours.n_iter_ == 1
    np.testing.assert_array_equal(ours.label_confidence_, np.eye(5)[y])


def test_warns_at_max_iter(problem):
    X, S, _ = problem
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations"):
        CENDA(max_iter=2).fit(X, S)


def test_scores_itself_higher_than_any_other_directions(problem, global_random_seed):
    """The eigenvectors maximise what they claim to, under their constraint."""
    X, S, _ = problem
    ours = fit_briefly(CENDA(3, max_iter=1), X, S)
    Xs = (X - ours.mean_) / ours.scale_
    B = 0.5 * Xs.T @ Xs + 0.5 * np.eye(X.shape[1])
    F = S / S.sum(axis=1, keepdims=True)

    def dependence(P):
        return np.linalg.norm((Xs @ P).T @ (F - F.mean(axis=0))) ** 2

    P = ours.components_.T
    np.testing.assert_allclose(P.T @ B @ P, np.eye(3), atol=1e-10)
    assert dependence(P) == pytest.approx(ours.objective_[0])
    L = np.linalg.cholesky(B)
    rng = np.random.default_rng(global_random_seed)
    for _ in range(20):
        other = np.linalg.solve(L.T, np.linalg.qr(rng.normal(size=(8, 3)))[0])
        assert dependence(other) < dependence(P)
