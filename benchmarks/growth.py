"""Seconds, memory and exponent of fits as the rows grow.

    python -m benchmarks growth
    python -m benchmarks.growth [--rows N ...] [--methods NAME ...] [--store FILE]

50 features, 20 classes that overlap, two false candidates in each row. Every fit runs
in a process of its own with one thread, so that the peak of memory is its own, data
included. Seconds are of the processor and of the fit alone. Finished cells are read
from the store, so that a run that was stopped goes on. Forest, boosting and linear
discriminant analysis are given the true labels.
"""

import sys
from pathlib import Path
from typing import Any

from benchmarks import cells
from benchmarks.runner import Run, case

MODULE = "benchmarks.growth"
STORE = Path(__file__).parent / "results" / "growth.jsonl"
ROWS = (10_000, 100_000, 1_000_000)
STEEPEST = 1.15  # exponent asked for from 100,000 rows on
WITH_TRUTH = ("LDA", "RandomForest", "HistGradientBoosting")


def methods() -> dict[str, Any]:
    """Every method, by a function that makes it."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    from partlearn.classification import PLKNN, CRISPClassifier
    from partlearn.decomposition import CENDA, CRISP, KernelCRISP
    from partlearn.feature_selection import SAUTE, MaxRelevance

    return {
        "CRISP": CRISP,
        "CRISP without neighbors": lambda: CRISP(use_neighbors=False),
        "CRISPClassifier": CRISPClassifier,
        "CRISPClassifier without neighbors": lambda: CRISPClassifier(
            use_neighbors=False
        ),
        "KernelCRISP": KernelCRISP,
        "CENDA": CENDA,
        "PLKNN": PLKNN,
        "SAUTE": SAUTE,
        "MaxRelevance": MaxRelevance,
        "LDA": LinearDiscriminantAnalysis,
        "RandomForest": lambda: RandomForestClassifier(n_jobs=1, random_state=0),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    }


def measure(method: str, m: int) -> dict[str, Any]:
    """Fit one method to `m` rows in this process."""
    from benchmarks.crisp import make

    X, y, candidates = make(m, 50, 20, None)
    labels = y if method in WITH_TRUTH else candidates
    return cells.fitted(method, methods()[method](), X, labels, y)


def grow(run: Run, names: list[str], rows: list[int], store: Path) -> None:
    """Measure every method at every size, smallest first, and fit the exponents."""
    for method in names:
        measured: list[cells.Cell] = []
        for m in sorted(rows):
            try:
                measured.append(cells.cell(MODULE, method, m, store))
            except cells.CellError as error:
                run.show(f"  {method:30} {m:>9,} rows: {error}")
                break
            last = measured[-1]
            text = f"{last['seconds']:8.1f} s {last['megabytes']:8.0f} MB"
            if last["right"] is not None:
                text += f"   {last['right']:.3f} of the labels right"
            run.show(f"  {method:30} {m:>9,} rows: {text}")
        large = [c for c in measured if c["rows"] >= ROWS[1]] or measured
        if len(large) < 2:
            large = measured[-2:]
        if len(large) > 1:
            sizes = [c["rows"] for c in large]
            seconds = [c["seconds"] for c in large]
            run.growth(f"{method} from {sizes[0]:,}", sizes, seconds, at_most=STEEPEST)


@case("growth", slow=True)
def growth(run: Run) -> None:
    """Fits at 1e4, 1e5 and 1e6 rows beside learners with true labels (G17)."""
    rows = run.pick(list(ROWS), [300, 600])
    names = run.pick(list(methods()), ["CRISP", "PLKNN", "LDA"])
    store = STORE.with_name("growth-quick.jsonl") if run.quick else STORE
    grow(run, names, rows, store)


def main(arguments: list[str] | None = None) -> int:
    return cells.main(MODULE, methods(), measure, grow, ROWS, STORE, arguments)


if __name__ == "__main__":
    sys.exit(main())
