"""Read dates and times in text, and split them into calendar parts."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array
from partlearn.io import form_of

# ISO comes first; of the two orders with slashes the one that fits all cells is taken.
_DAYS = ["%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y"]
_DAYS += ["%d.%m.%y", "%m/%d/%y", "%d/%m/%y"]  # 69 to 99 are of the last century
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_FORMATS = (
    "iso",
    *(f"{day}{time}" for day in _DAYS for time in _TIMES),
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%a, %d %b %Y %H:%M:%S %z",  # of mails
    "%Y\u5e74%m\u6708%d\u65e5",  # of Chinese and Japanese
    "%Y%m%d",
)
_MONTH_FIRST = re.compile("%m([/-])%d")
_DAY_FIRST = re.compile("%d([/-])%m")
# What no format takes for a date, found at once; six to eight digits may be one.
_NUMBER = re.compile(r"(?![0-9]{6,8}$)[+-]?[0-9]*[.,]?[0-9]+(?:[eE][+-]?[0-9]+)?")
_YEARS = (1800, 2200)  # outside these a number of eight digits is no date


def _moment(text: str, form: str) -> datetime | None:
    try:
        if form == "iso":
            moment = datetime.fromisoformat(text.strip()) if "-" in text else None
        else:
            moment = datetime.strptime(text.strip(), form)
    except ValueError:
        return None
    if moment is None or not _YEARS[0] <= moment.year <= _YEARS[1]:
        return None
    # An offset counts, as in Arrow; moments without one are taken as they are.
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def find_format(texts: list[str], *, share: float = 0.95) -> str | None:
    """Find the date format of nearly all of some strings, or None."""
    too_many = int(len(texts) - share * len(texts)) + 1  # that are no dates
    numbers = (text for text in texts if _NUMBER.fullmatch(text.strip()))
    if sum(1 for _ in islice(numbers, too_many)) == too_many:
        return None
    for form in _FORMATS if texts else ():
        others = (text for text in texts if _moment(text, form) is None)
        if sum(1 for _ in islice(others, too_many)) < too_many:
            other = _other_order(form)
            better = other and _n_dates(texts, other) > _n_dates(texts, form)
            return other if better else form
    return None


def fits_both_orders(texts: list[str], form: str) -> bool:
    """Whether the day and the month of all dates could be exchanged."""
    other = _other_order(form)
    return other is not None and _n_dates(texts, other) == _n_dates(texts, form)


def _other_order(form: str) -> str | None:
    """Return the format with the day and the month exchanged, or None."""
    for pattern, swapped in ((_MONTH_FIRST, r"%d\1%m"), (_DAY_FIRST, r"%m\1%d")):
        if pattern.match(form):
            return pattern.sub(swapped, form)
    return None


def _n_dates(texts: list[str], form: str) -> int:
    return sum(_moment(text, form) is not None for text in texts)


def moments_in(column: NDArray[Any], form: str) -> NDArray[np.datetime64]:
    """Convert a column to moments; other cells become NaT."""
    if form_of(column) == "moment":
        return column.astype("datetime64[s]")
    known = {
        text: _moment(text, form) if isinstance(text, str) else None
        for text in set(column.tolist())
    }
    return np.asarray([known[text] for text in column], dtype="datetime64[s]")


def calendar_parts(moments: NDArray[np.datetime64]) -> dict[str, Array]:
    """Split moments into the day, and the position in year, week and day.

    Parameters
    ----------
    moments : ndarray of datetime64
        The moments; NaT gives NaN.

    Returns
    -------
    parts : dict of str to ndarray
        Days since 1970; sine and cosine of the position in the year, in the week and in
        the day, so that December is next to January.
    """
    nothing = np.isnat(moments)
    seconds = np.where(nothing, 0, moments.astype("datetime64[s]").astype(np.int64))
    days = seconds / 86400.0
    years = moments.astype("datetime64[Y]")
    first = np.where(nothing, 0, years.astype("datetime64[D]").astype(np.int64))
    circles = {
        "year": (days - first) / 365.25,
        "week": np.floor(days) % 7 / 7,
        "day": days % 1,
    }
    parts = {"days": days}
    for name, position in circles.items():
        parts[f"{name} sin"] = np.sin(2 * np.pi * position)
        parts[f"{name} cos"] = np.cos(2 * np.pi * position)
    return {name: np.where(nothing, np.nan, part) for name, part in parts.items()}
