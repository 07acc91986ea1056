"""The versions that CI installs, and the page of licenses, fit the project file."""

from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted(ROOT.glob("constraints/py*.txt"))


def needed(table, extra):
    """Requirements of the core and of an extra, extras of extras followed."""
    found = [Requirement(text) for text in table["dependencies"]]
    for text in table["optional-dependencies"][extra]:
        requirement = Requirement(text)
        if requirement.name == table["name"]:
            for inner in requirement.extras:
                found += needed(table, inner)
        else:
            found.append(requirement)
    return found


@pytest.mark.parametrize("path", LOCKS, ids=[path.stem for path in LOCKS])
def test_locked_versions_are_allowed(load_tool, path):
    table = load_tool("dependencies").project()
    lines = path.read_text(encoding="utf-8").split()
    locked = dict(line.split("==") for line in lines)
    assert list(locked) == sorted(locked)
    for requirement in needed(table, "test"):
        version = locked[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), (requirement, version)


def test_there_is_a_lock():
    assert LOCKS


def test_licenses_are_listed(load_tool):
    tool = load_tool("dependencies")
    page = (ROOT / "docs" / "developers" / "licenses.rst").read_text(encoding="utf-8")
    listed = [line[7:] for line in page.splitlines() if line.startswith("   * - ")]
    assert listed == ["package", *tool.direct(tool.project())], "run `make licenses`"
    assert "not installed" not in page


PROJECT = {
    "name": "house",
    "dependencies": ["numpy>=2"],
    "optional-dependencies": {
        "plot": ["matplotlib>=3"],
        "test": ["house[plot]", "absent-package>=1"],
    },
}


def test_what_is_named(load_tool):
    tool = load_tool("dependencies")
    found = {"absent-package": ["test"], "matplotlib": ["plot"], "numpy": [""]}
    assert tool.direct(PROJECT) == found
    text = tool.page(PROJECT)
    assert "* - numpy\n     - everything\n     - BSD" in text
    assert "not installed where this page was made" in text


def test_all_that_is_needed_is_locked(load_tool):
    tool = load_tool("dependencies")
    versions = tool.closure(PROJECT, "plot")
    assert {"numpy", "matplotlib", "contourpy", "pillow"} <= set(versions)
    assert "absent-package" not in versions


class Fake:
    def __init__(self, **about):
        self.metadata = Message()
        for key, value in about.items():
            self.metadata[key.replace("_", "-")] = value


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"License_Expression": "MIT", "License": "other"}, "MIT"),
        ({"License": "3-clause BSD"}, "3-clause BSD"),
        ({"Classifier": "License :: OSI Approved :: MIT License"}, "MIT License"),
        ({"License": "Apache License\n" * 99}, "Apache-2.0"),
        ({"License": "x" * 99}, "see its page"),
        ({}, "see its page"),
    ],
)
def test_words_for_licenses(load_tool, about, words):
    assert load_tool("dependencies").license(Fake(**about)) == words
