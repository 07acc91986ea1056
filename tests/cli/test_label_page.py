"""``partlearn disambiguate``: the page, its pictures, and corrections."""

import csv

import pytest

from partlearn.cli.__main__ import main

pytest.importorskip("jinja2")
TABLE = """id,file,a,b,labels
p1,one.png,0.1,2.0,cat|dog
p2,one.png,0.2,2.1,cat
p3,one.png,2.5,5.2,cat|dog
p4,one.png,5.0,8.0,dog
p5,none.png,2.6,5.1,dog|cat
p6,one.png,5.1,8.4,dog
p7,one.png,0.3,2.05,cat
p8,one.png,4.9,7.9,dog
"""


@pytest.fixture
def pets(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text(TABLE, encoding="utf-8")
    (tmp_path / "one.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    return path


@pytest.fixture
def run(pets, capsys):
    def call(*more):
        words = ["disambiguate", pets, "--labels", "labels", "--id", "id"]
        words += ["--method", "plknn", "--out", pets.parent / "out.csv", *more]
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        return int(end.value.code or 0), capsys.readouterr().err

    return call


def labels(pets):
    with (pets.parent / "out.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def test_page_with_pictures(run, pets):
    page = pets.parent / "page.html"
    code, err = run("--html", page, "--image", "file")
    assert code == 0, err
    text = page.read_text(encoding="utf-8")
    assert text.count("data:image/png;base64,") == 2  # p5 has no such file
    assert "<dt>a</dt>" in text
    assert "Labels of pets.csv" in text


def test_pictures_need_the_page_and_a_column(run, pets):
    code, err = run("--image", "file")
    assert code == 2
    assert "add --html FILE" in err
    code, err = run("--html", pets.parent / "page.html", "--image", "fil")
    assert code == 2
    assert "Did you mean 'file'?" in err


def test_corrections_come_back(run, pets):
    fixed = pets.parent / "fixed.csv"
    assert run()[0] == 0
    other = {"cat": "dog", "dog": "cat"}[labels(pets)["p1"]["label"]]
    fixed.write_text(f"row,label\r\np1,{other}\r\n", encoding="utf-8")
    assert run("--corrections", fixed)[0] == 0
    row = labels(pets)["p1"]
    assert (row["label"], row["confidence"]) == (other, "1.0")
    fixed.write_text("row,label\r\nnobody,dog\r\n", encoding="utf-8")
    code, err = run("--corrections", fixed)
    assert code == 2
    assert "row 'nobody', which is not there" in err


@pytest.mark.parametrize("name", ["../secret.png", "{secret}", "link.png", "\0"])
def test_pictures_come_from_the_folder_of_the_data(run, pets, tmp_path_factory, name):
    """A table is data of others: it may not show any picture of the disk."""
    other = tmp_path_factory.mktemp("other")
    secret = other / "secret.png"
    secret.write_bytes((pets.parent / "one.png").read_bytes())
    (pets.parent.parent / "secret.png").write_bytes(b"x")
    (pets.parent / "link.png").symlink_to(secret)
    pets.write_text(TABLE.replace("none.png", name.format(secret=secret)))
    page = pets.parent / "page.html"
    code, err = run("--html", page, "--image", "file")
    assert code == 1
    assert "row 4 of column 'file'" in err
    assert "--image-folder" in err
    assert not page.exists()


def test_pictures_of_another_folder(run, pets, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "one.png").write_bytes((pets.parent / "one.png").read_bytes())
    (pets.parent / "one.png").unlink()
    page = pets.parent / "page.html"
    options = ("--html", page, "--image", "file", "--image-folder", other)
    assert run(*options)[0] == 0
    assert "data:image/png;base64," in page.read_text(encoding="utf-8")


def test_names_of_columns_command_no_terminal(run, pets):
    pets.write_text(TABLE.replace("id,file", "id,\x1b[2J\x9bfile"), encoding="utf-8")
    code, err = run("--number", "\x1b[2Jfil")
    assert code == 2
    assert "\\x1b[2J" in err
    assert "\x1b" not in err
    assert "\x9b" not in err
