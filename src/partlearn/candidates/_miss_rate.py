"""How many sets miss the true label, from rows that were looked at again."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, NamedTuple

from numpy.typing import ArrayLike
from scipy.stats import binomtest

from partlearn.candidates._messages import as_column, is_missing
from partlearn.candidates._validation import check_candidates


class MissRate(NamedTuple):
    """Estimated share of sets that miss the truth.

    Attributes
    ----------
    rate : float
        Share among the rows whose truth is known.
    low, high : float
        Ends of the 95 % interval (Wilson's).
    n_rows : int
        Number of these rows.
    """

    rate: float
    low: float
    high: float
    n_rows: int


def estimate_miss_rate(candidates: Any, truth: ArrayLike) -> MissRate:
    """Estimate the share of candidate sets that miss the truth, from an audit.

    Look up the truth of some rows *drawn at random* and count. There is no way to get
    the rate from candidate sets alone: where EM or the held-out likelihood of the sets
    were made to estimate it, they took a rate of 0.25 for 0.05 to 0.1. So methods take
    `miss_rate` as a number the user gives, and this library offers no such estimate.

    Parameters
    ----------
    candidates : candidate labels
        In any form that :func:`check_candidates` reads.
    truth : array-like of shape (n_samples,)
        True labels; None, NaN or empty text where the truth is not known. A label that
        is nobody's candidate counts as missed.

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
    if len(labels) != len(S):
        raise ValueError(
            f"`truth` must have one entry per row, {len(S)}; got {len(labels)}."
        )
    place = {str(label): j for j, label in enumerate(classes.tolist())}
    known = [i for i, v in enumerate(labels) if not (is_missing(v) or v == "")]
    n = len(known)
    if not n:
        raise ValueError("No row has a known truth; look up that of some rows first.")
    codes = [place.get(str(labels[i])) for i in known]  # files know labels as text
    hits = [j is not None and bool(S[i, j]) for i, j in zip(known, codes, strict=True)]
    misses = n - sum(hits)
    interval = binomtest(misses, n).proportion_ci(method="wilson")
    return MissRate(misses / n, float(interval.low), float(interval.high), n)
