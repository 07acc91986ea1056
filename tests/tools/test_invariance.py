"""Results depend on an order only where a class declares it."""

import pytest

from partlearn.feature_selection import RandomSelection

QUICK = [
    *("CENDA", "DELIN", "IPAL", "MLKNN", "MaxRelevance", "PLDA", "PLKNN"),
    *("RandomSelection", "SDLPP", "TunedPCA", "WPLDR"),
]
EXACT = [name for name in QUICK if name != "RandomSelection"]


@pytest.fixture(scope="module")
def invariance(load_tool):
    return load_tool("invariance")


@pytest.fixture(scope="module")
def shares(invariance):
    return invariance.table(QUICK)


def test_no_order_leaves_all_in_place(invariance):
    orders = invariance.other_orders(2, 5)
    assert [order.tolist() for order in orders] == 5 * [[1, 0]]


def test_every_deviation_is_declared(invariance, shares):
    assert invariance.undeclared(shares) == []


def test_deviations_are_seen(invariance, shares, monkeypatch):
    assert max(shares["RandomSelection"]["columns"].values()) > 0
    monkeypatch.setattr(RandomSelection, "_order_matters", ())
    assert invariance.undeclared(shares) == ["RandomSelection: columns"]


@pytest.mark.parametrize("name", EXACT)
def test_no_order_matters(shares, name):
    assert [max(by_kind.values()) for by_kind in shares[name].values()] == [0, 0, 0]


def test_the_table_marks_declared_axes(invariance, monkeypatch, capsys):
    monkeypatch.setattr(invariance.sys, "argv", ["invariance.py", "RandomSelection"])
    invariance.main()
    assert "1.00* plain" in capsys.readouterr().out
