"""Estimate label quality from rows with known true labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from scipy.stats import norm, rankdata

from partlearn._arguments import argument, check_one_per_row
from partlearn._typing import Array, Indices
from partlearn.candidates._messages import is_missing, warn_caller

_SMOOTHING = 1e-3  # least confidence of a possible label
_LARGEST = 5.0  # power
_PRIOR = 50  # rows that the power one counts for
_CHOSEN = 3.5  # standard deviations of a mean rank that a random sample hardly reaches


class GoldQuality(NamedTuple):
    """Accuracy of labels, estimated from rows with known true labels.

    Attributes
    ----------
    accuracy : float
        Estimated share of right labels among all rows, where the known rows count as
        right; or among new rows.
    low, high : float
        Ends of the interval.
    level : float
        Share of such intervals that hold the share of right labels.
    n_gold : int
        Number of rows whose true label is known.
    n_right : int
        Number of these that were right before their labels were known.
    """

    accuracy: float
    low: float
    high: float
    level: float
    n_gold: int
    n_right: int


def gold_quality(
    right: ArrayLike, n_rows: int | None = None, *, level: float = 0.9
) -> GoldQuality:
    """Estimate the share of right labels from a random sample of rows.

    Parameters
    ----------
    right : array-like of bool, shape (n_gold,)
        Whether the labels of the sampled rows were right before their true labels were
        known.
    n_rows : int, default=None
        Number of all rows. None estimates the share among new rows instead.
    level : float, default=0.9
        Share of intervals that are to hold the share of right labels.

    Returns
    -------
    quality : GoldQuality
        Estimate and interval for new rows, or for all rows, where the sampled rows
        count as right.

    Notes
    -----
    Interval of Agresti and Coull for the rows that were not sampled, whose share of
    right labels varies by chance as well: ``n`` sampled and ``N - n`` other rows count
    as ``1 / (1/n + 1/(N - n))``, and as ``n`` for new rows. For new rows at least 85 %
    of the 90 % intervals hold for every share from .5 to .99 and ten sampled rows or
    more. The sample must be random. If rows were chosen because they were doubtful, the
    estimate is too low.

    References
    ----------
    Alan Agresti and Brent A. Coull. Approximate is better than "exact" for interval
    estimation of binomial proportions. The American Statistician 52, 119-126, 1998.

    Examples
    --------
    >>> from partlearn.metrics import gold_quality
    >>> quality = gold_quality([True] * 45 + [False] * 5, n_rows=1000)
    >>> round(quality.low, 2), round(quality.accuracy, 2), round(quality.high, 2)
    (0.81, 0.91, 0.96)
    """
    hits = np.asarray(right, dtype=bool)
    n = hits.size
    others = float("inf") if n_rows is None else n_rows - n
    if hits.ndim != 1 or not n or others < 0:
        most = "any number of" if n_rows is None else n_rows
        raise ValueError(
            f"`right` must hold one value for 1 to {most} known rows; got shape "
            f"{hits.shape}."
        )
    if not 0 < level < 1:
        raise ValueError(f"`level` must lie between 0 and 1; got {level}.")
    if not others:
        return GoldQuality(1.0, 1.0, 1.0, level, n, int(hits.sum()))
    share = float(hits.mean())
    size = 1 / (1 / n + 1 / others)
    z = float(norm.ppf((1 + level) / 2))
    middle = (share * size + z**2 / 2) / (size + z**2)
    half = z * (middle * (1 - middle) / (size + z**2)) ** 0.5
    ends = [share, max(middle - half, 0.0), min(middle + half, 1.0)]
    if n_rows is not None:
        ends = [(n + others * end) / n_rows for end in ends]
    accuracy, low, high = ends
    return GoldQuality(accuracy, low, high, level, n, int(hits.sum()))


def calibrate_by_gold(F: Array, F_gold: Array, codes: Indices) -> Array:
    """Raise confidences to the power that fits the known labels best.

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Confidences to calibrate; rows sum to one.
    F_gold : ndarray of shape (n_gold, n_classes)
        Confidences of known rows before their labels were known.
    codes : ndarray of int, shape (n_gold,)
        Columns of their true labels.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes)
        Rows sum to one, zero where `F` is. The power is shrunk to one as if fifty
        further rows were calibrated.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.metrics import calibrate_by_gold
    >>> bold = np.tile([0.9, 0.1], (100, 1))
    >>> codes = np.arange(100) % 3 // 2  # two thirds are right
    >>> calibrate_by_gold(bold[:1], bold, codes).round(2)
    array([[0.77, 0.23]])
    """
    n, rows = len(codes), np.arange(len(codes))
    possible = F_gold > 0
    possible[rows, codes] = True
    smooth = np.log(np.where(possible, np.maximum(F_gold, _SMOOTHING), 1.0))

    def loss(power: float) -> float:
        total = logsumexp(power * smooth, b=possible, axis=1)
        return float((total - power * smooth[rows, codes]).mean())

    best = minimize_scalar(loss, bounds=(0.0, _LARGEST), method="bounded").x
    power = 1 + (best - 1) * n / (n + _PRIOR)
    raised: Array = np.where(F > 0, F, 0.0) ** power
    raised[F <= 0] = 0.0
    return raised / raised.sum(axis=1, keepdims=True)


def judge_by_gold(
    F: Array, without: Array, places: Indices, codes: Indices
) -> tuple[Array, GoldQuality]:
    """Calibrate confidences by known labels, and estimate how many labels are right.

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Confidences, the known rows being certain.
    without : ndarray of shape (n_samples, n_classes)
        Confidences that were found without the known labels.
    places, codes : ndarray of int, shape (n_gold,)
        Known rows, and the columns of their true labels.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes)
        Calibrated confidences.
    quality : GoldQuality
        Share of right labels.
    """
    held_out = without[places]
    warn_if_chosen(without.max(axis=1), places)
    quality = gold_quality(held_out.argmax(axis=1) == codes, len(F))
    return calibrate_by_gold(F, held_out, codes), quality


def warn_if_chosen(confidence: Array, places: Indices) -> None:
    """Warn if the known rows do not look like a random sample.

    Parameters
    ----------
    confidence : ndarray of shape (n_samples,)
        Confidence in the label of each row, found without the known labels.
    places : ndarray of int, shape (n_gold,)
        Known rows.

    Notes
    -----
    The mean rank of their confidences would lie more than 3.5 standard deviations from
    the middle in one of 2,000 random samples.
    """
    rank, m, n = rankdata(confidence), len(confidence), len(places)
    if m < 3 or n == m or not np.ptp(rank):
        return
    spread = rank.std() * ((m - n) / (n * (m - 1))) ** 0.5
    away = (rank[places].mean() - rank.mean()) / spread
    if abs(away) > _CHOSEN:
        low = away < 0
        warn_caller(
            f"The {n} rows of {argument('gold')} are {'less' if low else 'more'} "
            "certain than "
            "other rows: they look chosen, not drawn at random. The estimated share of "
            f"right labels is then too {'low' if low else 'high'}, and its interval "
            "does not hold. Pass rows that were chosen as "
            f"{argument('corrections')}."
        )


def known_labels(gold: Any, n_rows: int) -> dict[int, Any]:
    """Read true labels of some rows.

    Parameters
    ----------
    gold : mapping of int to label, or array-like of shape (n_samples,)
        True labels by the number of the row; or one per row, None or NaN where it is
        not known.
    n_rows : int
        Number of rows.

    Returns
    -------
    labels : dict of int to label
        At least one.

    Examples
    --------
    >>> from partlearn.candidates import known_labels
    >>> known_labels([None, "cat", float("nan")], 3)
    {1: 'cat'}
    """
    if isinstance(gold, Mapping):
        labels = dict(gold)
        for row in labels:
            whole = isinstance(row, int | np.integer) and 0 <= row < n_rows
            if not whole:
                raise ValueError(
                    f"{argument('gold')} names row {row!r}; rows are 0 to {n_rows - 1}."
                )
    else:
        values = np.asarray(gold, dtype=object)
        check_one_per_row("gold", values.shape, n_rows)
        labels = {i: label for i, label in enumerate(values) if not is_missing(label)}
    if not labels:
        raise ValueError(f"{argument('gold')} holds no label at all; leave it out.")
    return {
        int(row): int(label) if _is_whole(label) else label
        for row, label in labels.items()
    }


def _is_whole(label: Any) -> bool:
    """Whether a label is a float without decimals."""
    return isinstance(label, float | np.floating) and float(label).is_integer()
