"""Lines of code that ran, as two versions are compared by them."""

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def same_work(load_tool):
    return load_tool("same_work")


@pytest.fixture
def checkout(tmp_path):
    """A small library with one module and one page."""
    source = tmp_path / "src" / "partlearn"
    source.mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (source / "a.py").write_text(
        '''"""Module."""

from os import (
    sep,
)


def used(
    x,
):
    """Use it.

    >>> used(1)
    1
    """
    if x:
        # a comment
        return (
            x
        )
    return 0


def _unused():
    """>>> 1"""
    return sep
''',
        encoding="utf-8",
    )
    (tmp_path / "docs" / "page.rst").write_text("Text.\n\n>>> 1\n1\n")
    (tmp_path / "README.md").write_text("No example.\n")
    return tmp_path


def test_statements_that_ran_count_with_all_their_lines(same_work, checkout):
    (module,) = same_work.read_modules(checkout)
    first = {line: number for number, line in enumerate(module.text.split("\n"), 1)}
    ran = {first["    if x:"], first["        return ("], first["from os import ("]}
    # Three lines of the signature, the condition, three lines of the first return.
    assert same_work.lines_that_ran(module, ran) == 7
    assert same_work.lines_that_ran(module, {first["from os import ("]}) == 0


def test_public_docstrings_and_pages_are_the_work(same_work, checkout):
    names = [name for name, _ in same_work.examples(checkout)]
    assert names == ["partlearn.a:used", "page.rst"]


def test_every_module_stands_on_a_floor(same_work):
    assert same_work.floor_of(Path("report/_render.py")) == "benchmark and report"
    assert same_work.floor_of(Path("crossfit/_gram.py")) == same_work.REST


def test_the_table_can_be_learnt_from(same_work, tmp_path):
    same_work.write_table(tmp_path / "animals.csv")
    head, *rows = (tmp_path / "animals.csv").read_text().splitlines()
    assert head.endswith("candidates,label")
    assert len(rows) == 150
    cells = [row.split(",") for row in rows]
    assert all(row[-1] in row[-2].split("|") for row in cells)
