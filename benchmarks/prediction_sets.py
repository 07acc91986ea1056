"""Prediction sets: coverage of the truth and size of the sets over many splits.

    python -m benchmarks.prediction_sets --data FOLDER --out TABLE.csv [--splits 30]

Twelve sets of features with candidate labels (at most 1,100 rows; false candidates are
drawn where a set has none of its own) and two with the votes of a crowd. Each split
counts on a quarter of the rows. A quarter of the others calibrates, and the rest trains
CRISPClassifier, as PredictionSets does. The calibrator "gold" knows the true labels of
50 calibrating rows; otherwise true labels are only used to count.
Also the threshold for an accuracy of .95: the share of rows that get a label, and their
accuracy. A line of the table is one data set and calibrator; a data set that the table
has already is not computed again. The exit code is 1 if "gold", or "all" where the
candidates hold the truth, covers the truth in less than .9 by more than two standard
errors.
"""

import argparse
import csv
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.candidate_classifier import CELLS, cell
from partlearn.candidates import check_evidence, from_votes
from partlearn.classification import CRISPClassifier
from partlearn.classification._calibration import Calibration, probability_sets

COVERAGE, ACCURACY = 0.9, 0.95
KNOWN = 50  # true labels that calibrate by "gold"
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
    names = ["confidence", "gold", "all", "any", *(["votes"] if votes else [])]
    values: dict[str, list[Any]] = {name: [] for name in [*names, "abstain"]}
    evidence: Any = labels if votes else check_evidence(labels)
    for seed in range(splits):
        order = np.random.RandomState(seed).permutation(len(y))
        test, held, train = np.split(order, [len(y) // 4, 7 * len(y) // 16])
        model = CRISPClassifier(random_state=seed).fit(X[train], labels[train])
        held_out = model.predict_proba(X[held])
        P, calibration = (
            model.predict_proba(X[test]),
            Calibration.of(held_out, evidence[held]),
        )
        known = held[:KNOWN]
        truth = {i: evidence.classes[y[row]] for i, row in enumerate(known)}
        gold = Calibration.of(
            held_out[:KNOWN],
            evidence[known].with_known(truth),
            np.ones(len(known), dtype=bool),
        )
        rows = np.arange(len(test))
        for name in names:
            source = gold if name == "gold" else calibration
            sets = probability_sets(P, source.thresholds(COVERAGE, name))
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
    parser.add_argument("--rows", type=int, help="rows of each set at most")
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
        some = np.random.RandomState(0).permutation(len(y))[: options.rows]
        X, labels, y = X[some], labels[some], y[some]
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
        if (
            line["calibrator"] == "gold"
            or (line["calibrator"] == "all" and line["data"] not in CROWDS)
        )
        and float(line["coverage"]) < COVERAGE - 2 * float(line["error"])
    ]
    for line in low:
        print(f"{line['data']}: covers {line['coverage']} only")
    return int(bool(low))


if __name__ == "__main__":
    sys.exit(main())
