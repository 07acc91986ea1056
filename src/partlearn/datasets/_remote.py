"""Public files of known content: where they are and what they must hash to.

Sums and sizes are those of the files themselves. Most addresses name a commit, so that
the content behind them does not change; a second host serves the same repositories.
Where nobody published a checksum there is none here: what was fetched first is then
recorded, and later fetches are held to it. None of these files is part of this package.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote

__all__ = ["REGISTRY", "RemoteFile"]


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be fetched.

    Parameters
    ----------
    name : str
        Name in the registry.
    file : str
        Name of the local copy.
    sha256 : str
        Checksum of what is downloaded, 64 hexadecimal digits; empty if nobody knows it.
    size : int
        Its length in bytes; 0 if nobody knows it.
    urls : tuple of str
        Addresses, the first one tried first.
    about : str, default=""
        What it is, in a few words.
    source : str, default=""
        Repository and path.
    licence : str, default="none stated"
        Licence as stated at the source.
    git_blob : str, default=""
        First digits of git's name for the content of the file, at least 12: what tells
        a file of a repository whose checksum is not known.
    archive : str, default=""
        Local name of the archive that is downloaded, ``.rar`` or ``.zip``, where the
        file is inside one.

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
    licence: str = "none stated"
    git_blob: str = ""
    archive: str = ""

    def __post_init__(self) -> None:
        # Names become paths on the user's disk: nothing but plain file names.
        for name, value in (("file", self.file), ("archive", self.archive or "none")):
            if not value or set(value) & set("/\\:\0") or value.startswith("."):
                raise ValueError(f"`{name}` must be a plain file name; got {value!r}.")
        digits = set("0123456789abcdef")
        if len(self.sha256) not in (0, 64) or not set(self.sha256) <= digits:
            raise ValueError("`sha256` must be 64 hexadecimal digits, or empty.")
        if not (self.git_blob == "" or 12 <= len(self.git_blob) <= 40):
            raise ValueError(
                "`git_blob` must be 12 to 40 hexadecimal digits, or empty."
            )
        if not set(self.git_blob) <= digits:
            raise ValueError("`git_blob` must be hexadecimal digits.")
        for url in self.urls:
            if not url.startswith(("https://", "http://")):
                raise ValueError(f"`urls` must be http or https; got {url!r}.")

    @property
    def known(self) -> bool:
        """Whether there is a checksum to hold the file to."""
        return bool(self.sha256 or self.git_blob)


def _github(*places: tuple[str, str, str]) -> tuple[str, ...]:
    """Addresses of (repository, commit, path) at GitHub and at a mirror of it."""
    urls = []
    for repository, commit, path in places:
        where = quote(path)
        urls.append(f"https://raw.githubusercontent.com/{repository}/{commit}/{where}")
        if commit != "HEAD":
            urls.append(f"https://cdn.jsdelivr.net/gh/{repository}@{commit}/{where}")
    return tuple(urls)


def _entry(
    name: str,
    sha256: str,
    size: int,
    about: str,
    *places: tuple[str, str, str],
    licence: str = "none stated",
    git_blob: str = "",
) -> RemoteFile:
    repository, _, path = places[0]
    suffix = path[path.rindex(".") :]
    return RemoteFile(
        name,
        f"{name}{suffix}",
        sha256,
        size,
        _github(*places),
        about,
        f"{repository}:{path}",
        licence,
        git_blob,
    )


def _at_palm(name: str, archive: str, size: int, about: str) -> RemoteFile:
    """A set of M.-L. Zhang's page, of which no checksum was published."""
    return RemoteFile(
        name,
        f"{name}.mat",
        "",
        size,
        (f"https://palm.seu.edu.cn/zhangml/files/{quote(archive, safe='!')}",),
        about,
        "palm.seu.edu.cn/zhangml",
        _ZHANG,
        archive=f"{name}{archive[archive.rindex('.') :]}",
    )


_ZHANG = "academic purpose only, at own risk (M.-L. Zhang)"
_PL_CL = ("Chongjie-Si/PL-CL", "d17d1953c0ae73303c8f23ae8261ec2e9039c27e")
_MUSIC = (
    "shahanaibrahimosu/end-to-end-crowdsourcing",
    "35c01c53e27eb0580648bc2b4142ad368e03882e",
)

_FILES = (
    _entry(
        "lost",
        "42a8cc43e05578087e7b8ca194647829ec535dc4d0a86cf47f357c5eb3146e4f",
        936096,
        "Lost, faces and names of a TV series: 1122 x 108, 16 labels, partial labels",
        (
            "Chongjie-Si/PL-CL",
            "d17d1953c0ae73303c8f23ae8261ec2e9039c27e",
            "dataset/lost.mat",
        ),
        ("mathefuchs/robust-pll", "HEAD", "external/realworld-datasets/lost.mat"),
        licence=_ZHANG,
    ),
    _entry(
        "msrcv2",
        "",
        0,
        "MSRCv2, regions of images: 1758 x 48, 23 labels, partial labels",
        (*_PL_CL, "dataset/MSRCv2.mat"),
        licence=_ZHANG,
        git_blob="6c78f3e9e4d1",
    ),
    _entry(
        "fgnet",
        "",
        0,
        "FG-NET, ages of faces: 1002 x 262, 78 labels, partial labels",
        (*_PL_CL, "dataset/FG-NET.mat"),
        licence=_ZHANG,
        git_blob="18d4458042a8",
    ),
    _entry(
        "birdsong",
        "",
        0,
        "BirdSong, syllables of birds: 4998 x 38, 13 labels, partial labels",
        (
            "pruirui/partial_label_realworld_dataset",
            "a43c823f1cf2575e7fc74bcdfc307463e0bd44bd",
            "BirdSong.mat",
        ),
        licence=_ZHANG,
        git_blob="1913bf36b6d1",
    ),
    _at_palm(
        "soccer-player",
        "Soccer Player.rar",
        36018748,
        "Soccer Player, faces and names: 17472 x 279, 171 labels, partial labels",
    ),
    _at_palm(
        "yahoo-news",
        "Yahoo! News.rar",
        28710594,
        "Yahoo! News, faces and names: 22991 x 163, 219 labels, partial labels",
    ),
    _at_palm(
        "mirflickr",
        "Mirflickr.zip",
        0,
        "Mirflickr, images and tags, partial labels",
    ),
    _entry(
        "music-genre",
        "",
        0,
        "Music genres, features and truth: 700 pieces x 124, 10 genres, crowd",
        (*_MUSIC, "data/Music/music_genre_gold.csv"),
        licence="none stated; cite Rodrigues, Pereira, Ribeiro 2013",
    ),
    _entry(
        "music-genre-votes",
        "",
        0,
        "Music genres, 2945 answers of 44 workers on these 700 pieces, crowd",
        (*_MUSIC, "data/Music/mturk_answers.csv"),
        licence="none stated; cite Rodrigues, Pereira, Ribeiro 2013",
    ),
    _entry(
        "italian",
        "7981fff3efd2df21abfac990d71777dd9637bf6ab8ccd15066b086287b9e6fde",
        287098,
        "Italian part-of-speech tags: 21878 x 519, 90 labels, partial labels",
        (
            "pruirui/partial_label_realworld_dataset",
            "a43c823f1cf2575e7fc74bcdfc307463e0bd44bd",
            "italian.mat",
        ),
    ),
    _entry(
        "slashdot-r1",
        "d0912de0ba1afcc9a1fd5bceb1a5d86510a26562825a769e08b4818679feb327",
        74574,
        "Slashdot, one false label per row: 3142 x 1079, 19 labels, partial labels",
        (
            "jhjiangSEU/SDLPP",
            "1f8bc0395c4141ec1dd70d3e6272887c3a1b549a",
            "slashdotpl-f1.mat",
        ),
    ),
    _entry(
        "lost-aggd",
        "d6526818af446e98471fbfece24ae92116f3a9a8236e83973f49679f6dac406d",
        933173,
        "Lost in two halves for training and test: 561 + 561 x 108, 16 labels",
        (
            "dengbaowang/PL-AGGD",
            "f9a089a02cf95a9446ec4417aa2f49a7775a53b2",
            "Lost.mat",
        ),
    ),
    _entry(
        "lost-ragd",
        "7b1ba786bda52646de4a5cbf4a9077288eda8783e3a6e52a34fb7e13964f5179",
        938942,
        "Lost, rescaled, with ten folds: 1122 x 108, 16 labels",
        (
            "DerrickZzyR/PL-RAGD",
            "f040c8bee76d59de2a28f3fa371c4b4f9986616d",
            "lost.mat",
        ),
    ),
    _entry(
        "birdsong-sample",
        "7b5ae5ac8f250212a43dc7133e11df0a0b6b35462425bac88eb2f0fd68f99215",
        358587,
        "Part of BirdSong for training and test: 1000 + 499 x 38, 13 labels",
        (
            "seu71wj/CIMAP",
            "b2f29d9eb3a67ba12c484d76153aa3dd7179cf90",
            "sample data.mat",
        ),
    ),
    _entry(
        "glass-plda",
        "5811d53484a7bfd27f0e0d4c7ffb1995f04c6dccf9c015ce43f300deffc98449",
        6436,
        "Glass in two halves, two false labels per row: 107 + 107 x 9, 6 labels",
        (
            "wwangwitsel/PLDA",
            "f5b28c7e995ed9069d1e4d4ca82580108273ac03",
            "demo_data.mat",
        ),
    ),
    _entry(
        "emotions-pml",
        "db8b96b83dbbf2ea46d0c003b161a1001e61b31978992e62e76f64f92bdc78d1",
        311315,
        "Emotions with candidate labels: 593 x 72, 6 labels, partial multi-label",
        (
            "fangyan1221/partial-multi-label-learning",
            "fe8fbf1fdbb593060341c84c322fffcbebb053ab",
            "PARTICLE (conference version)/sample data.mat",
        ),
    ),
    _entry(
        "emotions-views",
        "b38a1e8e97276bf482ce8a0bd28d09e1cc086c6a224709f2c8007910a42ff274",
        283532,
        "Emotions as two views in a MATLAB 7.3 file: 593 x 8 + 64, 6 labels",
        (
            "A11en0/Multi-View-Multi-Label-Model-Collections",
            "HEAD",
            "PARTICLE/emotions.mat",
        ),
    ),
    _entry(
        "cal500-train-test",
        "69ccedbc11b442007020cbf5f0450db21d2829a2ebc9677e044bb0556c75462c",
        261895,
        "CAL500 for training and test: 401 + 101 x 68, 174 labels, multi-label",
        (
            "peipeilihfut/PMLFS_Partial-Multi-Label-Feature-Selection",
            "0d6c4507244c2b4cdeab2c355be2852c327e980e",
            "data/arti_CAL500.mat",
        ),
    ),
    _entry(
        "slashdot",
        "8467ff86fc090e4bc6247879a1c3d5486a6b9926cb10e8cc9b36b41eb2b7caa8",
        85391,
        "Slashdot: 3782 x 1079, 22 labels, multi-label",
        (
            "ZesenChen/multi-label-dataset",
            "575634cc7a4a73cbcd238ea709bd83fe2cccc9bb",
            "slashdot.mat",
        ),
    ),
    _entry(
        "chd-49",
        "d25689591937a5507ef07c0be3f90b5e7784bb48772848d1da1800234f4f14c0",
        10041,
        "Coronary heart disease in Chinese medicine: 555 x 49, 6 labels, multi-label",
        (
            "EboniWilliams/MultiLabelClassificationApproaches",
            "03d86336346b84ad4dc16c4aac9974b9132762de",
            "Programs/Raw_Data/CHD_49/CHD_49.mat",
        ),
        licence="none stated; acknowledge Shao, Li and Liu 2010",
    ),
    _entry(
        "stackex-chess",
        "da9c07fb25d1b6c65455c677fe670287160c976a130534677e1cc1d6f72dcd07",
        141796,
        "Stack Exchange on chess, scaled: 1675 x 585, 227 labels, multi-label",
        (
            "zhenzhenSun-FZU/MFS-ADGO",
            "7c1663c7698df5f89693adf8419ac2b8e14d15e0",
            "data/stackexchess.mat",
        ),
    ),
    _entry(
        "vehicle",
        "5eb760790e4bfba7baced9afe5c2eaa7edca69ebd56a5eb51ac940843157dcd5",
        149144,
        "Vehicle silhouettes: 846 x 18, 4 classes, multi-class",
        (
            "Chongjie-Si/PL-CL",
            "d17d1953c0ae73303c8f23ae8261ec2e9039c27e",
            "dataset/vehicle.mat",
        ),
    ),
)

REGISTRY = MappingProxyType({entry.name: entry for entry in _FILES})
