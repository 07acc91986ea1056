"""Accuracy of CRISPClassifier by number of landmarks, on pendigits and letter.

    python -m benchmarks.landmarks FOLDER [--landmarks N ...]

FOLDER has ``pendigits.npz`` and ``letter.npz`` with arrays ``X`` and ``y``. One fifth
of the rows is held out; three false candidates a row; 4,000 rows vote, as of many rows.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from partlearn.candidates import make_candidates
from partlearn.classification import CRISPClassifier

SETS = ("pendigits", "letter")


def measure(
    path: Path, n_landmarks: int, *, use_neighbors: bool
) -> tuple[float, float, float]:
    """Accuracy on new rows, share of right training labels, seconds."""
    with np.load(path, allow_pickle=False) as data:
        X, y = data["X"].astype(float), np.unique(data["y"], return_inverse=True)[1]
    order = np.random.RandomState(0).permutation(len(X))
    test, train = np.split(order, [len(X) // 5])
    S = make_candidates(y[train], n_false=3, random_state=0)
    start = time.process_time()
    model = CRISPClassifier(
        use_neighbors=use_neighbors, n_landmarks=n_landmarks, n_reference=4000
    )
    model.fit(X[train], S)
    new = model.predict_proba(X[test]).argmax(axis=1) == y[test]
    known = model.label_confidence_.argmax(axis=1) == y[train]
    return float(new.mean()), float(known.mean()), time.process_time() - start


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.landmarks")
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--landmarks", type=int, nargs="+", default=[2000, 1000, 500, 250]
    )
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # that a fit ended at its last iteration
    for name in SETS:
        for count in options.landmarks:
            for use_neighbors in (True, False):
                path = options.folder / f"{name}.npz"
                new, known, seconds = measure(path, count, use_neighbors=use_neighbors)
                print(
                    f"{name:10} {count:5} landmarks, neighbors {use_neighbors!s:5}: "
                    f"new rows {new:.4f}, training labels {known:.4f}, {seconds:.1f} s"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
