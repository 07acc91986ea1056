"""Labels as libraries hand them over: arrays in cells, numbers of NumPy, gaps."""

import tracemalloc

import numpy as np
import pytest

from partlearn.candidates import (
    check_candidates,
    estimate_miss_rate,
    from_complementary,
    from_hierarchy,
    from_intervals,
    from_votes,
    from_weights,
)
from partlearn.io import label_evidence


def cells(*rows):
    out = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        out[i] = np.asarray(row)
    return out


def test_cells_may_be_arrays():
    """As pandas reads lists of a Parquet file."""
    excluded = from_complementary(cells(["a"], ["b", "c"]))
    np.testing.assert_array_equal(excluded.candidates, [[0, 1, 1], [1, 0, 0]])
    paths = from_hierarchy(cells(["x/a"], ["x/b", "y"], ["x"]))
    np.testing.assert_array_equal(paths.candidates, [[1, 0, 0], [0, 1, 1], [1, 1, 0]])


def test_rows_may_be_numbers_of_numpy():
    votes = from_votes(list(np.arange(2)), ["ann", "ann"], ["a", "b"])
    np.testing.assert_array_equal(votes.candidates, np.eye(2))


def test_infinite_rows_and_ends_are_refused():
    with pytest.raises(ValueError, match="row inf, not a row number"):
        from_votes([np.inf], ["ann"], ["a"])
    with pytest.raises(ValueError, match="inf is not a whole number"):
        from_intervals([(1, np.inf)])


def test_what_is_no_number_is_named():
    matrix = np.array([[1, 0.5], [0, "x"]], dtype=object)
    with pytest.raises(ValueError, match="'x' in row 1, column 1"):
        from_weights(matrix)
    with pytest.raises(ValueError, match="'x' in row 0, column 0"):
        from_weights([{"a": "x"}, {"b": 1}])
    with pytest.raises(ValueError, match="holds 'yes' in row 1, column 0"):
        check_candidates(np.array([[1, 0], ["yes", 1]], dtype=object))


def test_an_audit_of_numbers_for_labels_of_text():
    assert estimate_miss_rate([{"1"}, {"2"}], [1, 2]).rate == 0


def test_one_long_label_does_not_cost_every_row_its_length():
    labels = ["a", "b"] * 2000 + ["x" * 50_000]
    column = np.asarray(labels, dtype=object)
    tracemalloc.start()
    try:
        names, _ = check_candidates([{label} for label in labels])
        assert len(label_evidence({"y": column}, ["y"]).classes) == len(names) == 3
        assert tracemalloc.get_traced_memory()[1] < 20e6  # 800e6 as arrays of text
    finally:
        tracemalloc.stop()
