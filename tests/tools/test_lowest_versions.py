"""Lowest versions are read from the project file, extras of extras included."""

import pytest

PROJECT = """
[project]
name = "house"
dependencies = ["numpy>=2.0"]
[project.optional-dependencies]
cli = ["typer>=0.16", "rich>=13"]
all = ["house[cli, plot]"]
plot = ["matplotlib>=3.9"]
loose = ["anything"]
"""


@pytest.fixture
def project(tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_text(PROJECT, encoding="utf-8")
    return file


def test_extras_are_followed(load_tool, project):
    versions = load_tool("lowest_versions").lowest_versions(["all"], project)
    assert versions == {
        "numpy": "2.0",
        "typer": "0.16",
        "rich": "13",
        "matplotlib": "3.9",
    }


def test_a_package_without_a_lowest_version_is_an_error(load_tool, project):
    with pytest.raises(ValueError, match="'anything' states no lowest version"):
        load_tool("lowest_versions").lowest_versions(["loose"], project)


def test_every_requirement_of_ours_has_one(load_tool):
    versions = load_tool("lowest_versions").lowest_versions([])
    assert {"numpy", "scipy", "scikit-learn", "typer", "pytest"} <= set(versions)
