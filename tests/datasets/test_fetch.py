"""Downloads, against a server on this machine that can misbehave."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request

import numpy as np
import pooch
import pytest

from partlearn.datasets import (
    REGISTRY,
    DownloadError,
    RemoteFile,
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
        {"urls": ("file:///etc/passwd",)},
        {"urls": ("ftp://x/y",)},
    ],
)
def test_registry_entries_are_checked(changes):
    good = {"name": "a", "file": "a.mat", "sha256": "0" * 64, "size": 1}
    with pytest.raises(ValueError, match="must be"):
        RemoteFile(**(good | {"urls": ("https://x/y",)} | changes))


def test_registry_is_complete():
    assert len(REGISTRY) == 14
    for name, entry in REGISTRY.items():
        assert entry.name == name
        assert entry.urls
        assert entry.about
        assert " " not in "".join(entry.urls)


@pytest.mark.shared
def test_registered_sums_are_those_of_the_files(shared_dir):
    """Each registered file is among the originals, with its length and checksum."""
    known = {entry.sha256: entry for entry in REGISTRY.values()}
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
    with pytest.raises(DownloadError, match="the deadline has passed"):
        fetch_file("wine", data_home=home, registry=known, deadline=0.3)
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
