"""PLDA against its pseudo-code, the authors' program and the reference figures."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from scipy.optimize import nnls
from tests.settling import fit_briefly

from partlearn._math.linalg import ThinBasis, standardize
from partlearn.decomposition import PLDA
from partlearn.decomposition._plda import discriminants


def scatters(X, F):
    """Between- and within-class scatter by their definition."""
    d = X.shape[1]
    mean = X.mean(axis=0)
    between, within = np.zeros((d, d)), np.zeros((d, d))
    for j in range(F.shape[1]):
        centre = F[:, j] @ X / F[:, j].sum()
        between += F[:, j].sum() * np.outer(centre - mean, centre - mean)
        within += (X - centre).T @ (F[:, [j]] * (X - centre))
    return between, within


def simplex_weights(E):
    """Convex weights of the shortest combination of the rows of E."""
    g = np.sqrt((E**2).sum(axis=1).mean())
    w, _ = nnls(np.vstack([E.T, g * np.ones(len(E))]), np.r_[np.zeros(E.shape[1]), g])
    return w / w.sum()


def transcription(X, S, *, r, k, beta, decay, max_iter):
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    F = S / S.sum(axis=1, keepdims=True)
    for t in range(1, max_iter + 1):
        between, within = scatters(X, F)
        eye = np.eye(X.shape[1])
        B = (1 - beta) * within + beta * eye if beta <= 1 else beta * eye
        values, vectors = scipy.linalg.eigh(between, B)
        P = vectors[:, ::-1][:, :r]
        Z = X @ P
        Z /= np.linalg.norm(Z, axis=1, keepdims=True)
        new = np.zeros_like(F)
        for i in range(len(X)):
            distance = ((Z - Z[i]) ** 2).sum(axis=1)
            distance[i] = np.inf
            nearest = np.argsort(distance, kind="stable")[:k]
            E = np.hstack([Z[i] - Z[nearest], F[i] - F[nearest]])
            new[i] = (F[i] + simplex_weights(E) @ F[nearest]) * S[i]
        F = new / new.sum(axis=1, keepdims=True)
        beta *= decay**t
    return P, F, values[::-1][:r]


@pytest.mark.parametrize("beta", [0.0, 0.5, 3.0])
def test_equals_the_pseudo_code(problem, beta):
    X, S, _ = problem
    options = {"beta": beta, "decay": 0.8, "max_iter": 4}
    P, F, values = transcription(X, S, r=3, k=5, **options)
    ours = fit_briefly(PLDA(3, n_neighbors=5, **options), X, S)
    assert subspace_angles(ours.components_.T, P).max() < 1e-8
    np.testing.assert_allclose(np.abs(ours.components_.T), np.abs(P), atol=1e-8)
    np.testing.assert_allclose(ours.label_confidence_, F, atol=1e-8)
    np.testing.assert_allclose(ours.eigenvalues_, values, rtol=1e-8)


@pytest.mark.shared
@pytest.mark.parametrize("rounds", [1, 5])
def test_equals_the_authors_program(oracle, rounds):
    ours = fit_briefly(PLDA(max_iter=rounds), oracle["Xtr"], oracle["Str"])
    P = oracle[f"ref_draw{rounds}_P"]
    assert np.sin(subspace_angles(ours.components_.T, P)).max() < 1e-10
    np.testing.assert_allclose(
        ours.label_confidence_, oracle[f"ref_draw{rounds}_F"], atol=1e-12
    )


@pytest.mark.shared
def test_disambiguation_on_lost(lost):
    X, S, y = lost
    F = PLDA(13, max_iter=30).fit(X, S).label_confidence_
    assert (F.argmax(axis=1) == y).mean() == pytest.approx(0.922, abs=0.005)


@pytest.mark.parametrize("shape", [(40, 8), (12, 20)], ids=["tall", "wide"])
def test_thin_eigenproblem_equals_the_full_one(shape, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    matrix, _, _ = standardize(rng.normal(size=shape))
    F = rng.random((shape[0], 3))
    F /= F.sum(axis=1, keepdims=True)
    between, within = scatters(matrix.dense, F)
    for beta in (0.9, 0.1, 1e-3):
        values, _ = scipy.linalg.eigh(
            between, (1 - beta) * within + beta * np.eye(shape[1])
        )
        basis = ThinBasis(matrix)
        ours, vectors = discriminants(basis, F, beta)
        np.testing.assert_allclose(ours[:2], values[::-1][:2], rtol=1e-8)
        assert ours[0] > 0
        P = basis.right(vectors[:, :2])
        B = (1 - beta) * within + beta * np.eye(shape[1])
        np.testing.assert_allclose(P.T @ B @ P, np.eye(2), atol=1e-8)


def test_settles_where_labels_are_known(problem):
    X, _, y = problem
    ours = PLDA().fit(X, y)
    np.testing.assert_array_equal(ours.label_confidence_, np.eye(5)[y])
    # beta_t = 0.5 * 0.95 ** (t (t - 1) / 2) is below 1e-8 from round 27 on.
    beta, rounds = 0.5, 1
    while beta >= 1e-8:
        beta *= 0.95**rounds
        rounds += 1
    assert ours.n_iter_ == rounds
    assert PLDA(decay=1.0).fit(X, y).n_iter_ == 1


def test_standardize_off_compares_raw_angles(problem):
    X, S, _ = problem
    ours = fit_briefly(PLDA(2, standardize=False, max_iter=2), X + 5, S)
    np.testing.assert_allclose(ours.transform(X), X @ ours.components_.T)
    moved = fit_briefly(PLDA(2, standardize=False, max_iter=2), X + 500, S)
    # Far from the origin all rows point the same way, and neighbours change.
    assert not np.allclose(ours.label_confidence_, moved.label_confidence_)


@pytest.mark.parametrize("shape", [(80, 30), (30, 80)], ids=["tall", "wide"])
def test_sparse_equals_dense(shape, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = sp.random_array(shape, density=0.2, rng=rng, format="csr")
    S = rng.random((shape[0], 4)) < 0.4
    S[np.arange(shape[0]), rng.integers(4, size=shape[0])] = True
    dense = fit_briefly(PLDA(max_iter=4), X.toarray(), S)
    sparse = fit_briefly(PLDA(max_iter=4), X, S)
    np.testing.assert_allclose(
        dense.label_confidence_, sparse.label_confidence_, atol=1e-6
    )
    np.testing.assert_allclose(dense.transform(X), sparse.transform(X), atol=1e-6)
