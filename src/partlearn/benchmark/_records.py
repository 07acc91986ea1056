"""Records of jobs and reductions, and their JSON form."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

import numpy as np

from partlearn.benchmark._plan import CURVE_METRICS, METRICS

# Seconds and megabytes, which differ between runs.
COSTS = ("fit_time", "transform_time", "predict_time", "peak_mb")
# Scores between 0 and 1; others may be any finite number.
_SHARES = (*METRICS, *CURVE_METRICS)
# Metric, value, and the percentage of the features where the job has a curve.
Value = tuple[str, float, float | None]


@dataclass(frozen=True)
class Record:
    """Outcome of a job or a reduction.

    Attributes
    ----------
    error, message, traceback : str
        Exception of work that failed; empty otherwise.
    warnings : tuple of str
        Sorted and distinct.
    values : tuple of (metric, value, percentage)
        Scores, counts, seconds and megabytes. The percentage is None except on a
        curve.
    arrays : mapping of str to ndarray
        ``Z``, ``rows``, ``candidates``, ``truth`` and ``confidence`` of a reduction,
        ``order`` of a ranking.
    """

    error: str = ""
    message: str = ""
    traceback: str = ""
    warnings: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def ok(self) -> bool:
        """Whether the work succeeded."""
        return not self.error

    @property
    def seconds(self) -> float:
        """Sum of all times."""
        return sum(value for name, value, _ in self.values if name.endswith("_time"))

    @classmethod
    def failed(cls, error: BaseException, traceback: str = "") -> Self:
        """Record of work that failed."""
        return cls(type(error).__name__, str(error), traceback)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, without arrays."""
        return {k: v for k, v in asdict(self).items() if k != "arrays"}

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """Read the result of `to_json`; ValueError for anything else."""
        names = {f.name for f in fields(cls)} - {"arrays"}
        if not isinstance(content, dict) or content.keys() != names:
            raise ValueError("other fields than those of a record")
        for name, given in content.items():
            if name in ("warnings", "values"):
                rule = _is_text if name == "warnings" else _is_value
                good = isinstance(given, list) and all(map(rule, given))
            else:
                good = _is_text(given)
            if not good:
                raise ValueError(f"`{name}` is {given!r}")
        content = {**content, "warnings": tuple(content["warnings"])}
        return cls(**{**content, "values": tuple(map(tuple, content["values"]))})


def values_of(
    scores: Mapping[str, float | None], percentage: float | None = None
) -> Iterator[Value]:
    """Convert scores to values of a record; None is left out.

    Parameters
    ----------
    scores : mapping of str to float or None
        By metric.
    percentage : float or None, default=None
        Percentage of the features.

    Yields
    ------
    tuple
        Metric, value, percentage.
    """
    for name, value in scores.items():
        if value is not None:
            yield name, float(value), percentage


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any, most: float = math.inf) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value <= most


def _is_value(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 3 or not _is_text(value[0]):
        return False
    metric, number, percentage = value
    if not _is_number(number, 1.0 if metric in _SHARES else math.inf):
        return False
    if number < 0 and (metric in _SHARES or metric.startswith("n_")):
        return False
    return percentage is None or (_is_number(percentage, 100.0) and percentage >= 0)
