"""Seconds, memory and exponent of fits as the rows grow.

    python -m benchmarks growth
    python -m benchmarks.growth [--rows N ...] [--methods NAME ...] [--store FILE]

50 features, 20 classes that overlap, two false candidates in each row. Every fit runs
in a process of its own with one thread, so that the peak of memory is its own, data
included. Seconds are of the processor and of the fit alone. Finished cells are read
from the store, so that a run that was stopped goes on. Forest, boosting and linear
discriminant analysis are given the true labels.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.runner import Run, case

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
        "CRISP without votes": lambda: CRISP(votes=False),
        "CRISPClassifier": CRISPClassifier,
        "CRISPClassifier without votes": lambda: CRISPClassifier(votes=False),
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
    estimator = methods()[method]()
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method in WITH_TRUTH:
            estimator.fit(X, y)
            right = None
        else:
            estimator.fit(X, candidates)
            right = float((estimator.label_confidence_.argmax(axis=1) == y).mean())
    return {
        "method": method,
        "rows": m,
        "seconds": time.process_time() - start,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "rounds": getattr(estimator, "n_iter_", None),
        "right": right,
    }


def finished(store: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Cells that were measured before."""
    if not store.exists():
        return {}
    lines = store.read_text(encoding="utf-8").splitlines()
    cells = [json.loads(line) for line in lines if line]
    return {(cell["method"], cell["rows"]): cell for cell in cells}


def cell(
    method: str, m: int, store: Path, module: str = "benchmarks.growth"
) -> dict[str, Any]:
    """Measure in a process of its own, or read what was measured."""
    known = finished(store)
    if (method, m) not in known:
        threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        answer = subprocess.run(
            [sys.executable, "-m", module, "--cell", method, str(m)],
            env={**os.environ, **dict.fromkeys(threads, "1")},
            capture_output=True,
            text=True,
            check=True,
        )
        store.parent.mkdir(parents=True, exist_ok=True)
        with store.open("a", encoding="utf-8") as file:
            file.write(answer.stdout)
        known[method, m] = json.loads(answer.stdout)
    return known[method, m]


def grow(run: Run, names: list[str], rows: list[int], store: Path) -> None:
    """Measure every method at every size, smallest first, and fit the exponents."""
    for method in names:
        cells = []
        for m in sorted(rows):
            try:
                cells.append(cell(method, m, store))
            except subprocess.CalledProcessError as error:
                why = (error.stderr.strip().splitlines() or ["killed"])[-1]
                run.show(f"  {method:30} {m:>9,} rows: {why}")
                break
            last = cells[-1]
            text = f"{last['seconds']:8.1f} s {last['megabytes']:8.0f} MB"
            if last["right"] is not None:
                text += f"   {last['right']:.3f} of the labels right"
            run.show(f"  {method:30} {m:>9,} rows: {text}")
        large = [c for c in cells if c["rows"] >= ROWS[1]] or cells
        if len(large) < 2:
            large = cells[-2:]
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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("--rows", type=lambda n: int(float(n)), nargs="+", default=ROWS)
    parser.add_argument("--methods", nargs="+", default=list(methods()))
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--cell", nargs=2, metavar=("METHOD", "ROWS"))
    options = parser.parse_args(arguments)
    if options.cell:
        print(json.dumps(measure(options.cell[0], int(options.cell[1]))))
        return 0
    unknown = sorted(set(options.methods) - set(methods()))
    if unknown:
        parser.error(f"no such method: {', '.join(unknown)}")
    grow(Run(), options.methods, list(options.rows), options.store)
    return 0


if __name__ == "__main__":
    sys.exit(main())
