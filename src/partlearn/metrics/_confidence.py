"""Risk-coverage curves and calibration of confidences."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partlearn._typing import Array, Indices


class RiskCoverage(NamedTuple):
    """Coverage, risk and threshold, rows of highest confidence first."""

    coverage: Array
    risk: Array
    threshold: Array


def _checked(confidence: ArrayLike, right: ArrayLike) -> tuple[Array, Array]:
    sure = np.asarray(confidence, dtype=np.float64)
    hit = np.asarray(right, dtype=np.float64)
    if sure.ndim != 1 or sure.shape != hit.shape:
        raise ValueError(
            "`confidence` and `right` must hold one value per row; got shapes "
            f"{sure.shape} and {hit.shape}."
        )
    if not np.isfinite(sure).all():
        row = int(np.flatnonzero(~np.isfinite(sure))[0])
        raise ValueError(f"`confidence` must be finite; row {row} has {sure[row]}.")
    if not ((hit >= 0) & (hit <= 1)).all():
        row = int(np.flatnonzero(~((hit >= 0) & (hit <= 1)))[0])
        raise ValueError(
            "`right` must hold booleans or probabilities between 0 and 1; row "
            f"{row} has {hit[row]}."
        )
    return sure, hit


def risk_coverage_curve(confidence: ArrayLike, right: ArrayLike) -> RiskCoverage:
    """Coverage and risk at each threshold of the confidence.

    Rows are sorted by falling confidence. Rows of equal confidence have no order: the
    curve is the mean over all of their orders.

    Parameters
    ----------
    confidence : array-like of shape (n_samples,)
        Confidence in the predicted label, such as the largest probability of a row.
    right : array-like of bool or float, shape (n_samples,)
        Whether the predicted label is the true one, or the estimated probability that
        it is.

    Returns
    -------
    curve : RiskCoverage
        One point per row; the last has coverage 1 and the error rate of all rows.

    References
    ----------
    R. El-Yaniv, Y. Wiener (2010). On the foundations of noise-free selective
    classification. Journal of Machine Learning Research, 11, 1605-1641.

    Examples
    --------
    >>> from partlearn.metrics import risk_coverage_curve
    >>> curve = risk_coverage_curve([0.9, 0.5, 0.7], [True, False, True])
    >>> curve.coverage.round(2).tolist(), curve.risk.round(2).tolist()
    ([0.33, 0.67, 1.0], [0.0, 0.0, 0.33])
    """
    sure, hit = _checked(confidence, right)
    if not len(sure):
        raise ValueError("A curve needs at least one row; got none.")
    order = np.argsort(-sure, kind="stable")
    falling, wrong = sure[order], 1 - hit[order]
    # Rows of equal confidence share their errors evenly.
    _, block = np.unique(-falling, return_inverse=True)
    share = np.bincount(block, wrong) / np.bincount(block)
    n = np.arange(1, len(sure) + 1)
    return RiskCoverage(n / len(sure), np.cumsum(share[block]) / n, falling)


def area_under_risk_coverage(confidence: ArrayLike, right: ArrayLike) -> float:
    """Mean of the risk over all coverages (AURC); less is better.

    Parameters
    ----------
    confidence : array-like of shape (n_samples,)
        As for :func:`risk_coverage_curve`.
    right : array-like of bool, shape (n_samples,)
        Whether the predicted label is the true one.

    Returns
    -------
    area : float
        Between 0 and 1. With uninformative confidences it is the error rate.

    References
    ----------
    Y. Geifman, G. Uziel, R. El-Yaniv (2019). Bias-reduced uncertainty estimation for
    deep neural classifiers. ICLR.

    Examples
    --------
    >>> from partlearn.metrics import area_under_risk_coverage
    >>> area_under_risk_coverage([0.5, 0.5], [True, False])
    0.5
    >>> area_under_risk_coverage([0.9, 0.5], [True, False])
    0.25
    """
    return float(risk_coverage_curve(confidence, right).risk.mean())


class CalibrationBins(NamedTuple):
    """Mean ``confidence``, ``accuracy`` and ``n_rows`` of each filled bin."""

    confidence: Array
    accuracy: Array
    n_rows: Indices


def calibration_bins(
    confidence: ArrayLike, right: ArrayLike, *, n_bins: int = 10
) -> CalibrationBins:
    """Compute the share of right labels in bins of the confidence.

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
    sure, hit = _checked(confidence, right)
    outside = np.flatnonzero((sure < 0) | (sure > 1))
    if outside.size:
        raise ValueError(
            f"`confidence` must lie between 0 and 1; row {outside[0]} has "
            f"{sure[outside[0]]}."
        )
    bins = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    count = np.bincount(bins, minlength=n_bins)
    filled = count > 0
    count = count[filled]
    mean = np.bincount(bins, sure, minlength=n_bins)[filled] / count
    share = np.bincount(bins, hit, minlength=n_bins)[filled] / count
    return CalibrationBins(mean, share, count)
