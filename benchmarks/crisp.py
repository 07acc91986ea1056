"""Figures that CRISP must reach, and its time and memory beside CENDA.

    python -m benchmarks.crisp growth [--rounds N] [CASE ...]
    python -m benchmarks.crisp figures --data FOLDER

``growth``: every fit runs in a process of its own with one thread; times are CPU
seconds, memory is the peak of the process, data included. ``--rounds`` caps the rounds
of both methods, for sizes at which an exact neighbour search takes minutes; CENDA needs
more of them, so that the ratio at a cap is an upper bound. ``figures``: accuracies on
Lost, isolet and usps; the folder and its sub-folders are searched. The exit code is 1
if CRISP takes more than three times as long as CENDA or misses a figure.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

CASES = {
    "1e4": (10_000, 100, 20, None),
    "3e4": (30_000, 100, 20, None),
    "1e5": (100_000, 100, 20, None),
    "sparse": (2_000, 20_000, 20, 0.002),
}


MOST = 3  # times the seconds of CENDA


def make(m: int, d: int, q: int, density: float | None):
    """Classes that overlap, each row with two false candidates."""
    from partlearn.candidates import make_candidates

    rng = np.random.RandomState(0)
    y = rng.randint(q, size=m)
    if density is None:
        X = rng.standard_normal((m, d)) + 0.7 * rng.standard_normal((q, d))[y]
    else:
        X = sp.random_array((m, d), density=density, rng=rng, format="lil")
        for j in range(q):  # every class has words of its own
            words = rng.choice(d, 60, replace=False)
            rows = np.flatnonzero(y == j)
            picked = rng.random((len(rows), 60)) < 0.1
            X[np.ix_(rows, words)] = picked.astype(float)
        X = sp.csr_array(X)
    return X, y, make_candidates(y, n_false=2, random_state=0)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(method: str, case: str, rounds: int) -> dict[str, float]:
    """One fit in this process."""
    from threadpoolctl import threadpool_limits

    from partlearn import decomposition

    X, y, S = make(*CASES[case])
    reducer = getattr(decomposition, method)()
    if rounds:
        reducer.set_params(max_iter=rounds)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Compiled kernels are compiled before the clock starts.
        decomposition.CENDA(max_iter=1).fit(X[:200], S[:200])
        start = time.process_time()
        reducer.fit(X, S)
        seconds = time.process_time() - start
    right = (reducer.label_confidence_.argmax(axis=1) == y).mean()
    return {
        "seconds": seconds,
        "megabytes": peak(),
        "rounds": reducer.n_iter_,
        "right": float(right),
    }


def growth(options: argparse.Namespace) -> bool:
    if options.one:
        print(json.dumps(measure(options.one, options.cases[0], options.rounds)))
        return True
    met = True
    print("case      method  rounds  CPU s   peak MB  labels right")
    for case in options.cases:
        seconds = {}
        for method in ("CENDA", "CRISP"):
            command = [sys.executable, "-m", "benchmarks.crisp", "growth", case]
            command += ["--one", method, "--rounds", str(options.rounds)]
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
            found = json.loads(answer.stdout)
            seconds[method] = found["seconds"]
            print(
                f"{case:8s}  {method:6s}  {found['rounds']:6d}  {found['seconds']:6.1f}"
                f"  {found['megabytes']:7.0f}  {found['right']:.3f}",
                flush=True,
            )
        ratio = seconds["CRISP"] / seconds["CENDA"]
        met &= ratio <= MOST
        print(f"{case:8s}  CRISP / CENDA = {ratio:.2f} (at most {MOST})", flush=True)
    return met


def figures(options: argparse.Namespace) -> bool:
    from benchmarks.crisp_figures import report

    return report(Path(options.data))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    grow = commands.add_parser("growth")
    grow.add_argument("cases", nargs="*", default=list(CASES), help=", ".join(CASES))
    grow.add_argument("--rounds", type=int, default=0, help="cap, 0 for the defaults")
    grow.add_argument("--one", help=argparse.SUPPRESS)
    grow.set_defaults(call=growth)
    reach = commands.add_parser("figures")
    reach.add_argument("--data", required=True, help="folder with npz files")
    reach.set_defaults(call=figures)
    options = parser.parse_args(arguments)
    sys.exit(0 if options.call(options) else 1)


if __name__ == "__main__":
    main()
