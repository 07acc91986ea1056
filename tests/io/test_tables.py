"""CSV, TSV, Parquet and Arrow."""

import gzip
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from partlearn.io import (
    AmbiguousDataError,
    DataFormatError,
    DataLimitError,
    Limits,
    raw_columns,
    read,
    table_blocks,
)


def csv(folder, text, name="set.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


BASIC = "a,b,candidates\n1,0.5,cat|dog\n2,1.5,dog\n3,2.5,\n"


def test_candidate_column(tmp_path):
    bunch = read(csv(tmp_path, BASIC))
    np.testing.assert_array_equal(bunch.data, [[1, 0.5], [2, 1.5], [3, 2.5]])
    np.testing.assert_array_equal(bunch.candidates, [[1, 1], [0, 1], [0, 0]])
    assert bunch.target_names == ["cat", "dog"]
    assert bunch.feature_names == ["a", "b"]
    assert bunch.task == "pll"
    assert bunch.truth is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (BASIC, "a.csv"),
        (BASIC.replace(",", "\t"), "a.tsv"),
        (BASIC.replace(",", ";"), "a.csv"),
        ("\ufeff" + BASIC, "a.csv"),
        (BASIC.replace("\n", "\r\n"), "a.csv"),
        (BASIC.replace("candidates", '"Candidate labels"'), "a.csv"),
    ],
)
def test_dialects(tmp_path, text, name):
    bunch = read(csv(tmp_path, text, name))
    np.testing.assert_array_equal(bunch.candidates, [[1, 1], [0, 1], [0, 0]])
    assert bunch.data.shape == (3, 2)


def test_gzip(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(BASIC.encode()))
    assert read(path).candidates.shape == (3, 2)
    with pytest.raises(DataLimitError):
        read(path, limits=Limits(max_bytes=10))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataFormatError, match="gzip"):
        read(path)


def test_truth_column_and_order_of_numbers(tmp_path):
    text = "x,candidates,truth\n1,10|9,9\n2,10|2,10\n3,2,2\n"
    bunch = read(csv(tmp_path, text))
    assert bunch.target_names == ["2", "9", "10"]
    np.testing.assert_array_equal(bunch.truth, [1, 2, 0])
    assert bunch.task == "pll"


def test_labels_that_are_no_values_have_an_order_too(tmp_path):
    bunch = read(csv(tmp_path, "x,candidates\n1,nan|9\n2,10|inf\n3,NAN|-inf\n"))
    assert bunch.target_names == sorted(["9", "10", "inf", "-inf"])


def test_numbers_as_labels_keep_their_text(tmp_path):
    bunch = read(csv(tmp_path, "x,candidates\n1,01\n2,1\n"))
    assert bunch.target_names == ["01", "1"]


def test_one_hot_columns(tmp_path):
    text = "x,cat,dog,t\n1,1,1,0\n2,0,1,1\n"
    bunch = read(csv(tmp_path, text), labels=["cat", "dog"])
    np.testing.assert_array_equal(bunch.candidates, [[1, 1], [0, 1]])
    assert bunch.feature_names == ["x", "t"]
    marked = "x,candidate:cat,candidate:dog,truth:cat,truth:dog\n1,1,1,0,1\n"
    bunch = read(csv(tmp_path, marked))
    assert bunch.target_names == ["cat", "dog"]
    np.testing.assert_array_equal(bunch.truth, [1])
    with pytest.raises(DataFormatError, match="different classes"):
        read(csv(tmp_path, marked.replace("truth:dog", "truth:eel")))
    five = csv(tmp_path, text.replace("2,0,1,1", "2,5,1,1"))
    with pytest.raises(AmbiguousDataError, match="raters gave, or counts"):
        read(five, labels=["cat", "dog"])
    with pytest.raises(DataFormatError, match=r"row 1 of column 'cat'.*0 and 1.*'5'"):
        read(five, marks=["cat", "dog"])
    with pytest.raises(AmbiguousDataError, match="'dog' holds numbers"):
        read(csv(tmp_path, text.replace("2,0,", "2,hardly,")), labels=["cat", "dog"])


def test_columns_by_argument(tmp_path):
    text = "x,mine,yours,note\n1,a;b,a,hello\n2,b,b,there\n"
    path = csv(tmp_path, text)
    with pytest.raises(AmbiguousDataError, match="`labels`"):
        read(path)
    bunch = read(path, labels="mine", truth="yours", ignore=["note"])
    np.testing.assert_array_equal(bunch.candidates, [[1, 1], [0, 1]])
    np.testing.assert_array_equal(bunch.truth, [0, 1])
    with pytest.raises(AmbiguousDataError, match="`ignore`"):
        read(path, labels="mine", truth="yours")
    with pytest.raises(AmbiguousDataError, match="`labels`: there is no"):
        read(path, labels="nobody")
    with pytest.raises(AmbiguousDataError, match="Correct `labels`"):
        read(path, labels=3)
    with pytest.raises(AmbiguousDataError, match="`ignore`: there is no"):
        read(path, ignore=["nobody"])


def test_the_only_text_column(tmp_path):
    sets = read(csv(tmp_path, "x,animal\n1,a|b\n2,b\n"))
    assert sets.task == "pll"
    plain = read(csv(tmp_path, "x,animal\n1,a\n2,b\n"))
    assert plain.task == "multiclass"
    np.testing.assert_array_equal(plain.truth, [0, 1])
    with pytest.raises(AmbiguousDataError, match="no columns hold text"):
        read(csv(tmp_path, "x,z\n1,2\n"))


def test_label_sets_need_a_task(tmp_path):
    path = csv(tmp_path, "x,labels\n1,a|b\n2,b\n3,\n")
    with pytest.raises(AmbiguousDataError, match="`task"):
        read(path)
    assert read(path, task="pll").candidates.sum() == 3
    several = read(path, task="multilabel")
    assert several.candidates is None
    assert several.truth.sum() == 3
    two = csv(tmp_path, "x,label,target\n1,a,a\n")
    with pytest.raises(AmbiguousDataError, match="`truth`"):
        read(two)
    candidates = csv(tmp_path, "x,candidates\n1,a|b\n2,b\n")
    assert read(candidates, task="multilabel").truth.sum() == 3


def test_separators(tmp_path):
    text = 'x,candidates\n1,"a,b"\n2,a;c\n'
    with pytest.raises(AmbiguousDataError, match="`sep`"):
        read(csv(tmp_path, text))
    assert read(csv(tmp_path, text), sep=";").target_names == ["a", "a,b", "c"]
    spaced = read(csv(tmp_path, "x,candidates\n1, a |b \n2,a\n"))
    assert spaced.target_names == ["a", "b"]
    slashes = read(csv(tmp_path, "x,candidates\n1,a/b\n2,a\n"), sep="/")
    assert slashes.target_names == ["a", "b"]


def test_missing_truth_is_named(tmp_path):
    path = csv(tmp_path, "x,candidates,truth\n1,a|b,a\n2,b,\n")
    with pytest.raises(DataFormatError, match="the first is row 1"):
        read(path)
    assert read(path, ignore=["truth"]).truth is None
    assert read(path, task="pml").truth.sum() == 1


def test_missing_values_and_row_numbers(tmp_path):
    bunch = read(csv(tmp_path, ",x,z,ok,candidates\n0,1,,true,a\n1,NaN,2,false,b\n"))
    np.testing.assert_array_equal(bunch.data, [[1, np.nan, 1], [np.nan, 2, 0]])
    assert bunch.feature_names == ["x", "z", "ok"]
    assert "row numbers" in bunch.DESCR


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "no header"),
        ("\n\n", "no header"),
        ("a,candidates\n", "no rows"),
        ("a,a,candidates\n1,2,x\n", "several columns"),
        ("a,candidates\n1,x,9\n", "cannot be read"),
        ("candidates\nx\n", "one column only"),
        ("candidates,truth\nx,x\n", "no feature columns"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, match):
    with pytest.raises(DataFormatError, match=match):
        read(csv(tmp_path, text))


def test_too_many_columns_or_classes(tmp_path):
    with pytest.raises(DataFormatError, match="columns"):
        read(csv(tmp_path, "a," * 1_000_002 + "\n"))
    rows = "\n".join(f"1,c{i}" for i in range(3000))
    path = csv(tmp_path, "x,candidates\n" + rows)
    with pytest.raises(DataLimitError, match="label matrix"):
        read(path, limits=Limits(max_bytes=2**20))


def test_wide_and_sparse(tmp_path):
    rng = np.random.default_rng(0)
    X = (rng.uniform(size=(600, 120)) < 0.03).astype(int)
    lines = [",".join(f"w{j}" for j in range(120)) + ",candidates"]
    lines += [",".join(map(str, row)) + ",a|b" for row in X]
    path = csv(tmp_path, "\n".join(lines))
    bunch = read(path)
    assert isinstance(bunch.data, sp.csr_array)
    np.testing.assert_array_equal(bunch.data.toarray(), X)
    np.testing.assert_array_equal(read(path, sparse=False).data, X)


def test_booleans_only(tmp_path):
    bunch = read(csv(tmp_path, "x,candidates\ntrue,a\nfalse,b\n"))
    assert bunch.data.dtype == np.uint8


TABLE = {
    "x": pa.array([1.0, 2.0, None]),
    "n": pa.array([1, 2, 3], pa.uint8()),
    "flag": pa.array([True, None, False]),
    "void": pa.nulls(3),
    "candidates": pa.array(["a|b", "b", None]),
}


@pytest.mark.parametrize("kind", ["parquet", "arrow", "feather", "stream"])
@pytest.mark.parametrize("labels", ["text", "dictionary", "list", "number", "float"])
def test_arrow_files(tmp_path, kind, labels):
    columns = dict(TABLE)
    if labels == "dictionary":
        columns["candidates"] = columns["candidates"].dictionary_encode()
    elif labels == "list":
        columns["candidates"] = pa.array([["a", "b"], ["b"], None])
    elif labels == "number":
        columns["candidates"] = pa.array([1, 2, 2])
    elif labels == "float":
        columns["candidates"] = pa.array([1.5, 2.5, 2.5])
    table = pa.table(columns)
    path = tmp_path / ("set.parquet" if kind == "parquet" else "set.arrow")
    if kind == "parquet":
        pa.parquet.write_table(table, path)
    elif kind == "feather":
        pa.feather.write_feather(table, path, compression="zstd")
    else:
        opened = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
        with opened(path, table.schema) as writer:
            writer.write_table(table)
    bunch = read(path)
    expected = [[1, 1, 1, np.nan], [2, 2, np.nan, np.nan], [np.nan, 3, 0, np.nan]]
    np.testing.assert_array_equal(bunch.data, expected)
    if labels == "number":
        np.testing.assert_array_equal(bunch.candidates, [[1, 0], [0, 1], [0, 1]])
        assert bunch.target_names == ["1", "2"]
    elif labels == "float":
        assert bunch.target_names == ["1.5", "2.5"]
    else:
        np.testing.assert_array_equal(bunch.candidates, [[1, 1], [0, 1], [0, 0]])


def test_dates_can_be_labels(tmp_path):
    days = pa.array([1, 2], pa.date32())
    table = pa.table({"x": [1.0, 2.0], "day": days})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    bunch = read(tmp_path / "a.parquet", truth="day")
    assert bunch.target_names == ["1970-01-02", "1970-01-03"]


def test_pandas_index_is_left_out(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"x": [1.0, 2.0], "candidates": ["a", "b"]}, index=pd.Index([7, 9])
    )
    frame.to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").feature_names == ["x"]


def test_parquet_limits_and_notes(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"x": np.zeros(5000), "candidates": ["a"] * 5000})
    pa.parquet.write_table(table, path)
    with pytest.raises(DataLimitError):
        read(path, limits=Limits(max_bytes=1000))
    noted = table.replace_schema_metadata({b"partlearn": b'{"target_names": 3}'})
    pa.parquet.write_table(noted, path)
    with pytest.raises(DataFormatError, match="note"):
        read(path)


def test_missing_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"partlearn\[data\]"):
        read(csv(tmp_path, BASIC))


def test_a_table_with_a_broken_note_of_classes(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"x": [1.0, 2.0], "candidate:a": [1, 1], "candidate:b": [0, 1]})
    note = {b"partlearn": b'{"target_names": ["a", "b"], "task": "pll"}'}
    pa.parquet.write_table(table.replace_schema_metadata(note), path)
    assert read(path).target_names == ["a", "b"]
    odd = {b"partlearn": b'{"target_names": ["a"], "task": "pll"}'}
    pa.parquet.write_table(table.replace_schema_metadata(odd), path)
    with pytest.raises(DataFormatError, match="classes"):
        read(path)


def test_dictionaries_of_numbers_are_features(tmp_path):
    numbers = pa.array([1.5, 2.5, 1.5]).dictionary_encode()
    table = pa.table({"x": numbers, "candidates": ["a", "b", "a|b"]})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    np.testing.assert_array_equal(
        read(tmp_path / "a.parquet").data.ravel(), [1.5, 2.5, 1.5]
    )


def test_line_breaks_inside_quotes_in_long_files(tmp_path):
    path = tmp_path / "notes.csv"
    line = '1,"first line,\n' + "and a second one" * 100 + '",cat|dog\n'
    path.write_text("a,note,candidates\n" + line * 3000)
    assert read(path, ignore=["note"]).candidates.shape == (3000, 2)


def test_labels_in_lists_may_contain_separators(tmp_path):
    path = tmp_path / "lists.parquet"
    sets = [["a|b", "c"], ["c"], ["d, e", "a|b"]]
    table = pa.table({"x": [1.0, 2.0, 3.0], "candidates": sets})
    pyarrow.parquet.write_table(table, path)
    bunch = read(path)
    assert bunch.target_names == ["a|b", "c", "d, e"]
    assert bunch.candidates.sum(axis=1).tolist() == [2, 1, 2]


@pytest.mark.parametrize("value", ["!", "2020-01-01", "007"])
def test_text_among_numbers_is_pointed_at(tmp_path, value):
    lines = ["a;b;candidates", "1;NA;cat|dog", f"{value};2;dog", "1,5;3;cat"]
    path = csv(tmp_path, "\n".join(lines))
    with pytest.raises(AmbiguousDataError) as error:
        read(path)
    assert f"{value!r} in row 1 of 'a'" in str(error.value)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1", "?", "1,5"], [1, np.nan, 1.5]),
        (["1.234,5", "2.000,0", "-"], [1234.5, 2000, np.nan]),
        (["yes", "no"], None),
        (["true", "NA", "False"], [1, np.nan, 0]),
        (["$1,234.50", "$7"], [1234.5, 7]),
        ([str(2**53 + 1), "5"], [2**53 + 1, 5]),
    ],
)
def test_cells_mean_the_same_in_every_format(tmp_path, cells, numbers):
    """Numbers as the encoder of tables reads them, in text as in Parquet."""
    table = pa.table({"x": cells, "candidates": ["a", "b", "a|b"][: len(cells)]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    pa.csv.write_csv(table, tmp_path / "t.csv")
    for name in ("t.parquet", "t.csv"):
        if numbers is None:
            with pytest.raises(AmbiguousDataError, match="columns 'x' hold text"):
                read(tmp_path / name)
            continue
        X = read(tmp_path / name).data
        np.testing.assert_array_equal(X[:, 0], np.asarray(numbers))


def test_dates_are_no_features(tmp_path):
    days = pa.array([1, 2], pa.date32())
    table = pa.table({"day": days, "candidates": ["a", "b"]})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(AmbiguousDataError, match="text or dates, not numbers"):
        read(tmp_path / "a.parquet")


@pytest.mark.parametrize("text", ["größe,candidates\n1,a\n", "x,candidates\n1,ä\n"])
def test_other_encodings_are_named(tmp_path, text):
    path = tmp_path / "latin.csv"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(DataFormatError, match="UTF-8"):
        read(path)


XYZ = "x,y,z,candidates\n0.1,0.5,1,a|b\n0.2,1.5,2,b\n0.3,2,3,a\n"


def test_a_coordinate_called_y_is_a_feature(tmp_path):
    bunch = read(csv(tmp_path, XYZ))
    assert bunch.feature_names == ["x", "y", "z"]
    assert bunch.target_names == ["a", "b"]
    assert bunch.truth is None
    named = read(csv(tmp_path, XYZ.replace("z,", "truth,")), truth="truth")
    assert named.feature_names == ["x", "y"]
    whole = XYZ.replace("0.5", "5").replace("1.5", "7")
    named = read(csv(tmp_path, whole.replace("z,", "truth,")), truth="truth")
    assert named.feature_names == ["x", "y"]
    one_hot = "x,y,a,b\n1,0.5,1,1\n2,1.5,0,1\n"
    assert read(csv(tmp_path, one_hot), labels=["a", "b"]).data.shape == (2, 2)


@pytest.mark.parametrize("labels", [None, ["a", "b"]])
def test_a_y_of_some_labels_is_left_open(tmp_path, labels):
    text = "x,y,candidates\n1,5,a|b\n2,7,b\n"
    if labels:
        text = "x,y,a,b\n1,5,1,1\n2,7,0,1\n"
    path = csv(tmp_path, text)
    assert read(path, labels=labels).feature_names == ["x", "y"]  # none is a label
    path = csv(tmp_path, text.replace(",5,", ",a,"))
    with pytest.raises(AmbiguousDataError, match="'y' may hold true labels or a feat"):
        read(path, labels=labels)
    assert read(path, labels=labels, ignore=["y"]).data.shape == (2, 1)


def test_a_y_of_labels_is_the_truth(tmp_path):
    for labels in ("ab", "12", "01"):
        a, b = labels
        text = f"x,y,candidates\n1,{a},{a}|{b}\n2,{b},{b}\n"
        bunch = read(csv(tmp_path, text))
        assert bunch.truth.tolist() == [0, 1]
        assert bunch.target_names == [a, b]
    bunch = read(csv(tmp_path, "x,y\n1,0\n2,1\n3,1\n"))
    assert (bunch.task, bunch.truth.tolist()) == ("multiclass", [0, 1, 1])


def test_a_wrong_name_to_ignore_is_answered_with_the_names(tmp_path):
    path = csv(tmp_path, "a, b,candidates\n1,2,x\n2,3,y\n")
    match = "`ignore`: there is no column 'b'. Did you mean ' b'?"
    with pytest.raises(AmbiguousDataError, match=re.escape(match)):
        read(path, ignore=["b"])


@pytest.mark.parametrize(
    "text", ["1,2.5,a|b\n2,3.5,b\n3,4.5,a\n", "5.1,3.5,cat\n4,3,cat\n7,1,dog\n"]
)
def test_a_file_without_names_is_not_robbed_of_its_first_row(tmp_path, text):
    with pytest.raises(DataFormatError, match="first line holds numbers and the label"):
        read(csv(tmp_path, text))
    spectra = read(csv(tmp_path, "1100.5,1101,kind\n" + text), truth="kind", sep="|")
    assert len(spectra.data) == 3


@pytest.mark.parametrize("text", ["x y candidates\n1 2 a\n", "x|candidates\n1|a\n"])
def test_other_delimiters_are_named(tmp_path, text):
    with pytest.raises(DataFormatError, match="commas, tabs or semicolons"):
        read(csv(tmp_path, text))


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_names_of_columns_may_have_line_breaks(tmp_path, mark):
    """Spreadsheets write them so where a name was broken by hand."""
    path = tmp_path / "a.csv"
    path.write_text(
        f'{mark}"net\nweight","say ""a""\n(b)",kind\n1,2,cat|dog\n3,4,cat\n',
        encoding="utf-8",
    )
    names = ["net\nweight", 'say "a"\n(b)']
    assert read(path, labels="kind").feature_names == names
    (block,) = table_blocks(path)
    assert block.schema.names == [*names, "kind"]


def test_a_quotation_mark_in_a_name_opens_nothing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('pipe 5",b,kind\n1,2,cat|dog\n3,4,cat\n')
    assert read(path, labels="kind").feature_names == ['pipe 5"', "b"]


def test_a_quotation_mark_that_is_never_closed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"a,b,kind\n1,2,cat|dog\n')
    with pytest.raises(DataFormatError, match="the header line cannot be read"):
        read(path)


@pytest.mark.parametrize("name", ["a.xls", "a.XLS", "a.ods"])
def test_spreadsheets_are_to_be_saved_as_csv(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(DataFormatError, match="Save the sheet as CSV"):
        read(tmp_path / name)


def test_lines_without_a_column(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n{}\n")
    (block,) = table_blocks(path)
    assert raw_columns(block) == {}
