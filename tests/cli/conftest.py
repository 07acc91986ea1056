"""Run the command line in this process, on a table of ten animals."""

import csv
from typing import NamedTuple

import pytest

from partlearn.cli.__main__ import main

ROWS = """weight,height,id,kind,truth
4,25,a,cat|dog,cat
5,24,b,cat,cat
30,60,c,dog|horse,dog
28,55,d,dog,dog
500,160,e,horse|dog,horse
450,150,f,horse,horse
4.5,26,g,cat|horse,cat
29,58,h,dog|cat,dog
480,155,i,horse|cat,horse
3.9,24,j,cat,cat
"""


class Result(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture
def pets(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def run(capsys):
    """Run the command line in this process."""

    def call(*argv):
        with pytest.raises(SystemExit) as end:
            main([str(a) for a in argv])
        captured = capsys.readouterr()
        code = end.value.code
        return Result(0 if code is None else code, captured.out, captured.err)

    return call


@pytest.fixture
def table():
    """Rows of a CSV file."""

    def read(path):
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    return read
