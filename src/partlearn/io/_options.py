"""Options and memory limits for reading files."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NoReturn

import numpy as np

from partlearn._arguments import argument
from partlearn._sizes import SIZES
from partlearn.candidates import did_you_mean
from partlearn.io._errors import AmbiguousDataError, DataFormatError, DataLimitError

Task = Literal["pll", "pml", "multiclass", "multilabel"]
TASKS = ("pll", "pml", "multiclass", "multilabel")
Direction = Literal["rows", "columns"]
Sparse = bool | Literal["auto"]
Form = Literal["raters", "weights", "marks"]  # what several label columns are
FORMS: tuple[Form, ...] = ("raters", "weights", "marks")
# No deflate stream expands further (RFC 1951: 258 bytes from two bits).
DEFLATE_RATIO = 1040
_FREE = 2**20  # small declarations are not worth a ratio test


def names_of(value: str | Sequence[str], known: Collection[str]) -> list[str]:
    """Return names given as a list or as comma-separated text."""
    if not isinstance(value, str):
        return list(value)
    return [value] if value in known else [name.strip() for name in value.split(",")]


def check_names(
    wanted: Iterable[str], known: Iterable[str], option: str, what: str = "column"
) -> list[str]:
    """Return names of columns; raise for one that is not there, with the nearest."""
    names, known = list(wanted), list(known)
    for name in names:
        if name not in known:
            raise AmbiguousDataError(
                f"{argument(option)}: there is no {what} {name!r}",
                advice=did_you_mean(name, known),
            )
    return names


@dataclass(frozen=True)
class ReadOptions:
    """Arguments of ``read`` that resolve ambiguities of a file."""

    task: Task | None = None
    labels: str | int | Sequence[str] | None = None
    truth: str | Sequence[str] | None = None
    sep: str | None = None
    form: Form | None = None
    ignore: Sequence[str] = ()
    bags: str | None = None
    data_key: str | None = None
    candidates_key: str | None = None
    truth_key: str | None = None
    orientation: Direction | None = None
    label_orientation: Direction | None = None
    fold: int | None = None
    sparse: Sparse = "auto"

    def __post_init__(self) -> None:
        _one_of("task", self.task, TASKS)
        _one_of("form", self.form, FORMS)
        _one_of("orientation", self.orientation, ("rows", "columns"))
        _one_of("label_orientation", self.label_orientation, ("rows", "columns"))
        _one_of("sparse", self.sparse, ("auto", True, False))
        if self.sep == "":
            raise ValueError(f"{argument('sep')} must not be empty.")

    @classmethod
    def of(cls, *, labels: Any, ignore: Sequence[str], **given: Any) -> "ReadOptions":
        """Build options; `labels` may be LabelColumns."""
        names, form = labels if hasattr(labels, "form") else (labels, None)
        return cls(labels=names, form=form, ignore=tuple(ignore), **given)

    def completed(self, meta: Mapping[str, Any]) -> "ReadOptions":
        """Fill in open options from the note in a file written by ``write``."""
        if meta.get("task") not in TASKS:
            return self
        sparse = self.sparse
        if sparse == "auto" and "sparse" in meta:
            sparse = bool(np.any(meta["sparse"]))
        return replace(self, task=self.task or meta["task"], sparse=sparse)


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value is not None and value not in allowed:
        words = ", ".join(repr(v) for v in allowed)
        raise ValueError(f"`{name}` must be one of {words}; got {value!r}.")


@dataclass(frozen=True)
class Limits:
    """Limits on memory when files are read.

    Parameters
    ----------
    max_bytes : int, default=4 GiB
        Maximum size of the decompressed content, all arrays together, and of each
        matrix built from it.
    max_ratio : float, default=500
        Largest ratio of expanded to stored size, checked above 256 MiB.
    max_depth : int, default=8
        Maximum nesting depth of structs and cells.

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
    """Memory spent so far while one file is read, and its limits."""

    limits: Limits
    stored: int  # size of the file
    spent: int = 0
    ratio_from: int = field(default=2**28, repr=False)

    def charge(self, nbytes: int, what: str) -> None:
        """Charge `nbytes` before they are allocated; raise above the limits."""
        if nbytes < 0:
            raise DataFormatError(f"{what} declares a negative size")
        total = self.spent + nbytes
        if total > self.limits.max_bytes:
            self._refuse(f"{what} would bring the content to {total:,} bytes", "bytes")
        if total > self.ratio_from and total > self.limits.max_ratio * self.stored:
            self._refuse(
                f"{what} would expand {self.stored:,} stored bytes to {total:,}",
                "ratio",
            )
        self.spent = total

    @classmethod
    def of_table(cls, stored: int, limits: Limits | None = None) -> "Budget":
        """Return the budget of a table, which grows with the size of the file."""
        limits = limits or Limits()
        most = max(limits.max_bytes, SIZES.table_ratio * stored)
        return cls(replace(limits, max_bytes=most), stored)

    def matrix(self, rows: int, columns: int, itemsize: int, what: str) -> None:
        """Raise if a matrix of this size would exceed the limits."""
        size = rows * columns * itemsize
        if size > self.limits.max_bytes:
            shape = f"{rows:,} x {columns:,}"
            self._refuse(f"{what} of {shape} would take {size:,} bytes", "bytes")

    def check_depth(self, depth: int) -> None:
        """Raise if structs and cells are nested too deeply."""
        if depth > self.limits.max_depth:
            self._refuse("structs and cells are nested too deeply", "depth")

    def _refuse(self, what: str, of: str) -> NoReturn:
        limit = getattr(self.limits, f"max_{of}")
        raise DataLimitError(
            f"{what}, above the limit of {limit:,}",
            advice=f"If the file is trusted, pass limits=Limits(max_{of}=...).",
        )

    @staticmethod
    def plausible(declared: int, stored: int, what: str) -> None:
        """Raise if the stored bytes cannot expand to the declared size."""
        if declared > _FREE + DEFLATE_RATIO * stored:
            raise DataFormatError(
                f"{what} declares {declared:,} bytes, which {stored:,} stored bytes "
                "cannot hold"
            )
