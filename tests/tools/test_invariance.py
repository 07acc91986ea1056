"""Results depend on an order only where a class declares it."""

import pytest

from partlearn.multilabel.classification import MLKNN

QUICK = ["CENDA", "IPAL", "MLKNN", "MaxRelevance", "PLDA", "PLKNN", "RandomSelection"]


@pytest.fixture(scope="module")
def invariance(load_tool):
    return load_tool("invariance")


@pytest.fixture(scope="module")
def shares(invariance):
    return invariance.table(QUICK)


def test_every_deviation_is_declared(invariance, shares):
    assert invariance.undeclared(shares) == []


def test_deviations_are_seen(invariance, shares, monkeypatch):
    assert max(shares["MLKNN"]["rows"].values()) > 0
    assert max(shares["PLKNN"]["rows"].values()) == 0
    monkeypatch.setattr(MLKNN, "_ties_follow", ())
    assert invariance.undeclared(shares) == ["MLKNN: rows"]


def test_the_table_marks_declared_axes(invariance, monkeypatch, capsys):
    monkeypatch.setattr(invariance.sys, "argv", ["invariance.py", "RandomSelection"])
    invariance.main()
    assert "1.00* plain" in capsys.readouterr().out
