"""Scatter matrices weighted by labeling confidences, in thin form."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._math.linalg import inverse_scale
from partlearn._typing import Array


def class_scaled(F: NDArray[Any]) -> NDArray[Any]:
    """``F diag(n_j)^(-1/2)`` with ``n_j`` the confidence mass of class j.

    Source: DELIN, scatter between classes.
    Source: PLDA, scatter between classes.

    With centered data X the between-class scatter is ``X' C C' X`` for this C: class
    means ``X' F_j / n_j`` weighted by ``n_j``. A class without mass contributes
    nothing.
    """
    return F * np.sqrt(inverse_scale(F.sum(axis=0)))


def without_noise(values: NDArray[Any], largest: float, dtype: Any) -> Array:
    """Set squared singular values to zero that are round-off.

    These are below 1e-12 of the first one; all are, if none exceeds the precision of
    `dtype` times the `largest` possible square.
    """
    floor = largest * (10 * float(np.finfo(dtype).eps)) ** 2
    first = float(values[0]) if len(values) else 0.0
    return np.where(values <= max(1e-12 * first, floor), 0.0, values)
