"""Estimate how many candidate sets miss the true label."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest

from partlearn._arguments import check_one_per_row
from partlearn._typing import Array, Indices
from partlearn.candidates._messages import as_column, is_missing
from partlearn.candidates._validation import check_candidates

_START = 0.1  # first rate of EM
_EM_STEPS = 500
# Rows per label that err to all labels alike. Chosen on vehicle, vowel and digits.
_PRIOR = 5.0
_CLOSE = 1e-6
_TINY = np.finfo(float).tiny


class MissRate(NamedTuple):
    """Estimated share of sets that miss the truth.

    Attributes
    ----------
    rate : float
        Share among the rows whose truth is known.
    low, high : float
        Ends of the 95 % Wilson interval. Without known rows, a range between two
        estimates: one is usually too low, the other too high.
    n_rows : int
        Number of these rows.
    """

    rate: float
    low: float
    high: float
    n_rows: int


def estimate_miss_rate(candidates: Any, truth: ArrayLike) -> MissRate:
    """Estimate the share of candidate sets that miss the truth, from an audit.

    The rate is counted on rows *drawn at random* with known truth. It cannot be
    estimated from candidate sets alone: EM and the held-out likelihood of the sets
    estimated 0.05 to 0.1 at a true rate of 0.25. Methods therefore take `miss_rate` as
    a parameter. Only where every row has a single label, :func:`partlearn.disambiguate`
    gives a range.

    Parameters
    ----------
    candidates : candidate labels
        In any form that :func:`check_candidates` reads.
    truth : array-like of shape (n_samples,)
        True labels; None, NaN or empty text where the truth is not known. A label that
        is never a candidate counts as missed.

    Returns
    -------
    estimate : MissRate
        ``rate``, ends ``low`` and ``high`` of its 95 % interval, ``n_rows``.

    See Also
    --------
    Evidence.with_miss_rate : Labels that allow for such a rate.

    Examples
    --------
    >>> from partlearn.candidates import estimate_miss_rate
    >>> sets = [{"a", "b"}, {"b"}, {"a", "c"}, {"c"}, {"a"}]
    >>> estimate = estimate_miss_rate(sets, ["a", "c", None, "c", "a"])
    >>> estimate.rate, estimate.n_rows
    (0.25, 4)
    """
    classes, S = check_candidates(candidates)
    labels = as_column(truth, "truth")
    check_one_per_row("truth", (len(labels),), len(S))
    place = {str(label): j for j, label in enumerate(classes.tolist())}
    known = [i for i, v in enumerate(labels) if not (is_missing(v) or v == "")]
    n = len(known)
    if not n:
        raise ValueError("No row has a known true label; give at least one.")
    codes = [place.get(str(labels[i])) for i in known]  # files know labels as text
    hits = [j is not None and bool(S[i, j]) for i, j in zip(known, codes, strict=True)]
    misses = n - sum(hits)
    interval = binomtest(misses, n).proportion_ci(method="wilson")
    return MissRate(misses / n, float(interval.low), float(interval.high), n)


def held_out_miss_rate(expected: Array, given: Indices) -> MissRate:
    """Estimate the share of wrong labels from predictions made without them.

    EM underestimates the rate, since predictions were learned from the wrong labels.
    The confident joint overestimates it, since it also counts wrong predictions.

    Parameters
    ----------
    expected : ndarray of shape (n_samples, n_classes)
        Probabilities of the labels of each row by a model that did not see its label.
    given : ndarray of int, shape (n_samples,)
        Columns of the labels.

    Returns
    -------
    estimate : MissRate
        The mean of both, and the two as ends of the range.

    References
    ----------
    Curtis G. Northcutt, Lu Jiang, Isaac L. Chuang. Confident learning: estimating
    uncertainty in dataset labels. JAIR 70, 1373-1411, 2021. doi:10.1613/jair.1.12125
    """
    low, high = sorted((_em_rate(expected, given), _confident_rate(expected, given)))
    return MissRate((low + high) / 2, low, high, 0)


def _em_rate(P: Array, given: Indices) -> float:
    """Return the maximum-likelihood rate of uniform errors (EM)."""
    m, q = P.shape
    own = P[np.arange(m), given]
    rate = _START
    for _ in range(_EM_STEPS):
        wrong = rate / (q - 1) * (1 - own)
        new = float((wrong / np.maximum(wrong + (1 - rate) * own, _TINY)).mean())
        if abs(new - rate) < _CLOSE:
            return new
        rate = new
    return rate


def _confident_joint(P: Array, given: Indices) -> Array:
    """Count rows by given label and confidently predicted label.

    A row is confidently predicted as a label if its probability reaches the mean
    probability of that label among the rows with this label.

    Equations (1) and (2) of confident learning.
    """
    q = P.shape[1]
    size = np.bincount(given, minlength=q)
    own = np.bincount(given, P[np.arange(len(P)), given], minlength=q)
    threshold = np.where(size > 0, own / np.maximum(size, 1), 1.0)
    reached = np.where(threshold <= P, P, -1.0)
    confident = reached.max(axis=1) >= 0
    counts = np.zeros((q, q))
    np.add.at(counts, (given[confident], reached[confident].argmax(axis=1)), 1)
    return counts


def _confident_rate(P: Array, given: Indices) -> float:
    """Return the off-diagonal share of the calibrated confident joint.

    Equation (3) of confident learning.
    """
    q = P.shape[1]
    counts = _confident_joint(P, given)
    total = counts.sum(axis=1)
    stays = np.divide(
        counts.diagonal(), total, out=np.ones(q), where=total > 0
    )  # labels without a confident row are left alone
    return float(1 - (stays * np.bincount(given, minlength=q)).sum() / len(P))


def error_evidence(expected: Array, given: Indices, rate: float) -> Array:
    """Return the evidence of single labels with a known error rate.

    Errors follow the confident joint, smoothed by five rows per label with uniform
    errors.

    Parameters
    ----------
    expected : ndarray of shape (n_samples, n_classes)
        As for :func:`held_out_miss_rate`.
    given : ndarray of int, shape (n_samples,)
        Columns of the labels.
    rate : float
        Share of wrong labels, the same for all labels.

    Returns
    -------
    L : ndarray of shape (n_samples, n_classes)
        Probability of the given label if each label were the true one.
    """
    q = expected.shape[1]
    other = 1 - np.eye(q)
    ways = _confident_joint(expected, given).T * other + _PRIOR * other / (q - 1)
    ways *= rate / ways.sum(axis=1, keepdims=True)
    return np.asarray((ways + (1 - rate) * np.eye(q))[:, given].T)
