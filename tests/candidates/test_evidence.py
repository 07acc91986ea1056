"""Evidence objects: scaling, slicing, joining, showing, and the gate."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

from partlearn.candidates import (
    CandidateBinarizer,
    Evidence,
    check_candidates,
    check_evidence,
    concatenate,
    estimate_miss_rate,
    from_annotators,
    from_votes,
    from_weights,
    uniform_confidence,
)
from partlearn.classification import PLKNN
from partlearn.metrics import candidate_hit_scorer

weights = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(2, 5)),
    elements=st.one_of(st.just(0.0), st.floats(1e-6, 1e6)),
)


@given(weights, st.floats(1e-3, 1e3))
def test_only_ratios_within_a_row_count(W, factor):
    W[:, 0] += 1e-3  # no row of zeros
    one = from_weights(W)
    two = from_weights(W * factor)
    np.testing.assert_allclose(one.confidence(), two.confidence(), rtol=1e-12)
    F = one.confidence()
    np.testing.assert_allclose(F.sum(axis=1), 1, rtol=1e-12)
    assert not F[W == 0].any()
    np.testing.assert_array_equal(one.candidates, W > 0)


@given(arrays(bool, (6, 4)), arrays(np.float64, 6, elements=st.floats(1e-9, 1e9)))
def test_equal_weights_are_the_candidate_matrix(S, scale):
    S[:, 1] = True
    labels = from_weights(S * scale[:, None])
    assert not labels.weighted
    assert labels.weights.dtype == bool
    np.testing.assert_array_equal(labels.weights, S)
    np.testing.assert_array_equal(labels.confidence(), uniform_confidence(S))
    assert labels == check_evidence(S)


@given(st.lists(st.integers(0, 5), max_size=9))
def test_rows_are_taken_as_of_an_array(places):
    W = np.arange(1.0, 19.0).reshape(6, 3)
    part = from_weights(W)[places]
    np.testing.assert_array_equal(part.weights, from_weights(W).weights[places])
    np.testing.assert_array_equal(part.rows, np.asarray(places, dtype=int))
    assert len(part) == part.shape[0] == len(places)


def test_indexing_by_mask_slice_and_number():
    labels = from_weights([[1, 2], [3, 4], [5, 6]])
    mask = np.array([True, False, True])
    assert labels[mask] == labels[::2] == labels[[0, 2]] == labels[np.array([0, 2]), :]
    assert labels[1].shape == (1, 2)
    with pytest.raises(IndexError, match="by rows only"):
        labels[:, 1]


def test_joining():
    labels = from_weights([[1, 2], [3, 4], [5, 0]])
    assert concatenate([labels[:1], labels[1:]]) == labels
    with pytest.raises(ValueError, match=r"different classes: \[0, 1, 'a', 'b'\]"):
        concatenate([labels, labels.with_classes(["a", "b"])])
    with pytest.raises(ValueError, match="another order"):
        concatenate([labels, labels.with_classes([1, 0])])
    with pytest.raises(TypeError, match="Part 1 is Votes"):
        concatenate([labels, from_votes([0], [0], [1], classes=[0, 1])])
    with pytest.raises(TypeError, match="one or more"):
        concatenate([])
    with pytest.raises(TypeError, match="one or more"):
        concatenate([[1, 2]])


def test_equality_and_kinds():
    labels = from_weights([[1, 2]])
    assert labels != from_weights([[2, 1]])
    assert labels != from_weights([[1, 2]], classes=["a", "b"])
    assert labels != "labels"
    assert pickle.loads(pickle.dumps(labels)) == labels


def test_shown():
    labels = from_weights([[1.0, 3.0], [0.0, 2.0]] * 4, classes=["<a>", "b"])
    assert repr(labels) == (
        "Evidence(8 rows, 2 classes, 1.5 candidates a row, weighted)"
    )
    html = labels._repr_html_()
    assert "&lt;a&gt; 0.25" in html
    assert "b 0.75, &lt;a&gt; 0.25" in html
    assert "2 more rows" in html
    assert "equal weights" in repr(check_evidence([{"a", "b"}]))
    assert "<td>a, b</td>" in check_evidence([{"a", "b"}])._repr_html_()
    assert repr(labels[:0]).startswith("Evidence(0 rows")


def test_counts_and_frame_round_trip():
    labels = from_weights([[1.0, 3.0], [0.0, 2.0]], classes=["a", "b"])
    assert labels.counts() == {"a": 1, "b": 2}
    assert from_weights(labels.to_frame()) == labels
    votes = from_annotators({"ann": ["a", None], "bob": ["b", "b"]})
    frame = votes.to_frame()
    again = from_votes(frame["row"], frame["annotator"], frame["label"])
    assert again == votes


def test_the_gate_gives_candidates():
    labels = from_weights([[1.0, 3.0], [0.0, 2.0]], classes=["a", "b"])
    classes, S = check_candidates(labels)
    assert classes.tolist() == ["a", "b"]
    np.testing.assert_array_equal(S, [[True, True], [False, True]])
    S[:] = False  # the caller's own copy
    assert labels.candidates.any()
    _, S = check_candidates(labels, classes=["b", "c", "a"])
    np.testing.assert_array_equal(S.astype(int), [[1, 0, 1], [1, 0, 0]])
    with pytest.raises(ValueError, match=r"Label 'a' \(row 0\) is not one of"):
        check_candidates(labels, classes=["b", "c"])
    assert CandidateBinarizer().fit_transform(labels).shape == (2, 2)
    assert check_evidence(labels) is labels


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[0.5, 0.5], [1.0, -2.0]], "row 1 has -2.0 for label 'b'"),
        ([[0.5, np.nan], [1.0, 2.0]], "row 0 has nan for label 'b'"),
        ([[0.5, np.inf], [1.0, 2.0]], "row 0 has inf for label 'b'"),
    ],
)
def test_bad_weights_name_row_and_label(weights, message):
    with pytest.raises(ValueError, match=message):
        from_weights(weights, classes=["a", "b"])


def test_rows_of_zeros_are_a_choice():
    W = [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]
    with pytest.raises(ValueError, match="Rows without weights: 0, 2"):
        from_weights(W)
    assert from_weights(W, empty="drop").rows.tolist() == [1]
    np.testing.assert_array_equal(
        from_weights(W, empty="all").weights, [[1, 1], [0.5, 1], [1, 1]]
    )
    with pytest.raises(ValueError, match="`empty` must be"):
        from_weights(W, empty="ignore")
    with pytest.raises(ValueError, match="rows without any: 0, 2"):
        Evidence(W, [0, 1])
    with pytest.raises(ValueError, match="rows without any: 0"):
        Evidence(np.zeros((1, 2), bool), [0, 1])
    with pytest.raises(ValueError, match="one column per class"):
        Evidence([[1.0, 2.0]], [0, 1, 2])


def test_forms_of_weights():
    plain = from_weights([[1.0, 3.0], [0.0, 2.0]], classes=["a", "b"])
    assert from_weights(sp.csr_array([[1.0, 3], [0, 2]]), classes=["a", "b"]) == plain
    assert from_weights([{"a": 1, "b": 3}, {"b": 2}]) == plain
    with pytest.raises(ValueError, match="row 1 is list"):
        from_weights([{"a": 1, "b": 3}, [1, 2]])
    with pytest.raises(ValueError, match="at least two"):
        from_weights([1.0, 2.0])
    with pytest.raises(ValueError, match="Weights are numbers"):
        from_weights([["x", "y"]])


def test_columns_of_a_frame_are_found_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"dog": [1.0, 0.0], "cat": [3.0, 1.0]})
    assert from_weights(frame).classes.tolist() == ["dog", "cat"]
    labels = from_weights(frame, classes=["cat", "dog"])
    np.testing.assert_allclose(labels.weights, [[1, 1 / 3], [1, 0]])
    with pytest.raises(ValueError, match=r"class 'cats'. Did you mean 'cat'\?"):
        from_weights(frame, classes=["cats", "dog"])


def test_prior():
    labels = check_evidence([{"a", "b"}, {"b"}])
    np.testing.assert_allclose(labels.with_prior([1, 3]).confidence()[0], [0.25, 0.75])
    with pytest.raises(ValueError, match="2 positive numbers"):
        labels.with_prior([1, 0])
    with pytest.raises(ValueError, match="2 classes; got 3 names"):
        labels.with_classes(["a", "b", "c"])


@given(arrays(bool, (5, 4)), st.floats(0.01, 0.9))
def test_miss_rate_shares(S, rate):
    S[:, 2] = True
    F = check_evidence(S).with_miss_rate(rate).confidence()
    n = S.sum(axis=1)
    for i in range(5):
        for j in range(4):
            # A full set cannot miss the truth.
            inside = (1 - rate) / n[i] if n[i] < 4 else 1 / 4
            expected = inside if S[i, j] else rate / (4 - n[i])
            assert F[i, j] == pytest.approx(expected)


def test_miss_rate_of_zero_and_wrong_ones():
    labels = check_evidence([{"a", "b"}, {"b"}])
    assert labels.with_miss_rate(0.0) is labels
    for rate in (-0.1, 1.0):
        with pytest.raises(ValueError, match="at least 0 and below 1"):
            labels.with_miss_rate(rate)


def test_miss_rate_from_an_audit():
    sets = [{"a", "b"}, {"b"}, {"a", "c"}, {"c"}, {"a"}]
    found = estimate_miss_rate(sets, ["a", "c", None, "new", "a"])
    assert (found.rate, found.n_rows) == (0.5, 4)
    # Wilson's interval of 2 in 4, from its closed form.
    assert found.low == pytest.approx(0.15003898915214947)
    assert found.high == pytest.approx(0.8499610108478506)
    assert estimate_miss_rate(sets, np.array(["a", "b", "a", "c", "a"])).rate == 0
    with pytest.raises(ValueError, match="No row has a known true label"):
        estimate_miss_rate(sets, [None] * 5)
    with pytest.raises(ValueError, match="must hold 5 values, one per row; got 2"):
        estimate_miss_rate(sets, ["a", "b"])


def splittable():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 3)) + 4 * np.eye(3)[y]
    weights = from_weights(rng.uniform(size=(60, 3)) + 3 * np.eye(3)[y])
    votes = from_votes(
        np.repeat(np.arange(60), 2), np.tile([0, 1], 60), np.repeat(y, 2)
    )
    return X, weights, votes


@pytest.mark.parametrize("kind", [1, 2])
def test_tools_of_scikit_learn_split_evidence(kind):
    X, labels = (splittable()[k] for k in (0, kind))
    _, _, first, second = train_test_split(X, labels, test_size=0.25, random_state=0)
    assert type(first) is type(labels)
    assert len(first) == 45
    assert concatenate([first, second]) == labels[np.r_[first.rows, second.rows]]
    sets = labels.candidates if kind == 2 else labels.with_prior([1, 1, 1]).candidates
    grid = GridSearchCV(
        PLKNN(), {"n_neighbors": [3, 5]}, scoring=candidate_hit_scorer, cv=3
    )
    grid.fit(X, check_evidence(sets))
    scores = cross_val_score(
        PLKNN(), X, check_evidence(sets), scoring=candidate_hit_scorer
    )
    assert np.isfinite(grid.best_score_)
    assert np.isfinite(scores).all()
