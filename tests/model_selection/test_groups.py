"""Groups of rows: their numbers, and how they are dealt to folds."""

import numpy as np
import pytest

from partlearn.model_selection._groups import deal_groups, group_codes


def test_groups_are_dealt_evenly():
    rng = np.random.RandomState(0)
    groups = rng.randint(12, size=90)
    fold = deal_groups(group_codes(groups, 90), 5, rng)
    held = [set(groups[fold == b]) for b in range(5)]
    assert sum(map(len, held)) == len(set(groups))  # each in one fold
    sizes = np.bincount(fold)
    assert sizes.max() - sizes.min() <= np.bincount(groups).max()


@pytest.mark.parametrize("groups", [np.array([1.0, np.nan, 2.0]), ["a", None, "b"]])
def test_a_row_without_a_group_is_named(groups):
    with pytest.raises(ValueError, match="no value for row 1"):
        group_codes(groups, 3)


def test_a_row_without_a_group_of_a_series_is_named():
    pd = pytest.importorskip("pandas")
    for groups in (
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series(["a", None, "b"]),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.to_datetime(pd.Series(["2020-01-01", None, "2020-01-02"])),
    ):
        with pytest.raises(ValueError, match="no value for row 1"):
            group_codes(groups, 3)


def test_groups_are_one_column():
    with pytest.raises(ValueError, match=r"one column; got shape \(2, 1\)"):
        group_codes(np.array([["a"], ["b"]]), 2)
    with pytest.raises(TypeError, match=r"one column; row 0 has \['a'\]"):
        group_codes([["a"], ["b"]], 2)
