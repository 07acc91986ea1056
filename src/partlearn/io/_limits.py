"""How much a file may ask for, and the account that is kept while reading."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass, field

from partlearn.io._errors import DataFormatError, DataLimitError

__all__ = ["Budget", "Limits"]

# No deflate stream expands further (RFC 1951: 258 bytes from two bits).
DEFLATE_RATIO = 1040
_FREE = 2**20  # small declarations are not worth a ratio test


@dataclass(frozen=True)
class Limits:
    """Limits on what a file may ask of memory and time.

    Parameters
    ----------
    max_bytes : int, default=4 GiB
        Bytes that the content may take after decompression, all arrays together,
        and that a matrix built from it may take.
    max_ratio : float, default=500
        Largest ratio of expanded to stored size, looked at only above 256 MiB.
    max_depth : int, default=8
        Depth of structs and cells inside each other.

    Examples
    --------
    >>> from partlearn.io import Limits
    >>> Limits(max_bytes=2**20).max_bytes
    1048576
    """

    max_bytes: int = 2**32
    max_ratio: float = 500.0
    max_depth: int = 8


@dataclass
class Budget:
    """What is left of the limits while one file is read."""

    limits: Limits
    stored: int  # size of the file
    spent: int = 0
    ratio_from: int = field(default=2**28, repr=False)

    def charge(self, nbytes: int, what: str) -> None:
        """Account for `nbytes` before they are allocated."""
        if nbytes < 0:
            raise DataFormatError(f"{what} declares a negative size")
        total = self.spent + nbytes
        if total > self.limits.max_bytes:
            raise DataLimitError(
                f"{what} would bring the content to {total:,} bytes, above the limit "
                f"of {self.limits.max_bytes:,}",
                advice="If the file is trusted, pass limits=Limits(max_bytes=...).",
            )
        if total > self.ratio_from and total > self.limits.max_ratio * self.stored:
            raise DataLimitError(
                f"{what} would expand {self.stored:,} stored bytes to {total:,}, a "
                f"ratio above {self.limits.max_ratio:g}",
                advice="If the file is trusted, pass limits=Limits(max_ratio=...).",
            )
        self.spent = total

    def matrix(self, rows: int, columns: int, itemsize: int, what: str) -> None:
        """Check (without spending) that a matrix to be built may exist."""
        size = rows * columns * itemsize
        if size > self.limits.max_bytes:
            raise DataLimitError(
                f"{what} of {rows:,} x {columns:,} would take {size:,} bytes, above "
                f"the limit of {self.limits.max_bytes:,}",
                advice="If the file is trusted, pass limits=Limits(max_bytes=...).",
            )

    def check_depth(self, depth: int) -> None:
        """Refuse structs and cells that are nested too deeply."""
        if depth > self.limits.max_depth:
            raise DataLimitError(
                "structs and cells are nested too deeply",
                advice="If the file is trusted, pass limits=Limits(max_depth=...).",
            )

    @staticmethod
    def plausible(declared: int, stored: int, what: str) -> None:
        """Refuse a declared size which the stored bytes cannot expand to."""
        if declared > _FREE + DEFLATE_RATIO * stored:
            raise DataFormatError(
                f"{what} declares {declared:,} bytes, which {stored:,} stored bytes "
                "cannot hold"
            )
