"""Controls of multi-label comparisons, and the direction of scores."""

# SPDX-License-Identifier: BSD-3-Clause

from enum import StrEnum

# The learner of methods that predict by themselves.
NO_LEARNER = "-"
_LOWER_IS_BETTER = ("ranking_loss", "coverage", "one_error", "risk_coverage_area")


class Control(StrEnum):
    """Controls that every multi-label comparison includes."""

    RANDOM = "random order"
    NORM = "column norm"
    RIDGE = "ridge on candidates"
    ALL_FEATURES = "all features"
    LABEL_FREQUENCY = "label frequency"

    @property
    def orders_features(self) -> bool:
        """Whether the control ranks features, as selectors do."""
        return self in (Control.RANDOM, Control.NORM, Control.RIDGE)


def metric_sign(metric: str) -> int:
    """Sign that turns a metric into one where higher is better.

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
