"""Controls of multi-label comparisons, and the direction of scores."""

# SPDX-License-Identifier: BSD-3-Clause

from enum import StrEnum

# The learner of methods that predict by themselves.
NO_LEARNER = "-"
_LOWER_IS_BETTER = ("ranking_loss", "coverage", "one_error", "risk_coverage_area")


class Control(StrEnum):
    """What every multi-label comparison is held against."""

    RANDOM = "random order"
    NORM = "column norm"
    RIDGE = "ridge on candidates"
    ALL_FEATURES = "all features"
    LABEL_FREQUENCY = "label frequency"

    @property
    def orders_features(self) -> bool:
        """Whether it stands beside selectors; the others are used as they are."""
        return self in (Control.RANDOM, Control.NORM, Control.RIDGE)


def metric_sign(metric: str) -> int:
    """Sign by which a score is multiplied so that more is better.

    Parameters
    ----------
    metric : str
        Name of a score.

    Returns
    -------
    int
        1 or -1.

    Examples
    --------
    >>> from partlearn.benchmark import metric_sign
    >>> metric_sign("accuracy"), metric_sign("ranking_loss")
    (1, -1)
    """
    return -1 if metric in _LOWER_IS_BETTER else 1
