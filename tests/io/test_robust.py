"""Damaged and hostile files: only the documented errors, and bounded memory."""

import gzip
import random
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tools.fuzz.mutate import mutate
from tools.fuzz.readers import ARFF, INSIDE, LIMITS, READERS, make_seeds

from partlearn._sizes import SIZES
from partlearn.io import DataError, DataFormatError, DataLimitError, Limits
from partlearn.io import read as _read

PEAK = 3 * LIMITS.max_bytes  # what is built, what it is built from, and a copy


@pytest.fixture(scope="module", autouse=True)
def traced():
    """Trace memory from the first test to the last.

    To stop between reads may crash: threads of Arrow allocate meanwhile (gh-128679 of
    CPython, mended in 3.12.9).
    """
    tracemalloc.start()
    yield
    tracemalloc.stop()


def peak_of(function, *args, **kwargs):
    """What a call returns, and the memory it took at most."""
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    found = function(*args, **kwargs)
    return found, tracemalloc.get_traced_memory()[1] - before


def attempt(path):
    """The content of a file which may be anything, or None after our own error."""
    try:
        return _read(path, limits=LIMITS)
    except DataError:
        return None


def read(path):
    """Read a file which may be anything; only our own errors are allowed out."""
    bunch, peak = peak_of(attempt, path)
    assert peak < PEAK
    if bunch is None:
        return False
    assert bunch.data.shape[0] > 0
    return bunch.candidates is None or bunch.candidates.dtype == bool


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """One small sound file of every kind."""
    return make_seeds(tmp_path_factory.mktemp("seeds"))


@pytest.mark.parametrize("kind", READERS)
def test_mutations(tmp_path, seeds, kind):
    path = tmp_path / f"m.{READERS[kind]}"
    path.write_bytes(seeds[kind])
    assert read(path), "the sound file must read"
    change = INSIDE.get(kind, mutate)
    for i in range(60):
        path.write_bytes(change(seeds[kind], random.Random(f"{kind} {i}")))
        read(path)


@pytest.mark.parametrize("kind", sorted(set(READERS.values())))
@settings(max_examples=15)
@given(data=st.binary(max_size=300))
def test_any_bytes(tmp_path, kind, data):
    path = tmp_path / f"m.{kind}"
    path.write_bytes(data)
    read(path)


@pytest.mark.parametrize("kind", ["csv", "arff", "libsvm"])
@settings(max_examples=30)
@given(lines=st.lists(st.text("@atribuedl{}01,:;|'\"% \t-?.\\nax#", max_size=30)))
def test_any_text(tmp_path, kind, lines):
    path = tmp_path / f"m.{kind}"
    head = {"arff": ARFF, "csv": "a,candidates\n", "libsvm": ""}[kind]
    path.write_text(head + "\n".join(lines))
    read(path)


# Bombs ------------------------------------------------------------------------------


def npy(shape, dtype="<f8", payload=b""):
    head = repr({"descr": dtype, "fortran_order": False, "shape": shape})
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + payload


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


def test_npz_huge_shape(tmp_path):
    path = archive(tmp_path / "a.npz", X=npy((10**9, 10**9)))
    with pytest.raises(DataFormatError, match="declares"):
        _read(path)


@pytest.mark.parametrize(
    "content",
    [
        npy((-1, 3)),
        npy((2, 2), "|O", b"\0" * 32),
        npy((2, 2), "|V0"),
        npy((2, 2), "M8[s]", b"\0" * 32),
        npy((2, 2), "<f8", b"\0" * 31),
        npy((2, 2), "<f8", b"\0" * 33),
        npy((2, 2), "__import__('os')", b"\0" * 32),
        b"\x93NUMPY\x09\x00" + b"\0" * 64,
        npy((2, 2), "<f8", b"\0" * 32).replace(b"\x01\x00", b"\x02\x00", 1),
        b"",
    ],
)
def test_npz_damaged_arrays(tmp_path, content):
    path = archive(tmp_path / "a.npz", X=content, y=npy((2,), "<i8", b"\0" * 16))
    with pytest.raises(DataFormatError):
        _read(path)


def test_npz_bomb(tmp_path):
    """64 MiB of zeros in 64 kB: kept sparse if allowed, refused if not."""
    rows = 2**16
    path = archive(
        tmp_path / "a.npz",
        X=npy((rows, 1024), "|u1", bytes(rows * 1024)),
        y=npy((rows,), "|u1", bytes(range(256)) * (rows // 256)),
    )
    assert path.stat().st_size < 100_000
    with pytest.raises(DataLimitError, match="max_bytes"):
        _read(path, limits=Limits(max_bytes=2**24))
    bunch, peak = peak_of(_read, path)
    assert bunch.data.nnz == 0
    assert peak < 2**25


def test_ratio(tmp_path):
    from partlearn.io import Budget

    budget = Budget(Limits(), stored=1000, ratio_from=10_000)
    budget.charge(10_000, "a")
    with pytest.raises(DataLimitError, match="max_ratio"):
        budget.charge(600_000, "b")
    with pytest.raises(DataFormatError, match="negative"):
        budget.charge(-1, "c")


def test_npz_members(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("X.npy", npy((2, 2), "<f8", b"\0" * 32))
    with pytest.raises(DataFormatError, match="compression"):
        _read(path)
    monkeypatch.setattr(SIZES, "npz_members", 1)
    archive(path, X=b"", Y=b"")
    with pytest.raises(DataFormatError, match="too many"):
        _read(path)


def test_names_are_no_paths(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    path = archive(inner / "a.npz", **{"../X": npy((2, 2), "<f8", b"\0" * 32)})
    with pytest.raises(DataError):
        _read(path)
    assert [p.name for p in tmp_path.iterdir()] == ["inner"]


def mat(*elements, compress=True):
    out = b"MATLAB 5.0".ljust(124) + b"\x00\x01IM"
    for content in elements:
        if compress:
            content = zlib.compress(content)
            out += struct.pack("<II", 15, len(content)) + content
        else:
            out += content
    return out


def element(kind, data, length=None):
    head = struct.pack("<II", kind, len(data) if length is None else length)
    return head + data + b"\0" * (-len(data) % 8)


def matrix(name, dims, data, *, mclass=6, flags=0, kind=9, length=None):
    return element(
        14,
        element(6, struct.pack("<II", mclass | flags << 8, 0))
        + element(5, np.array(dims, dtype="<i4").tobytes())
        + element(1, name)
        + (data if isinstance(data, bytes) else element(kind, bytes(data), length)),
    )


def test_mat_bomb(tmp_path):
    """Gigabytes of zeros: refused by its declared size, before it is expanded."""
    path = tmp_path / "a.mat"
    path.write_bytes(mat(matrix(b"data", (2**14, 2**14), bytearray(8), length=2**31)))
    with pytest.raises(DataFormatError, match="cannot hold"):
        _read(path)
    zeros = matrix(b"data", (2**12, 2**12), bytearray(2**24), kind=2, mclass=9)
    path.write_bytes(mat(zeros))
    assert path.stat().st_size < 40_000
    with pytest.raises(DataLimitError, match="max_bytes"):
        _read(path, limits=Limits(max_bytes=2**20))


EYE = np.eye(2).tobytes()


@pytest.mark.parametrize(
    "content",
    [
        matrix(b"data", (2, 3), bytearray(EYE)),
        matrix(b"data", (-2, -2), bytearray(EYE)),
        matrix(b"data", (2,), bytearray(EYE)),
        matrix(b"data", (2, 2), bytearray(EYE), kind=77),
        matrix(b"data", (2, 2), bytearray(EYE), flags=8),
        matrix(b"data", (2, 2), b""),
        matrix(b"x" * 5000, (2, 2), bytearray(EYE)),
        element(9, EYE),
        element(14, element(6, b"\0" * 4)),
        element(14, element(5, b"\0" * 12)),
        struct.pack("<II", 5 << 16 | 6, 0),
        # Cells and structs that promise more than they hold.
        matrix(b"c", (2**15, 2**15), b"", mclass=1),
        matrix(b"c", (1, 1), element(9, EYE), mclass=1),
        matrix(b"s", (1, 1), element(5, b"\0" * 4) + element(1, b"ab"), mclass=2),
        matrix(b"s", (1, 1), b"", mclass=2),
        matrix(
            b"s",
            (1, 1),
            element(9, np.array([0.5]).tobytes()) + element(1, b"ab"),
            mclass=2,
        ),
        # Text in more lines than could be listed, all of them empty.
        matrix(b"t", (2**31 - 1, 0), element(4, b""), mclass=4),
        matrix(b"o", (1, 1), element(1, b"cls") + element(5, b"\xff" * 4), mclass=3),
        # Sparse: dimensions, types, order and range of indices.
        matrix(b"z", (1, 1, 1), b"", mclass=5),
        matrix(
            b"z",
            (2, 1),
            element(5, np.int32([5]).tobytes())
            + element(5, np.int32([0, 1]).tobytes())
            + element(9, np.ones(1).tobytes()),
            mclass=5,
        ),
        matrix(
            b"z",
            (2, 1),
            element(5, np.int32([-1]).tobytes())
            + element(5, np.int32([0, 1]).tobytes())
            + element(9, np.ones(1).tobytes()),
            mclass=5,
        ),
        matrix(
            b"z",
            (2, 1),
            element(5, np.int32([0]).tobytes())
            + element(5, np.int32([0, 9]).tobytes())
            + element(9, np.ones(1).tobytes()),
            mclass=5,
        ),
        matrix(
            b"z",
            (2, 2),
            element(5, np.int32([0]).tobytes())
            + element(5, np.int32([0, 1, 0]).tobytes())
            + element(9, np.ones(1).tobytes()),
            mclass=5,
        ),
        matrix(
            b"z",
            (2, 2),
            element(5, np.int32([0]).tobytes())
            + element(5, np.int32([0, 1]).tobytes())
            + element(9, np.ones(1).tobytes()),
            mclass=5,
        ),
        matrix(
            b"z",
            (2, 1),
            element(9, np.zeros(1).tobytes())
            + element(5, np.int32([0, 1]).tobytes())
            + element(9, np.ones(1).tobytes()),
            mclass=5,
        ),
        matrix(
            b"z",
            (2**31 - 1, 1),
            element(5, b"") + element(5, np.int32([0, 0]).tobytes()) + element(9, b""),
            mclass=5,
        ),
    ],
)
@pytest.mark.parametrize("compress", [True, False])
def test_mat_damage(tmp_path, content, compress):
    path = tmp_path / "a.mat"
    path.write_bytes(mat(content, compress=compress))
    with pytest.raises(DataError):
        _read(path, limits=LIMITS)


def test_mat_skips_what_it_does_not_know(tmp_path):
    handle = element(14, element(6, struct.pack("<II", 16, 0)) + b"\1" * 24)
    fields = element(5, struct.pack("<i", 8)) + element(1, b"f\0".ljust(8, b"\0") * 1)
    holder = matrix(b"h", (1, 1), fields + handle, mclass=2)
    good = matrix(b"data", (2, 2), bytearray(EYE))
    gnd = matrix(b"gnd", (2, 1), bytearray(np.array([1.0, 2.0]).tobytes()))
    path = tmp_path / "a.mat"
    for compress in (True, False):
        path.write_bytes(mat(handle, holder, good, gnd, compress=compress))
        np.testing.assert_array_equal(_read(path).data, np.eye(2))
    path.write_bytes(mat(good, gnd) + b"\0\0\0")  # padding at the end
    assert _read(path).data.shape == (2, 2)
    path.write_bytes(mat(good, gnd) + b"abc")
    with pytest.raises(DataFormatError, match="inside a tag"):
        _read(path)


def test_mat_checksum(tmp_path):
    """A flipped bit that survives decompression is found by the checksum."""
    rng = np.random.default_rng(0)
    body = matrix(b"data", (40, 4), bytearray(rng.normal(size=160).tobytes()))
    packed = bytearray(zlib.compress(body, 0))  # stored, so that no code can break
    packed[len(packed) // 2] ^= 1
    head = mat()
    path = tmp_path / "a.mat"
    path.write_bytes(head + struct.pack("<II", 15, len(packed)) + bytes(packed))
    with pytest.raises(DataFormatError, match="damaged"):
        _read(path)
    longer = zlib.compress(body + b"\0" * 200)
    path.write_bytes(head + struct.pack("<II", 15, len(longer)) + longer)
    with pytest.raises(DataFormatError, match="do not end"):
        _read(path)


def test_gzip_bomb(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,candidates\n" + b"1,x\n" * 2**22, 1))
    with pytest.raises(DataLimitError, match="max_bytes"):
        _read(path, limits=Limits(max_bytes=2**20))


def test_arrow_declares_more_than_it_holds(tmp_path, seeds):
    """Arrow reads from memory, so that a length in the file allocates nothing."""
    path = tmp_path / "m.arrow"
    pool = pa.default_memory_pool()
    for i in range(100):
        data = bytearray(seeds["arrow"])
        rng = random.Random(i)
        place = rng.randrange(len(data) - 8)
        data[place : place + 8] = struct.pack("<q", rng.choice([2**30, 2**33, -1]))
        path.write_bytes(data)
        read(path)
    assert pool.bytes_allocated() < PEAK


def test_one_class_per_row(tmp_path):
    """Labels cost rows times classes: a small file must not become a large matrix."""
    rows = "\n".join(f"1,c{i}" for i in range(20_000))
    path = tmp_path / "a.csv"
    path.write_text("x,candidates\n" + rows)
    with pytest.raises(DataLimitError, match="label matrix"):
        _read(path, limits=LIMITS)
    path = tmp_path / "a.libsvm"
    path.write_text("\n".join(f"{i},{i + 1} 1:1" for i in range(20_000)))
    with pytest.raises(DataLimitError, match="label matrix"):
        _read(path, limits=LIMITS)


def test_no_memory_is_our_error(tmp_path, monkeypatch):
    from partlearn.io import _read as module

    def hungry(path, options, budget):
        raise MemoryError

    monkeypatch.setitem(module._MATRICES, "npz", hungry)
    (tmp_path / "a.npz").write_bytes(b"")
    with pytest.raises(DataLimitError, match="more memory"):
        _read(tmp_path / "a.npz")


def test_mat_text_of_every_kind(tmp_path):
    """MATLAB itself stores text as 16-bit codes; scipy as UTF-8; others differ."""
    eye = matrix(b"data", (2, 2), bytearray(EYE))
    gnd = matrix(b"gnd", (2, 1), bytearray(np.array([1.0, 2.0]).tobytes()))
    path = tmp_path / "a.mat"
    kinds = {
        4: "<u2",
        2: "u1",
        17: "utf-16-le",
        18: "utf-32-le",
        16: "utf-8",
        5: "<i4",
    }
    for kind, code in kinds.items():
        raw = (
            "ab".encode(code)
            if code.startswith("utf")
            else np.array([97, 98]).astype(code).tobytes()
        )
        # Two rows of one character each: the names of two classes.
        names = matrix(b"classnames", (2, 1), bytearray(raw), mclass=4, kind=kind)
        path.write_bytes(mat(eye, gnd, names))
        assert _read(path).target_names == ["a", "b"], code
    odd = bytearray(np.array([-1, 98], dtype="<i4").tobytes())
    path.write_bytes(
        mat(eye, gnd, matrix(b"classnames", (2, 1), odd, mclass=4, kind=5))
    )
    assert _read(path).target_names == ["?", "b"]


def test_mat_sparse_logical_and_small_vectors(tmp_path):
    """A sparse logical matrix whose three vectors fit into their tags."""

    def small(kind, data):
        return struct.pack("<I", len(data) << 16 | kind) + data.ljust(4, b"\0")

    content = (
        small(5, np.int32([0]).tobytes())
        + element(5, np.int32([0, 1, 1]).tobytes())
        + small(2, b"\x01")
    )
    labels = matrix(b"target", (2, 2), content, mclass=5, flags=2)
    path = tmp_path / "a.mat"
    data = matrix(b"data", (2, 3), bytearray(np.arange(6.0).tobytes()))
    path.write_bytes(mat(data, labels))
    bunch = _read(path, label_orientation="rows", task="multilabel")
    np.testing.assert_array_equal(bunch.truth, [[True, False], [False, False]])


def test_mat_parts_longer_than_the_whole(tmp_path):
    body = matrix(b"c", (1, 1), matrix(b"", (2, 2), bytearray(EYE)), mclass=1)
    broken = bytearray(body)
    # The inner length is after the outer tag, flags, dimensions and name.
    place = body.index(struct.pack("<I", 14), 8) + 4
    broken[place : place + 4] = struct.pack("<I", 40)
    path = tmp_path / "a.mat"
    path.write_bytes(mat(bytes(broken)))
    with pytest.raises(DataFormatError, match="longer than the whole"):
        _read(path)
