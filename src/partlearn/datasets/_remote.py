"""Registry of public files: addresses and checksums.

Sums and sizes are those of the files themselves. Most addresses name a commit, so that
the content behind them does not change; a second host serves the same repositories.
The list itself is ``registry.toml``.
If no checksum was published, the checksum of the first download is recorded, and later
downloads are compared with it. None of these files is part of this package.
"""

# SPDX-License-Identifier: BSD-3-Clause

import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be downloaded.

    Parameters
    ----------
    name : str
        Name in the registry.
    file : str
        Name of the local copy.
    sha256 : str
        SHA-256 of the download, 64 hexadecimal digits; empty if unknown.
    size : int
        Length in bytes; 0 if unknown.
    urls : tuple of str
        Addresses, the first one tried first.
    about : str, default=""
        Short description.
    source : str, default=""
        Repository and path.
    license : str, default="none stated"
        License as stated at the source.
    git_blob : str, default=""
        First 12 or more digits of the git hash of the content, for files without a
        published checksum.
    archive : str, default=""
        Local name of the downloaded archive, ``.rar`` or ``.zip``, if the file is
        inside one.

    Examples
    --------
    >>> from partlearn.datasets import REGISTRY
    >>> REGISTRY["lost"].file, REGISTRY["lost"].size
    ('lost.mat', 936096)
    """

    name: str
    file: str
    sha256: str
    size: int
    urls: tuple[str, ...]
    about: str = ""
    source: str = ""
    license: str = "none stated"
    git_blob: str = ""
    archive: str = ""

    def __post_init__(self) -> None:
        # Names become paths on the user's disk: nothing but plain file names.
        for name, value in (("file", self.file), ("archive", self.archive or "none")):
            if not value or set(value) & set("/\\:\0") or value.startswith("."):
                raise ValueError(f"`{name}` must be a plain file name; got {value!r}.")
        if not re.fullmatch(r"([0-9a-f]{64})?", self.sha256):
            raise ValueError("`sha256` must be 64 hexadecimal digits, or empty.")
        if not re.fullmatch(r"([0-9a-f]{12,40})?", self.git_blob):
            raise ValueError("`git_blob` must be 12 to 40 hexadecimal digits or empty.")
        for url in self.urls:
            if not url.startswith(("https://", "http://")):
                raise ValueError(f"`urls` must be http or https; got {url!r}.")

    @property
    def known(self) -> bool:
        """Whether a checksum is known."""
        return bool(self.sha256 or self.git_blob)


def _entry(name: str, fields: dict[str, Any]) -> RemoteFile:
    """Read an entry; add a mirror for addresses at GitHub."""
    urls = list(fields.pop("urls", ()))
    places = fields.pop("places", [])
    for repository, commit, path in places:
        where = quote(path)
        urls.append(f"https://raw.githubusercontent.com/{repository}/{commit}/{where}")
        if commit != "HEAD":
            urls.append(f"https://cdn.jsdelivr.net/gh/{repository}@{commit}/{where}")
    if places:
        repository, _, path = places[0]
        fields["file"] = name + path[path.rindex(".") :]
        fields["source"] = f"{repository}:{path}"
    known: dict[str, Any] = {"sha256": "", "size": 0, **fields}
    return RemoteFile(name=name, urls=tuple(urls), **known)


_TEXT = (resources.files("partlearn.datasets") / "registry.toml").read_text("utf-8")
REGISTRY = MappingProxyType(
    {name: _entry(name, fields) for name, fields in tomllib.loads(_TEXT).items()}
)
