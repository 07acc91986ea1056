"""Label columns that could be read in two ways are refused; marks in other words."""

import numpy as np
import pytest

from partlearn.io import AmbiguousDataError, label_evidence

S = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]] * 4, dtype=bool)
NAMES = ("ash", "elm", "oak")


def text_columns(words):
    return {n: np.where(S[:, j], *words).astype(object) for j, n in enumerate(NAMES)}


def number_columns(matrix):
    return dict(zip(NAMES, np.asarray(matrix, dtype=float).T, strict=True))


@pytest.mark.parametrize(
    "words",
    [
        ("ja", "nein"),
        ("Oui", "Non"),
        ("\u2713", "\u2717"),
        ("\u662f", "\u5426"),
        ("\u0414\u0430", "\u041d\u0435\u0442"),
        ("on", "off"),
        ("evet", "hay\u0131r"),
    ],
)
def test_marks_in_other_words(words):
    evidence = label_evidence(text_columns(words), NAMES)
    assert evidence.read_as == "marks of 3 labels, 3 labels: ash, elm, oak"
    np.testing.assert_array_equal(evidence.candidates, S)


@pytest.mark.parametrize("words", [("male", "female"), ("man", "woman"), ("a", "un")])
def test_a_longer_word_is_no_negation(words):
    votes = label_evidence(text_columns(words), NAMES)
    assert votes.read_as == f"3 raters, 2 labels: {', '.join(sorted(words))}"


def test_a_word_and_its_negation_may_be_marks():
    columns = text_columns(("possible", "impossible"))
    with pytest.raises(AmbiguousDataError, match="marks of labels, or votes"):
        label_evidence(columns, NAMES)
    votes = label_evidence(columns, NAMES, form="raters")
    assert votes.read_as == "3 raters, 2 labels: impossible, possible"


def test_candidates_side_by_side_are_no_raters():
    cells = np.array([["a", "b", None], ["b", "c", None], ["c", "a", "b"]] * 4)
    columns = dict(zip(("first", "second", "third"), cells.T, strict=True))
    with pytest.raises(AmbiguousDataError, match="candidates of a row, side by side"):
        label_evidence(columns, list(columns))
    columns["second"][0] = "a"  # raters agree now and then
    assert label_evidence(columns, list(columns)).read_as.startswith("3 raters")


def test_ranks_and_distances_are_no_weights():
    rng = np.random.default_rng(0)
    scores = rng.random((12, 3))
    with pytest.raises(AmbiguousDataError, match="rank 1 may be the best"):
        label_evidence(number_columns(scores.argsort(axis=1) + 1), NAMES)
    with pytest.raises(AmbiguousDataError, match="another sum in every row"):
        label_evidence(number_columns(5 * scores), NAMES)
    shares = scores / scores.sum(axis=1, keepdims=True)
    for matrix in (shares, 7 * shares, scores):  # no number above 1
        evidence = label_evidence(number_columns(matrix), NAMES)
        assert evidence.read_as.startswith("weights of 3 labels")
    evidence = label_evidence(number_columns(5 * scores), NAMES, form="weights")
    assert evidence.read_as.startswith("weights of 3 labels")
