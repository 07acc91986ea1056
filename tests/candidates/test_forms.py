"""Labels that are neither sets nor votes: each form against its meaning."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partlearn.candidates import (
    check_candidates,
    from_complementary,
    from_hierarchy,
    from_intervals,
    from_text,
)

NAMES = ["ant", "bee", "cat", "dog"]
label_sets = st.lists(
    st.sets(st.sampled_from(NAMES), min_size=1), min_size=1, max_size=8
)


@given(label_sets)
def test_excluded_labels_are_the_complement(sets):
    sets = [s - {"dog"} for s in sets]
    labels = from_complementary(sets, classes=NAMES)
    _, S = check_candidates(sets, classes=NAMES, empty="keep")
    np.testing.assert_array_equal(labels.candidates, ~S)


def test_excluded_labels():
    labels = from_complementary(["a", "b", "c", None])
    assert labels.counts() == {"a": 3, "b": 3, "c": 3}
    assert from_complementary(np.array(["a", "b"])).counts() == {"a": 1, "b": 1}
    with pytest.raises(ValueError, match=r"Row 1 excludes every class \['a', 'b'\]"):
        from_complementary(["a", {"a", "b"}])
    with pytest.raises(ValueError, match=r"Label 'x' \(row 0\)"):
        from_complementary(["x"], classes=["a", "b"])
    with pytest.raises(TypeError, match="a single string"):
        from_complementary("a")


@given(label_sets, st.sampled_from(["|", ";", ","]))
def test_every_way_to_write_a_set_reads_alike(sets, sep):
    rows = [sorted(s) for s in sets]
    expected = from_text(rows)
    np.testing.assert_array_equal(expected.candidates, check_candidates(sets)[1])
    assert from_text([json.dumps(row) for row in rows]) == expected
    assert from_text([repr(row) for row in rows]) == expected
    assert from_text([repr(set(row)) for row in rows]) == expected
    assert from_text([f" {sep} ".join(row) for row in rows], sep=sep) == expected
    assert from_text(np.array([sep.join(row) for row in rows]), sep=sep) == expected
    if any(len(row) > 1 for row in rows):
        assert from_text([sep.join(row) for row in rows]) == expected


def test_text_is_never_quietly_one_class_per_text():
    with pytest.raises(ValueError, match="2 distinct strings, such as 'a or b'"):
        from_text(["a or b", "c", "c"])
    assert from_text(["a or b", "c"], sep=None).classes.tolist() == ["a or b", "c"]
    assert from_text(["a or b", "c"], sep=" or ").classes.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"'\|' \(row 1\), ',' \(row 0\)"):
        from_text(["a,b", "a|b"])
    assert from_text(["a,b", "a|b"], sep="|").classes.tolist() == ["a", "a,b", "b"]


def test_single_labels_among_lists_and_missing_ones():
    labels = from_text(['["a", "b"]', "a", None, "{}"], empty="all")
    assert labels.candidates.astype(int).tolist() == [[1, 1], [1, 0], [1, 1], [1, 1]]
    assert from_text(["a|b", "", "b|a"], empty="drop").rows.tolist() == [0, 2]
    with pytest.raises(ValueError, match="Rows without labels: 1, 2"):
        from_text(["a|b", float("nan"), "[]"])


@pytest.mark.parametrize(
    "text",
    ['["a", "b"', "[a, b]", '{"a": 1}', "[" * 5000 + "]" * 5000, "[1+1]", "[f()]"],
)
def test_lists_that_cannot_be_read(text):
    message = r"Row 1 looks like a list|itself a set|Row 1 holds .* a piece of a list"
    with pytest.raises(ValueError, match=message):
        from_text(["['a']", text])


def test_wrong_text():
    with pytest.raises(TypeError, match="Row 1 holds 3"):
        from_text(["a|b", 3])
    with pytest.raises(TypeError, match="one entry per row; got str"):
        from_text("a|b")
    with pytest.raises(ValueError, match="`sep` must not be empty"):
        from_text(["a|b"], sep="")
    with pytest.raises(ValueError, match="one column"):
        from_text(np.array([["a", "b"]]))
    with pytest.raises(ValueError, match="cannot be read"):
        from_text(["[" + "1," * 60_000 + "'a']"])
    assert from_text(["(cat)|dog", "dog"]).classes.tolist() == ["(cat)", "dog"]
    assert from_text(["('cat', 'dog')", "(dog)"]).counts()["(dog)"] == 1
    with pytest.raises(ValueError, match=r"Label 'c' \(row 0\)"):
        from_text(["a|c"], classes=["a", "b"])


GENUS = {
    "lion": "panthera", "tiger": "panthera", "wolf": "canis",
    "panthera": "cats", "cats": "animals", "canis": "animals",
}  # fmt: skip


def test_a_category_stands_for_all_below_it():
    labels = from_hierarchy(
        ["lion", "panthera", "animals", {"tiger", "canis"}, None], parents=GENUS
    )
    assert labels.classes.tolist() == ["lion", "tiger", "wolf"]
    assert labels.candidates.astype(int).tolist() == [
        [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 1, 1],
    ]  # fmt: skip
    turned = from_hierarchy(["wolf"], parents=GENUS, classes=["wolf", "tiger", "lion"])
    assert turned.candidates.astype(int).tolist() == [[1, 0, 0]]


def test_paths():
    labels = from_hierarchy(["a/x", "a", " a / y /", "b", None, "a/y"])
    assert labels.classes.tolist() == ["a/x", "a/y", "b"]
    assert labels.candidates.astype(int).tolist() == [
        [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [0, 1, 0],
    ]  # fmt: skip
    more = from_hierarchy(["a>x", "a"], sep=">", classes=["a>x", "a>y", "b"])
    assert more.candidates.astype(int).tolist() == [[1, 0, 0], [1, 1, 0]]


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=3), min_size=1))
def test_paths_are_below_their_prefixes(parts):
    paths = ["/".join(p) for p in parts]
    labels = from_hierarchy(paths)
    for i, path in enumerate(paths):
        for j, leaf in enumerate(labels.classes.tolist()):
            below = leaf == path or leaf.startswith(path + "/")
            assert labels.candidates[i, j] == below


def test_wrong_hierarchies():
    with pytest.raises(ValueError, match=r"'panter' of row 1 .* mean 'panthera'\?"):
        from_hierarchy(["lion", "panter"], parents=GENUS)
    with pytest.raises(ValueError, match="'cats' is not a leaf"):
        from_hierarchy(["lion"], parents=GENUS, classes=["lion", "cats"])
    with pytest.raises(ValueError, match="a cycle at"):
        from_hierarchy(["x"], parents={"x": "y", "y": "z", "z": "y"})
    with pytest.raises(TypeError, match="A label of row 0 is 3, not a path"):
        from_hierarchy([3])
    with pytest.raises(ValueError, match="`sep` must not be empty"):
        from_hierarchy(["a"], sep="")
    with pytest.raises(ValueError, match="'c' of row 0 is not in the hierarchy"):
        from_hierarchy(["c"], classes=["a/x", "b"])


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)).map(sorted), min_size=1)
)
def test_intervals_hold_what_lies_between(pairs):
    labels = from_intervals(pairs)
    for (low, high), row in zip(pairs, labels.candidates, strict=True):
        inside = [low <= c <= high for c in labels.classes.tolist()]
        assert row.tolist() == inside


def test_intervals():
    sizes = ["S", "M", "L"]
    labels = from_intervals([("S", "M"), (None, None), ("M", None)], classes=sizes)
    assert labels.candidates.astype(int).tolist() == [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    array = from_intervals(np.array([[1.0, 3.0], [np.nan, 2.0]]))
    assert array.classes.tolist() == [1, 2, 3]
    assert array.candidates.astype(int).tolist() == [[1, 1, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("pairs", "classes", "message"),
    [
        ([(1, 2), (3, 1)], None, "Row 1 starts at 3, above its end 1"),
        ([(1, 2, 3)], None, "Row 0 holds"),
        ([1], None, "Row 0 holds"),
        ([(None, None)], None, "pass `classes`"),
        ([(0.5, 2)], None, "0.5 is not a whole number"),
        ([("a", "b")], None, "'a' is not a whole number"),
        ([("S", "XL")], ["S", "M", "L"], "Label 'XL' of row 0 is not a class"),
    ],
)
def test_wrong_intervals(pairs, classes, message):
    with pytest.raises(ValueError, match=message):
        from_intervals(pairs, classes=classes)
