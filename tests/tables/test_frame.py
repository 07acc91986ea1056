"""Columns of tables as practitioners have them: nothing rounded, nothing refused."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from partlearn import PartialClassifier, disambiguate
from partlearn.check import check
from partlearn.tables import columns_of, estimate_quality, is_plain, true_labels

LONG = 2**60 + 1  # which a float rounds

# A flag and a number decide the label of these rows, and are meant to.
pytestmark = pytest.mark.filterwarnings("ignore:Column '(flag|x)' decides the label")


def cells(frame):
    (column,) = columns_of(frame).values()
    return column.tolist()


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([LONG, LONG + 1], [LONG, LONG + 1]),
        ([LONG, None], [str(LONG), None]),
        ([10**400, 1], [str(10**400), "1"]),
        ([1, None], [1.0, np.nan]),
        ([1, 2.5], [1.0, 2.5]),
        ([True, False], [True, False]),
        ([True, None], ["true", None]),
        ([{"b", "a"}, {"c"}], ["['a', 'b']", "['c']"]),
        ([np.array(["b", "a"]), np.array(["c"])], ["['b', 'a']", "['c']"]),
        ([{"a": [1, "é"]}, None], ['{"a": [1, "é"]}', None]),
        ([dt.timedelta(minutes=1)], ["0:01:00"]),
    ],
)
def test_python_values(values, kept):
    np.testing.assert_equal(cells({"a": values}), kept)


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (pa.array([LONG, LONG + 1]), [LONG, LONG + 1]),
        (pa.array([LONG, None]), [str(LONG), None]),
        (pa.array([7, None]), [7.0, np.nan]),
        (pa.array([True, False]), [True, False]),
        (pa.array([True, None]), ["true", None]),
        (pa.array([60], pa.duration("s")), [60.0]),
        (
            pa.array([1_500_000_000], pa.timestamp("ns", tz="UTC")),
            [dt.datetime(1970, 1, 1, 0, 0, 1, 500_000)],
        ),
        (pa.array([dt.date(2024, 1, 2), None]), [dt.datetime(2024, 1, 2), None]),
    ],
)
def test_arrow_columns(values, kept):
    np.testing.assert_equal(cells(pa.table({"a": values})), kept)
    np.testing.assert_equal(cells(pa.record_batch({"a": values})), kept)


def test_pandas_columns():
    pandas = pytest.importorskip("pandas")

    def of(values, dtype=None):
        return cells(pandas.DataFrame({"a": pandas.Series(values, dtype=dtype)}))

    assert of(["x", None], "string") == ["x", None]
    assert of([True, None], "boolean") == ["true", None]
    assert of([np.array(["cat", "dog"]), np.array(["dog"])]) == [
        "['cat', 'dog']",
        "['dog']",
    ]
    assert of([LONG, 3]) == [LONG, 3]


def test_polars_columns():
    polars = pytest.importorskip("polars")
    assert cells(polars.DataFrame({"a": [True, None]})) == ["true", None]
    sets = polars.DataFrame({"a": [["cat", "dog"], ["dog"]]})
    assert cells(sets) == ["['cat', 'dog']", "['dog']"]


def test_no_rows():
    with pytest.raises(ValueError, match="no rows"):
        columns_of({"x": []})


def test_whole_numbers_are_plain():
    assert is_plain(columns_of({"a": [1, 2], "b": [True, False]}))


@pytest.fixture
def numbered():
    """A table of 60 rows whose labels and truth are numbers."""
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2 + 1
    sets = [["1|2", "1", "2"][0 if i % 5 == 0 else t] for i, t in enumerate(truth)]
    return pa.table(
        {
            "id": LONG + np.arange(60),
            "x": rng.normal(size=60) + 5 * truth,
            "flag": truth == 1,
            "kind": sets,
            "truth": truth,
        }
    )


def test_names_of_rows_stay_whole(numbered):
    model = PartialClassifier("pl-knn", labels="kind", id="id", ignore="truth")
    told = model.fit(numbered).predictions(numbered)
    assert told["id"].tolist() == numbered["id"].to_pylist()


def test_true_labels_may_be_numbers(numbered):
    truth = columns_of(numbered)["truth"]
    model = PartialClassifier("pl-knn", labels="kind", id="id", ignore="truth")
    told = estimate_quality(model, numbered, truth=truth.astype(float))
    assert told[0].accuracy > 0.9
    assert model.fit(numbered).score(numbered, truth) > 0.9
    result = disambiguate(numbered.select(["x", "kind"]), "kind", "pl-knn")
    assert result.agreement(truth).accuracy > 0.9
    findings = check(numbered, "kind", "truth").findings
    assert not [f for f in findings if f.code.startswith("truth")]


@pytest.mark.parametrize("nothing", [None, "", np.nan])
def test_rows_without_truth_count_nowhere(numbered, nothing):
    right = [str(t) if i < 20 else nothing for i, t in enumerate(numbered["truth"])]
    model = PartialClassifier("pl-knn", labels="kind", id="id", ignore="truth")
    told = estimate_quality(model, numbered, truth=right)
    assert told[0].accuracy > 0.9
    result = disambiguate(numbered.select(["x", "kind"]), "kind", "pl-knn")
    agreement = result.agreement(right)
    assert agreement.accuracy > 0.9
    assert agreement.n_ambiguous == 4
    assert result.calibration(right).n_rows.sum() == 20
    with pytest.raises(ValueError, match="no label at all"):
        result.agreement([nothing] * 60)
    assert true_labels([nothing]).tolist() == [None]


def test_labels_may_be_an_array(numbered):
    table = numbered.select(["x", "flag"])
    model = PartialClassifier("pl-knn").fit(table, numbered["truth"].to_numpy())
    assert model.classes_.tolist() == [1, 2]
    assert model.score(table, numbered["truth"].to_numpy()) == 1
    with pytest.raises(ValueError, match="Name the columns with the labels"):
        model.fit(table, [])


def test_a_mapping_of_numbers_is_a_table(numbered):
    sets = numbered["kind"].to_pylist()
    columns = {"x": numbered["x"].to_pylist(), "flag": numbered["flag"].to_pylist()}
    y = [set(cell.split("|")) for cell in sets]
    as_mapping = disambiguate(columns, y, "pl-knn")
    as_matrix = disambiguate(np.column_stack(list(columns.values())), y, "pl-knn")
    np.testing.assert_array_equal(as_mapping.confidence, as_matrix.confidence)
    assert check(columns, y).facts["n_features"] == 2


def test_text_that_is_stored_as_bytes():
    assert cells(pa.table({"a": [b"cat", "Bär".encode(), None]})) == [
        "cat",
        "Bär",
        None,
    ]


def test_an_empty_cell_is_no_mark():
    table = {"x": [1.0, 2.0, 3.0, 4.0], "a": [1, None, 1, 0], "b": [1, 1, None, 1]}
    evidence, _ = PartialClassifier(labels=["a", "b"]).read_labels(table)
    np.testing.assert_array_equal(evidence.candidates, [[1, 1], [0, 1], [1, 0], [0, 1]])


def test_numbers_that_are_no_marks_are_named():
    table = {"x": [1.0, 2.0], "a": [1, 0], "b": [1, 3]}
    with pytest.raises(
        ValueError, match=r"columns 'a', 'b': several .*raters gave, or counts"
    ):
        PartialClassifier(labels=["a", "b"]).read_labels(table)


def test_labels_of_fewer_rows_are_refused(numbered):
    """Only evidence knows which rows it is about."""
    table = numbered.select(["x", "flag"])
    with pytest.raises(ValueError, match="The table has 60 rows, the labels have 4"):
        PartialClassifier("pl-knn").fit(table, ["cat", "dog", "cat", "dog"])


def test_labels_may_be_called_like_columns(numbered):
    table = numbered.select(["x", "flag"])
    model = PartialClassifier("pl-knn").fit(table, ["x", "flag"] * 30)
    assert model.classes_.tolist() == ["flag", "x"]


def test_labels_in_another_order_than_the_rows_are_an_error():
    rng = np.random.default_rng(0)
    names = [f"row {i}" for i in range(12)]
    frame = pd.DataFrame(rng.normal(size=(12, 2)), names, ["x", "z"])
    labels = pd.Series(["a", "b", "c"] * 4, names)
    model = PartialClassifier("pl-knn").fit(frame, labels)
    same = PartialClassifier("pl-knn").fit(frame, labels.to_numpy())
    np.testing.assert_array_equal(model.predict(frame), same.predict(frame))
    # An index that only counts rows, on either side, is matched by position.
    model.fit(frame, pd.Series(labels.to_numpy())).fit(frame.reset_index(), labels)
    for odd in (labels[::-1], labels.rename("other {}".format)):
        found = f"entry 0 is {odd.index[0]!r}, row 0 is 'row 0'"
        with pytest.raises(ValueError, match=f"`y` has another index.*{found}"):
            PartialClassifier("pl-knn").fit(frame, odd)
        with pytest.raises(ValueError, match=found):
            disambiguate(frame, odd, method="pl-knn")
        with pytest.raises(ValueError, match=found):
            check(frame, odd)
        with pytest.raises(ValueError, match=f"`truth` has another.*{found}"):
            check(frame, labels, odd)
        with pytest.raises(ValueError, match=found):
            model.score(frame, odd)
        with pytest.raises(ValueError, match=found):
            estimate_quality(model, frame, labels, truth=odd)
    counted = frame.reset_index(drop=True)
    with pytest.raises(ValueError, match="entry 0 is 11, row 0 is 0"):
        disambiguate(counted, labels.reset_index(drop=True)[::-1], method="pl-knn")
