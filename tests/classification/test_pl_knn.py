"""PL-KNN: votes by hand, its variants, degenerate data, messages."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from partlearn._sizes import SIZES
from partlearn.classification import PLKNN

X = np.array([[0.0], [1.0], [3.0], [10.0]])
S = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]])


def test_distance_weights_by_hand():
    # Query 0.5: distances .5, .5, 2.5; their sum is 3.5.
    w = 1 - np.array([0.5, 0.5, 2.5]) / 3.5
    expected = np.array([w[0], w[0] + w[1], w[2]])
    model = PLKNN(3).fit(X, S)
    np.testing.assert_allclose(model._scores([[0.5]])[0], expected, rtol=1e-14)
    np.testing.assert_allclose(
        model.predict_proba([[0.5]])[0], expected / expected.sum(), rtol=1e-14
    )
    assert model.predict([[0.5]]) == [1]


@pytest.mark.parametrize(
    ("weights", "expected"), [("rank", [3, 5, 1]), ("uniform", [1, 2, 1])]
)
def test_other_weights_by_hand(weights, expected):
    model = PLKNN(3, weights=weights).fit(X, S)
    np.testing.assert_array_equal(model._scores([[0.4]])[0], expected)


def literal_scores(X, S, query, k, weights):
    """Mean over all ways to order rows that are equally far."""
    d = np.abs(X - query).sum(axis=1)
    seen = []
    for order in itertools.permutations(range(len(X))):
        nearest = list(order[:k])
        if (np.diff(d[list(order)]) < 0).any():
            continue
        far = d[nearest]
        w = {
            "rank": np.arange(k, 0, -1.0),
            "uniform": np.ones(k),
            "distance": 1 - far / (far.sum() or np.inf) if k > 1 else np.ones(1),
        }[weights]
        seen.append(w @ S[nearest])
    return np.mean(seen, axis=0)


@pytest.mark.parametrize("weights", ["distance", "rank", "uniform"])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_equally_near_rows_share_their_places(weights, k):
    rows = np.array([[0.0], [1.0], [1.0], [2.0], [0.0], [5.0]])
    sets = np.array([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]])
    for queries in ([[1.0]], [[0.5], [9.0]], [[1.5]]):
        scores = PLKNN(k, weights=weights).fit(rows, sets)._scores(queries)
        expected = [literal_scores(rows, sets, q, k, weights) for q in queries]
        np.testing.assert_allclose(scores, expected, atol=1e-12)


@pytest.mark.parametrize("weights", ["distance", "rank"])
@pytest.mark.parametrize("sparse", [False, True])
def test_own_neighbours_share_their_places(weights, sparse):
    rng = np.random.default_rng(0)
    rows = rng.integers(3, size=(40, 2)) + 0.0
    sets = np.eye(3)[rng.integers(3, size=40)].astype(bool) | (
        rng.random((40, 3)) < 0.4
    )
    wrap = sp.csr_array if sparse else np.asarray
    plain = PLKNN(5, weights=weights).fit(wrap(rows), sets).label_confidence_
    new = rng.permutation(40)
    turned = PLKNN(5, weights=weights).fit(wrap(rows[new]), sets[new])
    np.testing.assert_allclose(turned.label_confidence_, plain[new], atol=1e-12)


def test_of_too_many_the_first_share(monkeypatch):
    monkeypatch.setattr(SIZES, "tied_in_blocks", 8)
    rows, sets = np.zeros((30, 1)), np.eye(2)[np.arange(30) // 15]
    model = PLKNN(3, weights="uniform").fit(rows, sets)
    np.testing.assert_allclose(model._scores([[0.0]]), [[3, 0]])
    np.testing.assert_allclose(model.label_confidence_, sets)


@pytest.mark.parametrize(
    ("weights", "w"),
    [
        ("distance", 1 - np.array([0.5, 0.5]) / 3.5),
        ("rank", [2, 1]),
        ("uniform", [1, 1]),
    ],
)
def test_lab_variant_passes_over_the_nearest(weights, w):
    # Neighbours 1 and 2 vote with the weights of distances number 1 and 2 of three.
    model = PLKNN(2, weights=weights, variant="lab").fit(X, S)
    np.testing.assert_allclose(model._scores([[0.5]])[0], [0, w[0], w[1]], rtol=1e-14)


@pytest.mark.parametrize("variant", ["clean", "lab"])
@pytest.mark.parametrize("weights", ["distance", "rank", "uniform"])
def test_more_neighbours_than_rows(variant, weights):
    many = PLKNN(50, weights=weights, variant=variant).fit(X, S)
    clamped = PLKNN(3 if variant == "lab" else 4, weights=weights, variant=variant)
    np.testing.assert_allclose(
        many._scores([[0.2], [4.0]]), clamped.fit(X, S)._scores([[0.2], [4.0]])
    )


@pytest.mark.parametrize("variant", ["clean", "lab"])
def test_a_single_training_row(variant):
    model = PLKNN(variant=variant).fit(X[:1], [[0, 1, 1]])
    assert model.predict([[7.0]]) == [1]
    np.testing.assert_allclose(model.predict_proba([[7.0]]), [[0, 0.5, 0.5]])
    np.testing.assert_allclose(model.label_confidence_, [[0, 0.5, 0.5]])


def test_one_neighbour_counts():
    model = PLKNN(1).fit(X, S)
    np.testing.assert_array_equal(model._scores([[2.9]]), [[0, 0, 1]])


def test_duplicates_of_the_query_count_alike():
    model = PLKNN(3).fit(np.zeros((3, 2)), [{"a"}, {"b"}, {"b"}])
    np.testing.assert_allclose(model.predict_proba([[0.0, 0.0]]), [[1 / 3, 2 / 3]])


def test_equal_votes_give_the_first_label():
    assert PLKNN(4, weights="uniform").fit(X, S[[0, 1, 0, 1]]).predict([[2.0]]) == [1]
    assert PLKNN(2, weights="uniform").fit(X[:2], [{"b"}, {"a"}]).predict([[0.0]]) == [
        "a"
    ]


def test_label_confidence_by_hand():
    # Neighbours of row 0 are rows 1 and 2 at distances 1 and 3: weights .75 and .25.
    model = PLKNN(2).fit(X, S)
    F = model.label_confidence_
    np.testing.assert_allclose(F[0], [0, 1, 0])  # row 2 votes outside the set
    np.testing.assert_allclose(F[1], [0, 1, 0])
    # Row 3: neighbours 2 and 1 vote for labels 2 and 1, of which 2 is a candidate.
    np.testing.assert_allclose(F[3], [0, 0, 1])
    assert model.label_confidence_ is F


def test_refitting_forgets_old_confidences():
    model = PLKNN(2).fit(X, S)
    assert model.label_confidence_.shape == (4, 3)
    assert model.fit(X[:2], S[:2]).label_confidence_.shape == (2, 3)


def test_rows_without_votes_stay_uniform():
    model = PLKNN(1).fit([[0.0], [1.0]], [[1, 1, 0, 0], [0, 0, 1, 1]])
    np.testing.assert_allclose(
        model.label_confidence_, [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]
    )


def test_confidences_vote():
    confidence = [[0.9, 0.1, 5.0], [0, 1, 0], [0, 0, 1], [0.5, 0, 0.5]]
    model = PLKNN(1).fit(X, S, confidence=confidence)
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.9, 0.1, 0]])


@pytest.mark.parametrize(
    ("confidence", "message"),
    [
        (np.ones((4, 2)), r"shape of the candidate matrix, \(4, 3\); got \(4, 2\)"),
        (-np.ones((4, 3)), "finite and not negative"),
        (np.full((4, 3), np.nan), "finite and not negative"),
    ],
)
def test_bad_confidences(confidence, message):
    with pytest.raises(ValueError, match=message):
        PLKNN().fit(X, S, confidence=confidence)


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        ([[np.nan]], [{1}], "NaN"),
        ([[np.inf]], [{1}], "infinity"),
        ([["a"]], [{1}], "could not convert"),
        (X, [{1}, set(), {2}, {1}], "rows without any: 1"),
        (X, [{1}, {2}], "X has 4 rows, y has 2"),
        (X, None, "y to be passed"),
        (X[:, 0], [{1}] * 4, "Expected 2D array"),
    ],
)
def test_bad_input(features, labels, message):
    with pytest.raises(ValueError, match=message):
        PLKNN().fit(features, labels)


def test_bad_parameters():
    with pytest.raises(ValueError, match="'n_neighbors' parameter"):
        PLKNN(0).fit(X, S)
    with pytest.raises(ValueError, match="'weights' parameter"):
        PLKNN(weights="near").fit(X, S)
    with pytest.raises(ValueError, match="X has 2 features"):
        PLKNN().fit(X, S).predict([[1.0, 2.0]])


def test_accuracy_needs_the_truth():
    model = PLKNN().fit(X, S)
    with pytest.raises(ValueError, match="candidate_hit_rate"):
        model.score(X, S)
    with pytest.raises(ValueError, match="candidate_hit_rate"):
        model.score(X, [{0}, {1}, {2}, {0, 2}])
    with pytest.raises(ValueError, match="scoring=candidate_hit_scorer"):
        model.score(X, [[0], [1], [2], [0, 2]])
    assert model.score(X, model.predict(X)) == 1.0


def test_float32_stays(blobs):
    features, candidates, _ = blobs
    model = PLKNN().fit(features.astype(np.float32), candidates)
    assert model.predict_proba(features.astype(np.float32)).dtype == np.float32
    assert model.label_confidence_.dtype == np.float32
