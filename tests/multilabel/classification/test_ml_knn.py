"""ML-KNN: the reference program, a hand-made case, the edges."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from partlearn.multilabel import MLKNN
from partlearn.multilabel.classification._ml_knn import (
    count_labels,
    neighbor_tables,
    posterior,
)


@pytest.mark.shared
def test_reference_program(shared_dir):
    oracle = np.load(shared_dir / "oracle" / "pml_mlknn.npz")
    model = MLKNN(10, smoothing=1.0).fit(oracle["X_train"], oracle["Y_train"])
    exact = {"rtol": 0, "atol": 1e-12}
    np.testing.assert_allclose(model.prior_, oracle["prior"].ravel(), **exact)
    np.testing.assert_allclose(model.likelihood_[1], oracle["cond"], **exact)
    np.testing.assert_allclose(model.likelihood_[0], oracle["condN"], **exact)
    np.testing.assert_allclose(
        model.predict_proba(oracle["X_test"]), oracle["proba"], **exact
    )
    np.testing.assert_array_equal(model.predict(oracle["X_test"]), oracle["pred"] > 0)


def literal(X, Y, Q, k, s):
    """The formulas with loops, one row and one label at a time."""
    n, l = Y.shape

    def counts(x, skip):
        order = sorted(
            (i for i in range(n) if i != skip), key=lambda i: np.sum((X[i] - x) ** 2)
        )
        return Y[order[:k]].sum(axis=0)

    C = np.array([counts(X[i], i) for i in range(n)])
    P = np.empty((len(Q), l))
    for j in range(l):
        prior = (s + Y[:, j].sum()) / (2 * s + n)
        like = []
        for value in (0, 1):
            K = [np.sum((Y[:, j] == value) & (C[:, j] == r)) for r in range(k + 1)]
            like.append([(s + K[r]) / (s * (k + 1) + sum(K)) for r in range(k + 1)])
        for i, x in enumerate(Q):
            c = counts(x, None)[j]
            top = prior * like[1][c]
            P[i, j] = top / (top + (1 - prior) * like[0][c])
    return P


def test_literal_transcription(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, Q = rng.normal(size=(40, 3)), rng.normal(size=(7, 3))
    Y = rng.uniform(size=(40, 4)) < [0.1, 0.3, 0.5, 0.9]
    found = MLKNN(5, smoothing=0.7).fit(X, Y).predict_proba(Q)
    np.testing.assert_allclose(found, literal(X, Y.astype(int), Q, 5, 0.7), rtol=1e-12)


def test_by_hand():
    # Two rows with the label and one without; each has one neighbour.
    C = np.array([[1], [1], [0]], dtype=bool)
    counts = np.ones((3, 1))
    prior, likelihood = neighbor_tables(C, counts, 1, 1.0)
    assert prior.tolist() == [3 / 5]
    assert likelihood[1].tolist() == [[1 / 4, 3 / 4]]
    assert likelihood[0].tolist() == [[1 / 3, 2 / 3]]
    P = posterior(prior, likelihood, np.array([[0.0], [1.0]]))
    expected = [0.15 / (0.15 + 0.4 / 3), 0.45 / (0.45 + 0.8 / 3)]
    np.testing.assert_allclose(P.ravel(), expected, rtol=1e-15)


def test_exactly_one_half_is_predicted():
    X = np.zeros((2, 1))
    Y = np.array([[1, 0], [0, 1]])
    model = MLKNN(1).fit(X, Y)
    model.prior_[:] = 0.5
    model.likelihood_[:] = 0.5
    assert model.predict(X).all()


def test_without_smoothing_the_prior_fills_in():
    X = np.arange(6.0)[:, None]
    Y = np.array([[1, 0], [1, 0], [1, 0], [0, 0], [0, 0], [0, 0]])
    P = MLKNN(2, smoothing=0.0).fit(X, Y).predict_proba([[0.1], [2.5]])
    assert np.isfinite(P).all()
    assert P[0].tolist() == [1.0, 0.0]
    # Seen neighbour counts around x = 2.5: none of one, so 3 / 6 rows decide.
    unseen = posterior(np.array([0.25]), np.zeros((2, 1, 3)), np.array([[0], [1], [2]]))
    assert unseen.ravel().tolist() == [0.25, 0.25, 0.25]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_fewer_rows_than_neighbours(n):
    X = np.arange(float(n))[:, None]
    Y = np.tile([[1, 0]], (n, 1))
    model = MLKNN(10).fit(X, Y)
    assert model.n_neighbors_ == n - 1
    assert model.likelihood_.shape == (2, 2, n)
    assert model.predict(X).tolist() == Y.tolist()


def test_duplicates_exclude_themselves_by_index():
    X = np.zeros((4, 2))
    Y = np.array([[1, 0], [0, 1], [0, 1], [0, 1]])
    model = MLKNN(3).fit(X, Y)
    # Row 0 sees none of label 0, the others see one.
    K1 = model.likelihood_[1][0] * (4 + 1) - 1
    assert K1.round(12).tolist() == [1, 0, 0, 0]


def test_cosine_ignores_length(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.uniform(0.1, 1, size=(50, 4))
    Y = X[:, :3] > X.mean(axis=1, keepdims=True)
    long = X * rng.uniform(0.5, 50, size=(50, 1))
    a = MLKNN(5, metric="cosine").fit(X, Y).predict_proba(X)
    b = MLKNN(5, metric="cosine").fit(long, Y).predict_proba(sp.csr_matrix(X))
    np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(
    ("y", "multilabel"),
    [
        (["a", "b", "a", "b"], False),
        (np.array([0, 1, 0, 1]), False),
        (pd.Series(["a", "b", "a", "b"]), False),
        (pd.Series([{"a"}, {"b"}, {"a"}, set()]), True),
        ([{"a"}, {"b"}, {"a"}, {"a", "b"}], True),
        ((s for s in [{"a"}, {"b"}, {"a"}, {"a", "b"}]), True),
        ([["a"], ["b"], ["a"], ["a", "b"]], True),
        ([[1, 0], [0, 1], [1, 0], [0, 0]], True),
        (sp.csr_matrix([[1, 0], [0, 1], [1, 0], [0, 0]]), True),
        (pd.DataFrame([[1, 0], [0, 1], [1, 0], [0, 0]]), True),
    ],
)
def test_plain_labels_give_labels_and_sets_give_a_matrix(y, multilabel):
    X = np.array([[0.0], [1.0], [0.1], [0.9]])
    model = MLKNN(1).fit(X, y)
    assert model.multilabel_ is multilabel
    assert model.predict(X).ndim == (2 if multilabel else 1)
    P = model.predict_proba(X)
    assert P.shape == (4, 2)
    if not multilabel:
        np.testing.assert_allclose(P.sum(axis=1), 1)


def test_a_column_of_labels_is_plain():
    from sklearn.exceptions import DataConversionWarning

    X = np.array([[0.0], [1.0], [0.1], [0.9]])
    with pytest.warns(DataConversionWarning):
        model = MLKNN(1).fit(X, np.array([[0], [1], [0], [1]]))
    assert model.predict(X).tolist() == [0, 1, 0, 1]
    sets = np.array([{0}, {1}, {0}, {0, 1}])[:, None]
    with pytest.warns(DataConversionWarning):
        assert MLKNN(1).fit(X, sets).multilabel_


def test_sets_are_scored_as_matrices():
    X = np.array([[0.0], [1.0], [0.1], [0.9]])
    sets = [{"a"}, {"a", "b"}, {"a"}, set()]
    model = MLKNN(1).fit(X, sets)
    matrix = np.array([[1, 0], [1, 1], [1, 0], [0, 0]])
    assert model.score(X, sets) == model.score(X, matrix)
    predicted = [{"ab"[j] for j in np.flatnonzero(row)} for row in model.predict(X)]
    assert model.score(X, predicted) == 1
    with pytest.raises(ValueError, match="Label 'c'"):
        model.score(X, [{"c"}, *sets[1:]])


@pytest.mark.parametrize("k", [5, 255, 256])
def test_counts_are_sums_over_the_neighbours(k):
    C = np.random.default_rng(0).uniform(size=(30, 4)) < 0.4
    C[:, 0] = True  # met by all neighbours
    neighbors = np.random.default_rng(1).integers(30, size=(30, k + 1))
    distances = np.tile(np.arange(k + 1.0), (30, 1))

    def find(rows, size):
        assert rows is None
        return distances[:, :size], neighbors[:, :size]

    expected = C[neighbors[:, :k]].sum(axis=1)
    np.testing.assert_array_equal(count_labels(find, C, k, 0.1), expected)


def test_equally_near_rows_share_their_places():
    X, C = [[0.0], [1.0], [1.0], [9.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    model = MLKNN(1).fit(X, C)
    # The first row has half of a neighbour with each label, the last one too.
    counts = np.array([[0.5, 0.5], [0, 1], [1, 0], [0.5, 0.5]])
    C = np.array(C, dtype=bool)
    for j in range(2):
        for value in (0, 1):
            some = counts[C[:, j] == value, j]
            K = np.array([np.sum(1 - some), np.sum(some)])
            expected = (1 + K) / (2 + K.sum())
            np.testing.assert_allclose(model.likelihood_[value, j], expected)
    present, absent = (model.likelihood_[v].mean(axis=1) / 2 for v in (1, 0))
    found = model.predict_proba([[1.0]])  # two rows at no distance share one place
    np.testing.assert_allclose(found, [present / (present + absent)])


@pytest.mark.parametrize("copies", [1, 2])
def test_order_of_rows_of_zeros_and_ones(copies, global_random_seed):
    """Up to .72 of the labels changed with the order of such rows."""
    rng = np.random.default_rng(global_random_seed)
    X, C = (rng.random((40, 6)) < 0.5) + 0.0, rng.random((40, 3)) < 0.5
    X, C = np.tile(X, (copies, 1)), np.tile(C, (copies, 1))
    order = rng.permutation(len(X))
    one, two = MLKNN(5).fit(X, C), MLKNN(5).fit(X[order], C[order])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
