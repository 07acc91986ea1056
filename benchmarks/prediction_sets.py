"""Prediction sets: coverage of the truth and size of the sets over many splits.

    python -m benchmarks.prediction_sets --data FOLDER --out TABLE.csv [--splits 30]

Twelve sets of features with candidate labels (at most 1,100 rows; false candidates are
drawn where a set has none of its own) and two with the votes of a crowd. Each split
fits CRISPClassifier on three quarters of the rows, of which a quarter calibrates, and
counts on the last quarter. The true labels of the last quarter are only used to count.
Also the threshold for an accuracy of .95: the share of rows that get a label, and their
accuracy. A line of the table is one data set and calibrator; a data set that the table
has already is not computed again. The exit code is 1 if "all" covers the truth in less
than .9 by more than two standard errors where the candidates hold the truth.
"""

import argparse
import csv
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.candidate_classifier import CELLS, cell
from partlearn.candidates import from_votes
from partlearn.classification import CRISPClassifier, PredictionSets
from partlearn.classification._calibration import probability_sets

COVERAGE, ACCURACY = 0.9, 0.95
CROWDS = ("labelme", "music_genre")
HEAD = ("data", "calibrator", "splits", "coverage", "error", "size", "classes")


def crowd(folder: Path, name: str) -> tuple[Any, Any, Any]:
    """Features, votes and truth."""
    with np.load(next(folder.rglob(f"{name}.npz"))) as file:
        X, y, votes = file["X"].astype(float), file["y"].astype(int), file["votes"]
    classes = np.arange(max(y.max(), votes[:, 2].max()) + 1)
    return X, from_votes(*votes.T, n_rows=len(y), classes=classes), y


def measure(X: Any, labels: Any, y: Any, splits: int, votes: bool) -> dict[str, Any]:
    """Coverage and size for each calibrator, and what abstaining gives, by split."""
    names = ["confidence", "all", "any", *(["votes"] if votes else [])]
    values: dict[str, list[Any]] = {name: [] for name in [*names, "abstain"]}
    for seed in range(splits):
        order = np.random.RandomState(seed).permutation(len(y))
        test, train = order[: len(y) // 4], order[len(y) // 4 :]
        model = PredictionSets(CRISPClassifier(random_state=seed), random_state=seed)
        model.fit(X[train], labels[train])
        P, calibration = model.predict_proba(X[test]), model.calibration_
        rows = np.arange(len(test))
        for name in names:
            sets = probability_sets(P, calibration.thresholds(COVERAGE, name))
            hit = sets[rows, y[test]].mean()
            values[name].append((hit, sets.sum(axis=1).mean()))
        answered = P.max(axis=1) >= calibration.abstention(ACCURACY).threshold
        right = P.argmax(axis=1) == y[test]
        accuracy = right[answered].mean() if answered.any() else np.nan
        values["abstain"].append((accuracy, answered.mean()))
    return values


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=30)
    options = parser.parse_args()
    lines = []
    if options.out.exists():
        with options.out.open(encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
    finished = {line["data"] for line in lines}
    jobs: list[tuple[str, int | None]] = [*CELLS, *((name, None) for name in CROWDS)]
    for name, r in jobs:
        if name in finished:
            continue
        X, labels, y = (
            crowd(options.data, name) if r is None else cell(options.data, name, r)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = measure(X, labels, y, options.splits, r is None)
        for calibrator, pairs in values.items():
            hits, size = np.asarray(pairs).T
            known = hits[~np.isnan(hits)]
            mean = known.mean() if known.size else np.nan
            error = known.std() / max(len(known), 1) ** 0.5
            row = (
                name, calibrator, options.splits, f"{mean:.3f}", f"{error:.3f}",
                f"{size.mean():.2f}", labels.shape[1],
            )  # fmt: skip
            lines.append(dict(zip(HEAD, map(str, row), strict=True)))
            print(*row, flush=True)
        with options.out.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, HEAD)
            writer.writeheader()
            writer.writerows(lines)
    low = [
        line
        for line in lines
        if line["calibrator"] == "all"
        and line["data"] not in CROWDS
        and float(line["coverage"]) < COVERAGE - 2 * float(line["error"])
    ]
    for line in low:
        print(f"{line['data']}: covers {line['coverage']} only")
    return int(bool(low))


if __name__ == "__main__":
    sys.exit(main())
