"""What jobs leave behind, as frozen records that know their JSON form."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

import numpy as np

from partlearn.benchmark._plan import CURVE_METRICS, METRICS

# Scores that are shares; those of others may be any finite number.
_SHARES = (*METRICS, *CURVE_METRICS)


@dataclass(frozen=True)
class Cost:
    """Seconds and megabytes of one piece of work; None where not measured.

    Attributes
    ----------
    fit_time, transform_time, predict_time : float or None
        Seconds.
    peak_mb : float or None
        Megabytes above the size at the start.
    """

    fit_time: float | None = None
    transform_time: float | None = None
    predict_time: float | None = None
    peak_mb: float | None = None

    @property
    def seconds(self) -> float:
        """All seconds together."""
        times = (self.fit_time, self.transform_time, self.predict_time)
        return sum(time or 0.0 for time in times)


@dataclass(frozen=True)
class Point:
    """Scores with some of the features.

    Attributes
    ----------
    scores : mapping of str to float or None
        By metric.
    percentage : float or None
        Share of the features; None where there is no curve.
    n_features : int or None
        Their number.
    """

    scores: Mapping[str, float | None]
    percentage: float | None = None
    n_features: int | None = None


@dataclass(frozen=True)
class Record:
    """How a piece of work ended.

    Attributes
    ----------
    status : {"ok", "failed"}
        Whether it gave an answer.
    error, message, traceback : str
        Of the exception, if any.
    warnings : tuple of str
        Sorted and distinct.
    cost : Cost
        What it took.
    """

    status: str = "ok"
    error: str = ""
    message: str = ""
    traceback: str = ""
    warnings: tuple[str, ...] = ()
    cost: Cost = Cost()

    @property
    def ok(self) -> bool:
        """Whether there is an answer."""
        return self.status == "ok"

    @classmethod
    def failed(cls, error: BaseException, traceback: str = "") -> Self:
        """Record of work without an answer."""
        return cls("failed", type(error).__name__, str(error), traceback)

    def to_json(self) -> dict[str, Any]:
        """Plain values, without arrays."""
        return {k: v for k, v in asdict(self).items() if k != "arrays"}

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """Read what `to_json` gave; ValueError for anything else."""
        kinds = {f.name for f in fields(cls)} - {"arrays"}
        if not isinstance(content, dict) or content.keys() != kinds:
            raise ValueError("other fields than those of a record")
        for name, value in content.items():
            if not _RULES[name](value):
                raise ValueError(f"`{name}` is {value!r}")
        values = {**content, "cost": Cost(**content["cost"])}
        values["warnings"] = tuple(content["warnings"])
        if "points" in content:
            values["points"] = tuple(Point(**point) for point in content["points"])
        return cls(**values)


@dataclass(frozen=True)
class Reduced(Record):
    """A fitted reducer or ranking.

    Attributes
    ----------
    n_components : int or None
        Columns of the reduced data.
    n_iter : int or None
        Iterations.
    disambiguation : float or None
        Share of training rows whose label the confidences name right.
    arrays : mapping of str to ndarray
        ``Z``, ``rows``, ``candidates``, ``truth`` and ``confidence`` of a reduction,
        ``order`` of a ranking.
    """

    n_components: int | None = None
    n_iter: int | None = None
    disambiguation: float | None = None
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Scored(Record):
    """A fitted and scored learner.

    Attributes
    ----------
    points : tuple of Point
        One, or those of a curve; none where the job failed.
    n_train, n_test : int or None
        Numbers of rows.
    """

    points: tuple[Point, ...] = ()
    n_train: int | None = None
    n_test: int | None = None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 0)


def _is_number(value: Any) -> bool:
    number = type(value) in (int, float)
    return value is None or (number and math.isfinite(value))


def _is_share(value: Any) -> bool:
    return value is None or (_is_number(value) and 0 <= value <= 1)


def _has_fields(value: Any, cls: type[Any]) -> bool:
    names = {f.name for f in fields(cls)}
    return isinstance(value, dict) and value.keys() == names


def _is_cost(value: Any) -> bool:
    return _has_fields(value, Cost) and all(map(_is_number, value.values()))


def _is_point(value: Any) -> bool:
    if not _has_fields(value, Point) or not isinstance(value["scores"], dict):
        return False
    percentage = value["percentage"]
    return (
        _is_count(value["n_features"])
        and _is_number(percentage)
        and 0 <= (percentage or 0) <= 100
        and all(
            _is_share(score) if name in _SHARES else _is_number(score)
            for name, score in value["scores"].items()
        )
    )


def _are(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(rule, value))


_RULES: dict[str, Callable[[Any], bool]] = {
    "status": lambda value: value in ("ok", "failed"),
    **dict.fromkeys(("error", "message", "traceback"), _is_text),
    **dict.fromkeys(("n_components", "n_iter", "n_train", "n_test"), _is_count),
    "warnings": _are(_is_text),
    "cost": _is_cost,
    "disambiguation": _is_share,
    "points": _are(_is_point),
}
