"""How numbers are written, the same in every format."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["data_name", "dims", "fact_list", "pvalue", "score", "seconds", "signed"]

EMPTY = "\N{EN DASH}"


def data_name(data: str, r: int | None) -> str:
    """Name of a data set with its r."""
    return data if r is None else f"{data}, r = {r}"


def score(mean: float | None, std: float | None = None) -> str:
    """Mean and deviation with three decimals."""
    if mean is None:
        return EMPTY
    return f"{mean:.3f}" if std is None else f"{mean:.3f} ± {std:.3f}"


def signed(value: float | None) -> str:
    """Difference with its sign."""
    return EMPTY if value is None else f"{value:+.3f}"


def dims(value: float | None) -> str:
    """Mean number of columns."""
    return EMPTY if value is None else f"{value:.1f}".removesuffix(".0")


def pvalue(value: float) -> str:
    """Write a p value; small ones as a bound."""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def seconds(value: float | None) -> str:
    """Seconds with three significant digits."""
    return EMPTY if value is None else f"{value:.3g}"


def fact_list(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Facts as words, in a fixed order."""
    versions = ", ".join(f"{k} {v}" for k, v in facts["versions"].items())
    ratio = facts["wall_time"] / max(facts["work_time"], 1e-9)
    pairs: Sequence[tuple[str, Any]] = [
        ("partlearn", facts["partlearn"]),
        ("sources", facts.get("sources", "unknown")),
        ("Python", facts["python"]),
        ("packages", versions),
        ("system", f"{facts['system']}, {facts['cores']} cores"),
        ("engine", f"{facts['engine']}, {facts['workers']} workers"),
        ("threads per job", facts["threads_per_job"]),
        ("protocols", ", ".join(facts["protocols"])),
        ("folds", f"{facts['folds']}, seed {facts['fold_seed']}"),
        ("seed of the methods", facts["seed"]),
        ("time limit per job", f"{facts['time_limit'] or 'none'}"),
        ("memory limit per job", f"{facts['memory_limit'] or 'none'}"),
        ("jobs", f"{facts['n_jobs']}, {facts['n_executed']} in the last session"),
        (
            "last session",
            f"{facts['wall_time']:.1f} s of wall time, {facts['work_time']:.1f} s in "
            "estimators" + (f", ratio {ratio:.2f}" if facts["work_time"] > 0 else ""),
        ),
    ]
    return [(key, str(value)) for key, value in pairs]
