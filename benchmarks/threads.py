"""Default fits with threads left alone, beside a busy process.

    python -m benchmarks threads
    python -m benchmarks.threads [--quick]      # one JSON line per fit

Products that are too small for several threads wait for each other where another
process is busy. Each fit runs with the threads of the machine and with one thread, in
turns, in one process, while a second process counts. Seconds are those of a clock.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.runner import Run, case

MOST = 1.5
REPEATS = 3
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
BUSY = "while True: pass"


def works(m: int, d: int) -> dict[str, Callable[[], Any]]:
    """Fits of default estimators on votes, and on candidate sets of more rows."""
    from sklearn.linear_model import LogisticRegression

    from benchmarks.crossfit import problem
    from partlearn.candidates import from_votes
    from partlearn.classification import SURE, CandidateClassifier, CRISPClassifier
    from partlearn.decomposition import CENDA, CRISP, DELIN
    from partlearn.feature_selection import CRISPSelector

    X, y, S = problem(m, d, 8)
    rng = np.random.RandomState(0)
    rows, who = np.repeat(np.arange(m), 3), rng.randint(20, size=3 * m)
    given = np.where(rng.rand(3 * m) < 0.7, y[rows], rng.randint(8, size=3 * m))
    votes = from_votes(rows, who, given)
    Z, _, many = problem(6 * m, 40, 8)
    linear = LogisticRegression(max_iter=1000)
    return {
        "CRISPClassifier, votes": lambda: CRISPClassifier().fit(X, votes),
        "CandidateClassifier, logistic regression, votes": lambda: CandidateClassifier(
            linear, random_state=0
        ).fit(X, votes),
        "SURE": lambda: SURE().fit(X, S),
        "CENDA": lambda: CENDA().fit(X, S),
        f"CENDA, {6 * m} rows": lambda: CENDA().fit(Z, many),
        f"DELIN, {6 * m} rows": lambda: DELIN().fit(Z, many),
        f"CRISPSelector, {6 * m} rows": lambda: CRISPSelector().fit(Z, many),
        f"CRISP, {6 * m} rows": lambda: CRISP().fit(Z, many),
        f"CRISPClassifier, {6 * m} rows": lambda: CRISPClassifier().fit(Z, many),
    }


def measure(m: int, d: int, repeats: int) -> None:
    """Print the least seconds of each fit with all threads and with one."""
    for name, work in works(m, d).items():
        work()
        seconds: dict[str, list[float]] = {"all": [], "one": []}
        for _ in range(repeats):
            for threads, times in seconds.items():
                with threadpool_limits(1) if threads == "one" else nullcontext():
                    start = time.perf_counter()
                    work()
                    times.append(time.perf_counter() - start)
        least = {threads: min(times) for threads, times in seconds.items()}
        print(json.dumps({"name": name, **least}), flush=True)


@case("threads", slow=True)
def threads(run: Run) -> None:
    """Fits with threads left alone beside a busy process, over one thread (G24)."""
    command = [sys.executable, "-m", "benchmarks.threads"]
    environment = {k: v for k, v in os.environ.items() if k not in THREADS}
    busy = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        found = subprocess.run(
            [*command, *(["--quick"] if run.quick else [])],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        busy.kill()
        busy.wait()
    for line in found.stdout.splitlines():
        cell = json.loads(line)
        run.show(
            f"  {cell['name']}: {cell['all']:.2f} s, one thread {cell['one']:.2f} s"
        )
        run.ratio(f"{cell['name']}, all / one", cell["all"] / cell["one"], at_most=MOST)


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    measure(*(200, 20, 1) if quick else (1000, 512, REPEATS))
