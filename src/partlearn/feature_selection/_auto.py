"""A number of features chosen without the truth, along one path of them."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any

import numpy as np

from partlearn._typing import Indices
from partlearn.feature_selection._columns import DenseColumns, SparseColumns

FRACTIONS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)


def sizes_to_try(d: int, least: int, most: int) -> Indices:
    """Sizes between `least` and `most`, up to three fifths of the `d` features."""
    sizes = np.ceil(np.array(FRACTIONS) * d - 1e-9)
    return np.unique(np.clip(sizes, max(1, least), most).astype(np.intp))


def prefixes(
    data: DenseColumns | SparseColumns,
    X: Any,
    order: Indices,
    sizes: Indices,
    standardize: bool,
) -> Iterator[tuple[Any, Any]]:
    """Training rows and held-out rows `X` in the first features of `order`."""
    for n in sizes:
        columns = order[:n]
        yield data.scaled(columns, standardize), data.scaled(columns, standardize, X)
