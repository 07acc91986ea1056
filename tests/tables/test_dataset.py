"""One data set of any source: tables, and files that hold a matrix."""

import numpy as np
import pytest

from partlearn.datasets import load_iris_partial
from partlearn.io import DataError, LabelColumns, read, write
from partlearn.tables import dataset_of

TABLE = {
    "id": ["u", "v", "w", "x"],
    "size": [4.0, 30.0, 5.0, np.nan],
    "coat": ["soft", "rough", "soft", None],
    "kind": ["cat|dog", "dog", "cat", None],
    "truth": ["cat", "dog", "cat", "dog"],
}


def test_a_table_in_memory():
    data = dataset_of(TABLE, "kind", roles={"id": "id"})
    assert data.n_rows == 4
    assert data.evidence.rows.tolist() == [0, 1, 2]
    assert (data.ids.tolist(), data.truth.tolist()) == (
        ["u", "v", "w"],
        ["cat", "dog", "cat"],
    )
    assert data.rows.shape == (3, len(data.names)) == (3, 3)
    assert data.encoder.kinds_["truth"].kind == "ignored"
    assert list(data.contents(slice(1))) == ["size", "coat", "truth"]
    assert data.true_tags().classes.tolist() == ["cat", "dog"]
    assert dataset_of(TABLE, ["kind"]).label_names == ["kind"]


def test_tags_and_their_column():
    table = {"x": [1.0, 2.0, 4.0], "tags": ["a|b", "b", "a"]}
    data = dataset_of(table, task="tags")
    assert (data.label_names, data.evidence.classes.tolist()) == (["tags"], ["a", "b"])
    assert data.truth is None
    assert data.true_tags() is None


def test_a_matrix_is_a_data_set_like_any_other(tmp_path):
    iris = load_iris_partial()
    path = write(iris, tmp_path / "iris.npz")
    data = dataset_of(path)
    np.testing.assert_array_equal(data.rows, iris.data)
    assert data.encoder is None
    assert data.names == iris.feature_names
    np.testing.assert_array_equal(data.evidence.candidates, iris.candidates)
    assert data.truth.tolist() == np.asarray(iris.target_names)[iris.truth].tolist()
    assert data.ids.tolist() == list(range(150))
    assert list(data.contents(slice(2))) == iris.feature_names
    assert dataset_of(path, bags="runs").bags == "runs"
    for given, said in (
        ({"bags": "bags"}, "holds no bags"),
        ({"bags": "photo"}, "without a column 'photo'"),
        ({"task": "tags"}, "is for tables"),
        ({"roles": {"text": "x"}}, "`text` is for tables"),
        ({"task": "several"}, "`task` must be one of"),
    ):
        with pytest.raises(ValueError, match=said):
            dataset_of(path, **given)


def test_one_label_each_is_a_set_of_one(tmp_path):
    path = tmp_path / "a.libsvm"
    path.write_text("1 1:2\n2 1:3\n1 1:4\n")
    data = dataset_of(path)
    assert data.labels is None
    assert data.evidence.candidates.sum(axis=1).tolist() == [1, 1, 1]


def test_labels_that_break_learning(tmp_path):
    names = {"label_names": np.array(["a", "b"])}
    path = tmp_path / "a.npz"
    np.savez(path, X=np.eye(3, 4), S=np.array([[1, 0], [0, 0], [1, 1]]), **names)
    with pytest.raises(DataError, match=r"a\.npz: 1 of 3 rows have no candidate"):
        _ = dataset_of(path).evidence
    with pytest.raises(ValueError, match="holds the labels to learn from"):
        dataset_of(TABLE, "kind", "kind")
    with pytest.raises(ValueError, match="no column 'king'"):
        _ = dataset_of(TABLE, LabelColumns(["king"])).y


def test_columns_of_any_kind_through_the_reader_of_matrices(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,coat,kind\n1,soft,a|b\n?,rough,b\n")
    with pytest.raises(DataError, match="'coat' hold text"):
        read(path, labels="kind")
    seen = []

    def encode(columns):
        seen.extend(columns)
        return np.ones((2, 1)), ["one"]

    bunch = read(path, labels="kind", encode=encode)
    assert (seen, bunch.feature_names) == (["x", "coat"], ["one"])


def test_files_of_write_are_found_by_their_names(tmp_path):
    """Marks of candidates and truth, and bags, are no features of any table."""
    iris = load_iris_partial()
    iris.bags = np.repeat(np.arange(50), 3)
    csv, parquet = (
        dataset_of(write(iris, tmp_path / name)) for name in ("a.csv", "a.parquet")
    )
    for data in (csv, parquet):
        assert data.names == iris.feature_names
        assert data.bags == "bag:id"
        np.testing.assert_array_equal(data.evidence.candidates, iris.candidates)
        assert data.truth.tolist() == np.array(iris.target_names)[iris.truth].tolist()
    assert parquet.label_names == [f"candidate:{n}" for n in iris.target_names]
    assert dataset_of(tmp_path / "a.parquet", roles={"ignore": "bag:id"}).bags is None
    several = {"x": [1.0, 2.0], "tags": ["a", "b|c"], "truth:a": [1, 0]}
    several |= {"truth:b": [1, 0], "truth:c": [0, 1]}
    data = dataset_of(several, task="tags")
    assert data.true_tags().sets() == [["a", "b"], ["c"]]
    assert data.hidden == ["truth"]


@pytest.mark.parametrize("name", ["label", "Class", "y", "target"])
def test_a_name_of_labels_and_of_features(name):
    """The cells tell: labels, something else, or both."""
    table = {"x": [1.0, 2.0, 3.0], "candidates": ["a|b", "b", "a"]}
    data = dataset_of({**table, name: ["a", "b", None]})
    assert (data.truth_column, data.truth.tolist()) == (name, ["a", "b", None])
    data = dataset_of({**table, name: [3, 5, 4]})
    assert (data.truth_column, data.truth, data.names) == (None, None, ["x", name])
    with pytest.raises(DataError, match="may hold true labels or a feature; 'c'"):
        dataset_of({**table, name: ["a", "b", "c"]}).hidden  # noqa: B018
    with pytest.raises(DataError, match="could all be the labels"):
        dataset_of({**table, name: ["a", "b", "a"], "truth": ["a"] * 3}).rows  # noqa: B018
    given = dataset_of({**table, name: ["a", "b", "c"]}, truth=name)
    assert given.truth.tolist() == ["a", "b", "c"]


def test_several_files_are_a_table_whose_columns_wait(tmp_path):
    iris = load_iris_partial()
    whole = dataset_of(write(iris, tmp_path / "a.parquet"))
    write(iris, tmp_path / "b.parquet")
    data = dataset_of([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert (data.n_rows, data.label_names) == (300, whole.label_names)
    assert data.hidden == [f"truth:{name}" for name in iris.target_names]
    np.testing.assert_array_equal(
        data.evidence.candidates, np.tile(iris.candidates, (2, 1))
    )
    assert set(data.X) > set(whole.X) - {"truth"}
    assert "no such column" not in data.X


def test_a_table_as_arrays_is_what_the_reader_of_matrices_gives(tmp_path):
    iris = load_iris_partial()
    for name in ("a.csv", "a.parquet", "a.npz"):
        path = write(iris, tmp_path / name)
        ours, bunch = dataset_of(path).to_bunch(), read(path)
        for part in ("data", "candidates", "truth"):
            np.testing.assert_array_equal(ours[part], bunch[part])
        assert (ours.target_names, ours.DESCR) == (bunch.target_names, bunch.DESCR)
    bunch = dataset_of(TABLE, "kind", roles={"id": "id"}, bags="runs").to_bunch()
    # Every row is kept, also the one without a label.
    assert [n for n in bunch.feature_names if n.startswith("coat")] == [
        *("coat=", "coat=rough", "coat=soft"),
    ]
    assert (bunch.truth.tolist(), bunch.bags.tolist()) == ([0, 1, 0, 1], [0, 1, 2, 3])
    assert set(bunch.columns) == set(TABLE)
    with pytest.raises(DataError, match="no column 'king'"):
        dataset_of(TABLE, "king").to_bunch()


def test_true_labels_in_columns_of_marks():
    """One meaning of ``--truth a,b``, whatever the columns are called."""
    table = {"x": [1.0, 2.0, 3.0], "kind": ["a|b", "b", "a"]}
    marks = {"a": [1, 0, 1], "b": [0, 1, 0]}
    data = dataset_of({**table, **marks}, "kind", "a,b")
    assert data.truth.tolist() == ["a", "b", "a"]
    assert data.names == ["x"]
    assert data.to_bunch().truth.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="no column 'a,c'"):
        dataset_of({**table, **marks}, "kind", "a,c")
