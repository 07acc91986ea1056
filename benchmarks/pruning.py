"""What pruning candidates does to learners: ``python -m benchmarks.pruning DATA``.

Three honest folds, standardised rows; accuracy on test rows, and the share of training
rows whose true label was removed.
"""

# SPDX-License-Identifier: BSD-3-Clause

import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.likelihood import load
from partlearn._math.linalg import z_scores
from partlearn.classification import CC, PLKNN, SURE, CandidatePruner

CELLS = [
    ("pll/lost", None, None),
    ("multiclass/vehicle", 1, None),
    ("multiclass/vowel", 3, None),
    ("multiclass/segment", 2, 1000),
    ("multiclass/usps", 2, 700),
]


def accuracy(make, X, S, y):
    order = np.random.RandomState(0).permutation(len(y))
    right, lost = 0, []
    for f in range(3):
        test = order[f::3]
        train = np.setdiff1d(order, test)
        Z = z_scores(X, train)
        model = make().fit(Z[train], S[train])
        right += (model.predict(Z[test]) == y[test]).sum()
        if isinstance(model, CandidatePruner):
            lost.append(model.lost(y[train]))
    return right / len(y), np.mean(lost) if lost else 0.0


def main(folder):
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name, r, n_rows in CELLS:
        data = load(folder, name, r, n_rows)
        for learner in (PLKNN, CC, SURE):
            figures = [f"{accuracy(learner, *data)[0]:.3f}"]
            for method in ("neighbors", "conformal"):
                score, lost = accuracy(
                    lambda m=method, base=learner: CandidatePruner(base(), method=m),
                    *data,
                )
                figures.append(f"{method} {score:.3f} (lost {lost:.3f})")
            print(f"{name:20} {learner.__name__:6} {', '.join(figures)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
