"""Downloads, against a server on this machine that can misbehave."""

import hashlib
import io
import os
import shutil
import struct
import tarfile
import threading
import zipfile
import zlib
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.request import Request

import numpy as np
import pooch
import pytest

from partlearn.datasets import (
    REGISTRY,
    DownloadError,
    RemoteFile,
    _archives,
    _fetch,
    data_folder,
    fetch,
    fetch_file,
    fetch_lost,
    load_wine_partial,
    write,
)
from partlearn.datasets._fetch import _fetch_one


class Server(ThreadingHTTPServer):
    """Serves one file in as many ways as there are paths."""

    daemon_threads = True

    def __init__(self, content):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = content
        self.requests = []
        self.closing = threading.Event()

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, content = self.server, self.server.content
        wanted = self.headers.get("Range")
        server.requests.append((self.path, wanted))
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path == "/wrong":
            content = bytes(len(content))
        if self.path.startswith("/to?"):
            self.send_response(302)
            self.send_header("Location", self.path.partition("?")[2])
            self.end_headers()
            return
        if self.path == "/drip":
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            for byte in content:
                if server.closing.wait(0.02):
                    return
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
            return
        if self.path == "/long":
            content = content + b"more"
        start = 0
        if wanted and self.path != "/simple":
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            self.send_response(206)
        else:
            self.send_response(200)
        body = content[start:]
        if self.path == "/half":  # promises all, closes the line after half
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.connection.close()
            return
        if self.path == "/short":  # says that half is all
            body = body[: len(body) // 2]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    content = write(load_wine_partial(), tmp_path / "wine.npz").read_bytes()
    server = Server(content)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()
    thread.join()


def registry(server, *paths):
    entry = RemoteFile(
        "wine",
        "wine.npz",
        hashlib.sha256(server.content).hexdigest(),
        len(server.content),
        tuple(p if p.startswith("http") else server.url(p) for p in paths),
        about="Wine.",
        source="here",
    )
    return {"wine": entry}


def test_fetched_once(tmp_path, server):
    home = tmp_path / "home"
    seen = []
    bunch = fetch(
        "wine",
        data_home=home,
        registry=registry(server, "good"),
        progress=lambda have, size: seen.append((have, size)),
    )
    np.testing.assert_array_equal(bunch.data, load_wine_partial().data)
    assert "Source: here" in bunch.DESCR
    assert seen[-1] == (len(server.content), len(server.content))
    again = fetch_file("wine", data_home=home, registry=registry(server, "good"))
    assert again.read_bytes() == server.content
    assert len(server.requests) == 1
    assert [p.name for p in home.iterdir()] == ["wine.npz"]


def test_second_mirror_helps(tmp_path, server):
    known = registry(server, "missing", "wrong", "long", "good")
    path = fetch_file("wine", data_home=tmp_path / "home", registry=known)
    assert path.read_bytes() == server.content
    assert len(server.requests) == 4
    assert [p.name for p in path.parent.iterdir()] == ["wine.npz"]


def test_wrong_checksum(tmp_path, server):
    home = tmp_path / "home"
    with pytest.raises(DownloadError, match="checksum is wrong") as caught:
        fetch_file("wine", data_home=home, registry=registry(server, "wrong"))
    assert str(home / "wine.npz") in str(caught.value)
    assert list(home.iterdir()) == []  # nothing wrong is kept


@pytest.mark.parametrize("how", ["half", "short"])
def test_truncated_then_resumed(tmp_path, server, how):
    home = tmp_path / "home"
    with pytest.raises(DownloadError, match="bytes"):
        fetch_file("wine", data_home=home, registry=registry(server, how))
    assert not (home / "wine.npz").exists()
    (part,) = home.glob("*.part")
    have = part.stat().st_size
    assert 0 < have < len(server.content)
    path = fetch_file("wine", data_home=home, registry=registry(server, "good"))
    assert path.read_bytes() == server.content
    assert server.requests[-1] == ("/good", f"bytes={have}-")
    assert list(home.glob("*.part")) == []


def test_server_without_ranges(tmp_path, server):
    home = tmp_path / "home"
    with pytest.raises(DownloadError):
        fetch_file("wine", data_home=home, registry=registry(server, "half"))
    path = fetch_file("wine", data_home=home, registry=registry(server, "simple"))
    assert path.read_bytes() == server.content


def test_spoilt_part_is_started_over(tmp_path, server):
    home = tmp_path / "home"
    home.mkdir()
    known = registry(server, "good")
    part = home / f"wine.npz.{known['wine'].sha256[:12]}.part"
    part.write_bytes(b"x" * 100)  # resumed, but its beginning is wrong
    with pytest.raises(DownloadError, match="checksum"):
        fetch_file("wine", data_home=home, registry=known)
    assert fetch_file("wine", data_home=home, registry=known).is_file()
    part.write_bytes(b"x" * (len(server.content) + 5))  # longer than the file
    (home / "wine.npz").unlink()
    assert fetch_file("wine", data_home=home, registry=known).is_file()


def test_missing_server(tmp_path, server):
    nowhere = "http://127.0.0.1:1/wine"
    home = tmp_path / "home"
    with pytest.raises(DownloadError, match="by hand") as caught:
        fetch_file("wine", data_home=home, registry=registry(server, nowhere))
    text = str(caught.value)
    assert nowhere in text
    assert str(home / "wine.npz") in text
    assert registry(server)["wine"].sha256 in text
    # Done as told, it works without the network.
    (home / "wine.npz").write_bytes(server.content)
    path = fetch_file(
        "wine", data_home=home, registry=registry(server, nowhere), download=False
    )
    assert path == home / "wine.npz"


def test_another_file_in_its_place(tmp_path, server):
    home = tmp_path / "home"
    home.mkdir()
    (home / "wine.npz").write_bytes(b"something else")
    with pytest.raises(DownloadError, match="another checksum"):
        fetch_file(
            "wine", data_home=home, registry=registry(server, "good"), download=False
        )
    path = fetch_file("wine", data_home=home, registry=registry(server, "good"))
    assert path.read_bytes() == server.content


def test_pooch_stays_quiet(tmp_path, server, capfd):
    level = pooch.get_logger().level
    fetch_file("wine", data_home=tmp_path / "h", registry=registry(server, "good"))
    assert capfd.readouterr() == ("", "")
    assert pooch.get_logger().level == level


def test_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTLEARN_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("PARTLEARN_DATA")
    assert data_folder().name == "partlearn"


def test_named_fetchers(tmp_path, monkeypatch):
    bunch = load_wine_partial()
    monkeypatch.setattr("partlearn.datasets._fetch.fetch", lambda name, **_: bunch)
    assert fetch_lost() is bunch
    X, S = _fetch_one("lost", True, {})
    assert X is bunch.data
    assert S is bunch.candidates


@pytest.mark.parametrize(
    "changes",
    [
        {"file": "../evil"},
        {"file": ".hidden"},
        {"file": ""},
        {"file": "a\\b"},
        {"sha256": "abc"},
        {"sha256": "Z" * 64},
        {"git_blob": "abc"},
        {"git_blob": "z" * 12},
        {"archive": "a/b.rar"},
        {"urls": ("file:///etc/passwd",)},
        {"urls": ("ftp://x/y",)},
    ],
)
def test_registry_entries_are_checked(changes):
    good = {"name": "a", "file": "a.mat", "sha256": "0" * 64, "size": 1}
    with pytest.raises(ValueError, match="must be"):
        RemoteFile(**(good | {"urls": ("https://x/y",)} | changes))


def test_registry_is_complete():
    assert len(REGISTRY) == 22
    for name, entry in REGISTRY.items():
        assert entry.name == name
        assert entry.urls
        assert entry.about
        assert " " not in "".join(entry.urls)


@pytest.mark.shared
def test_registered_sums_are_those_of_the_files(shared_dir):
    """Each registered file is among the originals, with its length and checksum."""
    known = {entry.sha256: entry for entry in REGISTRY.values() if entry.sha256}
    files = sorted((shared_dir / "data" / "original").glob("*.mat"))
    for file in files:
        content = file.read_bytes()
        entry = known.pop(hashlib.sha256(content).hexdigest())
        assert entry.size == len(content)
    assert known == {}


@pytest.mark.shared
def test_file_put_by_hand(tmp_path, shared_dir):
    (file,) = (shared_dir / "data" / "original").glob("pll_lost__*.mat")
    (tmp_path / "lost.mat").write_bytes(file.read_bytes())
    bunch = fetch_lost(data_home=tmp_path, download=False)
    assert bunch.data.shape == (1122, 108)
    assert bunch.candidates.mean() * 16 == pytest.approx(2.23, abs=0.006)


def test_a_server_that_drips_meets_the_deadline(tmp_path, server):
    """Every byte arrives in time, and all of them would take half an hour."""
    home = tmp_path / "home"
    known = registry(server, "drip")
    arrived = [0]
    clock = SimpleNamespace(monotonic=lambda: arrived[-1])  # a second for a byte
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_fetch, "time", clock)
        with pytest.raises(DownloadError, match="the deadline has passed"):
            fetch_file(
                "wine",
                data_home=home,
                registry=known,
                deadline=5,
                progress=lambda have, size: arrived.append(have),
            )
    (part,) = home.glob("*.part")
    assert 0 < part.stat().st_size < len(server.content)
    known = registry(server, "good")
    assert fetch_file("wine", data_home=home, registry=known).is_file()
    assert server.requests[-1][1].startswith("bytes=")


def test_no_time_at_all(tmp_path, server):
    home = tmp_path / "home"
    with pytest.raises(DownloadError, match="the deadline has passed"):
        fetch_file(
            "wine", data_home=home, registry=registry(server, "good"), deadline=0
        )


@pytest.mark.parametrize("address", ["file://{}", "ftp://x/{}", "data:,x", "x:{}"])
def test_only_web_addresses(tmp_path, server, address):
    (tmp_path / "a").write_bytes(server.content)
    known = registry(server, "to?" + address.format(tmp_path / "a"))
    with pytest.raises(DownloadError, match=r"sends on to|is not allowed"):
        fetch_file("wine", data_home=tmp_path / "home", registry=known)
    assert not (tmp_path / "home" / "wine.npz").exists()


def test_redirects_stay_secure():
    handler = _fetch._WebOnly()
    request = Request("https://example.org/a")
    with pytest.raises(OSError, match="which is not fetched from"):
        handler.redirect_request(request, None, 302, "", {}, "http://example.org/b")
    assert handler.redirect_request(
        request, None, 302, "", {}, "https://example.org/b"
    ).full_url.endswith("/b")


# Files without a published checksum, and archives.


def unknown(server, *paths, **changes):
    entry = RemoteFile("wine", "wine.npz", "", 0, tuple(map(server.url, paths)))
    return {"wine": replace(entry, **changes)}


def test_unknown_checksum_is_shown_and_kept(tmp_path, server):
    tmp_path = tmp_path / "home"
    digest = hashlib.sha256(server.content).hexdigest()
    with pytest.warns(UserWarning, match=f"No checksum of wine.*{digest}"):
        path = fetch_file("wine", data_home=tmp_path, registry=unknown(server, "good"))
    assert path.read_bytes() == server.content
    record = tmp_path / "wine.npz.sha256"
    assert record.read_text() == f"{digest}  wine.npz\n"
    # From now on it is held to it, without a word and without the network.
    known = unknown(server, "missing")
    assert fetch_file("wine", data_home=tmp_path, registry=known) == path
    path.write_bytes(b"spoilt")
    with pytest.raises(DownloadError, match="another checksum"):
        fetch_file("wine", data_home=tmp_path, registry=known, download=False)


@pytest.mark.parametrize("how", ["half", "missing"])
def test_unknown_length(tmp_path, server, how):
    tmp_path = tmp_path / "home"
    with pytest.raises(DownloadError, match=r"bytes|404") as caught:
        fetch_file("wine", data_home=tmp_path, registry=unknown(server, how))
    assert "SHA-256" not in str(caught.value)
    assert not (tmp_path / "wine.npz").exists()


def test_unknown_checksum_by_hand(tmp_path, server):
    tmp_path = tmp_path / "home"
    tmp_path.mkdir()
    (tmp_path / "wine.npz").write_bytes(server.content)
    known = unknown(server, "missing")
    with pytest.warns(UserWarning, match="No checksum of wine"):
        fetch_file("wine", data_home=tmp_path, registry=known, download=False)


def test_too_long(tmp_path, server, monkeypatch):
    tmp_path = tmp_path / "home"
    monkeypatch.setattr(_fetch, "_LARGEST", 100)
    with pytest.raises(DownloadError, match="more than the 100 bytes"):
        fetch_file("wine", data_home=tmp_path, registry=unknown(server, "good"))


def test_git_blob(tmp_path, server):
    tmp_path = tmp_path / "home"
    head = f"blob {len(server.content)}\0".encode()
    name = hashlib.sha1(head + server.content).hexdigest()
    known = unknown(server, "good", git_blob=name[:12])
    path = fetch_file("wine", data_home=tmp_path, registry=known)
    assert path.read_bytes() == server.content
    assert fetch_file("wine", data_home=tmp_path, registry=known) == path
    assert len(server.requests) == 1
    other = unknown(server, "wrong", git_blob=name[:12])
    with pytest.raises(DownloadError, match="not that of git object"):
        fetch_file("wine", data_home=tmp_path / "b", registry=other)
    assert not (tmp_path / "b" / "wine.npz").exists()


@pytest.mark.shared
def test_git_names_are_those_of_the_sources(shared_dir):
    """The list of sources names the blob of Lost, whose file is at hand."""
    (file,) = (shared_dir / "data" / "original").glob("pll_lost__*.mat")
    assert _fetch._git_blob(file).startswith("caffdd72f123")


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
    known = unknown(server, "good", archive="wine.rar")
    with pytest.warns(UserWarning, match=hashlib.sha256(wine).hexdigest()):
        path = fetch_file("wine", data_home=tmp_path / "home", registry=known)
    assert path.read_bytes() == wine
    names = sorted(p.name for p in path.parent.iterdir())
    assert names == ["wine.npz", "wine.npz.sha256"]
    assert fetch_file("wine", data_home=tmp_path / "home", registry=known) == path
    assert len(server.requests) == 1


def test_rar_without_a_program(tmp_path, server, monkeypatch):
    tmp_path = tmp_path / "home"
    monkeypatch.setattr(_archives.shutil, "which", lambda name: None)
    server.content = packed("tar", {"wine.npz": b"x"})
    known = unknown(server, "good", archive="wine.rar")
    with pytest.raises(DownloadError, match="neither bsdtar nor unar") as caught:
        fetch_file("wine", data_home=tmp_path, registry=known)
    assert "libarchive-tools" in str(caught.value)
    assert (tmp_path / "wine.rar").is_file()  # fetched once, unpacked later


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_program_fails(tmp_path, server, program):
    program("bsdtar", "echo broken archive >&2; exit 3")
    server.content = b"Rar!"
    known = unknown(server, "good", archive="wine.rar")
    with pytest.raises(DownloadError, match=r"could not unpack wine\.rar: broken"):
        fetch_file("wine", data_home=tmp_path / "home", registry=known)
    program("bsdtar", "exec sleep 60")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_archives, "_SECONDS", 0.1)
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
    known = unknown(server, "good", archive="wine.rar")
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
    known = unknown(server, "good", archive="wine.rar")
    with pytest.warns(UserWarning, match="No checksum"):
        found = fetch_file("wine", data_home=tmp_path / "home", registry=known)
    assert found.read_bytes() == wine


def test_zip(tmp_path, server, monkeypatch):
    wine = server.content
    server.content = packed("zip", {"../../Wine.NPZ": wine, "x.txt": b""})
    known = unknown(server, "good", archive="wine.zip")
    with pytest.warns(UserWarning, match="No checksum"):
        path = fetch_file("wine", data_home=tmp_path / "home", registry=known)
    assert path.read_bytes() == wine
    assert sorted(p.name for p in tmp_path.iterdir()) == ["home", "wine.npz"]
    monkeypatch.setattr(_archives, "_LARGEST", 10)
    with pytest.raises(DownloadError, match="No known data set is that large"):
        fetch_file("wine", data_home=tmp_path / "other", registry=known)


def test_no_zip(tmp_path, server):
    known = unknown(server, "good", archive="wine.zip")
    server.content = b"something else"
    with pytest.raises(DownloadError, match=r"wine\.zip is not a zip archive"):
        fetch_file("wine", data_home=tmp_path / "home", registry=known)


def test_archive_by_hand(tmp_path, server):
    tmp_path = tmp_path / "home"
    tmp_path.mkdir()
    (tmp_path / "wine.zip").write_bytes(packed("zip", {"w.npz": server.content}))
    known = unknown(server, "missing", archive="wine.zip")
    with pytest.warns(UserWarning, match="No checksum"):
        path = fetch_file("wine", data_home=tmp_path, registry=known, download=False)
    assert path.read_bytes() == server.content


def test_two_files_in_an_archive(tmp_path, server):
    tmp_path = tmp_path / "home"
    server.content = packed("zip", {"a.npz": b"1", "b.npz": b"2"})
    known = unknown(server, "good", archive="wine.zip")
    with pytest.raises(DownloadError, match=r"has 2 files that end in \.npz"):
        fetch_file("wine", data_home=tmp_path, registry=known)
    assert not (tmp_path / "wine.npz").exists()


def test_sets_that_people_need_are_registered():
    for name in ("lost", "msrcv2", "birdsong", "fgnet"):
        assert REGISTRY[name].known
    for name in ("soccer-player", "yahoo-news", "mirflickr", "music-genre"):
        assert not REGISTRY[name].known
    assert REGISTRY["yahoo-news"].urls == (
        "https://palm.seu.edu.cn/zhangml/files/Yahoo!%20News.rar",
    )
