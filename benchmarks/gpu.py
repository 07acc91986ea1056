"""Seconds of the methods on a GPU: ``python -m benchmarks.gpu [--quick] [case ...]``.

Needs PyTorch with CUDA. Every case is fitted once on small data first, so that the
libraries of the GPU are loaded, then once on the size in question; where a CPU figure
is asked for, NumPy fits a part of the rows and both predict the same new rows. A case
that fails prints its traceback, and the others go on.
"""

import argparse
import os
import time
import traceback
import warnings

os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported

import numpy as np
from sklearn import config_context

from partlearn._math.neighbors import query_neighbors, self_neighbors
from partlearn.classification import PLKNN, SURE, CRISPClassifier
from partlearn.decomposition import CENDA, CRISP
from partlearn.feature_selection import SAUTE

WARM = 3000  # rows of the fit that is not counted
SPREAD = 0.45  # of the class means: classes overlap
AGREE = 20_000  # rows on which NumPy and the GPU are compared
FEWER = 6000  # the same for methods whose fit in NumPy is long


def problem(m, d, q, seed=0):
    """Gaussian classes that overlap, and two false candidates a row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, q, m)
    r = min(q, d)
    means = np.zeros((q, d), dtype=np.float32)
    means[:, :r] = SPREAD * rng.standard_normal((q, r))
    X = rng.standard_normal((m, d), dtype=np.float32)
    X += means[y]
    S = np.zeros((m, q), dtype=bool)
    S[np.arange(m), y] = True
    for _ in range(2):
        S[np.arange(m), rng.integers(0, q, m)] = True
    return X, S, y


def timed(call):
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    answer = call()
    torch.cuda.synchronize()
    return answer, time.perf_counter() - start


def named(model, y):
    """Share of training rows whose most likely candidate is the true label."""
    best = model.label_confidence_.argmax(axis=1)
    return float(np.mean(np.asarray(getattr(best, "cpu", lambda: best)()) == y))


def fit_case(build, m, d, q, compare=AGREE):
    """Seconds at the full size; and at some rows the labels of both libraries."""
    import torch

    X, S, y = problem(m, d, q)
    build().fit(torch.asarray(X[:WARM], device="cuda"), S[:WARM])
    A = torch.asarray(X, device="cuda")
    torch.cuda.reset_peak_memory_stats()
    model, seconds = timed(lambda: build().fit(A, S))
    peak = torch.cuda.max_memory_allocated() / 2**30
    rounds = getattr(model, "n_iter_", "")
    line = f"{seconds:8.2f} s, {peak:.1f} GiB, rounds {rounds}"
    line += f", right {named(model, y):.4f}"
    del model
    if compare:
        n = min(compare, m)
        ours, there = timed(
            lambda: build().fit(torch.asarray(X[:n], device="cuda"), S[:n])
        )
        start = time.perf_counter()
        theirs = build().fit(X[:n], S[:n])
        here = time.perf_counter() - start
        line += (
            f"; {n} rows: GPU {there:.2f} s {named(ours, y[:n]):.4f}, "
            f"CPU {here:.2f} s {named(theirs, y[:n]):.4f}"
        )
    return line


def search_case(m, d, k=10, reference=None):
    import torch

    X = np.random.default_rng(0).standard_normal((m, d), dtype=np.float32)
    A = torch.asarray(X, device="cuda")
    self_neighbors(A[:WARM], k)
    if reference is None:
        found, seconds = timed(lambda: self_neighbors(A, k))
        rows = np.arange(0, m, m // 500)
        _, exact = query_neighbors(X, X[rows], k + 1)
        same = np.mean(exact[:, 1:] == found.cpu().numpy()[rows])
        return f"{seconds:8.2f} s, same neighbours {same:.4f}"
    found, seconds = timed(lambda: query_neighbors(A[:reference], A, k))
    return f"{seconds:8.2f} s"


def landmarks(**parameters):
    return CRISPClassifier(n_landmarks=2000, **parameters)


CASES = {
    "neighbours 1e5 x 50": lambda n: search_case(n // 10, 50),
    "neighbours 1e6 x 19 among 20,000": lambda n: search_case(n, 19, 8, 20_000),
    "CENDA 1e6 x 500, 100 classes, 20 iterations": lambda n: fit_case(
        lambda: CENDA(max_iter=20, tol=0), n, 500, 100, compare=0
    ),
    "CENDA 1e5 x 100, 20 classes": lambda n: fit_case(CENDA, n // 10, 100, 20),
    "CRISP(use_neighbors=False) 1e6 x 100, 20 classes": lambda n: fit_case(
        lambda: CRISP(use_neighbors=False), n, 100, 20
    ),
    "CRISP 1e6 x 100, 20 classes": lambda n: fit_case(CRISP, n, 100, 20),
    "CRISPClassifier 1e6 x 100, 2,000 landmarks": lambda n: fit_case(
        landmarks, n, 100, 20, compare=0
    ),
    "CRISPClassifier 1e6 x 100, also 20,000 reference": lambda n: fit_case(
        lambda: landmarks(n_reference=n // 50), n, 100, 20, compare=0
    ),
    "CRISPClassifier 1e5 x 100, 2,000 landmarks": lambda n: fit_case(
        landmarks, n // 10, 100, 20, FEWER
    ),
    "PL-KNN 250,000 x 50, training rows": lambda n: fit_case(PLKNN, n // 4, 50, 20),
    "SAUTE 1e5 x 1000, 50 classes": lambda n: fit_case(
        lambda: SAUTE(20, max_iter=2), n // 10, 1000, 50, FEWER
    ),
    "SURE 2e4 x 100, 20 classes": lambda n: fit_case(SURE, n // 50, 100, 20),
    "neighbours 1e6 x 50": lambda n: search_case(n, 50),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="parts of names; all by default")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--limit", type=float, default=420, help="seconds to begin in")
    options = parser.parse_args()
    import scipy
    import sklearn
    import torch

    warnings.simplefilter("ignore")
    print(
        f"{torch.cuda.get_device_name()}; torch {torch.__version__}, scikit-learn "
        f"{sklearn.__version__}, numpy {np.__version__}, scipy {scipy.__version__}",
        flush=True,
    )
    begin = time.perf_counter()
    rows = 100_000 if options.quick else 1_000_000
    for name, run in CASES.items():
        if options.cases and not any(part in name for part in options.cases):
            continue
        if time.perf_counter() - begin > options.limit:
            print(f"{name:45} not begun: out of time", flush=True)
            continue
        try:
            with config_context(array_api_dispatch=True):
                print(f"{name:45} {run(rows)}", flush=True)
        except Exception:
            print(f"{name:45} failed", flush=True)
            traceback.print_exc()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
