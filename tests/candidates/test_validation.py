"""The gate: every accepted form, and a message for everything else."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from partlearn.base import validate_partial_data
from partlearn.candidates import check_candidates, from_text
from partlearn.classification import PLKNN, SURE
from partlearn.multilabel import ParticleVLS

S = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1]], dtype=bool)
SETS = [{"a", "b"}, {"b"}, {"a", "c"}]


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (S, [0, 1, 2]),
        (S.astype(int), [0, 1, 2]),
        (S.astype(float), [0, 1, 2]),
        (S.astype(object), [0, 1, 2]),
        (S.astype(int).tolist(), [0, 1, 2]),
        (tuple(map(tuple, S.tolist())), [0, 1, 2]),
        (sp.csr_matrix(S.astype(int)), [0, 1, 2]),
        (sp.coo_array(S), [0, 1, 2]),
        (pd.DataFrame(S.astype(int), columns=list("abc")), list("abc")),
        (pd.DataFrame(S, columns=[10, 20, 30]), [10, 20, 30]),
        (pl.DataFrame(S.astype(int), schema=list("abc")), list("abc")),
        (SETS, list("abc")),
        ([frozenset(s) for s in SETS], list("abc")),
        ([sorted(s) for s in SETS], list("abc")),
        ([tuple(s) for s in SETS], list("abc")),
        (np.array(SETS, dtype=object), list("abc")),
        (pd.Series(SETS), list("abc")),
        (pl.Series([sorted(s) for s in SETS]), list("abc")),
        ((set(s) for s in SETS), list("abc")),
        ([{7, 5}, {5}, {7, 9}], [5, 7, 9]),
        ([np.array([5, 7]), np.array([7]), np.array([5, 9])], [5, 7, 9]),
    ],
)
def test_forms_of_candidates(y, classes):
    found, matrix = check_candidates(y)
    assert found.tolist() == classes
    assert matrix.dtype == bool
    expected = S if list(classes) != [5, 7, 9] or isinstance(y[0], np.ndarray) else None
    if expected is None:
        expected = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]], dtype=bool)
    np.testing.assert_array_equal(matrix, expected)


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pl.Series(["b", "a", "b"]),
    ],
)
def test_labels_are_singletons(y):
    classes, matrix = check_candidates(y)
    assert classes.tolist() == ["a", "b"]
    np.testing.assert_array_equal(matrix, [[0, 1], [1, 0], [0, 1]])


def test_integer_valued_floats_are_labels():
    classes, matrix = check_candidates(np.array([2.0, 1.0]))
    assert classes.tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(matrix, [[0, 1], [1, 0]])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_a_frame_are_found_by_name(frame):
    y = frame({"c": [0, 0, 1], "a": [1, 0, 1], "b": [1, 1, 0]})
    classes, matrix = check_candidates(y, classes=["a", "b", "c"])
    assert classes.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(matrix, S)
    _, wider = check_candidates(y, classes=["a", "z", "b", "c"])
    np.testing.assert_array_equal(wider, np.insert(S, 1, False, axis=1))
    with pytest.raises(ValueError, match="Column 'c' of y is not one of the 3 known"):
        check_candidates(y, classes=["a", "b", "x"])
    renamed, matrix = check_candidates(y, classes=["x", "y", "z"])
    assert renamed.tolist() == ["x", "y", "z"]
    np.testing.assert_array_equal(matrix, S[:, [2, 0, 1]])


def test_a_frame_without_names_is_a_matrix():
    _, matrix = check_candidates(pd.DataFrame(S), classes=[1, 2, 3])
    np.testing.assert_array_equal(matrix, S)


@pytest.mark.parametrize("column", [np.array([[1], [2]]), pd.DataFrame({"y": [1, 2]})])
def test_column_vector_is_ravelled_with_a_warning(column):
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        classes, _ = check_candidates(column)
    assert classes.tolist() == [1, 2]


def test_column_of_sets_is_read_as_sets():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        classes, matrix = check_candidates(pd.DataFrame({"y": SETS}))
    assert classes.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(matrix, S)


def test_an_iterator_of_labels_is_read():
    classes, _ = check_candidates(label for label in "ba")
    assert classes.tolist() == ["a", "b"]


def test_result_does_not_alias_the_input():
    mine = S.copy()
    _, matrix = check_candidates(mine)
    matrix[:] = False
    np.testing.assert_array_equal(mine, S)


def test_entries_of_sparse_features_that_are_stored_twice_are_added():
    X = np.array([[0.0, 3.0], [1.0, 0.0], [2.0, 2.0]])
    parts = (np.array([1.0, 2.0, 1.0, 2.0, 2.0]), [1, 1, 0, 1, 0], [0, 2, 3, 5])
    twice = sp.csr_array(parts, shape=(3, 2))
    np.testing.assert_array_equal(twice.toarray(), X)
    checked, _ = validate_partial_data(PLKNN(), twice, S)
    np.testing.assert_array_equal(checked.data, [3, 1, 2, 2])
    assert twice.nnz == 5  # the caller's matrix is left alone
    for model in (SURE(), ParticleVLS()):
        expected = model.fit(X, S).predict_proba(X)
        np.testing.assert_allclose(model.predict_proba(twice), expected, atol=1e-12)


def test_given_classes_fix_the_order():
    classes, matrix = check_candidates(SETS, classes=["c", "b", "a", "z"])
    assert classes.tolist() == ["c", "b", "a", "z"]
    np.testing.assert_array_equal(matrix, [[0, 1, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0]])
    _, labels = check_candidates(["b"], classes=["a", "b"])
    np.testing.assert_array_equal(labels, [[0, 1]])
    named, _ = check_candidates(S, classes=["x", "y", "z"])
    assert named.tolist() == ["x", "y", "z"]
    _, bare = check_candidates([set(), set()], classes=["a", "b"], empty="all")
    assert bare.all()


class TestEmptySets:
    y = (set(), {"a", "b"}, {"b"}, set())

    def test_error_names_rows_and_the_ways_out(self):
        with pytest.raises(
            ValueError, match=r'rows without any: 0, 3\..*"drop".*"all"'
        ):
            check_candidates(self.y)

    def test_many_rows_are_counted(self):
        with pytest.raises(
            ValueError, match=r"0, 1, 2, 3, 4, \.\.\. \(9 rows in all\)"
        ):
            check_candidates([set()] * 9 + [{1, 2}])

    def test_drop(self):
        classes, matrix, rows = check_candidates(self.y, empty="drop", return_rows=True)
        assert rows.tolist() == [1, 2]
        np.testing.assert_array_equal(matrix, [[1, 1], [0, 1]])
        assert classes.tolist() == ["a", "b"]

    def test_all_means_unlabelled(self):
        _, matrix, rows = check_candidates(self.y, empty="all", return_rows=True)
        assert matrix[[0, 3]].all()
        assert rows.tolist() == [0, 1, 2, 3]

    def test_keep_leaves_rows_without_labels(self):
        classes, matrix, rows = check_candidates(self.y, empty="keep", return_rows=True)
        np.testing.assert_array_equal(matrix, [[0, 0], [1, 1], [0, 1], [0, 0]])
        assert rows.tolist() == [0, 1, 2, 3]
        assert classes.tolist() == ["a", "b"]

    def test_the_gate_of_estimators_passes_the_choice_on(self):
        X = np.arange(8.0).reshape(4, 2)
        _, matrix = validate_partial_data(PLKNN(), X, self.y, empty="keep")
        assert matrix.sum(axis=1).tolist() == [0, 2, 1, 0]
        with pytest.raises(ValueError, match="rows without any: 0, 3"):
            validate_partial_data(PLKNN(), X, self.y)

    def test_unknown_choice(self):
        with pytest.raises(ValueError, match="got 'ignore'"):
            check_candidates(self.y, empty="ignore")


@pytest.mark.parametrize(
    ("y", "error", "match"),
    [
        (None, ValueError, "requires y to be passed"),
        ("cat|dog", TypeError, "got str"),
        (7, TypeError, "got int"),
        ([{"a"}, "b"], ValueError, "rows that are not sets: 1"),
        ([{"a"}, {1}], ValueError, r"mix strings and other types: 'a' \(row 0\) and 1"),
        ([{"a"}, {None, "b"}], ValueError, "None or NaN in rows 1"),
        ([{1.0}, {float("nan")}], ValueError, "None or NaN in rows 1"),
        (np.array(["a", None], dtype=object), ValueError, "None or NaN in rows 1"),
        (["a", float("nan"), "b"], ValueError, "None or NaN in rows 1"),
        ([{1}, {pd.NA}], ValueError, "None or NaN in rows 1"),
        (["a", 3], ValueError, r"mix strings and other types: 'a' \(row 0\) and 3"),
        ([{("a", 1)}, {("b", 2)}], ValueError, "itself a set, list or tuple in rows 0"),
        ([{frozenset("a")}, {frozenset("b")}], ValueError, "in rows 0, 1; give each"),
        ({0: {"a"}, 1: {"b"}}, TypeError, "got dict"),
        ([set(), set()], ValueError, "No row has any candidate"),
        (np.array([0.0, np.nan]), ValueError, "contains NaN in rows 1"),
        (np.array([0.0, np.inf]), ValueError, "contains infinity in rows 1"),
        (np.array([0.0, 1.5]), ValueError, "Unknown label type: continuous.*rows 1"),
        (np.array([0j, 1j]), ValueError, "Complex data not supported"),
        (np.zeros((2, 2, 2)), ValueError, "3 dimensions"),
        ([[["a"], ["b"]], [["c"], ["d"]]], ValueError, "3 dimensions"),
        (np.array([[0, 1], [2, 0]]), ValueError, "found 2 at row 1, column 0"),
        (np.array([[-1, 1], [1, -1]]), ValueError, r"Convert -1/\+1 with \(y > 0\)"),
        (
            np.array([["a", "b"]], dtype=object),
            ValueError,
            "holds 'a' in row 0, column 0",
        ),
        (sp.csr_matrix([[0, 3], [1, 0]]), ValueError, "found 3 at row 0, column 1"),
        (sp.csr_matrix([[1], [1]]), ValueError, "at least two; got 1"),
        (sp.coo_array(np.array([1, 0])), ValueError, "must be a matrix"),
        (pd.DataFrame({"a": [0, 1], "b": [1, 5]}), ValueError, "found 5 at row 1"),
        (pd.DataFrame(S, columns=list("aab")), ValueError, "columns of y must be dis"),
    ],
)
def test_bad_labels_are_explained(y, error, match):
    with pytest.raises(error, match=match):
        check_candidates(y)


@pytest.mark.parametrize(
    ("y", "classes", "match"),
    [
        ([{"a"}, {"z"}], ["a", "b"], r"Label 'z' \(row 1\) is not one of the 2 known"),
        (S, ["a", "b"], "3 columns but there are 2 classes"),
        (S, ["a", "a", "b"], "must be distinct"),
        ([99], list(range(12)), r"known classes \[0, 1.*9\] \.\.\."),
    ],
)
def test_labels_and_classes_must_agree(y, classes, match):
    with pytest.raises(ValueError, match=match):
        check_candidates(y, classes=classes)


def test_explicit_zeros_of_a_sparse_matrix_are_zeros():
    y = sp.coo_matrix(([1, 0, 1], ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    np.testing.assert_array_equal(check_candidates(y)[1], [[1, 0], [0, 1]])


def test_text_with_a_given_separator():
    texts = ["cat|dog", " dog ", "", "cat||cat", "cat|dog"]
    labels = from_text(texts, sep="|", empty="drop")
    assert labels.rows.tolist() == [0, 1, 3, 4]
    assert labels.candidates.tolist() == [[1, 1], [0, 1], [1, 0], [1, 1]]
    assert from_text(["a;b", "b"], sep=";").counts() == {"a": 1, "b": 2}
    with pytest.raises(TypeError, match="Row 1 holds 3"):
        from_text(["a", 3], sep="|")
    with pytest.raises(ValueError, match="must not be empty"):
        from_text(["a"], sep="")


def test_estimators_report_lengths_and_column_types():
    with pytest.raises(ValueError, match="X has 3 rows, y has 2"):
        PLKNN().fit(np.zeros((3, 1)), [0, 1])
    with pytest.raises(ValueError, match="could not convert string"):
        PLKNN().fit(np.array([["a"], ["b"]], dtype=object), [0, 1])
