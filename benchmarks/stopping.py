"""How many rounds the stopping rule of CRISP and CRISPClassifier saves, at what price.

    python -m benchmarks.stopping --data FOLDER [--rows 600] [--folds 2]

Each method runs with its defaults and with all of its rounds (``tol=0``) on the same
training rows. Printed are rounds, the share of training labels that are right, and the
accuracy on held-out rows: of PL-KNN behind CRISP with and without its confidences, of
CRISPClassifier, and of PL-KNN behind the KernelCRISP of the same fit.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.crisp_classifier import Cell, folds, load
from partlearn.classification import PLKNN, CRISPClassifier
from partlearn.decomposition import CRISP

CELLS = (
    ("glass", 1),
    ("glass", 3),
    ("vehicle", 1),
    ("vowel", 3),
    ("ecoli", 2),
    ("dermatology", 2),
    ("synthetic-control", 2),
    ("yeast_uci", 3),
    ("segment", 2),
    ("lost", None),
    ("birdsong", None),
    ("usps", 2),
    ("letter", 1),
    ("wine-quality-red", 1),
    ("plant-species-leaves-margin", 2),
    ("mfeat-fourier", 3),
    ("pendigits", 3),
    ("texture", 2),
)


def crisp(data, train, test, **params):
    model = CRISP(**params).fit(data.X[train], data.S[train])
    Z, Q = model.transform(data.X[train]), model.transform(data.X[test])
    plain = PLKNN().fit(Z, data.S[train])
    sure = PLKNN().fit(Z, data.S[train], confidence=model.label_confidence_)
    return model, [hits(m.predict(Q), data.truth[test]) for m in (plain, sure)]


def classifier(data, train, test, **params):
    model = CRISPClassifier(**params).fit(data.X[train], data.S[train])
    reducer = model.reducer_
    behind = PLKNN().fit(reducer.cross_fitted_, data.S[train])
    named = [
        model.predict(data.X[test]),
        behind.predict(reducer.transform(data.X[test])),
    ]
    return model, [hits(labels, data.truth[test]) for labels in named]


def hits(labels, truth):
    return float((labels == truth).mean())


def measure(work, data, n_folds):
    """Rounds, right training labels and accuracies, with and without stopping."""
    rows = []
    for train, test in list(folds(len(data.X)))[:n_folds]:
        for params in ({}, {"tol": 0}):
            model, accuracies = work(data, train, test, **params)
            right = hits(model.label_confidence_.argmax(axis=1), data.truth[train])
            rows.append([model.n_iter_, right, *accuracies])
    return np.array(rows, dtype=float).reshape(n_folds, 2, 4).mean(axis=0)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder with npz files")
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--folds", type=int, default=2)
    options = parser.parse_args(arguments)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for work in (crisp, classifier):
            print(f"{work.__name__}: default / all rounds")
            print(
                "cell                            rounds       labels       accuracies"
            )
            results = []
            for name, r in CELLS:
                data = load(Path(options.data), Cell(name, r, options.rows, 0, 0))
                results.append(measure(work, data, options.folds))
                show(f"{name} {r or ''}", results[-1])
            show("mean", np.mean(results, axis=0))


def show(name, values):
    pairs = "   ".join(f"{a:.3f} {b:.3f}" for a, b in zip(*values, strict=True))
    print(f"{name:30s} {pairs}", flush=True)


if __name__ == "__main__":
    main()
