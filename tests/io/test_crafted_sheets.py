"""Spreadsheets that are damaged, or that would keep a reader busy for ever."""

from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from partlearn.io import DataFormatError, DataLimitError, read

openpyxl = pytest.importorskip("openpyxl")
SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def sheet(tmp_path):
    """Write a sheet of four rows whose XML was edited."""
    good, path = tmp_path / "good.xlsx", tmp_path / "edited.xlsx"
    book = openpyxl.Workbook()
    for row in (["x", "y", "candidates"], *([i, 2 * i, "a|b"] for i in range(3))):
        book.active.append(row)
    book.active.append([7, 7, "b"])
    book.save(good)

    def write(edit, part=SHEET):
        with ZipFile(good) as old, ZipFile(path, "w", ZIP_DEFLATED) as new:
            for name in old.namelist():
                data = old.read(name)
                data = edit(data) if name == part else data
                if data is not None:
                    new.writestr(name, data)
        return path

    return write


def test_a_row_that_is_far_away(sheet):
    last = b'<row r="1048576"><c r="A1048576"><v>1</v></c></row></sheetData>'

    def edit(data):
        data = data.replace(b'ref="A1:C5"', b'ref="A1:XFD1048576"')
        assert b"XFD1048576" in data
        return data.replace(b"</sheetData>", last)

    assert read(sheet(edit), labels="candidates").data.shape[1] == 2
    beyond = last.replace(b"1048576", b"999999999999")
    bunch = read(
        sheet(lambda data: data.replace(b"</sheetData>", beyond)), labels="candidates"
    )
    assert bunch.data.shape == (4, 2)


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: None,
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data.replace(b'r="A2"', b'r="?"'),
        lambda data: data.replace(b'r="2"', b'r="x"'),
        lambda data: data.replace(b"<v>0</v>", b"<v>zero</v>"),
        lambda data: data.replace(b'<c r="A2"', b'<c t="s" r="A2"', 1),
    ],
)
def test_damaged_sheets(edit, sheet):
    with pytest.raises(DataFormatError, match="spreadsheet"):
        read(sheet(edit), labels="candidates")


@pytest.mark.parametrize(
    ("part", "end", "piece"),
    [
        ("xl/styles.xml", b"</cellXfs>", b'<xf numFmtId="0" fontId="0" fillId="0"/>'),
        ("xl/workbook.xml", b"</workbook>", b'<definedName name="a">1</definedName>'),
    ],
)
def test_descriptions_that_would_become_large(part, end, piece, sheet):
    """A file of 100 kB took more than a gigabyte before its first row was read."""

    def edit(data):
        assert end in data
        return data.replace(end, piece * 500_000 + end)

    path = sheet(edit, part)
    assert path.stat().st_size < 200_000
    with pytest.raises(DataLimitError, match="the description of the workbook"):
        read(path, labels="candidates")
