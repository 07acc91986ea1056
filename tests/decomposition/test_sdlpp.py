"""SDLPP against a literal transcription and by hand."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from tests.settling import fit_briefly

from partlearn.classification import PLKNN
from partlearn.decomposition import SDLPP
from partlearn.decomposition._sdlpp import (
    add_neighbors,
    dissimilarity_directions,
    heat_weights,
    shares_a_label,
)
from partlearn.model_selection import cross_validate


def dissimilarity(F):
    D = 1 - F @ F.T
    np.fill_diagonal(D, 0)
    return D


def directions(Z, D, W, mu):
    B = D - mu * W
    B = (B + B.T) / 2
    A = np.diag(B.sum(axis=1))
    left, right = Z.T @ (A - B) @ Z, Z.T @ A @ Z
    right += 1e-8 * np.trace(right) / Z.shape[1] * np.eye(Z.shape[1])
    values, P = scipy.linalg.eigh(left, right)
    P = P[:, ::-1]
    return values[::-1], P / np.linalg.norm(P, axis=0)


def transcription(X, S, *, r, k, mu, threshold, max_iter):
    m = len(X)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    F = S / S.sum(axis=1, keepdims=True)
    D = dissimilarity(F)
    Z = X
    for _ in range(max_iter):
        U = Z / np.linalg.norm(Z, axis=1, keepdims=True)
        distance = np.linalg.norm(U[:, None] - U[None], axis=2)
        np.fill_diagonal(distance, np.inf)
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :k]
        sigma = np.mean([distance[i, nearest[i, -1]] for i in range(m)])
        W = np.zeros((m, m))
        new = F.copy()
        for i in range(m):
            for j in nearest[i]:
                if D[i, j] < 1:
                    W[i, j] = np.exp(-(distance[i, j] ** 2) / sigma**2)
                    if distance[i, j] > 0:
                        new[i] += F[j]
        new *= F > 0
        F = new / new.sum(axis=1, keepdims=True)
        D = dissimilarity(F)
        values, P = directions(Z, D, W, mu)
        sums = np.cumsum(values)
        # The sum of all equals the last partial sum only within rounding.
        kept = int(np.argmax(sums >= threshold * sums[-1] * (1 - 1e-12))) + 1
        settled = kept == Z.shape[1]
        Z = Z @ P[:, :kept]
        if settled:
            break
    values, P = directions(X, D, W, mu)
    return P[:, :r], F, values[:r]


@pytest.mark.parametrize(
    ("mu", "threshold"), [(0.1, 0.95), (0.1, 0.8), (2.0, 0.9), (0.0, 1.0)]
)
def test_equals_the_transcription(problem, mu, threshold):
    X, S, _ = problem
    options = {"mu": mu, "threshold": threshold, "max_iter": 3}
    P, F, values = transcription(X, S, r=3, k=5, **options)
    ours = fit_briefly(SDLPP(3, n_neighbors=5, **options), X, S)
    assert np.sin(subspace_angles(ours.components_.T, P)).max() < 1e-6
    np.testing.assert_allclose(np.abs(ours.components_.T), np.abs(P), atol=1e-6)
    np.testing.assert_allclose(ours.label_confidence_, F, atol=1e-10)
    np.testing.assert_allclose(ours.eigenvalues_, values, rtol=1e-8)
    assert values[0] > values[2] > 0


def test_more_features_than_rows(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(30, 50))
    S = rng.random((30, 4)) < 0.3
    S[np.arange(30), rng.integers(0, 4, 30)] = True
    options = {"mu": 0.1, "threshold": 0.9, "max_iter": 1}
    _, F, values = transcription(X, S, r=2, k=4, **options)
    ours = fit_briefly(SDLPP(2, n_neighbors=4, **options), X, S)
    np.testing.assert_allclose(ours.label_confidence_, F, atol=1e-10)
    np.testing.assert_allclose(ours.eigenvalues_, values, rtol=1e-6)
    sparse = fit_briefly(SDLPP(2, n_neighbors=4, **options), sp.csr_array(X), S)
    np.testing.assert_allclose(sparse.eigenvalues_, values, rtol=1e-5)
    np.testing.assert_allclose(
        np.abs(sparse.transform(sp.csr_array(X))), np.abs(ours.transform(X)), atol=1e-4
    )


def test_confidences_by_hand():
    F = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    neighbors = np.array([[1, 2], [0, 2], [0, 1]])
    kept = shares_a_label(F, neighbors)
    np.testing.assert_array_equal(kept, [[True, False], [True, False], [False, False]])
    # Row 0 hears row 1 (1, 0, 0); row 1 hears row 0 but believes in the first only.
    np.testing.assert_allclose(
        add_neighbors(F, neighbors, kept),
        [[0.75, 0.25, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    )
    # A neighbour at distance zero is connected, with weight one, but not heard.
    distances = np.array([[0.0, 2.0], [0.0, 4.0], [1.0, 3.0]])
    W = heat_weights(distances, neighbors, kept).toarray()
    np.testing.assert_allclose(W, [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert heat_weights(np.zeros((3, 2)), neighbors, kept).max() == 1


def test_directions_by_hand():
    """Two rows of different labels: D = [[0, 1], [1, 0]], A = I, lambda = 2."""
    Z = np.array([[1.0, 0.0], [-1.0, 0.0]])
    W = sp.csr_array((2, 2))
    values, vectors = dissimilarity_directions(Z[:, :1], np.eye(2), W, 0.1, 1)
    np.testing.assert_allclose(values, [2.0], rtol=1e-6)
    np.testing.assert_allclose(np.abs(vectors), [[1.0]])


def test_heavy_neighbourhoods(problem):
    X, S, _ = problem
    # Some row sums are negative, and count as zero.
    assert np.isfinite(SDLPP(mu=20.0).fit(X, S).components_).all()
    with pytest.raises(ValueError, match="lower `mu`"):
        SDLPP(mu=1e4).fit(X, S)


def test_says_when_rounds_end_early(problem):
    X, S, _ = problem
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        ours = SDLPP(threshold=0.5, max_iter=1).fit(X, S)
    assert ours.n_iter_ == 1


def test_default_number_of_directions(problem):
    X, S, _ = problem
    assert SDLPP().fit(X, S).n_components_ == S.shape[1] - 1
    assert SDLPP(6).fit(X, S).n_components_ == 6
    assert 1 <= SDLPP("auto").fit(X, S).n_components_ <= S.shape[1] - 1


@pytest.mark.shared
def test_lost(lost):
    """A third-party port reports .779 before PL-KNN over ten 80/20 splits."""
    X, S, y = lost
    model = make_pipeline(SDLPP(13), PLKNN())
    scores = cross_validate(model, X, S, y, cv=5)["test_score"]
    assert scores.mean() == pytest.approx(0.75, abs=0.03)
