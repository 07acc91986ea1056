"""What leave-one-out says of rows whose bag has others like them.

    python -m benchmarks.near_duplicates DATA

Lost and BirdSong, at most 2,000 rows, three folds of random rows and of whole bags,
which are runs of equal candidate sets. ``twins``: rows whose nearest other row is of
their bag. ``held out``: right labels of training rows by the pool of CRISPClassifier
without the row, its own candidates not used; ``new``: right labels of new rows.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import GroupKFold, KFold
from threadpoolctl import threadpool_limits

from partlearn._math.linalg import z_scores
from partlearn._math.neighbors import self_neighbors
from partlearn.candidates import bag_runs
from partlearn.classification import CRISPClassifier

SETS, ROWS, FOLDS = ("lost", "birdsong"), 2000, 3


def measure(path: Path) -> None:
    """Print a line for random rows, and one for whole bags."""
    with np.load(path) as file:
        X, S, y = file["X"][:ROWS].astype(float), file["S"][:ROWS], file["y"][:ROWS]
    bags = np.asarray(bag_runs(S))
    nearest = self_neighbors(z_scores(X), 1)[:, 0]
    twins = float((bags[nearest] == bags).mean())
    for split, folds in {
        "rows": KFold(FOLDS, shuffle=True, random_state=0),
        "bags": GroupKFold(FOLDS, shuffle=True, random_state=0),
    }.items():
        shares = []
        for train, test in folds.split(X, groups=bags):
            model = CRISPClassifier().fit(X[train], S[train])
            held_out = model.model_.held_out.argmax(axis=1) == y[train]
            new = model.predict(X[test]) == y[test]
            shares.append((held_out.mean(), new.mean()))
        own, new = np.mean(shares, axis=0)
        what = f"{path.stem:9} twins {twins:.3f}, folds of {split}:"
        print(f"{what} held out {own:.3f}, new {new:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for name in SETS:
            measure(next(options.folder.rglob(f"{name}.npz")))


if __name__ == "__main__":
    main()
