"""Files as people save them: encodings, spreadsheets, archives, lines in front."""

import json
from zipfile import ZipFile

import numpy as np
import pytest

import partlearn
from partlearn.io import DataError, read, table_blocks
from partlearn.tables import read_columns

TEXT = "größe,c\n1.5,a|b\n2.5,b\n"
ROWS = {"größe": ["1.5", "2.5"], "c": ["a|b", "b"]}


def cells(path, **given):
    return {n: column.tolist() for n, column in read_columns(path, **given).items()}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_with_a_mark_are_found(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_text(TEXT, encoding=encoding)
    assert cells(path) == ROWS
    assert read(path, labels="c").target_names == ["a", "b"]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "gbk", "utf-16-le"])
def test_other_encodings_are_said(tmp_path, encoding):
    path = tmp_path / "t.csv"
    text = TEXT.replace("größe", "大小") if encoding == "gbk" else TEXT
    path.write_text(text, encoding=encoding)
    found = cells(path, encoding=encoding)
    assert list(found.values()) == list(ROWS.values())
    if encoding != "utf-16-le":
        with pytest.raises(DataError, match="Pass its encoding with `encoding`"):
            read_columns(path)
    with pytest.raises(ValueError, match="'klingon' is not known"):
        read_columns(path, encoding="klingon")


def test_the_wrong_encoding_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"x,c\n1,\xff\xfe\n")
    with pytest.raises(DataError, match="not in the encoding gbk"):
        read_columns(path, encoding="gbk")


@pytest.mark.parametrize(
    "front",
    [
        "\n \n",
        "\r\n# by Ann\n\n",
        "sep=;\n",
        "SEP=;\r\n",
        "# made by hand\n# in May\n",
        "#\nsep=;\n",
    ],
)
def test_lines_before_the_names(tmp_path, front):
    path = tmp_path / "t.csv"
    path.write_text(front + "x;c\n1;a,b\n2;b\n", newline="")
    assert cells(path) == {"x": ["1", "2"], "c": ["a,b", "b"]}
    assert read(path, labels="c").target_names == ["a", "b"]


def test_a_name_may_begin_with_a_mark_of_comments(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("#id,c\n1,a\n2,b\n")
    assert list(cells(path)) == ["#id", "c"]


def test_spreadsheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    book = openpyxl.Workbook()
    for row in (["x", "c", None], [1.5, "a|b"], [], [2, "b"]):
        book.active.append(row)
    book.save(path)
    found = cells(path)
    assert found == {"x": [1.5, 2.0], "c": ["a|b", "b"]}
    book.create_sheet("notes")
    book.save(path)
    with pytest.warns(UserWarning, match=r"t\.xlsx has 2 sheets; the first"):
        assert cells(path) == found
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="cannot be read"):
        read_columns(path)


@pytest.mark.parametrize(
    "content",
    [
        [{"x": 1.5, "c": "a|b"}, {"x": 2.0, "c": "b"}],
        {"x": [1.5, 2.0], "c": ["a|b", "b"]},
        {"x": {"0": 1.5, "1": 2.0}, "c": {"0": "a|b", "1": "b"}},
        {"columns": ["x", "c"], "index": [0, 1], "data": [[1.5, "a|b"], [2.0, "b"]]},
        {"schema": {}, "data": [{"x": 1.5, "c": "a|b"}, {"x": 2.0, "c": "b"}]},
    ],
)
def test_json(tmp_path, content):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(content))
    assert cells(path) == {"x": [1.5, 2.0], "c": ["a|b", "b"]}


@pytest.mark.parametrize("text", ["3", "[1]", '{"x": 3}', "{"])
def test_json_that_is_no_table(tmp_path, text):
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"JSON"):
        read_columns(path)


def test_zip(tmp_path):
    path = tmp_path / "t.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("folder/t.csv", TEXT)
        archive.writestr("readme.txt", "hello")
        archive.writestr("__MACOSX/._t.csv", "x")
    assert cells(path) == ROWS
    with ZipFile(path, "a") as archive:
        archive.writestr("other.csv", TEXT)
    with pytest.raises(DataError, match="holds 2 tables"):
        read_columns(path)
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="cannot be read"):
        list(table_blocks(path))


def test_missing_words_are_one_list(tmp_path):
    """The reader of matrices and that of tables take the same words."""
    path = tmp_path / "t.csv"
    path.write_text("x,z,c\n1,?,a\nNA,2,b\n-,3,a\nunknown,4,b\n")
    bunch = read(path, labels="c")
    np.testing.assert_array_equal(
        bunch.data, [[1, np.nan], [np.nan, 2], [np.nan, 3], [np.nan, 4]]
    )


def test_names_are_listed():
    assert {"disambiguate", "PartialClassifier"} <= set(dir(partlearn))


def test_lines_above_the_names_are_no_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Report of May\nx,c\n1,a\n2,b\n")
    with pytest.raises(DataError, match="The first line must name the columns"):
        read_columns(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[{}]", "no columns"),
        ('{"a": [1, 2], "candidates": ["x"]}', "same length"),
    ],
)
def test_tables_that_are_none_name_the_file(tmp_path, text, message):
    path = tmp_path / "a.json"
    path.write_text(text)
    for reader in (read, read_columns):
        with pytest.raises(DataError, match=rf"a\.json: .*{message}"):
            reader(path)


def test_merged_cells_are_named(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (("x", "site", "c"), (1, "north", "a|b"), (2, None, "b"), (3, "s", "a")):
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    assert read_columns(tmp_path / "t.xlsx")["site"].tolist() == ["north", None, "s"]
    sheet.merge_cells("B2:B3")
    book.save(tmp_path / "t.xlsx")
    with pytest.warns(UserWarning, match="t.xlsx has merged cells"):
        read_columns(tmp_path / "t.xlsx")
