"""LIBSVM (SVMlight) files, with one or several labels per row."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils import Bunch

from partlearn._arguments import argument
from partlearn._typing import Mask
from partlearn.io._bunch import class_codes, make_bunch, one_hot
from partlearn.io._errors import DataFormatError, damage
from partlearn.io._files import expand
from partlearn.io._options import Budget, ReadOptions

_MAX_INDEX = 2**31 - 2
# A row that lists labels, or has none and begins with a column.
_SEVERAL = re.compile(rb"^[ \t]*[^\s#]*[,:]", re.MULTILINE)


def read_libsvm(path: Path, options: ReadOptions, budget: Budget) -> Bunch:
    """Read rows of ``label[,label...] column:value ...``."""
    data = expand(path, budget)
    several = _SEVERAL.search(data) is not None
    # One pair takes at least four characters and becomes 16 bytes.
    budget.charge(4 * len(data), "the data matrix")
    with damage("the rows cannot be read"):
        X, y = load_svmlight_file(BytesIO(data), multilabel=several)
    if not X.shape[0]:
        raise DataFormatError("the file has no rows")
    if X.shape[1] > _MAX_INDEX:
        raise DataFormatError(f"column {X.shape[1]:,} is out of range")
    labels: Any
    labels, names = _label_matrix(y, budget) if several else class_codes(y, "labels")
    as_candidates = options.task in ("pll", "pml")
    if as_candidates and labels.ndim == 1:
        labels = one_hot(labels, len(names), budget)
    return make_bunch(
        X,
        labels if as_candidates else None,
        None if as_candidates else labels,
        options,
        budget,
        target_names=names,
        feature_names=None,
        descr="Read from a LIBSVM file.",
        key_argument=argument("task"),
    )


def _label_matrix(rows: list[Any], budget: Budget) -> tuple[Mask, list[str]]:
    binarizer = MultiLabelBinarizer(sparse_output=True).fit(rows)
    _, names = class_codes(binarizer.classes_.astype(np.float64), "labels")
    budget.matrix(len(rows), len(names), 1, "the label matrix")
    return binarizer.transform(rows).astype(bool).toarray(), names
