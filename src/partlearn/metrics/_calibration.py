"""Confidence beside how often it is right."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partlearn._typing import Array, Indices

__all__ = ["CalibrationBins", "calibration_bins"]


class CalibrationBins(NamedTuple):
    """Mean ``confidence``, ``accuracy`` and ``n_rows`` of each filled bin."""

    confidence: Array
    accuracy: Array
    n_rows: Indices


def calibration_bins(
    confidence: ArrayLike, right: ArrayLike, *, n_bins: int = 10
) -> CalibrationBins:
    """Compare confidence with how often it is right.

    Parameters
    ----------
    confidence : array-like of shape (n_samples,)
        Confidence in the chosen label, between 0 and 1.
    right : array-like of bool, shape (n_samples,)
        Whether the chosen label is the true one.
    n_bins : int, default=10
        Number of bins of equal width between 0 and 1; empty ones are left out.

    Returns
    -------
    bins : CalibrationBins
        Mean confidence, share of right labels and number of rows of each filled bin.

    Examples
    --------
    >>> from partlearn.metrics import calibration_bins
    >>> bins = calibration_bins([0.5, 0.5, 1.0], [True, False, True], n_bins=2)
    >>> bins.accuracy.tolist(), bins.n_rows.tolist()
    ([0.6666666666666666], [3])
    """
    if n_bins < 1:
        raise ValueError(f"`n_bins` must be at least 1; got {n_bins}.")
    sure = np.asarray(confidence, dtype=np.float64)
    hit = np.asarray(right, dtype=bool)
    if sure.shape != hit.shape or sure.ndim != 1:
        raise ValueError(
            "`confidence` and `right` must hold one value per row; got shapes "
            f"{sure.shape} and {hit.shape}."
        )
    bins = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    count = np.bincount(bins, minlength=n_bins)
    filled = count > 0
    count = count[filled]
    mean = np.bincount(bins, sure, minlength=n_bins)[filled] / count
    share = np.bincount(bins, hit, minlength=n_bins)[filled] / count
    return CalibrationBins(mean, share, count)
