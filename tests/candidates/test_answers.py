"""Answers of language models: free text and log-probabilities."""

import numpy as np
import pytest

from partlearn.candidates import from_log_probabilities, match_labels


def test_free_text():
    classes = ["urgent", "not urgent", "C++"]
    texts = [
        "Urgent", "**not urgent**", "I think it is not  urgent.", "c++", "C", None,
        float("nan"), "", "urgent, or not urgent", "insurgent", "Label: urgent!",
    ]  # fmt: skip
    assert match_labels(texts, classes).tolist() == [
        "urgent", "not urgent", "not urgent", "C++", None, None, None, None, None,
        None, "urgent",
    ]  # fmt: skip
    numbers = match_labels(["1", "class 2", "12"], [1, 2])
    assert numbers.tolist() == [1, 2, None]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Not a bug", None),
        ("It isn't really a **bug**.", None),
        ("This isn\u2019t a bug", None),
        ("neither bug nor question", None),
        ("no bug here", None),
        ("non-bug", None),
        ("It's a bug, not a question", "bug"),
        ("No, it is a bug", "bug"),
        ("I do not think that anybody would call it a bug", "bug"),  # too far away
        ("a note on a bug", "bug"),
    ],
)
def test_denied_labels_are_not_mentioned(text, label):
    assert match_labels([text], ["bug", "question"]).tolist() == [label]


def test_denials_may_be_labels():
    texts = ["no", "No, thanks", "I think no.", "yes", "not yes", "no yes"]
    assert match_labels(texts, ["yes", "no"]).tolist() == [
        "no", "no", "no", "yes", None, "no",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("classes", "aliases", "message"),
    [
        (["a", "A"], None, "differ by more than case"),
        (["a", "b"], {"x": "c"}, "stands for 'c', no label"),
        (["a", "b"], {"b": "a"}, "stands for two labels"),
    ],
)
def test_labels_that_cannot_be_told_apart(classes, aliases, message):
    with pytest.raises(ValueError, match=message):
        match_labels(["a"], classes, aliases=aliases)


def test_log_probabilities():
    logs = np.log([[0.6, 0.2], [0.1, 0.3]])
    F = from_log_probabilities(logs, classes=["a", "b"]).confidence()
    np.testing.assert_allclose(F, [[0.75, 0.25], [0.25, 0.75]])
    low = from_log_probabilities([[-2000.0, -2001.0], [np.nan, -1]])
    np.testing.assert_allclose(
        low.confidence()[0], [1 / (1 + np.exp(-1)), 0.2689], 1e-3
    )
    assert low.candidates[1].tolist() == [False, True]
    rows = [{"cat": -0.1}, {}, {"dog": -1.0, "cat": -1.0}]
    with pytest.raises(ValueError, match="Rows without probabilities: 1"):
        from_log_probabilities(rows)
    labels = from_log_probabilities(rows, classes=["dog", "cat"], empty="drop")
    assert labels.rows.tolist() == [0, 2]
    assert labels.candidates.tolist() == [[False, True], [True, True]]


@pytest.mark.parametrize(
    ("rows", "classes", "message"),
    [
        ([[0.5, 0.5]], None, "not positive. Use from_weights"),
        ([[-1.0, -2.0]], ["a"], "2 columns and 1 classes"),
        ([-1.0, -2.0], None, "1 dimensions"),
        ([{"a": -1.0}], ["b"], "Label 'a' .row 0. is not one of"),
    ],
)
def test_bad_log_probabilities(rows, classes, message):
    with pytest.raises(ValueError, match=message):
        from_log_probabilities(rows, classes=classes)
