"""CENDA beside a textbook implementation: a full eigenproblem in every round.

Run as ``python -m benchmarks.cenda [G1 G2 G3 G4 G5 1e6]``. Both sides run in this
process with one thread; times are CPU seconds, so that a busy machine matters little.
The textbook does a few rounds and is scaled to fifty, ours does all fifty and its
factorisation. The two must agree before any ratio is printed.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from partlearn._math.graphs import vote
from partlearn._math.linalg import ThinEigenSolver, standardize
from partlearn._math.neighbors import self_neighbors
from partlearn.candidates import make_candidates, refine, uniform_confidence
from partlearn.decomposition import CENDA

ROUNDS = 50


def cpu(function: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Least CPU seconds of some runs, and the last result."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return min(times), result


def data(m: int, d: int, q: int, *, density: float | None = None, seed: int = 0):
    """Classes that overlap, each row with one false candidate; X and S."""
    rng = np.random.default_rng(seed)
    y = rng.integers(q, size=m)
    S = make_candidates(np.r_[y, np.arange(q)], 1, random_state=seed)[:m]
    if density is None:
        return rng.normal(size=(m, d)) + 0.5 * rng.normal(size=(q, d))[y], S
    return sp.random_array((m, d), density=density, rng=rng, format="csr"), S


def report(case: str, text: str, ratio: float, target: str, met: bool) -> None:
    sign = "met" if met else "MISSED"
    print(f"{case:4} {text:58} {ratio:9.2f}  target {target:8} {sign}", flush=True)


def textbook(X: np.ndarray, S: np.ndarray, rounds: int, *, mu=0.5, k=8):
    """Solve the full eigenproblem, search neighbours by brute force; repeat."""
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    F = S / S.sum(axis=1, keepdims=True)
    B = mu * X.T @ X + (1 - mu) * np.eye(X.shape[1])
    for _ in range(rounds):
        A = X.T @ (F - F.mean(axis=0))
        values, vectors = scipy.linalg.eigh(A @ A.T, B)
        values = np.clip(values[::-1], 0, None)
        r = int(np.argmax(np.cumsum(values) >= 0.999 * values.sum())) + 1
        Z = X @ vectors[:, ::-1][:, :r]
        search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(Z)
        neighbors = search.kneighbors(return_distance=False)
        F = refine(F, vote(F, neighbors), S)
    return F


def against_textbook(
    case: str, m: int, d: int, q: int, target: float, rounds: int
) -> None:
    X, S = data(m, d, q)
    slow, F = cpu(lambda: textbook(X, S, rounds))
    ours = CENDA(max_iter=rounds, tol=0.0).fit(X, S)
    gap = np.abs(F - ours.label_confidence_).max()
    moved = np.abs(ours.label_confidence_ - uniform_confidence(S)).max()
    assert gap < 1e-6 < moved, (gap, moved)
    assert np.isfinite(F).all()
    fast, fitted = cpu(lambda: CENDA(max_iter=ROUNDS, tol=0.0).fit(X, S))
    assert fitted.n_iter_ == ROUNDS
    ratio = slow / rounds * ROUNDS / fast
    text = (
        f"{m} x {d}, q {q}: {ROUNDS} rounds, textbook (from {rounds}) / ours; gap "
        f"{gap:.0e}"
    )
    report(case, text, ratio, f">= {target:g}", ratio >= target)


def projection_against_products(case: str, m: int, d: int, q: int) -> None:
    """A projection against the two products that it cannot do without."""
    X, S = data(m, d, q)
    matrix, _, _ = standardize(X)
    solver = ThinEigenSolver(matrix, 0.5, 0.5)
    C = uniform_confidence(S)
    P = np.ones((d, q))
    limit, _ = cpu(lambda: (matrix.dense.T @ C, matrix.dense @ P), 10)
    ours, _ = cpu(lambda: solver.embedding(solver.solve(C), q - 1), 10)
    text = f"{m} x {d}, q {q}: projection / two m d q products"
    report(case, text, ours / limit, "<= 2", ours <= 2 * limit)


def g1() -> None:
    against_textbook("G1", 1500, 1326, 50, 15, rounds=3)
    projection_against_products("G1", 1500, 1326, 50)


def g2() -> None:
    against_textbook("G2", 2780, 1536, 14, 20, rounds=3)


def g3() -> None:
    against_textbook("G3", 1000, 6104, 20, 1000, rounds=1)


def g4() -> None:
    import resource

    m = 6000
    X, S = data(m, 50_000, 50, density=0.002)
    matrix, _, _ = standardize(X)
    setup, solver = cpu(lambda: ThinEigenSolver(matrix, 0.5, 0.5))
    assert solver.route == "dual"
    C = uniform_confidence(S)
    once, eigen = cpu(lambda: solver.solve(C - C.mean(axis=0)))
    assert np.isfinite(eigen.values).all()
    assert eigen.values[0] > 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    K = matrix.gram()
    K.flat[:: m + 1] += 1
    limit, _ = cpu(lambda: scipy.linalg.cholesky(K))
    text = f"sparse {m} x 50000, q 50: set-up / one Cholesky; a round {once:.2f} s"
    report("G4", text, setup / limit, "<= 1.5", setup <= 1.5 * limit)
    report("G4", "peak memory of the process, GB", peak, "< 1.5", peak < 1.5)


def g5() -> None:
    m, d, q, rounds = 22991, 163, 219, 3
    X, S = data(m, d, q)
    matrix, _, _ = standardize(X)
    solver = ThinEigenSolver(matrix, 0.5, 0.5)
    F = uniform_confidence(S)
    neighbors = None
    search = whole = 0.0
    for t in range(rounds):
        start = time.process_time()
        eigen = solver.solve(F - F.mean(axis=0))
        Z = solver.embedding(eigen, q - 1 if q - 1 < d else d)
        seconds, neighbors = cpu(
            lambda Z=Z, n=neighbors: self_neighbors(Z, 8, warm_start=n)
        )
        F = refine(F, vote(F, neighbors), S)
        if t:  # the first search has no neighbours to start from
            search += seconds
            whole += time.process_time() - start
    text = f"{m} x {d}, q {q}: a round / its neighbour search ({search:.1f} s)"
    report("G5", text, whole / search, "<= 1.2", whole <= 1.2 * search)


def million() -> None:
    """Few classes: neighbours are looked for in few dimensions, by a tree."""
    import resource

    seconds = {}
    for m in (250_000, 1_000_000):
        X, S = data(m, 10, 4)
        fit = CENDA(max_iter=10).fit
        seconds[m], _ = cpu(lambda fit=fit, X=X, S=S: fit(X, S))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    ratio = seconds[m] / seconds[250_000]
    text = f"{m} x 10, q 4, ten rounds ({seconds[m]:.0f} s) / a quarter of the rows"
    report("1e6", text, ratio, "<= 6", ratio <= 6)
    report("1e6", "peak memory of the process, GB", peak, "< 4", peak < 4)


# What is asked about memory comes first.
CASES = {"G4": g4, "G1": g1, "G2": g2, "G3": g3, "G5": g5, "1e6": million}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help=", ".join(sorted(CASES)))
    wanted = parser.parse_args(arguments).cases or list(CASES)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CENDA(max_iter=2).fit(*data(3000, 20, 5))  # compile before the clock starts
        for case in wanted:
            CASES[case]()


if __name__ == "__main__":
    main()
