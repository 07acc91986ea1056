"""Errors raised when data are read, written or fetched."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from partlearn.candidates import AmbiguousSeparatorError


class DataError(ValueError):
    """Base class of errors in data files.

    Parameters
    ----------
    what : str
        Problem and the value found.
    path : path-like, default=None
        The file.
    where : str, default=""
        The place in the file: a line, a variable, a column.
    advice : str, default=""
        Remedy.

    Examples
    --------
    >>> from partlearn.io import DataError
    >>> raise DataError("no labels", path="a.csv", where="line 1", advice="Add some.")
    Traceback (most recent call last):
    ...
    partlearn.io._errors.DataError: a.csv, line 1: no labels. Add some.
    """

    def __init__(
        self,
        what: str,
        *,
        path: str | os.PathLike[str] | None = None,
        where: str = "",
        advice: str = "",
    ) -> None:
        self.what = what
        self.path = None if path is None else os.fspath(path)
        self.where = where
        self.advice = advice
        super().__init__(what)

    def __str__(self) -> str:
        places = ", ".join(place for place in (self.path, self.where) if place)
        text = f"{places}: {self.what}" if places else self.what
        if not text.endswith((".", "?", "!")):
            text += "."
        return f"{text} {self.advice}" if self.advice else text

    def at(self, path: str | os.PathLike[str]) -> DataError:
        """Add the path of the file if the error has none.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        self : DataError
            The same error.
        """
        if self.path is None:
            self.path = os.fspath(path)
        return self


@contextmanager
def damage(what: str) -> Iterator[None]:
    """Turn errors of other readers, which may be of any type, into DataFormatError.

    Parameters
    ----------
    what : str
        Start of the message.
    """
    try:
        yield
    except (DataError, ImportError, MemoryError, Warning):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        raise DataFormatError(f"{what} ({reason})") from error


@contextmanager
def located(
    where: str = "", path: str | os.PathLike[str] | None = None
) -> Iterator[None]:
    """Add the place to errors; with `where`, any ValueError becomes a DataError.

    Parameters
    ----------
    where : str, default=""
        Place in the file: a line, a variable, a column.
    path : path-like, default=None
        The file.
    """
    try:
        yield
    except DataError as error:
        error.where = error.where or where
        raise error if path is None else error.at(path) from None
    except AmbiguousSeparatorError as error:
        what = error.what.rstrip(".")
        raise AmbiguousDataError(what, where=where, advice=error.advice) from None
    except ValueError as error:
        if not where:
            raise
        raise DataFormatError(str(error).rstrip("."), where=where) from None


class DataFormatError(DataError):
    """The content of a file is damaged or is not a valid data set."""


class AmbiguousDataError(DataError):
    """A file can be read in more than one way; the advice names the argument."""


class DataLimitError(DataError):
    """A file declares or expands to more than the limits allow."""


class DownloadError(DataError):
    """A file could not be downloaded; the advice says where to put it by hand."""
