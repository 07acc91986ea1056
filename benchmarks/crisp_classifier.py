"""Figures of CRISPClassifier and of KernelCRISP before other learners.

    python -m benchmarks.crisp_classifier figures --data FOLDER [CELL ...]
    python -m benchmarks.crisp_classifier reducer --data FOLDER [CELL ...]

Everything is fitted on the training rows. Rows are the n of
``RandomState(7).permutation(m)[:n]``, sorted; folds are strided parts of
``RandomState(0).permutation``; false candidates are drawn row by row from
``RandomState(100 + r)``. ``figures`` prints the accuracy with and without neighbors
beside the specified one, the share of right training labels, the calibration (mean
absolute difference of confidence and accuracy in ten bins) and seconds; the exit code
is 1 if a figure is missed by more than .015. MSRCv2 is measured where FOLDER has a file
of it. ``reducer`` prints the accuracy of other learners on raw features, behind CRISP
and behind KernelCRISP.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from partlearn.classification import IPAL, PLAGGD, PLKNN, SURE, CRISPClassifier
from partlearn.decomposition import CRISP, KernelCRISP
from partlearn.io import read

TOLERANCE = 0.015
N_FOLDS = 5


@dataclass(frozen=True)
class Cell:
    """A data set, its rows and false candidates, and the specified accuracies."""

    name: str
    r: int | None  # None: the set's own candidates
    rows: int
    neighbors: float
    no_neighbors: float | None  # None where nothing is specified


CELLS = {
    cell.name: cell
    for cell in (
        Cell("lost", None, 1122, 0.861, 0.829),
        Cell("vehicle", 1, 846, 0.825, 0.824),
        Cell("vowel", 3, 990, 0.949, 0.942),
        Cell("usps", 2, 1000, 0.935, 0.931),
        Cell("isolet", 3, 900, 0.949, 0.947),
        Cell("segment", 2, 1500, 0.972, 0.969),
        Cell("plant-species-leaves-margin", 2, 800, 0.799, 0.804),
        Cell("mfeat-fourier", 3, 1200, 0.818, 0.801),
        Cell("birdsong", None, 2000, 0.756, 0.764),
        Cell("msrcv2", None, 1758, 0.622, None),
    )
}
LEARNERS: dict[str, Callable[[], Any]] = {
    "PL-KNN": PLKNN,
    "SURE": SURE,
    "IPAL": IPAL,
    "PL-AGGD": PLAGGD,
}


@dataclass(frozen=True)
class Data:
    """Features, candidates, true labels."""

    X: np.ndarray
    S: np.ndarray
    truth: np.ndarray


def find(folder: Path, name: str) -> Path | None:
    """File of a data set: npz before mat, in any case, in any subfolder."""
    files = sorted(folder.rglob("*"))
    for suffix in (".npz", ".mat"):
        for path in files:
            if path.stem.lower() == name and path.suffix == suffix:
                return path
    return None


def load(folder: Path, cell: Cell) -> Data:
    """The rows of a cell, with the candidates that the figures were measured with."""
    path = find(folder, cell.name)
    assert path is not None
    if path.suffix == ".npz":
        with np.load(path) as file:
            X, labels = file["X"].astype(float), file["y"]
            S = file["S"].astype(bool) if cell.r is None else None
    else:  # as its authors wrote it
        data = read(path)
        X, labels, S = data.data.astype(float), data.truth, data.candidates
    truth = np.unique(labels, return_inverse=True)[1]
    part = np.sort(np.random.RandomState(7).permutation(len(X))[: cell.rows])
    if S is not None:
        return Data(X[part], S[part], labels[part].astype(int))
    truth = truth[part]
    return Data(X[part], false_candidates(truth, cell.r), truth)


def false_candidates(truth: np.ndarray, r: int | None) -> np.ndarray:
    """Add r labels other than the true one to each row."""
    assert r is not None
    rng, q = np.random.RandomState(100 + r), truth.max() + 1
    S = np.eye(q, dtype=bool)[truth]
    for i, label in enumerate(truth):
        S[i, rng.choice(np.delete(np.arange(q), label), r, replace=False)] = True
    return S


def folds(m: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    order = np.random.RandomState(0).permutation(m)
    for b in range(N_FOLDS):
        test = order[b::N_FOLDS]
        yield np.setdiff1d(order, test), test


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Mean absolute difference of confidence and accuracy over ten bins of rows."""
    bins = np.minimum((confidence * 10).astype(int), 9)
    count = np.bincount(bins, minlength=10)
    sure = np.bincount(bins, confidence, minlength=10)
    hits = np.bincount(bins, right, minlength=10)
    return float(np.abs(sure - hits).sum() / count.sum())


def measure(data: Data, use_neighbors: bool) -> tuple[float, float, float, float]:
    """Accuracy, right training labels, calibration error, CPU seconds of a fit."""
    right, sure, named, seconds = [], [], [], []
    for train, test in folds(len(data.X)):
        start = time.process_time()
        model = CRISPClassifier(use_neighbors=use_neighbors).fit(
            data.X[train], data.S[train]
        )
        seconds.append(time.process_time() - start)
        P = model.predict_proba(data.X[test])
        right.append(P.argmax(axis=1) == data.truth[test])
        sure.append(P.max(axis=1))
        best = model.label_confidence_.argmax(axis=1)
        named.append((best == data.truth[train]).mean())
    hits = np.concatenate(right)
    error = calibration_error(np.concatenate(sure), hits)
    return float(hits.mean()), float(np.mean(named)), error, float(np.mean(seconds))


def figures(folder: Path, names: list[str]) -> bool:
    """Print the specified figures beside ours."""
    met, errors = True, []
    print("cell                         votes  specified  ours   labels  calib.  CPU s")
    for name in names:
        cell = CELLS[name]
        data = load(folder, cell)
        for use_neighbors in (True, False):
            wanted = cell.neighbors if use_neighbors else cell.no_neighbors
            accuracy, named, error, seconds = measure(data, use_neighbors)
            good = wanted is None or accuracy >= wanted - TOLERANCE
            met &= good
            errors.append(error)
            told = "" if wanted is None else f"{wanted:.3f}"
            print(
                f"{name:28s} {use_neighbors!s:5s}  {told:>9s}  {accuracy:.3f}  "
                f"{named:.3f}   {error:.3f}   {seconds:5.1f}"
                f"{'' if good else '  MISSED'}",
                flush=True,
            )
    print(f"mean calibration error {np.mean(errors):.3f}")
    return met


def spaces(data: Data, train: np.ndarray, test: np.ndarray) -> Iterator[Any]:
    """Standardised raw features, CRISP and KernelCRISP: training and test rows."""
    scaler = StandardScaler().fit(data.X[train])
    raw = scaler.transform(data.X[train]), scaler.transform(data.X[test])
    yield "raw", *raw
    reducer = CRISP().fit(data.X[train], data.S[train])
    yield "CRISP", reducer.transform(data.X[train]), reducer.transform(data.X[test])
    kernel = KernelCRISP()
    Z = kernel.fit_transform(data.X[train], data.S[train])
    yield "KernelCRISP", Z, kernel.transform(data.X[test])


def reducer_table(folder: Path, names: list[str]) -> bool:
    """Print learners on raw features, behind CRISP and behind KernelCRISP."""
    print("cell                         learner   raw    CRISP  KernelCRISP")
    sums: dict[str, list[list[float]]] = {}
    for name in names:
        data = load(folder, CELLS[name])
        hits: dict[tuple[str, str], list[float]] = {}
        for train, test in folds(len(data.X)):
            for space, Z, Q in spaces(data, train, test):
                for learner, make in LEARNERS.items():
                    model = make().fit(Z, data.S[train])
                    hit = model.predict(Q) == data.truth[test]
                    hits.setdefault((learner, space), []).append(float(hit.mean()))
        for learner in LEARNERS:
            row = [
                float(np.mean(hits[learner, space]))
                for space in ("raw", "CRISP", "KernelCRISP")
            ]
            sums.setdefault(learner, []).append(row)
            print(
                f"{name:28s} {learner:8s}  " + "  ".join(f"{v:.3f}" for v in row),
                flush=True,
            )
    for learner, rows in sums.items():
        means = np.mean(rows, axis=0)
        print(f"{'mean':28s} {learner:8s}  " + "  ".join(f"{v:.3f}" for v in means))
    return True


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = {"figures": figures, "reducer": reducer_table}
    parser.add_argument("command", choices=commands)
    parser.add_argument("cells", nargs="*", metavar="CELL", help="default: all found")
    parser.add_argument("--data", required=True, help="folder with npz files")
    options = parser.parse_intermixed_args(arguments)
    unknown = set(options.cells) - set(CELLS)
    if unknown:
        parser.error(f"unknown cell {min(unknown)}; known: {', '.join(CELLS)}")
    found = [name for name in CELLS if find(Path(options.data), name)]
    absent = set(options.cells) - set(found)
    if absent or not found:
        parser.error(f"{options.data} has no file of {min(absent or CELLS)}")
    cells = options.cells or found
    with threadpool_limits(1), warnings.catch_warnings():
        # That the last rounds still move is no news here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        met = commands[options.command](Path(options.data), cells)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
