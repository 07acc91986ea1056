"""Numbers and names as text, the same in every format."""

# SPDX-License-Identifier: BSD-3-Clause

from math import isnan

EMPTY = "\N{EN DASH}"


def is_missing(value: float | None) -> bool:
    """Whether there is no number."""
    return value is None or isnan(value)


def data_name(data: str, r: float | None) -> str:
    """Name of a data set with its r."""
    return data if is_missing(r) else f"{data}, r = {r:g}"


def metric_name(metric: str) -> str:
    """Write a score in words."""
    text = metric.replace("_tuned", ", tuned thresholds").replace("_", " ")
    return text.replace("f1", "F1")


def method_name(name: str) -> str:
    """Name of a method in tables."""
    return "no reduction" if name == "none" else name


def capital(text: str) -> str:
    """Begin a sentence; capitals inside stay."""
    return f"{text[:1].upper()}{text[1:]}"


def plural(n: int, word: str) -> str:
    """Count of things."""
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def score(mean: float | None, std: float | None = None) -> str:
    """Mean and deviation with three decimals."""
    if is_missing(mean):
        return EMPTY
    return f"{mean:.3f}" if is_missing(std) else f"{mean:.3f} ± {std:.3f}"


def rounded(value: float | None, form: str) -> str:
    """Write a number by a format specification; a dash for none."""
    return EMPTY if is_missing(value) else format(value, form)


def signed(value: float | None) -> str:
    """Difference with its sign."""
    return rounded(value, "+.3f").replace("+0.000", "0.000").replace("-0.000", "0.000")


def dims(value: float | None) -> str:
    """Mean number of columns."""
    return rounded(value, ".1f").removesuffix(".0")


def pvalue(value: float | None) -> str:
    """Write a p value; small ones as a bound."""
    return "< 0.0001" if value is not None and value < 0.0001 else rounded(value, ".4f")
