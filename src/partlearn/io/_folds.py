"""Train and test splits stored in a file."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from typing import Any

import numpy as np
import scipy.sparse as sp

from partlearn._typing import Indices

Fold = tuple[Indices, Indices]
_ROLES = {
    "train": r"tridx|train(idx|index|indices)",
    "test": r"teidx|test(idx|index|indices)",
    "number": r"(fold)?indices|foldid",
}


def find_folds(flat: dict[str, Any], m: int, one_based: bool) -> list[Fold] | None:
    """Return (train, test) row numbers per fold, from masks, cells or fold numbers.

    A variable that does not fit is passed over: splits are a courtesy of some files
    and no part of the data.
    """
    parts: dict[str, Any] = {}
    for key, value in flat.items():
        name = key.rsplit(".", 1)[-1].replace("_", "").lower()
        for role, names in _ROLES.items():
            if re.fullmatch(names, name):
                parts.setdefault(role, value)
    if "train" in parts and "test" in parts:
        train = _rows(parts["train"], m, one_based)
        test = _rows(parts["test"], m, one_based)
        if train is not None and test is not None and len(train) == len(test):
            return list(zip(train, test, strict=True))
        return None
    number: Any = parts.get("number")
    whole = isinstance(number, np.ndarray) and number.dtype.kind in "iu"
    if not whole or number.size != m:
        return None
    return [
        (np.flatnonzero(number != k), np.flatnonzero(number == k))
        for k in np.unique(number)
    ]


def _rows(value: Any, m: int, one_based: bool) -> list[Indices] | None:
    """Return row numbers per fold from an m x folds mask or cells of row numbers."""
    if sp.issparse(value):
        value = value.toarray()
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.shape[0] == m:
        if not np.isin(value, (0, 1)).all():
            return None
        return [np.flatnonzero(column) for column in value.T]
    if not isinstance(value, list):
        return None
    out = []
    for fold in value:
        if not isinstance(fold, np.ndarray) or fold.dtype.kind not in "iuf":
            return None
        rows = fold.ravel()
        if rows.size == m and np.isin(rows, (0, 1)).all():
            out.append(np.flatnonzero(rows))
            continue
        numbers = rows.astype(np.int64) - int(one_based)
        if numbers.size and (numbers.min() < 0 or numbers.max() >= m):
            return None
        out.append(numbers)
    return out
