"""How many sets miss the true label, from rows that were looked at again."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partlearn.candidates._messages import is_missing
from partlearn.candidates._validation import check_candidates

__all__ = ["MissRate", "estimate_miss_rate"]

_Z = 1.959963984540054  # 95 % of a normal distribution lie within so many deviations


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
    labels = (
        list(truth) if isinstance(truth, (list, tuple)) else list(np.asarray(truth))
    )
    if len(labels) != len(S):
        raise ValueError(
            f"`truth` must have one entry per row, {len(S)}; got {len(labels)}."
        )
    place = {label: j for j, label in enumerate(classes.tolist())}
    known = [i for i, v in enumerate(labels) if not (is_missing(v) or v == "")]
    n = len(known)
    if not n:
        raise ValueError("No row has a known truth; look up that of some rows first.")
    hits = [labels[i] in place and bool(S[i, place[labels[i]]]) for i in known]
    rate = 1 - sum(hits) / n
    centre = (rate + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    spread = _Z * np.sqrt(rate * (1 - rate) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
    low, high = max(0.0, float(centre - spread)), min(1.0, float(centre + spread))
    return MissRate(rate, low, high, n)
