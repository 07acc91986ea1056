"""Small files that would become large tables, and things that are no files."""

import gzip
import os
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partlearn._sizes import SIZES
from partlearn.io import (
    DataError,
    DataFormatError,
    DataLimitError,
    Limits,
    TableWriter,
    read,
    table_blocks,
)
from partlearn.tables import number_matrix, read_columns

SMALL = Limits(max_bytes=2**22)


def test_cells_of_a_compressed_table_are_charged(tmp_path):
    """One byte of text becomes a number of eight."""
    path = tmp_path / "a.csv.gz"
    header = ",".join([*(f"f{j}" for j in range(99)), "candidates\n"])
    path.write_bytes(gzip.compress((header + ("1," * 99 + "a\n") * 9000).encode()))
    assert path.stat().st_size < 10_000
    assert read(path).data.shape == (9000, 99)
    with pytest.raises(DataLimitError, match="the table in the compressed file"):
        read(path, limits=SMALL)


@pytest.mark.parametrize("name", ["a.json.gz", "a.arrow.gz"])
def test_files_that_are_read_whole_are_limited_in_blocks_too(
    tmp_path, name, monkeypatch
):
    path = tmp_path / name
    path.write_bytes(gzip.compress(b" " * 10**7))
    monkeypatch.setattr(SIZES, "table_ratio", 1)
    with pytest.raises(DataLimitError, match="the expanded file would bring"):
        next(table_blocks(path, limits=SMALL))


@pytest.mark.parametrize(
    "column",
    [np.zeros(10**6), np.zeros(10**6, dtype=np.int8), pa.nulls(10**6)],
    ids=["float", "int", "null"],
)
def test_numbers_of_a_parquet_table_are_charged_before_they_are_read(column, tmp_path):
    path = tmp_path / "a.parquet"
    table = {f"f{j}": column for j in range(5)}
    pq.write_table(pa.table({**table, "candidates": pa.array(["a"] * 10**6)}), path)
    assert path.stat().st_size < 100_000
    before = pa.total_allocated_bytes()
    with pytest.raises(DataLimitError, match="the table would bring"):
        read(path, limits=SMALL)
    assert pa.total_allocated_bytes() - before < SMALL.max_bytes


@pytest.mark.parametrize("lists", [False, True])
def test_repeated_text_is_kept_once(lists, tmp_path):
    """Two kilobytes that were a gigabyte, in columns of text and of lists."""
    path = tmp_path / "a.parquet"
    n, long = 20_000, "a" * 5000
    cells = [[long, "b", long], ["b"]] * (n // 2) if lists else [long, "b"] * (n // 2)
    pq.write_table(pa.table({"f": np.arange(n) / n, "candidates": cells}), path)
    pool = pa.default_memory_pool()
    before = pool.max_memory()
    bunch = read(path, limits=SMALL)
    assert bunch.target_names == [long, "b"]
    assert bunch.candidates.sum() == (n // 2 * 3 if lists else n)
    assert pool.max_memory() - before < 2**26
    # In blocks the text is written out again, so it counts as a whole.
    if not lists:
        (block,) = table_blocks(path)
        assert block.num_rows == n
        assert block.column("candidates").type == pa.string()


def test_text_of_a_block_is_limited(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"f": np.zeros(100), "note": ["a" * 5000] * 100}), path)
    few = Limits(max_bytes=2**16)
    monkeypatch.setattr(SIZES, "table_ratio", 1)
    with pytest.raises(
        DataLimitError, match=r"100 cells of text would bring .* 500,000"
    ):
        list(table_blocks(path, limits=few))


def test_lists_of_other_things(tmp_path):
    path = tmp_path / "a.parquet"
    cells = pa.array([[1, 2], [2, None], None, [], [1, 1]], pa.list_(pa.int64()))
    pq.write_table(pa.table({"f": np.zeros(5), "candidates": cells}), path)
    bunch = read(path)
    assert bunch.target_names == ["1", "2"]
    np.testing.assert_array_equal(
        bunch.candidates.astype(int), [[1, 1], [0, 1], [0, 0], [0, 0], [1, 0]]
    )


@pytest.mark.parametrize("blocks", [False, True])
def test_a_long_first_line_is_named(blocks, tmp_path):
    for path, pack in ((tmp_path / "a.csv", bytes), (tmp_path / "a.csv.gz", None)):
        content = b"a" * 10_000_000 + b",b\n1,2\n"
        path.write_bytes(content if pack else gzip.compress(content))
        with pytest.raises(
            DataFormatError, match=r"the header line.*4,194,304"
        ) as error:
            list(table_blocks(path)) if blocks else read(path)
        assert path.name in str(error.value)


@pytest.mark.parametrize(
    ("kind", "blocks"),
    [("csv", True), ("csv", False), ("arff", False), ("libsvm", False)],
)
def test_damaged_gzip_is_a_data_error(kind, blocks, tmp_path):
    """Bits flipped, ends cut, and no gzip at all: zlib.error and EOFError before."""
    text = b"a,candidates\n" + b"1,x\n2,y\n" * 3000
    whole = gzip.compress(text, mtime=0)
    path = tmp_path / f"a.{kind}.gz"
    damaged = [whole[: len(whole) // 2], whole[:-6], b"no gzip", b""]
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    for content in (*damaged, bytes(flipped)):
        path.write_bytes(content)
        with pytest.raises(DataError):
            list(table_blocks(path)) if blocks else read(path)


@pytest.mark.parametrize("name", ["a.csv", "a.npz", "a.mat", "a.parquet", "a.arff.gz"])
def test_only_files_are_read(name, tmp_path):
    path = tmp_path / name
    os.mkfifo(path)
    with pytest.raises(DataFormatError, match="a pipe or a device, not a file"):
        read(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(DataFormatError, match="a folder, not a file"):
        read(path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / f"absent{name}")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device here")
def test_devices():
    with pytest.raises(DataFormatError, match="a pipe or a device"):
        read("/dev/zero", format="csv")


@pytest.mark.parametrize("code", [0x110000, 0xFFFFFFFF, 0xD800])
def test_text_with_impossible_characters(code, tmp_path):
    path = tmp_path / "a.npz"
    names = np.array([0x61, code], "<u4").view("<U1")
    np.savez(path, X=np.eye(4), y=np.arange(4) % 2, target_names=["a", "b"])
    with zipfile.ZipFile(path, "a") as archive, archive.open("z.npy", "w") as file:
        np.lib.format.write_array(file, names)
    with pytest.raises(DataFormatError, match="numbers that are not characters"):
        read(path)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.csv.gz"])
def test_table_blocks_of_a_pipe(name, tmp_path):
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataFormatError, match="not a file"):
        next(table_blocks(tmp_path / name))


def test_table_blocks_of_damage(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 3000)[:-9])
    with pytest.raises(DataFormatError, match="the gzip data are damaged"):
        list(table_blocks(path))
    path.write_bytes(gzip.compress(b"a" * 10_000_000))
    with pytest.raises(DataFormatError, match="the header line"):
        list(table_blocks(path))
    path = tmp_path / "a.jsonl"
    path.write_text('{"a":' * 100_000)
    with pytest.raises(DataFormatError, match="line 1 is not JSON"):
        list(table_blocks(path))


def test_table_blocks_keep_text_as_text(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"f": [1.0, 2.0], "note": ["x", None]}), path)
    (block,) = table_blocks(path)
    assert block.column("note").to_pylist() == ["x", None]
    assert block.schema.field("note").type == pa.string()


def test_long_whole_numbers_stay_numbers_in_blocks(tmp_path):
    """Rounded, as features are; they became 1, as truth values are."""
    path = tmp_path / "a.parquet"
    long = [2**60 + 1, 2**60 + 4096, 0]
    pq.write_table(pa.table({"a": long, "b": [True, False, True]}), path)
    X = number_matrix(read_columns(path), ["a", "b"])
    np.testing.assert_array_equal(X[:, 0], np.asarray(long, dtype=float))
    np.testing.assert_array_equal(X[:, 1], [1, 0, 1])


def test_numbers_in_blocks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,note\n 1,true,NA\n2.5,False,\n3,TRUE,x\n")
    X = number_matrix(read_columns(path), ["b", "a"])
    np.testing.assert_array_equal(X, [[1, 1], [0, 2.5], [1, 3]])
    wrong = "row 4 of column 'note': missing"
    with pytest.raises(DataFormatError, match=wrong):
        number_matrix({"note": np.array([1.0, np.nan])}, ["note"], start=3)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [[1.0], [2.0]]}), path)
    with pytest.raises(DataFormatError, match="row 0 of column 'a': a feature is not"):
        number_matrix(read_columns(path), ["a"])


@pytest.mark.parametrize("place", ["directory", "length"])
def test_damaged_zip_is_a_data_error(place, tmp_path):
    """Places outside of the file ended in OSError and EOFError without a name."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "a,candidates,truth\n" + "1,x|y,x\n" * 50)
    data = bytearray(path.read_bytes())
    if place == "directory":
        data[-6:-2] = (2**15).to_bytes(4, "little")
    else:
        start = data.index(b"PK\x01\x02") + 20
        data[start : start + 8] = (2**15).to_bytes(4, "little") * 2
    path.write_bytes(data)
    with pytest.raises(DataFormatError, match="the archive cannot be read"):
        read(path)


def test_many_columns_are_not_compared_with_each_other(tmp_path):
    """A small file of tasks may have a hundred thousand keys."""
    compared = 0

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str(self) == str(other)

    columns = {Name(f"x{i}"): [1] for i in range(2000)}
    with TableWriter(tmp_path / "a.csv") as writer:
        writer.write(columns)
        writer.write({Name(name): cells for name, cells in columns.items()})
    assert compared < 10 * len(columns)
