"""Accuracy of CC, PRODEN and CLPL: ``python -m benchmarks.likelihood DATA``.

Five honest folds; candidates, rows and folds are drawn as the figures of the guide say.
"""

# SPDX-License-Identifier: BSD-3-Clause

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partlearn.classification import CC, CLPL, PRODEN

CELLS = [
    ("pll/lost", None, None),
    ("multiclass/vehicle", 1, None),
    ("multiclass/usps", 2, 1000),
    ("multiclass/segment", 2, 1500),
    ("multiclass/yeast_uci", 2, None),
]
PENALTIES = (0.001, 0.01, 0.1)


def load(folder, name, r, n_rows):
    with np.load(Path(folder) / f"{name}.npz") as file:
        X = file["X"].astype(float)
        y = np.unique(file["y"], return_inverse=True)[1]
        S = None if r else file["S"].astype(bool)
    rows = np.sort(np.random.RandomState(7).permutation(len(y))[: n_rows or len(y)])
    X, y = X[rows], y[rows]
    if S is not None:
        return X, S[rows], y
    rng = np.random.RandomState(100 + r)
    S = np.eye(y.max() + 1, dtype=bool)[y]
    for i, label in enumerate(y):
        others = np.delete(np.arange(S.shape[1]), label)
        S[i, rng.choice(others, r, replace=False)] = True
    return X, S, y


def accuracy(model, X, S, y):
    order = np.random.RandomState(0).permutation(len(y))
    right = 0
    for f in range(5):
        test = order[f::5]
        train = np.setdiff1d(order, test)
        right += (model.fit(X[train], S[train]).predict(X[test]) == y[test]).sum()
    return right / len(y)


def main(folder):
    # Twenty rounds of PRODEN end before it settles, on purpose.
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name, r, n_rows in CELLS:
        data = load(folder, name, r, n_rows)
        for make in (CC, lambda lam: PRODEN(lam, max_iter=20), CLPL):
            scores = [accuracy(make(lam), *data) for lam in PENALTIES]
            figures = " / ".join(f"{score:.3f}" for score in scores)
            print(f"{name:22} r={r} {type(make(1.0)).__name__:8} {figures}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
