"""CandidateClassifier around a forest: what cross-fitting is worth.

    python -m benchmarks.candidate_classifier --data FOLDER [--estimator NAME ...]

Twelve cells, at most 1,100 rows, two folds: the share of training rows whose most
confident candidate is right, and the accuracy on test rows, with the classifier's
opinion of its own training rows (plain EM) and with that of classifiers which did not
see the row. The folder and its sub-folders are searched for the data sets. The exit
code is 1 if the cross-fitted forest is not at least 0.10 above the plain one.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partlearn.classification import CandidateClassifier

MOST_ROWS = 1100
N_FOLDS = 2
GAIN = 0.10
TREES = 50
# Data set and number of false candidates; none where the set has its own candidates.
CELLS = (
    ("lost", 0), ("birdsong", 0), ("glass", 3), ("vehicle", 1), ("vowel", 3),
    ("segment", 2), ("texture", 2), ("usps", 2), ("yeast_uci", 3),
    ("wine-quality-red", 2), ("letter", 3), ("mfeat-fourier", 3),
)  # fmt: skip


def _scaled(estimator: Any) -> Any:
    return make_pipeline(StandardScaler(), estimator)


def forest_regressor(cls: Any) -> Any:
    return cls(TREES, min_samples_leaf=2, random_state=0)


ESTIMATORS = {
    "forest": lambda: RandomForestClassifier(TREES, random_state=0),
    "logistic": lambda: _scaled(LogisticRegression(max_iter=200)),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=50, random_state=0),
    "neighbors": lambda: _scaled(KNeighborsClassifier(10)),
    "forest-regressor": lambda: forest_regressor(RandomForestRegressor),
    "extra-trees-regressor": lambda: forest_regressor(ExtraTreesRegressor),
}


def with_false_labels(y: np.ndarray, r: int, seed: int | None = None) -> np.ndarray:
    """Each row's true label and r others, drawn row by row."""
    rng = np.random.RandomState(100 + r if seed is None else seed)
    q = int(y.max()) + 1
    S = np.eye(q, dtype=bool)[y]
    for i, label in enumerate(y):
        others = [j for j in range(q) if j != label]
        S[i, rng.choice(others, r, replace=False)] = True
    return S


def cell(folder: Path, name: str, r: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, candidates and truth of at most `MOST_ROWS` rows."""
    with np.load(next(folder.rglob(f"{name}.npz"))) as file:
        X, y = file["X"].astype(float), file["y"].astype(int)
        S = None if r else file["S"].astype(bool)
    rows = np.sort(np.random.RandomState(7).permutation(len(y))[:MOST_ROWS])
    if S is not None:
        return X[rows], S[rows], y[rows]
    y = np.unique(y[rows], return_inverse=True)[1]
    return X[rows], with_false_labels(y, r), y


def folds(m: int, n: int = N_FOLDS) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    order = np.random.RandomState(0).permutation(m)
    for f in range(n):
        test = np.sort(order[f::n])
        yield np.setdiff1d(order, test), test


def scores(estimator: Any, cross_fit: Any, X: Any, S: Any, y: Any) -> np.ndarray:
    """Training labels right and test accuracy, means over the folds."""
    found = []
    for train, test in folds(len(y)):
        model = CandidateClassifier(estimator, cross_fit=cross_fit, random_state=0)
        model.fit(X[train], S[train])
        right = model.label_confidence_.argmax(axis=1) == y[train]
        found.append((right.mean(), (model.predict(X[test]) == y[test]).mean()))
    return np.mean(found, axis=0)


def compare(folder: Path, name: str, oob: bool, only: list[str]) -> np.ndarray:
    """Print the cells of one estimator; mean of each column."""
    ways: tuple[Any, ...] = (False, True, "oob") if oob else (False, True)
    heads = "".join(f"  cross_fit={way!s:5s} labels test" for way in ways)
    print(f"{name:22s}{heads}", flush=True)
    table = []
    for data, r in [c for c in CELLS if not only or c[0] in only]:
        X, S, y = cell(folder, data, r)
        row = [scores(ESTIMATORS[name](), way, X, S, y) for way in ways]
        table.append(np.concatenate(row))
        label = f"{data} r={r}" if r else data
        _line(label, table[-1])
    _line("mean", np.mean(table, axis=0))
    return np.mean(table, axis=0)


def _line(label: str, values: np.ndarray) -> None:
    pairs = values.reshape(-1, 2)
    cells = "".join(f"{'':18s}{a:6.3f} {b:.3f}" for a, b in pairs)
    print(f"{label:22s}{cells}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--estimator", nargs="+", choices=list(ESTIMATORS), default=["forest"]
    )
    parser.add_argument("--cells", nargs="*", default=[], help="data sets; all if none")
    parser.add_argument("--oob", action="store_true", help="out-of-bag beliefs as well")
    options = parser.parse_args()
    met = True
    for name in options.estimator:
        means = compare(options.data, name, options.oob, options.cells)
        if name == "forest":
            gain = means[3] - means[1]
            met = gain >= GAIN
            print(f"cross-fitted above in-sample: {gain:.3f} (must be {GAIN:.2f})")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
