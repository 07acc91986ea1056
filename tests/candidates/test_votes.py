"""Votes: readers, slicing, and the shrunk Dawid-Skene against its formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partlearn.candidates import (
    aggregate_votes,
    check_candidates,
    concatenate,
    from_annotators,
    from_votes,
    summarize_votes,
)
from partlearn.candidates._dawid_skene import JUDGED

vote_lists = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2)),
    min_size=1,
    max_size=40,
)


def make(votes):
    rows, who, labels = zip(*votes, strict=True)
    return from_votes(rows, who, labels, n_rows=6, classes=[0, 1, 2], empty="all")


def literal_confusions(votes, F, q, names):
    """The specification, sum by sum."""
    C = {a: np.zeros((q, q)) for a in names}
    for i, a, label in votes:
        for j in range(q):
            C[a][j, label] += F[i, j]
    G = sum(C.values())
    acc = np.trace(G) / G.sum()

    def coin(accuracy):
        base = np.full((q, q), (1 - accuracy) / (q - 1))
        np.fill_diagonal(base, accuracy)
        return base

    G_hat = (G + 10 * coin(acc)) / (G.sum(axis=1, keepdims=True) + 10)
    pi, accuracy = {}, {}
    for a in names:
        n = sum(b == a for _, b, _ in votes)
        accuracy[a] = (np.trace(C[a]) + 5 * acc) / (n + 5)
        prior = 0.5 * G_hat + 0.5 * coin(accuracy[a])
        pi[a] = (C[a] + 5 * prior) / (C[a].sum(axis=1, keepdims=True) + 5)
    return pi, accuracy


def literal_evidence(votes, F, q, names):
    pi, _ = literal_confusions(votes, F, q, names)
    return literal_evidence_of(votes, pi, F.shape)


def literal_evidence_of(votes, pi, shape):
    L = np.ones(shape)
    for i, a, label in votes:
        L[i] *= np.maximum(pi[a][:, label], 1e-12)
    return L / L.max(axis=1, keepdims=True)


def test_annotators_are_judged_vote_by_vote(global_random_seed):
    rng = np.random.RandomState(global_random_seed)
    row, who, label = rng.randint([[12], [4], [3]], size=(3, 60))
    votes = from_votes(row, who, label, n_rows=12, classes=range(3), empty="all")
    names, M = votes.annotators.tolist(), rng.dirichlet(np.ones(3), size=12)
    raw = list(zip(row, who, label, strict=True))
    pi, _ = literal_confusions(raw, votes.confidence(), 3, names)
    apart = [(v, a, j) for v, (_, a, j) in enumerate(raw)]  # a row for each vote
    for _ in range(JUDGED):
        W = np.array([M[i] * np.maximum(pi[a][:, j], 1e-12) for i, a, j in raw])
        W /= W.sum(axis=1, keepdims=True)
        pi, _ = literal_confusions(apart, W, 3, names)
    found = votes.table.judged(votes.confidence(), M)
    for k, a in enumerate(names):
        np.testing.assert_allclose(found.of(k), pi[a], atol=1e-10)
    L = literal_evidence_of(raw, pi, M.shape)
    np.testing.assert_allclose(votes.updated(M), L, rtol=1e-7, atol=1e-12)


def test_shared_errors_do_not_confirm_each_other(global_random_seed):
    """Two thirds of a row's annotators copy one wrong label; features know better."""
    rng = np.random.RandomState(global_random_seed)
    truth = rng.randint(3, size=300)
    seen = np.where(rng.rand(300) < 0.3, (truth + 1) % 3, truth)
    rows, who = np.repeat(np.arange(300), 3), np.tile(np.arange(3), 300)
    votes = from_votes(rows, who, np.where(who < 2, seen[rows], truth[rows]))
    M = np.full((300, 3), 0.05)
    M[
        np.arange(300), np.where(rng.rand(300) < 0.1, rng.randint(3, size=300), truth)
    ] = 0.9
    by_confidence = votes.table.confusions(votes.confidence()).accuracy
    by_features = votes.table.judged(votes.confidence(), M).accuracy
    assert by_confidence[0] > 0.9
    assert by_features[0] < by_features[2] < 1
    assert abs(by_features[0] - 0.7) < 0.1
    L = votes.updated(M) * M
    assert (L.argmax(axis=1) == truth).mean() > (
        votes.confidence().argmax(axis=1) == truth
    ).mean()


@settings(deadline=None)
@given(vote_lists)
def test_evidence_is_the_specification(raw):
    votes = make(raw)
    names = votes.annotators.tolist()
    F = votes.table.shares()
    for _ in range(3):
        L = literal_evidence(raw, F, 3, names)
        found = votes.table.evidence(votes.table.confusions(F))
        np.testing.assert_allclose(found, L, rtol=1e-8, atol=1e-12)
        pi, accuracy = literal_confusions(raw, F, 3, names)
        summary = summarize_votes(votes, F)
        for k, a in enumerate(names):
            np.testing.assert_allclose(summary.confusion(a), pi[a], atol=1e-12)
            assert summary.annotators.accuracy[k] == pytest.approx(accuracy[a])
        F = L * F.mean(axis=0)
        F /= F.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        aggregate_votes(votes, max_iter=3).confidence, F, rtol=1e-6, atol=1e-12
    )


@settings(deadline=None)
@given(vote_lists, st.lists(st.integers(0, 5), max_size=8))
def test_rows_of_votes(raw, places):
    votes = make(raw)
    part = votes[places]
    np.testing.assert_array_equal(part.table.counts, votes.table.counts[places])
    np.testing.assert_array_equal(part.candidates, votes.candidates[places])
    assert part.annotators.tolist() == votes.annotators.tolist()
    assert concatenate([votes[:2], votes[2:]]) == votes


@settings(deadline=None)
@given(vote_lists)
def test_beliefs_are_distributions(raw):
    votes = make(raw)
    F = votes.confidence()
    assert np.isfinite(F).all()
    np.testing.assert_allclose(F.sum(axis=1), 1)
    first = votes.first_confidence(np.float32)
    assert first.dtype == np.float32
    assert not first[~votes.candidates].any()
    np.testing.assert_allclose(first.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(votes.weights.max(axis=1), 1)


def test_a_bad_annotator_is_found_out():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 300)
    table = {f"good{k}": np.where(rng.random(300) < 0.8, truth, 0) for k in range(3)}
    table |= {f"bad{k}": rng.integers(0, 4, 300) for k in range(3)}
    votes = from_annotators(table)
    summary = aggregate_votes(votes)
    majority = aggregate_votes(votes, max_iter=0)
    assert np.mean(summary.label == truth) > np.mean(majority.label == truth) + 0.05
    names = summary.annotators.name.tolist()
    accuracy = dict(zip(names, summary.annotators.accuracy, strict=True))
    assert min(accuracy[f"good{k}"] for k in range(3)) > 0.7
    assert max(accuracy[f"bad{k}"] for k in range(3)) < 0.5
    assert summary.annotators["n_votes"].tolist() == [300] * 6
    # Good annotators err by answering 0.
    assert summary.confusion("good1")[3, 0] > summary.confusion("good1")[3, 1]
    alone = summary.disagreement
    assert ((alone >= 0) & (alone < 1)).all()


def test_unanimous_votes_and_silent_rows():
    votes = from_votes([0, 0, 1], ["a", "b", "a"], [7, 7, 8], n_rows=3, empty="all")
    summary = aggregate_votes(votes)
    assert summary.label[:2].tolist() == [7, 8]
    assert np.isfinite(summary.confidence).all()
    assert summary.disagreement[2] == 0
    assert votes.candidates[2].all()
    assert "no vote" in votes._repr_html_()
    assert "7 2" in votes._repr_html_()
    nothing = from_votes([], [], [], n_rows=2, classes=["a", "b"], empty="all")
    np.testing.assert_allclose(aggregate_votes(nothing).confidence, 0.5)


def test_gate_takes_the_labels_voted_for():
    votes = from_votes([0, 0, 1], ["a", "b", "a"], ["x", "y", "y"])
    classes, S = check_candidates(votes)
    assert classes.tolist() == ["x", "y"]
    np.testing.assert_array_equal(S, [[True, True], [False, True]])
    assert votes.weighted
    assert votes.with_miss_rate(0) is votes
    with pytest.raises(ValueError, match="leave it at 0"):
        votes.with_miss_rate(0.1)
    with pytest.raises(ValueError, match="do not pass a prior"):
        votes.with_prior([1, 1])


def test_same_votes_from_both_tables():
    wide = from_annotators({"ann": ["cat", None, ""], "bob": ["dog", "cat", "cat"]})
    long = from_votes([1, 0, 2, 0], ["bob", "ann", "bob", "bob"], ["cat"] * 3 + ["dog"])
    assert wide == long
    assert wide != long[[1, 0, 2]]
    array = from_annotators([["cat", "dog"], [None, "cat"], [float("nan"), "cat"]])
    assert array.annotators.tolist() == [0, 1]
    np.testing.assert_array_equal(array.table.counts, wide.table.counts)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames_of_annotators(package):
    frames = pytest.importorskip(package)
    frame = frames.DataFrame({"id": [5, 6], "ann": ["a", None], "bob": ["b", "b"]})
    votes = from_annotators(frame, annotators=["ann", "bob"])
    assert votes.table.counts.tolist() == [[1, 1], [0, 1]]
    long = frames.DataFrame({"row": [0, 1], "who": ["x", "y"], "label": ["a", "b"]})
    assert len(from_votes(long["row"], long["who"], long["label"])) == 2


def test_rows_with_names():
    votes = from_votes(
        ["r9", "r7"], [0, 0], ["a", "b"], index=["r7", "r8", "r9"], empty="drop"
    )
    assert votes.rows.tolist() == [0, 2]
    assert votes.table.counts.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(ValueError, match=r"Row 'r6' \(vote 0\) is not in `index`"):
        from_votes(["r6"], [0], ["a"], index=["r7"])
    with pytest.raises(ValueError, match="names a row twice"):
        from_votes(["r7"], [0], ["a"], index=["r7", "r7"])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 2], [0, 0], ["a", "b"]), {}, "Rows without votes: 1"),
        (([0], [0, 1], ["a"]), {}, "1, 2 and 1 entries"),
        (([0], [None], ["a"]), {}, "Entries 0 of the votes have no annotator"),
        (([None], [0], ["a"]), {}, "Entries 0 of the votes have no row"),
        (([-1], [0], ["a"]), {}, "Vote 0 is for row -1"),
        ((["x"], [0], ["a"]), {}, "Pass `index`"),
        (([0.5], [0], ["a"]), {}, "not a row number"),
        (([3], [0], ["a"]), {"n_rows": 2}, "Vote 0 is for row 3, but there are 2"),
        (
            ([0], ["ann"], ["rok"]),
            {"classes": ["pop", "rock"]},
            r"Label 'rok' of annotator 'ann' \(row 0\) is not known. Did you mean 'roc",
        ),
        (([0], [0], ["z"]), {"classes": ["pop", "pop"]}, "must be distinct"),
        (([0, 0], ["ann", 1], ["a", "b"]), {}, r"Annotator 'ann' \(vote 0\) is text"),
        (([0, 0], [0, 1], ["a", 2]), {}, r"Label 'a' of annotator 0 \(row 0\) is text"),
        (([0], [0], [None]), {}, "no votes, so the classes are unknown"),
        (([[0]], [0], ["a"]), {}, "not a row number"),
        ((np.zeros((1, 1)), [0], ["a"]), {}, "one column; got shape"),
    ],
)
def test_wrong_votes_say_where(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        from_votes(*arguments, **options)


def test_wrong_tables_say_where():
    with pytest.raises(TypeError, match="must be a column, one entry per row; got int"):
        from_votes(3, [0], ["a"])
    with pytest.raises(ValueError, match=r"no column 'anm'. Did you mean 'ann'\?"):
        from_annotators({"ann": ["a"], "bob": ["a"]}, annotators=["anm"])
    with pytest.raises(ValueError, match="'bob' has 2 rows, 'ann' has 1"):
        from_annotators({"ann": ["a"], "bob": ["a", "b"]})
    with pytest.raises(ValueError, match="There are no columns of annotators"):
        from_annotators({})
    with pytest.raises(ValueError, match="1 dimensions"):
        from_annotators(["a", "b"])
    with pytest.raises(ValueError, match="Rows without votes: 0"):
        from_annotators({"ann": [None, "a"]})
    with pytest.raises(ValueError, match=r"annotator 'ann' \(row 1\)"):
        from_annotators({"ann": ["a", "c"]}, classes=["a", "b"])
    with pytest.raises(TypeError, match="from_votes or from_annotators; got list"):
        aggregate_votes([[0, 0, 1]])
    votes = from_annotators({"ann": ["a", "b"]})
    with pytest.raises(ValueError, match="must not be negative"):
        aggregate_votes(votes, max_iter=-1)
    with pytest.raises(ValueError, match=r"no annotator 'bob'. Known are 'ann'"):
        aggregate_votes(votes).confusion("bob")


def test_known_rows_are_certain_and_teach_skill():
    votes = from_annotators({"a": ["x", "x", "y", "y"], "b": ["y", "x", "y", "x"]})
    told = votes.with_known({0: "y", 3: "x"})  # annotator b was right both times
    np.testing.assert_array_equal(
        told.candidates[[0, 3]], [[False, True], [True, False]]
    )
    for matrix in (told.weights, told.confidence(), told.first_confidence()):
        np.testing.assert_array_equal(matrix[[0, 3]], [[0, 1], [1, 0]])
    a, b = summarize_votes(told, told.confidence()).annotators.accuracy
    assert a < b
    assert told != votes
    assert told[[3, 0]] == votes[[3, 0]].with_known({0: "x", 1: "y"})
    np.testing.assert_array_equal(
        concatenate([told, votes]).candidates,
        np.vstack([told.candidates, votes.candidates]),
    )
    with pytest.raises(ValueError, match=r"label 'z' given for row 1 is not known"):
        votes.with_known({1: "z"})
