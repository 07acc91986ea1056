"""Prediction sets: coverage of the truth and size of the sets over many splits.

    python -m benchmarks.prediction_sets --data FOLDER --out FOLDER [--jobs 2]

Twelve sets of features with candidate labels (at most 1,100 rows; false candidates are
drawn where a set has none of its own) and two with the votes of a crowd. Each split
counts on a quarter of the rows. A quarter of the others calibrates, and the rest trains
CRISPClassifier, as PredictionSets does. The calibrator "gold" knows the true labels of
50 calibrating rows; otherwise true labels are only used to count.
Also the threshold for an accuracy of .95: the share of rows that get a label, and their
accuracy. ``--splits`` (30) and ``--rows`` change the number of splits and of rows. A
run that was stopped goes on where it stopped. Both tables are written to the folder of
the results, as ``prediction_sets.csv`` and ``abstaining.csv`` of the guide. The exit
code is 1 if "gold", or "all" where the candidates hold the truth, covers the truth in
less than .9 by more than two standard errors.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.candidate_classifier import CELLS, cell
from benchmarks.pool import Cell, add_options, computed, share, write_table
from partlearn.candidates import check_evidence, from_votes
from partlearn.classification import CRISPClassifier
from partlearn.classification._calibration import (
    CALIBRATORS,
    Calibration,
    probability_sets,
)

COVERAGE, ACCURACY = 0.9, 0.95
KNOWN = 50  # true labels that calibrate by "gold"
CROWDS = ("labelme", "music_genre")
NAMES = [*dict(CELLS), *CROWDS]


def crowd(folder: Path, name: str) -> tuple[Any, Any, Any]:
    """Features, votes and truth."""
    with np.load(next(folder.rglob(f"{name}.npz"))) as file:
        X, y, votes = file["X"].astype(float), file["y"].astype(int), file["votes"]
    classes = np.arange(max(y.max(), votes[:, 2].max()) + 1)
    return X, from_votes(*votes.T, n_rows=len(y), classes=classes), y


def load(folder: Path, name: str) -> tuple[Any, Any, Any]:
    """Features, candidates or votes, and truth."""
    if name in CROWDS:
        return crowd(folder, name)
    return cell(folder, name, dict(CELLS)[name])


def measure(folder: Path, job: Cell) -> Cell:
    """Coverage and size for each calibrator, and what abstaining gives, of a split."""
    name, seed = job["data"], job["split"]
    X, labels, y = load(folder, name)
    some = np.random.RandomState(0).permutation(len(y))[: job["rows"]]
    X, labels, y = X[some], labels[some], y[some]
    evidence: Any = labels if name in CROWDS else check_evidence(labels)
    order = np.random.RandomState(seed).permutation(len(y))
    test, held, train = np.split(order, [len(y) // 4, 7 * len(y) // 16])
    model = CRISPClassifier(random_state=seed).fit(X[train], labels[train])
    held_out, P = model.predict_proba(X[held]), model.predict_proba(X[test])
    calibration = Calibration.of(held_out, evidence[held])
    known = held[:KNOWN]
    truth = {i: evidence.classes[y[row]] for i, row in enumerate(known)}
    gold = Calibration.of(
        held_out[:KNOWN],
        evidence[known].with_known(truth),
        np.ones(len(known), dtype=bool),
    )
    rows = np.arange(len(test))
    values: Cell = {"labels": int(labels.shape[1])}
    for calibrator in CALIBRATORS[: None if name in CROWDS else -1]:
        source = gold if calibrator == "gold" else calibration
        sets = probability_sets(P, source.thresholds(COVERAGE, calibrator))
        hit = sets[rows, y[test]].mean()
        values[calibrator] = [float(hit), float(sets.sum(axis=1).mean())]
    given = P.max(axis=1) >= calibration.abstention(ACCURACY).threshold
    right = P.argmax(axis=1) == y[test]
    accuracy = float(right[given].mean()) if given.any() else None
    values["abstain"] = [accuracy, float(given.mean())]
    return values


def summary(lines: list[Cell], name: str) -> tuple[float, float, float]:
    """Mean coverage or accuracy, its standard error, and mean size or share."""
    hits, size = np.array([line[name] for line in lines], dtype=float).T
    known = hits[~np.isnan(hits)]
    if not known.size:
        return np.nan, np.nan, size.mean()
    return known.mean(), known.std() / len(known) ** 0.5, size.mean()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--rows", type=int, help="rows of each data set at most")
    options = parser.parse_args()
    jobs = [
        {"data": name, "split": split, "rows": options.rows}
        for split in range(options.splits)
        for name in NAMES
    ]
    by_data: dict[str, list[Cell]] = {}
    for line in computed(jobs, measure, options):
        by_data.setdefault(line["data"], []).append(line)
    by_name = {name: by_data[name] for name in NAMES if name in by_data}
    tables = {"prediction_sets": coverage(by_name), "abstaining": answered(by_name)}
    for title, table in tables.items():
        write_table(options.out / f"{title}.csv", table)
    low = [text for name, lines in by_name.items() for text in missed(name, lines)]
    print(*low, sep="\n")
    return int(bool(low))


def coverage(by_name: dict[str, list[Cell]]) -> list[list[str]]:
    """Coverage and mean size of the sets by calibrator; a row per data set."""
    table = [["data", "labels", *(x for c in CALIBRATORS for x in (c, "size"))]]
    for name, lines in by_name.items():
        row = [name, str(lines[0]["labels"])]
        for calibrator in CALIBRATORS:
            known = calibrator in lines[0]
            mean, _, size = summary(lines, calibrator) if known else (np.nan,) * 3
            row += [share(mean), f"{size:.2f}" if known else ""]
        table.append(row)
    return table


def answered(by_name: dict[str, list[Cell]]) -> list[list[str]]:
    """Accuracy and share of the rows that get a label; a row per data set."""
    table = [["data", "accuracy of the labels given", "share of rows that get one"]]
    for name, lines in by_name.items():
        mean, _, size = summary(lines, "abstain")
        table.append([name, share(mean) or "none given", share(size)])
    return table


def missed(name: str, lines: list[Cell]) -> Iterator[str]:
    """Calibrators with a guarantee that cover less than wanted."""
    for calibrator in ("gold",) if name in CROWDS else ("gold", "all"):
        mean, error, _ = summary(lines, calibrator)
        if mean < COVERAGE - 2 * error:
            yield f"{name}: {calibrator} covers {mean:.3f} +- {error:.3f} only"


if __name__ == "__main__":
    sys.exit(main())
