"""The gallery shows every method and every kind of label, by displays alone."""

import ast
from pathlib import Path

import pytest
from tests.estimators import documented

from partlearn import candidates, inspection

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.fixture(scope="module")
def trees():
    return {path.name: ast.parse(path.read_text("utf-8")) for path in EXAMPLES}


def names(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def test_every_method_has_a_picture(trees):
    shown = set().union(*map(names, trees.values()))
    assert documented() <= shown


def test_every_display_has_a_picture(trees):
    displays = {name for name in inspection.__all__ if name.endswith("Display")}
    assert len(displays) >= 7
    assert displays <= set().union(*map(names, trees.values()))


def test_every_kind_of_label_has_a_picture(trees):
    constructors = {name for name in candidates.__all__ if name.startswith("from_")}
    assert len(constructors) >= 7
    assert constructors <= names(trees["plot_kinds_of_labels.py"])
