"""No name, command, option or plan that users have is lost."""

import importlib
from pathlib import Path

PROMISED = (Path(__file__).parent / "public_names.txt").read_text().splitlines()


def importable(name):
    module, _, attribute = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:
        return False


def test_nothing_is_lost(load_tool):
    lost = set(PROMISED) - load_tool("public_names").public_names()
    # A name may stay importable where it no longer lives.
    assert not {name for name in lost if " " in name or not importable(name)}


def test_the_list_is_of_use():
    assert "partlearn.decomposition.CRISP" in PROMISED
    assert "partlearn disambiguate --method" in PROMISED
    assert "plan demo" in PROMISED
    assert not importable("partlearn.decomposition.Absent")
    assert not importable("partlearn.absent.CRISP")
