"""The public line is short, documented, and loses nothing by accident."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECORD = (Path(__file__).parent / "public_names.txt").read_text().splitlines()
MOST = 180  # public names in all


@pytest.fixture(scope="module")
def tool(load_tool):
    return load_tool("public_names")


def test_nothing_is_lost(tool):
    """Renew the record at a release: ``python tools/public_names.py --write``."""
    assert not set(RECORD) - tool.public_names()


def test_the_public_line_is_short(tool):
    assert len(tool.python_names()) <= MOST


def test_every_public_name_is_shown_in_use(tool):
    """In the docstring's example, on a page, in an example or in the README."""
    files = [ROOT / "README.md", *(ROOT / "examples").glob("*.py")]
    files += (ROOT / "docs").rglob("*.rst")
    texts = (f.read_text(encoding="utf-8") for f in files if "generated" not in f.parts)
    words = set(re.findall(r"\w+", "\n".join(texts)))
    unused = []
    for dotted in sorted(tool.python_names()):
        module, _, name = dotted.rpartition(".")
        thing = getattr(importlib.import_module(module), name)
        if name not in words and ">>>" not in (inspect.getdoc(thing) or ""):
            unused.append(dotted)
    assert not unused


def test_pages_and_examples_use_public_names_only(tool):
    """Pages for developers show how methods inside the library are written."""
    public, wrong = tool.python_names(), []
    files = [ROOT / "README.md", *(ROOT / "examples").glob("*.py")]
    for part in ("user_guide", "tutorials", ""):
        files += (ROOT / "docs" / part).glob("*.rst")
    for file in files:
        text = re.sub(r"^(>>>|\.\.\.) ?", "", file.read_text("utf-8"), flags=re.M)
        for block in re.findall(
            r"^ *from partlearn[^#\n]* import \([^)]*\)", text, re.M
        ):
            text = text.replace(block, " ".join(block.split()))
        for line in re.findall(
            r"^ *(from partlearn[^#\n]* import [^#\n]*)", text, re.M
        ):
            module, _, names = line[5:].partition(" import ")
            wrong += [
                f"{file.name}: {module}.{name}"
                for name in re.findall(r"\w+", names)
                if f"{module}.{name}" not in public and "._math" not in module
            ]
    # TorchClassifier is public where torch is installed.
    assert [w for w in wrong if not w.endswith(".TorchClassifier")] == []


def test_the_record_covers_names_commands_and_plans():
    assert "partlearn.decomposition.CRISP" in RECORD
    assert "partlearn disambiguate --method" in RECORD
    assert "plan demo" in RECORD
