"""Results depend on an order only where a class declares it."""

import pytest

from partlearn.decomposition import DELIN

QUICK = [
    *("CENDA", "DELIN", "IPAL", "MLKNN", "MaxRelevance", "PLDA", "PLKNN"),
    *("RandomSelection", "SDLPP", "TunedPCA", "WPLDR"),
]
EXACT = ("CENDA", "MLKNN", "PLDA", "PLKNN", "SDLPP", "TunedPCA", "WPLDR")


@pytest.fixture(scope="module")
def invariance(load_tool):
    return load_tool("invariance")


@pytest.fixture(scope="module")
def shares(invariance):
    return invariance.table(QUICK)


def test_every_deviation_is_declared(invariance, shares):
    assert invariance.undeclared(shares) == []


def test_deviations_are_seen(invariance, shares, monkeypatch):
    assert max(shares["DELIN"]["rows"].values()) > 0
    monkeypatch.setattr(DELIN, "_ties_follow", ())
    assert invariance.undeclared(shares) == ["DELIN: rows"]


@pytest.mark.parametrize("name", EXACT)
def test_no_order_matters(shares, name):
    assert [max(by_kind.values()) for by_kind in shares[name].values()] == [0, 0, 0]


def test_the_table_marks_declared_axes(invariance, monkeypatch, capsys):
    monkeypatch.setattr(invariance.sys, "argv", ["invariance.py", "RandomSelection"])
    invariance.main()
    assert "1.00* plain" in capsys.readouterr().out
