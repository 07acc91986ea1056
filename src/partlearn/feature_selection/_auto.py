"""A number of features chosen without the truth, along one path of them."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Indices, Mask
from partlearn.feature_selection._columns import DenseColumns, SparseColumns
from partlearn.model_selection import held_out_hits

FRACTIONS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)


def sizes_to_try(d: int, least: int, most: int) -> Indices:
    """Sizes between `least` and `most`, up to three fifths of the `d` features."""
    sizes = np.ceil(np.array(FRACTIONS) * d - 1e-9)
    return np.unique(np.clip(sizes, max(1, least), most).astype(np.intp))


def try_sizes(
    data: DenseColumns | SparseColumns,
    F: NDArray[Any],
    order: Indices,
    sizes: Indices,
    standardize: bool,
    X: Any,
    S: Mask,
) -> Mask:
    """Whether neighbours of held-out rows `X` name a candidate, (n_sizes, len(X)).

    They are searched among the training rows `data` in the first features of `order`.
    """
    spaces = (
        (data.scaled(order[:n], standardize), data.scaled(order[:n], standardize, X))
        for n in sizes
    )
    return held_out_hits(spaces, F, S)
