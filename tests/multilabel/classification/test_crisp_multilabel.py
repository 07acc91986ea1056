"""CRISPMultiLabelClassifier beside its formulas, written out slowly."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.datasets import make_multilabel_classification

from partlearn._math.blocks import Rows
from partlearn._sizes import SIZES
from partlearn.candidates import Tags, check_tags, from_votes, from_weights
from partlearn.multilabel import CRISPMultiLabelClassifier, add_noise_labels
from partlearn.persistence import load_model, save_model

RIDGES = (1e-3, 3e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
WIDTHS = (0.25, 0.5, 1.0, 2.0)


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(
        90, n_features=8, n_classes=5, n_labels=2, random_state=0
    )
    return X, Y.astype(bool), add_noise_labels(Y, 1, random_state=0)


def kernel(name, A, B, width):
    """Kernel between rows, as it is defined."""
    if name == "linear":
        return A @ B.T
    if name == "rbf":
        return np.exp(-(cdist(A, B) ** 2) / (2 * width**2))
    return np.exp(-cdist(A, B, "cityblock") / width)


def ridge_lambda(K, ridge):
    """Ridge in units of the mean squared singular value of the centred rows."""
    m = len(K)
    H = np.eye(m) - 1 / m
    squares = np.linalg.eigvalsh(H @ K @ H)
    return ridge * squares.sum() / np.count_nonzero(squares > 1e-10 * squares.max())


def predicted(K, k, S, lam):
    """Kernel ridge regression with a free intercept: a bordered system."""
    m = len(K)
    system = np.zeros((m + 1, m + 1))
    system[:m, :m], system[:m, m], system[m, :m] = K + lam * np.eye(m), 1, 1
    solution = np.linalg.solve(system, np.vstack([S, np.zeros(S.shape[1])]))
    return k @ solution[:m] + solution[m]


def held_out(K, S, lam):
    """Refit without each row, one after the other."""
    G = np.empty(S.shape)
    for i in range(len(K)):
        others = np.delete(np.arange(len(K)), i)
        inner = K[np.ix_(others, others)]
        G[i] = predicted(inner, K[i, others], S[others], lam)
    return G


def transcription(X, S, new, names, rank):
    """The method, step by step."""
    S = S.astype(float)
    mean, std = X.mean(axis=0), X.std(axis=0, ddof=1)
    Z, N = (X - mean) / std, (new - mean) / std
    mu = S.mean(axis=0)
    fits, news = [], []
    for name in names:
        metric = "cityblock" if name == "laplacian" else "euclidean"
        D = cdist(Z, Z, metric)
        median = np.median(D[np.triu_indices(len(Z), 1)])
        best = None
        for factor in (1.0,) if name == "linear" else WIDTHS:
            K = kernel(name, Z, Z, factor * median)
            for ridge in RIDGES:
                G = held_out(K, S, ridge_lambda(K, ridge))
                error = np.sum((S - G) ** 2)
                if best is None or error < best[0]:
                    best = error, G, ridge, factor * median
        _, G, ridge, width = best
        K = kernel(name, Z, Z, width)
        fits.append(G)
        k = kernel(name, N, Z, width)
        news.append(predicted(K, k, S, ridge_lambda(K, ridge)))
    errors = np.array([np.sum((S - G) ** 2, axis=0) for G in fits])
    weights = errors**-4.0
    weights /= weights.sum(axis=0)
    G = np.einsum("gj,gij->ij", weights, fits)
    P = np.einsum("gj,gij->ij", weights, news)
    _, s, Vt = np.linalg.svd(G - mu, full_matrices=False)
    held = np.cumsum(s**2) / np.sum(s**2)
    V = Vt[: np.flatnonzero(held >= rank)[0] + 1].T
    return (G - mu) @ V @ V.T + mu, (P - mu) @ V @ V.T + mu


@pytest.mark.parametrize("names", [("linear",), ("rbf",), ("linear", "laplacian")])
def test_transcription(data, names):
    X, _, S = data
    X, S, new = X[:36], S[:36], X[36:60]
    model = CRISPMultiLabelClassifier(names, rank=0.9).fit(X, S)
    G, P = transcription(X, S, new, names, 0.9)
    np.testing.assert_allclose(model.held_out_scores_, G, atol=1e-7)
    np.testing.assert_allclose(model.tag_scores(new), P, atol=1e-7)
    np.testing.assert_allclose(model.decision_function(new), P - 0.5, atol=1e-7)
    expected = np.where(S, np.clip(G, 0, 1), 0)
    np.testing.assert_allclose(model.label_confidence_, expected, atol=1e-7)


def test_three_rows_by_hand():
    """Rows -1, 0, 1 and the tag 0, 0, 1.

    Standardised, the rows are -1, 0, 1 with the squared sum 2, which is also the mean
    squared singular value: lambda = 2 ridge and the slope 1 / (2 + 2 ridge). Leverages
    are 1/3 + 1/(2 + 2 ridge), 1/3 and the first again; the fit is 1/3 + slope x.
    """
    X, S = np.array([[-1.0], [0.0], [1.0]]), Tags([[0], [0], [1]], ["tag"])
    model = CRISPMultiLabelClassifier(("linear",), rank=None).fit(X, S)
    slope = 1 / (2 + 2 * model.ridge_["linear"])
    h = np.array([1 / 3 + slope, 1 / 3, 1 / 3 + slope])
    fit = 1 / 3 + slope * X.ravel()
    y = np.asarray(S).ravel()
    expected = y - (y - fit) / (1 - h)
    np.testing.assert_allclose(model.held_out_scores_.ravel(), expected, atol=1e-12)
    np.testing.assert_allclose(model.tag_scores([[2.0]]), [[1 / 3 + 2 * slope]])


def test_probabilities_by_hand(data):
    X, _, S = data
    model = CRISPMultiLabelClassifier(false_rate=0.2).fit(X, S)
    plain = CRISPMultiLabelClassifier().fit(X, S)
    assert not hasattr(plain, "predict_proba")
    G = plain.tag_scores(X)
    P = np.clip((G - 0.2) / 0.8, 0, 1)
    np.testing.assert_allclose(model.predict_proba(X), P)
    np.testing.assert_array_equal(model.predict(X), P > 0.5)
    Q = np.clip((plain.held_out_scores_ - 0.2) / 0.8, 0, 1)
    expected = np.where(S, Q / (Q + (1 - Q) * 0.2), 0)
    np.testing.assert_allclose(model.label_confidence_, expected)
    each = CRISPMultiLabelClassifier(false_rate=[0.2] * 5).fit(X, S)
    np.testing.assert_allclose(each.predict_proba(X), P)
    none = CRISPMultiLabelClassifier(false_rate=0.0).fit(X, S)
    np.testing.assert_array_equal(none.label_confidence_ > 0, S)


def test_false_tags_are_believed_less():
    X = np.random.default_rng(0).normal(size=(200, 6))
    Y = X[:, :4] > 0.3
    S = add_noise_labels(Y, 1, random_state=0)
    F = CRISPMultiLabelClassifier().fit(X, S).label_confidence_
    assert F[S & Y].mean() > F[S & ~Y].mean() + 0.2


def test_count_predicts_as_many_as_are_listed(data):
    X, _, S = data
    model = CRISPMultiLabelClassifier(threshold="count").fit(X, S)
    assert model.n_labels_ == round(S.sum() / len(S))
    assert (model.predict(X).sum(axis=1) == model.n_labels_).all()
    fewer = CRISPMultiLabelClassifier(threshold="count", false_rate=0.3).fit(X, S)
    expected = max(round(fewer.label_confidence_.sum() / len(S)), 1)
    assert (fewer.predict(X).sum(axis=1) == expected).all()
    every = CRISPMultiLabelClassifier(threshold="count").fit(X, np.ones_like(S))
    assert every.predict(X).all()


def test_rank_drops_directions(data):
    X, _, S = data
    double = np.hstack([S, S])  # five directions
    model = CRISPMultiLabelClassifier().fit(X, double)
    assert model.n_directions_ <= 5
    assert CRISPMultiLabelClassifier(rank=None).fit(X, double).n_directions_ == 10
    wide = np.repeat(S[:12], 4, axis=1)  # more tags than rows
    assert CRISPMultiLabelClassifier().fit(X[:12], wide).n_directions_ <= 5


def test_weights_and_votes(data):
    X, _, S = data
    weights = Tags(S * 0.5, np.arange(5))
    half = CRISPMultiLabelClassifier().fit(X, weights)
    full = CRISPMultiLabelClassifier().fit(X, S)
    np.testing.assert_allclose(half.tag_scores(X), full.tag_scores(X) / 2, atol=1e-10)
    votes = from_votes([0, 0, 1, 1], ["a", "b", "a", "a"], ["x", "y", "x", "y"])
    np.testing.assert_allclose(check_tags(votes).weights, [[0.5, 0.5], [1, 1]])
    evidence = from_weights([[1, 0.5], [0, 1]], classes=["x", "y"])
    np.testing.assert_allclose(check_tags(evidence).weights, [[1, 0.5], [0, 1]])


@pytest.mark.parametrize("n_landmarks", ["auto", 40])
def test_blocks(data, n_landmarks):
    X, _, S = data
    rows = Rows([lambda: X[:50], lambda: X[50:]], [50, 40], 8)
    options = {"n_landmarks": n_landmarks, "random_state": 0}
    model = CRISPMultiLabelClassifier(**options).fit(rows, S)
    memory = CRISPMultiLabelClassifier(**options).fit(X, S)
    np.testing.assert_allclose(model.tag_scores(X), memory.tag_scores(X), atol=1e-6)
    many = Rows([lambda: X] * 40, [90] * 40, 8)
    S = np.tile(S, (40, 1))
    with pytest.raises(ValueError, match="n_landmarks"):
        CRISPMultiLabelClassifier(n_landmarks=None).fit(many, S)


def test_landmarks_are_near_the_exact_kernels(data):
    X, _, S = data
    exact = CRISPMultiLabelClassifier().fit(X, S).tag_scores(X)
    few = CRISPMultiLabelClassifier(n_landmarks=60, random_state=0).fit(X, S)
    assert np.corrcoef(exact.ravel(), few.tag_scores(X).ravel())[0, 1] > 0.97


def test_many_rows_use_landmarks_by_blocks(monkeypatch):
    import partlearn._math.crossfit._geometries as module

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 4))
    S = X[:, :3] > 0.5
    options = {"n_landmarks": 30, "random_state": 0}
    whole = CRISPMultiLabelClassifier(**options).fit(X, S)
    monkeypatch.setattr(SIZES, "exact_rows", 1000)
    blocks = CRISPMultiLabelClassifier(**options).fit(X, S)
    np.testing.assert_allclose(blocks.tag_scores(X), whole.tag_scores(X), atol=1e-6)
    exact = CRISPMultiLabelClassifier(("rbf",), random_state=0).fit(X, S)
    assert (exact.predict(X) == S).mean() > 0.97
    monkeypatch.setattr(module, "too_large", lambda needed, limit: "what there is")
    for n_landmarks, advice in ((None, "Set n_landmarks"), (30, "Fit fewer rows")):
        small = CRISPMultiLabelClassifier(n_landmarks=n_landmarks)
        with pytest.raises(MemoryError, match=advice):
            small.fit(X, S)
    assert exact.memory_estimate(10**5, 10, 5) > exact.memory_estimate(1000, 10, 5)
    assert exact.memory_estimate(10**4, 10, 5) > exact.memory_estimate(1000, 10, 5)


def test_wide_sparse_rows(data):
    _, _, S = data
    X = sp.random(90, 2500, density=0.05, random_state=0, format="csr")
    model = CRISPMultiLabelClassifier(random_state=0).fit(X, S)
    assert model.tag_scores(X).shape == S.shape


def test_model_file(data, tmp_path):
    X, _, S = data
    model = CRISPMultiLabelClassifier(false_rate=0.1).fit(X, S)
    path = tmp_path / "tags.partlearn"
    save_model(model, path)
    loaded = load_model(path).estimator
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_rows_far_away_are_refused(data):
    X, _, S = data
    model = CRISPMultiLabelClassifier().fit(X, S)
    with pytest.raises(ValueError, match="overflow"):
        model.predict(X * 1e200)


@pytest.mark.parametrize("rate", [[0.1, 0.2], [1.0] * 5])
def test_false_rate_of_each_tag(data, rate):
    X, _, S = data
    with pytest.raises(ValueError, match="one such number for each of the 5 tags"):
        CRISPMultiLabelClassifier(false_rate=rate).fit(X, S)


def test_tags_are_refused_in_plain_words():
    with pytest.raises(ValueError, match=r"row 1 has 1\.5 for 'b'"):
        Tags([[0, 1], [0, 1.5]], ["a", "b"])
    with pytest.raises(ValueError, match="one column per tag"):
        Tags([[0, 1]], ["a"])
    tags = check_tags([{"a"}, {"b", "c"}, set()])
    assert tags.sets() == [["a"], ["b", "c"], []]
    assert list(tags) == tags.sets()
    assert tags.counts() == {"a": 1, "b": 1, "c": 1}
    wider = check_tags(tags, classes=["c", "b", "a", "d"])
    assert wider.sets() == [["a"], ["c", "b"], []]
    np.testing.assert_array_equal(np.asarray(wider), wider.weights)
    with pytest.raises(ValueError, match="'a' is not one of"):
        check_tags(tags, classes=["b", "c"])
    assert len(tags[1:]) == 2


@pytest.mark.shared
def test_published_figure(shared_dir):
    from benchmarks.tags import OURS, evaluate, load

    data = load(shared_dir / "data" / "pml", "flags")
    precision, _, _ = evaluate(OURS["rank .99"], *data)
    assert precision > 0.790 - 0.01
