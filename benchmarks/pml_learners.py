"""Hot paths of the partial multi-label classifiers beside their textbook forms."""

import time
import warnings
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn.svm import LinearSVC

from benchmarks.runner import Run, case
from partlearn._math.crossfit import _geometries, _ridge_pool
from partlearn._math.graphs import rebuilding_graph
from partlearn._math.linalg import squared_hinge, standardize
from partlearn._math.neighbors import self_neighbors
from partlearn.multilabel import PMLFP, PMLLC, LinearSVM
from partlearn.multilabel.classification import (
    CRISPMultiLabelClassifier,
    _confidence_ranker,
)
from partlearn.multilabel.classification._confidence_ranker import (
    pair_weights,
    ranking_costs,
)
from partlearn.multilabel.classification._fpml import (
    FPMLFactors,
    fpml_sweep,
    ridge_solver,
)
from partlearn.multilabel.classification._particle import propagate
from partlearn.multilabel.classification._svm_path import squared_hinge_path


def _candidates(rng, n, l, size):  # noqa: E741
    C = np.zeros((n, l), dtype=bool)
    np.put_along_axis(C, rng.integers(l, size=(n, size)), True, axis=1)
    return C


@case("pml-fpml")
def fpml(run: Run) -> None:
    """A sweep of FPML and its value, beside the formulas left to right."""
    n, d, l, k = run.pick((5000, 499, 374, 50), (200, 40, 30, 5))  # noqa: E741
    rng = np.random.default_rng(0)
    C = _candidates(rng, n, l, 6)
    start = FPMLFactors(rng.uniform(size=(n, k)), rng.uniform(size=(l, k)))
    l1, l2, l3 = weights = (1 / d, 1.0, 10.0)
    X = rng.uniform(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.02)
    Z, _, _ = standardize(sp.csr_array(X))
    T, prior, _ = standardize(sp.csr_array(C.astype(float)), scale=False)
    D = standardize(X)[0].dense
    Y = C - prior
    norms = float(np.sum(D**2)), float(np.sum(Y**2))
    solve = ridge_solver(Z, l3 / l2)
    inverse = np.linalg.inv(D.T @ D + l3 / l2 * np.eye(d))

    def ours():
        return fpml_sweep(Z, T, start, weights, solve, norms)

    def left_to_right():
        G, S = start
        W = inverse @ D.T @ G @ S.T
        S = (Y + l2 * D @ W).T @ G @ np.linalg.inv(G.T @ G) / (1 + l2)
        F = D.T @ G @ np.linalg.inv(G.T @ G)
        M = (1 + l2) * S.T @ S + l1 * F.T @ F
        G = (Y @ S + l1 * D @ F + l2 * D @ W @ S) @ np.linalg.inv(M)
        value = np.sum((Y - G @ S.T) ** 2) + l1 * np.sum((D - G @ F.T) ** 2)
        value += l2 * np.sum((D @ W - G @ S.T) ** 2) + l3 * np.sum(W**2)
        return G @ S.T, value

    (factors, value), (labels, expected) = ours(), left_to_right()
    name = f"{n} x {d}, {l} labels, k {k}, X 2%"
    run.agree(f"{name}: G S'", factors.G @ factors.S.T, labels, tolerance=1e-6)
    run.agree(f"{name}: value", np.array([value]), np.array([expected]), tolerance=1e-8)
    times = run.time(name, {"ours": ours, "left to right": left_to_right})
    ratio = times["left to right"] / times["ours"]
    run.ratio(f"{name}: left to right / ours", ratio, at_least=3)


@case("pml-particle")
def particle(run: Run) -> None:
    """Stage one of PARTICLE beside a loop over rows and a dense graph."""
    n, d, l, k = run.pick((4000, 100, 30, 10), (100, 15, 6, 5))  # noqa: E741
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, d))
    C = _candidates(rng, n, l, 5)
    neighbors = self_neighbors(X, k)

    def ours():
        return propagate(rebuilding_graph(X, neighbors), C, 0.95)[0]

    def loop():
        T = np.zeros((n, n))
        for i, near in enumerate(neighbors):
            w, _ = nnls(X[near].T, X[i])
            T[i, near] = w / (w.sum() or 1)
        P = C.astype(float)
        while True:
            old = P
            P = (0.95 * T @ P + 0.05 * C) * C
            P /= P.sum(axis=1, keepdims=True)
            if np.linalg.norm(P - old) < 1e-5:
                return P

    name = f"{n} x {d}, {l} labels, k {k}"
    run.agree(name, ours(), loop(), tolerance=1e-8)
    times = run.time(name, {"ours": ours, "loop": loop})
    run.ratio(f"{name}: loop / ours", times["loop"] / times["ours"], at_least=3)
    run.memory(f"{name}: ours", ours, beside=8.0 * n * n)


@case("pml-svm")
def svm(run: Run) -> None:
    """The pairwise machines of PARTICLE beside liblinear at equal precision."""
    rng = np.random.default_rng(0)
    shapes = run.pick([(600, 72), (1500, 103), (150, 500)], [(60, 8), (15, 30)])
    for n, d in shapes:
        X = rng.normal(size=(n, d))
        y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=n) > 0.5, 1.0, -1.0)

        def ours(X=X, y=y):
            return squared_hinge(X, y)[0]

        def liblinear(X=X, y=y):
            # A large constant column makes its penalised intercept nearly free.
            machine = LinearSVC(
                dual=False, tol=1e-10, intercept_scaling=1e3, max_iter=10_000
            )
            return machine.fit(X, y).coef_[0]

        name = f"{n} x {d}"
        run.agree(name, ours(), liblinear(), tolerance=1e-4)
        times = run.time(name, {"ours": ours, "liblinear": liblinear})
        run.ratio(f"{name}: liblinear / ours", times["liblinear"] / times["ours"])


@case("pml-ranking")
def ranking(run: Run) -> None:
    """Loss and gradient of PML-LC and PML-FP beside all pairs of labels at once."""
    rng = np.random.default_rng(0)
    shapes = run.pick(
        [(1600, 14, 7, 2), (1000, 100, 6, 5), (500, 174, 28, 5)],
        [(50, 8, 3, None), (50, 20, 12, None)],
    )
    for n, l, size, target in shapes:  # noqa: E741
        F, C = rng.normal(size=(n, l)), _candidates(rng, n, l, size)
        P = C * rng.uniform(size=(n, l))
        weights = pair_weights(P, C)

        def ours(F=F, C=C, weights=weights):
            return ranking_costs(F, weights, C)

        def all_pairs(F=F, C=C, weights=weights):
            slack = np.maximum(1 - F[:, :, None] + F[:, None, :], 0)
            slack *= C[:, :, None]
            costs = np.einsum("ijm,im->ij", slack**2, weights.down)
            pull = 2 * slack * weights.up[:, :, None] * weights.down[:, None, :]
            return costs, pull.sum(axis=1) - pull.sum(axis=2)

        name = f"{n} rows, {l} labels, {size} candidates"
        for what, a, b in zip(("loss", "gradient"), ours(), all_pairs(), strict=True):
            run.agree(f"{name}: {what}", a, b, tolerance=1e-11)
        times = run.time(name, {"ours": ours, "all pairs": all_pairs})
        ratio = times["all pairs"] / times["ours"]
        run.ratio(f"{name}: all pairs / ours", ratio, at_least=target)


def _planted(rng, n, d, l):  # noqa: E741
    """Rows in few directions with noise, labels that depend on them, false ones."""
    Z = rng.normal(size=(n, 20))
    X = Z @ rng.normal(size=(20, d)) + rng.normal(size=(n, d))
    S = Z @ rng.normal(size=(20, l))
    Y = (np.quantile(S, 0.9, axis=0) < S) | (rng.uniform(size=S.shape) < 0.06)
    Y[np.arange(n), rng.integers(l, size=n)] = True
    return X / np.abs(X).max(axis=0), Y


@case("pml-linear-svm")
def linear_svm(run: Run) -> None:
    """Machines of all labels and three C at once beside liblinear, label by label."""
    rng = np.random.default_rng(0)
    shapes = run.pick([(978, 440, 12), (978, 1449, 45)], [(60, 70, 3)])
    for n, d, l in shapes:  # noqa: E741
        X, Y = _planted(rng, n, d, l)

        def ours(X=X, Y=Y):
            return np.stack([W for W, _ in squared_hinge_path(X, Y, (0.1, 1.0, 10.0))])

        def liblinear(X=X, Y=Y, tol=1e-4):
            machines = [
                [LinearSVC(C=C, dual=False, tol=tol).fit(X, y).coef_[0] for y in Y.T]
                for C in (0.1, 1.0, 10.0)
            ]
            return np.stack(machines).transpose(0, 2, 1)

        name = f"{n} x {d}, {l} labels"
        precise = liblinear(X, Y[:, :2], tol=1e-8)
        run.agree(name, ours()[:, :, :2], precise, tolerance=1e-5)
        times = run.time(name, {"ours": ours, "liblinear": liblinear})
        run.ratio(f"{name}: liblinear / ours", times["liblinear"] / times["ours"])

        def fit(X=X, Y=Y):
            return LinearSVM().fit(X, Y)

        whole = run.time(f"{name}: LinearSVM", {"fit": fit})
        run.ratio(f"{name}: LinearSVM / path", whole["fit"] / times["ours"])


@case("pml-rankers")
def rankers(run: Run) -> None:
    """PML-LC and PML-FP in the basis of their rows beside rows as they are."""
    n, d, l = run.pick((1200, 2000, 50), (60, 80, 5))  # noqa: E741
    X, Y = _planted(np.random.default_rng(0), n, d, l)
    direct = _confidence_ranker._DIRECT
    for cls in (PMLLC, PMLFP):

        def fit(limit=direct, cls=cls):
            _confidence_ranker._DIRECT = limit
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return cls(random_state=0).fit(X, Y)
            finally:
                _confidence_ranker._DIRECT = direct

        name = f"{cls.__name__}, {n} x {d}, {l} labels"
        # Both stop by the change of the objective, so that they agree by it only.
        values = (np.array([fit(limit).objective_[-1]]) for limit in (direct, 0))
        run.agree(f"{name}: objective", *values, tolerance=1e-3)
        times = run.time(name, {"ours": fit, "rows as they are": lambda: fit(0)})
        run.ratio(
            f"{name}: as they are / ours", times["rows as they are"] / times["ours"]
        )


@case("tags-fit")
def tags_fit(run: Run) -> None:
    """CRISPMultiLabelClassifier beside its own decompositions and kernels."""
    m, d, q = run.pick((4000, 2000, 200), (300, 20, 8))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, d))
    S = X[:, :q] + 0.5 * rng.normal(size=(m, q)) > 1.5
    spent = 0.0

    def timed(function):
        def call(*args, **options):
            nonlocal spent
            began = time.process_time()
            result = function(*args, **options)
            spent += time.process_time() - began
            return result

        return call

    parts = {
        _ridge_pool: ("input_space",),
        _geometries: ("exact_kernel_basis", "nystroem_basis", "median_distance"),
    }
    with ExitStack() as stack:
        for module, names in parts.items():
            for name in names:
                twin = timed(getattr(module, name))
                stack.enter_context(patch.object(module, name, twin))
        began = time.process_time()
        CRISPMultiLabelClassifier(random_state=0).fit(X, S)
        total = time.process_time() - began
    name = f"{m} x {d}, {q} tags"
    run.show(f"  {name}: {total:.3g} s, decompositions and kernels {spent:.3g} s")
    run.ratio(f"{name}: fit / decompositions and kernels", total / spent, at_most=1.3)
