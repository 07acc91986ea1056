"""Extract a data file from a downloaded archive."""

# SPDX-License-Identifier: BSD-3-Clause

import errno
import lzma
import shutil
import struct
import subprocess
import tempfile
import zipfile
import zlib
from pathlib import Path

from partlearn._sizes import SIZES
from partlearn.io import DownloadError, atomic_write

# Programs that read .rar archives, and how they unpack one into a folder.
_PROGRAMS = {
    "bsdtar": ("-xf", "{archive}", "-C", "{folder}"),
    "unar": ("-quiet", "-no-directory", "-output-directory", "{folder}", "{archive}"),
}
# What the module raises for archives that are damaged, encrypted or of other kinds.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError,
    RuntimeError, ValueError, KeyError, struct.error, OverflowError,
)  # fmt: skip


def take_out(archive: Path, target: Path) -> None:
    """Extract the only file with the extension of `target`.

    Parameters
    ----------
    archive : Path
        A ``.zip`` file, or a ``.rar`` file, which needs an installed program.
    target : Path
        Path of the content; nothing is written before all of it was read.

    Raises
    ------
    DownloadError
        Without a program, or if the archive is not as expected.
    """
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        if archive.suffix == ".zip":
            _from_zip(archive, target, Path(folder))
        else:
            _by_program(archive, Path(folder))
        members = [
            path
            for path in sorted(Path(folder).rglob("*"))
            if path.suffix.lower() == target.suffix
            and path.is_file()
            and not path.is_symlink()
        ]
        _expect_one(len(members), archive, target)
        with members[0].open("rb") as source, atomic_write(target) as file:
            shutil.copyfileobj(source, file)


def _expect_one(count: int, archive: Path, target: Path) -> None:
    if count != 1:
        raise DownloadError(
            f"{archive.name} has {count} files that end in {target.suffix}; one is "
            "expected",
            advice=f"Unpack {archive} yourself and put the data at {target}.",
        )


def _from_zip(archive: Path, target: Path, folder: Path) -> None:
    suffix = target.suffix
    try:
        with zipfile.ZipFile(archive) as file:
            wanted = [i for i in file.infolist() if i.filename.lower().endswith(suffix)]
            # Before any is unpacked: thousands may share the same compressed bytes.
            _expect_one(len(wanted), archive, target)
            size = wanted[0].file_size
            if size > SIZES.unpacked_bytes:
                raise DownloadError(
                    f"{wanted[0].filename} in {archive.name}: {size:,} bytes",
                    advice="No known data set is that large: it was not unpacked.",
                )
            # Not by its name: those inside an archive are not to be trusted.
            copy = folder / f"data{suffix}"
            with file.open(wanted[0]) as source, copy.open("wb") as content:
                shutil.copyfileobj(source, content)
    except DownloadError:
        raise
    except (*_DAMAGE, OSError) as error:
        # A damaged directory names places before the start of the file (EINVAL).
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        said = "encrypted" if "password" in str(error) else "damaged, or no zip archive"
        raise DownloadError(
            f"{archive.name} is {said}",
            advice=f"Remove {archive} and fetch again, or unpack it yourself.",
        ) from None


def _by_program(archive: Path, folder: Path) -> None:
    known = [(name, path) for name in _PROGRAMS if (path := shutil.which(name))]
    if not known:
        raise DownloadError(
            f"{archive.name} is a .rar archive, and neither bsdtar nor unar is "
            "installed to unpack it",
            advice="Install one (bsdtar is part of libarchive: `apt install "
            "libarchive-tools`, `brew install libarchive`; or `apt install unar`) and "
            f"fetch again: {archive} is kept.",
        )
    failures = []
    for name, program in known:  # each knows versions of the format others do not
        into = folder / name
        into.mkdir()
        words = [w.format(archive=archive, folder=into) for w in _PROGRAMS[name]]
        try:
            subprocess.run(
                [program, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SIZES.unpacking_seconds,
                check=True,
            )
            return
        except subprocess.TimeoutExpired:
            said = "it took too long"
        except subprocess.CalledProcessError as error:
            said = (error.stderr or error.stdout).decode(errors="replace").strip()
        shutil.rmtree(into)
        failures.append(f"{name} could not unpack {archive.name}: {said[-300:]}")
    raise DownloadError(
        "; ".join(failures),
        advice=f"Remove {archive} and fetch again, or unpack it yourself.",
    )
