"""Learners: hot paths beside textbook forms, and time and memory by shape of the data.

``python -m benchmarks learners-soccer`` takes long; one learner of it by
``python -m benchmarks.classification soccer "SURE()"``.
"""

import json
import os
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

from benchmarks.runner import Run, case

SHAPES = {
    "quick": (60, 5, 6),
    "lost": (1122, 108, 16),
    "soccer": (17472, 279, 171),  # the shape of Soccer Player
}
LEARNERS = (
    "PLKNN()",
    "PLSVM(random_state=0)",
    "IPAL()",
    "SURE(n_landmarks=2000, random_state=0)",
    "PLAGGD(n_landmarks=2000, random_state=0)",
    "SURE()",
    "PLAGGD()",
    "PLECOC(random_state=0)",
)


def make(m: int, d: int, q: int, n_false: int = 1):
    """Overlapping classes, some false candidates each."""
    from partlearn.candidates import make_candidates

    rng = np.random.RandomState(0)
    y = np.concatenate([np.arange(q), rng.randint(q, size=m - q)])
    X = rng.standard_normal((m, d)) + 0.5 * rng.standard_normal((q, d))[y]
    return X, make_candidates(y, n_false, random_state=0), y


@case("ipal-propagation")
def propagation(run: Run) -> None:
    """IPAL's propagation on the candidates, beside products with all of F (G13)."""
    from partlearn._math.graphs import neighbor_graph
    from partlearn.candidates import uniform_confidence
    from partlearn.classification._ipal import propagate

    m, q = run.pick((17472, 171), (60, 12))
    k, rounds = 10, 20
    rng = np.random.default_rng(0)
    _, S, _ = make(m, 2, q)
    near = (np.arange(m)[:, None] + rng.integers(1, m, (m, k))) % m
    H = neighbor_graph(near, rng.dirichlet(np.ones(k), m))
    start = uniform_confidence(S)

    def ours():
        return propagate(H, start, S, 0.95, rounds, 0.0)[0]

    def textbook():
        F = start
        for _ in range(rounds):
            new = (0.95 * (H @ F) + 0.05 * start) * S
            new /= new.sum(axis=1, keepdims=True)
            np.linalg.eigvalsh((new - F).T @ (new - F))
            F = new
        return F

    run.agree(f"{rounds} rounds on both sides", ours(), textbook(), tolerance=1e-12)
    label = f"{m} rows, {q} labels, {rounds} rounds"
    times = run.time(label, {"ours": ours, "SciPy loop": textbook}, repeats=3)
    run.ratio("SciPy loop / ours", times["SciPy loop"] / times["ours"], at_least=10)


@case("sure-regression")
def regression(run: Run) -> None:
    """20 solves of the regression of SURE and PL-AGGD, beside LU for each (G14)."""
    from partlearn.classification import SURE
    from partlearn.classification._ridge import gaussian_kernel

    m, q, solves = run.pick((5303, 20, 20), (50, 4, 20))
    rng = np.random.default_rng(0)
    X, P = rng.standard_normal((m, 50)), rng.dirichlet(np.ones(q), m)
    K = gaussian_kernel(X, 10.0)

    def ours():
        ridge = SURE(sigma=10.0)._ridge(X, 0.05)
        for _ in range(solves):
            solution = ridge.solve(P)
        return solution.outputs

    def textbook():
        left = K + 0.05 * np.eye(m) - K.mean(axis=0)
        A = np.linalg.solve(left, P - P.mean(axis=0))
        return K @ A + (P - K @ A).mean(axis=0)

    run.agree("outputs", ours(), textbook(), tolerance=1e-8)
    times = run.time(
        f"m {m}", {"ours, kernel and 20 solves": ours, "one LU": textbook}, repeats=1
    )
    one, all_ours = times["one LU"], times["ours, kernel and 20 solves"]
    run.ratio("20 LU / ours", solves * one / all_ours, at_least=10)


@case("sure-landmarks", slow=True)
def landmarks(run: Run) -> None:
    """What SURE loses with landmarks instead of the exact kernel."""
    from partlearn.classification import SURE

    m, d, q = run.pick((5000, 40, 20), (80, 5, 6))
    X, S, y = make(m, d, q)
    train, test = slice(0, m * 9 // 10), slice(m * 9 // 10, None)
    exact = None
    for count in (None, *run.pick((2000, 1000, 500, 200), (20,))):
        model = SURE(n_landmarks=count, random_state=0)
        start = time.process_time()
        model.fit(X[train], S[train])
        seconds = time.process_time() - start
        scores = model.decision_function(X[test])
        exact = scores if exact is None else exact
        error = np.linalg.norm(scores - exact) / np.linalg.norm(exact)
        row = {
            "landmarks": count,
            "fit_s": round(seconds, 2),
            "accuracy": round(model.score(X[test], y[test]), 3),
            "relative_error_of_scores": round(float(error), 3),
        }
        note(run, f"SURE, {m * 9 // 10} rows", row)


@case("learners-lost")
def lost(run: Run) -> None:
    """Fit and predict of every learner at the shape of Lost, with peak memory."""
    learners(run, run.pick("lost", "quick"))


@case("learners-soccer", slow=True)
def soccer(run: Run) -> None:
    """Fit and predict of every learner at the shape of Soccer Player."""
    learners(run, run.pick("soccer", "quick"))


def learners(run: Run, shape: str) -> None:
    """Each learner in a process of its own, for the sake of its peak memory."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for text in run.pick(LEARNERS, LEARNERS[:1]):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.classification", shape, text],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | threads,
        )
        note(run, f"{shape} {text}", json.loads(done.stdout))


def note(run: Run, label: str, figures: dict) -> None:
    run.records.append({"kind": "learner", "label": label, **figures})
    run.show(f"  {label}: " + ", ".join(f"{k} {v}" for k, v in figures.items()))


def learn(shape: str, text: str) -> dict:
    """Fit on all rows and predict a tenth of them, in this process."""
    from partlearn import classification

    warnings.simplefilter("ignore")
    X, S, y = make(*SHAPES[shape])
    model = eval(text, vars(classification))
    tenth = slice(None, None, 10)
    row: dict = {}
    try:
        start = time.process_time()
        model.fit(X, S)
        row["fit_s"] = round(time.process_time() - start, 2)
        start = time.process_time()
        predicted = model.predict(X[tenth])
        row["predict_s"] = round(time.process_time() - start, 2)
        row["training_accuracy"] = round(float(np.mean(predicted == y[tenth])), 3)
        row["rounds"] = getattr(model, "n_iter_", None)
    except MemoryError as error:
        row["error"] = str(error)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return row | {"peak_MiB": round(peak)}


if __name__ == "__main__":
    print(json.dumps(learn(*sys.argv[1:])))
