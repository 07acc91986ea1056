"""Data sets that come in archives, through programs where Python has no reader."""

import hashlib
import io
import os
import shutil
import struct
import tarfile
import zipfile
import zlib

import pytest

from partlearn._sizes import SIZES
from partlearn.datasets import _archives, fetch_file
from partlearn.io import DownloadError


def packed(kind, names):
    """An archive of a kind whose members have the given names and contents."""
    stream = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(stream, "w") as file:
            for name, content in names.items():
                file.writestr(name, content)
    elif kind == "rar":
        for part in (b"Rar!\x1a\x07\x00", rar_block(0x73, 0, bytes(6))):
            stream.write(part)
        for name, content in names.items():
            stream.write(rar_file(name.encode(), content))
        stream.write(rar_block(0x7B, 0x4000, b""))
    else:
        with tarfile.open(fileobj=stream, mode="w") as file:
            for name, content in names.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                file.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def rar_block(kind, flags, body):
    """A block of the RAR format, version 2.9: checksum, kind, flags, size, body."""
    header = struct.pack("<BHH", kind, flags, 7 + len(body)) + body
    return struct.pack("<H", zlib.crc32(header) & 0xFFFF) + header


def rar_file(name, content):
    """A file that is stored, not compressed, as written on Unix."""
    n, date = len(content), 0x58210000
    facts = (n, n, 3, zlib.crc32(content), date, 20, 0x30, len(name), 0o100644)
    head = struct.pack("<IIBIIBBHI", *facts) + name
    return rar_block(0x74, 0x8000, head) + content


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Install a program of a name that unpacks tar files; others are not found."""

    def install(name, script):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(
            _archives.shutil,
            "which",
            lambda wanted: str(path) if wanted == name else None,
        )

    return install


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
@pytest.mark.parametrize(
    ("name", "script"),
    [("bsdtar", 'exec tar "$@"'), ("unar", 'exec tar -xf "$5" -C "$4"')],
)
def test_rar_through_a_program(tmp_path, server, program, name, script):
    program(name, script)
    wine = server.content
    server.content = packed("tar", {"a/Wine.npz": wine, "readme.txt": b"hello"})
    known = server.unknown("good", archive="wine.rar")
    with pytest.warns(UserWarning, match=hashlib.sha256(wine).hexdigest()):
        path = fetch_file("wine", data_home=tmp_path / "home", registry=known)
    assert path.read_bytes() == wine
    names = sorted(p.name for p in path.parent.iterdir())
    assert names == ["wine.npz", "wine.npz.sha256"]
    with pytest.warns(UserWarning, match="No SHA-256 of wine is published"):
        assert fetch_file("wine", data_home=tmp_path / "home", registry=known) == path
    assert len(server.requests) == 1


def test_rar_without_a_program(tmp_path, server, monkeypatch):
    tmp_path = tmp_path / "home"
    monkeypatch.setattr(_archives.shutil, "which", lambda name: None)
    server.content = packed("tar", {"wine.npz": b"x"})
    known = server.unknown("good", archive="wine.rar")
    with pytest.raises(DownloadError, match="neither bsdtar nor unar") as caught:
        fetch_file("wine", data_home=tmp_path, registry=known)
    assert "libarchive-tools" in str(caught.value)
    assert (tmp_path / "wine.rar").is_file()  # fetched once, unpacked later


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_program_fails(tmp_path, server, program):
    program("bsdtar", "echo broken archive >&2; exit 3")
    server.content = b"Rar!"
    known = server.unknown("good", archive="wine.rar")
    with pytest.raises(DownloadError, match=r"could not unpack wine\.rar: broken"):
        fetch_file("wine", data_home=tmp_path / "home", registry=known)
    program("bsdtar", "exec sleep 60")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SIZES, "unpacking_seconds", 0.1)
        with pytest.raises(DownloadError, match="it took too long"):
            fetch_file("wine", data_home=tmp_path / "home", registry=known)


@pytest.mark.parametrize("name", ["bsdtar", "unar"])
def test_real_archive_and_program(tmp_path, server, monkeypatch, name):
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"needs {name}")
    monkeypatch.setattr(
        _archives.shutil, "which", lambda wanted: path if wanted == name else None
    )
    wine = server.content
    # A stored npz near the end would make bsdtar take the whole for a zip archive.
    server.content = packed("rar", {"a/Wine.npz": wine, "readme.txt": bytes(20_000)})
    known = server.unknown("good", archive="wine.rar")
    with pytest.warns(UserWarning, match="No checksum"):
        found = fetch_file("wine", data_home=tmp_path / "home", registry=known)
    assert found.read_bytes() == wine


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_next_program_where_the_first_fails(tmp_path, server, monkeypatch):
    scripts = {"bsdtar": "exit 1", "unar": 'exec tar -xf "$5" -C "$4"'}
    for name, script in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(_archives.shutil, "which", lambda name: str(tmp_path / name))
    wine = server.content
    server.content = packed("tar", {"Wine.npz": wine})
    known = server.unknown("good", archive="wine.rar")
    with pytest.warns(UserWarning, match="No checksum"):
        found = fetch_file("wine", data_home=tmp_path / "home", registry=known)
    assert found.read_bytes() == wine


def test_zip(tmp_path, server, monkeypatch):
    wine = server.content
    server.content = packed("zip", {"../../Wine.NPZ": wine, "x.txt": b""})
    known = server.unknown("good", archive="wine.zip")
    with pytest.warns(UserWarning, match="No checksum"):
        path = fetch_file("wine", data_home=tmp_path / "home", registry=known)
    assert path.read_bytes() == wine
    assert sorted(p.name for p in tmp_path.iterdir()) == ["home", "wine.npz"]
    monkeypatch.setattr(SIZES, "unpacked_bytes", 10)
    with pytest.raises(DownloadError, match="No known data set is that large"):
        fetch_file("wine", data_home=tmp_path / "other", registry=known)


def test_no_zip(tmp_path, server):
    known = server.unknown("good", archive="wine.zip")
    server.content = b"something else"
    with pytest.raises(DownloadError, match=r"wine\.zip is damaged, or no zip archive"):
        fetch_file("wine", data_home=tmp_path / "home", registry=known)


def flagged(data, name=b"w.npz"):
    """A zip archive whose member says that it is encrypted."""
    data = bytearray(data)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + place] |= 1
    return bytes(data)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (flagged, "encrypted"),
        (lambda d: d[:-6] + b"\xff\x7f\0\0" + d[-2:], "damaged"),  # before the start
        (lambda d: d.replace(b"\0\0\x08\0", b"\0\0\x63\0"), "damaged"),
        (lambda d: d[:60] + b"\xff" * 40 + d[100:], "damaged"),
    ],
)
def test_zips_that_cannot_be_read(tmp_path, server, spoil, message):
    """These once ended in a traceback of the zipfile module."""
    known = server.unknown("good", archive="wine.zip")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("w.npz", server.content)
    server.content = spoil(buffer.getvalue())
    with pytest.raises(DownloadError, match=f"wine.zip is {message}"):
        fetch_file("wine", data_home=tmp_path / "home", registry=known)


def test_archive_by_hand(tmp_path, server):
    tmp_path = tmp_path / "home"
    tmp_path.mkdir()
    (tmp_path / "wine.zip").write_bytes(packed("zip", {"w.npz": server.content}))
    known = server.unknown("missing", archive="wine.zip")
    with pytest.warns(UserWarning, match="No checksum"):
        path = fetch_file("wine", data_home=tmp_path, registry=known, download=False)
    assert path.read_bytes() == server.content


def test_two_files_in_an_archive(tmp_path, server):
    tmp_path = tmp_path / "home"
    server.content = packed("zip", {"a.npz": b"1", "b.npz": b"2"})
    known = server.unknown("good", archive="wine.zip")
    with pytest.raises(DownloadError, match=r"has 2 files that end in \.npz"):
        fetch_file("wine", data_home=tmp_path, registry=known)
    assert not (tmp_path / "wine.npz").exists()


def test_many_files_are_refused_before_any_is_unpacked(tmp_path, server, monkeypatch):
    """Entries that share their compressed bytes would fill a disk."""

    def unpack(*arguments):
        raise AssertionError("a file was unpacked")

    server.content = packed("zip", {f"{i}.npz": b"x" for i in range(100)})
    monkeypatch.setattr(zipfile.ZipFile, "open", unpack)
    known = server.unknown("good", archive="wine.zip")
    with pytest.raises(DownloadError, match="has 100 files"):
        fetch_file("wine", data_home=tmp_path / "home", registry=known)
