"""Download data sets once, with checksums and resumed transfers."""

# SPDX-License-Identifier: BSD-3-Clause

import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sklearn.utils import Bunch

from partlearn._extras import import_optional
from partlearn._sizes import SIZES
from partlearn.datasets._archives import take_out
from partlearn.datasets._remote import REGISTRY, RemoteFile
from partlearn.io import DownloadError, atomic_write, read

_BLOCK = 2**16
Progress = Callable[[int, int], None]


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of fetched files.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder; by default the environment variable ``PARTLEARN_DATA``, or the
        cache folder of the operating system.

    Returns
    -------
    folder : Path
        The folder; it may not exist yet.

    Examples
    --------
    >>> from partlearn.datasets import data_folder
    >>> data_folder("somewhere").name
    'somewhere'
    """
    chosen = data_home or os.environ.get("PARTLEARN_DATA")
    if chosen is None:
        platformdirs = import_optional("platformdirs", "Downloads")
        chosen = platformdirs.user_cache_dir("partlearn")
    return Path(chosen).expanduser()


class _WebOnly(urllib.request.HTTPRedirectHandler):
    """Follow redirects only to web addresses, and never from https to http."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        secure = req.full_url.startswith("https:")
        if not newurl.lower().startswith("https:" if secure else ("http:", "https:")):
            raise OSError(f"it redirects to {newurl}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _download(
    url: str,
    part: Path,
    size: int,
    timeout: float,
    deadline: float,
    progress: Progress | None,
) -> None:
    """Download a file to `part`; resume an earlier attempt.

    The `deadline` is a time of the monotonic clock, a `size` of 0 an unknown one.
    """

    def left() -> float:
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("the deadline has passed; the part that arrived is kept")
        return min(seconds, timeout)

    have = part.stat().st_size if part.is_file() else 0
    if have >= size:
        have = 0  # complete but wrong, or of unknown length: start over
    most = size or SIZES.download_bytes
    headers = {"User-Agent": "partlearn", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = urllib.request.Request(url, headers=headers)
    opener = urllib.request.build_opener(_WebOnly)
    with opener.open(request, timeout=left()) as answer:
        if answer.status != 206:
            have = 0
        expected = size or answer.length or 0
        with part.open("ab" if have else "wb") as file:
            # As much as is there: a whole block could take long to arrive.
            while piece := answer.read1(_BLOCK):
                left()
                have += len(piece)
                if have > most:
                    file.truncate(0)
                    raise OSError(f"more than the {most:,} bytes expected")
                file.write(piece)
                if progress is not None:
                    progress(have, max(have, expected))
    if have < expected:
        raise OSError(f"only {have:,} of {expected:,} bytes arrived")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record(path: Path) -> Path:
    """Return the file that stores the checksum of the first download."""
    return path.with_name(f"{path.name}.sha256")


def _git_blob(path: Path) -> str:
    """Return the git hash of the content of a file."""
    start = hashlib.sha1(f"blob {path.stat().st_size}\0".encode())
    with path.open("rb") as file:
        return hashlib.file_digest(file, start.copy).hexdigest()


def _matches(path: Path, entry: RemoteFile) -> bool:
    """Whether a file exists and matches its checksum."""
    if not path.is_file():
        return False
    if entry.git_blob:
        return _git_blob(path).startswith(entry.git_blob)
    if entry.sha256 and not entry.archive:
        return path.stat().st_size == entry.size and _sha256(path) == entry.sha256
    record = _record(path)
    return record.is_file() and record.read_text().split()[:1] == [_sha256(path)]


def _keep_record(name: str, path: Path) -> None:
    """Store the checksum of a file without a published one, and warn."""
    digest = _sha256(path)
    with atomic_write(_record(path)) as file:
        file.write(f"{digest}  {path.name}\n".encode())
    warnings.warn(
        f"No checksum of {name} is published, so the file cannot be verified. Its "
        f"SHA-256 is {digest}; it is recorded in {_record(path).name} and checked from "
        "now on.",
        UserWarning,
        stacklevel=3,
    )


def _warn_unpublished(name: str, path: Path, entry: RemoteFile) -> None:
    """Warn that a file has no published SHA-256 checksum."""
    if entry.sha256:
        return
    held = f"git object {entry.git_blob}" if entry.git_blob else _record(path).name
    warnings.warn(
        f"No SHA-256 of {name} is published, so the file cannot be verified. It "
        f"matches {held}.",
        UserWarning,
        stacklevel=3,
    )


def fetch_file(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
    timeout: float = 30.0,
    deadline: float = 3600.0,
    registry: Mapping[str, RemoteFile] = REGISTRY,
    progress: Progress | None = None,
) -> Path:
    """Download a file of the registry if necessary, and return its path.

    Parameters
    ----------
    name : str
        Name in the registry.
    data_home : path-like, default=None
        Folder of the local copies; by default ``PARTLEARN_DATA`` or a folder of the
        caches of the operating system.
    download : bool, default=True
        Whether to use the network if there is no local copy.
    timeout : float, default=30.0
        Seconds to wait for an answer of a server.
    deadline : float, default=3600.0
        Seconds for the whole download.
    registry : mapping of str to RemoteFile, default=REGISTRY
        Known files; pass your own for files of your own.
    progress : callable, default=None
        Called with the bytes received and the bytes expected.

    Returns
    -------
    path : Path
        The local copy, with the registered checksum. If no checksum is known, the one
        of the first copy is recorded beside it, with a warning that shows it.

    Raises
    ------
    DownloadError
        If no server returned the right file; the message says where to put it by hand.

    Examples
    --------
    >>> from partlearn.datasets import fetch_file
    >>> from partlearn.io import DownloadError
    >>> try:
    ...     fetch_file("lost", data_home="no-such-folder", download=False)
    ... except DownloadError as error:
    ...     print(error.what)
    there is no local copy of lost and download=False
    """
    if name not in registry:
        known = ", ".join(sorted(registry))
        raise ValueError(f"There is no data set {name!r}; known are {known}.")
    entry = registry[name]
    folder = data_folder(data_home)
    path = folder / entry.file
    if _matches(path, entry):
        _warn_unpublished(name, path, entry)
        return path
    if _put_by_hand(name, path, entry):
        return path
    target = folder / (entry.archive or entry.file)
    reasons = [f"there is no local copy of {name} and download=False"]
    if download:
        ends = time.monotonic() + deadline
        reasons = _try_mirrors(entry, target, timeout, ends, progress)
        if not reasons:
            return _unpacked(name, target, path, entry)
        reasons.insert(0, f"{name} could not be fetched")
    facts = [f"SHA-256 {entry.sha256}"] if entry.sha256 else []
    facts += [f"{entry.size:,} bytes"] if entry.size else []
    shown = f" ({', '.join(facts)})" if facts else ""
    wrong = " The file there now has another checksum." if path.is_file() else ""
    raise DownloadError(
        "; ".join(reasons),
        advice=f"Put the file by hand at {target}{shown}; it is at "
        f"{' or '.join(entry.urls)}.{wrong}",
    )


def _put_by_hand(name: str, path: Path, entry: RemoteFile) -> bool:
    """Accept a file that the user put in place, if it has no checksum."""
    archive = path.with_name(entry.archive) if entry.archive else None
    if archive is not None and archive.is_file() and not path.is_file():
        _unpacked(name, archive, path, entry)
        return True
    if entry.known or not path.is_file() or _record(path).is_file():
        return False
    _keep_record(name, path)
    return True


def _unpacked(name: str, target: Path, path: Path, entry: RemoteFile) -> Path:
    if entry.archive:
        take_out(target, path)
        target.unlink()
    if entry.git_blob and not _matches(path, entry):
        path.unlink()
        raise DownloadError(
            f"{name}: the content is not that of git object {entry.git_blob}",
            advice="The file was not kept. Try again, or look at the address.",
        )
    if entry.archive or not entry.known:
        _keep_record(name, path)
    return path


def _try_mirrors(
    entry: RemoteFile,
    target: Path,
    timeout: float,
    deadline: float,
    progress: Progress | None,
) -> list[str]:
    """Try each address; return the failures, none if one succeeded."""
    target.parent.mkdir(parents=True, exist_ok=True)
    mark = entry.sha256[:12] or entry.git_blob or "new"
    part = target.with_name(f"{target.name}.{mark}.part")
    reasons = []
    for url in entry.urls:
        try:
            _download(url, part, entry.size, timeout, deadline, progress)
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            reasons.append(f"{url}: {error}")
            continue
        if entry.sha256 in ("", _sha256(part)):
            part.replace(target)
            return []
        part.unlink()
        reasons.append(f"{url}: the checksum is wrong, the file was not kept")
    return reasons


def fetch(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
    timeout: float = 30.0,
    deadline: float = 3600.0,
    registry: Mapping[str, RemoteFile] = REGISTRY,
    progress: Progress | None = None,
    **options: Any,
) -> Bunch:
    """Download a data set of the registry if necessary, and read it.

    Parameters
    ----------
    name : str
        Name in the registry: ``partlearn data list`` shows them.
    data_home, download, timeout, deadline, registry, progress
        As in ``fetch_file``.
    **options
        Arguments of :func:`~partlearn.io.read`.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        As from :func:`~partlearn.io.read`.

    Examples
    --------
    >>> from partlearn.datasets import fetch
    >>> fetch("nothing")
    Traceback (most recent call last):
        ...
    ValueError: There is no data set 'nothing'; known are ...
    """
    path = fetch_file(
        name,
        data_home=data_home,
        download=download,
        timeout=timeout,
        deadline=deadline,
        registry=registry,
        progress=progress,
    )
    bunch = read(path, **options)
    entry = registry[name]
    bunch.DESCR += f"\n{entry.about}\nSource: {entry.source}. License: {entry.license}."
    return bunch
