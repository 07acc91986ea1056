"""Votes.update: the same answer as from scratch."""

import numpy as np
import pytest

from partlearn.candidates import aggregate_votes, from_text, from_votes, make_votes


def drawn(seed=0, n_rows=80, n_votes=300):
    rng = np.random.RandomState(seed)
    truth = rng.randint(4, size=n_rows)
    rows = np.sort(rng.randint(n_rows, size=n_votes))
    who = rng.choice(list("abcdefg"), n_votes)
    given = np.where(rng.rand(n_votes) < 0.7, truth[rows], rng.randint(4, size=n_votes))
    return rows, who, np.array(list("wxyz"))[given]


@pytest.mark.parametrize("seed", range(5))
def test_the_same_as_from_scratch(seed):
    """Later votes bring new rows, annotators and classes; the order does not count."""
    rows, who, given = drawn(seed)
    first = np.random.RandomState(seed).rand(len(rows)) < 0.5
    first &= (given != "y") & (who != "c")
    old, new = (
        from_votes(rows[p], who[p], given[p], empty="drop") for p in (first, ~first)
    )
    together = old.update(new)
    scratch = from_votes(rows, who, given, empty="drop")
    assert together == scratch
    np.testing.assert_array_equal(together.rows, scratch.rows)
    a, b = aggregate_votes(together), aggregate_votes(scratch)
    np.testing.assert_allclose(a.confidence, b.confidence, rtol=0, atol=1e-8)
    np.testing.assert_allclose(a.annotators.accuracy, b.annotators.accuracy, atol=1e-8)
    assert new.update(old) == scratch


def test_known_rows_stay_known():
    votes = from_votes([0, 1], ["a", "a"], ["x", "z"]).with_known({0: "z"})
    more = from_votes([0, 2], ["b", "b"], ["y", "y"], empty="drop")
    both = votes.update(more)
    assert both.known.tolist() == [2, -1, -1]
    assert both.classes.tolist() == ["x", "y", "z"]
    other = more.with_known({0: "y"})
    with pytest.raises(ValueError, match="Row 0 is known to have two"):
        votes.update(other)
    with pytest.raises(TypeError, match="got Evidence"):
        votes.update(from_text(["x|y"]))


def test_votes_that_were_made():
    votes = make_votes(np.arange(30) % 3, random_state=0)
    assert votes.update(votes[:0]) == votes
    assert len(votes.update(votes).table.row) == 2 * len(votes.table.row)


def test_halves_share_no_annotator():
    """The busiest annotators are dealt out first; rows and known rows stay."""
    rows = [0, 1, 2, 3, 0, 1, 2, 0, 1, 3]
    who = ["a"] * 4 + ["b"] * 3 + ["c"] * 2 + ["d"]
    votes = from_votes(rows, who, [0, 1, 0, 1, 0, 1, 1, 0, 1, 1]).with_known({2: 1})
    first, second = votes.halves()
    assert first.to_frame()["annotator"].tolist() == ["a"] * 4 + ["d"]
    assert second.to_frame()["annotator"].tolist() == ["b"] * 3 + ["c"] * 2
    assert len(first) == len(second) == 4
    assert first.known.tolist() == second.known.tolist() == [-1, -1, 1, -1]
    assert second.candidates[3].all()  # nobody of these voted on it


def test_answers_of_one_more_annotator_keep_the_order_of_rows():
    """Rows in any order, a new annotator and one who voted before."""
    votes = from_votes(
        [0, 0, 1, 2], ["ann", "bob", "ann", "bob"], ["cat", "dog", "dog", "cat"]
    )[[2, 0, 1]]
    more = votes.with_answers({0: "dog", 2: "cat"}, "abe").with_known({1: "cat"})
    assert more.rows.tolist() == [2, 0, 1]
    assert more.table.counts.tolist() == [[1, 1], [1, 1], [1, 1]]
    assert more.annotators.tolist() == ["abe", "ann", "bob"]
    assert more.confidence()[1].tolist() == [1, 0]
    frame = sorted(more.with_answers({1: "dog"}, "bob").to_frame().values.tolist())
    assert frame == [
        [0, "ann", "cat"],
        [0, "bob", "dog"],
        [0, "bob", "dog"],
        [1, "abe", "cat"],
        [1, "ann", "dog"],
        [2, "abe", "dog"],
        [2, "bob", "cat"],
    ]
    with pytest.raises(ValueError, match="'cow' given for row 0 is not known"):
        votes.with_answers({0: "cow"}, "abe")
