"""Exact neighbours beside the matrix product alone and scikit-learn's brute force."""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks.runner import Run, case
from partlearn._math.neighbors import cell_neighbors, neighbors_recall, self_neighbors
from partlearn._math.neighbors._exact import exact_neighbors
from partlearn.candidates import make_candidates
from partlearn.decomposition import CRISP

K = 10
BLOCK = 512


def points(m: int, d: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((m, d)).astype(np.float32)


def product(Z: np.ndarray):
    """The float32 product that any exact search contains, by blocks of rows."""
    out = np.empty((min(BLOCK, len(Z)), len(Z)), dtype=np.float32)

    def work() -> None:
        for start in range(0, len(Z), BLOCK):
            rows = Z[start : start + BLOCK]
            np.matmul(rows, Z.T, out=out[: len(rows)])

    return work


def argpartition(Z: np.ndarray):
    """Textbook: distances from the product, then a partition of every row."""
    squared = np.einsum("ij,ij->i", Z, Z)

    def work() -> None:
        for start in range(0, len(Z), BLOCK):
            rows = slice(start, start + BLOCK)
            H = squared - 2 * (Z[rows] @ Z.T)
            np.argpartition(H, K, axis=1)[:, : K + 1]

    return work


def search(Z: np.ndarray, warm_start=None):
    return lambda: exact_neighbors(
        Z, Z, K, exclude_self=True, tree=False, warm_start=warm_start, n_jobs=1
    )


def tree_search(Z: np.ndarray):
    """The default, which is a tree in few dimensions."""
    return lambda: exact_neighbors(Z, Z, K, exclude_self=True, n_jobs=1)


@case("knn")
def knn(run: Run) -> None:
    """Exact kNN, k = 10, 1e4 x 50 and 1e4 x 250 (G6)."""
    shapes = run.pick([(10_000, 50, 3.0), (10_000, 250, 2.0)], [(300, 8, 3.0)])
    for m, d, target in shapes:
        Z = points(m, d)
        known = search(Z)()[1]
        # Neighbours of the points before each moved by a tenth of its spread, and of
        # points that have nothing to do with them.
        moved = Z + 0.1 * np.random.default_rng(1).standard_normal(Z.shape)
        earlier = search(moved.astype(np.float32))()[1]
        stale = search(points(m, d)[::-1].copy())()[1]
        reference = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(Z)
        truth = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(Z.astype(float))
        shape = f"{m} x {d}"
        run.agree(f"{shape} indices, scikit-learn", known, truth.kneighbors()[1])
        times = run.time(
            shape,
            {
                "product": product(Z),
                "cold": search(Z),
                "warm": search(Z, known),
                "warm, moved": search(Z, earlier),
                "warm, stale": search(Z, stale),
                "argpartition": argpartition(Z),
                "scikit-learn": reference.kneighbors,
            },
        )
        judged = ("warm", "warm, moved")
        for name in (*judged, "warm, stale", "cold"):
            limit = target if name in judged else None
            value = times[name] / times["product"]
            run.ratio(f"{shape} {name} / product", value, at_most=limit)
        for name in ("scikit-learn", "argpartition"):
            run.ratio(f"{shape} {name} / cold", times[name] / times["cold"])
        run.memory(f"{shape} cold", search(Z), beside=4.0 * m * m)


@case("knn-growth")
def knn_growth(run: Run) -> None:
    """Growth of the exact search in rows and in features."""
    rows = run.pick([2500, 5000, 10_000, 20_000], [100, 200])
    columns = run.pick([32, 64, 128, 256], [4, 8])
    works = {str(m): search(points(m, 50)) for m in rows}
    times = run.time("rows, 50 features", works, repeats=3)
    run.growth("rows", rows, list(times.values()), at_most=2)
    m = rows[-2]
    works = {str(d): search(points(m, d)) for d in columns}
    times = run.time(f"features, {m} rows", works, repeats=3)
    run.growth("features", columns, list(times.values()), at_most=1)


@case("knn-few")
def knn_few(run: Run) -> None:
    """Exact kNN in one to six dimensions: a tree beside the blocked product."""
    m = run.pick(20_000, 600)
    for d in run.pick([1, 2, 4, 6], [2]):
        Z = points(m, d)
        works = {
            "tree": tree_search(Z),
            "product": search(Z),
        }
        run.agree(f"{m} x {d} indices", works["tree"]()[1], works["product"]()[1])
        times = run.time(f"{m} x {d}", works, repeats=3)
        run.ratio(f"{m} x {d} product / tree", times["product"] / times["tree"])
    rows = run.pick([25_000, 50_000, 100_000, 200_000], [600, 1200])
    works = {str(n): tree_search(points(n, 3)) for n in rows}
    times = run.time("rows, 3 features", works, repeats=3)
    run.growth("rows", rows, list(times.values()), at_most=1.3)


@case("knn-large", slow=True)
def knn_large(run: Run) -> None:
    """Exact kNN of 1e5 x 50, once (minutes)."""
    m, d = run.pick((100_000, 50), (500, 5))
    Z = points(m, d)
    known = search(Z)()[1]
    rows = np.arange(0, m, max(1, m // 100))
    truth = NearestNeighbors(n_neighbors=K + 1, algorithm="brute").fit(Z.astype(float))
    expected = truth.kneighbors(Z[rows].astype(float))[1][:, 1:]
    run.agree("indices of some rows, scikit-learn", known[rows], expected)
    works = {
        "product": product(Z),
        "cold": search(Z),
        "warm": search(Z, known),
    }
    times = run.time(f"{m} x {d}", works, repeats=1)
    run.ratio("cold / product", times["cold"] / times["product"])
    run.ratio("warm / product", times["warm"] / times["product"])


CLOUDS = (("groups", 4.0), ("one cloud", 0.0))


def clouds(m: int, spread: float) -> np.ndarray:
    """Rows of 19 normal numbers around 20 centres, so far from each other."""
    rng = np.random.default_rng(0)
    centers = spread * rng.standard_normal((20, 19))
    return rng.standard_normal((m, 19)) + centers[rng.integers(20, size=m)]


@case("many-rows")
def many_rows(run: Run) -> None:
    """Search in cells beside the exact one, and labels by a sample of the voters."""
    m = run.pick(50_000, 600)
    for name, spread in CLOUDS:
        Z = clouds(m, spread)
        works = {
            "cells": lambda Z=Z: cell_neighbors(Z, 8, n_jobs=1),
            "exact": lambda Z=Z: self_neighbors(Z, 8, n_jobs=1),
        }
        recall = neighbors_recall(Z, works["cells"]()[1])
        times = run.time(f"{m} x 19, {name}", works, repeats=1)
        run.ratio(f"{name}: exact / cells", times["exact"] / times["cells"])
        run.ratio(f"{name}: recall of cells", recall)
    for m in run.pick((100_000, 1_000_000), (900,)):
        for name, spread in CLOUDS:
            Z = clouds(m, spread)
            recall = neighbors_recall(Z, cell_neighbors(Z, 8, n_jobs=1)[1])
            run.ratio(f"{m} x 19, {name}: recall of cells", recall)
    m = run.pick(6000, 300)
    rng = np.random.RandomState(0)
    y = rng.randint(20, size=m)
    X = rng.standard_normal((m, 50)) + 0.35 * rng.standard_normal((20, 50))[y]
    S = make_candidates(y, n_false=4, random_state=0)
    for n_reference in (None, m // 5, m // 20):
        start = time.process_time()
        model = CRISP(n_reference=n_reference).fit(X, S)
        seconds = time.process_time() - start
        right = float((model.label_confidence_.argmax(axis=1) == y).mean())
        run.show(
            f"  CRISP {m} x 50, {n_reference or 'all'} voters: {seconds:.1f} s, "
            f"{right:.4f} of the labels right"
        )
        run.ratio(f"labels right, {n_reference or 'all'} voters", right)


FIRST_FIT = """
import time, warnings
from sklearn.datasets import make_blobs
from partlearn.candidates import make_candidates
from partlearn.classification import CRISPClassifier
from partlearn.decomposition import CRISP
warnings.simplefilter("ignore")
X, y = make_blobs({m}, n_features=50, centers=20, cluster_std=6, random_state=0)
candidates = make_candidates(y, n_false=2, random_state=0)
for _ in range(2):
    start = time.process_time()
    {method}(max_iter=2).fit(X, candidates)
    print(time.process_time() - start)
"""


@case("first-fit")
def first_fit(run: Run) -> None:
    """First fit in a fresh process, without compiled loops of former ones (G22)."""
    m = run.pick(5000, 200)
    for method in ("CRISP", "CRISPClassifier"):
        with tempfile.TemporaryDirectory() as cache:
            answer = subprocess.run(
                [sys.executable, "-c", FIRST_FIT.format(m=m, method=method)],
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                capture_output=True,
                text=True,
                check=True,
            )
        first, second = map(float, answer.stdout.split())
        run.show(f"  {method} {m} x 50: first {first:.2f} s, second {second:.2f} s")
        label = f"{method} {m} x 50: (first - second) / one second"
        run.ratio(label, first - second, at_most=2)
