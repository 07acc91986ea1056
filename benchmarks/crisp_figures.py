"""Figures that CRISP must reach on Lost, isolet and usps, everything fitted honestly.

Scaling, reducer and learner see the training rows only; the five folds are strided
parts of ``RandomState(0).permutation``. Run as ``python -m benchmarks.crisp figures``.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from partlearn._math.linalg import z_scores
from partlearn.candidates import make_candidates
from partlearn.classification import IPAL, PLKNN, PLSVM, PLSVMCV, SURE
from partlearn.decomposition import CENDA, CRISP, PLDA

N_FOLDS = 5
ROWS = 700
# Learner, whether it gets the confidences of CRISP, and the accuracy to reach.
LEARNERS: dict[str, tuple[Callable[[], Any], bool, float | None]] = {
    "PL-KNN": (PLKNN, False, 0.768),
    "PL-KNN with confidences": (PLKNN, True, 0.817),
    "SURE": (SURE, False, 0.823),
    "IPAL": (IPAL, False, 0.816),
    "PL-SVM, lam=0.1": (
        lambda: PLSVM(0.1, standardize=False, random_state=0),
        False,
        0.823,
    ),
    "PL-SVM, lam=1 (default)": (
        lambda: PLSVM(standardize=False, random_state=0),
        False,
        None,
    ),
    "PL-SVM, lam by hit rate": (
        lambda: PLSVMCV(standardize=False, random_state=0),
        False,
        None,
    ),
}


@dataclass(frozen=True)
class Data:
    """Features, candidates, true labels."""

    X: np.ndarray
    S: np.ndarray
    truth: np.ndarray


def load(folder: Path, name: str, r: int = 0, rows: int | None = None) -> Data:
    """A data set with its own candidates, or with r false ones on some rows."""
    with np.load(next(folder.rglob(f"{name}.npz"))) as file:
        X, truth = file["X"].astype(float), file["y"].astype(int)
        if not r:
            return Data(X, file["S"].astype(bool), truth)
    part = np.random.RandomState(0).permutation(len(truth))[:rows]
    X, truth = X[part], np.unique(truth[part], return_inverse=True)[1]
    return Data(X, make_candidates(truth, n_false=r, random_state=0), truth)


def folds(m: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    order = np.random.RandomState(0).permutation(m)
    for b in range(N_FOLDS):
        test = np.sort(order[b::N_FOLDS])
        yield np.setdiff1d(order, test), test


def fitted(estimator: Any, X: Any, S: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        # A fixed number of rounds is the method; that they still move is no news.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, S, **options)


def whole_disambiguation(data: Data) -> float:
    """Share of true labels among the most confident, fitted on all rows."""
    F = fitted(CRISP(), data.X, data.S).label_confidence_
    return float((F.argmax(axis=1) == data.truth).mean())


def honest(
    data: Data,
    reducer: Callable[[], Any],
    learners: list[str],
    n_folds: int = N_FOLDS,
) -> dict[str, float]:
    """Mean accuracy over the folds, and the disambiguation of training rows."""
    found: dict[str, list[float]] = {}
    for train, test in islice(folds(len(data.truth)), n_folds):
        X = z_scores(data.X, train)
        S = data.S[train]
        reduced = fitted(reducer(), X[train], S)
        Z = reduced.transform(X)
        F = reduced.label_confidence_
        right = (F.argmax(axis=1) == data.truth[train]).mean()
        found.setdefault("disambiguation", []).append(right)
        for name in learners:
            build, passed, _ = LEARNERS[name]
            options = {"confidence": F} if passed else {}
            learner = fitted(build(), Z[train], S, **options)
            score = (learner.predict(Z[test]) == data.truth[test]).mean()
            found.setdefault(name, []).append(score)
    return {name: float(np.mean(scores)) for name, scores in found.items()}


def report(folder: Path) -> bool:
    """Print every figure beside what it must reach; False if one does not."""
    rows: list[tuple[str, float, float | None, float | None]] = []
    with threadpool_limits(1):
        lost = load(folder, "lost")
        right = whole_disambiguation(lost)
        rows.append(("Lost, whole, labels right", right, 0.90, None))
        for name, score in honest(lost, CRISP, list(LEARNERS)).items():
            goal = LEARNERS[name][2] if name in LEARNERS else None
            low, high = (None, None) if goal is None else (goal - 0.02, goal + 0.02)
            rows.append((f"Lost, {name}", score, low, high))
        isolet = load(folder, "isolet", 3, ROWS)
        for method, low, high in (
            (CRISP, 0.90, None),
            (CENDA, None, 0.25),
            (lambda: PLDA(max_iter=30), None, 0.25),
        ):
            name = type(method()).__name__
            score = honest(isolet, method, ["PL-KNN"])["PL-KNN"]
            rows.append((f"isolet r=3, PL-KNN behind {name}", score, low, high))
        usps = load(folder, "usps", 2, ROWS)
        score = honest(usps, CRISP, ["PL-KNN"])["PL-KNN"]
        rows.append(("usps r=2, PL-KNN behind CRISP", score, 0.86, None))
    met = True
    print(f"{'figure':34s}  found  must be")
    for name, score, low, high in rows:
        bounds = ((">=", low), ("<=", high))
        limits = [f"{sign} {x:.3f}" for sign, x in bounds if x is not None]
        good = (low is None or score >= low) and (high is None or score <= high)
        met &= good
        print(
            f"{name:34s}  {score:.3f}  {', '.join(limits)}{'' if good else '  MISSED'}"
        )
    return met
