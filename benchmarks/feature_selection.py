"""Kernels of SAUTE beside plain NumPy, growth, memory, and whole fits.

    python -m benchmarks.feature_selection entropy redundancy    # targets G7 and G8
    python -m benchmarks.feature_selection growth fits
    python -m benchmarks.feature_selection memory                # minutes

One thread, CPU seconds, both sides in this process, best of several runs for ours. Data
are random and of the shapes of published sets. The two sides must agree, and what they
agree on must be finite and not zero, before a ratio is printed. Compilation by numba
happens before any clock starts. ``memory`` runs each fit in a process of its own.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from partlearn.candidates import make_candidates, uniform_confidence
from partlearn.feature_selection import SAUTE, MaxRelevance
from partlearn.feature_selection._columns import columns
from partlearn.feature_selection._greedy import difference, greedy_path
from partlearn.feature_selection._redundancy import Redundancy
from partlearn.feature_selection._relevance import Relevance, membership

NOBODY = np.empty(0, dtype=np.intp)
MEMORY = {
    "22991 x 163, q 219": (22_991, 163, 219, None),
    "1e5 x 1e3, q 20": (100_000, 1_000, 20, None),
    "2e4 x 5e4, q 20, 0.2 % dense": (20_000, 50_000, 20, 0.002),
}


def cpu(function: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Least CPU seconds of some runs, and the last result."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return min(times), result


def data(m: int, d: int, q: int, density: float | None = None) -> tuple[Any, Any, Any]:
    """Overlapping classes in some features, one false candidate per row."""
    rng = np.random.default_rng(0)
    y = rng.integers(q, size=m)
    y[:q] = np.arange(q)
    S = make_candidates(y, n_false=1, random_state=0)
    if density is None:
        strength = np.where(rng.random(d) < 0.3, rng.random(d), 0.0)
        X = rng.standard_normal((m, d))
        shift = rng.standard_normal((q, d)) * strength
        for start in range(0, m, 10_000):
            X[start : start + 10_000] += shift[y[start : start + 10_000]]
        X[:, d // 2 :] += 0.5 * X[:, : d - d // 2]  # some redundancy
        return X, S, uniform_confidence(S)
    nnz = int(m * d * density)
    rows, cols = rng.integers(m, size=nnz), rng.integers(d, size=nnz)
    words = cols % q == y[rows]  # every class has words of its own
    kept = words | (rng.random(nnz) < 0.5)
    X = sp.csr_array((np.ones(kept.sum()), (rows[kept], cols[kept])), shape=(m, d))
    return X, S, uniform_confidence(S)


def textbook_entropy(X: Any, F: Any, S: Any, features: Any) -> Any:
    """Few features at a time: densities of all classes, log-sum-exp over them."""
    D, prior = membership(F, S).astype(float), F.mean(axis=0)
    count = D.sum(axis=0)[:, None]
    result = []
    for some in np.array_split(features, max(1, len(features) // 4)):
        Z = X[:, some]
        Z = (Z - Z.mean(axis=0)) / Z.std(axis=0, ddof=1)
        mean = D.T @ Z / count
        var = (D.T @ Z**2 - count * mean**2) / (count - 1)
        std = np.maximum(np.sqrt(np.maximum(var, 0)), 0.6)[:, None]
        a = np.log(prior)[:, None, None] - np.log(std)
        a = a - ((Z - mean[:, None]) / std) ** 2 / 2  # (q, m, 4)
        top = a.max(axis=0)
        log_p = a - (top + np.log(np.exp(a - top).sum(axis=0)))
        result.append(-(np.exp(log_p) * log_p).sum(axis=0).mean(axis=0))
    return np.concatenate(result)


def verdict(ok: bool) -> str:
    return "met" if ok else "MISSED"


def entropy() -> None:
    """G7: conditional entropy of all features."""
    for m, d, q in ((9120, 1738, 19), (22_991, 163, 219)):
        X, S, F = data(m, d, q)
        at = columns(X)
        Relevance(columns(X[:500]), F[:500], S[:500], var_floor=0.6, use_compiled=True)
        ours, found = cpu(
            lambda: Relevance(at, F, S, var_floor=0.6, use_compiled=True),  # noqa: B023
            7,
        )
        some = np.arange(0, d, max(1, d // 40))
        plain, expected = cpu(lambda: textbook_entropy(X, F, S, some))  # noqa: B023
        plain *= d / len(some)
        error = np.abs(found.values[some] + expected).max()
        assert np.isfinite(expected).all()
        assert (expected > 0.1).all()
        assert error < 1e-6
        exact = Relevance(at, F, S, var_floor=0.6, use_compiled=False)
        n = -(-15 * d // 100)
        order = [
            greedy_path(
                r, Redundancy(at), F, n, criterion=difference, keep=NOBODY,
                exclude=NOBODY,
            ).order
            for r in (found, exact)
        ]  # fmt: skip
        buffer = -np.random.default_rng(0).random(1 << 16).astype(np.float32)
        out = np.empty_like(buffer)
        bare, _ = cpu(lambda: [np.exp(buffer, out=out) for _ in range(500)], 7)  # noqa: B023
        bare *= m * d * q / (500 * buffer.size)
        print(
            f"G7 H(c|f) {m} x {d}, q {q}: {ours:.3f} s; NumPy log-sum-exp "
            f"{plain / ours:.1f}x (target 12: {verdict(plain >= 12 * ours)}); "
            f"{ours / bare:.2f}x of bare float32 np.exp (target 1.5: "
            f"{verdict(ours <= 1.5 * bare)}); error {error:.1e}; selection as in "
            f"float64: {bool((order[0] == order[1]).all())}",
            flush=True,
        )


def bincount_row(codes: Any, f: int) -> Any:
    """Mutual information of one feature with all others, a table at a time."""
    m = codes.shape[1]
    result = np.empty(len(codes))
    for g, code in enumerate(codes):
        p = np.bincount(codes[f] * 5 + code, minlength=25).reshape(5, 5) / m
        outer = np.outer(p.sum(axis=1), p.sum(axis=0))
        seen = p > 0
        result[g] = (p[seen] * np.log(p[seen] / outer[seen])).sum()
    return result


def redundancy() -> None:
    """G8: mutual information and greedy path, first and second outer iteration."""
    for m, d, n in ((1500, 1326, 199), (9120, 1738, 261)):
        X, S, F = data(m, d, 19)
        at = columns(X)
        relevance = Relevance(at, F, S, var_floor=0.6, use_compiled=True)
        relevance.values = relevance.exact(np.arange(d))  # the path alone is timed
        relevance.error = 0.0

        def path(table: Redundancy, n: int = n) -> Any:
            return greedy_path(
                relevance,  # noqa: B023
                table,
                F,  # noqa: B023
                n,
                criterion=difference,
                keep=NOBODY,
                exclude=NOBODY,
            )

        path(Redundancy(at), 3)
        first, (table, result) = cpu(lambda: _first(path, at), 5)  # noqa: B023
        second, again = cpu(lambda: path(table), 5)  # noqa: B023
        codes = at.codes(slice(0, d)).astype(np.int64)
        some = result.order[:2]
        plain, rows = cpu(lambda: [bincount_row(codes, f) for f in some])  # noqa: B023
        plain *= n / len(some)
        error = max(
            np.abs(table.row(f) - row).max() for f, row in zip(some, rows, strict=True)
        )
        assert error < 1e-10
        assert rows[0].max() > 0.1
        assert (again.order == result.order).all()
        print(
            f"G8 redundancy and path {m} x {d}, {n} selected: {first:.3f} s; "
            f"NumPy bincount {plain / first:.0f}x (target 90: "
            f"{verdict(plain >= 90 * first)}); second iteration "
            f"{second / first:.3f}x of the first (target 0.1: "
            f"{verdict(second <= 0.1 * first)}); error {error:.1e}",
            flush=True,
        )


def _first(path: Callable[..., Any], at: Any) -> tuple[Redundancy, Any]:
    table = Redundancy(at)
    return table, path(table)


def exponent(sizes: list[int], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def growth() -> None:
    """How the entropy grows; linear in everything is what is wanted."""
    base = {"m": 8000, "d": 400, "q": 40}
    for name in base:
        sizes, times = [], []
        for factor in (1, 2, 4):
            size = {**base, name: base[name] * factor}
            X, S, F = data(**size)
            at = columns(X)
            run = lambda: Relevance(at, F, S, var_floor=0.6, use_compiled=True)  # noqa: B023, E731
            run()
            sizes.append(size[name])
            times.append(cpu(run, 5)[0])
        print(f"H(c|f) grows with {name} to the power {exponent(sizes, times):.2f}")
    sizes, times = [2000, 4000, 8000, 16_000], []
    for m in sizes:
        X, S, F = data(m, 300, 10)
        at = columns(X)
        relevance = Relevance(at, F, S, var_floor=0.6)
        run = lambda: greedy_path(  # noqa: E731
            relevance, Redundancy(at), F, 45, criterion=difference, keep=NOBODY,  # noqa: B023
            exclude=NOBODY,
        )  # fmt: skip
        run()
        times.append(cpu(run, 5)[0])
    print(f"redundancy and path grow with m to the power {exponent(sizes, times):.2f}")


def fits() -> None:
    """Whole fits, and what numba is worth in them."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    from partlearn.feature_selection import _redundancy, _relevance

    for m, d, q in ((1122, 108, 16), (3142, 1079, 19), (5000, 300, 50)):
        X, S, _ = data(m, d, q)
        for cls in (SAUTE, MaxRelevance):
            cls(max_iter=2).fit(X[:200], S[:200])
            fast, a = cpu(lambda: cls(max_iter=5).fit(X, S))  # noqa: B023
            kernels = _relevance.compiled, _redundancy.compiled
            _relevance.compiled = _redundancy.compiled = lambda: None
            slow, b = cpu(lambda: cls(max_iter=5).fit(X, S))  # noqa: B023
            _relevance.compiled, _redundancy.compiled = kernels
            assert (a.selected_ == b.selected_).all()
            print(
                f"{cls.__name__} {m} x {d}, q {q}, {a.n_iter_} rounds: {fast:.2f} s, "
                f"NumPy kernels {slow / fast:.1f}x, same selection",
                flush=True,
            )


def memory(case: str | None) -> None:
    """Peak memory of a fit of two rounds, in a process of its own."""
    if case is None:
        for name in MEMORY:
            command = [sys.executable, "-m", "benchmarks.feature_selection", "memory"]
            subprocess.run([*command, "--case", name], check=True)
        return
    m, d, q, density = MEMORY[case]
    X, S, _ = data(m, d, q, density)
    size = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    n = 25 if density is None else 50
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        seconds, selector = cpu(lambda: SAUTE(n, max_iter=2).fit(X, S))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    facts = {
        "case": case,
        "n_features_to_select": n,
        "rounds": selector.n_iter_,
        "data MB": round(size / 2**20),
        "peak before fit MB": round(before),
        "peak MB": round(peak),
        "m x d x q float64 would be MB": round(m * d * q / 2**17),
        "CPU s": round(seconds, 1),
    }
    print(json.dumps(facts), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "what",
        nargs="*",
        default=["entropy", "redundancy", "growth", "fits"],
        help="entropy redundancy growth fits memory",
    )
    parser.add_argument("--case", choices=list(MEMORY))
    options = parser.parse_args()
    with threadpool_limits(1):
        for what in options.what:
            if what == "memory":
                memory(options.case)
            else:
                globals()[what]()


if __name__ == "__main__":
    main()
