"""Time and memory of CRISP beside CENDA as the data grow.

Run as ``python -m benchmarks.crisp [--rounds N] [CASE ...]``. Every fit runs in a
process of its own with one thread; times are CPU seconds, memory is the peak of the
process, data included. ``--rounds`` caps the rounds of both methods, for sizes at which
an exact neighbour search takes minutes.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp

CASES = {
    "1e4": (10_000, 100, 20, None),
    "3e4": (30_000, 100, 20, None),
    "1e5": (100_000, 100, 20, None),
    "sparse": (2_000, 20_000, 20, 0.002),
}


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


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), help=", ".join(CASES))
    parser.add_argument("--rounds", type=int, default=0, help="cap, 0 for the defaults")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measure(options.one, options.cases[0], options.rounds)))
        return
    print("case      method  rounds  CPU s   peak MB  labels right")
    for case in options.cases:
        seconds = {}
        for method in ("CENDA", "CRISP"):
            command = [sys.executable, "-m", "benchmarks.crisp", case, "--one", method]
            command += ["--rounds", str(options.rounds)]
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
            found = json.loads(answer.stdout)
            seconds[method] = found["seconds"]
            print(
                f"{case:8s}  {method:6s}  {found['rounds']:6d}  {found['seconds']:6.1f}"
                f"  {found['megabytes']:7.0f}  {found['right']:.3f}",
                flush=True,
            )
        print(f"{case:8s}  CRISP / CENDA = {seconds['CRISP'] / seconds['CENDA']:.2f}")


if __name__ == "__main__":
    main()
