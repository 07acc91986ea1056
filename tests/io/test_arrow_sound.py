"""Arrow files on the path of the commands: checked, and charged before they expand."""

import gzip
import io
import json
import struct

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc

from partlearn.io import (
    DataError,
    DataFormatError,
    DataLimitError,
    Limits,
    TableWriter,
    read,
    table_blocks,
)
from partlearn.io._table import expanded_size
from partlearn.tables import read_columns

SMALL = Limits(max_bytes=2**22)


def arrow(table, *, compression=None, stream=False, rows=None):
    buffer = io.BytesIO()
    options = ipc.IpcWriteOptions(compression=compression)
    new = ipc.new_stream if stream else ipc.new_file
    with new(buffer, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return buffer.getvalue()


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("stream", [False, True])
def test_files_and_streams(compression, stream, tmp_path):
    table = pa.table(
        {"a": np.arange(10.0), "kind": pa.array(list("xyxyxyxyxy")).dictionary_encode()}
    )
    path = tmp_path / "a.arrow"
    path.write_bytes(arrow(table, compression=compression, stream=stream, rows=4))
    blocks = list(table_blocks(path, block_rows=3))
    assert [len(block) for block in blocks] == [3, 1, 3, 1, 2]
    columns = read_columns(path)
    np.testing.assert_array_equal(columns["a"], np.arange(10.0))
    assert columns["kind"].tolist() == list("xy" * 5)


def test_text_that_points_outside_is_refused(tmp_path):
    """Its cells once were bytes of the memory of the process."""
    data = bytearray(arrow(pa.table({"kind": ["cat", "dog"], "n": [1, 2]})))
    offsets = struct.pack("<3i", 0, 3, 6)
    place = data.find(offsets)
    assert data.count(offsets) == 1
    data[place : place + 12] = struct.pack("<3i", 0, 3, 500)
    path = tmp_path / "a.arrow"
    path.write_bytes(data)
    with pytest.raises(DataFormatError, match="cannot be read"):
        list(table_blocks(path))
    with pytest.raises(DataError):
        read_columns(path)


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
@pytest.mark.parametrize(
    "reader", [read, lambda path, limits: list(table_blocks(path, limits=limits))]
)
def test_what_expands_is_charged_before_it_does(compression, reader, tmp_path):
    path = tmp_path / "a.feather"
    table = pa.table({f"f{j}": np.zeros(10**5) for j in range(20)})
    path.write_bytes(arrow(table, compression=compression))
    assert path.stat().st_size < 2**17
    before = pa.total_allocated_bytes(), pa.default_memory_pool().max_memory()
    with pytest.raises(DataLimitError, match="the table"):
        reader(path, limits=Limits(max_bytes=2**23))
    assert pa.default_memory_pool().max_memory() <= max(before[1], before[0] + 2**23)


@pytest.mark.parametrize(
    "column",
    [
        pa.nulls(10**6),
        pa.array([None] * 10**6, pa.struct([])),
        pa.array(["x" * 10_000]).dictionary_encode().take(pa.array([0] * 10**4)),
    ],
    ids=["nothing", "structs of nothing", "long text by number"],
)
def test_what_takes_no_bytes_to_store(column, tmp_path):
    path = tmp_path / "a.arrow"
    path.write_bytes(arrow(pa.table({"a": column})))
    with pytest.raises(DataLimitError):
        list(table_blocks(path, limits=SMALL, block_rows=10**6))


def test_values_that_share_memory_are_refused(tmp_path):
    path = tmp_path / "a.arrow"
    column = pa.RunEndEncodedArray.from_arrays([10**6], ["x" * 1000])
    path.write_bytes(arrow(pa.table({"a": pa.array([1]), "b": column[:1]})))
    with pytest.raises(DataFormatError, match="column 'b': columns of type run_end"):
        list(table_blocks(path))


@pytest.mark.parametrize("seed", range(40))
def test_damaged_files(seed, tmp_path):
    rng = np.random.default_rng(seed)
    table = pa.table(
        {
            "a": np.arange(30.0),
            "kind": pa.array(list("xyz" * 10)).dictionary_encode(),
            "text": ["some", None, "words"] * 10,
            "set": [["a", "b"], ["c"], None] * 10,
        }
    )
    compression = [None, "lz4", "zstd"][seed % 3]
    data = bytearray(arrow(table, compression=compression, stream=bool(seed % 2)))
    for _ in range(int(rng.integers(1, 4))):
        data[rng.integers(len(data))] = rng.integers(256)
    path = tmp_path / "a.arrow"
    path.write_bytes(data)
    try:
        columns = read_columns(path)
    except (DataError, ValueError):
        return
    assert len({len(column) for column in columns.values()}) == 1


def test_descriptions_that_are_damaged():
    body = pa.py_buffer(b"12345678")
    with pytest.raises(DataFormatError, match="damaged"):
        expanded_size(b"\x04\x00\x00\x00\xff\xff\xff\x7f", body)
    with pytest.raises(DataFormatError, match="damaged"):
        expanded_size(b"", body)


def lines(n):
    return b'{"a":[],"b":[]}\n' * n


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv.gz", b"a,b,c\n" + b",,\n" * 10**6),
        ("a.jsonl.gz", lines(10**5)),
        ("a.jsonl.gz", b'{"a":"' + b"x" * 2**22 + b'"}\n'),
    ],
)
def test_compressed_text_is_charged_before_it_is_kept(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(gzip.compress(content))
    assert path.stat().st_size < 10**4
    with pytest.raises(DataError, match=r"limit|longer than"):
        list(table_blocks(path, limits=SMALL, whole=True))


def test_lines_that_have_other_names_each(tmp_path):
    """A cell for every row and name."""
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({f"x{i}": 1}) for i in range(9000)))
    with pytest.raises(DataLimitError, match="a block of rows"):
        list(table_blocks(path, limits=Limits(max_bytes=2**20)))


def test_large_plain_tables_may_take_memory(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n" * 10**5)
    assert len(read_columns(path)["a"]) == 10**5
    assert sum(map(len, table_blocks(path, limits=SMALL, whole=True))) == 10**5


def test_moments_that_no_calendar_has(tmp_path):
    """Arrow keeps them; to write them as text once ended in a traceback."""
    moments = pa.array([2**62, 0], pa.timestamp("s"))
    with (
        pytest.raises(DataFormatError, match="cannot be written"),
        TableWriter(tmp_path / "out.csv") as writer,
    ):
        writer.write({"day": moments})
