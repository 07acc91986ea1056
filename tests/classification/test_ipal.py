"""IPAL against a literal transcription, and its corners."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

from partlearn._math.graphs import rebuilding_graph
from partlearn._math.neighbors import query_neighbors, self_neighbors
from partlearn.candidates import uniform_confidence
from partlearn.classification import IPAL
from partlearn.classification._ipal import propagate


def unit(X):
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1)


def literal_propagation(H, S, alpha, max_iter, tol):
    """The loop of the paper, on dense matrices."""
    start = S / S.sum(axis=1, keepdims=True)
    F = start.copy()
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        new = alpha * (H @ F) + (1 - alpha) * start
        new = new * S
        new = new / new.sum(axis=1, keepdims=True)
        change = np.linalg.norm(new - F, 2)
        F = new
        if change < tol:
            break
    return F, n_iter


def literal_ipal(X, S, Q, k=10, alpha=0.95):
    """Fit and predict row by row; returns confidences, rounds, residuals."""
    X, Q = unit(X), unit(Q)
    m, q = S.shape
    H = np.zeros((m, m))
    for i, near in enumerate(self_neighbors(X, k)):
        H[i, near] = nnls(X[near].T, X[i])[0]
        H[i] /= H[i].sum() or 1
    F, n_iter = literal_propagation(H, S, alpha, 100, 1e-4)
    start = S / S.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        factor = np.nan_to_num(start.sum(axis=0) / F.sum(axis=0))
    labels = (F * factor).argmax(axis=1)
    R = np.empty((len(Q), q))
    for i, near in enumerate(query_neighbors(X, Q, k)[1]):
        w = nnls(X[near].T, Q[i])[0]
        for c in range(q):
            mine = labels[near] == c
            R[i, c] = np.linalg.norm(Q[i] - w[mine] @ X[near][mine])
    return F, n_iter, labels, R


@pytest.mark.parametrize("d", [3, 30])  # more neighbours than features, and fewer
def test_equals_the_transcription(noise, d, global_random_seed):
    _, S = noise
    rng = np.random.default_rng(global_random_seed)
    X, Q = rng.standard_normal((40, d)), rng.standard_normal((15, d))
    F, n_iter, labels, R = literal_ipal(X, S, Q)
    model = IPAL().fit(X, S)
    np.testing.assert_allclose(model.label_confidence_, F, atol=1e-9)
    assert model.n_iter_ == n_iter
    np.testing.assert_array_equal(model.disambiguated_, labels)
    np.testing.assert_allclose(-model._scores(Q), R, atol=1e-7)
    np.testing.assert_array_equal(model.predict(Q), R.argmin(axis=1))
    P = model.predict_proba(Q)
    shares = 1 / R / (1 / R).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(P, shares, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.9])  # sparse and dense route
def test_propagation(share, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    S = rng.random((30, 12)) < share
    S[np.arange(30), rng.integers(0, 12, 30)] = True
    X = unit(rng.standard_normal((30, 8)))
    H = rebuilding_graph(X, self_neighbors(X, 6))
    expected, n_iter = literal_propagation(H.toarray(), S, 0.95, 100, 1e-4)
    F, found, settled = propagate(H, uniform_confidence(S), S, 0.95, 100, 1e-4)
    assert found == n_iter
    assert settled  # by the tolerance, or because labels stay
    np.testing.assert_allclose(F, expected, atol=1e-13)
    assert not F[~S].any()


def test_stops_by_the_spectral_norm(global_random_seed):
    """Between the bounds of the Frobenius norm the eigenvalues decide."""
    rng = np.random.default_rng(global_random_seed)
    S = np.ones((50, 5), dtype=bool)
    X = unit(rng.standard_normal((50, 4)))
    H = rebuilding_graph(X, self_neighbors(X, 5))
    start = rng.dirichlet(np.ones(5), 50)

    def literal(tol):
        F = start
        for n_iter in range(1, 200):
            new = 0.9 * (H @ F) + 0.1 * start
            new /= new.sum(axis=1, keepdims=True)
            if np.linalg.norm(new - F, 2) < tol:
                return n_iter
            F = new
        return None

    for tol in np.geomspace(1e-3, 0.5, 12):
        assert propagate(H, start, S, 0.9, 200, tol)[1] == literal(tol)


def test_singletons_stay(blobs):
    X, _, y = blobs
    model = IPAL().fit(X, y)
    np.testing.assert_array_equal(model.label_confidence_, np.eye(4)[y])
    assert model.score(X, y) == 1.0


def test_learns(blobs):
    X, S, y = blobs
    model = IPAL().fit(X, S)
    assert np.mean(model.disambiguated_ == y) > 0.9
    assert model.score(X, y) > 0.9


def test_starts_from_confidences(blobs):
    X, S, y = blobs
    truth = np.eye(4)[y]
    model = IPAL().fit(X, S, confidence=truth)
    assert np.mean(model.disambiguated_ == y) == 1.0
    uniform = IPAL().fit(X, S, confidence=S.astype(float))
    np.testing.assert_allclose(
        uniform.label_confidence_, IPAL().fit(X, S).label_confidence_, atol=1e-14
    )


def test_exact_copy_of_a_row_is_certain():
    X = np.eye(4)
    model = IPAL(2).fit(X, ["a", "b", "c", "d"])
    np.testing.assert_array_equal(model.predict_proba(5 * X), np.eye(4))


def test_nothing_helps_then_the_nearest_label():
    X = np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.2]])
    model = IPAL(2).fit(X, ["b", "a", "a"])
    # The opposite of a row is orthogonal or opposite to all.
    assert model.predict([[-1.0, 0.0]]) == ["a"]
    zero = model.predict_proba([[0.0, 0.0]])
    np.testing.assert_array_equal(zero.sum(axis=1), [1.0])
    assert set(zero.ravel()) == {0.0, 1.0}


def test_zero_rows_keep_their_start():
    X = np.vstack([np.eye(3), np.zeros((1, 3))])
    S = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]
    np.testing.assert_array_equal(
        IPAL(2).fit(X, S).label_confidence_[3], [0.5, 0.5, 0.0]
    )


def test_absent_labels_can_be_excluded():
    """A label without any neighbour leaves all of the query, others may leave more."""
    rng = np.random.default_rng(0)
    X, S = rng.standard_normal((60, 3)), np.eye(12, dtype=int)[rng.integers(0, 12, 60)]
    Q = rng.standard_normal((200, 3))
    free = IPAL(5).fit(X, S)
    bound = IPAL(5, restrict_to_neighbors=True).fit(X, S)
    near = query_neighbors(unit(X), unit(Q), 5)[1]
    own = [set(row) for row in S.argmax(axis=1)[near]]
    assert all(p in labels for p, labels in zip(bound.predict(Q), own, strict=True))
    P = bound.predict_proba(Q)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert (P == 0).any()
    inside = [p in labels for p, labels in zip(free.predict(Q), own, strict=True)]
    same = free.predict(Q) == bound.predict(Q)
    assert same[inside].all()


def test_single_row_and_too_many_neighbours():
    model = IPAL().fit([[1.0, 2.0]], [{"a", "b"}])
    np.testing.assert_array_equal(model.label_confidence_, [[0.5, 0.5]])
    assert model.predict([[2.0, 4.0]]) == ["a"]
    few = IPAL(50).fit([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], ["a", "a", "b"])
    assert list(few.predict([[3.0, 0.1], [0.0, 2.0]])) == ["a", "b"]


def test_warns_when_not_settled(blobs):
    X, S, _ = blobs
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        model = IPAL(max_iter=1).fit(X, S)
    assert model.n_iter_ == 1


def test_sparse_features(blobs):
    X, S, _ = blobs
    X = np.where(np.abs(X) < 3, 0, X)
    dense, sparse = IPAL().fit(X, S), IPAL().fit(sp.csr_matrix(X), S)
    np.testing.assert_allclose(
        dense.label_confidence_, sparse.label_confidence_, atol=1e-9
    )
    np.testing.assert_allclose(
        dense.predict_proba(X), sparse.predict_proba(sp.csr_matrix(X)), atol=1e-6
    )
