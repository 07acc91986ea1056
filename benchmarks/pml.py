"""Sweeps of the partial multi-label selectors beside their formulas as written."""

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import OPTICS

from benchmarks.runner import Run, case
from partlearn.multilabel.feature_selection._base import EPS
from partlearn.multilabel.feature_selection._fsla_factors import (
    FSLAFactors,
    Support,
    Weights,
    derived_sweep,
)
from partlearn.multilabel.feature_selection._pml_fsla import optics_clusters

WEIGHTS = Weights(1.0, 1.0, 1.0, 1.0)


def left_to_right(X, C, f, T):
    """One sweep and its value, every product taken in the order it is written."""
    Q, L, P, R = f
    a, b, g, mu = WEIGHTS
    L = L * (X @ Q + b * P) / (L @ Q.T @ Q + b * L + EPS)
    D = np.diag(1 / (2 * np.sqrt(np.sum((Q @ R) ** 2, axis=1) + EPS)))
    Q = Q * (X.T @ L) / (Q @ L.T @ L + g * D @ Q @ R @ R.T + EPS)
    P = P * (a * T @ R.T + b * L) / (a * P @ R @ R.T + b * P + EPS)
    D = np.diag(1 / (2 * np.sqrt(np.sum((Q @ R) ** 2, axis=1) + EPS)))
    R = R * (a * P.T @ T) / (a * P.T @ P @ R + g * Q.T @ D @ Q @ R + EPS)
    T = (P @ R + mu * C) / (1 + mu) * C
    value = np.sum(np.asarray(X - L @ Q.T) ** 2) + a * np.sum((T - P @ R) ** 2)
    value += b * np.sum((L - P) ** 2) + a * mu * np.sum((T - C) ** 2)
    value += g * np.sqrt(np.sum((Q @ R) ** 2, axis=1)).sum()
    return (Q, L, P, R), T, value


@case("pml-fsla")
def fsla(run: Run) -> None:
    """A sweep of PML-FSLA and its value, beside the formulas left to right (G15)."""
    n, d, l, k = run.pick((5000, 499, 374, 50), (200, 40, 30, 5))  # noqa: E741
    rng = np.random.default_rng(0)
    C = np.zeros((n, l), dtype=bool)
    np.put_along_axis(C, rng.integers(l, size=(n, 6)), True, axis=1)  # 1.6 %
    start = [rng.uniform(size=s) for s in [(d, k), (n, k), (n, k), (k, l)]]
    candidates = C.astype(float)
    for share, target in ((0.02, 10), (1.0, 3)):
        X = rng.uniform(size=(n, d)) * (rng.uniform(size=(n, d)) < share)
        M = sp.csr_array(X) if share < 1 else X
        support, xx = Support(C), float(np.sum(X**2))
        f = FSLAFactors(*start, support.ones)

        def ours(M=M, support=support, f=f, xx=xx):
            return derived_sweep(M, support, f, WEIGHTS, "anchor", xx)

        def textbook(X=X):
            return left_to_right(X, candidates, start, candidates)

        (new, value), (old, _, expected) = ours(), textbook()
        name = f"{n} x {d}, {l} labels, k {k}, X {share:.0%}"
        for letter, ours_, theirs in zip("QLPR", new, old, strict=False):
            run.agree(f"{name}: {letter}", ours_, theirs, tolerance=1e-11)
        run.agree(
            f"{name}: value", np.array([value]), np.array([expected]), tolerance=1e-9
        )
        sides = {"ours": ours, "left to right": textbook}
        if share < 1:
            sides["left to right, sparse X"] = lambda M=M: left_to_right(
                M, candidates, start, candidates
            )
        times = run.time(name, sides)
        ratio = times["left to right"] / times["ours"]
        run.ratio(f"{name}: left to right / ours", ratio, at_least=target)
        if share < 1:
            run.ratio(
                f"{name}: left to right, sparse X / ours",
                times["left to right, sparse X"] / times["ours"],
            )


@case("pml-optics")
def optics(run: Run) -> None:
    """The latent size of PML-FSLA beside the OPTICS of scikit-learn."""
    n, d = run.pick((2000, 50), (100, 5))
    X = np.random.default_rng(0).uniform(size=(n, d))

    def reference():
        model = OPTICS(min_samples=5, xi=0.05, min_cluster_size=0.01).fit(X)
        return len(set(model.labels_) - {-1})

    def ours():
        return optics_clusters(X, np.random.RandomState(0))

    run.agree(f"{n} x {d}: clusters", [ours()], [reference()])
    times = run.time(f"{n} x {d}", {"ours": ours, "scikit-learn": reference}, repeats=2)
    ratio = times["scikit-learn"] / times["ours"]
    run.ratio(f"{n} x {d}: scikit-learn / ours", ratio, at_least=5)
