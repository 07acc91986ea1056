"""CRISPClassifier beside its own eigenproblems; its growth beside other learners."""

from functools import partial

import numpy as np
import scipy.linalg
from sklearn.ensemble import RandomForestClassifier

from benchmarks.runner import Run, case
from partlearn._math.crossfit._kernels import kernel_matrix
from partlearn._math.neighbors import self_neighbors
from partlearn.candidates import make_candidates
from partlearn.classification import PLAGGD, SURE, CRISPClassifier

GROWTH = (1_000, 3_000, 10_000, 100_000)
MOST_FOR_KERNELS = 10_000  # SURE and PL-AGGD need a kernel of all rows


def problem(m: int, d: int, q: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Classes that overlap, each row with two false candidates."""
    rng = np.random.RandomState(0)
    y = rng.randint(q, size=m)
    X = rng.standard_normal((m, d)) + 0.7 * rng.standard_normal((q, d))[y]
    return X, y, make_candidates(y, n_false=2, random_state=0)


def eigenproblems(X: np.ndarray, widths: dict[str, float]) -> None:
    """Three kernels of all rows, and the eigenvectors of two of them."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    _ = Z @ Z.T
    for name, width in widths.items():
        K = kernel_matrix(name, Z, width)
        K -= K.mean(axis=0)
        K -= K.mean(axis=1)[:, None]
        scipy.linalg.eigh(K.T, driver="evd", overwrite_a=True, check_finite=False)


@case("crisp-classifier", slow=True)
def classifier(run: Run) -> None:
    """Fit of CRISPClassifier beside its two eigenproblems and three kernels (G16)."""
    m = run.pick(4_000, 300)
    X, _, S = problem(m, 40, 13)
    self_neighbors(X[:, :12], 10)  # pays for compilation
    small = CRISPClassifier(max_iter=1).fit(X[:500], S[:500])
    model = CRISPClassifier(n_landmarks=None)
    times = run.time(
        f"m {m}, d 40, q 13",
        {
            "fit": lambda: model.fit(X, S),
            "limit": lambda: eigenproblems(X, small.bandwidth_),
            "landmarks": lambda: CRISPClassifier(n_landmarks=m // 2).fit(X, S),
        },
        repeats=1,
    )
    run.ratio("fit / limit", times["fit"] / times["limit"], at_most=1.3)
    run.ratio("landmarks / fit", times["landmarks"] / times["fit"], at_most=1.0)


@case("crisp-classifier-growth", slow=True)
def growth(run: Run) -> None:
    """Seconds of CRISPClassifier by rows, beside SURE, PL-AGGD and a forest."""
    sizes = run.pick(GROWTH, (200, 400))
    seconds: dict[str, list[float]] = {}
    for m in sizes:
        X, y, S = problem(m, 40, 13)
        self_neighbors(X[:, :12], 10)
        forest = RandomForestClassifier(100, random_state=0)
        works = {
            "CRISPClassifier": partial(CRISPClassifier().fit, X, S),
            "without neighbors": partial(
                CRISPClassifier(use_neighbors=False).fit, X, S
            ),
            "forest, true labels": partial(forest.fit, X, y),
        }
        if m <= MOST_FOR_KERNELS:
            works["SURE"] = partial(SURE().fit, X, S)
            works["PL-AGGD"] = partial(PLAGGD().fit, X, S)
        for name, value in run.time(f"m {m}", works, repeats=1).items():
            seconds.setdefault(name, []).append(value)
    for name, values in seconds.items():
        run.growth(f"rows, {name}", sizes[: len(values)], values)
