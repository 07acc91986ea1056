"""How many errors remain where a classifier may keep silent."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partlearn._typing import Array

__all__ = ["RiskCoverage", "area_under_risk_coverage", "risk_coverage_curve"]


class RiskCoverage(NamedTuple):
    """Points of a curve: share of rows answered, errors among them, and the least sure.

    ``coverage``, ``risk`` and ``threshold``, one entry per number of rows answered.
    """

    coverage: Array
    risk: Array
    threshold: Array


def risk_coverage_curve(confidence: ArrayLike, right: ArrayLike) -> RiskCoverage:
    """Share of errors among the rows that a classifier is surest of.

    Rows are answered from the surest to the least sure. Rows of equal confidence come
    in no order: the curve is the mean over all of their orders.

    Parameters
    ----------
    confidence : array-like of shape (n_samples,)
        Confidence in the predicted label, such as the largest probability of a row.
    right : array-like of bool, shape (n_samples,)
        Whether the predicted label is the true one.

    Returns
    -------
    curve : RiskCoverage
        Of as many points as there are rows; the last has coverage 1 and the error rate
        of all rows.

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
    sure = np.asarray(confidence, dtype=np.float64)
    hit = np.asarray(right)
    if sure.ndim != 1 or sure.shape != hit.shape or not len(sure):
        raise ValueError(
            "`confidence` and `right` must hold one value per row, of at least one "
            f"row; got shapes {sure.shape} and {hit.shape}."
        )
    if not np.isfinite(sure).all():
        row = int(np.flatnonzero(~np.isfinite(sure))[0])
        raise ValueError(f"`confidence` must be finite; row {row} has {sure[row]}.")
    order = np.argsort(-sure, kind="stable")
    falling, wrong = sure[order], ~hit[order].astype(bool)
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
        Between 0 and 1. With confidences that say nothing it is the error rate.

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
