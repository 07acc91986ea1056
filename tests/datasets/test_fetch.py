"""Downloads, against a server on this machine that can misbehave."""

import hashlib
from types import SimpleNamespace
from urllib.request import Request

import numpy as np
import pytest

from partlearn._sizes import SIZES
from partlearn.datasets import (
    REGISTRY,
    RemoteFile,
    _fetch,
    data_folder,
    fetch,
    fetch_file,
    load_wine_partial,
)
from partlearn.io import DownloadError


def test_fetched_once(tmp_path, server):
    home = tmp_path / "home"
    seen = []
    bunch = fetch(
        "wine",
        data_home=home,
        registry=server.registry("good"),
        progress=lambda have, size: seen.append((have, size)),
    )
    np.testing.assert_array_equal(bunch.data, load_wine_partial().data)
    assert "Source: here" in bunch.DESCR
    assert seen[-1] == (len(server.content), len(server.content))
    again = fetch_file("wine", data_home=home, registry=server.registry("good"))
    assert again.read_bytes() == server.content
    assert len(server.requests) == 1
    assert [p.name for p in home.iterdir()] == ["wine.npz"]


def test_second_mirror_helps(tmp_path, server):
    known = server.registry("missing", "wrong", "long", "good")
    path = fetch_file("wine", data_home=tmp_path / "home", registry=known)
    assert path.read_bytes() == server.content
    assert len(server.requests) == 4
    assert [p.name for p in path.parent.iterdir()] == ["wine.npz"]


def test_wrong_checksum(tmp_path, server):
    home = tmp_path / "home"
    with pytest.raises(DownloadError, match="checksum is wrong") as caught:
        fetch_file("wine", data_home=home, registry=server.registry("wrong"))
    assert str(home / "wine.npz") in str(caught.value)
    assert list(home.iterdir()) == []  # nothing wrong is kept


@pytest.mark.parametrize("how", ["half", "short"])
def test_truncated_then_resumed(tmp_path, server, how):
    home = tmp_path / "home"
    with pytest.raises(DownloadError, match="bytes"):
        fetch_file("wine", data_home=home, registry=server.registry(how))
    assert not (home / "wine.npz").exists()
    (part,) = home.glob("*.part")
    have = part.stat().st_size
    assert 0 < have < len(server.content)
    path = fetch_file("wine", data_home=home, registry=server.registry("good"))
    assert path.read_bytes() == server.content
    assert server.requests[-1] == ("/good", f"bytes={have}-")
    assert list(home.glob("*.part")) == []


def test_server_without_ranges(tmp_path, server):
    home = tmp_path / "home"
    with pytest.raises(DownloadError):
        fetch_file("wine", data_home=home, registry=server.registry("half"))
    path = fetch_file("wine", data_home=home, registry=server.registry("simple"))
    assert path.read_bytes() == server.content


def test_spoilt_part_is_started_over(tmp_path, server):
    home = tmp_path / "home"
    home.mkdir()
    known = server.registry("good")
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
        fetch_file("wine", data_home=home, registry=server.registry(nowhere))
    text = str(caught.value)
    assert nowhere in text
    assert str(home / "wine.npz") in text
    assert server.registry()["wine"].sha256 in text
    # Done as told, it works without the network.
    (home / "wine.npz").write_bytes(server.content)
    path = fetch_file(
        "wine", data_home=home, registry=server.registry(nowhere), download=False
    )
    assert path == home / "wine.npz"


def test_another_file_in_its_place(tmp_path, server):
    home = tmp_path / "home"
    home.mkdir()
    (home / "wine.npz").write_bytes(b"something else")
    with pytest.raises(DownloadError, match="another checksum"):
        fetch_file(
            "wine", data_home=home, registry=server.registry("good"), download=False
        )
    path = fetch_file("wine", data_home=home, registry=server.registry("good"))
    assert path.read_bytes() == server.content


def test_fetching_is_quiet(tmp_path, server, capfd):
    fetch_file("wine", data_home=tmp_path / "h", registry=server.registry("good"))
    assert capfd.readouterr() == ("", "")


def test_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTLEARN_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("PARTLEARN_DATA")
    assert data_folder().name == "partlearn"


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
    bunch = fetch("lost", data_home=tmp_path, download=False)
    assert bunch.data.shape == (1122, 108)
    assert bunch.candidates.mean() * 16 == pytest.approx(2.23, abs=0.006)


def test_a_server_that_drips_meets_the_deadline(tmp_path, server):
    """Every byte arrives in time, and all of them would take half an hour."""
    home = tmp_path / "home"
    known = server.registry("drip")
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
    known = server.registry("good")
    assert fetch_file("wine", data_home=home, registry=known).is_file()
    assert server.requests[-1][1].startswith("bytes=")


def test_no_time_at_all(tmp_path, server):
    home = tmp_path / "home"
    with pytest.raises(DownloadError, match="the deadline has passed"):
        fetch_file("wine", data_home=home, registry=server.registry("good"), deadline=0)


@pytest.mark.parametrize("address", ["file://{}", "ftp://x/{}", "data:,x", "x:{}"])
def test_only_web_addresses(tmp_path, server, address):
    (tmp_path / "a").write_bytes(server.content)
    known = server.registry("to?" + address.format(tmp_path / "a"))
    with pytest.raises(DownloadError, match=r"redirects to|is not allowed"):
        fetch_file("wine", data_home=tmp_path / "home", registry=known)
    assert not (tmp_path / "home" / "wine.npz").exists()


def test_redirects_stay_secure():
    handler = _fetch._WebOnly()
    request = Request("https://example.org/a")
    with pytest.raises(OSError, match="which is not followed"):
        handler.redirect_request(request, None, 302, "", {}, "http://example.org/b")
    assert handler.redirect_request(
        request, None, 302, "", {}, "https://example.org/b"
    ).full_url.endswith("/b")


# Files without a published checksum.


def test_unknown_checksum_is_shown_and_kept(tmp_path, server):
    tmp_path = tmp_path / "home"
    digest = hashlib.sha256(server.content).hexdigest()
    with pytest.warns(UserWarning, match=f"No checksum of wine.*{digest}"):
        path = fetch_file("wine", data_home=tmp_path, registry=server.unknown("good"))
    assert path.read_bytes() == server.content
    record = tmp_path / "wine.npz.sha256"
    assert record.read_text() == f"{digest}  wine.npz\n"
    # From now on it is held to it, without the network, and every use says so.
    known = server.unknown("missing")
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"No SHA-256 .* wine\.npz\.sha256"):
            assert fetch_file("wine", data_home=tmp_path, registry=known) == path
    path.write_bytes(b"spoilt")
    with pytest.raises(DownloadError, match="another checksum"):
        fetch_file("wine", data_home=tmp_path, registry=known, download=False)


@pytest.mark.parametrize("how", ["half", "missing"])
def test_unknown_length(tmp_path, server, how):
    tmp_path = tmp_path / "home"
    with pytest.raises(DownloadError, match=r"bytes|404") as caught:
        fetch_file("wine", data_home=tmp_path, registry=server.unknown(how))
    assert "SHA-256" not in str(caught.value)
    assert not (tmp_path / "wine.npz").exists()


def test_unknown_checksum_by_hand(tmp_path, server):
    tmp_path = tmp_path / "home"
    tmp_path.mkdir()
    (tmp_path / "wine.npz").write_bytes(server.content)
    known = server.unknown("missing")
    with pytest.warns(UserWarning, match="No checksum of wine"):
        fetch_file("wine", data_home=tmp_path, registry=known, download=False)


def test_too_long(tmp_path, server, monkeypatch):
    tmp_path = tmp_path / "home"
    monkeypatch.setattr(SIZES, "download_bytes", 100)
    with pytest.raises(DownloadError, match="more than the 100 bytes"):
        fetch_file("wine", data_home=tmp_path, registry=server.unknown("good"))


def test_git_blob(tmp_path, server):
    tmp_path = tmp_path / "home"
    head = f"blob {len(server.content)}\0".encode()
    name = hashlib.sha1(head + server.content).hexdigest()
    known = server.unknown("good", git_blob=name[:12])
    path = fetch_file("wine", data_home=tmp_path, registry=known)
    assert path.read_bytes() == server.content
    with pytest.warns(UserWarning, match="No SHA-256 .* git object"):
        assert fetch_file("wine", data_home=tmp_path, registry=known) == path
    assert len(server.requests) == 1
    other = server.unknown("wrong", git_blob=name[:12])
    with pytest.raises(DownloadError, match="not that of git object"):
        fetch_file("wine", data_home=tmp_path / "b", registry=other)
    assert not (tmp_path / "b" / "wine.npz").exists()


@pytest.mark.shared
def test_git_names_are_those_of_the_sources(shared_dir):
    """The list of sources names the blob of Lost, whose file is at hand."""
    (file,) = (shared_dir / "data" / "original").glob("pll_lost__*.mat")
    assert _fetch._git_blob(file).startswith("caffdd72f123")


def test_sets_that_people_need_are_registered():
    for name in ("lost", "msrcv2", "birdsong", "fgnet"):
        assert REGISTRY[name].known
    for name in ("soccer-player", "yahoo-news", "mirflickr", "music-genre"):
        assert not REGISTRY[name].known
    assert REGISTRY["yahoo-news"].urls == (
        "https://palm.seu.edu.cn/zhangml/files/Yahoo!%20News.rar",
    )
