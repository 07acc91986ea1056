"""The smallest model that is not clearly worse than the best one."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["smallest_good"]


def smallest_good(
    hits: NDArray[Any], weight: NDArray[np.float64], *, errors: float
) -> int:
    """First row of `hits` whose loss against the best row is within `errors` errors.

    Parameters
    ----------
    hits : ndarray of shape (n_models, n_rows)
        Scores on the same held-out rows, smallest model first.
    weight : ndarray of shape (n_rows,)
        What a held-out row counts.
    errors : float
        Standard errors of the paired difference that may be lost for a smaller model.

    Returns
    -------
    int
        Row of `hits`.
    """
    weight = weight / weight.sum()
    best = hits[np.argmax(hits @ weight)]
    difference = best - hits.astype(np.float64)
    loss = difference @ weight
    error = np.sqrt((difference - loss[:, None]) ** 2 @ weight**2)
    return int(np.argmax(loss <= errors * error))
