"""Files appear whole or not at all."""

import errno
import os
import stat

import pytest

from partlearn.io import atomic_write


def test_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "new" / "a.txt"
    with atomic_write(path) as file:
        file.write(b"one")
        assert not path.exists()
    assert path.read_bytes() == b"one"
    assert os.listdir(path.parent) == ["a.txt"]


def test_old_content_stays_when_writing_fails(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def interrupted():
        with atomic_write(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_files_follow_the_umask(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        with atomic_write(tmp_path / "a") as file:
            file.write(b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


@pytest.mark.skipif(os.name != "posix", reason="limits of processes are POSIX")
def test_a_full_disk_gets_a_sentence(tmp_path):
    import resource

    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill():
        with atomic_write(path) as file:
            file.write(b"x" * 2000)

    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=r"no space left for .*a\.txt") as caught:
            fill()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.errno == errno.EFBIG
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_other_errors_stay_what_they_are(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError), atomic_write(tmp_path / "a") as file:
        file.write(b"x")
    assert os.listdir(tmp_path) == ["a"]
