"""Words that errors about labels share."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from partlearn._typing import Indices

__all__ = ["check_known", "did_you_mean", "is_missing", "some_rows"]

_SHOWN = 5  # how many offending rows an error names


def some_rows(rows: Indices | Sequence[int]) -> str:
    """Name the first few rows of a list of offending rows."""
    shown = ", ".join(str(int(r)) for r in rows[:_SHOWN])
    return shown if len(rows) <= _SHOWN else f"{shown}, ... ({len(rows)} rows in all)"


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """A question that names the closest known name, or the first few of them."""
    names = [str(k) for k in known]
    close = get_close_matches(str(name), names, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    more = " ..." if len(names) > 10 else ""
    return f"Known are {', '.join(map(repr, names[:10]))}{more}."


def check_known(name: Any, known: Collection[Any], complaint: str) -> None:
    """Raise with a complaint and the closest known name where a name is not known."""
    if name not in known:
        raise ValueError(f"{complaint} {did_you_mean(name, known)}")


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN or NaT, or pandas' NA, which compares to NA."""
    same = label == label
    return not (isinstance(same, (bool, np.bool_)) and same) or label is None
