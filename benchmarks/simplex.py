"""Simplex projections and small quadratic programs beside loops over rows."""

import numpy as np
from scipy.optimize import nnls

from benchmarks.runner import Run, case
from partlearn._extras import compiled_twin
from partlearn._math.neighbors import self_neighbors
from partlearn._math.simplex import (
    _nnls,
    _projection,
    reconstruction_weights,
    reconstruction_weights_from_gram,
)

EVERYTHING = np.empty((0, 0), dtype=bool)


def project_one(row: np.ndarray) -> np.ndarray:
    """Textbook projection of one row."""
    u = np.sort(row)[::-1]
    sums = np.cumsum(u)
    counts = np.arange(1, len(u) + 1)
    rho = np.flatnonzero(u - (sums - 1) / counts > 0)[-1]
    return np.maximum(row - (sums[rho] - 1) / counts[rho], 0)


@case("simplex-projection")
def projection(run: Run) -> None:
    """Masked projection of rows, beside a loop over rows and one sort."""
    compiled = compiled_twin(_projection.project_rows)
    shapes = run.pick([(20_000, 4, 4), (5000, 50, 50), (5000, 200, 20)], [(50, 6, 3)])
    for m, q, c in shapes:
        rng = np.random.default_rng(0)
        Q = rng.standard_normal((m, q))
        S = rng.random((m, q)).argsort(axis=1) < c
        mask = EVERYTHING if c == q else S
        few = slice(0, max(20, m // 20))  # the loop is timed on a part

        def loop(Q=Q, S=S, few=few) -> np.ndarray:
            out = np.zeros_like(Q[few])
            for i, (row, allowed) in enumerate(zip(Q[few], S[few], strict=True)):
                out[i, allowed] = project_one(row[allowed])
            return out

        def ours(Q=Q, S=mask):
            return compiled(Q, S)

        def plain(Q=Q, S=mask):
            return _projection.project_rows(Q, S)

        shape = f"{m} x {q}, {c} candidates"
        run.agree(shape, ours()[few], loop(), tolerance=1e-12)
        run.agree(f"{shape}, NumPy", ours(), plain())
        times = run.time(
            shape,
            {
                "ours": ours,
                "ours, NumPy": plain,
                "loop": loop,
                "sort": lambda Q=Q: np.sort(Q, axis=1),
            },
        )
        scaled = times["loop"] * m / len(Q[few])
        run.ratio(f"{shape}: loop / ours", scaled / times["ours"])
        run.ratio(f"{shape}: loop / ours, NumPy", scaled / times["ours, NumPy"])
        run.ratio(f"{shape}: ours / sort", times["ours"] / times["sort"])


def trick(E: np.ndarray) -> np.ndarray:
    """Textbook: one call of a general solver per row."""
    k = E.shape[1]
    out = np.empty(E.shape[:2])
    for i, e in enumerate(E):
        g = np.sqrt((e**2).sum(axis=1).mean())
        w, _ = nnls(np.vstack([e.T, np.full(k, g)]), np.r_[np.zeros(e.shape[1]), g])
        out[i] = w / w.sum()
    return out


@case("simplex-qp")
def programs(run: Run) -> None:
    """Many simplex programs of size 10, k <= d and k > d (G11)."""
    m, few, k = run.pick((10_000, 500, 10), (30, 10, 4))
    compiled = compiled_twin(_nnls.solve_all)
    for d in run.pick((50, 20, 5), (6, 2)):
        Z = np.random.default_rng(0).standard_normal((m, d))
        E = Z[:, None, :] - Z[self_neighbors(Z, k)]
        G = E @ E.transpose(0, 2, 1)
        A = G / np.einsum("ijj->ij", G).min(axis=1)[:, None, None] + 1
        b = np.ones((m, k))
        regular = A + 1e-3 * np.eye(k)
        s, expected = reconstruction_weights(E), trick(E[:few])
        shape = f"k {k}, d {d}"

        def value(s, E=E):
            return np.einsum("iap,ia->ip", E[: len(s)], s)

        # The weights are not unique for k > d, but the point they build is.
        run.agree(
            f"{shape} points", 1 + value(s[:few]), 1 + value(expected), tolerance=1e-7
        )
        times = run.time(
            shape,
            {
                "ours": lambda A=A, b=b: compiled(A, b),
                "ours, NumPy": lambda A=A, b=b: _nnls.solve_all(A, b),
                "ours with gram": lambda E=E: reconstruction_weights(E),
                "ours from gram": lambda G=G: reconstruction_weights_from_gram(G),
                "gram": lambda E=E: E @ E.transpose(0, 2, 1),
                "solve": lambda R=regular, b=b: np.linalg.solve(R, b[:, :, None]),
                "loop": lambda E=E[:few]: trick(E),
            },
            repeats=4,
        )
        scaled = times["loop"] * m / few
        run.ratio(f"{shape}: loop / ours", scaled / times["ours with gram"], at_least=4)
        plain = times["ours, NumPy"] + times["gram"]
        run.ratio(f"{shape}: loop / ours, NumPy", scaled / plain)
        run.ratio(f"{shape}: ours / solve", times["ours"] / times["solve"], at_most=4)
        run.ratio(
            f"{shape}: ours from gram / solve",
            times["ours from gram"] / times["solve"],
            at_most=4,
        )
        run.ratio(f"{shape}: NumPy / solve", times["ours, NumPy"] / times["solve"])
