"""What a benchmark case needs: timing, agreement, memory, growth, and a record."""

import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

__all__ = ["Case", "Run", "case"]

Work = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """A named benchmark: a function of a `Run`."""

    name: str
    function: Callable[["Run"], None]
    slow: bool = False

    @property
    def about(self) -> str:
        """First line of the function's docstring."""
        return (self.function.__doc__ or "").strip().split("\n")[0]


def case(name: str, *, slow: bool = False) -> Callable[[Callable[["Run"], None]], Case]:
    """Make a case of a function; a slow one runs only when asked for by name."""
    return partial(_make_case, name, slow)


def _make_case(name: str, slow: bool, function: Callable[["Run"], None]) -> Case:
    return Case(name, function, slow)


@dataclass
class Run:
    """One run of a case: sizes to take, and what was measured."""

    quick: bool = False
    show: Callable[[str], None] = print
    records: list[dict[str, Any]] = field(default_factory=list)

    def pick(self, full: Any, quick: Any) -> Any:
        """Choose sizes, repeats and so on by mode."""
        return quick if self.quick else full

    def time(
        self, label: str, works: Mapping[str, Work], *, repeats: int = 5
    ) -> dict[str, float]:
        """CPU seconds of each piece of work: the least of interleaved repeats.

        A busy machine slows everything down for a while; taken in turns, all pieces
        suffer alike, and the least of several is what the work itself needs. Calls
        before the clock starts pay for compilation and caches, unless there is but
        one repeat, for work that takes minutes.
        """
        repeats = min(repeats, 2) if self.quick else repeats
        least_time = 0.001 if self.quick else 0.05
        numbers = dict.fromkeys(works, 1)
        if repeats > 1:
            for name, work in works.items():
                _seconds(work, 1)
                once = _seconds(work, 1)
                numbers[name] = max(1, round(least_time / max(once, 1e-9)))
        samples: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(repeats):
            for name, work in works.items():
                samples[name].append(_seconds(work, numbers[name]) / numbers[name])
        best = {name: min(values) for name, values in samples.items()}
        self.records.append(
            {
                "kind": "time",
                "label": label,
                "least": best,
                "median": {name: float(np.median(v)) for name, v in samples.items()},
                "repeats": repeats,
            }
        )
        text = ", ".join(f"{name} {seconds:.3g} s" for name, seconds in best.items())
        self.show(f"  {label}: {text}")
        return best

    def ratio(
        self,
        label: str,
        value: float,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
    ) -> None:
        """Record a ratio beside its target; targets hold for full sizes only."""
        met = None
        if not self.quick and (at_most is not None or at_least is not None):
            met = (at_most is None or value <= at_most) and (
                at_least is None or value >= at_least
            )
        self.records.append(
            {
                "kind": "ratio",
                "label": label,
                "value": value,
                "at_most": at_most,
                "at_least": at_least,
                "met": met,
            }
        )
        target = "" if at_most is None else f"  (target <= {at_most:g})"
        target += "" if at_least is None else f"  (target >= {at_least:g})"
        verdict = {None: "", True: " met", False: " MISSED"}[met]
        self.show(f"  {label}: {value:.2f}x{target}{verdict}")

    def agree(
        self, label: str, ours: Any, theirs: Any, *, tolerance: float = 0.0
    ) -> None:
        """Assert that two results agree, and that there is something to agree on."""
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert ours.shape == theirs.shape, f"{label}: shapes differ"
        assert ours.size, f"{label}: nothing to compare"
        assert np.isfinite(ours).all(), f"{label}: ours is not finite"
        assert np.isfinite(theirs).all(), f"{label}: theirs is not finite"
        assert np.any(ours != 0), f"{label}: all zero"
        gap = float(np.max(np.abs(ours.astype(float) - theirs.astype(float))))
        assert gap <= tolerance, f"{label}: differ by {gap:g} > {tolerance:g}"
        self.records.append(
            {"kind": "agreement", "label": label, "gap": gap, "tolerance": tolerance}
        )
        self.show(f"  {label}: agree within {gap:.1e} ({ours.size} numbers)")

    def memory(self, label: str, work: Work, *, beside: float | None = None) -> float:
        """Peak of the bytes allocated during the work, beside a size to compare."""
        tracemalloc.start()
        try:
            work()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        self.records.append(
            {"kind": "memory", "label": label, "peak": peak, "beside": beside}
        )
        text = f"  {label}: peak {peak / 1e6:.1f} MB"
        self.show(text + ("" if beside is None else f", beside {beside / 1e6:.1f} MB"))
        return float(peak)

    def growth(
        self,
        label: str,
        sizes: Sequence[float],
        times: Sequence[float],
        *,
        at_most: float | None = None,
    ) -> float:
        """Fit the exponent of ``time = constant * size**exponent``."""
        exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        self.records.append(
            {
                "kind": "growth",
                "label": label,
                "sizes": list(map(float, sizes)),
                "times": list(times),
                "exponent": exponent,
                "expected": at_most,
            }
        )
        expected = "" if at_most is None else f" (expected about {at_most:g})"
        self.show(f"  {label}: time grows as size^{exponent:.2f}{expected}")
        return exponent


def _seconds(work: Work, number: int) -> float:
    start = time.process_time()
    for _ in range(number):
        work()
    return time.process_time() - start
