"""DELIN and WPLDR beside textbook implementations; fits and growth of all reducers.

    python -m benchmarks.decomposition delin wpldr memory     # targets G12, G9, memory
    python -m benchmarks.decomposition fits growth            # seconds, exponents
    python -m benchmarks.decomposition large                  # target G10, minutes
    python -m benchmarks.decomposition approximate            # needs pynndescent

One thread, CPU seconds, both sides in this process. `fits` and `growth` take
``--rounds`` rounds of each method, since an exact neighbour search dominates them all.
The baseline of WPLDR solves its quadratic programs with PIQP (extra ``test``), one per
row for the graph, and one sparse problem over the candidates for the confidences.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks.cenda import cpu, data, report
from partlearn._math.graphs import reconstruction_graph, residual_operator
from partlearn._math.linalg import standardize
from partlearn._math.neighbors import self_neighbors
from partlearn.candidates import make_candidates, uniform_confidence
from partlearn.decomposition import CENDA, DELIN, PLDA, WPLDR
from partlearn.decomposition._delin import LinearSpace
from partlearn.decomposition._wpldr import (
    WhitenedSpace,
    confidence_step,
    objective,
    restricted_quadratic,
)

LOST, MIRFLICKR, YAHOO = (1122, 108, 16), (2780, 1536, 14), (22991, 163, 219)
REDUCERS = {"CENDA": CENDA, "DELIN": DELIN, "PLDA": PLDA, "WPLDR": WPLDR}


def textbook_discriminants(X: np.ndarray, F: np.ndarray, r: int):
    """One scatter matrix per class, one generalised eigenproblem of size d."""
    mean = X.mean(axis=0)
    between = np.zeros((X.shape[1], X.shape[1]))
    within = np.zeros_like(between)
    for j in range(F.shape[1]):
        centre = F[:, j] @ X / F[:, j].sum()
        between += F[:, j].sum() * np.outer(centre - mean, centre - mean)
        D = X - centre
        within += D.T @ (F[:, [j]] * D)
    values, vectors = scipy.linalg.eigh(between, within)
    return values[::-1][:r], X @ vectors[:, ::-1][:, :r]


def delin_case(shape: tuple[int, int, int]) -> tuple[float, str]:
    """Ratio of a textbook round to ours, both without the neighbour search."""
    m, d, q = shape
    X, S = data(*shape)
    matrix, _, _ = standardize(X)
    F = uniform_confidence(S)
    slow, (values, _) = cpu(lambda: textbook_discriminants(matrix.dense, F, q - 1))
    setup, space = cpu(lambda: LinearSpace(matrix, "within"))

    def once():
        space.solve(F)
        return space.embedding(q - 1)

    fast, _ = cpu(once, 5)
    gap = np.abs(space.values[: q - 1] / values - 1).max()
    assert np.isfinite(values).all()
    assert gap < 1e-8, gap
    text = f"DELIN {m} x {d}, q {q}: textbook / ours, a round (set-up {setup:.1f} s)"
    return slow / fast, text


def delin() -> None:
    ratio, text = delin_case(LOST)
    print(f"     {text:58} {ratio:9.2f}", flush=True)
    ratio, text = delin_case(MIRFLICKR)
    report("G12", text, ratio, ">= 250", ratio >= 250)


def textbook_wpldr(matrix, F, S, Z, neighbors, alpha, beta, rounds):
    """Row by row quadratic programs, one sparse program, one full eigenproblem."""
    import piqp

    m, k = neighbors.shape
    points = np.hstack([alpha**0.5 * Z, beta**0.5 * F])
    weights = np.empty((m, k))
    for i in range(m):
        E = points[i] - points[neighbors[i]]
        solver = piqp.DenseSolver()
        solver.setup(
            2 * E @ E.T + 1e-12 * np.eye(k),
            np.zeros(k),
            np.ones((1, k)),
            np.ones(1),
            x_l=np.zeros(k),
            x_u=np.ones(k),
        )
        solver.solve()
        weights[i] = solver.result.x
    W = sp.csr_array(
        (weights.ravel(), neighbors.ravel(), np.arange(0, m * k + 1, k)), shape=(m, m)
    )
    A = residual_operator(W)
    H = beta * restricted_quadratic(A, S)
    rows, _ = np.nonzero(S)
    n = len(rows)
    sums = sp.csc_matrix((np.ones(n), (rows, np.arange(n))), shape=(m, n))
    Zc = Z - Z.mean(axis=0)
    for _ in range(rounds):
        G = Zc @ (Zc.T @ F)
        solver = piqp.SparseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
        solver.setup(
            sp.csc_matrix(H), -G[S], sums, np.ones(m), x_l=np.zeros(n), x_u=np.ones(n)
        )
        solver.solve()
        F = np.zeros_like(F)
        F[S] = solver.result.x
    X = matrix.dense
    C, AX = X.T @ (F - F.mean(axis=0)), A @ X
    B = 0.5 * X.T @ X + 0.5 * np.eye(X.shape[1])
    values, _ = scipy.linalg.eigh(C @ C.T - alpha * AX.T @ AX, B)
    return A, F, values[::-1]


def wpldr_case(shape: tuple[int, int, int], target: float) -> None:
    m, d, q = shape
    alpha = beta = 0.01
    rounds = 3  # linearisations, on both sides
    X, S = data(*shape)
    matrix, _, _ = standardize(X)
    space = WhitenedSpace(matrix, 0.5)
    F = uniform_confidence(S)
    _, vectors = space.dependence(F)
    Z = space.embedding(vectors[:, : q - 1])
    neighbors = self_neighbors(Z, 8)

    def once():
        points = np.hstack([alpha**0.5 * Z, beta**0.5 * F])
        A = residual_operator(reconstruction_graph(points, neighbors))
        new = confidence_step(F, S, Z, A, beta, max_iter=rounds, tol=0.0)
        return A, new, space.solve(new, A, alpha, q - 1, vectors)[0]

    def textbook():
        return textbook_wpldr(matrix, F, S, Z, neighbors, alpha, beta, rounds)

    fast, (_, ours, values) = cpu(once, 3)
    slow, (A, theirs, full) = cpu(textbook)
    a, b = (objective(Z, x, A, alpha, beta) for x in (ours, theirs))
    gap = abs(a - b) / abs(b)
    eigen = np.abs(values / full[: len(values)] - 1).max()
    assert np.isfinite(gap)
    assert np.abs(ours - F).max() > 0.1
    text = f"WPLDR {m} x {d}, q {q}: textbook / ours, without search"
    report("G9", text, slow / fast, f">= {target}", slow >= target * fast)
    print(f"     relative gaps: objective {gap:.0e} (target 1e-8), values {eigen:.0e}")


def wpldr() -> None:
    wpldr_case(LOST, 6)
    wpldr_case(MIRFLICKR, 40)


def child(task: str) -> dict[str, float]:
    """Run one task in a process of its own, for its memory."""
    command = [sys.executable, "-m", "benchmarks.decomposition", "--child", task]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def wpldr_memory() -> dict[str, float]:
    m = 20_000
    X, S = data(m, 200, 100)
    fitted = WPLDR(max_iter=2).fit(X, S)
    return {"gigabytes": peak(), "square": 8 * m**2 / 2**30, "rounds": fitted.n_iter_}


def wpldr_large() -> dict[str, float]:
    """One round at 100,000 x 200 with 50 classes, step by step."""
    X, S = data(100_000, 200, 50)
    matrix, _, _ = standardize(X)
    space = WhitenedSpace(matrix, 0.5)
    F = uniform_confidence(S)
    _, vectors = space.dependence(F)
    Z = space.embedding(vectors[:, :49])
    search, neighbors = cpu(lambda: self_neighbors(Z, 8))
    points = np.hstack([0.1 * Z, 0.1 * F])
    weights, W = cpu(lambda: reconstruction_graph(points, neighbors))
    A = residual_operator(W)
    step, F = cpu(lambda: confidence_step(F, S, Z, A, 0.01))
    turn, _ = cpu(lambda: space.solve(F, A, 0.01, 49, vectors))
    names = {"search": search, "weights": weights, "F": step, "P": turn}
    return {**names, "gigabytes": peak()}


def memory() -> None:
    found = child("wpldr_memory")
    text = f"WPLDR 20000 x 200, q 100: peak GB ({found['square']:.1f} for m x m)"
    report("mem", text, found["gigabytes"], "< 1", found["gigabytes"] < 1)


def large() -> None:
    found = child("wpldr_large")
    ratio = found["F"] / found["search"]
    text = "WPLDR 100000 x 200, q 50: F step / its search"
    report("G10", text, ratio, "<= 0.4", ratio <= 0.4)
    print("     " + ", ".join(f"{k} {v:.1f}" for k, v in found.items()))


def approximate() -> None:
    """Exact and injected approximate neighbours; the first fit compiles the search."""
    from pynndescent import PyNNDescentTransformer

    rng = np.random.default_rng(0)
    y = rng.integers(20, size=30_000)
    X = 2 * rng.normal(size=(20, 50))[y] + rng.normal(scale=4, size=(len(y), 50))
    S = make_candidates(y, n_false=3, random_state=0)
    CENDA(max_iter=1, search=PyNNDescentTransformer(15)).fit(X[:2000], S[:2000])
    for name, reducer in REDUCERS.items():
        shown = []
        for search in (None, PyNNDescentTransformer(15, random_state=0)):
            model = reducer(max_iter=2, search=search)
            taken, _ = cpu(lambda model=model: model.fit(X, S))
            right = (model.label_confidence_.argmax(axis=1) == y).mean()
            shown.append(f"{taken:.1f} s, {right:.4f} right")
        print(f"{name:6} 30000 x 50: exact {shown[0]}; approximate {shown[1]}")


def seconds(name: str, shape: tuple[int, int, int], rounds: int) -> float:
    X, S = data(*shape)
    reducer = REDUCERS[name](max_iter=rounds)
    return cpu(lambda: reducer.fit(X, S))[0]


def fits(rounds: int) -> None:
    print(f"CPU seconds of a fit of {rounds} rounds")
    for label, shape in (("Lost", LOST), ("Mirflickr", MIRFLICKR), ("Yahoo", YAHOO)):
        row = [f"{name} {seconds(name, shape, rounds):8.2f}" for name in REDUCERS]
        m, d, q = shape
        print(f"{label:10} {m} x {d}, q {q}: " + "  ".join(row), flush=True)


def growth(rounds: int) -> None:
    print(f"CPU seconds of a fit of {rounds} rounds, and the exponent of growth")
    sweeps = {
        "m": [(m, 50, 20) for m in (10_000, 30_000, 100_000)],
        "d": [(3000, d, 20) for d in (100, 300, 1000)],
    }
    for axis, shapes in sweeps.items():
        sizes = [shape["md".index(axis)] for shape in shapes]
        for name in REDUCERS:
            times = [seconds(name, shape, rounds) for shape in shapes]
            slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
            shown = "  ".join(
                f"{n}: {t:.1f}" for n, t in zip(sizes, times, strict=True)
            )
            print(f"{name:6} {axis} = {shown}   exponent {slope:.2f}", flush=True)


PARTS = {
    "delin": delin,
    "wpldr": wpldr,
    "memory": memory,
    "large": large,
    "approximate": approximate,
}
SWEEPS = {"fits": fits, "growth": growth}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=", ".join([*PARTS, *SWEEPS]))
    parser.add_argument("--rounds", type=int, default=2, help="rounds of a fit")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        WPLDR(max_iter=2).fit(*data(3000, 20, 5))  # compile before the clock starts
        if options.child:
            print(json.dumps(globals()[options.child]()))
            return
        for part in options.parts or ["delin", "wpldr", "memory", "fits"]:
            if part in PARTS:
                PARTS[part]()
            else:
                SWEEPS[part](options.rounds)
    print(f"({time.perf_counter() - start:.0f} s in all)")


if __name__ == "__main__":
    main()
