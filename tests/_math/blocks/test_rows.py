"""Rows in blocks: sums and maps over any blocking are those of the whole."""

import logging
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from partlearn import on_progress
from partlearn._math.blocks import Rows, as_rows, gather, in_memory, total

X = np.random.default_rng(0).normal(size=(23, 3))
Y = np.random.default_rng(1).normal(size=(23, 2))


class Part:
    """Loads some rows; counts how often."""

    loads = 0

    def __init__(self, rows):
        self.rows = rows

    def __call__(self):
        Part.loads += 1
        return self.rows


def in_blocks(A, sizes):
    ends = np.cumsum([0, *sizes])
    parts = [Part(A[a:b]) for a, b in pairwise(ends)]
    return Rows(parts, sizes, A.shape[1])


def product(block, part, factor):
    return factor * block.T @ part


def shifted(block, part, factor):
    return factor * block[:, :2] + part


def column_sums(block):
    return np.asarray(block.sum(axis=0)).ravel()


@pytest.mark.parametrize("lazily", [False, True])
@pytest.mark.parametrize("sizes", [[23], [1] * 23, [5, 0, 17, 1], [22, 1]])
def test_totals_and_maps_are_those_of_the_whole(sizes, lazily):
    rows = in_blocks(X, sizes)
    if lazily:
        rows = rows.with_dask()
        assert rows.with_dask() is rows
    with dask.config.set(scheduler="synchronous"):
        assert_allclose(total(rows, product, Y, factor=2.0), 2 * X.T @ Y, rtol=1e-12)
        assert_array_equal(gather(rows, shifted, Y, factor=2.0), 2 * X[:, :2] + Y)
        assert_array_equal(rows.take([22, 0, 7, 0]), X[[22, 0, 7, 0]])
        assert_array_equal(rows.compute(), X)
        assert total(rows, np.max, combine=max) == X.max()
    assert rows.shape == (23, 3)
    assert len(rows) == 23


@pytest.mark.parametrize("lazily", [False, True])
def test_some_rows_and_another_order(lazily):
    rows = in_blocks(X, [5, 0, 17, 1])
    rows = rows.with_dask() if lazily else rows
    order = np.random.default_rng(2).permutation(23)
    for wanted in (order, order[:9], [7, 7, 0], slice(3, 20), X[:, 0] > 0):
        part, A, B = rows[wanted], X[wanted], Y[wanted]
        assert part.shape == A.shape
        assert_array_equal(part.compute(), A)
        assert_array_equal(gather(part, shifted, B, factor=2.0), 2 * A[:, :2] + B)
        assert_allclose(total(part, product, B, factor=2.0), 2 * A.T @ B, rtol=1e-12)
        assert_array_equal(part.take([1, 0]), A[[1, 0]])
        assert_array_equal(part.astype(np.float32).compute(), A.astype(np.float32))
    rows.total(column_sums)
    before = Part.loads
    assert_allclose(rows[order].total(column_sums), X.sum(axis=0))
    assert Part.loads == before  # known from the same rows in their own order
    assert_allclose(rows[order[:9]].total(column_sums), X[order[:9]].sum(axis=0))


def test_an_array_is_one_block():
    assert_array_equal(total(X, product, Y, factor=2.0), 2 * X.T @ Y)
    assert_array_equal(gather(X, shifted, Y, factor=2.0), 2 * X[:, :2] + Y)
    assert as_rows(X) is None
    assert in_memory(Y) is Y


@pytest.mark.parametrize("lazily", [False, True])
def test_applied_functions_wait(lazily):
    rows = in_blocks(X, [9, 14])
    rows = rows.with_dask() if lazily else rows
    before = Part.loads
    first = rows.apply(numbered, n_features=None, numbered=True)
    half = rows.astype(np.float32)
    assert rows.astype(np.float64) is rows
    assert Part.loads == before
    assert first.shape == (23,)
    assert repr(first) == "Rows(23 in 2 blocks)"
    ends = np.repeat([0 + 8, 9 + 22], [9, 14])
    assert_array_equal(first.compute(), X[:, 0] + ends)
    assert half.dtype == half.compute().dtype == np.float32
    assert Part.loads == before + 4


def numbered(block, first, last):
    return block[:, 0] + (first + last)


def test_what_depends_on_the_rows_alone_is_remembered():
    rows = in_blocks(X, [9, 14])
    before = Part.loads
    for _ in range(3):
        assert_allclose(rows.total(column_sums), X.sum(axis=0))
    assert Part.loads == before + 2


def test_passes_are_logged(caplog):
    rows = in_blocks(X, [9, 14])
    heard = []
    with (
        caplog.at_level(logging.INFO, logger="partlearn._math.blocks"),
        on_progress(lambda *event: heard.append(event)),
    ):
        rows.total(column_sums)
    assert heard == [("column sums", done, 2) for done in range(3)]
    assert caplog.messages[0].startswith("column sums over 2 blocks: ")


def test_sparse_blocks_stay_sparse():
    rows = in_blocks(sp.csr_array(X), [9, 14])
    assert sp.issparse(rows.take([3, 1]))
    assert_array_equal(rows.take([3, 1]).toarray(), X[[3, 1]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_dask_arrays_and_frames_are_read(dtype):
    A = (10 * X).astype(dtype)
    floats = np.float32 if dtype == np.float32 else np.float64
    rows = as_rows(da.from_array(A, chunks=(10, 2)))
    assert rows.dtype == floats
    assert rows.sizes.tolist() == [10, 10, 3]
    assert_array_equal(rows.compute(), A)
    frame = dd.from_pandas(pd.DataFrame(A, columns=list("abc")), npartitions=4)
    rows = as_rows(frame[frame.a > 0])
    assert rows.dtype == floats
    assert rows.names == ["a", "b", "c"]
    assert rows.shape == ((A[:, 0] > 0).sum(), 3)
    assert as_rows(rows) is rows
    assert_array_equal(in_memory(da.from_array(A)), A)


@pytest.mark.parametrize(
    "other",
    [
        da.ones(3),
        da.ones((3, 2, 2)),
        dask.delayed(X),
        dd.from_pandas(pd.DataFrame(X), npartitions=2)[0],
        dd.from_pandas(pd.DataFrame(X), npartitions=2).index,
    ],
    ids=lambda other: type(other).__name__,
)
def test_other_collections_are_refused(other):
    with pytest.raises(ValueError, match="Dask array of two dimensions"):
        as_rows(other)


def test_no_rows_are_an_empty_array():
    rows = in_blocks(X, [10, 13])
    assert rows.take([]).shape == rows[:0].compute().shape == (0, 3)
    assert len(Rows([], [], 3)) == 0
    assert as_rows(da.from_array(X, chunks=(10, 3))).take([]).shape == (0, 3)


def test_places_are_those_of_an_array():
    rows = in_blocks(X, [10, 13])
    assert_array_equal(rows.take([-1, 3]), X[[-1, 3]])
    assert_array_equal(rows.take(X[:, 0] > 0), X[X[:, 0] > 0])
    with pytest.raises(IndexError, match="integer"):
        rows.take([1.5])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_rows_of_frames_are_rows_not_columns(frame):
    rows = Rows([Part(frame(X[:10])), Part(frame(X[10:]))], [10, 13], 3)
    assert_array_equal(rows.take([12, 1, 0]), X[[12, 1, 0]])
    columns = dd.from_pandas(pd.DataFrame(X), npartitions=2)  # numbered like rows
    assert_array_equal(as_rows(columns).take([12, 1, 0]), X[[12, 1, 0]])


def test_rows_are_not_taken_one_at_a_time():
    rows = in_blocks(X, [10, 13])
    with pytest.raises(TypeError, match="a mask or a slice; got 3"):
        rows[3]
    with pytest.raises(TypeError, match="`compute` loads all"):
        list(rows)  # which was empty


def test_sizes_belong_to_their_blocks():
    load = Part(X)
    with pytest.raises(ValueError, match="each of the 2 blocks; got 1"):
        Rows([load, load], [23], 3)
    with pytest.raises(
        ValueError, match="Block 1 has 23 rows, but its size is given as 13"
    ):
        Rows([Part(X[:10]), load], [10, 13], 3).compute()


def test_each_way_to_combine_is_remembered_for_itself():
    rows = in_blocks(X, [10, 13])
    parts = [float(X[:10].sum()), float(X[10:].sum())]
    assert rows.total(_entries) == sum(parts)
    assert rows.total(_entries, combine=max) == max(parts)


def _entries(block):
    return float(block.sum())
