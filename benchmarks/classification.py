"""Time and memory of the learners, and of their hot paths against textbook forms.

Run as ``python -m benchmarks.classification [CASE ...] [--json FILE]``. Cases:

propagation
    IPAL's propagation at 17472 rows and 171 labels, against a loop of SciPy products.
regression
    20 solves of the regression of SURE and PL-AGGD for 5303 rows, against one LU
    factorisation per solve (one is timed and counted 20 times).
lost, soccer
    Fit and predict of every learner on synthetic data of the shape of Lost (1122 x 108,
    16 labels) and Soccer Player (17472 x 279, 171 labels), each in its own process.
    ``--learner`` restricts to some.
landmarks
    Accuracy and time of SURE with landmarks instead of the exact kernel, 4500 rows.

Times are CPU seconds of one thread; memory is the peak of the process, data included.
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

import numpy as np

SHAPES = {"lost": (1122, 108, 16), "soccer": (17472, 279, 171)}
LEARNERS = (
    "PLKNN()",
    "PLSVM(random_state=0)",
    "PLECOC(random_state=0)",
    "IPAL()",
    "SURE()",
    "SURE(n_landmarks=2000, random_state=0)",
    "PLAGGD()",
    "PLAGGD(n_landmarks=2000, random_state=0)",
)


def make(m: int, d: int, q: int, n_false: int = 1):
    """Overlapping classes, one false candidate each."""
    from partlearn.candidates import make_candidates

    rng = np.random.RandomState(0)
    y = np.concatenate([np.arange(q), rng.randint(q, size=m - q)])
    X = rng.standard_normal((m, d)) + 0.5 * rng.standard_normal((q, d))[y]
    return X, make_candidates(y, n_false, random_state=0), y


def seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def propagation():
    """Same number of rounds on both sides; the results must agree."""
    from partlearn.candidates import uniform_confidence
    from partlearn.classification._candidate_graph import graph
    from partlearn.classification._ipal import propagate

    m, q, k, rounds = 17472, 171, 10, 20
    rng = np.random.default_rng(0)
    _, S, _ = make(m, 2, q)
    near = (np.arange(m)[:, None] + rng.integers(1, m, (m, k))) % m
    H = graph(near, rng.dirichlet(np.ones(k), m))
    start = uniform_confidence(S)
    found = {}

    def ours():
        found["ours"] = propagate(H, start, S, 0.95, rounds, 0.0)[0]

    def textbook():
        F = start
        for _ in range(rounds):
            new = (0.95 * (H @ F) + 0.05 * start) * S
            new /= new.sum(axis=1, keepdims=True)
            np.sqrt(np.linalg.eigvalsh((new - F).T @ (new - F))[-1])
            F = new
        found["textbook"] = F

    times = seconds(ours), seconds(textbook)
    gap = np.abs(found["ours"] - found["textbook"]).max()
    assert gap < 1e-12 < np.abs(found["ours"] - start).max()
    yield ratio("G13 propagation 17472 x 171, 20 rounds", *times, gap)


def regression():
    """Solutions of both sides must agree."""
    from partlearn.classification._ridge import gaussian_kernel, make_ridge

    m, q, solves = 5303, 20, 20
    rng = np.random.default_rng(0)
    X, P = rng.standard_normal((m, 50)), rng.dirichlet(np.ones(q), m)
    found = {}

    def ours():
        ridge = make_ridge(X, 0.05, sigma=10.0)
        for _ in range(solves):
            found["ours"] = ridge.solve(P).outputs

    K = gaussian_kernel(X, 10.0)

    def textbook():
        left = K + 0.05 * np.eye(m) - K.mean(axis=0)
        A = np.linalg.solve(left, P - P.mean(axis=0))
        found["textbook"] = K @ A + (P - K @ A).mean(axis=0)

    times = seconds(ours), solves * seconds(textbook)
    gap = np.abs(found["ours"] - found["textbook"]).max()
    assert gap < 1e-6 < np.abs(found["ours"]).max()
    yield ratio("G14 regression m=5303, 20 solves, kernel included", *times, gap)


def ratio(case, ours, textbook, gap):
    return {
        "case": case,
        "ours_s": round(ours, 3),
        "textbook_s": round(textbook, 3),
        "times_faster": round(textbook / ours, 1),
        "gap": float(gap),
    }


def learner_once(shape, text):
    """Fit on all rows and predict a tenth of them, in this process."""
    from partlearn import classification

    warnings.simplefilter("ignore")
    X, S, y = make(*SHAPES[shape])
    model = eval(text, vars(classification))
    test = slice(None, None, 10)
    row = {"case": f"{shape} {text}"}
    try:
        row["fit_s"] = round(seconds(lambda: model.fit(X, S)), 2)
        row["predict_s"] = round(seconds(lambda: model.predict(X[test])), 2)
        row["train_accuracy"] = round(model.score(X[test], y[test]), 3)
    except MemoryError as error:
        row["error"] = str(error)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return row | {"peak_MiB": round(peak)}


def learners(shape, chosen):
    for text in LEARNERS:
        if chosen and text.partition("(")[0] not in chosen:
            continue
        command = [sys.executable, "-m", "benchmarks.classification", "--once"]
        done = subprocess.run(
            [*command, shape, text],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        yield json.loads(done.stdout)


def landmarks():
    from partlearn.classification import SURE

    X, S, y = make(5000, 40, 20)
    train, test = slice(0, 4500), slice(4500, None)
    for count in (None, 2000, 1000, 500, 200):
        model = SURE(n_landmarks=count, random_state=0)
        fit = seconds(lambda model=model: model.fit(X[train], S[train]))
        scores = model.decision_function(X[test])
        if count is None:
            exact = scores
        gap = np.linalg.norm(scores - exact) / np.linalg.norm(exact)
        yield {
            "case": f"SURE n_landmarks={count}",
            "fit_s": round(fit, 2),
            "accuracy": round(model.score(X[test], y[test]), 3),
            "relative_error_of_scores": round(float(gap), 3),
        }


def rows(cases, chosen=()):
    """Yield a dict of figures for each measurement of the named cases."""
    for case in cases:
        if case in SHAPES:
            yield from learners(case, chosen)
        else:
            yield from {
                "propagation": propagation,
                "regression": regression,
                "landmarks": landmarks,
            }[case]()


def main(arguments=None):
    from threadpoolctl import threadpool_limits

    import partlearn.classification  # noqa: F401  limits reach loaded libraries only

    names = ["propagation", "regression", "landmarks", *SHAPES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=names, metavar="CASE")
    parser.add_argument("--learner", action="append", default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--once", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    with threadpool_limits(1):
        if options.once:
            print(json.dumps(learner_once(*options.once)))
            return
        unknown = set(options.cases) - set(names)
        if unknown:
            parser.error(f"unknown case {unknown.pop()!r}; known: {', '.join(names)}")
        warnings.simplefilter("ignore")
        kept = []
        for row in rows(options.cases, options.learner):
            kept.append(row)
            print("  ".join(f"{key}={value}" for key, value in row.items()), flush=True)
        if options.json:
            options.json.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
